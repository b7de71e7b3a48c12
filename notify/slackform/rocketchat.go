package slackform

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"curfew/notify"
)

// RocketChat describes the channel. A server takes ten calls a minute unless its
// administrator set another limit. There is no one address: it is part of the secret.
func RocketChat() notify.Kind {
	p := platform{
		name:  "rocketchat",
		like:  "https://chat.lab.example/hooks/…/…",
		path:  regexp.MustCompile(`/hooks/[0-9A-Za-z_-]+(/[0-9A-Za-z_%-]+){1,2}$`),
		judge: judgeRocketChat,
	}
	return notify.Kind{
		Name: p.name, Title: "Rocket.Chat", Credentials: []string{"webhook"}, PerMinute: 9, Open: p.open,
	}
}

// judgeRocketChat reads the answer of a Rocket.Chat server. Its words are those in the
// server's source, but for error-not-allowed and those on archived and blocked rooms,
// which are recalled; only the one on a wrong webhook was seen in a real answer, with
// 404 in old servers and by the source 400 in new ones.
//
//	200 and success: true        taken
//	Invalid integration id …     no such webhook
//	503 and success: false       the webhook is switched off
//	a word on the channel        it is gone or closed to the webhook's user
//	a word on the message        once more as text
//	429                          too fast: wait as long as it says
//	5xx                          the server is in trouble
//	other words                  such as of a webhook's own script: not known
//	no success                   a gateway, a captive portal: not known
func judgeRocketChat(a notify.Answer) notify.Verdict {
	var said struct {
		Success *bool `json:"success"`
		Error   any   `json:"error"`
	}
	status := "http " + strconv.Itoa(a.Status)
	v := notify.Verdict{Code: status}
	if err := json.Unmarshal(a.Body, &said); err != nil || said.Success == nil {
		switch {
		case a.Status == http.StatusTooManyRequests:
			v.Kind, v.After = notify.VerdictRetry, seconds(a.Header.Get("Retry-After"))
		case a.Status >= http.StatusInternalServerError:
			v.Kind = notify.VerdictRetry
		default:
			v.Detail = "the answer is not Rocket.Chat's; is something between here and the server?"
		}
		return v
	}
	if *said.Success && a.Status == http.StatusOK {
		return notify.Verdict{Kind: notify.VerdictOK, Code: "success"}
	}
	words, _ := said.Error.(string)
	v.Detail = words
	says := func(all ...string) bool {
		for _, s := range all {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	switch {
	case *said.Success: // with a status that says otherwise
	case says("Invalid integration id or token"):
		v.Kind, v.Code = notify.VerdictPermanent, "invalid-integration"
		v.Detail = "no such webhook; was it removed or made anew? " + words
	case a.Status == http.StatusServiceUnavailable && words == "Service Unavailable":
		v.Kind, v.Detail = notify.VerdictPermanent, "the webhook is switched off; enable it in the server's integrations"
	case a.Status == http.StatusTooManyRequests, says("error-too-many-requests"):
		v.Kind, v.After = notify.VerdictRetry, seconds(waitIn(words))
	case a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	case says("invalid-channel", "error-not-allowed", "room_is_archived", "room_is_blocked", "Not enough permission"):
		v.Kind = notify.VerdictPermanent
		v.Detail = "may the webhook's user still write to its channel? " + words
	case says("error-message-size-exceeded", "Match error"):
		v.Kind = notify.VerdictBadMessage
	}
	return v
}

// waitIn finds the seconds in "You must wait 5 seconds before trying this endpoint
// again".
func waitIn(words string) string {
	m := regexp.MustCompile(`must wait (\d+) seconds`).FindStringSubmatch(words)
	if m == nil {
		return ""
	}
	return m[1]
}
