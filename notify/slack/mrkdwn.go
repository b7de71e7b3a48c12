package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"curfew/notify"
)

// maxMarkdown is how many bytes of Markdown are turned into sections. Even where
// each needs five characters, these are far fewer than the 50 blocks Slack takes.
const maxMarkdown = 8000

// escape makes words safe in Slack's texts. It turns a character into five at
// most.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// sections turns Markdown into Slack's own markup, in pieces that a section
// holds. A line stays whole unless it is longer than a section.
func sections(markdown string) []string {
	var all, lines []string
	size := 0
	end := func() {
		if s := strings.TrimSpace(strings.Join(lines, "\n")); s != "" {
			all = append(all, s)
		}
		lines, size = nil, 0
	}
	for line := range strings.SplitSeq(notify.Cut(markdown, maxMarkdown), "\n") {
		line = shorten(line, maxSection, mrkdwn)
		n := utf8.RuneCountInString(line) + 1
		if size+n > maxSection+1 {
			end()
		}
		lines, size = append(lines, line), size+n
	}
	end()
	return all
}

// mrkdwn turns one line of Markdown into Slack's own markup: bold, links, inline
// code and quotes.
func mrkdwn(line string) string {
	var b strings.Builder
	if rest, ok := strings.CutPrefix(line, "> "); ok {
		b.WriteString("> ")
		line = rest
	}
	parts := strings.Split(line, "`")
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('`')
		}
		part = escape(part)
		if code := i%2 == 1 && i < len(parts)-1; !code {
			part = regexp.MustCompile(`\[([^\[\]]+)\]\((https?://[^\s()]+)\)`).ReplaceAllString(part, "<$2|$1>")
			part = regexp.MustCompile(`\*\*([^*]+)\*\*`).ReplaceAllString(part, "*$1*")
		}
		b.WriteString(part)
	}
	return b.String()
}

// shorten renders as much of s as stays within limit characters.
func shorten(s string, limit int, render func(string) string) string {
	for n := len(s); ; {
		out := render(notify.Cut(s, n))
		over := utf8.RuneCountInString(out) - limit
		if over <= 0 {
			return out
		}
		n -= max(over/5, 1) // each byte less is five characters less at most
	}
}
