package slackform

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

// Mattermost describes the channel. A server sets its own limit, by default none; the
// one of 50 a minute is curfew's own. There is no one address: it is part of the
// secret.
func Mattermost() notify.Kind {
	p := platform{
		name:  "mattermost",
		like:  "https://chat.lab.example/hooks/…",
		path:  regexp.MustCompile(`/hooks/[0-9A-Za-z]+$`),
		judge: judgeMattermost,
	}
	return notify.Kind{
		Name: p.name, Title: "Mattermost", Credentials: []string{"webhook"}, PerMinute: 50, Open: p.open,
	}
}

// judgeMattermost reads the answer of a Mattermost server. Its names are those in the
// server's source; none was asked for at a real server.
//
//	200 ok                           taken
//	…incoming_webhook.invalid        no such webhook
//	…incoming_webhook.disabled       webhooks are switched off on the server
//	…channel, user, permissions      the channel is gone or closed to it
//	another name with 400 or 413     it does not like the message: once more as text
//	429                              too fast: wait as long as it says
//	5xx                              the server is in trouble
//	anything else                    a gateway, a captive portal: not known
func judgeMattermost(a notify.Answer) notify.Verdict {
	var said struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if a.Status == http.StatusOK && strings.TrimSpace(string(a.Body)) == "ok" {
		return notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}
	}
	v := notify.Verdict{Code: status}
	if json.Unmarshal(a.Body, &said) == nil && regexp.MustCompile(`^[a-z_]+(\.[a-z0-9_]+)+$`).MatchString(said.ID) {
		v.Code, v.Detail = said.ID, said.Message
	}
	named := v.Code != status
	name := strings.TrimSuffix(strings.TrimPrefix(v.Code, "web.incoming_webhook."), ".app_error")
	switch {
	case named && (name == "invalid" || name == "disabled" || name == "channel_locked" || name == "permissions" || name == "user"),
		named && (name == "channel" || name == "app.channel.get.existing") && a.Status == http.StatusNotFound:
		v.Kind = notify.VerdictPermanent
		v.Detail = "was the webhook or its channel removed, or are webhooks switched off? " + v.Detail
	case a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, seconds(a.Header.Get("Retry-After"))
	case a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	case named && (a.Status == http.StatusBadRequest || a.Status == http.StatusRequestEntityTooLarge):
		v.Kind = notify.VerdictBadMessage
	case !named:
		v.Detail = "the answer is not Mattermost's; is something between here and the server?"
	}
	return v
}

// seconds reads how long to wait: a minute where nothing is said, and never more than
// an hour.
func seconds(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return time.Minute
	}
	return time.Duration(min(n, 3600)) * time.Second
}
