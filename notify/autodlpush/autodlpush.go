// Package autodlpush sends to the WeChat of an AutoDL account, by AutoDL's own
// message service.
//
// It answers 200 to failures too: only the code Success in the body is success.
// The token is the account's developer token, which can do everything the account
// can, so it never leaves this package.
package autodlpush

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"curfew/notify"
)

// AutoDL tells no limits on length. These are what its users keep to, in
// characters; WeChat's own card shows no more.
const (
	maxTitle   = 20
	maxContent = 200
)

const sendPath = "/api/v1/wechat/message/send"

// Kind describes the channel. AutoDL takes 5 messages a minute and 50 a day,
// those of the account's other programs among them.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "autodlpush",
		Title:       "AutoDL → WeChat 微信",
		Credentials: []string{"token"},
		DefaultURL:  "https://www.autodl.com",
		PerMinute:   4,
		PerDay:      45,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: autodlpush: %s", o.Name, what)
	}
	token := o.Credential["token"]
	switch {
	case token == "":
		return fail("no token; give token: {env: NAME} with the developer token from AutoDL's console, account settings")
	case len(token) > 7 && strings.EqualFold(token[:7], "bearer "):
		return fail("token begins with Bearer; give only the developer token itself")
	case strings.Contains(token, "://") || strings.ContainsFunc(token, outside):
		return fail("token is not a developer token; give it as AutoDL's console shows it, without spaces")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	return channel{notify.Poster{
		HTTP: o.HTTP, URL: base.JoinPath(sendPath).String(),
		Header: http.Header{"Authorization": {token}}, Secrets: []string{token},
	}}, nil
}

// outside reports whether a character cannot be in a token.
func outside(c rune) bool { return c > unicode.MaxASCII || !unicode.IsGraphic(c) || c == ' ' }

type channel struct{ post notify.Poster }

type payload struct {
	Title   string `json:"title"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Send posts one message. The service shows plain words only.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, compose(m), judge)
}

// compose puts a message into a card. A title that does not fit is told whole
// above the lines, and one that stands alone is told again.
func compose(m notify.Message) payload {
	title, rest := notify.CutRunes(m.Title, maxTitle), strings.TrimSpace(m.Plain)
	if title != m.Title || rest == "" {
		rest = m.Title + "\n" + rest
	}
	return payload{Title: title, Name: "curfew", Content: fit(rest, maxContent)}
}

// fit leaves lines out of the middle until the rest has at most limit characters:
// what it is about comes first, and how to say wait comes last.
func fit(s string, limit int) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\ufffd")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	const last = 2
	lines := strings.Split(s, "\n")
	if len(lines) <= last {
		return notify.CutRunes(s, limit)
	}
	end := "\n…\n" + strings.Join(lines[len(lines)-last:], "\n")
	room := limit - utf8.RuneCountInString(end)
	for keep := len(lines) - last - 1; keep > 0; keep-- {
		if first := strings.Join(lines[:keep], "\n"); utf8.RuneCountInString(first) <= room {
			return first + end
		}
	}
	if room < limit/2 {
		return notify.CutRunes(s, limit)
	}
	return notify.CutRunes(lines[0], room) + end
}
