// Package slackform sends to platforms of one's own that take Slack's older form of a
// message, a text with attachments, by an incoming webhook: Mattermost and Rocket.Chat.
//
// They share the form and nothing else: each answers in its own way. Whoever has the
// webhook's address can post to the channel, so no part of its path leaves this
// package.
package slackform

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// What a message may hold, in bytes: less than the 4000 characters of an old
// Mattermost, the 8000 of what it keeps beside a message, and the 5000 of Rocket.Chat.
const (
	maxText     = 3900
	maxFallback = 1000
	maxMentions = 20
)

// platform is what the platforms differ in.
type platform struct {
	name  string // of the kind
	like  string // an address of a webhook, for people
	path  *regexp.Regexp
	judge func(notify.Answer) notify.Verdict
}

func (p platform) open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: %s: %s", o.Name, p.name, what)
	}
	webhook := o.Credential["webhook"]
	u := notify.WebURL(webhook)
	switch {
	case webhook == "":
		return fail("no webhook; give webhook: {env: NAME} with the whole address of an incoming webhook, " + p.like)
	case u == nil:
		return fail("webhook is not a web address; give the whole address of an incoming webhook, " + p.like)
	case !p.path.MatchString(u.EscapedPath()) || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fail("webhook is not the address of an incoming webhook; give one like " + p.like)
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	to := u
	if o.BaseURL != "" {
		if to = notify.WebURL(o.BaseURL); to == nil {
			return fail("base_url is not a web address; leave it out, or give the one that stands in for the server in webhook")
		}
		to = to.JoinPath(u.Path)
	}
	secret := u.Path[strings.LastIndex(u.Path, "/hooks/")+len("/hooks/"):]
	return channel{
		platform: p,
		post:     notify.Poster{HTTP: o.HTTP, URL: to.String(), Secrets: []string{webhook, u.Path, secret, path.Base(secret)}},
	}, nil
}

type channel struct {
	platform
	post notify.Poster
}

type payload struct {
	Text        string       `json:"text"`
	Attachments []attachment `json:"attachments,omitempty"`
}

type attachment struct {
	Fallback string `json:"fallback"` // for clients that show no attachments
	Colour   string `json:"color"`
	Text     string `json:"text"`
}

// Send posts one message, with an attachment or, where that was refused, as text
// alone.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, c.compose(m), c.judge)
}

// compose puts the title into the text and the lines into an attachment. Even plain
// words are read as Markdown, so they are escaped.
func (c channel) compose(m notify.Message) payload {
	who := mentions(m)
	if m.Markdown == "" {
		words := who + calm(notify.Escape(m.Title)+"\n"+notify.Escape(m.Plain))
		return payload{Text: notify.CutAbove(strings.TrimSpace(words), notify.PlainLinks(m.Actions), maxText)}
	}
	return payload{
		Text: notify.Cut(who+"**"+calm(notify.Escape(m.Title))+"**", maxText),
		Attachments: []attachment{{
			Fallback: notify.Cut(calm(notify.Escape(m.Plain)), maxFallback),
			Colour:   colour(m.Severity),
			Text:     notify.CutAbove(calm(m.Markdown), notify.Links(m.Actions), maxText),
		}},
	}
}

func colour(s fleet.Severity) string {
	switch s {
	case fleet.Critical:
		return "#d93f3f"
	case fleet.Warning:
		return "#e8912d"
	}
	return "#2eb67d"
}

// mentions calls people by the names of their accounts, never all of a channel, and
// nobody where the message is to make no sound.
func mentions(m notify.Message) string {
	var all []string
	for _, name := range m.Mentions {
		person := regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$`).MatchString(name)
		group := strings.EqualFold(name, "all") || strings.EqualFold(name, "here") || strings.EqualFold(name, "channel")
		if person && !group && len(all) < maxMentions && !m.Silent {
			all = append(all, "@"+name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, " ") + " "
}

// calm keeps words from calling anybody, by an invisible space after each @. Inline
// code calls nobody and stays as it is, for it is there to be copied.
func calm(markdown string) string {
	parts := strings.Split(markdown, "`")
	for i := range parts {
		if code := i%2 == 1 && i < len(parts)-1; !code || strings.Contains(parts[i], "\n") {
			parts[i] = strings.ReplaceAll(parts[i], "@", "@\u200b")
		}
	}
	return strings.Join(parts, "`")
}
