package text

func exportTexts() entries {
	return entries{
		"export.unreachable": {"the export could not begin, since it cannot be logged in to: {{.error}}", "无法登录实例，导出未能开始：{{.error}}"},
		"export.unfilled":    {"the export did not begin: {{.why}}", "导出未开始：{{.why}}"},
		"export.missing":     {"the export did not begin: there is no file {{.file}}", "导出未开始：没有文件 {{.file}}"},
		"export.old":         {"the export did not begin: no file {{.file}} changed since the run began at {{.began}}", "导出未开始：自任务于 {{.began}} 开始以来，{{.file}} 没有更新"},
		"export.unread":      {"the export did not begin, since the required files could not be asked for (status {{.status}}){{if .said}}: {{.said}}{{end}}", "无法检查必需的文件，导出未开始（退出码 {{.status}}）{{if .said}}：{{.said}}{{end}}"},
		"export.failed":      {"the export failed with exit status {{.status}}{{if .said}}: {{.said}}{{end}}", "导出失败，退出码 {{.status}}{{if .said}}：{{.said}}{{end}}"},
		"export.verify-failed": {
			"the export was not proven, verify ended with exit status {{.status}}{{if .said}}: {{.said}}{{end}}",
			"导出未通过校验，verify 退出码 {{.status}}{{if .said}}：{{.said}}{{end}}",
		},
		"export.killed":    {"the export was cut off: {{.error}}{{if .said}}; it said last: {{.said}}{{end}}", "导出被中断：{{.error}}{{if .said}}；最后输出：{{.said}}{{end}}"},
		"export.timed-out": {"the export took longer than {{.timeout}} and was ended{{if .said}}; it said last: {{.said}}{{end}}", "导出超过 {{.timeout}}，已终止{{if .said}}；最后输出：{{.said}}{{end}}"},
		"export.lost":      {"the connection was lost during the export{{if .said}}; it said last: {{.said}}{{end}}", "导出途中连接中断{{if .said}}；最后输出：{{.said}}{{end}}"},
	}
}
