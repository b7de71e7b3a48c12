package text

// keptEstimateTexts are what is said of estimates that are kept and compared with what
// happens, and of a paid period before its end.
func keptEstimateTexts() entries {
	return entries{
		"app.estimate-over": {
			"it has cost {{.cost}} in the {{.took}} since its estimate was stored at {{.at}}, more than the {{.limit}} that it comes to with {{.margin}}% on top ({{.total}} for {{.hours}} h); {{if .left}}{{.left}} of its time remain{{else}}its time is over{{end}}",
			"自 {{.at}} 保存预估以来，{{.took}}内已花费 {{.cost}}，超过含 {{.margin}}% 余量的预估 {{.limit}}（{{.hours}} 小时共 {{.total}}）；{{if .left}}预估时间还剩 {{.left}}{{else}}预估时间已到{{end}}",
		},
		"app.estimate-wallet": {
			"the wallet of {{.account}} will not last until the work is done: {{.usable}} at {{.burn}} an hour is enough for {{.runway}}, and by the estimate of {{.at}} ({{.total}} for {{.hours}} h) it runs for another {{.left}}; it has cost {{.cost}} so far, {{.rest}} remain",
			"账号 {{.account}} 的余额不够用到任务结束：{{.usable}} 按每小时 {{.burn}} 只够 {{.runway}}，而按 {{.at}} 的预估（{{.hours}} 小时共 {{.total}}）还要运行 {{.left}}；目前已花费 {{.cost}}，预估还需 {{.rest}}",
		},

		"app.period-busy":     {"at work for {{.busy}} since {{.since}}{{if .unknown}}; for {{.unknown}} nobody could tell{{end}}", "自 {{.since}} 起使用了 {{.busy}}{{if .unknown}}，另有 {{.unknown}}无法得知{{end}}"},
		"app.period-even":     {"on demand it is {{.hour}} an hour ({{.from}}): {{if .cost}}{{.busy}} would have cost {{.cost}}{{if .rounded}}, each started hour whole{{end}}{{else}}what {{.busy}} would have cost is beyond counting{{end}}; {{if .hours}}the period ({{.paid}} until {{.end}}) is the cheaper way from {{.hours}} h of use on{{else}}what the period cost is not known{{end}}", "按量为每小时 {{.hour}}（{{.from}}）：{{if .cost}}{{.busy}}需 {{.cost}}{{if .rounded}}（不足一小时按一小时）{{end}}{{else}}{{.busy}}的费用超出可计算范围{{end}}；{{if .hours}}包期（至 {{.end}} 共 {{.paid}}）使用 {{.hours}} 小时以上才划算{{else}}包期价格未知{{end}}"},
		"app.period-unpriced": {"what it would have cost on demand is not known: no price{{if .gpu}} of {{.gpu}}{{end}} by the hour is told (prices of the account, or rates)", "按量费用未知：没有{{if .gpu}} {{.gpu}} {{end}}的按小时价格（账号的 prices 或 rates）"},
		"app.period-renews":   {"the platform renews it by itself", "平台会自动续费"},
		"app.period-lapses":   {"it is not renewed by itself", "不会自动续费"},
		"app.period-unsure":   {"whether it is renewed by itself is not known", "是否自动续费未知"},
		"app.period-one":      {"{{.first}}; {{.then}}", "{{.first}}；{{.then}}"},
		"app.price-config":    {"prices of the account", "账号的 prices"},
		"app.price-quotes":    {"rates", "配置的 rates"},
		"app.price-seen":      {"as {{.name}} is paid for", "同 {{.name}}"},

		"cli.estimate.kept":     {"{{.name}}: {{.total}} for {{.hours}} h, with {{.margin}}% on top {{.limit}}; kept since {{.at}}", "{{.name}}：{{.hours}} 小时共 {{.total}}，含 {{.margin}}% 余量 {{.limit}}；已于 {{.at}} 保存"},
		"cli.estimate.self":     {"its own price, {{.price}} an hour", "按实例自身价格，每小时 {{.price}}"},
		"cli.estimate.tells":    {"You will be told if it has cost more than {{.limit}} since now, or if the wallet will not last until {{.until}}", "从现在起花费超过 {{.limit}}，或余额撑不到 {{.until}} 时，会通知你"},
		"cli.estimate.replaced": {"It replaces that of {{.at}}: {{.total}} for {{.hours}} h, of which {{.cost}} was spent", "替换 {{.at}} 的预估：{{.hours}} 小时共 {{.total}}，其间花费 {{.cost}}"},
		"cli.estimate.dropped":  {"{{.name}}: the estimate of {{.at}} ({{.total}} for {{.hours}} h) is forgotten", "{{.name}}：{{.at}} 的预估（{{.hours}} 小时共 {{.total}}）已删除"},
		"cli.estimate.of":       {"estimated {{.total}} for {{.hours}} h, with {{.margin}}% on top {{.limit}}", "预估 {{.hours}} 小时共 {{.total}}，含 {{.margin}}% 余量 {{.limit}}"},
		"cli.estimate.spent":    {"cost {{.cost}} in {{.hours}} h{{if .over}}, more than estimated{{end}}", "实际 {{.hours}} 小时花费 {{.cost}}{{if .over}}，超出预估{{end}}"},
		"cli.estimate.goes-on":  {"{{if .left}}{{.left}} of its time remain{{else}}its time is over, and it still runs{{end}}", "{{if .left}}预估时间还剩 {{.left}}{{else}}预估时间已到，仍在运行{{end}}"},
		"cli.estimate.stopped":  {"stopped at {{.at}}", "{{.at}} 关机"},
		"cli.estimate.renewed":  {"replaced at {{.at}}", "{{.at}} 被新的预估替换"},
		"cli.part.estimates":    {"Estimates, and what it did cost", "预估与实际"},
	}
}
