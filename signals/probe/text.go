package probe

import "strings"

// ParseText reads a text in which {{.Name}} and the like stand for what is known of an
// instance, as they are. Errors are as those of [ParseURL].
func ParseText(text string) (*Question, error) {
	parts, err := split(text)
	if err != nil {
		return nil, err
	}
	return &Question{parts, joinText}, nil
}

func joinText(parts []part, values []string) string {
	var b strings.Builder
	for n, p := range parts {
		b.WriteString(p.text)
		b.WriteString(values[n])
	}
	return b.String()
}
