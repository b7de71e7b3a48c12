package text

func probeTexts() entries {
	return entries{
		"probe.busy": {
			"probe {{.probe}} says busy{{if .why}}: {{.why}}{{end}}",
			"探针 {{.probe}} 报告忙碌{{if .why}}：{{.why}}{{end}}",
		},
		"probe.idle": {
			"probe {{.probe}} says idle{{if .why}}: {{.why}}{{end}}",
			"探针 {{.probe}} 报告空闲{{if .why}}：{{.why}}{{end}}",
		},
		"probe.empty":    {"the answer is empty", "应答为空"},
		"probe.garbled":  {"the answer is neither busy nor idle: {{.said}}", "应答既不是 busy 也不是 idle：{{.said}}"},
		"probe.both":     {"the answer says busy and idle at once", "应答里同时有 busy 和 idle"},
		"probe.long":     {"the answer is longer than {{.limit}} KB", "应答超过 {{.limit}} KB"},
		"probe.status":   {"it answers with status {{.status}}", "返回状态码 {{.status}}"},
		"probe.redirect": {"it answers with a redirect ({{.status}}), which is not followed", "返回重定向（{{.status}}），不予跟随"},
		"probe.type":     {"it answers {{.type}}, which is neither plain text nor JSON", "返回的是 {{.type}}，既不是纯文本也不是 JSON"},
		"probe.exit": {
			"the command ended with status {{.status}}{{if .said}}: {{.said}}{{end}}",
			"命令以退出码 {{.status}} 结束{{if .said}}：{{.said}}{{end}}",
		},
		"probe.timeout": {"no answer within {{.timeout}}", "{{.timeout}}内没有应答"},
		"probe.failed":  {"it could not be asked: {{.error}}", "无法询问：{{.error}}"},
		"probe.missing": {"the question names {{.what}}, which this instance does not have", "问题里用到 {{.what}}，而该实例没有"},
		"probe.unread":  {"the question names {{.what}}, which could not be read of this instance", "问题里用到 {{.what}}，而该实例的这一项无法读取"},
		"probe.match":   {"whether it is about this instance cannot be told: {{.why}}", "无法判断它是否针对该实例：{{.why}}"},
	}
}
