package text

// acceptTexts are what is said of machines that are examined and prepared.
func acceptTexts() entries {
	return entries{
		"accept.enough":     {"{{.what}}: {{.found}}, at least {{.least}} is wanted", "{{.what}}：{{.found}}，要求不低于 {{.least}}"},
		"accept.too-little": {"{{.what}}: {{.found}} is less than {{.least}}", "{{.what}}：{{.found}}，低于要求的 {{.least}}"},
		"accept.told":       {"{{.what}}: {{.found}}", "{{.what}}：{{.found}}"},
		"accept.unknown":    {"{{.what}}: not known, since {{.why}}", "{{.what}}：未知，因为{{.why}}"},
		"accept.required":   {"{{.what}}: must be known, and is not, since {{.why}}", "{{.what}}：必须可知却未知，因为{{.why}}"},

		"accept.cards-as-ordered":  {"cards: {{.found}}, as ordered", "显卡：{{.found}}，与订购一致"},
		"accept.cards-found":       {"cards: {{.found}}, as many as ordered", "显卡：{{.found}}，数量与订购一致"},
		"accept.cards-other":       {"cards: {{.ordered}} was ordered, and card {{.card}} is {{.found}}", "显卡：订购的是 {{.ordered}}，第 {{.card}} 张却是 {{.found}}"},
		"accept.cards-count":       {"cards: {{.ordered}} were ordered, and {{.found}} are there", "显卡：订购 {{.ordered}} 张，实有 {{.found}} 张"},
		"accept.cards-memory":      {"cards: card {{.card}} has {{.found}} of memory, and {{.ordered}} was ordered", "显卡：第 {{.card}} 张显存为 {{.found}}，订购的是 {{.ordered}}"},
		"accept.cards-compare":     {"{{.ordered}}, as the platform calls it, and {{.found}} cannot be compared", "平台所称的 {{.ordered}} 与 {{.found}} 无法比较"},
		"accept.cards-not-ordered": {"nobody told which cards were ordered ({{.found}} are there)", "没有订购显卡的信息（实有 {{.found}}）"},

		"accept.framework-works": {"framework: PyTorch {{.version}} made a right matrix product on each of {{.seen}} cards", "框架：PyTorch {{.version}} 在全部 {{.seen}} 张卡上矩阵乘法正确"},
		"accept.framework-fewer": {"framework: PyTorch {{.version}} sees {{.seen}} of {{.count}} cards", "框架：PyTorch {{.version}} 只看到 {{.count}} 张卡中的 {{.seen}} 张"},
		"accept.framework-card":  {"framework: no matrix product on card {{.card}}: {{.said}}", "框架：第 {{.card}} 张卡矩阵乘法失败：{{.said}}"},

		"accept.cuda-good":  {"CUDA: the driver is good for {{.found}}, and {{.wanted}} is wanted", "CUDA：驱动支持 {{.found}}，要求 {{.wanted}}"},
		"accept.cuda-old":   {"CUDA: the driver is good for {{.found}} only, and {{.wanted}} is wanted", "CUDA：驱动只支持 {{.found}}，要求 {{.wanted}}"},
		"accept.cuda-minor": {"CUDA: the driver is good for {{.found}}, a little older than the wanted {{.wanted}}; programs made for {{.wanted}} mostly run all the same", "CUDA：驱动支持 {{.found}}，次版本低于要求的 {{.wanted}}；为 {{.wanted}} 编译的程序大多仍可运行"},

		"accept.links-nvlink": {"links: all {{.pairs}} pairs of cards are joined by NVLink", "互联：全部 {{.pairs}} 对显卡都有 NVLink"},
		"accept.links-slow":   {"links: no NVLink between the cards ({{.other}})", "互联：显卡之间没有 NVLink（{{.other}}）"},
		"accept.links-some":   {"links: NVLink joins {{.nvlink}} of {{.pairs}} pairs of cards, the others are {{.other}}", "互联：{{.pairs}} 对显卡中只有 {{.nvlink}} 对有 NVLink，其余为 {{.other}}"},

		"accept.allreduce-slow": {"all-reduce: {{.found}} is slow, {{.least}} or more is usual", "all-reduce：{{.found}}，偏慢，通常不低于 {{.least}}"},

		"accept.steady-good":      {"load: {{.rate}} TFLOPS a card, steady, nothing slows the cards down", "负载：每卡 {{.rate}} TFLOPS，稳定，没有降频"},
		"accept.steady-throttled": {"load: heat or a lack of power slowed card {{.card}} down in {{.times}} of {{.of}} samples", "负载：第 {{.card}} 张卡在 {{.of}} 次采样中有 {{.times}} 次因过热或供电不足而降频"},
		"accept.steady-once":      {"load: heat or a lack of power slowed card {{.card}} down now and then, in {{.times}} of {{.of}} samples", "负载：第 {{.card}} 张卡偶有因过热或供电不足的降频，{{.of}} 次采样中 {{.times}} 次"},
		"accept.steady-clocks":    {"load: the clock of card {{.card}} went between {{.low}} and {{.high}} MHz", "负载：第 {{.card}} 张卡的频率在 {{.low}} 到 {{.high}} MHz 之间波动"},
		"accept.steady-rates":     {"load: card {{.card}} made between {{.low}} and {{.high}} TFLOPS; somebody else may use it", "负载：第 {{.card}} 张卡在 {{.low}} 到 {{.high}} TFLOPS 之间波动，可能有别人在用"},
		"accept.steady-uneven":    {"load: card {{.card}} makes {{.rate}} TFLOPS, and the fastest {{.fastest}}", "负载：第 {{.card}} 张卡为 {{.rate}} TFLOPS，最快的为 {{.fastest}}"},
		"accept.steady-in-use":    {"load: card {{.card}} was at {{.busy}}% before anything was begun; somebody uses it", "负载：检查开始前第 {{.card}} 张卡的利用率已是 {{.busy}}%，有人在用"},
		"accept.steady-blind":     {"the driver does not tell what slows the cards down ({{.rate}} TFLOPS a card)", "驱动不提供降频原因（每卡 {{.rate}} TFLOPS）"},

		"accept.name-cards":     {"cards", "显卡"},
		"accept.name-framework": {"framework", "框架"},
		"accept.name-cuda":      {"CUDA", "CUDA 版本"},
		"accept.name-links":     {"links", "互联"},
		"accept.name-allreduce": {"all-reduce", "all-reduce 带宽"},
		"accept.name-steady":    {"load", "负载"},
		"accept.name-shm":       {"/dev/shm", "/dev/shm 容量"},
		"accept.name-disk":      {"direct write", "直写速度"},
		"accept.name-network":   {"download", "下载速度"},
		"accept.name-cpu":       {"CPU cores", "CPU 核数"},
		"accept.name-memory":    {"memory", "内存"},
		"accept.name-free":      {"free disk", "可用磁盘"},

		"accept.why-missing":   {"there is no {{.program}}", "没有 {{.program}}"},
		"accept.why-slow":      {"{{.program}} took too long and was ended", "{{.program}} 超时，已被终止"},
		"accept.why-status":    {"{{.program}} ended with {{.status}}{{if .said}}: {{.said}}{{end}}", "{{.program}} 以 {{.status}} 结束{{if .said}}：{{.said}}{{end}}"},
		"accept.why-garbled":   {"the answer of {{.program}} cannot be read{{if .said}}: {{.said}}{{end}}", "无法读懂 {{.program}} 的输出{{if .said}}：{{.said}}{{end}}"},
		"accept.why-time":      {"the time was over before", "时间用完了"},
		"accept.why-lost":      {"the connection was lost before", "连接中断了"},
		"accept.why-ended":     {"the examination ended before", "检查提前结束了"},
		"accept.why-no-path":   {"there is no folder {{.path}}", "没有目录 {{.path}}"},
		"accept.why-full":      {"there is too little space to write anything", "空间太小，无法写入"},
		"accept.why-no-python": {"there is no Python", "没有 Python"},
		"accept.why-no-torch":  {"no Python there has PyTorch", "那里的 Python 都没有 PyTorch"},
		"accept.why-cpu-torch": {"PyTorch {{.version}} there was made without CUDA", "那里的 PyTorch {{.version}} 不带 CUDA"},
		"accept.why-busy":      {"the cards are at work, and were left alone", "显卡正在工作，没有打扰"},
		"accept.why-no-cards":  {"no cards were found", "没有找到显卡"},
		"accept.why-small":     {"{{.size}} is too little to tell a speed", "{{.size}} 太少，测不出速度"},

		"accept.boot-unreachable": {"the bootstrap could not begin: {{.error}}", "初始化脚本无法开始：{{.error}}"},
		"accept.boot-unfilled":    {"the bootstrap was not run: {{.why}}", "初始化脚本没有运行：{{.why}}"},
		"accept.boot-failed":      {"the bootstrap ended with exit status {{.status}}{{if .said}}: {{.said}}{{end}}", "初始化脚本以退出码 {{.status}} 结束{{if .said}}：{{.said}}{{end}}"},
		"accept.boot-timed-out":   {"the bootstrap took longer than {{.timeout}} and was ended{{if .said}}: {{.said}}{{end}}", "初始化脚本超过 {{.timeout}}，已被终止{{if .said}}：{{.said}}{{end}}"},
		"accept.boot-lost":        {"the connection was lost during the bootstrap{{if .said}}: {{.said}}{{end}}", "初始化脚本运行中连接中断{{if .said}}：{{.said}}{{end}}"},
		"accept.boot-killed":      {"the bootstrap was ended from outside: {{.error}}", "初始化脚本被外部终止：{{.error}}"},

		"app.bootstrapped":      {"the bootstrap ended well after {{.took}}", "初始化脚本用时 {{.took}}，成功"},
		"app.bootstrap-dry-run": {"the bootstrap was not run, since the mode is dry-run", "当前为 dry-run 模式，没有运行初始化脚本"},
		"app.bootstrap-before":  {"the bootstrap was run in this boot already, at {{.at}}", "本次开机后已于 {{.at}} 运行过初始化脚本"},

		"cli.accept.asking":   {"examining the machine for {{.for}}; it takes some minutes", "正在检查机器，已 {{.for}}；需要几分钟"},
		"cli.accept.accepted": {"{{.name}}: accepted", "{{.name}}：验收通过"},
		"cli.accept.refused":  {"{{.name}}: not accepted", "{{.name}}：验收不通过"},
		"cli.accept.log":      {"The bootstrap's output is in {{.file}}", "初始化脚本的输出在 {{.file}}"},
		"cli.accept.good":     {"good", "通过"},
		"cli.accept.bad":      {"fails", "不通过"},
		"cli.accept.odd":      {"warning", "警告"},
		"cli.accept.dark":     {"unknown", "未知"},
		"cli.accept.sum":      {"{{.good}} good, {{.odd}} warnings, {{.dark}} unknown", "{{.good}} 项通过，{{.odd}} 项警告，{{.dark}} 项未知"},
		"cli.part.accepted":   {"Acceptance", "验收"},
	}
}
