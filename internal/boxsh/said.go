package boxsh

import (
	"strings"
	"unicode"
)

// saidLetters is how much of what a program says is told.
const saidLetters = 160

// Printable makes one line of what a program says fit for a message.
func Printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r) && r != unicode.ReplacementChar:
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "")))
}

// Short keeps the end of a text: that is where programs say why.
func Short(s string) string {
	if runes := []rune(s); len(runes) > saidLetters {
		return "…" + string(runes[len(runes)-saidLetters:])
	}
	return s
}
