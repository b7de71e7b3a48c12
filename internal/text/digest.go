package text

func digestTexts() entries {
	return entries{
		"notify.title.digest": {"Digest: {{.what}}", "摘要：{{.what}}"},
		"notify.digest.more": {
			"and {{.count}} more{{if .rate}}, {{.rate}}/h together{{end}}{{if .unpriced}}, {{.unpriced}} of them of unknown price{{end}}",
			"另有 {{.count}} 项{{if .rate}}，合计每小时 {{.rate}}{{end}}{{if .unpriced}}，其中 {{.unpriced}} 项价格未知{{end}}",
		},

		// The title: how everything stands.
		"digest.quiet":        {"all quiet", "平安无事"},
		"digest.nothing-runs": {"nothing runs", "没有实例在运行"},
		"digest.running": {
			"{{.count}} running{{if .rate}}, {{.rate}}/h{{end}}{{if .unpriced}}, {{.unpriced}} of unknown price{{end}}{{if .unguarded}}, {{.unguarded}} unguarded{{end}}",
			"{{.count}} 台运行中{{if .rate}}，每小时 {{.rate}}{{end}}{{if .unpriced}}，{{.unpriced}} 台价格未知{{end}}{{if .unguarded}}，{{.unguarded}} 台无策略{{end}}",
		},

		// What it is about.
		"digest.period": {"Since {{.since}}, as of {{.at}}", "自 {{.since}} 以来，截至 {{.at}}"},
		"digest.skipped": {
			"The digest of {{.last}}{{if .more}} and {{.more}} before it{{end}} was skipped: curfew was not running",
			"{{.last}} 的摘要{{if .more}}及此前 {{.more}} 份{{end}}未发送：当时 curfew 未运行",
		},
		"digest.dry-run":    {"Mode is dry-run: nothing is stopped", "当前为 dry-run，不会关机"},
		"digest.rest-quiet": {"Nothing else to tell", "其他无事"},

		"digest.by-account": {"By account", "按账号"},
		"digest.account": {
			"{{.account}}: {{.count}} running{{if .rate}}, {{.rate}}/h{{end}}{{if .unpriced}}, {{.unpriced}} of unknown price{{end}}",
			"{{.account}}：{{.count}} 台运行中{{if .rate}}，每小时 {{.rate}}{{end}}{{if .unpriced}}，{{.unpriced}} 台价格未知{{end}}",
		},

		"digest.unguarded": {"Unguarded, since no policy matches: {{.count}}", "没有策略匹配、无人看管：{{.count}} 台"},
		"digest.unguarded-one": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: {{if .cost}}{{.cost}} so far, {{end}}{{if .rate}}{{.rate}}/h{{else}}price unknown{{end}}{{if .since}}, since {{.since}}{{end}}{{if .protected}}, protected{{end}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：{{if .cost}}已花 {{.cost}}，{{end}}{{if .rate}}每小时 {{.rate}}{{else}}价格未知{{end}}{{if .since}}，自 {{.since}} 起{{end}}{{if .protected}}，受保护{{end}}",
		},
		"digest.guard": {
			"To guard them, let a policy's match take them (match: all takes everything), then curfew reload",
			"要看管它们：让某个策略的 match 包含它们（match: all 即全部），再运行 curfew reload",
		},

		"digest.done":     {"Done by curfew", "curfew 做了什么"},
		"digest.stopped":  {"{{.count}} stopped: {{.names}}{{if .more}} and {{.more}} more{{end}}", "关机 {{.count}} 台：{{.names}}{{if .more}}，另有 {{.more}} 台{{end}}"},
		"digest.released": {"{{.count}} released: {{.names}}{{if .more}} and {{.more}} more{{end}}", "释放 {{.count}} 台：{{.names}}{{if .more}}，另有 {{.more}} 台{{end}}"},
		"digest.deleted":  {"{{.count}} deleted: {{.names}}{{if .more}} and {{.more}} more{{end}}", "删除 {{.count}} 个：{{.names}}{{if .more}}，另有 {{.more}} 个{{end}}"},
		"digest.started":  {"{{.count}} started: {{.names}}{{if .more}} and {{.more}} more{{end}}", "开机 {{.count}} 台：{{.names}}{{if .more}}，另有 {{.more}} 台{{end}}"},

		"digest.needs":      {"Needs a look", "需要处理"},
		"digest.approval":   {"{{.name}}: {{.action}} waits for approval:", "{{.name}}：{{.action}}等待批准："},
		"digest.unverified": {"{{.name}}: {{.action}} asked for at {{.at}}, not confirmed yet", "{{.name}}：{{.at}} 已请求{{.action}}，尚未确认"},
		"digest.failed":     {"{{.name}}: could not {{.action}} ({{.at}}){{if .why}}: {{.why}}{{end}}", "{{.name}}：{{.action}}失败（{{.at}}）{{if .why}}：{{.why}}{{end}}"},
		"digest.vanished":   {"{{.name}}: gone, and not by curfew", "{{.name}}：已不存在（并非由 curfew 操作）"},

		"digest.unread":        {"Could not be read", "无法读取"},
		"digest.about":         {"{{.name}}: {{.what}}", "{{.name}}：{{.what}}"},
		"digest.state-unknown": {"{{.name}}: whether it runs is not known{{if .word}}, the platform says {{.word}}{{end}}", "{{.name}}：是否在运行未知{{if .word}}，平台状态为 {{.word}}{{end}}"},

		"digest.stopped-costs": {"Stopped, and still costs money", "已关机但仍在收费"},
		"digest.still-costs": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: {{.rate}}/h{{if .since}}, since {{.since}}{{end}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：每小时 {{.rate}}{{if .since}}，自 {{.since}} 起{{end}}",
		},
		"digest.still-unsure": {
			"Whether disk and address of stopped instances still cost is not known: {{.count}}",
			"{{.count}} 台已关机，磁盘、公网 IP 是否仍收费未知",
		},

		"digest.releases": {"To be deleted by the platform", "平台即将自动释放"},
		"digest.releases-at": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: at {{.at}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：{{.at}}",
		},
		"digest.releases-now": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: due since {{.at}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：{{.at}} 已到期",
		},
	}
}
