package text

func answerTexts() entries {
	return entries{
		"cli.known":        {"{{.name}}: nobody is reminded until it is over. Since {{.since}}: {{.what}}", "{{.name}}：结束之前不再提醒。自 {{.since}} 起：{{.what}}"},
		"cli.quota":        {"Left of its quota: {{.left}}. A quarter of each is kept for announcements, what is critical, and money", "剩余额度：{{.left}}。其中四分之一留给操作预告、严重通知和费用通知"},
		"cli.quota-minute": {"{{.left}} of {{.of}} this minute", "本分钟 {{.left}}/{{.of}}"},
		"cli.quota-day":    {"{{.left}} of {{.of}} in 24 hours", "24 小时内 {{.left}}/{{.of}}"},
		"cli.quota-month":  {"{{.left}} of {{.of}} in 31 days", "31 天内 {{.left}}/{{.of}}"},
		"cli.quota-none":   {"It has no quota that curfew knows of", "该渠道没有已知的额度限制"},
	}
}
