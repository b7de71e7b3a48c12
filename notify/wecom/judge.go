package wecom

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads the robot's answer.
//
//	errcode 0      taken
//	45009          more than 20 in a minute: wait one
//	-1             the platform is busy
//	93000          no such robot: wrong key, or it was removed from the group
//	40058          it does not like the content, most often its length
//	others         not known: never success, tried again a few times; but a form that
//	               not every robot may take is given up for text at once
//	no errcode     a gateway, a captive portal, a platform in trouble
//
// 45009 and 93000 were seen in real answers, the others are told of at second hand;
// which code a card is refused with is not known.
func judge(status int, body []byte, msgType string) notify.Verdict {
	var a struct {
		Code *int   `json:"errcode"`
		Msg  string `json:"errmsg"`
	}
	httpCode := "http " + strconv.Itoa(status)
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &a); err != nil || a.Code == nil {
		switch {
		case status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: httpCode}
		case status >= 500:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: httpCode}
		}
		return notify.Verdict{Code: httpCode, Detail: "the answer holds no errcode; is something between here and WeCom?"}
	}
	v := notify.Verdict{Code: strconv.Itoa(*a.Code), Detail: a.Msg}
	switch *a.Code {
	case 0:
		if status != http.StatusOK {
			v.Code = httpCode
			return v // a success that is none
		}
		return notify.Verdict{Kind: notify.VerdictOK, Code: "0"}
	case 45009:
		v.Kind, v.After = notify.VerdictRetry, time.Minute
	case -1:
		v.Kind, v.After = notify.VerdictRetry, 30*time.Second
	case 93000:
		v.Kind = notify.VerdictPermanent
		v.Detail = "no such robot; was it removed from the group, is the key right? " + v.Detail
	case 40058:
		v.Kind = notify.VerdictBadMessage
	default:
		switch {
		case status >= 500:
			v.Kind = notify.VerdictRetry
		case msgType == formMarkdownV2 || msgType == formCard:
			v.Kind = notify.VerdictBadMessage
		}
	}
	return v
}
