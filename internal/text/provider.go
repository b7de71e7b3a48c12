package text

func providerTexts() entries {
	return entries{
		"provider.autodl-only-pro": {
			"AutoDL's API lists Pro instances only; instances rented on the market page never appear in it, so curfew cannot see them",
			"AutoDL 的 API 只列出“容器实例 Pro”，在算力市场租用的普通实例不在其中，curfew 看不到它们",
		},
		"provider.machines-no-stop": {
			"no stop: is declared for this machine, so it cannot be stopped; declare the command that powers it off, such as stop: shutdown -h now",
			"这台机器没有声明 stop:，无法关机；请写上关机命令，例如 stop: shutdown -h now",
		},
		"provider.sim-silent":       {"{{.instance}} does not answer", "{{.instance}} 连不上"},
		"provider.sim-started-anew": {"{{.instance}} was started again after it was listed; the next list will show it", "{{.instance}} 在上次列表之后又开过机，等下次列表更新"},
	}
}
