// Package feishu sends to a group of Feishu (飞书), or of Lark, its edition outside
// China, by the webhook of a custom bot.
//
// Only code 0 in the body is success; one code means both too many messages and one
// that is malformed, so that the message counts too. The signature is made unlike
// DingTalk's: of seconds, with an empty message, and it stands in the body. The token
// is part of the address, so it never leaves this package.
//
// Limits and codes are those of open.feishu.cn, add-custom-bot of 2025-03-26, but for
// those marked as seen elsewhere; the card is that of its JSON 2.0, which clients
// before 7.20 show as a title alone.
package feishu

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"curfew/notify"
)

const (
	hookPath = "/open-apis/bot/v2/hook"
	larkURL  = "https://open.larksuite.com"
)

// Kind describes the channel. The platform takes 100 messages a minute and five a
// second; over the latter it asks for five seconds.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "feishu",
		Title:       "Feishu 飞书 / Lark",
		Credentials: []string{"token", "secret"},
		DefaultURL:  "https://open.feishu.cn",
		PerMinute:   80,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: feishu: %s", o.Name, what)
	}
	token, secret := o.Credential["token"], o.Credential["secret"]
	switch {
	case token == "":
		return fail("no token; give token: {env: NAME} with what follows /hook/ in the bot's webhook address")
	case strings.Contains(token, "://"):
		return fail("token is an address; give only what follows /hook/ in it, and for Lark also base_url: " + larkURL)
	case strings.ContainsFunc(token, unicode.IsSpace) || strings.ContainsAny(token, "/?&=%.:"):
		return fail("token is not a bot's token; give only what follows /hook/ in the webhook address")
	case strings.ContainsFunc(secret, unicode.IsSpace):
		return fail("secret is not that of a bot's signature verification (签名校验); give it as the bot's settings show it, or leave it out if that is off")
	case o.HTTP == nil:
		return fail("no HTTP client")
	case o.Now == nil:
		return fail("no clock")
	}
	base := notify.WebURL(o.BaseURL)
	if base == nil {
		return fail("base_url is not a web address; give one like " + Kind().DefaultURL + ", or " + larkURL + " for Lark")
	}
	return &channel{http: o.HTTP, url: base.JoinPath(hookPath, token).String(), token: token, secret: secret, now: o.Now}, nil
}

type channel struct {
	http          *http.Client
	url           string
	token, secret string
	now           func() time.Time
}

// Send posts one message, as a card or, where that was refused, as text. It is signed
// anew each time.
func (c *channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	var s signature
	if c.secret != "" {
		at := c.now().Unix()
		s = signature{Timestamp: strconv.FormatInt(at, 10), Sign: sign(at, c.secret)}
	}
	return notify.Poster{HTTP: c.http, URL: c.url, Secrets: []string{c.token, c.secret, s.Sign}}.Post(ctx, compose(m, s), judge)
}

// sign is the signature of a moment in Unix seconds, as the platform wants it:
// HMAC-SHA256 of nothing, under a key made of both, in base64. It is good for an hour
// before and after.
func sign(seconds int64, secret string) string {
	mac := hmac.New(sha256.New, fmt.Appendf(nil, "%d\n%s", seconds, secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
