package text

func localTexts() entries {
	return entries{
		"local.timeout": {
			"the look at this machine did not end within {{.timeout}}",
			"在 {{.timeout}}内没能查看完本机",
		},
		"local.command": {
			"the look at this machine could not be run: {{.error}}",
			"无法在本机执行查看命令：{{.error}}",
		},
		"local.garbled": {
			"this machine's shell answers something else than the look: {{if .said}}{{.said}}{{else}}nothing{{end}}",
			"本机的 shell 返回的不是查看结果：{{if .said}}{{.said}}{{else}}空{{end}}",
		},
	}
}
