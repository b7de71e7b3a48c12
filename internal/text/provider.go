package text

func providerTexts() entries {
	return entries{}
}
