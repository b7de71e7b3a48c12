package text

func sshTexts() entries {
	return entries{}
}
