package text

func executeTexts() entries {
	return entries{
		"execute.all-done":              {"of {{.all}} announced together, {{.done}} are done", "一并预告的 {{.all}} 项中，已完成 {{.done}} 项"},
		"execute.exported":              {"its data was exported and proven at {{.at}}, in {{.took}} ({{.policy}})", "数据已于 {{.at}} 导出并校验，用时 {{.took}}（{{.policy}}）"},
		"execute.read-failed":           {"it could not be read: {{.error}}", "读取失败：{{.error}}"},
		"execute.not-found-once":        {"the platform does not find it; looked at once more before it counts as gone", "平台查不到它；再确认一次才算消失"},
		"execute.no-account":            {"its account is not in the configuration", "配置中没有它所属的账号"},
		"execute.in-between":            {"it is {{.state}}", "当前状态：{{.state}}"},
		"execute.unclear":               {"it is not known whether it runs: {{.why}}", "无法确认它是否在运行：{{.why}}"},
		"execute.already":               {"it is {{.state}} already, by somebody else's hand", "它已经是 {{.state}}，并非 curfew 所为"},
		"execute.other-boot":            {"it was started again meanwhile", "期间它被重新开机"},
		"execute.gone":                  {"it is not there any more; somebody else released it", "它已不存在，可能被他人释放"},
		"execute.verified":              {"the platform shows it", "平台已确认"},
		"execute.started-again":         {"done, and somebody started it again", "已完成，随后又被人开机"},
		"execute.still-billing":         {"it still costs {{.price}} per hour", "仍在计费：每小时 {{.price}}"},
		"execute.still-billing-unknown": {"it still costs, how much is not known", "仍在计费，金额未知"},
		"execute.write-failed":          {"the platform refused ({{.kind}}): {{.error}}", "平台拒绝（{{.kind}}）：{{.error}}"},
		"execute.refused-for-now":       {"the platform refuses for now: {{.error}}", "平台暂时拒绝：{{.error}}"},
		"execute.no-effect":             {"the request had no effect; it is tried again", "请求没有生效，将重试"},
		"execute.unverified":            {"sent at {{.since}}, and the platform does not show the effect: {{.why}}", "{{.since}} 已发出，但平台尚未显示结果：{{.why}}"},
		"execute.asked": {
			"asking it to power off, not verified from outside: curfew runs in it and ends with it; the next message comes when it is started again, or if it runs on",
			"正在要求其关机，无法从外部核实：curfew 就运行在其中，会随之停止；再次开机或关机失败时才会有下一条消息",
		},
		"execute.log":            {"last lines of its log:\n{{.log}}", "日志末尾：\n{{.log}}"},
		"execute.command-failed": {"the command failed and it runs on, so it goes on costing; tried again: {{.error}}", "命令执行失败，机器仍在运行并计费，将重试：{{.error}}"},
		"execute.runs-on":        {"asked to power off at {{.since}}, and it runs on, so it goes on costing; tried again", "{{.since}} 已要求关机，但机器仍在运行并计费，将重试"},
		"execute.no-proof":       {"{{.provider}} gives no proof that billing ended; look at the bill", "{{.provider}} 不提供停止计费的凭证，请核对账单"},
		"observe.poll-failed":    {"{{.kind}}: {{.error}}", "{{.kind}}：{{.error}}"},
	}
}
