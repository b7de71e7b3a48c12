package accept

import (
	"regexp"
	"slices"
	"strings"
)

// model is a card's name taken apart, so that the names of a platform and of a driver
// can be compared: "RTX 4090" and "NVIDIA GeForce RTX 4090", "A100-80G" and "NVIDIA
// A100-SXM4-80GB".
type model struct {
	core    string   // what tells chips apart, such as 4090 or A100; empty: nothing does
	variant []string // what makes it another card: D, TI, SUPER
	form    string   // SXM, PCIE or NVL
	size    string   // of its memory, such as 80G
}

func parseModel(name string) model {
	s := strings.ToUpper(name)
	s = regexp.MustCompile(`\b(RTX|GTX)([0-9])`).ReplaceAllString(s, "$1 $2")
	s = regexp.MustCompile(`\b([0-9]{4})(TI|D|S|SUPER)\b`).ReplaceAllString(s, "$1 $2")
	words := strings.FieldsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') })
	var m model
	for _, w := range words {
		switch {
		case regexp.MustCompile(`^[0-9]{1,3}(G|GB|GIB)$`).MatchString(w):
			m.size = strings.TrimRight(w, "IB")
		case strings.HasPrefix(w, "SXM"):
			m.form = "SXM"
		case w == "PCIE" || w == "NVL":
			m.form = w
		case slices.Contains([]string{"D", "TI", "SUPER", "LAPTOP", "MOBILE", "ADA", "PRO", "MIG"}, w):
			m.variant = append(m.variant, w)
		case w == "S" && m.core != "":
			m.variant = append(m.variant, "SUPER")
		case m.core == "" && regexp.MustCompile(`^([A-Z]{1,3}[0-9]{1,4}[A-Z]{0,2}|[0-9]{3,4})$`).MatchString(w):
			m.core = w
		}
	}
	slices.Sort(m.variant)
	return m
}

// same says whether two names mean one model; told is false where that cannot be said.
// What only one of them tells is not held against it, but a variant is another card.
func (m model) same(o model) (same, told bool) {
	if m.core == "" || o.core == "" {
		return false, false
	}
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	return m.core == o.core && slices.Equal(m.variant, o.variant) && !differ(m.form, o.form) && !differ(m.size, o.size), true
}
