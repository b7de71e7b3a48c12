package text

// cliFailTexts say why a command did not do what was asked.
func cliFailTexts() entries {
	return entries{
		// What cannot be understood.
		"cli.fail.help":          {"see curfew --help", "用法见 curfew --help"},
		"cli.fail.command":       {"unknown command \"{{.word}}\"{{if .near}}\nDid you mean this? {{.near}}{{end}}", "没有“{{.word}}”这个命令{{if .near}}\n是不是想用 {{.near}}？{{end}}"},
		"cli.fail.arguments":     {"{{if .given}}\"{{.given}}\" does not fit{{else}}something is missing{{end}}; write {{.use}}", "{{if .given}}参数“{{.given}}”不符合用法{{else}}缺少参数{{end}}；请写 {{.use}}"},
		"cli.fail.flag":          {"unknown flag: {{.flag}}", "没有选项 {{.flag}}"},
		"cli.fail.flag-value":    {"{{.flag}} needs a value", "选项 {{.flag}} 需要一个值"},
		"cli.fail.flag-bad":      {"invalid value \"{{.value}}\" for {{.flag}}: {{.why}}", "选项 {{.flag}} 的值“{{.value}}”无效：{{.why}}"},
		"cli.fail.language":      {"--lang {{.lang}}: it is en or zh", "--lang {{.lang}}：只能是 en 或 zh"},
		"cli.fail.not-id":        {"\"{{.word}}\" is not the number of an act; curfew journal lists them", "“{{.word}}”不是操作编号；编号见 curfew journal"},
		"cli.fail.not-span":      {"\"{{.word}}\" is not a length of time; write 30m, 2h, 1d, or off", "“{{.word}}”不是时长；请写 30m、2h、1d 或 off"},
		"cli.fail.nobody-to-ask": {"there is no terminal to ask on; say --yes if you mean it", "没有终端可供确认；确定要执行请加 --yes"},
		"cli.fail.no-channel":    {"{{.file}} has no channel \"{{.name}}\"; it has: {{.names}}", "{{.file}} 里没有渠道“{{.name}}”；已有：{{.names}}"},

		// What fails.
		"cli.fail.problems":    {"{{.file}}: {{.count}} to correct; each line begins with its place", "{{.file}} 有 {{.count}} 处需要修改；以上每行依次为位置、问题和改法（英文）"},
		"cli.fail.partly":      {"not everything could be read: {{.why}}", "未能全部读取：{{.why}}"},
		"cli.fail.who":         {"who it is: {{.why}}", "确认账号身份时出错：{{.why}}"},
		"cli.fail.list":        {"list: {{.why}}", "读取列表时出错：{{.why}}"},
		"cli.fail.wallet":      {"wallet: {{.why}}", "读取余额时出错：{{.why}}"},
		"cli.fail.home":        {"HOME is not set; say where to write: curfew init --config FILE", "未设置 HOME；请写明文件位置：curfew init --config 文件"},
		"cli.fail.draft":       {"the configuration that init made does not load, so nothing was written; please report this: {{.why}}", "init 生成的配置无法加载，因此没有写任何文件；请反馈这个问题：{{.why}}"},
		"cli.fail.not-written": {"nothing was written: {{.why}}", "没有写任何文件：{{.why}}"},
		"cli.fail.answer":      {"the answer could not be read: {{.why}}", "无法读取回答：{{.why}}"},

		"ctl.no-daemon":    {"no daemon is running; start one with curfew run (nobody answers at {{.path}})", "守护进程未运行，请用 curfew run 启动（{{.path}} 无人应答）"},
		"ctl.may-not-talk": {"may not talk to the daemon at {{.path}}; run this as the user it runs as, or as root", "无权访问 {{.path}} 上的守护进程；请用运行它的用户或 root 执行"},
		"ctl.no-answer":    {"ask the daemon at {{.path}}: {{.why}}", "询问 {{.path}} 上的守护进程时出错：{{.why}}"},

		"app.no-instance": {"there is no instance \"{{.name}}\"; curfew ls lists them", "没有实例“{{.name}}”；实例列表见 curfew ls"},
		"app.no-thing":    {"there is no instance or resource \"{{.name}}\"; curfew ls lists them", "没有实例或资源“{{.name}}”；列表见 curfew ls"},
		"app.not-one":     {"{{.count}} are called \"{{.name}}\"; say which: {{.which}}", "有 {{.count}} 个叫“{{.name}}”；请写明是哪一个：{{.which}}"},

		"store.no-intent": {"there is no intent #{{.id}}; curfew journal lists them", "没有编号为 #{{.id}} 的操作；编号见 curfew journal"},
		"store.locked":    {"another curfew has this state open; stop it first, or talk to it ({{.file}})", "另一个 curfew 正在使用这份状态；请先停掉它，或直接向它下命令（{{.file}}）"},

		"config.no-file": {"no configuration found; looked for {{.places}}; start from deploy/curfew.example.yaml, or name one with --config FILE", "没有找到配置；找过 {{.places}}；可从 deploy/curfew.example.yaml 开始，或用 --config 文件 指定"},
		"config.unread":  {"read configuration: {{.why}}", "无法读取配置：{{.why}}"},
	}
}
