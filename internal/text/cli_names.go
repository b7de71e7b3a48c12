package text

// cliNameTexts are the words that commands show for what is a word in the
// configuration or in the state. In English they are those words.
func cliNameTexts() entries {
	return entries{
		"cli.mode.dry-run": {"dry-run", "演练"},
		"cli.mode.enforce": {"enforce", "执行"},

		"cli.from.default": {"(default)", "（默认）"},
		"cli.from.file":    {"(file)", "（配置文件）"},
		"cli.from.account": {"(account)", "（账号）"},
		"cli.from.policy":  {"(policy)", "（策略）"},

		// What an act goes through.
		"cli.step.opened":         {"opened", "提出"},
		"cli.step.announced":      {"announced", "已预告"},
		"cli.step.announced-anew": {"announced anew", "重新预告"},
		"cli.step.joined":         {"joined", "并入同批预告"},
		"cli.step.hurried":        {"hurried", "改为立即执行"},
		"cli.step.approved":       {"approved", "获得批准"},
		"cli.step.put-off":        {"put-off", "推迟"},
		"cli.step.started":        {"started", "开始发出"},
		"cli.step.written":        {"written", "已发出"},
		"cli.step.again":          {"again", "重试"},
		"cli.step.read":           {"read", "读取核实"},
		"cli.step.closed":         {"closed", "结束"},

		// A history.
		"cli.history.state":      {"state", "状态"},
		"cli.history.price":      {"price", "每小时价格"},
		"cli.history.billing":    {"billing", "计费"},
		"cli.history.activity":   {"activity", "活动"},
		"cli.history.boot":       {"boot", "开机标识"},
		"cli.history.gone":       {"gone", "已消失"},
		"cli.history.there":      {"there", "存在"},
		"cli.history.making":     {"making", "创建中"},
		"cli.history.unknown":    {"unknown", "未知"},
		"cli.billed.second":      {"second", "按秒"},
		"cli.billed.hour":        {"hour", "按小时"},
		"cli.billed.prepaid":     {"prepaid", "预付"},
		"cli.billed.on-demand":   {"on-demand", "按量"},
		"cli.billed.spot":        {"spot", "竞价"},
		"cli.billed.period":      {"period", "包周期"},
		"cli.billed.by-platform": {"provider", "价格来自平台"},
		"cli.billed.by-config":   {"config", "价格来自配置"},

		// What a policy is about.
		"cli.match.all":      {"all", "全部"},
		"cli.match.or":       {"{{.first}} or {{.next}}", "{{.first}} 或 {{.next}}"},
		"cli.match.and":      {"{{.first}}, {{.next}}", "{{.first}}，{{.next}}"},
		"cli.match.account":  {"account", "账号"},
		"cli.match.provider": {"provider", "平台"},
		"cli.match.name":     {"name", "名称"},
		"cli.match.owner":    {"owner", "使用者"},
		"cli.match.gpu":      {"gpu", "显卡"},
		"cli.match.region":   {"region", "地域"},
		"cli.match.state":    {"state", "状态"},
		"cli.match.label":    {"label", "标签"},
		"cli.match.expr":     {"expr", "表达式"},
	}
}
