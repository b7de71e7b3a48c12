package text

func policyTexts() entries {
	return entries{
		// Kept.
		"policy.match-unreadable": {"could not be read, so no act: {{.why}}", "读取失败，不会操作：{{.why}}"},
		"policy.not-up":           {"it is {{.state}}", "当前{{.state}}"},
		"policy.not-due":          {"not due until {{.until}}", "{{.until}} 之前不处理"},
		"policy.window-closed":    {"not due", "未到处理时间"},
		"policy.boot-unknown":     {"it is not known when it was started", "开机时间未知"},
		"policy.no-run":           {"no run seen since it was started{{if .why}}, and what it does is not known: {{.why}}{{end}}", "开机以来未见训练任务{{if .why}}，且无法得知它在做什么：{{.why}}{{end}}"},
		"policy.run-open":         {"a run{{if .run}} ({{.run}}){{end}} is going on{{if .began}} since {{.began}}{{end}}", "任务{{if .run}} {{.run}} {{end}}{{if .began}}自 {{.began}} 起{{end}}运行中"},
		"policy.nobody-looked":    {"nobody has looked at it since it was started", "开机以来尚未查看"},
		"policy.run-lost":         {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} used neither GPU nor CPU for long and counts as lost since {{.ended}}; how it went is not known", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}长时间未使用显卡和 CPU，{{.ended}} 起视为失联，结果未知"},
		"policy.run-interrupted":  {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} was cut off at {{.ended}}", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 中断"},
		"policy.not-looked":       {"the run ended at {{.ended}}; nobody has looked since", "任务于 {{.ended}} 结束，之后尚未查看"},
		"policy.busy-again":       {"the run ended at {{.ended}}, but it is busy: {{.why}}", "任务于 {{.ended}} 结束，但仍在忙碌：{{.why}}"},
		"policy.unknown":          {"the run ended at {{.ended}}, but whether it is idle is not known: {{.why}}", "任务于 {{.ended}} 结束，但无法确认是否空闲：{{.why}}"},
		"policy.grace":            {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); grace until {{.until}}", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}），宽限至 {{.until}}"},
		"policy.kept-after-run":   {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); the policy asks for nothing then", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}），策略不要求处理"},
		"policy.kept-for-data":    {"{{.why}}, but release and stop would both lose data{{if .lost}} ({{.lost}}){{end}}; say data: discard if it may go", "{{.why}}，但释放和关机都会丢失数据{{if .lost}}（{{.lost}}）{{end}}；如可丢弃请写 data: discard"},
		"policy.not-asked":        {"no run since it was started asked for a stop (curfew exec --then stop)", "开机以来没有任务要求结束后关机（curfew exec --then stop）"},
		"policy.asked-no-more":    {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} began later and did not ask for a stop", "之后{{if .began}}于 {{.began}} {{end}}开始的任务{{if .run}} {{.run}} {{end}}没有要求关机"},
		"policy.stopped-done":     {"stopped; nothing more asked", "已关机，无需再处理"},

		// An idle policy.
		"policy.idle":             {"nothing was at work for {{.for}}, as {{.looks}} looks show", "已空闲 {{.for}}（{{.looks}} 次查看均无任务）"},
		"policy.idle-busy":        {"at work: {{.why}}", "正在使用：{{.why}}"},
		"policy.idle-unknown":     {"whether it is idle is not known: {{.why}}", "无法确认是否空闲：{{.why}}"},
		"policy.idle-set-up":      {"what happens before {{.ready}} counts as set-up; not before {{.until}}", "{{.ready}} 之前视为准备阶段；最早 {{.until}} 处理"},
		"policy.idle-worked":      {"at work at {{.at}}: {{.why}}; not before {{.until}}", "{{.at}} 仍在使用：{{.why}}；最早 {{.until}} 处理"},
		"policy.idle-unclear":     {"the look of {{.at}} does not show whether it was idle: {{.why}}", "{{.at}} 的查看无法确认是否空闲：{{.why}}"},
		"policy.idle-unwatched":   {"{{.source}} did not look between {{.from}} and {{.to}}", "{{.source}} 在 {{.from}} 与 {{.to}} 之间没有查看"},
		"policy.idle-since":       {"idle since {{.since}}, as far as {{.source}} has looked; not before {{.until}}", "据 {{.source}} 的查看，自 {{.since}} 起空闲；最早 {{.until}} 处理"},
		"policy.idle-few-looks":   {"only {{.looks}} looks in {{.for}}, {{.want}} are needed", "{{.for}} 内只查看了 {{.looks}} 次，至少需要 {{.want}} 次"},
		"policy.idle-memory":      {"idle, but {{.why}}; counts as in use until {{.until}}", "空闲，但{{.why}}；{{.until}} 之前视为使用中"},
		"policy.idle-load":        {"the load was at {{.limit}} or more in {{.high}} of {{.looks}} looks in {{.for}}, at most {{.load}}", "{{.for}} 内 {{.looks}} 次查看中有 {{.high}} 次负载不低于 {{.limit}}，最高 {{.load}}"},
		"policy.idle-stopped":     {"stopped after it had been idle since {{.since}}", "自 {{.since}} 起空闲，随后已关机"},
		"policy.look-card":        {"GPU {{.card}} at {{.used}} % (in use from {{.limit}} %)", "显卡 {{.card}} 利用率 {{.used}}%（{{.limit}}% 起算使用中）"},
		"policy.look-session":     {"somebody was at work on {{.session}}, last input {{.idle}} before", "有人在使用 {{.session}}，最近输入在此前 {{.idle}}"},
		"policy.look-memory":      {"GPU {{.card}} {{if .memory}}holds {{.memory}} MB{{else}}does not tell what memory it holds{{end}}", "显卡 {{.card}} {{if .memory}}占用显存 {{.memory}} MB{{else}}未给出显存占用{{end}}"},
		"policy.look-run":         {"run{{if .run}} {{.run}}{{end}} ended{{if .ended}} at {{.ended}}{{end}}", "任务{{if .run}} {{.run}} {{end}}{{if .ended}}于 {{.ended}} {{end}}结束"},
		"policy.look-outside":     {"{{.source}} did not get inside", "{{.source}} 未能进入实例"},
		"policy.look-unreadable":  {"{{.what}} could not be read{{if .why}}: {{.why}}{{end}}", "{{.what}} 读取失败{{if .why}}：{{.why}}{{end}}"},
		"policy.look-cards":       {"only {{.seen}} of {{.want}} cards were seen", "只看到 {{.want}} 张显卡中的 {{.seen}} 张"},
		"policy.look-card-unread": {"the use of GPU {{.card}} could not be read", "显卡 {{.card}} 的利用率未能读取"},

		// An offhours policy.
		"policy.offhours":            {"left running at {{.tick}}", "{{.tick}} 仍在运行"},
		"policy.offhours-forced":     {"still running after {{.tick}} although time was given: {{.why}}", "{{.tick}} 之后已等待，仍在运行：{{.why}}"},
		"policy.offhours-over":       {"the window of {{.tick}} closed at {{.end}}", "{{.tick}} 的时段已于 {{.end}} 结束"},
		"policy.offhours-holiday":    {"{{.tick}} is on a holiday", "{{.tick}} 是节假日"},
		"policy.offhours-by-hand":    {"started at {{.started}}, after {{.tick}}; left alone until the next time", "{{.started}} 开机，晚于 {{.tick}}；保留到下一次"},
		"policy.offhours-no-start":   {"whether it was started after {{.tick}} is not known", "无法确认是否在 {{.tick}} 之后开机"},
		"policy.offhours-waits":      {"asked to stop at {{.tick}}, but not idle: {{.why}}; waits until {{.until}}", "应于 {{.tick}} 关机，但并非空闲：{{.why}}；等待至 {{.until}}"},
		"policy.offhours-busy":       {"still on at {{.tick}}: {{.why}}", "{{.tick}} 仍未关机：{{.why}}"},
		"policy.offhours-too-late":   {"idle, but too late: in the window of {{.tick}} stops are announced until {{.at}}", "空闲，但已太晚：{{.tick}} 的时段只在 {{.at}} 之前预告关机"},
		"policy.offhours-no-room":    {"a stop would lose data and so needs {{.warn}} of warning, for which the window of {{.tick}} until {{.end}} is too short", "关机会丢失数据，需提前 {{.warn}} 预告，{{.tick}} 至 {{.end}} 的时段不够长"},
		"policy.offhours-gave-up":    {"not stopped in the window of {{.tick}}; given up at {{.at}}: {{.why}}", "{{.tick}} 的时段内未能关机，{{.at}} 放弃：{{.why}}"},
		"policy.offhours-loses-data": {"not idle after {{.tick}}, and not stopped by force, since a stop would lose data: {{.why}}", "{{.tick}} 之后仍非空闲；关机会丢失数据，因此不强制关机：{{.why}}"},

		// A lifetime policy.
		"policy.lifetime":            {"up since {{.started}}, longer than {{.max}}", "自 {{.started}} 起运行，已超过 {{.max}}"},
		"policy.lifetime-young":      {"up since {{.started}}; {{.max}} are over at {{.due}}", "自 {{.started}} 起运行；{{.due}} 满 {{.max}}"},
		"policy.lifetime-unknown":    {"when it was started is not known, so it cannot be told when {{.max}} are over", "开机时间未知，无法判断何时满 {{.max}}"},
		"policy.lifetime-loses-data": {"up since {{.started}}, longer than {{.max}}; kept, since a stop would lose data", "自 {{.started}} 起运行，已超过 {{.max}}；关机会丢失数据，因此保留"},

		// Wished for.
		"policy.run-ended":       {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}})", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}）"},
		"policy.stop-for-data":   {"{{.why}}; only stopped, since a release would lose its data{{if .lost}} ({{.lost}}){{end}} and data: discard is not set", "{{.why}}；释放会丢失数据{{if .lost}}（{{.lost}}）{{end}}且未写 data: discard，因此只关机"},
		"policy.stop-unsecured":  {"{{.why}}; not released, since its data was not secured: {{.failed}}", "{{.why}}；数据未能保全，因此不释放：{{.failed}}"},
		"policy.kept-unsecured":  {"{{.why}}; left running, since its data was not secured and a stop would lose some; {{if .day}}it costs {{.day}} a day{{else}}what it costs is not known{{end}}: {{.failed}}", "{{.why}}；数据未能保全，且关机会丢失数据，因此保持运行；{{if .day}}每天花费 {{.day}}{{else}}花费未知{{end}}：{{.failed}}"},
		"policy.not-secured":     {"{{.why}}; it stays and is not released, since its data was not secured; {{if .day}}it costs {{.day}} a day{{else}}what it still costs is not known{{end}}{{if .failed}}: {{.failed}}{{end}}", "{{.why}}；数据未保全，因此保留、不释放；{{if .day}}每天花费 {{.day}}{{else}}是否仍收费未知{{end}}{{if .failed}}：{{.failed}}{{end}}"},
		"policy.release-stopped": {"stopped after its run, which ended at {{.ended}} ({{.outcome}})", "任务于 {{.ended}} 结束（{{.outcome}}），随后已关机"},

		// Told.
		"policy.last-words":     {"run ended at {{.ended}}, {{.why}}; last lines of the log:\n{{.log}}", "任务于 {{.ended}} 结束，{{.why}}；日志末尾：\n{{.log}}"},
		"policy.ended-unproven": {"run ended at {{.ended}}, {{.why}}{{if .log}}; last lines of the log:\n{{.log}}{{end}}", "任务于 {{.ended}} 结束，{{.why}}{{if .log}}；日志末尾：\n{{.log}}{{end}}"},
		"policy.failed-kept":    {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} ended at {{.ended}} ({{.outcome}}); it is kept for debugging and goes on costing", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}于 {{.ended}} 结束（{{.outcome}}）；保留供排查，继续计费"},

		// How a run went.
		"policy.succeeded":      {"succeeded", "成功"},
		"policy.succeeded-exit": {"succeeded with exit code {{.exit}}", "成功，退出码 {{.exit}}"},
		"policy.failed":         {"failed", "失败"},
		"policy.failed-exit":    {"failed with exit code {{.exit}}", "失败，退出码 {{.exit}}"},
		"policy.unproven":       {"outcome unknown", "结果未知"},
		"policy.no-exit":        {"outcome unknown: no exit code", "结果未知：没有退出码"},
		"policy.file-unread":    {"outcome unknown: {{.file}} was not read{{if .why}}: {{.why}}{{end}}", "结果未知：未能读取 {{.file}}{{if .why}}：{{.why}}{{end}}"},
		"policy.file-missing":   {"outcome unknown: there is no {{.file}}", "结果未知：{{.file}} 不存在"},
		"policy.file-old":       {"outcome unknown: {{.file}} is of {{.changed}}, before the run", "结果未知：{{.file}} 修改于 {{.changed}}，早于本次任务"},
		"policy.log-unmarked":   {"outcome unknown: how long {{.file}} was when the run began is not known", "结果未知：任务开始时 {{.file}} 的长度未知"},
		"policy.log-no-line":    {"outcome unknown: this run wrote no matching line to {{.file}}", "结果未知：本次任务未在 {{.file}} 写入匹配的行"},

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
