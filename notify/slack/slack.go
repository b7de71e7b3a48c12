// Package slack sends to a Slack channel by an incoming webhook.
//
// Slack answers with an HTTP status and one word of plain text; only 200 with
// the word ok is success. Whoever has the webhook's address can post to the
// channel, so no part of its path leaves this package.
package slack

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"curfew/notify"
)

// Slack's limits, in characters and blocks.
const (
	maxText    = 3000
	maxHeader  = 150
	maxSection = 3000
)

const webhookLike = "https://hooks.slack.com/services/T…/B…/…"

// Kind describes the channel. Slack takes about one message a second. There is no
// address of its own: it is part of the secret.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "slack",
		Title:       "Slack",
		Credentials: []string{"webhook"},
		PerMinute:   50,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: slack: %s", o.Name, what)
	}
	webhook := o.Credential["webhook"]
	u, err := url.Parse(webhook)
	switch {
	case webhook == "":
		return fail("no webhook; give webhook: {env: NAME} with the whole address of an incoming webhook, " + webhookLike)
	case strings.HasPrefix(webhook, "xox") || strings.HasPrefix(webhook, "xapp"):
		return fail("webhook holds a token; give the address of an incoming webhook, " + webhookLike)
	case err != nil || u.Scheme != "https" || u.Host == "":
		return fail("webhook is not an https address; give the whole address of an incoming webhook, " + webhookLike)
	case strings.HasPrefix(u.Path, "/triggers/") || strings.HasPrefix(u.Path, "/workflows/"):
		return fail("webhook starts a workflow, which takes other fields; make an incoming webhook, " + webhookLike)
	case !isWebhookPath(u.EscapedPath()) || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fail("webhook is not the address of a Slack incoming webhook; give one like " + webhookLike)
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	to := u
	if o.BaseURL != "" {
		base, err := url.Parse(o.BaseURL)
		if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
			return fail("base_url is not a web address; leave it out, or give the one that stands in for https://hooks.slack.com")
		}
		to = base.JoinPath(u.Path)
	}
	return channel{notify.Poster{
		HTTP: o.HTTP, URL: to.String(),
		Secrets: []string{webhook, u.Path, strings.TrimPrefix(u.Path, "/services/"), path.Base(u.Path)},
	}}, nil
}

func isWebhookPath(p string) bool {
	return regexp.MustCompile(`^/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]+$`).MatchString(p)
}

type channel struct{ post notify.Poster }

type textObject struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Emoji, in plain text, would turn :words: of a name into pictures.
	Emoji *bool `json:"emoji,omitempty"`
	// Verbatim keeps Slack from making mentions and links out of plain words.
	Verbatim bool `json:"verbatim,omitempty"`
}

type block struct {
	Type string     `json:"type"`
	Text textObject `json:"text"`
}

type payload struct {
	// Text is what notifications show, and the whole message where there are no
	// blocks.
	Text   string  `json:"text"`
	Blocks []block `json:"blocks,omitempty"`
}

// Send posts one message, in blocks or, where those were refused, as text alone.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, compose(m), judge)
}

// compose puts title and lines into the form Slack takes, within its limits.
func compose(m notify.Message) payload {
	p := payload{Text: shorten(strings.TrimSpace(m.Title+"\n"+m.Plain), maxText, escape)}
	if m.Markdown == "" {
		return p
	}
	if title := shorten(strings.TrimSpace(m.Title), maxHeader, escape); title != "" {
		p.Blocks = append(p.Blocks, block{"header", textObject{Type: "plain_text", Text: title, Emoji: new(bool)}})
	}
	for _, s := range sections(m.Markdown) {
		p.Blocks = append(p.Blocks, block{"section", textObject{Type: "mrkdwn", Text: s, Verbatim: true}})
	}
	return p
}
