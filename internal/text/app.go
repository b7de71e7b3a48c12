package text

import "maps"

func appTexts() entries {
	all := entries{
		// Whoever protects; follows "protected by".
		"app.protect-label":    {"the label {{.label}}", "标签 {{.label}}"},
		"app.protect-name":     {"the name pattern {{.pattern}}", "名称规则 {{.pattern}}"},
		"app.protect-platform": {"the platform itself", "平台自身的保护"},

		"app.no-policy":     {"no policy is about it", "没有策略涉及它"},
		"app.policy-gone":   {"no policy asks for this any more", "已没有策略要求这样做"},
		"app.other-step":    {"now the policies ask for something else: {{.action}}", "策略现在要求的是：{{.action}}"},
		"app.no-fresh-look": {"the look just before the act did not show that it is idle: {{.why}}", "操作前的检查未能确认空闲：{{.why}}"},
		"app.by-hand":       {"asked for by {{.by}}", "由 {{.by}} 手动发起"},

		"app.account-dark":   {"account {{.account}} cannot be read since {{.since}}, so nothing is done there: {{.why}}", "账号 {{.account}} 自 {{.since}} 起无法读取，期间不会对其操作：{{.why}}"},
		"app.forgotten":      {"its account was given up by hand", "所属账号已由人工放弃"},
		"app.tick-missed":    {"policy {{.policy}} was due at {{.tick}} and curfew was not running; it is not made up for", "策略 {{.policy}} 应在 {{.tick}} 执行，当时 curfew 未运行；不会补做"},
		"app.hold-unread":    {"its hold file, which cannot be read: {{.why}}", "无法读取的 hold 文件：{{.why}}"},
		"app.hold-asked":     {"{{.by}} asks to hold it{{if .until}} until {{.until}}{{else}} without an end{{end}}{{if .why}} ({{.why}}){{end}}: {{if .held}}held until {{.held}}{{else}}not held{{end}}, the rest waits for curfew approve hold:{{.id}} by somebody else until {{.expires}}; {{.limit}}", "{{.by}} 申请{{if .until}}暂缓至 {{.until}}{{else}}无限期暂缓{{end}}{{if .why}}（{{.why}}）{{end}}：{{if .held}}已暂缓至 {{.held}}{{else}}尚未暂缓{{end}}，其余须由他人在 {{.expires}} 前执行 curfew approve hold:{{.id}}；{{.limit}}"},
		"app.hold-granted":   {"{{.by}} granted {{.asked}}'s hold{{if .until}} until {{.until}}{{else}} without an end{{end}}", "{{.by}} 已批准 {{.asked}} {{if .until}}暂缓至 {{.until}}{{else}}无限期暂缓{{end}}"},
		"app.hold-file-cut":  {"its hold file says until {{.until}}; {{if .ends}}it holds until {{.ends}}{{else}}it does not hold any more{{end}}: {{.limit}}. More waits for a yes: curfew hold {{.name}}", "hold 文件写明至 {{.until}}，{{if .ends}}实际暂缓至 {{.ends}}{{else}}已不再生效{{end}}：{{.limit}}。更长请用 curfew hold {{.name}} 申请"},
		"app.securing":       {"its data is being secured", "正在保全其数据"},
		"app.export-first":   {"before that the export of {{.policy}} runs, for at most {{.timeout}}; if it fails nothing is released", "在此之前先执行 {{.policy}} 的导出，最长 {{.timeout}}；若失败则不会释放"},
		"app.deaf":           {"nobody could say wait for a while; it is announced anew first", "有一段时间无人能叫停，先重新预告"},
		"app.all-dark":       {"none of the {{.count}} accounts can be read since {{.since}}; it may be this machine's own network. Nothing is done until they can", "自 {{.since}} 起 {{.count}} 个账号全部无法读取，可能是本机网络故障；恢复前不会操作"},
		"app.all-back":       {"accounts can be read again", "账号恢复读取"},
		"app.still-so":       {"so since {{.since}}", "自 {{.since}} 起持续"},
		"app.account-back":   {"account {{.account}} can be read again", "账号 {{.account}} 已恢复读取"},
		"app.channel-broken": {"channel {{.channel}} refuses every message until its configuration changes: {{.why}}", "渠道 {{.channel}} 拒收所有消息，需修改配置才能恢复：{{.why}}"},
		"app.press-unheard":  {"since {{.since}} nobody hears what is pressed in {{.channels}}; it is tried again: {{.why}}. Until then answer by the commands, such as curfew hold", "自 {{.since}} 起收不到渠道 {{.channels}} 中的按钮操作，正在重试：{{.why}}。期间请用命令行操作，例如 curfew hold"},
		"app.reload-failed":  {"it was not reloaded, the old one stays in force: {{.why}}", "重新加载失败，继续使用旧配置：{{.why}}"},
		"app.list-dark":      {"the list of every {{.kind}} of account {{.account}} cannot be read since {{.since}}, so none is deleted: {{.why}}", "账号 {{.account}} 的{{.kind}}列表自 {{.since}} 起无法读取，期间不会删除：{{.why}}"},
		"app.blind":          {"nothing was seen inside it since {{.since}}, so no policy will act on it: {{.why}}", "自 {{.since}} 起看不到它的内部情况，策略不会对它操作：{{.why}}"},
	}
	maps.Copy(all, cliTexts())
	maps.Copy(all, cliNameTexts())
	maps.Copy(all, cliFailTexts())
	maps.Copy(all, pingTexts())
	return all
}
