package wxpusher

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

const taken = 1000

// judge reads WxPusher's answer. What the codes mean is from its own client; which of
// them tells of too many messages is not known.
//
//	1000               accepted, and 1000 for each person too; whether it was
//	                   delivered, WxPusher does not say here
//	1002, 1003         the token is wrong
//	1004               no such interface: base_url is another service's
//	1005, 1006, 1007   WxPusher, WeChat or the way between them is in trouble
//	1008               it does not like the message
//	others             1001 among them, which says only in words what is wrong: never
//	                   success, tried again a few times
//	no code            a gateway, a captive portal
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		Code *int            `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == nil {
		switch {
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: a.RetryAfter(time.Minute), Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and WxPusher?"}
	}
	code, words := *said.Code, said.Msg
	if code == taken {
		code, words = person(said.Data, words)
	}
	v := notify.Verdict{Code: strconv.Itoa(code), Detail: words}
	switch code {
	case taken:
		if a.Status != http.StatusOK {
			v.Code = status
			return v // a success that is none
		}
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case 1002, 1003:
		v.Kind = notify.VerdictPermanent
		v.Detail = "WxPusher does not know the token; was it made anew? " + v.Detail
	case 1004:
		v.Kind = notify.VerdictPermanent
		v.Detail = "is base_url WxPusher's? " + v.Detail
	case 1005, 1006, 1007:
		v.Kind = notify.VerdictRetry
	case 1008:
		v.Kind = notify.VerdictBadMessage
	default:
		switch {
		case a.Status == http.StatusTooManyRequests:
			v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(time.Minute)
		case a.Status >= http.StatusInternalServerError:
			v.Kind = notify.VerdictRetry
		}
	}
	return v
}

// person gives what became of the message for the one it is for, where the answer
// tells it.
func person(data json.RawMessage, words string) (int, string) {
	var people []struct {
		Code   *int   `json:"code"`
		Status string `json:"status"`
	}
	if json.Unmarshal(data, &people) != nil {
		return taken, words // it tells nothing
	}
	for _, p := range people {
		if p.Code != nil && *p.Code != taken {
			return *p.Code, p.Status
		}
	}
	return taken, words
}
