package alertmanager

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads an Alertmanager's answer. It takes alerts with 200 and no words.
//
//	200 and nothing      taken
//	400, 413, 422        it does not like an alert; tried once more
//	401                  it wants another user or password
//	429                  too fast: wait as long as it says, else a minute
//	5xx                  it is starting, or in trouble
//	anything else        not an Alertmanager, or a gateway: not known, tried a few times
func judge(a notify.Answer) notify.Verdict {
	v := notify.Verdict{Code: "http " + strconv.Itoa(a.Status)}
	switch s := a.Status; {
	case s == http.StatusOK && len(bytes.TrimSpace(a.Body)) == 0:
		v.Kind = notify.VerdictOK
	case s == http.StatusBadRequest, s == http.StatusRequestEntityTooLarge, s == http.StatusUnprocessableEntity:
		v.Kind, v.Detail = notify.VerdictBadMessage, string(a.Body)
	case s == http.StatusUnauthorized:
		v.Kind, v.Detail = notify.VerdictPermanent, "user and password are missing or wrong"
	case s == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(time.Minute)
	case s >= http.StatusInternalServerError:
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(0)
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		v.Detail = "no alerts are taken there; is url the address of an Alertmanager, with its prefix if it has one?"
	default:
		v.Detail = "the answer is not an Alertmanager's; is something between here and it?"
	}
	return v
}

// judgeWebhook reads the answer of a receiver of webhooks, by its status as an
// Alertmanager does: 2xx is taken, but for a page, which something else gave. Unlike
// an Alertmanager, it is tried again after a 429.
func judgeWebhook(a notify.Answer) notify.Verdict {
	if a.Status/100 == 2 && !a.IsPage() {
		a.Status, a.Body = http.StatusOK, nil
	}
	v := judge(a)
	switch {
	case a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed:
		v.Detail = "nobody takes a POST there; is url the whole address of the receiver?"
	case v.Kind == notify.VerdictUnknown:
		v.Detail = "the answer is not a receiver's; is something between here and it?"
	}
	return v
}
