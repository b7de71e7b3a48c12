package webhook

import (
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads the receiver's answer, of which only the status is agreed on.
//
//	2xx                  taken, unless it is a page: then something else answered
//	400, 413, 415, 422   it does not like the body: once more without Markdown
//	408, 425             try again
//	410                  it wants nothing any more, as Standard Webhooks says
//	429                  too fast: wait as long as it says, else a minute
//	5xx                  it is in trouble: wait as long as it says
//	others               not known, tried a few times: whether the receiver or a
//	                     gateway before it speaks cannot be told
func judge(a notify.Answer) notify.Verdict {
	v := notify.Verdict{Code: "http " + strconv.Itoa(a.Status)}
	switch s := a.Status; {
	case s >= 200 && s < 300 && a.IsPage():
		v.Detail = "the answer is a page; is something between here and the receiver?"
	case s >= 200 && s < 300:
		v.Kind = notify.VerdictOK
	case s == http.StatusBadRequest, s == http.StatusRequestEntityTooLarge,
		s == http.StatusUnsupportedMediaType, s == http.StatusUnprocessableEntity:
		v.Kind, v.Detail = notify.VerdictBadMessage, string(a.Body)
	case s == http.StatusGone:
		v.Kind, v.Detail = notify.VerdictPermanent, "the receiver wants nothing any more; was the webhook deleted there?"
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly:
		v.Kind = notify.VerdictRetry
	case s == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(time.Minute)
	case s >= http.StatusInternalServerError:
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(0)
	case s >= 300 && s < 400:
		v.Detail = "the receiver sends on to another address; give that as url"
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		v.Detail = "refused; does the receiver know the secret, and is its clock right?"
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		v.Detail = "nobody takes a POST there; is url right, and the receiver switched on?"
	default:
		v.Detail = string(a.Body)
	}
	return v
}
