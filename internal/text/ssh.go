package text

func sshTexts() entries {
	return entries{
		"ssh.access": {
			"how to log in is not known: {{.error}}",
			"不知道如何登录：{{.error}}",
		},
		"ssh.refused": {
			"{{.address}} cannot be reached over SSH: {{.error}}",
			"SSH 连不上 {{.address}}：{{.error}}",
		},
		"ssh.timeout": {
			"{{.address}} did not answer within {{.timeout}}",
			"{{.address}} 在 {{.timeout}}内没有应答",
		},
		"ssh.handshake": {
			"what answers at {{.address}} does not complete an SSH handshake: {{.error}}",
			"{{.address}} 有应答，但无法完成 SSH 握手：{{.error}}",
		},
		"ssh.pin-changed": {
			"the host key of {{.address}} changed within one boot, from {{.was}} to {{.is}}; nothing was sent to it: find out who answers there, or restart the instance",
			"{{.address}} 的主机密钥在同一次开机内由 {{.was}} 变成了 {{.is}}，未向其发送任何内容：请查明该地址现在是谁，或重启实例",
		},
		"ssh.auth": {
			"{{.address}} refused the login of {{.user}}; check the key and the password",
			"{{.address}} 拒绝 {{.user}} 登录，请检查密钥和密码",
		},
		"ssh.lost": {
			"the connection to {{.address}} broke during the look",
			"查看过程中与 {{.address}} 的连接断开",
		},
		"ssh.command": {
			"the look could not be run at {{.address}}: {{.error}}",
			"无法在 {{.address}} 上执行查看命令：{{.error}}",
		},
		"ssh.garbled": {
			"the login answers something else than the look: {{if .said}}{{.said}}{{else}}nothing{{end}}",
			"登录后返回的不是查看结果：{{if .said}}{{.said}}{{else}}空{{end}}",
		},
	}
}
