package discord

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads Discord's answer. The codes are those of Discord's reference; none was
// asked for at the real service.
//
//	200 and an id            taken
//	204                      heard, but not said to be kept: not known
//	400 and a code           it does not like the message: once more as text
//	401, 403, 404 and a code the webhook or its channel is gone or closed: to be left
//	                         alone, since Discord bars whoever goes on
//	429                      too fast: wait as long as it says
//	5xx                      Discord is in trouble
//	anything else            a gateway, a captive portal: not known
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		ID      string   `json:"id"`
		Code    *int     `json:"code"`
		Message string   `json:"message"`
		Wait    *float64 `json:"retry_after"`
	}
	status := "http " + strconv.Itoa(a.Status)
	v := notify.Verdict{Code: status}
	err := json.Unmarshal(a.Body, &said)
	spoke := err == nil && said.Code != nil && *said.Code >= 0
	if spoke {
		v.Code, v.Detail = strconv.Itoa(*said.Code), said.Message
	}
	switch {
	case a.Status == http.StatusOK && err == nil && isID(said.ID):
		return notify.Verdict{Kind: notify.VerdictOK, Code: "200", Ref: said.ID}
	case a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, wait(a, said.Wait)
	case a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	case spoke && a.Status == http.StatusBadRequest:
		v.Kind = notify.VerdictBadMessage
	case spoke && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == http.StatusNotFound):
		v.Kind = notify.VerdictPermanent
		v.Detail = "was the webhook or its channel removed? make a new webhook. " + v.Detail
	case !spoke:
		v.Detail = "the answer is not Discord's; is something between here and Discord?"
	}
	return v
}

// isID reports whether s is an id of Discord's, a number in words.
func isID(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// wait is how long Discord wants to be left alone: as the body says, else the header,
// else a minute, and never more than an hour. The body tells parts of a second.
func wait(a notify.Answer, body *float64) time.Duration {
	seconds, err := strconv.ParseFloat(a.Header.Get("Retry-After"), 64)
	if body != nil {
		seconds, err = *body, nil
	}
	if err != nil || !(seconds > 0) {
		return time.Minute
	}
	return time.Duration(math.Ceil(min(seconds, 3600)*1000)) * time.Millisecond
}
