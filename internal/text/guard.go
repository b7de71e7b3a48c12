package text

func guardTexts() entries {
	return entries{
		"guard.no-checks":        {"no check was asked", "没有任何检查被询问"},
		"guard.fine":             {"fine", "通过"},
		"guard.cannot":           {"{{.provider}} cannot {{.action}} an instance", "{{.provider}} 不支持{{.action}}"},
		"guard.not-worth":        {"a stop does not end billing here", "在这里关机并不停止计费"},
		"guard.worth-unsure":     {"whether a stop ends billing is not known; it will be looked at afterwards", "关机是否停止计费未知，之后会核实"},
		"guard.period":           {"prepaid until {{.end}}; say prepaid: refund to give it back", "包周期实例，{{.end}} 到期；如需退还请写 prepaid: refund"},
		"guard.period-refund":    {"prepaid until {{.end}}, {{.refund}} refundable", "包周期实例，{{.end}} 到期，可退 {{.refund}}"},
		"guard.charge-unknown":   {"how it is paid for is not known", "计费方式未知"},
		"guard.data-lost":        {"it would destroy data; say data: discard if it may go", "会丢失数据；如可丢弃请写 data: discard"},
		"guard.data-discarded":   {"its data may be discarded", "数据可以丢弃"},
		"guard.protected":        {"protected by {{.by}}", "受保护：{{.by}}"},
		"guard.unreadable":       {"its labels could not be read, so it is protected", "标签读取失败，按受保护处理"},
		"guard.ceiling":          {"at most {{.at_most}} is allowed ({{.from}})", "最多只允许{{.at_most}}（{{.from}}）"},
		"guard.held":             {"held by {{.by}} until {{.until}}{{if .why}}: {{.why}}{{end}}", "{{.by}} 要求暂缓至 {{.until}}{{if .why}}：{{.why}}{{end}}"},
		"guard.held-in-box":      {"held by its own hold file until {{.until}}", "实例内的 hold 文件要求暂缓至 {{.until}}"},
		"guard.not-announced":    {"not announced yet; the warning time is {{.warn}}", "尚未预告；预告时间为 {{.warn}}"},
		"guard.not-accepted":     {"no channel has accepted the warning yet", "还没有渠道接收预告"},
		"guard.nobody-heard":     {"no channel accepted the warning since {{.since}}; the stop keeps all data and goes on", "自 {{.since}} 起没有渠道接收预告；关机不丢数据，继续执行"},
		"guard.warned":           {"warned at {{.at}}", "已于 {{.at}} 预告"},
		"guard.deadline":         {"announced for {{.at}}", "预告于 {{.at}} 执行"},
		"guard.cooldown":         {"quiet after the last act until {{.until}}", "上次操作后的冷却期，至 {{.until}}"},
		"guard.capped":           {"{{.used}} of {{.limit}} acts ({{.action}}) in this hour are used up", "本小时{{.action}}次数已用 {{.used}}/{{.limit}}"},
		"guard.within-cap":       {"{{.used}} of {{.limit}} acts ({{.action}}) in this hour", "本小时{{.action}} {{.used}}/{{.limit}}"},
		"guard.approval-missing": {"waits for curfew approve", "等待 curfew approve 批准"},
		"guard.approved":         {"approved by {{.by}}", "{{.by}} 已批准"},
		"guard.dry-run":          {"dry-run: nothing is written", "演练模式：不会真正执行"},
		"guard.enforce":          {"enforce", "执行模式"},
		"guard.by-hand":          {"asked by hand", "人工指令"},
	}
}
