package text

// resourceTexts are those of policies about what is billed beside instances.
func resourceTexts() entries {
	return entries{
		"policy.thing-unread":          {"the platform did not tell this time: {{.what}}", "本次未能读取：{{.what}}"},
		"policy.thing-in-the-making":   {"the platform is still at work on it{{if .state}} ({{.state}}){{end}}", "平台仍在处理{{if .state}}（{{.state}}）{{end}}"},
		"policy.list-unread":           {"its list cannot be read since {{.since}}: {{.why}}", "自 {{.since}} 起无法读取列表：{{.why}}"},
		"policy.thing-used":            {"{{.by}} uses it", "{{.by}} 正在使用"},
		"policy.thing-shared":          {"it is shared with other accounts", "已共享给其他账号"},
		"policy.age-unknown":           {"the platform does not tell when it was made", "平台未告知创建时间"},
		"policy.thing-too-young":       {"it is {{.age}} old, less than {{.limit}}", "已存在 {{.age}}，未满 {{.limit}}"},
		"policy.snapshot-old":          {"it is {{.age}} old, more than {{.limit}}{{if .day}}; it costs {{.day}} a day{{end}}", "已存在 {{.age}}，超过 {{.limit}}{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.snapshot-spare":        {"it is {{.age}} old, more than {{.limit}}, and {{.source}} has {{.keep}} newer ones{{if .day}}; it costs {{.day}} a day{{end}}", "已存在 {{.age}}，超过 {{.limit}}，且 {{.source}} 另有 {{.keep}} 个更新的{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.among-last":            {"it is among the last {{.keep}} of {{.source}}", "属于 {{.source}} 最新的 {{.keep}} 个"},
		"policy.source-unknown":        {"the platform does not tell what it was made of, so it may be among the last {{.keep}}", "平台未告知来源，可能属于最新的 {{.keep}} 个"},
		"policy.orphan":                {"nothing has used it for {{.for}} (since {{.since}}){{if .day}}; it costs {{.day}} a day{{end}}", "已闲置 {{.for}}（自 {{.since}}）{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.orphan-delete":         {"nothing has used it for {{.for}} (since {{.since}}){{if .day}}; it costs {{.day}} a day{{end}}", "已闲置 {{.for}}（自 {{.since}}）{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.used-lately":           {"nothing has used it for {{.for}}; that is told from {{.until}} on", "已闲置 {{.for}}；{{.until}} 起提醒"},
		"policy.by-absence":            {"no list shows that anything uses it, which is no proof: it is told of and not deleted{{if .day}}; it costs {{.day}} a day{{end}}", "没有列表显示它被使用，但这不足为凭：只提醒，不删除{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.stopped-costs":         {"it has been stopped for {{.for}} and goes on costing {{.day}} a day", "已关机 {{.for}}，仍每天 {{.day}}"},
		"policy.stopped-costs-unknown": {"it has been stopped for {{.for}}; what it goes on costing is not known", "已关机 {{.for}}，关机后的费用未知"},
		"policy.stopped-costs-nothing": {"stopped, it costs nothing", "关机后不收费"},
		"policy.not-stopped":           {"it is not stopped", "未关机"},
		"policy.ends-period":           {"the paid period ends at {{.at}} (in {{.in}})", "包期于 {{.at}} 到期（{{.in}}后）"},
		"policy.ends-release":          {"the platform {{if .spot}}takes the spot instance back{{else}}deletes it, with everything on it,{{end}} at {{.at}} (in {{.in}})", "平台将于 {{.at}} {{if .spot}}收回该竞价实例{{else}}释放它，数据一并删除{{end}}（{{.in}}后）"},
		"policy.ends-timer":            {"a timer of the platform stops it at {{.at}} (in {{.in}})", "平台定时器将于 {{.at}} 关机（{{.in}}后）"},
		"policy.ends-later":            {"not soon: {{.what}}", "尚早：{{.what}}"},
		"policy.ends-never":            {"no end of it is known", "没有已知的到期时间"},
		"policy.keepalive":             {"the platform deletes it at {{.at}}; a boot of {{.for}} begins that clock anew", "平台将于 {{.at}} 释放它；开机 {{.for}} 可重置计时"},
		"policy.keepalive-up":          {"it is up to begin the platform's clock anew, until {{.until}}", "为重置平台计时而开机，至 {{.until}}"},
		"policy.keepalive-over":        {"it was booted at {{.since}} only to begin the platform's clock anew", "{{.since}} 的开机只为重置平台计时，现可关机"},
		"policy.keepalive-busy":        {"it was booted to begin the platform's clock anew, and somebody works there now, so it stays up: {{.why}}", "为重置计时而开机后有人在使用，保持开机：{{.why}}"},
		"policy.keepalive-vain":        {"the boot at {{.booted}} did not move the platform's clock: it is deleted at {{.at}}", "{{.booted}} 的开机未能重置平台计时：仍将于 {{.at}} 被释放"},
		"app.findings-together":        {"{{.count}} things alike; the first: {{.why}}", "同类共 {{.count}} 项，其一：{{.why}}"},
	}
}
