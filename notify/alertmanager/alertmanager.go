// Package alertmanager hands notices to a Prometheus Alertmanager, or to what takes
// an Alertmanager's webhooks.
//
// With mode alerts a notice that opens something fires an alert, and the one that says
// it is over ends it; the Alertmanager routes, silences and repeats. With mode webhook
// curfew posts what an Alertmanager itself would post to a receiver.
package alertmanager

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"curfew/notify"
)

// The modes.
const (
	modeAlerts  = "alerts"
	modeWebhook = "webhook"
)

const (
	apiPath     = "/api/v2/alerts"
	addressLike = "http://127.0.0.1:9093"
)

// Kind describes the channel. An Alertmanager asks for no password unless it was told
// to, and is one's own: there is no limit, and no address known beforehand.
func Kind() notify.Kind {
	return notify.Kind{
		Name:        "alertmanager",
		Title:       "Alertmanager",
		Credentials: []string{"password"},
		NoSecrets:   true,
		Settings:    []string{"mode", "url", "user"},
		Open:        open,
	}
}

func open(o notify.Options) (notify.Channel, error) {
	fail := func(what string) (notify.Channel, error) {
		return nil, fmt.Errorf("channel %s: alertmanager: %s", o.Name, what)
	}
	mode, address, user, password := o.Settings["mode"], o.Settings["url"], o.Settings["user"], o.Credential["password"]
	u := notify.WebURL(address)
	switch {
	case mode != "" && mode != modeAlerts && mode != modeWebhook:
		return fail(fmt.Sprintf("mode %q is not known; write %s or %s", mode, modeAlerts, modeWebhook))
	case address == "":
		return fail("no url; give url: and the address of the Alertmanager, like " + addressLike)
	case u == nil:
		return fail("url is not a web address; give one like " + addressLike)
	case u.User != nil:
		return fail("url holds a user; give user: and password: {env: NAME} instead")
	case u.Fragment != "" || mode != modeWebhook && u.RawQuery != "":
		return fail("url has a ? or # in it; give the address of the Alertmanager alone, like " + addressLike)
	case mode != modeWebhook && strings.Contains(u.Path, "/api/"):
		return fail("url names a part of the API; give the address of the Alertmanager alone, like " + addressLike)
	case user == "" && password != "":
		return fail("a password without a user; give user: too")
	case user != "" && password == "":
		return fail("a user without a password; give password: {env: NAME} too")
	case o.BaseURL != "":
		return fail("base_url does nothing here; give the address as url")
	case o.HTTP == nil:
		return fail("no HTTP client")
	case o.Now == nil:
		return fail("no clock")
	}
	c := channel{name: o.Name, now: o.Now, post: notify.Poster{HTTP: o.HTTP, URL: u.JoinPath(apiPath).String(), Header: http.Header{"User-Agent": {"curfew"}}}}
	if c.webhook = mode == modeWebhook; c.webhook {
		c.post.URL = u.String()
		c.post.Secrets = append(c.post.Secrets, notify.AddressSecrets(u)...)
	}
	if user != "" {
		pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		c.post.Header.Set("Authorization", "Basic "+pair)
		c.post.Secrets = append(c.post.Secrets, password, pair)
	}
	return c, nil
}

type channel struct {
	name    string
	webhook bool
	now     func() time.Time
	post    notify.Poster
}

// Send posts one message. Sending it again changes nothing at an Alertmanager, which
// knows an alert by its labels.
func (c channel) Send(ctx context.Context, m notify.Message) notify.Verdict {
	if c.webhook {
		return c.post.Post(ctx, composeWebhook(c.name, m, c.now()), judgeWebhook)
	}
	return c.post.Post(ctx, composeAlerts(m, c.now()), judge)
}
