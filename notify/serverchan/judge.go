package serverchan

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

// dayOver is how long a spent day is left alone. When the next one begins is not
// told, and no harm is known to come of asking.
const dayOver = time.Hour

// judge reads ServerChan's answer. Failures come with HTTP 400.
//
//	code 0                 taken
//	40001 with 发送次数    the day's messages are spent: once an hour from now on
//	471                    the same
//	40001 with 错误的Key   no such key
//	20001                  it does not like a field
//	others                 not known: never success, tried again a few times
//	no code                a gateway, a captive portal, a platform in trouble
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == nil {
		switch {
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and ServerChan?"}
	}
	v := notify.Verdict{Code: strconv.Itoa(*said.Code), Detail: said.Message}
	switch code := *said.Code; {
	case code == 0 && a.Status == http.StatusOK:
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case code == 0:
		v.Code = status // a success that is none
	case code == 471, code == 40001 && strings.Contains(said.Message, "发送次数"):
		v.Kind, v.After = notify.VerdictRetry, dayOver
		v.Detail = "the day's messages are spent: " + v.Detail
	case code == 40001 && strings.Contains(said.Message, "错误的Key"):
		v.Kind = notify.VerdictPermanent
		v.Detail = "no such key; was it reset? " + v.Detail
	case code == 20001:
		v.Kind = notify.VerdictBadMessage
	case a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, time.Minute
	case a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}
