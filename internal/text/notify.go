package text

func notifyTexts() entries {
	return entries{}
}
