package text

func signalTexts() entries {
	return entries{}
}
