package text

func providerTexts() entries {
	return entries{
		"provider.sim-silent":       {"{{.instance}} does not answer", "{{.instance}} 连不上"},
		"provider.sim-started-anew": {"{{.instance}} was started again after it was listed; the next list will show it", "{{.instance}} 在上次列表之后又开过机，等下次列表更新"},
	}
}
