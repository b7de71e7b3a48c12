package text

func executeTexts() entries {
	return entries{}
}
