package text

func pressTexts() entries {
	return entries{
		// What buttons and links are called.
		"press.hold-1h":      {"Wait 1 hour", "暂缓 1 小时"},
		"press.hold-morning": {"Wait till morning", "暂缓到早上"},
		"press.now":          {"Do it now", "立即执行"},
		"press.never":        {"Never this one", "不再处理它"},
		"press.approve":      {"Approve", "批准"},

		// What came of one that was pressed.
		"press.held":     {"{{if .until}}Held by {{.by}} until {{.until}}{{else}}Held by {{.by}} until somebody ends that: curfew hold {{.name}} off{{end}}{{if .id}}. For more somebody else says curfew approve hold:{{.id}}; {{.limit}}{{end}}", "{{.by}} 已将其{{if .until}}暂缓至 {{.until}}{{else}}一直暂缓，解除请用：curfew hold {{.name}} off{{end}}{{if .id}}。更长须由他人执行 curfew approve hold:{{.id}}；{{.limit}}{{end}}"},
		"press.asked":    {"This holds nothing yet: {{.by}} asks to hold {{.name}}, for which somebody else says curfew approve hold:{{.id}}; {{.limit}}", "尚未暂缓：{{.by}} 申请暂缓 {{.name}}，须由他人执行 curfew approve hold:{{.id}}；{{.limit}}"},
		"press.late":     {"{{.held}}. Too late for {{.action}}: it was requested from the platform at {{.at}} already", "{{.held}}。但{{.action}}已来不及取消：{{.at}} 已向平台请求"},
		"press.hurried":  {"{{.by}} wants it now: {{.action}} {{.name}} waits no longer; every other check still holds", "{{.by}} 要求立即执行：不再等待即{{.action}} {{.name}}，其他检查照常"},
		"press.approved": {"Approved by {{.by}}: {{.action}} {{.name}}", "{{.by}} 已批准：{{.action}} {{.name}}"},

		// Why one that was pressed does nothing.
		"press.again":   {"Already done by {{.by}} at {{.at}} ({{.channel}}). {{.came}}", "{{.by}} 已于 {{.at}}（{{.channel}}）操作过。{{.came}}"},
		"press.over":    {"This is over since {{.at}}: {{.action}} {{.name}} {{.outcome}}{{if .why}}: {{.why}}{{end}}", "{{.at}} 已结束：{{.action}} {{.name}} {{.outcome}}{{if .why}}：{{.why}}{{end}}"},
		"press.started": {"Already requested: the platform was asked at {{.at}} to {{.action}} {{.name}}", "已请求：{{.at}} 已向平台请求{{.action}} {{.name}}"},
		"press.no-wait": {"{{if .by}}{{.by}} wants it now already{{else}}It waits for nobody{{end}}", "{{if .by}}{{.by}} 已要求立即执行{{else}}它并未在等待{{end}}"},
		"press.other":   {"{{.name}} was started again since; this message is about the time before", "{{.name}} 之后又重新开机；这条消息针对的是上一次开机"},
		"press.unknown": {"Nobody knows this act any more", "已没有这项操作的记录"},
		"press.expired": {"This message is too old to be answered. To make it wait: curfew hold {{.name}} 2h", "这条消息已过期，不能再操作。如需暂缓：curfew hold {{.name}} 2h"},
		"press.wrong":   {"This was not made by this curfew, or not for this place; nothing was done", "这不是由当前 curfew 为此处生成的，未执行任何操作"},
		"press.may-not": {"You may not: {{.user}} is not among the users of channel {{.channel}}", "你没有权限：{{.user}} 不在渠道 {{.channel}} 的 users 中"},
		"press.link":    {"{{.channel}} (link)", "{{.channel}}（链接）"},

		// How an act ended.
		"press.outcome.done":       {"was done", "已完成"},
		"press.outcome.billing":    {"was done, and is still billed", "已完成，但仍在计费"},
		"press.outcome.failed":     {"failed", "失败"},
		"press.outcome.unverified": {"was requested and never confirmed", "已请求，但从未确认"},
		"press.outcome.vanished":   {"was not needed: it is gone", "不再需要：实例已不存在"},
		"press.outcome.abandoned":  {"was called off", "已取消"},
	}
}
