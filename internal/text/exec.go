package text

func execTexts() entries {
	return entries{
		// What curfew exec says.
		"exec.guarded": {
			"when this run is over, {{.machine}} is stopped: announced after {{.grace}}, done {{.warn}} later; to wait: echo 2h >~/.curfew/hold",
			"本次任务结束后将关机 {{.machine}}：结束 {{.grace}}后预告，再过 {{.warn}}执行；如需暂缓：echo 2h >~/.curfew/hold",
		},
		"exec.waits":       {"waiting for the guard to start; the training begins after it", "正在等待守护进程启动，随后开始训练"},
		"exec.not-started": {"the training was not started: {{.why}}", "训练没有启动：{{.why}}"},
		"exec.no-file": {
			"the run goes on, but its end will only be seen from outside, since it could not be noted: {{.error}}",
			"任务照常运行，但运行记录写入失败，只能从外部判断何时结束：{{.error}}",
		},
		"exec.no-end":  {"the end of the run could not be noted, so its outcome stays unknown: {{.error}}", "任务的结束未能记录，结果将视为未知：{{.error}}"},
		"exec.no-ping": {"the run is not told of: {{.error}}", "未能上报任务状态：{{.error}}"},
		"exec.stays-on": {
			"the run is over, and {{.machine}} will not be stopped, so it goes on costing: {{.why}}",
			"任务已结束，但 {{.machine}} 不会关机，仍在计费：{{.why}}",
		},

		// Why --then stop cannot be kept.
		"exec.no-config":    {"there is no configuration at {{.file}}; write one: curfew init --box", "没有配置文件 {{.file}}；请先生成：curfew init --box"},
		"exec.bad-config":   {"the configuration has mistakes:\n{{.problems}}", "配置有误：\n{{.problems}}"},
		"exec.no-machine":   {"{{.file}} declares no machine with host: local; let curfew init --box write one", "{{.file}} 没有声明 host: local 的机器；可用 curfew init --box 生成"},
		"exec.no-stop":      {"{{.file}} does not say how {{.machine}} is powered off; write stop: /usr/bin/shutdown beside its name", "{{.file}} 没有说明如何关机 {{.machine}}；请在其 name 旁写 stop: /usr/bin/shutdown"},
		"exec.not-worth":    {"{{.file}} says that stopping {{.machine}} ends no billing (ends_billing: no), so nothing is gained by it", "{{.file}} 写明关机 {{.machine}} 不会停止计费（ends_billing: no），关机没有意义"},
		"exec.loses-data":   {"{{.file}} does not say that {{.machine}} keeps all its data when stopped; if it does, write on_stop: {ends_billing: yes, keeps_data: all}", "{{.file}} 没有写明 {{.machine}} 关机后保留全部数据；如确实保留，请写 on_stop: {ends_billing: yes, keeps_data: all}"},
		"exec.period":       {"{{.machine}} is paid for until {{.end}}, so stopping it saves nothing", "{{.machine}} 已付费至 {{.end}}，关机不省钱"},
		"exec.protected":    {"{{.machine}} is protected ({{.by}}); take that out of {{.file}} if it may be stopped", "{{.machine}} 受保护（{{.by}}）；如可关机，请在 {{.file}} 中去掉"},
		"exec.no-channel":   {"{{.file}} names no channel, so nobody would be told; add one under notify: channels, and try it: curfew notify test NAME", "{{.file}} 没有通知渠道，无人会收到消息；请在 notify: channels 下添加，并测试：curfew notify test NAME"},
		"exec.only-console": {"the messages of {{.file}} would only go to a file nobody reads, since its channel is the console; name another under notify: channels, and try it: curfew notify test NAME", "{{.file}} 的消息只会打印到没人看的日志文件（渠道为 console）；请在 notify: channels 下添加别的渠道，并测试：curfew notify test NAME"},
		"exec.no-room":      {"no space is left in {{.folder}} ({{.free}} MiB free, {{.needed}} MiB needed), and what cannot be noted is not stopped; free some", "{{.folder}} 空间不足（剩 {{.free}} MiB，至少需要 {{.needed}} MiB），无法记录就无法关机；请先清理"},

		"exec.daemon-dry-run": {"a daemon runs here in dry-run ({{.file}}) and would only tell; set mode: enforce there and curfew reload, or end it", "这里的守护进程处于演练模式（{{.file}}），只会通知；请在其中写 mode: enforce 并执行 curfew reload，或先停掉它"},
		"exec.daemon-blind":   {"the daemon that runs here does not look inside; add signals: [{type: local}] to {{.file}} and curfew reload", "这里的守护进程不查看机器内部；请在 {{.file}} 添加 signals: [{type: local}] 并执行 curfew reload"},
		"exec.daemon-home":    {"the daemon that runs here reads run files in {{.theirs}}, and this one would be in {{.ours}}; run this as the same user", "这里的守护进程读取 {{.theirs}} 下的任务文件，而本次会写在 {{.ours}}；请使用同一用户"},
		"exec.daemon-strange": {"the daemon that runs here ({{.file}}) does not know this machine, or is of an older version; end it, or declare the machine there and start it anew", "这里的守护进程（{{.file}}）不认识本机，或版本较旧；请停掉它，或在其中声明本机后重启"},
		"exec.guard-failed":   {"the guard did not start{{if .error}}: {{.error}}{{end}}{{if .log}}; the end of {{.file}}:\n{{.log}}{{end}}", "守护进程未能启动{{if .error}}：{{.error}}{{end}}{{if .log}}；{{.file}} 末尾：\n{{.log}}{{end}}"},
	}
}
