// Package dingtalk sends to a DingTalk (钉钉) group by the webhook of a custom
// robot.
//
// The robot answers 200 to nearly everything: only errcode 0 in the body is
// success, and one code has several meanings, so that the message counts too. Too
// many messages in a minute cost ten minutes of silence, and an ordinary
// organisation has 3,000 calls a month for all its robots together. Token and
// signature are part of the address, so it never leaves this package.
//
// Limits and codes are those of open.dingtalk.com, custom-robots-send-group-messages
// of 2026-07-14, but for those marked as seen elsewhere.
package dingtalk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"curfew/notify"
)

const sendPath = "/robot/send"

// Kind describes the channel. The platform takes 20 messages a minute. That it takes
// 90 a day follows from the 3,000 calls a month that an ordinary organisation has,
// of which its other robots want some too.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "dingtalk",
		Title:       "DingTalk 钉钉",
		Credentials: []string{"token", "secret"},
		DefaultURL:  "https://oapi.dingtalk.com",
		PerMinute:   15,
		PerDay:      90,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: dingtalk: %s", o.Name, what)
	}
	token, secret := o.Credential["token"], o.Credential["secret"]
	switch {
	case token == "":
		return fail("no token; give token: {env: NAME} with what follows access_token= in the robot's webhook address")
	case strings.HasPrefix(token, "SEC"):
		return fail("token holds the secret of the signature; give as token what follows access_token= in the webhook address, and this as secret")
	case strings.ContainsFunc(token, unicode.IsSpace) || strings.ContainsAny(token, ":/?&="):
		return fail("token is not a robot's token; give only what follows access_token= in the webhook address")
	case secret != "" && (!strings.HasPrefix(secret, "SEC") || strings.ContainsFunc(secret, unicode.IsSpace)):
		return fail("secret is not that of a robot's signature (加签), which begins with SEC; leave it out if the robot asks for a keyword or an address instead")
	case o.HTTP == nil:
		return fail("no HTTP client")
	case o.Now == nil:
		return fail("no clock")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL)
	}
	return &channel{
		name: o.Name, http: o.HTTP, to: base.JoinPath(sendPath), token: token, secret: secret, now: o.Now,
		life: strconv.FormatInt(o.Now().UnixNano(), 36),
	}, nil
}

type channel struct {
	name          string
	http          *http.Client
	to            *url.URL
	token, secret string
	now           func() time.Time
	// life tells this channel's messages, where they do not tell it themselves, from
	// those of the same number of another daemon, or of another state, that sends by the
	// same robot: of two messages with one msgUuid the second would be dropped and
	// answered with success.
	life string
}

// Send posts one message, as Markdown or, where that was refused, as text. It is
// signed anew each time.
func (c *channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	at := c.now()
	query := url.Values{"access_token": {c.token}}
	secrets := []string{c.token, c.secret}
	if c.secret != "" {
		ms := at.UnixMilli()
		query.Set("timestamp", strconv.FormatInt(ms, 10))
		query.Set("sign", sign(ms, c.secret))
		secrets = append(secrets, query.Get("sign"))
	}
	to := *c.to
	to.RawQuery = query.Encode()
	return notify.Poster{HTTP: c.http, URL: to.String(), Secrets: secrets}.Post(ctx, compose(m, c.uuid(m)),
		func(a notify.Answer) notify.Verdict { return judge(a, at) })
}

// uuid is the same for every attempt of a message in one form. Where the message does
// not say what it was made from it is another after a restart: twice is better than
// not at all.
func (c *channel) uuid(m notify.Message) string {
	id := c.life + "-" + m.DeliveryID
	switch {
	case m.DeliveryID == "":
		return ""
	case len(m.Notices) > 0:
		id = m.UniqueID(c.name)
	}
	if m.Markdown == "" {
		id += "-text" // another message than the one that was refused
	}
	return id
}

// sign is the signature of a moment in Unix milliseconds, as the platform wants it:
// HMAC-SHA256 under the secret, in base64. It is good for an hour before and after.
func sign(ms int64, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d\n%s", ms, secret)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
