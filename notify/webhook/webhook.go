// Package webhook posts notices as JSON to a program of one's own, signed as the
// Standard Webhooks specification says.
//
// The body's form is documented in docs/channels/webhook.md and carries a version:
// fields are added without a new one, and none is taken away or changes its meaning.
// The address may hold a secret, so no part of it leaves this package.
package webhook

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

	"curfew/notify"
)

// The secret's size in bytes, as Standard Webhooks wants it.
const (
	minSecret    = 24
	maxSecret    = 64
	secretPrefix = "whsec_"
)

const addressLike = "https://hooks.example.com/curfew"

// Kind describes the channel. The limit is curfew's own: how much a receiver takes is
// not known. There is no address of its own: it is configured whole.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "webhook",
		Title:       "Webhook",
		Credentials: []string{"url", "secret"},
		PerMinute:   60,
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: webhook: %s", o.Name, what)
	}
	address := o.Credential["url"]
	u := notify.WebURL(address)
	key, trouble := decodeSecret(o.Credential["secret"])
	switch {
	case address == "":
		return fail("no url; give url: {env: NAME} with the whole address to post to, like " + addressLike)
	case u == nil:
		return fail("url is not a web address; give the whole address to post to, like " + addressLike)
	case u.Fragment != "":
		return fail("url has a # in it, and what follows is never sent; leave it out, or write it as %23")
	case trouble != "":
		return fail("secret " + trouble)
	case o.BaseURL != "":
		return fail("base_url does nothing here; give the whole address as url")
	case o.HTTP == nil:
		return fail("no HTTP client")
	case o.Now == nil:
		return fail("no clock")
	}
	return channel{
		name: o.Name, key: key, now: o.Now,
		post: notify.Poster{HTTP: o.HTTP, URL: u.String(), Secrets: append(notify.AddressSecrets(u), address, o.Credential["secret"])},
	}, nil
}

// decodeSecret gives the key that a secret stands for, or what is wrong with it. No
// secret is no key.
func decodeSecret(secret string) (key []byte, trouble string) {
	if secret == "" {
		return nil, ""
	}
	const advice = "; make one by: openssl rand -base64 32"
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, secretPrefix))
	switch {
	case err != nil || strings.ContainsAny(secret, "\r\n"):
		return nil, "is not in base64, with or without " + secretPrefix + " before it" + advice
	case len(key) < minSecret || len(key) > maxSecret:
		return nil, fmt.Sprintf("stands for %d bytes, and Standard Webhooks wants %d to %d", len(key), minSecret, maxSecret) + advice
	}
	return key, ""
}

type channel struct {
	name string
	key  []byte
	now  func() time.Time
	post notify.Poster
}

// Send posts one message. Its id is the same for every attempt; time and signature are
// of this one.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	id, post := m.UniqueID(c.name), c.post
	post.Sign = func(body []byte) http.Header { return c.sign(id, c.now(), body) }
	return post.Post(ctx, compose(c.name, id, m), judge)
}

// sign makes the headers of Standard Webhooks. Without a key there is no signature.
func (c channel) sign(id string, at time.Time, body []byte) http.Header {
	seconds := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set("User-Agent", "curfew")
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", seconds)
	if c.key != nil {
		mac := hmac.New(sha256.New, c.key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, seconds, body)
		h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return h
}
