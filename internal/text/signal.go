package text

func signalTexts() entries {
	return entries{
		// One look.
		"signal.busy-card":     {"GPU {{.card}} at {{.used}} % (busy from {{.limit}} %)", "显卡 {{.card}} 利用率 {{.used}}%（{{.limit}}% 起算忙碌）"},
		"signal.busy-process":  {"a process of policy {{.policy}} runs (pid {{.pid}}, {{.count}} in all)", "策略 {{.policy}} 关注的进程在运行（pid {{.pid}}，共 {{.count}} 个）"},
		"signal.busy-run":      {"run {{.run}} is going on since {{.since}}", "任务 {{.run}} 自 {{.since}} 起运行中"},
		"signal.busy-kernel":   {"Jupyter {{.kernel}} is computing", "Jupyter {{.kernel}} 正在计算"},
		"signal.busy-session":  {"somebody is at work on {{.session}}, last input {{.idle}} ago", "有人在使用 {{.session}}，最近输入在 {{.idle}}前"},
		"signal.idle":          {"no card, process, run or session at work", "显卡、进程、任务和会话均无活动"},
		"signal.not-reached":   {"it could not be reached", "无法连接"},
		"signal.unreadable":    {"{{.what}} could not be read: {{.why}}", "无法读取{{.what}}：{{.why}}"},
		"signal.no-processes":  {"the process list could not be read or is empty", "进程列表无法读取或为空"},
		"signal.card-unread":   {"GPU {{.card}} does not tell its utilisation", "显卡 {{.card}} 未给出利用率"},
		"signal.card-mig":      {"GPU {{.card}} is split (MIG) and does not tell its utilisation", "显卡 {{.card}} 已切分（MIG），无法得知利用率"},
		"signal.contradiction": {"GPU {{.card}} claims to rest but draws {{.power}} W and holds {{.memory}} MB", "显卡 {{.card}} 显示空闲，但功耗 {{.power}} W、占用显存 {{.memory}} MB，自相矛盾"},

		"signal.reading.cards":     {"GPU readings", "显卡读数"},
		"signal.reading.processes": {"processes", "进程列表"},
		"signal.reading.sessions":  {"sessions", "登录会话"},
		"signal.reading.jupyter":   {"Jupyter kernels", " Jupyter 内核"},
		"signal.reading.runs":      {"run files", "任务文件"},
		"signal.reading.load":      {"the load average", "系统负载"},
		"signal.reading.hold":      {"the hold file", "hold 文件"},

		// All sources together.
		"signal.boot-unknown":   {"it is not known when it was started", "开机时间未知"},
		"signal.run-open":       {"a run{{if .run}} ({{.run}}){{end}} is open since {{.since}}", "任务{{if .run}} {{.run}} {{end}}自 {{.since}} 起尚未结束"},
		"signal.all-idle":       {"idle by {{.sources}} at {{.at}}", "{{.sources}} 于 {{.at}} 确认空闲"},
		"signal.no-source":      {"no source that sees inside looks at it", "没有能看到实例内部的信号源"},
		"signal.never-looked":   {"{{.source}} has not looked yet", "{{.source}} 尚未查看"},
		"signal.other-boot":     {"{{.source}} has not looked since the last start", "{{.source}} 自上次开机后尚未查看"},
		"signal.stale":          {"the last look by {{.source}} was at {{.at}}, {{.age}} ago", "{{.source}} 上次查看在 {{.at}}，已过 {{.age}}"},
		"signal.source-unknown": {"{{.source}}: {{.why}}", "{{.source}}：{{.why}}"},
		"signal.cards-missing":  {"only {{.seen}} of {{.want}} cards were seen", "只看到 {{.want}} 张显卡中的 {{.seen}} 张"},
	}
}
