// Package wecom sends to a WeCom (企业微信) group by the webhook of a group robot.
//
// The robot answers 200 to nearly everything: only errcode 0 in the body is
// success, and a body without an errcode says nothing. Whoever has the key can
// post to the group, so the key never leaves this package.
package wecom

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"curfew/notify"
)

const sendPath = "/cgi-bin/webhook/send"

// The forms of a message.
const (
	formMarkdown   = "markdown"      // colours and mentions; every client shows it
	formMarkdownV2 = "markdown_v2"   // no colour, no mention; clients before 4.1.36 show its raw text
	formCard       = "template_card" // needs a link to open
)

// Kind describes the channel. The platform takes 20 messages a minute.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "wecom",
		Title:       "WeCom 企业微信",
		Credentials: []string{"key"},
		Settings:    []string{"form"},
		DefaultURL:  "https://qyapi.weixin.qq.com",
		PerMinute:   18,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: wecom: %s", o.Name, what)
	}
	key, form := o.Credential["key"], o.Settings["form"]
	switch {
	case key == "":
		return fail("no key; give key: {env: NAME} with what follows key= in the robot's webhook address")
	case strings.Contains(key, "://") || strings.ContainsFunc(key, unicode.IsSpace):
		return fail("key is not a robot's key; give only what follows key= in the webhook address")
	case form != "" && form != formMarkdown && form != formMarkdownV2 && form != formCard:
		return fail(fmt.Sprintf("form %q is none; give %s, %s or %s, or leave it out", form, formMarkdown, formMarkdownV2, formCard))
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	u := base.JoinPath(sendPath)
	u.RawQuery = url.Values{"key": {key}}.Encode()
	return &channel{notify.Poster{HTTP: o.HTTP, URL: u.String(), Secrets: []string{key}}, form}, nil
}

type channel struct {
	poster notify.Poster
	form   string // empty: formMarkdown
}

// Send posts one message in the channel's form or, where that was refused, as text.
func (c *channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m, c.form)
	return c.poster.Post(ctx, p, func(a notify.Answer) notify.Verdict {
		v := judge(a.Status, a.Body, p.MsgType)
		v.Detail = withoutIP(v.Detail)
		return v
	})
}

// withoutIP takes the address that the platform saw us come from out of its
// words, and puts them on one line.
func withoutIP(s string) string {
	const from = "from ip: "
	if i := strings.Index(s, from); i >= 0 {
		rest := s[i+len(from):]
		end := strings.IndexAny(rest, ", \t\n")
		if end < 0 {
			end = len(rest)
		}
		s = s[:i+len(from)] + "<ip>" + rest[end:]
	}
	return strings.Join(strings.Fields(s), " ")
}
