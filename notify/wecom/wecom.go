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

	"curfew/fleet"
	"curfew/notify"
)

// The robot's limits on content, in bytes.
const (
	maxMarkdown = 4096
	maxText     = 2048
)

const sendPath = "/cgi-bin/webhook/send"

// Kind describes the channel. The platform takes 20 messages a minute.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "wecom",
		Title:       "WeCom 企业微信",
		Credentials: []string{"key"},
		DefaultURL:  "https://qyapi.weixin.qq.com",
		PerMinute:   18,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: wecom: %s", o.Name, what)
	}
	key := o.Credential["key"]
	switch {
	case key == "":
		return fail("no key; give key: {env: NAME} with what follows key= in the robot's webhook address")
	case strings.Contains(key, "://") || strings.ContainsFunc(key, unicode.IsSpace):
		return fail("key is not a robot's key; give only what follows key= in the webhook address")
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	u := base.JoinPath(sendPath)
	u.RawQuery = url.Values{"key": {key}}.Encode()
	return &channel{notify.Poster{HTTP: o.HTTP, URL: u.String(), Secrets: []string{key}}}, nil
}

type channel struct{ poster notify.Poster }

type content struct {
	Content string `json:"content"`
}

type payload struct {
	MsgType  string   `json:"msgtype"`
	Markdown *content `json:"markdown,omitempty"`
	Text     *content `json:"text,omitempty"`
}

// Send posts one message, as Markdown or, where that was refused, as text.
func (c *channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.poster.Post(ctx, compose(m), func(a notify.Answer) notify.Verdict {
		v := judge(a.Status, a.Body)
		v.Detail = withoutIP(v.Detail)
		return v
	})
}

// compose puts title and lines into the form the robot takes, cut to its limits.
func compose(m notify.Message) payload {
	if m.Markdown == "" {
		return payload{MsgType: "text", Text: &content{notify.Cut(m.Title+"\n"+m.Plain, maxText)}}
	}
	// The robot knows three colours: info is green, warning is orange.
	colour := "info"
	if m.Severity.Rank() >= fleet.Warning.Rank() {
		colour = "warning"
	}
	title := `**<font color="` + colour + `">` + notify.Escape(m.Title) + "</font>**\n"
	return payload{MsgType: "markdown", Markdown: &content{notify.Cut(title+m.Markdown, maxMarkdown)}}
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
