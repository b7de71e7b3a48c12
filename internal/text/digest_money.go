package text

func digestMoneyTexts() entries {
	return entries{
		"digest.week": {"the week{{if .sum}}, {{.sum}} spent{{end}}; {{.what}}", "本周{{if .sum}}花费 {{.sum}}{{end}}；{{.what}}"},

		"digest.spent": {
			"Spent{{if .week}} in the week{{end}}: {{if .sum}}{{.sum}}{{else}}nothing{{end}}{{if .week}}; in the week before: {{if .before}}{{.before}}{{else}}nothing{{end}}{{if .change}} ({{.change}}){{end}}{{end}}{{if .unknown}}; without {{.unknown}} whose cost is not known{{end}}{{if .since}}; known since {{.since}} only{{end}}",
			"{{if .week}}本周{{end}}花费：{{if .sum}}{{.sum}}{{else}}无{{end}}{{if .week}}；上周：{{if .before}}{{.before}}{{else}}无{{end}}{{if .change}}（{{.change}}）{{end}}{{end}}{{if .unknown}}；另有 {{.unknown}} 项费用未知{{end}}{{if .since}}；记录始于 {{.since}}{{end}}",
		},
		"digest.spent-account": {
			"{{.account}}: {{if .sum}}{{.sum}}{{else}}nothing{{end}}{{if .ran}}, {{.ran}} ran for {{.hours}} together{{end}}{{if .week}}; the week before: {{if .before}}{{.before}}{{else}}nothing{{end}}{{end}}{{if .unknown}}; without {{.unknown}} whose cost is not known{{end}}",
			"{{.account}}：{{if .sum}}{{.sum}}{{else}}无{{end}}{{if .ran}}，{{.ran}} 台共运行 {{.hours}}{{end}}{{if .week}}；上周：{{if .before}}{{.before}}{{else}}无{{end}}{{end}}{{if .unknown}}；另有 {{.unknown}} 项费用未知{{end}}",
		},
		"digest.saved": {
			"Saved by stops, an estimate: {{.sum}} ({{.stops}} stopped), had they run on at the same price",
			"关机节省（估算）：{{.sum}}（{{.stops}} 次关机，按原价继续运行计）",
		},

		"digest.left": {
			"Left over, used by nothing: {{.count}}{{if .day}}, {{.day}} a day{{end}}{{if .unpriced}}, {{.unpriced}} of unknown price{{end}}",
			"闲置未用：{{.count}} 项{{if .day}}，每天 {{.day}}{{end}}{{if .unpriced}}，{{.unpriced}} 项价格未知{{end}}",
		},
		"digest.left-one": {
			"{{.name}} ({{.kind}}{{if .account}}, {{.account}}{{end}}): {{if .day}}{{.day}} a day{{else}}price unknown{{end}}, for {{.for}}",
			"{{.name}}（{{.kind}}{{if .account}}，{{.account}}{{end}}）：{{if .day}}每天 {{.day}}{{else}}价格未知{{end}}，已闲置 {{.for}}",
		},
		"digest.paid": {"Paid by the period", "包期到期"},
		"digest.paid-until": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: {{if .over}}over since{{else}}until{{end}} {{.at}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：{{if .over}}已于 {{.at}} 到期{{else}}{{.at}} 到期{{end}}",
		},

		"digest.wallets": {"Wallets", "余额"},
		"digest.wallet":  {"{{.account}}{{if .at}}, as of {{.at}}{{end}}: {{.what}}", "{{.account}}{{if .at}}（截至 {{.at}}）{{end}}：{{.what}}"},
		"digest.budgets": {"Budgets", "预算"},
		"digest.budget": {
			"{{.policy}}{{if .who}} ({{.who}}){{end}}: {{.percent}}%, {{.spent}} of {{.limit}} until {{.until}}{{if .unknown}}; without {{.unknown}} whose cost is not known{{end}}",
			"{{.policy}}{{if .who}}（{{.who}}）{{end}}：{{.percent}}%，{{.spent}}/{{.limit}}，至 {{.until}}{{if .unknown}}；另有 {{.unknown}} 项费用未知{{end}}",
		},

		// A sheet of one person's month.
		"digest.sheet":         {"{{.month}}, {{.owner}}: {{if .sum}}{{.sum}}{{else}}no known cost{{end}}", "{{.month}} {{.owner}} 的账单：{{if .sum}}{{.sum}}{{else}}费用未知{{end}}"},
		"digest.sheet-nobodys": {"{{.month}}, without an owner: {{if .sum}}{{.sum}}{{else}}no known cost{{end}}", "{{.month}} 未标注使用者的账单：{{if .sum}}{{.sum}}{{else}}费用未知{{end}}"},
		"digest.sheet-from":    {"What is known begins at {{.since}}", "记录始于 {{.since}}"},
		"digest.sheet-items":   {"By item", "按项目"},
		"digest.sheet-item":    {"{{.item}}: {{.sum}}", "{{.item}}：{{.sum}}"},
		"digest.sheet-things":  {"One by one, {{.count}} in all", "逐项，共 {{.count}} 项"},
		"digest.sheet-thing": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}: {{.sum}}{{if .up}}, ran for {{.up}}{{end}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}：{{.sum}}{{if .up}}，运行 {{.up}}{{end}}",
		},
		"digest.sheet-busy": {
			"At work for {{.busy}} of the {{.up}} that instances ran{{if .rate}}; {{.rate}} for each hour at work{{end}}",
			"实例运行 {{.up}}，其中工作 {{.busy}}{{if .rate}}；每工作小时 {{.rate}}{{end}}",
		},
		"digest.sheet-no-busy": {"Instances ran for {{.up}}; nobody saw them at work", "实例运行 {{.up}}，未见其工作"},
		"digest.sheet-unknown": {"Without {{.count}} whose cost is not known, or only in part", "另有 {{.count}} 项费用全部或部分未知"},
	}
}
