package telegram

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf16"

	"curfew/notify"
)

// escape makes words safe in Telegram's HTML, where they are no code.
func escape(s string) string { return escapeCode(quiet(s)) }

// escapeCode makes words safe in Telegram's HTML.
func escapeCode(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// quiet breaks up what Telegram would take for a mention, in whatever form a text is
// sent, by an invisible space: a name of an instance mentions nobody.
func quiet(s string) string {
	return regexp.MustCompile(`@([0-9A-Za-z_])`).ReplaceAllString(s, "@\u200b$1")
}

// markup turns Markdown into Telegram's HTML: bold, links, inline code and quotes. All
// that it opens it closes, whatever it is given.
func markup(markdown string) string {
	var out, quote []string
	end := func() {
		if len(quote) > 0 {
			out = append(out, "<blockquote>"+strings.Join(quote, "\n")+"</blockquote>")
			quote = nil
		}
	}
	for line := range strings.SplitSeq(markdown, "\n") {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			quote = append(quote, inline(rest))
			continue
		}
		ended := len(quote) > 0
		end()
		if ended && strings.TrimSpace(line) == "" {
			continue // a quote needs no empty line after it
		}
		out = append(out, inline(line))
	}
	end()
	return strings.Join(out, "\n")
}

// inline turns one line into HTML.
func inline(line string) string {
	var b strings.Builder
	parts := strings.Split(line, "`")
	for i, part := range parts {
		switch code := i%2 == 1 && i < len(parts)-1; {
		case code:
			b.WriteString("<code>" + escapeCode(part) + "</code>")
		case i%2 == 1:
			b.WriteString("`" + spans(part)) // nothing closes it
		default:
			b.WriteString(spans(part))
		}
	}
	return b.String()
}

// spans turns links and bold words into HTML, each within the other only as a whole.
func spans(s string) string {
	var b strings.Builder
	at := 0
	span := regexp.MustCompile(`\[([^\[\]]+)\]\((https?://[^\s()]+)\)|\*\*([^*]+)\*\*`)
	for _, m := range span.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(escape(s[at:m[0]]))
		if m[2] >= 0 {
			b.WriteString(link(s[m[2]:m[3]], s[m[4]:m[5]]))
		} else {
			b.WriteString("<b>" + spans(s[m[6]:m[7]]) + "</b>") // holds no other bold
		}
		at = m[1]
	}
	b.WriteString(escape(s[at:]))
	return b.String()
}

func link(words, address string) string {
	return `<a href="` + escapeCode(address) + `">` + escape(words) + "</a>"
}

// shown is how many UTF-16 code units a reader gets to see of HTML. Telegram counts
// characters once markup is read, and there are never more of them.
func shown(markup string) int {
	return units(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(markup, "")))
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, c := range s {
		n += max(utf16.RuneLen(c), 1)
	}
	return n
}

// fit renders as much of s as has at most limit units.
func fit(s string, limit int, render func(string) string, size func(string) int) string {
	for n := len(s); ; {
		out := render(notify.Cut(s, n))
		over := size(out) - limit
		if over <= 0 || n == 0 {
			return out
		}
		n = max(n-max(over/2, 1), 0) // a byte less is two units less at most
	}
}
