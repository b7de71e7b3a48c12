// Package wxpusher sends to a person's WeChat or phone by WxPusher.
//
// It answers 200 to failures too: only the code 1000 in the body is success, and it
// means accepted, not yet delivered. Whoever has the token can send to the person, or
// to all of an application's, so it is in the body and never leaves this package.
package wxpusher

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"curfew/notify"
)

// WxPusher's limits: of the summary in characters, of which a card shows about 20; of
// the content in bytes, where WxPusher counts characters.
const (
	maxSummary = 100
	maxContent = 40000
)

// How WxPusher is told what content is.
const (
	asText     = 1
	asMarkdown = 3
)

// The two ways: to whoever the token is of, and to one of an application's people.
const (
	simplePath = "/api/send/message/simple-push"
	appPath    = "/api/send/message"
)

// Kind describes the channel. WxPusher takes 20 messages in ten seconds, and after
// about 3000 a day it shows a person no more notifications.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "wxpusher",
		Title:       "WxPusher",
		Credentials: []string{"spt", "app_token"},
		Settings:    []string{"uid"},
		DefaultURL:  "https://wxpusher.zjiecode.com",
		PerMinute:   15,
		PerDay:      2500,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: wxpusher: %s", o.Name, what)
	}
	c := channel{spt: o.Credential["spt"], appToken: o.Credential["app_token"], uid: o.Settings["uid"]}
	if problem := c.problem(); problem != "" {
		return fail(problem)
	}
	if o.HTTP == nil {
		return fail("no HTTP client")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	to := base.JoinPath(simplePath)
	if c.spt == "" {
		to = base.JoinPath(appPath)
	}
	c.post = notify.Poster{HTTP: o.HTTP, URL: to.String(), Secrets: []string{c.spt, c.appToken}}
	return c, nil
}

// problem says what is wrong with who the channel sends to, and as whom.
func (c channel) problem() string {
	like := func(prefix, s string) bool {
		return regexp.MustCompile(`^` + prefix + `[0-9A-Za-z_-]+$`).MatchString(s)
	}
	switch {
	case c.spt == "" && c.appToken == "":
		return "no spt and no app_token; give spt: {env: NAME} with your own simple push token, which begins with SPT_"
	case c.spt != "" && (c.appToken != "" || c.uid != ""):
		return "spt sends to you, app_token to the one that uid names; give either spt alone, or app_token and uid"
	case c.spt != "" && !like("SPT_", c.spt):
		return "spt is not a simple push token, which begins with SPT_; give it as WxPusher shows it"
	case c.spt != "":
		return ""
	case !like("AT_", c.appToken):
		return "app_token is not an application's token, which begins with AT_; give it as WxPusher shows it"
	case c.uid == "":
		return "no uid; give uid: with that of the person, which begins with UID_"
	case !like("", c.uid) || like("AT_", c.uid) || like("SPT_", c.uid):
		return "uid is not a person's; give the one that begins with UID_"
	}
	return ""
}

type channel struct {
	spt, appToken, uid string
	post               notify.Poster
}

type payload struct {
	SPT         string   `json:"spt,omitempty"`
	AppToken    string   `json:"appToken,omitempty"`
	UIDs        []string `json:"uids,omitempty"`
	Summary     string   `json:"summary"`
	Content     string   `json:"content"`
	ContentType int      `json:"contentType"`
}

// Send posts one message, as Markdown or, where that was refused, as text.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	p := compose(m)
	if p.SPT = c.spt; c.spt == "" {
		p.AppToken, p.UIDs = c.appToken, []string{c.uid}
	}
	return c.post.Post(ctx, p, judge)
}

// compose puts title and lines into the form WxPusher takes, cut to its limits. The
// title is the summary, and stands whole above the lines, where the summary is not
// shown.
func compose(m notify.Message) payload {
	p := payload{Summary: notify.CutRunes(strings.TrimSpace(m.Title), maxSummary)}
	above, lines, below := "**"+notify.Escape(m.Title)+"**\n\n", notify.Paragraphs(m.Markdown), notify.Links(m.Actions)
	p.ContentType = asMarkdown
	if m.Markdown == "" {
		above, lines, below, p.ContentType = m.Title+"\n", m.Plain, notify.PlainLinks(m.Actions), asText
	}
	if below = notify.Cut(below, maxContent/4); below != "" {
		below = "\n\n" + below
	}
	p.Content = notify.Cut(above+strings.TrimSpace(lines), maxContent-len(below)) + below
	return p
}
