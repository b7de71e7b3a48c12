package text

func policyTexts() entries {
	return entries{
		// Kept.
		"policy.match-unreadable": {"could not be read, so no act: {{.why}}", "读取失败，不会操作：{{.why}}"},
		"policy.not-up":           {"it is {{.state}}", "当前{{.state}}"},
		"policy.not-due":          {"not due until {{.until}}", "{{.until}} 之前不处理"},
		"policy.window-closed":    {"not due", "未到处理时间"},
		"policy.boot-unknown":     {"it is not known when it was started", "开机时间未知"},
		"policy.no-run":           {"no run seen since it was started", "开机以来未见训练任务"},
		"policy.run-open":         {"a run{{if .run}} ({{.run}}){{end}} is going on{{if .began}} since {{.began}}{{end}}", "任务{{if .run}} {{.run}} {{end}}{{if .began}}自 {{.began}} 起{{end}}运行中"},
		"policy.run-lost":         {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} used neither GPU nor CPU for long and counts as lost since {{.ended}}; how it went is not known", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}长时间未使用显卡和 CPU，{{.ended}} 起视为失联，结果未知"},
		"policy.run-interrupted":  {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} was cut off at {{.ended}}", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 中断"},
		"policy.not-looked":       {"the run ended at {{.ended}}; nobody has looked since", "任务于 {{.ended}} 结束，之后尚未查看"},
		"policy.busy-again":       {"the run ended at {{.ended}}, but it is busy: {{.why}}", "任务于 {{.ended}} 结束，但仍在忙碌：{{.why}}"},
		"policy.unknown":          {"the run ended at {{.ended}}, but whether it is idle is not known: {{.why}}", "任务于 {{.ended}} 结束，但无法确认是否空闲：{{.why}}"},
		"policy.grace":            {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); grace until {{.until}}", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}），宽限至 {{.until}}"},
		"policy.kept-after-run":   {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); the policy asks for nothing then", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}），策略不要求处理"},
		"policy.kept-for-data":    {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}), but release and stop would both lose data; say data: discard if it may go", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}），但释放和关机都会丢失数据；如可丢弃请写 data: discard"},
		"policy.stopped-done":     {"stopped; nothing more asked", "已关机，无需再处理"},

		// Wished for.
		"policy.run-ended":       {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}})", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}）"},
		"policy.stop-for-data":   {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); only stopped, since a release would lose its data and data: discard is not set", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}）；释放会丢失数据且未写 data: discard，因此只关机"},
		"policy.release-stopped": {"stopped after its run, which ended at {{.ended}} ({{.outcome}})", "任务于 {{.ended}} 结束（{{.outcome}}），随后已关机"},

		// Told.
		"policy.ended-unproven": {"run ended at {{.ended}}, {{.why}}{{if .log}}; last lines of the log:\n{{.log}}{{end}}", "任务于 {{.ended}} 结束，{{.why}}{{if .log}}；日志末尾：\n{{.log}}{{end}}"},
		"policy.failed-kept":    {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); it is kept for debugging and goes on costing", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}）；保留供排查，继续计费"},

		// How a run went.
		"policy.succeeded":    {"succeeded", "成功"},
		"policy.failed":       {"failed", "失败"},
		"policy.failed-exit":  {"failed with exit code {{.exit}}", "失败，退出码 {{.exit}}"},
		"policy.unproven":     {"outcome unknown", "结果未知"},
		"policy.no-exit":      {"outcome unknown: no exit code", "结果未知：没有退出码"},
		"policy.file-unread":  {"outcome unknown: {{.file}} was not read{{if .why}}: {{.why}}{{end}}", "结果未知：未能读取 {{.file}}{{if .why}}：{{.why}}{{end}}"},
		"policy.file-missing": {"outcome unknown: there is no {{.file}}", "结果未知：{{.file}} 不存在"},
		"policy.file-old":     {"outcome unknown: {{.file}} is of {{.changed}}, before the run", "结果未知：{{.file}} 修改于 {{.changed}}，早于本次任务"},
		"policy.log-unmarked": {"outcome unknown: how long {{.file}} was when the run began is not known", "结果未知：任务开始时 {{.file}} 的长度未知"},
		"policy.log-no-line":  {"outcome unknown: this run wrote no matching line to {{.file}}", "结果未知：本次任务未在 {{.file}} 写入匹配的行"},

		// No step.
		"policy.nothing-asked": {"no policy asks for anything", "没有策略要求处理"},
		"policy.wait":          {"it is {{.state}}; wait until that has settled", "当前{{.state}}，等待状态稳定"},
		"policy.reached":       {"nothing left to do: {{.goal}} is done", "目标“{{.goal}}”已达成，无需再处理"},
		"policy.cannot":        {"asked for: {{.goal}}, but the platform cannot do it", "要求{{.goal}}，但平台不支持"},

		"policy.state.unknown":   {"in a state nobody knows", "状态未知"},
		"policy.state.creating":  {"being created", "正在创建"},
		"policy.state.starting":  {"starting", "正在开机"},
		"policy.state.running":   {"running", "正在运行"},
		"policy.state.stopping":  {"stopping", "正在关机"},
		"policy.state.stopped":   {"stopped", "已关机"},
		"policy.state.releasing": {"being released", "正在释放"},
		"policy.state.released":  {"released", "已释放"},
		"policy.state.failed":    {"marked as failed by the platform", "处于故障状态"},
	}
}
