// Package wecom sends to a WeCom (企业微信) group by the webhook of a group robot.
//
// The robot answers 200 to nearly everything: only errcode 0 in the body is
// success, and a body without an errcode says nothing. Whoever has the key can
// post to the group, so the key never leaves this package.
package wecom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	maxAnswer   = 64 << 10
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
	return &channel{url: u.String(), key: key, http: o.HTTP}, nil
}

type channel struct {
	url  string
	key  string
	http *http.Client
}

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
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(compose(m)); err != nil {
		return notify.Verdict{Kind: notify.VerdictBadMessage, Code: "encode", Detail: c.redact(err.Error())}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, &body)
	if err != nil {
		return notify.Verdict{Kind: notify.VerdictPermanent, Code: "request", Detail: c.redact(err.Error())}
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := c.http.Do(req)
	if err != nil {
		// It may have arrived all the same. A message twice is better than none.
		return notify.Verdict{Kind: notify.VerdictRetry, Code: "network", Detail: c.redact(cause(err))}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: "network", Detail: c.redact("read the answer: " + cause(err))}
	}
	v := judge(resp.StatusCode, answer)
	v.Detail = c.redact(v.Detail)
	return v
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

// cause is the error without the address it was about, which holds the key.
func cause(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}

// redact takes the key, and the address that the platform saw us come from, out
// of words that may be logged.
func (c *channel) redact(s string) string {
	for _, secret := range []string{c.key, url.QueryEscape(c.key), url.PathEscape(c.key)} {
		s = strings.ReplaceAll(s, secret, "<key>")
	}
	const from = "from ip: "
	if i := strings.Index(s, from); i >= 0 {
		rest := s[i+len(from):]
		end := strings.IndexAny(rest, ", \t\n")
		if end < 0 {
			end = len(rest)
		}
		s = s[:i+len(from)] + "<ip>" + rest[end:]
	}
	return notify.Cut(strings.Join(strings.Fields(s), " "), 200)
}
