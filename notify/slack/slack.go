// Package slack sends to a Slack channel, by an incoming webhook or as a bot.
//
// A webhook answers with an HTTP status and one word of plain text; only 200 with
// the word ok is success. Whoever has the webhook's address can post to the
// channel, so no part of its path leaves this package, and no bot's token does.
//
// A bot's messages can hold buttons and stand in a thread. That a button was pressed is
// heard over Socket Mode, a connection that goes out from here.
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

const (
	webhookLike = "https://hooks.slack.com/services/T…/B…/…"
	apiURL      = "https://slack.com/api/"
)

// Kind describes the channel. Slack takes about one message a second. There is no
// address of its own: it is part of the secret.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "slack",
		Title:       "Slack",
		Credentials: []string{"webhook", "bot_token"},
		Settings:    []string{"channel"},
		Buttons:     "app_token",
		UserID:      `^[UW][0-9A-Z]{2,32}$`,
		UserLike:    "U012AB3CD",
		PerMinute:   50,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	webhook, token, to := o.Credential["webhook"], o.Credential["bot_token"], o.Settings["channel"]
	var c notify.Channel
	var problem string
	switch app := o.Credential["app_token"]; {
	case app != "" && token == "":
		problem = "app_token goes with bot_token: the messages of a webhook have no buttons"
	case app != "" && !regexp.MustCompile(`^xapp-[0-9A-Za-z-]+$`).MatchString(app):
		problem = "app_token is not an app-level token; give one that begins with xapp-, with the scope connections:write"
	case webhook != "" && token != "":
		problem = "has both webhook and bot_token; give one of them"
	case token != "":
		c, problem = openBot(o, token, to)
	case to != "" && webhook != "":
		problem = "channel goes with bot_token; a webhook has its channel already, so leave it out"
	default:
		c, problem = openWebhook(o, webhook)
	}
	if problem != "" {
		return nil, fmt.Errorf("channel %s: slack: %s", o.Name, problem)
	}
	return c, nil
}

// openWebhook gives a channel, or what is wrong and what would be right.
func openWebhook(o notify.Options, webhook string) (c notify.Channel, problem string) {
	u, err := url.Parse(webhook)
	switch {
	case webhook == "":
		return nil, "no webhook and no bot_token; give webhook: {env: NAME} with the whole address of an incoming webhook, " + webhookLike
	case strings.HasPrefix(webhook, "xox") || strings.HasPrefix(webhook, "xapp"):
		return nil, "webhook holds a token; give the address of an incoming webhook, " + webhookLike + ", or a bot's token as bot_token"
	case err != nil || u.Scheme != "https" || u.Host == "":
		return nil, "webhook is not an https address; give the whole address of an incoming webhook, " + webhookLike
	case strings.HasPrefix(u.Path, "/triggers/") || strings.HasPrefix(u.Path, "/workflows/"):
		return nil, "webhook starts a workflow, which takes other fields; make an incoming webhook, " + webhookLike
	case !isWebhookPath(u.EscapedPath()) || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, "webhook is not the address of a Slack incoming webhook; give one like " + webhookLike
	case o.HTTP == nil:
		return nil, "no HTTP client"
	}
	to := u
	if o.BaseURL != "" {
		base := notify.WebURL(o.BaseURL)
		if base == nil {
			return nil, "base_url is not a web address; leave it out, or give the one that stands in for https://hooks.slack.com"
		}
		to = base.JoinPath(u.Path)
	}
	return hook{notify.Poster{
		HTTP: o.HTTP, URL: to.String(),
		Secrets: []string{webhook, u.Path, strings.TrimPrefix(u.Path, "/services/"), path.Base(u.Path)},
	}}, ""
}

func isWebhookPath(p string) bool {
	return regexp.MustCompile(`^/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]+$`).MatchString(p)
}

// hook is an incoming webhook.
type hook struct{ post notify.Poster }

// Send posts one message, in blocks or, where those were refused, as text alone.
func (h hook) Send(ctx context.Context, m notify.Message) notify.Verdict {
	return h.post.Post(ctx, compose(m, false), judge)
}
