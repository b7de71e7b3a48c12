package text

func guardTexts() entries {
	return entries{}
}
