package text

import "maps"

func setupTexts() entries {
	all := entries{
		// The talk.
		"cli.init.hello":      {"A few questions, and curfew can guard what you rent. Enter takes what stands in [ ], q leaves; nothing is written before the end", "回答几个问题，curfew 就能守护你租的机器。回车采用 [ ] 里的内容，q 退出；最后才会写文件"},
		"cli.init.hello-box":  {"A few questions, and curfew can guard this machine from inside. Enter takes what stands in [ ], q leaves; nothing is written before the end", "回答几个问题，curfew 就能在这台机器里守护它自己。回车采用 [ ] 里的内容，q 退出；最后才会写文件"},
		"cli.init.left":       {"left; nothing was written", "已退出，没有写任何文件"},
		"cli.init.needs":      {"this needs an answer, and there is none: {{.question}}", "这个问题必须回答，但没有收到回答：{{.question}}"},
		"cli.init.unknown":    {"unknown", "未知"},
		"cli.init.nothing":    {"nothing", "不填"},
		"cli.init.hidden":     {"(not shown)", "（不显示）"},
		"cli.init.in-env":     {"{{.env}} is set", "已设置 {{.env}}"},
		"cli.init.from-env":   {"what {{.env}} holds", "用环境变量 {{.env}}"},
		"cli.init.from-file":  {"what {{.file}} holds", "用文件 {{.file}}"},
		"cli.init.checking":   {"reading the account … {{.for}}", "正在读取账号……{{.for}}"},
		"cli.init.no-such":    {"write a number from 1 to {{.count}}, or the name", "请输入 1 到 {{.count}} 的编号，或名称"},
		"cli.init.yes-or-no":  {"write y or n", "请输入 y 或 n"},
		"cli.init.spaces":     {"that has a space in it; write only the key itself", "里面有空格，请只输入密钥本身"},
		"cli.init.no-glob":    {"that is no name pattern; write one in which * stands for anything, such as exp-*", "这不是名称规则；用 * 代表任意内容，例如 exp-*"},
		"cli.init.no-pattern": {"that is no regular expression: {{.why}}", "这不是正则表达式：{{.why}}"},
		"cli.init.no-price":   {"write an amount for an hour, such as 1.98 or 0.45 USD", "请输入每小时的价格，例如 1.98 或 0.45 USD"},
		"cli.init.no-days":    {"write a number of days, such as 15", "请输入天数，例如 15"},

		"cli.init.not-printable": {"that holds characters that cannot be shown", "里面有无法显示的字符"},
		"cli.init.pattern-all":   {"that matches every line; write what the line must hold", "它会匹配任何命令；请写明命令里必须有什么"},

		// Accounts.
		"cli.init.inside":         {"This seems to be inside an instance of {{.platform}} ({{.marks}}). Guard only this machine, from inside?", "这里似乎是 {{.platform}} 的实例内部（{{.marks}}）。只在里面守护这一台机器吗？"},
		"cli.init.which-provider": {"Which platform do you rent from?", "你在哪个平台租机器？"},
		"cli.init.machines":       {"this machine, from inside (platforms without an API)", "只守护本机，在里面运行（适合没有 API 的平台）"},
		"cli.init.credential":     {"{{.title}}: {{.key}} (docs/providers/{{.name}}.md says where to get it)", "{{.title}} 的 {{.key}}（获取方法见 docs/providers/{{.name}}.zh-CN.md）"},
		"cli.init.account-bad":    {"The account cannot be read: {{.why}}", "无法读取账号：{{.why}}"},
		"cli.init.what-now":       {"What now?", "怎么办？"},
		"cli.init.retype":         {"give it again", "重新输入"},
		"cli.init.other":          {"choose another", "换一个"},
		"cli.init.keep":           {"keep it as it is", "先这样，照写不误"},
		"cli.init.account-fine":   {"{{.title}}: {{.count}} instances{{if .wallet}}, {{.wallet}} left{{end}}{{if .note}}; {{.note}}{{end}}", "{{.title}}：{{.count}} 个实例{{if .wallet}}，余额 {{.wallet}}{{end}}{{if .note}}；{{.note}}{{end}}"},
		"cli.init.try-box":        {"A machine that is missing here can be guarded from inside: run curfew init --box in it", "这里没有的机器可以从里面守护：在那台机器里运行 curfew init --box"},
		"cli.init.another":        {"Guard another account, too?", "还要守护别的账号吗？"},

		// Channels.
		"cli.init.which-channel":      {"Where shall curfew tell you?", "curfew 在哪里通知你？"},
		"cli.init.console":            {"only in the output of curfew run", "只打印在 curfew run 的输出里"},
		"cli.init.console-box":        {"curfew exec --then stop does not accept the console: nobody reads it there", "curfew exec --then stop 不接受 console：没有人看得到"},
		"cli.init.channel-credential": {"{{.title}}: {{.key}} (docs/channels/{{.name}}.md says where to get it)", "{{.title}} 的 {{.key}}（获取方法见 docs/channels/{{.name}}.zh-CN.md）"},
		"cli.init.channel-setting":    {"{{.title}}: {{.key}}", "{{.title}} 的 {{.key}}"},
		"cli.init.one-of":             {"give at least one of these: {{.keys}}", "至少要填一个：{{.keys}}"},
		"cli.init.channel-bad":        {"The channel cannot be used: {{.why}}", "渠道无法使用：{{.why}}"},
		"cli.init.master-key":         {"Mind that this token is the key to your whole account, and everybody who can read the files of this machine can read it", "注意：这个 Token 等于整个账户的钥匙，能读这台机器文件的人都能读到它"},
		"cli.init.arrived":            {"A test message was sent. Did it arrive?", "测试消息已发出，收到了吗？"},
		"cli.init.other-channel":      {"Try another channel?", "换一个渠道试试？"},
		"cli.init.no-channel":         {"go on without any", "不用渠道，继续"},

		// What to guard.
		"cli.init.which-names":   {"Which instances shall be guarded? By name; * stands for anything", "守护哪些实例？按名称，* 代表任意内容"},
		"cli.init.which-process": {"How does a training process look? A regular expression over its command line", "训练进程的命令长什么样？对命令行的正则表达式"},

		// The end.
		"cli.init.wrote-secret": {"{{.file}} holds the key; only you can read it", "{{.file}} 已保存密钥，只有你能读"},
		"cli.init.wrote":        {"{{.file}} is written, in dry-run: curfew says what it would do, and does nothing", "{{.file}} 已写好，处于演练模式：只说会做什么，不动手"},
		"cli.init.next":         {"Next:", "接下来："},
		"cli.init.next-plan":    {"what would be done now, and why not more", "现在会做什么，为什么不做更多"},
		"cli.init.next-run":     {"watch, tell, act and look again", "开始守护"},
		"cli.init.next-exec":    {"one run, and then the power-off", "跑完这一次就关机"},

		// The second time.
		"cli.init.exists":     {"{{.file}} is there already, and stays as it is", "{{.file}} 已经存在，不会改动"},
		"cli.init.leave":      {"leave it", "不动它"},
		"cli.init.write-new":  {"answer the questions and write {{.file}} beside it", "重新回答，写到旁边的 {{.file}}"},
		"cli.init.test-again": {"send a test message to {{.channel}}", "向 {{.channel}} 发一条测试消息"},
		"cli.init.adopt":      {"read it, and put it in place by hand: mv {{.new}} {{.file}}", "看过之后自己换上：mv {{.new}} {{.file}}"},

		// The machine curfew runs in.
		"cli.box.is":                 {"This is a machine of {{.platform}}, by {{.marks}}", "这是 {{.platform}} 的机器，依据：{{.marks}}"},
		"cli.box.maybe":              {"Only {{.marks}} says that this is a machine of {{.platform}}. Is it?", "只有 {{.marks}} 表明这是 {{.platform}} 的机器。是吗？"},
		"cli.box.strange":            {"curfew does not know this platform by its marks, so it asks", "curfew 认不出这是哪个平台，需要问几个问题"},
		"cli.box.cards":              {"{{.name}}: {{.count}} × {{.model}}", "{{.name}}：{{.model}} ×{{.count}}"},
		"cli.box.no-cards":           {"{{.name}}: no card, as nvidia-smi is not there or shows none", "{{.name}}：没有看到显卡（没有 nvidia-smi，或它没有列出）"},
		"cli.box.no-command":         {"{{.command}} is not there; try by hand what powers this machine off", "没有找到 {{.command}}，请先手动确认用什么命令关机"},
		"cli.box.which-stop":         {"Which command powers this machine off?", "用什么命令关掉这台机器？"},
		"cli.box.which-stop-or-none": {"Which command powers this machine off? none: look and tell only", "用什么命令关掉这台机器？none 表示只看、只通知"},
		"cli.box.no-stop":            {"none: look and tell only", "不设置：只看、只通知"},
		"cli.box.gives-back":         {"Here nothing powers off and keeps; this gives the machine back, with what is on it: {{.command}}", "这里没有“关机并保留”；下面的命令会退掉机器，上面的东西一起没了：{{.command}}"},
		"cli.box.take-it":            {"write that command", "就用这个命令"},
		"cli.box.ends-billing":       {"Does that end the bill?", "这样关机后就停止计费了吗？"},
		"cli.box.keeps-data":         {"What stays on its disks after that?", "关机之后，磁盘上的数据还在吗？"},
		"cli.box.yes":                {"yes", "是"},
		"cli.box.no":                 {"no: then curfew never stops it", "否：那么 curfew 不会关它"},
		"cli.box.billing-open":       {"not known: curfew stops it, and says that it is not known whether that saves anything", "不清楚：curfew 会关机，并说明不确定能否省钱"},
		"cli.box.all":                {"everything", "全都在"},
		"cli.box.part":               {"a part, such as the data disk", "只留下一部分，例如数据盘"},
		"cli.box.none":               {"nothing", "什么都不剩"},
		"cli.box.data-open":          {"not known", "不清楚"},
		"cli.box.loses":              {"A stop may destroy data here, so curfew treats it as a release: it is not done unless the policy says data: discard, and told a day ahead", "在这里关机可能丢数据，curfew 按释放对待：策略里写了 data: discard 才会做，并提前一天预告"},
		"cli.box.which-release":      {"How many days after a stop does the platform delete it?", "关机多少天后平台会删除它？"},
		"cli.box.which-price":        {"What does an hour cost, while it runs?", "运行时每小时多少钱？"},
	}
	maps.Copy(all, boxNotes())
	maps.Copy(all, commentTexts())
	return all
}

// boxNotes say what to know of a platform before one guards a machine there.
func boxNotes() entries {
	return entries{
		"cli.box.note-autodl": {"AutoDL deletes an instance 15 days after a stop (7 days for tidal ones), and an enlarged data disk goes on\ncosting meanwhile. Paid by the day, week or month, a stop saves nothing. This is from its documentation and\nfrom others' reports; look at the console after the first stop",
			"AutoDL 在关机 15 天后删除实例（潮汐算力 7 天）；扩容的数据盘关机后仍收费。包日、包周、包月的实例关机省不了钱。\n以上依据官方文档和他人实测；第一次自动关机后，请到控制台确认"},
		"cli.box.note-autodl-deployment": {"This is a container of an elastic deployment, not an instance: the deployment may start another in its place,\nand a stopped one is kept for a few days at most. What a stop does to bill and data is not established",
			"这是弹性部署的容器，不是普通实例：停掉后部署可能再拉起一个，停止的容器最多保留几天。\n关机对计费和数据的影响没有定论"},
		"cli.box.note-gpushare": {"/hy-tmp is wiped 24 hours after a stop, and a stopped instance is deleted after 10 days. Whether a shutdown from\ninside ends the bill is not established; try it once and look at the console",
			"/hy-tmp 在关机 24 小时后清空，关机 10 天后实例被删除。在里面执行 shutdown 是否停止计费没有定论，\n请先试一次并到控制台确认"},
		"cli.box.note-matpool": {"There is no power-off that keeps the machine: giving it back deletes everything but the net disk /mnt.\nFrom users' scripts; not tried by us",
			"没有“关机并保留”：退租会删除网盘 /mnt 以外的一切。依据用户的脚本，我们没有试过"},
		"cli.box.note-featurize": {"Giving it back erases everything outside /home/featurize and /cloud at once. No command that does it from inside\nis established",
			"归还会立即清除 /home/featurize 和 /cloud 以外的一切。没有确认过的命令能在里面完成归还"},
		"cli.box.note-lanrui": {"The system disk is lost at a stop, and the data disk /home/user/datadisk is billed until it is destroyed",
			"关机会丢失系统盘；数据盘 /home/user/datadisk 在销毁之前一直计费"},
	}
}

// commentTexts are the comments of a new configuration.
func commentTexts() entries {
	return entries{
		"cli.init.comment.head": {"Written by curfew init. After a change: curfew check, then curfew reload if it runs.\nEvery key: docs/reference/config.md",
			"由 curfew init 生成。修改之后先 curfew check；已在运行的话再 curfew reload。\n所有配置项：docs/reference/config.md"},
		"cli.init.comment.mode": {"dry-run only says what it would do. Read what curfew plan says, for a day or two;\nthen write enforce",
			"dry-run 只说会做什么，不动手。先看一两天 curfew plan 的输出，都对了再改成 enforce"},
		"cli.init.comment.mode-box": {"dry-run only says what it would do; curfew exec --then stop acts all the same. For curfew run:\nread what curfew plan says, then write enforce",
			"dry-run 只说会做什么，不动手；curfew exec --then stop 不受此限制。要让 curfew run 真正动手，\n先看 curfew plan 的输出，再改成 enforce"},
		"cli.init.comment.state":   {"Where curfew remembers what it has seen and done", "curfew 在这里记住看到的和做过的"},
		"cli.init.comment.env":     {"{{.env}} must be set wherever curfew runs; {file: PATH} is the other way", "运行 curfew 的环境里必须有 {{.env}}；也可以写 {file: 路径}"},
		"cli.init.comment.prices":  {"What the platform does not tell: the price of a card for an hour, for the money in messages", "平台没有告知价格时，在这里写每卡每小时的价格，用来在消息里算钱"},
		"cli.init.comment.machine": {"The machine curfew runs in. Its name is its id: another name is another machine", "curfew 所在的这台机器。名称就是它的 ID，改名等于换了一台"},
		"cli.init.comment.no-stop": {"Without stop, curfew looks and tells only", "没有 stop，curfew 只看、只通知"},
		"cli.init.comment.on-stop": {"What a stop does to bill and data. unknown counts as the worse; without keeps_data: all\na stop counts as a release and needs data: discard on the policy", "关机对计费和数据的影响。unknown 按坏的算；不是 keeps_data: all 时，\n关机按释放对待，策略里要写 data: discard"},
		"cli.init.comment.ssh":     {"curfew looks inside by SSH, with the platform's own password or a key of yours:\nkey: {file: ~/.ssh/id_ed25519}", "curfew 通过 SSH 查看实例内部，用平台给的密码，或你的密钥：\nkey: {file: ~/.ssh/id_ed25519}"},
		"cli.init.comment.local":   {"curfew looks at this machine itself", "curfew 查看本机"},
		"cli.init.comment.protect": {"Never touched, whatever any policy says", "永远不动，任何策略都不例外"},
		"cli.init.comment.match":   {"Which instances; * stands for anything", "哪些实例；* 代表任意内容"},
		"cli.init.comment.process": {"How a training process looks: a regular expression over its command line", "训练进程的样子：对命令行的正则表达式"},
		"cli.init.comment.then":    {"stop, not release: the instance stays", "只关机，不释放：实例还在"},
		"cli.init.comment.idle":    {"Also stop what nobody has used for an hour: take the # away", "连续一小时没人用也关机：去掉下面的 #"},
		"cli.init.comment.notify":  {"Where you are told, and can still say wait. To try it: curfew notify test {{.channel}}", "在这里通知你，你也可以叫停。测试：curfew notify test {{.channel}}"},

		"cli.init.comment.no-channel": {"Where you would be told. Without a channel everything is in curfew journal only", "通知渠道。没有渠道时，一切只记在 curfew journal 里"},
	}
}
