// Package pushplus sends to a person's WeChat by PushPlus (推送加).
//
// It answers 200 to failures too: only the code 200 in the body is success, and
// it means accepted, not yet delivered. Who goes on after the code 900 is locked
// out for longer. The token is in the body and never leaves this package.
package pushplus

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"curfew/notify"
)

// The limits: the title in characters, which is curfew's own, and the content in
// bytes, where PushPlus counts characters.
const (
	maxTitle   = 100
	maxContent = 20000
)

const sendPath = "/send"

// Kind describes the channel. PushPlus takes 200 messages a day, those of the
// account's other programs among them; the limit of ten a minute is curfew's own.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "pushplus",
		Title:       "PushPlus 推送加",
		Credentials: []string{"token"},
		DefaultURL:  "https://www.pushplus.plus",
		PerMinute:   10,
		PerDay:      180,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: pushplus: %s", o.Name, what)
	}
	token := o.Credential["token"]
	switch {
	case token == "":
		return fail("no token; give token: {env: NAME} with the token that pushplus.plus shows after login")
	case strings.Contains(token, "://"):
		return fail("token is an address; give only the token that pushplus.plus shows after login")
	case strings.ContainsFunc(token, outside):
		return fail("token is not a PushPlus token, which is letters and digits; give it as pushplus.plus shows it")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	return channel{token, notify.Poster{HTTP: o.HTTP, URL: base.JoinPath(sendPath).String(), Secrets: []string{token}}}, nil
}

// outside reports whether a character cannot be in a token.
func outside(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}

type channel struct {
	token string
	post  notify.Poster
}

type payload struct {
	Token    string `json:"token"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	Template string `json:"template"`
}

// Send posts one message, as Markdown or, where that was refused, as text.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m)
	p.Token = c.token
	return c.post.Post(ctx, p, func(a notify.Answer) notify.Verdict { return judge(a, m.At) })
}

// compose puts title and lines into the form PushPlus takes, cut to its limits.
// A title that does not fit is told whole above the lines, and one that stands
// alone is told again, since content must not be empty.
func compose(m notify.Message) payload {
	p := payload{Title: notify.CutRunes(m.Title, maxTitle), Content: m.Markdown, Template: "markdown"}
	title := notify.Escape(m.Title)
	if m.Markdown == "" {
		p.Content, p.Template, title = strings.TrimSpace(m.Plain), "txt", m.Title
	}
	if p.Title != m.Title || strings.TrimSpace(p.Content) == "" {
		p.Content = title + "\n" + p.Content
	}
	if p.Template == "markdown" {
		p.Content = notify.Paragraphs(p.Content)
	}
	p.Content = notify.Cut(strings.TrimSpace(p.Content), maxContent)
	return p
}
