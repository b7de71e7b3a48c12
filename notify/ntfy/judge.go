package ntfy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// dayOver is how long a spent day is left alone. A server counts by its own day, by
// default that of UTC, and no harm is known to come of asking.
const dayOver = time.Hour

// judge reads ntfy's answer. Its codes are the status of HTTP and two digits more.
//
//	an id and event message   taken
//	42908                     the day's messages are spent: once an hour from now on
//	42909                     too many logins that failed: the same
//	429..                     too fast: wait a minute
//	401.., 403..              the topic wants a token, or another one
//	40009, 40010              no such name for a topic
//	50701                     a topic of UnifiedPush, which takes nothing from here
//	404..                     not the root of an ntfy server
//	400.., 413..              it does not like the message
//	5....                     the server is in trouble
//	others                    not known: never success, tried again a few times
//	neither id nor code       a gateway, a captive portal
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		ID    string `json:"id"`
		Event string `json:"event"`
		Code  int    `json:"code"`
		Error string `json:"error"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == 0 {
		switch {
		case err == nil && a.Status == http.StatusOK && said.ID != "" && said.Event == "message":
			return notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: a.RetryAfter(time.Minute), Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer is not ntfy's; is something between here and the server?"}
	}
	v := notify.Verdict{Code: strconv.Itoa(said.Code), Detail: said.Error}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch said.Code {
	case 40009, 40010:
		return permanent("choose another topic:")
	case 50701:
		return permanent("topics of 14 characters that begin with up are UnifiedPush's; choose another:")
	case 42908, 42909:
		v.Kind, v.After = notify.VerdictRetry, dayOver
		return v
	}
	switch status := said.Code / 100; status {
	case http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(time.Minute)
	case http.StatusUnauthorized, http.StatusForbidden:
		return permanent("may this token, or who has none, write to the topic?")
	case http.StatusNotFound:
		return permanent("is base_url an ntfy server's?")
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		v.Kind = notify.VerdictBadMessage
	default:
		if status >= http.StatusInternalServerError {
			v.Kind = notify.VerdictRetry
		}
	}
	return v
}
