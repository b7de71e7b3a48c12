package text

// moneyTexts are those of the policies that watch wallets and budgets.
func moneyTexts() entries {
	return entries{
		// What is done.
		"policy.money-warns":      {"nothing but telling", "仅提醒"},
		"policy.money-blocks":     {"orders are held back", "暂停下单"},
		"policy.money-stops-idle": {"what is idle is stopped, and orders are held back", "关闭空闲实例，并暂停下单"},
		"policy.money-stops-all":  {"all that runs is stopped, at work or not, and orders are held back", "关闭所有运行中的实例（无论是否在使用），并暂停下单"},
		"policy.run-stops-idle":   {"its instance is stopped once that is idle", "其实例空闲后关机"},
		"policy.run-stops-all":    {"its instance is stopped, at work or not", "关闭其实例，无论是否在使用"},
		"policy.money-dry":        {"nothing, as this is a dry run (else: {{.what}})", "演练模式，不实际操作（否则：{{.what}}）"},
		"policy.money-stop":       {"for the sake of money: {{.why}}", "为控制费用：{{.why}}"},
		"policy.left-running": {
			"left running: {{.why}}. {{if .price}}It costs {{.price}} an hour{{else}}What it costs is not known{{end}}; {{.level}}",
			"保持运行：{{.why}}。{{if .price}}每小时 {{.price}}{{else}}价格未知{{end}}；{{.level}}",
		},
		"policy.left-run":     {"{{.why}}, and only what is idle is stopped", "{{.why}}，只关闭空闲实例"},
		"policy.left-busy":    {"it is busy without a run that is known ({{.why}}), and only what is idle is stopped", "没有已知任务，但正在使用（{{.why}}），只关闭空闲实例"},
		"policy.left-unknown": {"whether it is idle is not known ({{.why}}), and only what is idle is stopped", "无法确认是否空闲（{{.why}}），只关闭空闲实例"},
		"policy.left-data":    {"a stop would lose data", "关机会丢失数据"},

		// How long it lasts.
		"policy.pace": {
			"{{.burn}} an hour, enough for {{.runway}}{{if .unpriced}} at most, as {{.unpriced}} without a known price are not counted{{end}}{{if .other}}; {{.other}} an hour in other currencies is not counted{{end}}",
			"每小时 {{.burn}}，{{if .unpriced}}最多{{else}}约{{end}}可用 {{.runway}}{{if .unpriced}}：另有 {{.unpriced}} 项价格未知{{end}}{{if .other}}；其他币种每小时 {{.other}} 未计入{{end}}",
		},
		"policy.pace-none": {"nothing there costs anything now", "目前没有产生费用的资源"},
		"policy.pace-unknown": {
			"how long that lasts is not known{{if .unpriced}}: {{.unpriced}} are up without a known price{{end}}{{if .other}}; {{.other}} an hour in other currencies is not counted{{end}}",
			"可用多久未知{{if .unpriced}}：有 {{.unpriced}} 项价格未知{{end}}{{if .other}}；其他币种每小时 {{.other}} 未计入{{end}}",
		},

		// A balance policy.
		"policy.wallet-left": {
			"{{.left}} left{{if .vouchers}} (cash {{.cash}}, vouchers {{.vouchers}}){{end}}, {{.pace}}",
			"余额 {{.left}}{{if .vouchers}}（现金 {{.cash}}，代金券 {{.vouchers}}）{{end}}，{{.pace}}",
		},
		"policy.wallet-elsewhere": {"the wallet it is paid from is not watched by this policy", "付款账号的余额不由此策略监视"},
		"policy.wallet-unread":    {"the wallet has not been read yet", "尚未读取余额"},
		"policy.wallet-unknown": {
			"what is left is not known since {{.since}}, when it was {{.left}}; instances up: {{.running}}{{if .burn}}, and all there costs {{.burn}} an hour{{end}}{{if .unpriced}}, without {{.unpriced}} whose price is not known{{end}}. No level begins or ends meanwhile, and none stops anything",
			"{{.since}} 之后余额未知，当时为 {{.left}}；有 {{.running}} 台实例开机{{if .burn}}，共每小时 {{.burn}}{{end}}{{if .unpriced}}，另有 {{.unpriced}} 项价格未知{{end}}。在此期间档位不会触发或解除，也不会因此关机",
		},
		"policy.wallet-known":     {"what is left in the wallet is known again", "已恢复读取余额"},
		"policy.wallet-no-level":  {"no level is in the currency of this wallet, so none applies to it: {{.wallet}}", "没有与此余额同币种的档位，因此均不适用：{{.wallet}}"},
		"policy.wallet-no-runway": {"the price of what runs is not known, so no level that says how long the wallet must last can apply; write it in prices of the account: {{.wallet}}", "运行中的实例价格未知，因此按可用时长设置的档位均不适用；请在账号的 prices 中填写价格：{{.wallet}}"},
		"policy.wallet-no-max":    {"spend_max, {{.limit}}, is not in the currency of this wallet and does not apply to it: {{.wallet}}", "spend_max（{{.limit}}）与此余额币种不同，因此不适用：{{.wallet}}"},
		"policy.wallet-topped-up": {
			"the wallet was filled up {{.times}} times within 24h, by {{.rose}}, while {{.fell}} left it; what fills it up by itself hides spending from every level. {{.wallet}}",
			"24 小时内余额增加 {{.times}} 次，共 {{.rose}}，同时支出 {{.fell}}；自动充值会使各档位看不到支出。{{.wallet}}",
		},
		"policy.wallet-spent": {"{{.fell}} left the wallet within 24h, more than spend_max, {{.limit}}; {{.wallet}}", "24 小时内支出 {{.fell}}，超过 spend_max（{{.limit}}）；{{.wallet}}"},
		"policy.level":        {"{{.wallet}}; level: {{.level}}", "{{.wallet}}；档位：{{.level}}"},
		"policy.level-below":  {"below {{.below}}", "低于 {{.below}}"},
		"policy.level-runway": {"enough for less than {{.runway}}", "可用不足 {{.runway}}"},
		"policy.level-told":   {"{{.why}}\nDone: {{.does}}. At zero: {{.zero}}", "{{.why}}\n处理：{{.does}}。余额用尽时：{{.zero}}"},
		"policy.level-over":   {"the level is over: {{.level}}", "档位解除：{{.level}}"},
		"policy.zero-unknown": {"what the platform does then is not known", "平台如何处理未知"},

		// A budget.
		"policy.budget-share": {
			"{{if .who}}{{.who}}: {{end}}{{.spent}} of {{.limit}} spent ({{.percent}} %) from {{.from}} to {{.to}}{{if .forecast}}; at the pace of late it comes to {{.forecast}}{{end}}{{if .unknown}}; what {{.unknown}} of unknown cost came to is not in it{{end}}{{if .other}}; {{.other}} is not in it either{{end}}{{if .since}}; nothing is known before {{.since}}{{end}}",
			"{{if .who}}{{.who}}：{{end}}{{.from}} 至 {{.to}} 已用 {{.spent}}，预算 {{.limit}}（{{.percent}}%）{{if .forecast}}；按近期速度预计达到 {{.forecast}}{{end}}{{if .unknown}}；另有 {{.unknown}} 项费用未知，未计入{{end}}{{if .other}}；{{.other}} 未计入{{end}}{{if .since}}；{{.since}} 之前没有记录{{end}}",
		},
		"policy.budget-told":         {"{{.why}}; done: {{.does}}", "{{.why}}；处理：{{.does}}"},
		"policy.budget-forecast":     {"it will come to more than the limit: {{.why}}", "预计会超出预算：{{.why}}"},
		"policy.budget-unread":       {"what was spent has not been reckoned yet", "尚未计算已用金额"},
		"policy.budget-no-owner":     {"without an owner", "未标注使用者"},
		"policy.budget-no-run":       {"no run goes on", "没有运行中的任务"},
		"policy.budget-run":          {"run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} has cost {{.spent}} of {{.limit}} ({{.percent}} %)", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}已花费 {{.spent}}，预算 {{.limit}}（{{.percent}}%）"},
		"policy.budget-run-price":    {"what run{{if .run}} {{.run}}{{end}}{{if .began}} of {{.began}}{{end}} costs is not known, so its budget cannot be kept", "{{if .began}}{{.began}} 开始的{{end}}任务{{if .run}} {{.run}} {{end}}费用未知，无法控制预算"},
		"policy.budget-run-currency": {"run{{if .run}} {{.run}}{{end}} is paid in {{.currency}}, and its budget is {{.limit}}, so it cannot be kept", "任务{{if .run}} {{.run}} {{end}}以 {{.currency}} 计费，而预算为 {{.limit}}，无法控制"},
	}
}
