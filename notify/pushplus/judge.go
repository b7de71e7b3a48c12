package pushplus

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads PushPlus's answer to a message rendered at that moment.
//
//	200        accepted; whether it was delivered, PushPlus does not say here
//	500        the platform is in trouble
//	900        too many: nothing more today, since each further call lengthens the
//	           lock
//	401, 403   the account takes nothing, or nothing from this address
//	903        no such token
//	905        the account's owner has not proved a real name
//	600, 999   it does not like the message
//	others     not known: never success, tried again a few times
//	no code    a gateway, a captive portal
func judge(a notify.Answer, at time.Time) notify.Verdict {
	var said struct {
		Code *int   `json:"code"`
		Msg  string `json:"msg"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == nil {
		switch {
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and PushPlus?"}
	}
	v := notify.Verdict{Code: strconv.Itoa(*said.Code), Detail: said.Msg}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch *said.Code {
	case 200:
		if a.Status != http.StatusOK {
			v.Code = status
			return v // a success that is none
		}
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case 500:
		v.Kind = notify.VerdictRetry
	case 900:
		v.Kind, v.After = notify.VerdictRetry, restOfDay(at)
		v.Detail = "too many today; nothing more is sent before tomorrow: " + v.Detail
	case 401, 403:
		return permanent("is this address on the account's list of allowed ones?")
	case 903:
		return permanent("no such token; was it reset?")
	case 905:
		return permanent("the account needs real-name verification at pushplus.plus first:")
	case 600, 999:
		v.Kind = notify.VerdictBadMessage
	default:
		if a.Status >= http.StatusInternalServerError {
			v.Kind = notify.VerdictRetry
		}
	}
	return v
}

// restOfDay is how long it is to five past midnight in Beijing, by which PushPlus
// counts.
func restOfDay(at time.Time) time.Duration {
	y, m, d := at.In(time.FixedZone("Beijing", 8*60*60)).Date()
	return time.Date(y, m, d+1, 0, 5, 0, 0, time.FixedZone("Beijing", 8*60*60)).Sub(at)
}
