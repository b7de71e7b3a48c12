// Package discord sends to a Discord channel by a webhook.
//
// It asks Discord to wait until a message is kept, so that only an answer with the
// message's id is success. Whoever has the webhook's address can post to the channel,
// so no part of its path leaves this package.
package discord

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"curfew/fleet"
	"curfew/notify"
)

// Discord's limits are in characters; here they are kept in bytes, of which there are
// never fewer. An embed may hold 4096, all embeds together 6000.
const (
	maxContent     = 2000
	maxDescription = 4096
	maxMentions    = 20 // curfew's own; Discord takes 100
)

// suppressNotifications is the flag of a message that makes no sound.
const suppressNotifications = 1 << 12

const webhookLike = "https://discord.com/api/webhooks/…/…"

// Kind describes the channel. How much Discord takes is told with each answer and may
// change; the limit of 25 a minute is curfew's own. There is no one address: it is part
// of the secret.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "discord",
		Title:       "Discord",
		Credentials: []string{"webhook"},
		PerMinute:   25,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: discord: %s", o.Name, what)
	}
	webhook := o.Credential["webhook"]
	u, err := url.Parse(webhook)
	switch {
	case webhook == "":
		return fail("no webhook; give webhook: {env: NAME} with the whole address of a webhook, " + webhookLike)
	case err != nil || u.Scheme != "https" || u.Host == "":
		return fail("webhook is not an https address; give the whole address of a webhook, " + webhookLike)
	case strings.HasSuffix(u.Path, "/slack") || strings.HasSuffix(u.Path, "/github"):
		return fail("webhook is for another form of message; leave out the end, /" + path.Base(u.Path))
	case !isWebhookPath(u.EscapedPath()) || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fail("webhook is not the address of a Discord webhook; give one like " + webhookLike)
	case o.HTTP == nil:
		return fail("no HTTP client")
	}
	to := *u
	if o.BaseURL != "" {
		base := notify.WebURL(o.BaseURL)
		if base == nil {
			return fail("base_url is not a web address; leave it out, or give the one that stands in for https://discord.com")
		}
		to = *base.JoinPath(u.Path)
	}
	to.RawQuery = "wait=true"
	token := path.Base(u.Path)
	return channel{notify.Poster{
		HTTP: o.HTTP, URL: to.String(),
		Secrets: []string{webhook, u.Path, path.Base(path.Dir(u.Path)) + "/" + token, token},
	}}, nil
}

func isWebhookPath(p string) bool {
	return regexp.MustCompile(`^/api/(v\d+/)?webhooks/\d+/[0-9A-Za-z_-]+$`).MatchString(p)
}

type channel struct{ post notify.Poster }

type payload struct {
	Content  string   `json:"content"`
	Embeds   []embed  `json:"embeds,omitempty"`
	Mentions mentions `json:"allowed_mentions"`
	Flags    int      `json:"flags,omitempty"`
}

type embed struct {
	Description string `json:"description"`
	Colour      int    `json:"color"`
}

// mentions says who may be called. Parse is empty and never left out: nothing in the
// words calls anybody.
type mentions struct {
	Parse []string `json:"parse"`
	Users []string `json:"users,omitempty"`
}

// Send posts one message, with an embed or, where that was refused, as text alone.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return c.post.Post(ctx, compose(m), judge)
}

// compose puts the title into the text, which is what phones show, and the lines into
// an embed. Even plain words are read as Markdown, so they are escaped.
func compose(m notify.Message) payload {
	p := payload{Mentions: mentions{Parse: []string{}, Users: people(m.Mentions)}}
	if m.Silent {
		p.Flags = suppressNotifications
	}
	who := ""
	for _, id := range p.Mentions.Users {
		who += "<@" + id + "> "
	}
	if m.Markdown == "" {
		words := who + notify.Escape(m.Title) + "\n" + notify.Escape(m.Plain)
		p.Content = notify.CutAbove(strings.TrimSpace(words), notify.PlainLinks(m.Actions), maxContent)
		return p
	}
	p.Content = notify.Cut(who+"**"+notify.Escape(m.Title)+"**", maxContent)
	p.Embeds = []embed{{
		Description: notify.CutAbove(m.Markdown, notify.Links(m.Actions), maxDescription),
		Colour:      colour(m.Severity),
	}}
	return p
}

// people gives the ids that are a user's, each once.
func people(ids []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, id := range ids {
		if regexp.MustCompile(`^\d{15,21}$`).MatchString(id) && !seen[id] && len(all) < maxMentions {
			all, seen[id] = append(all, id), true
		}
	}
	return all
}

func colour(s fleet.Severity) int {
	switch s {
	case fleet.Critical:
		return 0xd93f3f
	case fleet.Warning:
		return 0xe8912d
	}
	return 0x2eb67d
}
