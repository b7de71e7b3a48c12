package text

func appTexts() entries {
	return entries{}
}
