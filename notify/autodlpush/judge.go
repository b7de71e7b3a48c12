package autodlpush

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"curfew/notify"
)

// judge reads AutoDL's answer.
//
//	Success           taken
//	AuthorizeFailed   the token is wrong or no longer valid
//	others            not known, the one for too many messages among them: never
//	                  success, tried again a few times
//	no code           a gateway, a captive portal, a platform in trouble
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		Code *string `json:"code"`
		Msg  string  `json:"msg"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == nil || *said.Code == "" {
		switch {
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and AutoDL?"}
	}
	v := notify.Verdict{Code: *said.Code, Detail: said.Msg}
	switch {
	case v.Code == "Success" && a.Status == http.StatusOK:
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case v.Code == "Success":
		v.Code = status // a success that is none
	case v.Code == "AuthorizeFailed":
		v.Kind = notify.VerdictPermanent
		v.Detail = "AutoDL does not know the token; was it made anew? " + v.Detail
	case a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, time.Minute
	case a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}
