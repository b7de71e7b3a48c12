package slack

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

const notSlack = "the answer is not Slack's; is something between here and Slack?"

// judge reads Slack's answer to a webhook.
//
//	200 ok             taken
//	400 and a word     it does not like the message: once more without blocks
//	403, 404, 410      and a word: the webhook or its channel is gone, or not allowed
//	429                too fast: wait as long as it says
//	5xx                Slack is in trouble
//	anything else      a gateway, a captive portal: not known, tried a few times
func judge(a notify.Answer) notify.Verdict {
	word := strings.TrimSpace(string(a.Body))
	status := "http " + strconv.Itoa(a.Status)
	code, spoke := status, isWord(word)
	if spoke {
		code = word
	}
	switch {
	case a.Status == http.StatusOK && word == "ok":
		return notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}
	case a.Status == http.StatusBadRequest && spoke:
		return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code}
	case (a.Status == http.StatusForbidden || a.Status == http.StatusNotFound || a.Status == http.StatusGone) && spoke:
		return notify.Verdict{Kind: notify.VerdictPermanent, Code: code,
			Detail: "was the webhook removed, its app uninstalled or the channel archived? make a new webhook"}
	case a.Status == http.StatusTooManyRequests:
		return notify.Verdict{Kind: notify.VerdictRetry, After: retryAfter(a), Code: code}
	case a.Status >= http.StatusInternalServerError:
		return notify.Verdict{Kind: notify.VerdictRetry, Code: code}
	}
	return notify.Verdict{Code: status, Detail: notSlack}
}

// isWord reports whether an answer is one of Slack's own, such as no_team.
func isWord(s string) bool {
	return regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`).MatchString(s)
}

// retryAfter is how long Slack wants to be left alone: as the header or the body
// says, else a minute, and never more than an hour.
func retryAfter(a notify.Answer) time.Duration {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		var body struct {
			RetryAfter int `json:"retry_after"`
		}
		if json.Unmarshal(a.Body, &body) == nil {
			seconds = body.RetryAfter
		}
	}
	return bounded(time.Duration(min(seconds, 3600)) * time.Second)
}

// bounded is a minute where nothing is said, and never more than an hour.
func bounded(wait time.Duration) time.Duration {
	if wait <= 0 {
		return time.Minute
	}
	return min(wait, time.Hour)
}
