package notify

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut shortens s to at most maxBytes bytes, on a rune border, and says at its
// end how many bytes are missing. What it gives is always valid UTF-8. Where
// there is no room even for the note, the text alone is cut.
func Cut(s string, maxBytes int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= maxBytes {
		return s
	}
	// The note for all of s is at least as long as the one that will be needed.
	room := maxBytes - len(cutNote(len(s)))
	if room < 0 {
		return s[:border(s, maxBytes)]
	}
	keep := border(s, room)
	return s[:keep] + cutNote(len(s)-keep)
}

func cutNote(missing int) string { return fmt.Sprintf("…(+%d bytes)", missing) }

// border gives the last rune border of s at or before i.
func border(s string, i int) int {
	for i = max(i, 0); i > 0 && !utf8.RuneStart(s[i]); i-- {
	}
	return i
}

// CutRunes shortens s to at most maxRunes characters, of which the last then says
// that there is more. What it gives is always valid UTF-8.
func CutRunes(s string, maxRunes int) string {
	runes := []rune(strings.ToValidUTF8(s, string(utf8.RuneError)))
	switch {
	case len(runes) <= maxRunes:
		return string(runes)
	case maxRunes <= 0:
		return ""
	}
	return string(runes[:maxRunes-1]) + "…"
}

// Paragraphs puts an empty line between any two lines of Markdown, for platforms
// that show a single line end as a space.
func Paragraphs(markdown string) string {
	var lines []string
	for line := range strings.Lines(markdown) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

// Escape makes words safe to stand in Markdown on every channel: what a chat
// client could take for a link, a mention, a colour or emphasis is broken up by
// an invisible space, since the robots of most platforms know no escape
// character.
func Escape(s string) string {
	const gap = "\u200b"
	var b strings.Builder
	var prev rune
	for _, c := range s {
		switch {
		case c == '`':
			c = '\''
		case prev == '<' && c != ' ' && c != '=',
			prev == ']' && c == '(',
			prev == '*' && c == '*',
			prev == '_' && c == '_',
			prev == '~' && c == '~':
			b.WriteString(gap)
		}
		b.WriteRune(c)
		prev = c
	}
	return b.String()
}

// clean takes control characters out of words that came from outside: a name
// must not move a terminal's cursor, turn the writing direction round or forge
// a line of a message.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t':
			return c
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c), c == '\u2028', c == '\u2029':
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// oneLine is clean on a single line of at most maxBytes bytes.
func oneLine(s string, maxBytes int) string {
	return Cut(strings.Join(strings.Fields(clean(s)), " "), maxBytes)
}
