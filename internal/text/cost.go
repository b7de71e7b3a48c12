package text

// costTexts are those of what things cost, and of what left a wallet.
func costTexts() entries {
	return entries{
		"app.hidden-charge": {
			"{{.gap}} left the wallet of {{.account}} on {{.day}} and no known resource explains it: {{.fell}} left{{if .vouchers}} ({{.vouchers}} of it vouchers, which may have expired){{end}}, curfew knows of {{.ledger}}{{if .kept}}. Stopped or kept there: {{.kept}}{{end}}. See curfew cost --check, and the platform's own bill",
			"{{.account}} 在 {{.day}} 有 {{.gap}} 扣费找不到对应的资源：共扣 {{.fell}}{{if .vouchers}}（其中代金券 {{.vouchers}}，可能是过期）{{end}}，curfew 已知 {{.ledger}}{{if .kept}}。该账号中已关机或保留的有：{{.kept}}{{end}}。请运行 curfew cost --check，并核对平台账单",
		},
		"app.billed-more": {
			"On {{.day}} the platform billed {{.billed}} for {{if .name}}{{.name}} ({{.item}}){{else}}{{.item}}{{end}} in {{.account}}, and curfew {{if .unknown}}knows of no such resource{{else}}reckoned {{.ledger}}{{end}}{{if .others}}. More than reckoned also for: {{.others}}{{end}}. All of that day: {{.all}} billed{{if .vouchers}} ({{.vouchers}} of it paid with vouchers){{end}}, {{.known}} reckoned. See curfew cost --check",
			"{{.account}} 在 {{.day}}：平台为{{if .name}} {{.name}}（{{.item}}）{{else}}{{.item}}{{end}}计费 {{.billed}}，{{if .unknown}}curfew 没有见过该资源{{else}}curfew 计算为 {{.ledger}}{{end}}{{if .others}}。另有多计费：{{.others}}{{end}}。当天账单共 {{.all}}{{if .vouchers}}（其中代金券 {{.vouchers}}）{{end}}，按用量计算 {{.known}}。请运行 curfew cost --check",
		},
		"app.billed.instance": {"instances", "实例"},
		"app.billed.disk":     {"disks", "磁盘"},
		"app.billed.snapshot": {"snapshots, images", "快照与镜像"},
		"app.billed.ip":       {"public IPs", "公网 IP"},
		"app.billed.traffic":  {"traffic", "流量"},
		"app.billed.other":    {"something else", "其他项目"},

		"app.kept-names": {"{{.names}}{{if .more}} and {{.more}} more{{end}}", "{{.names}}{{if .more}}，另有 {{.more}} 个{{end}}"},

		// Heads of columns.
		"cli.cost.account":  {"ACCOUNT", "账号"},
		"cli.cost.owner":    {"OWNER", "归属"},
		"cli.cost.run":      {"RUN", "训练任务"},
		"cli.cost.item":     {"ITEM", "项目"},
		"cli.cost.phase":    {"PHASE", "阶段"},
		"cli.cost.on-day":   {"DAY", "日期"},
		"cli.cost.total":    {"TOTAL", "合计"},
		"cli.cost.hours":    {"HOURS", "小时"},
		"cli.cost.fell":     {"LEFT WALLET", "扣费"},
		"cli.cost.vouchers": {"OF IT VOUCHERS", "其中代金券"},
		"cli.cost.rose":     {"CAME IN", "充值/退款"},
		"cli.cost.ledger":   {"RECKONED", "按用量计算"},
		"cli.cost.gap":      {"GAP", "差额"},
		"cli.cost.result":   {"RESULT", "结论"},

		// What money was spent on.
		"cli.cost.item.instance": {"INSTANCES", "实例"},
		"cli.cost.item.disk":     {"DISKS", "磁盘"},
		"cli.cost.item.snapshot": {"SNAPSHOTS, IMAGES", "快照与镜像"},
		"cli.cost.item.ip":       {"PUBLIC IPS", "公网 IP"},
		"cli.cost.item.traffic":  {"TRAFFIC", "流量"},
		"cli.cost.item.other":    {"OTHER", "其他"},

		// What instances were doing.
		"cli.cost.phase.setup":   {"set-up: from the start to the first run", "准备：开机到首个任务"},
		"cli.cost.phase.run":     {"at work", "运行任务"},
		"cli.cost.phase.idle":    {"idle", "空闲"},
		"cli.cost.phase.unknown": {"unknown", "未知"},
		"cli.cost.phase.stopped": {"stopped", "已关机"},
		"cli.cost.phase.kept":    {"disks, snapshots, images, addresses", "磁盘、快照、镜像、公网 IP"},

		"cli.cost.no-owner": {"(nobody)", "（未标注）"},
		"cli.cost.no-run":   {"(outside of runs)", "（任务之外）"},

		// What is said around the table.
		"cli.cost.period":     {"From {{.from}} to {{.to}}", "{{.from}} 至 {{.to}}"},
		"cli.cost.since":      {"curfew knows of nothing before {{.since}}", "{{.since}} 之前没有记录"},
		"cli.cost.stale":      {"{{.account}} was last read at {{.at}}; what was there is counted as if nothing had changed since", "{{.account}} 上次读取于 {{.at}}，之后按没有变化计算"},
		"cli.cost.none":       {"Nothing was billed in this time, as far as is known", "这段时间没有已知的费用"},
		"cli.cost.sum":        {"Total: {{if .sum}}{{.sum}}{{else}}nothing known{{end}}{{if .unknown}}, and what {{.unknown}} of unknown cost came to{{end}}", "合计：{{if .sum}}{{.sum}}{{else}}没有已知费用{{end}}{{if .unknown}}，另有 {{.unknown}} 项费用未知，未计入{{end}}"},
		"cli.cost.prepaid":    {"{{.sum}} of it was paid before, by the period", "其中 {{.sum}} 为包期，已预先支付"},
		"cli.cost.configured": {"{{.sum}} of it is by prices of the configuration", "其中 {{.sum}} 按配置中的价格计算"},
		"cli.cost.busy":       {"At work for {{.for}}: each hour of work cost {{.sum}}{{if .unknown}} or more{{end}}, with set-up, idle time and what stopped instances cost", "运行任务共 {{.for}}：每小时有效工作折合 {{.sum}}{{if .unknown}} 以上{{end}}，含准备、空闲和关机后的费用"},
		"cli.cost.saved": {
			"Saved by {{.stops}} stops: about {{.sum}}. An estimate: as if each had run on at its last price for the {{.for}} until its next start or until now, less what it still cost{{if .unknown}}; {{.unknown}} stops are left out, as a price is not known{{end}}",
			"{{.stops}} 次关机约节省 {{.sum}}。此为估算：假设各实例按关机前的价格一直运行到下次开机或现在（共 {{.for}}），再减去关机后的费用{{if .unknown}}；另有 {{.unknown}} 次因价格未知未计入{{end}}",
		},
		"cli.cost.saved-unknown": {"What {{.unknown}} stops saved is not known, as a price is not", "{{.unknown}} 次关机的节省金额未知：价格未知"},

		"cli.cost.unknown":        {"Of unknown cost, and not in the total", "费用未知、未计入合计"},
		"cli.cost.unknown.price":  {"nobody told the price; write it in prices of the account", "价格未知，可在账号的 prices 中填写"},
		"cli.cost.unknown.state":  {"nobody could tell whether it ran", "无法确定是否在运行"},
		"cli.cost.unknown.period": {"paid by the period; what for is not told", "包期付费，平台未告知金额"},

		// The wallet and the ledger.
		"cli.cost.check":           {"Wallet of {{.account}}", "{{.account}} 的余额对账"},
		"cli.cost.check-none":      {"{{.account}}: its wallet was not read in this time", "{{.account}}：这段时间没有读取过余额"},
		"cli.cost.check-nowhere":   {"No account of the configuration has a wallet that can be read", "配置中没有可读取余额的账号"},
		"cli.cost.check-kept":      {"Stopped or kept there: {{.names}}{{if .more}} and {{.more}} more{{end}}", "已关机或保留：{{.names}}{{if .more}}，另有 {{.more}} 个{{end}}"},
		"cli.cost.check-unwatched": {", unwatched for {{.for}}", "，其中 {{.for}} 没有读取"},
		"cli.cost.check.agrees":    {"agrees", "相符"},
		"cli.cost.check.hidden":    {"more left than any known resource explains", "扣费超出已知资源"},
		"cli.cost.check.less":      {"less left than reckoned: a price may be wrong, or the platform settles late", "扣费少于计算：价格可能有误，或平台结算较晚"},
		"cli.cost.check.unpriced":  {"more left, but things ran whose price is not known", "扣费较多，但有价格未知的资源在运行"},
		"cli.cost.check.bought":    {"more left, but a period was bought, renewed or first seen", "扣费较多，但当天有包期购买、续费或首次出现"},
		// The bill and the ledger.
		"cli.cost.bill":                  {"Bill of {{.account}}, {{.from}} to {{.to}}", "{{.account}} 的账单对账，{{.from}} 至 {{.to}}"},
		"cli.cost.bill-none":             {"{{.account}}: no whole day's bill of this time was read yet", "{{.account}}：这段时间尚无完整一天的账单"},
		"cli.cost.bill-late":             {"From {{.day}} on the bill may not be complete yet", "{{.day}} 起账单可能尚不完整"},
		"cli.cost.bill-apart":            {"Kept apart:{{if .refunded}} {{.refunded}} refunded{{end}}{{if .bought}}{{if .refunded}},{{end}} {{.bought}} for periods that were bought{{end}}", "不参与比较：{{if .refunded}}退款 {{.refunded}}{{end}}{{if .bought}}{{if .refunded}}，{{end}}购买包期 {{.bought}}{{end}}"},
		"cli.cost.bill-agrees":           {"Every resource agrees", "每个资源都相符"},
		"cli.cost.bill-differs":          {"Not explained", "无法解释的部分"},
		"cli.cost.bill-nameless":         {"(the bill names none)", "（账单未注明）"},
		"cli.cost.bill-all":              {"ALL", "合计"},
		"cli.cost.bill.what":             {"RESOURCE", "资源"},
		"cli.cost.bill.billed":           {"BILLED", "账单金额"},
		"cli.cost.bill.unknown-resource": {"curfew knows of no such resource", "curfew 没有见过该资源"},
		"cli.cost.bill.more":             {"billed more than reckoned", "账单多于计算"},
		"cli.cost.bill.less":             {"billed less than reckoned: a price may be wrong, or items come late", "账单少于计算：价格可能有误，或账单较晚"},
		"cli.cost.bill.never-billed":     {"reckoned, and never billed", "已计算，但未出账"},
		"cli.cost.bill.unpriced":         {"its price is not known", "价格未知"},

		"cli.cost.check.too-early": {"too early to tell", "尚未结算完"},
	}
}
