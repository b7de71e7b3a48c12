package email

import (
	"html"
	"net/mail"
	"regexp"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"curfew/fleet"
	"curfew/notify"
)

// curfew's own limits: a subject that programs show, in characters, and a body that
// nobody's box is too small for, in bytes of each form.
const (
	maxSubject = 150
	maxBody    = 64 << 10
)

// compose puts a message into a mail with a plain and an HTML part; the plain part
// alone where the message must go out as plain text. A title that does not fit is told
// whole above the lines.
func (c channel) compose(m notify.Message, id string, cc []*mail.Address) *gomail.Msg {
	mail := gomail.NewMsg(gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP), gomail.WithNoDefaultUserAgent())
	mail.FromMailAddress(c.from)
	mail.ToMailAddress(c.to...)
	if len(cc) > 0 {
		mail.CcMailAddress(cc...)
	}
	title := strings.Join(strings.Fields(strings.ToValidUTF8(m.Title, "\uFFFD")), " ")
	subject := notify.CutRunes(title, maxSubject)
	if subject == "" {
		subject = "curfew"
	}
	mail.Subject(subject)
	mail.SetMessageIDWithValue(id)
	mail.SetDateWithValue(c.now())
	if isMessageID(m.ReplyTo) {
		mail.SetGenHeader(gomail.HeaderInReplyTo, m.ReplyTo)
		mail.SetGenHeader(gomail.HeaderReferences, m.ReplyTo)
	}
	mail.SetBulk()
	mail.SetGenHeader("Auto-Submitted", "auto-generated")
	switch {
	case m.Silent:
		mail.SetImportance(gomail.ImportanceLow)
	case m.Severity == fleet.Critical:
		mail.SetImportance(gomail.ImportanceHigh)
	}
	plain, markup := m.Plain, m.Markdown
	if subject != title {
		plain = title + "\n" + plain
		markup = "**" + notify.Escape(title) + "**\n" + markup
	}
	links := notify.PlainLinks(m.Actions)
	if links != "" {
		links = "\n\n" + links
	}
	mail.SetBodyString(gomail.TypeTextPlain, crlf(notify.Cut(plain, maxBody)+links+"\n"))
	if m.Markdown != "" {
		mail.AddAlternativeString(gomail.TypeTextHTML, crlf(page(notify.Cut(markup, maxBody), m.Actions)))
	}
	return mail
}

// isMessageID reports whether a reference is one that this channel gave.
func isMessageID(ref string) bool {
	return regexp.MustCompile(`^<[A-Za-z0-9._-]+@[A-Za-z0-9.\[\]:-]+>$`).MatchString(ref)
}

// crlf ends every line as mail wants it, and takes out what mail must not hold.
func crlf(s string) string {
	return strings.NewReplacer("\r", "", "\x00", "", "\n", "\r\n").Replace(s)
}

// page turns Markdown into HTML: bold, links, inline code and quotes, with the actions
// as links below.
func page(markdown string, actions []notify.Action) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head>\n<body style=\"font-family:sans-serif\">\n")
	quoted := false
	for line := range strings.SplitSeq(markdown, "\n") {
		rest, quote := strings.CutPrefix(line, "> ")
		if quote != quoted {
			b.WriteString(map[bool]string{true: "<blockquote>\n", false: "</blockquote>\n"}[quote])
			quoted = quote
		}
		b.WriteString("<div>" + inline(rest) + "</div>\n")
	}
	if quoted {
		b.WriteString("</blockquote>\n")
	}
	if linked := notify.Linked(actions); len(linked) > 0 {
		b.WriteString("<p>")
		for _, a := range linked {
			b.WriteString(`<a href="` + html.EscapeString(a.URL) + `">` + html.EscapeString(strings.ToValidUTF8(a.Label, "\uFFFD")) + "</a> &nbsp; ")
		}
		b.WriteString("</p>\n")
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// inline turns one line of Markdown into HTML. An empty one keeps its height.
func inline(line string) string {
	if strings.TrimSpace(line) == "" {
		return "&nbsp;"
	}
	var b strings.Builder
	parts := strings.Split(line, "`")
	for i, part := range parts {
		part = html.EscapeString(part)
		switch {
		case i%2 == 1 && i < len(parts)-1:
			part = "<code>" + part + "</code>"
		case i%2 == 1:
			part = "`" + words(part)
		default:
			part = words(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// words turns bold and links of escaped Markdown into HTML.
func words(s string) string {
	s = regexp.MustCompile(`\[([^\[\]]+)\]\((https?://[^\s()]+)\)`).ReplaceAllString(s, `<a href="$2">$1</a>`)
	return regexp.MustCompile(`\*\*([^*]+)\*\*`).ReplaceAllString(s, "<b>$1</b>")
}
