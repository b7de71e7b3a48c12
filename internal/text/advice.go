package text

func adviceTexts() entries {
	return entries{
		"digest.advice": {"Could be put to better use", "可以用得更好"},
		"digest.advice-one": {
			"{{.name}}{{if .account}} ({{.account}}){{end}}{{if .run}}, run {{.run}}{{end}}: {{.what}}{{if .wasted}}; about {{.wasted}}/h unused (estimate){{end}}",
			"{{.name}}{{if .account}}（{{.account}}）{{end}}{{if .run}}，任务 {{.run}}{{end}}：{{.what}}{{if .wasted}}；估计每小时浪费约 {{.wasted}}{{end}}",
		},

		"advice.underused": {"GPU at {{.mean}}% on average since {{.since}}: {{.help}}", "自 {{.since}} 起 GPU 平均利用率 {{.mean}}%：{{.help}}"},
		"advice.help-cpu": {
			"the CPU is full ({{.cores}} of {{.total}} cores); more data-loader workers or more CPU cores may help",
			"CPU 已满（{{.total}} 核用了 {{.cores}} 核），可增加 data-loader worker 或 CPU 核数",
		},
		"advice.help-swing": {"it goes up and down, as of a shared or throttled card", "忽高忽低，像是共享或被限速的卡"},
		"advice.help-any":   {"larger batches, faster loading of data or a smaller card may help", "可试试加大 batch、加快数据加载或换小一些的卡"},
		"advice.cards": {
			"{{.unused}} of {{.count}} cards never used since {{.since}}; fewer cards may do",
			"自 {{.since}} 起 {{.count}} 张卡中有 {{.unused}} 张从未使用，可少租几张",
		},
		"advice.no-gpu": {
			"only the CPU works since {{.since}} ({{.cores}} cores), and no card; boot without GPU meanwhile",
			"自 {{.since}} 起只有 CPU 在工作（{{.cores}} 核），GPU 空闲，可先以无卡模式开机",
		},
		"advice.stalled": {
			"at work, but {{.file}} has not grown since {{.since}}; see whether it hangs",
			"在运行，但 {{.file}} 自 {{.since}} 起没有变化，请看看是否卡住",
		},
	}
}
