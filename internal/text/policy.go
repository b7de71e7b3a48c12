package text

func policyTexts() entries {
	return entries{}
}
