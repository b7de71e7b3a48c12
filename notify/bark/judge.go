package bark

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

// judge reads Bark's answer. Its codes are those of HTTP; why a message was not pushed
// is only in its words, which end in the reason that Apple gave.
//
//	200                           handed to Apple
//	400 with device token or key  the server does not know the key
//	400                           it does not like the message
//	500 with a reason that the    the app is gone from the phone, or was put on anew
//	  phone is gone
//	500 with a reason about the   too long: once more, shorter
//	  payload
//	500 with TooManyRequests      too many to this phone: wait a minute
//	500                           the server or Apple is in trouble
//	others                        not known: never success, tried again a few times
//	no code                       a gateway, a captive portal; 418 a server that wants
//	                              a password
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.Code == nil {
		switch {
		case a.Status == http.StatusTeapot:
			return notify.Verdict{Kind: notify.VerdictPermanent, Code: status, Detail: "the server wants a user and a password, which curfew does not give"}
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: a.RetryAfter(time.Minute), Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and the server?"}
	}
	v := notify.Verdict{Code: strconv.Itoa(*said.Code), Detail: said.Message}
	says := func(known ...string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return strings.Contains(said.Message, k) })
	}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch code := *said.Code; {
	case code == http.StatusOK && a.Status == http.StatusOK:
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case code == http.StatusOK:
		v.Code = status // a success that is none
	case code == http.StatusBadRequest && says("device token", "device key"):
		return permanent("the server does not know the key; is it the one the app shows for this server?")
	case code == http.StatusBadRequest:
		v.Kind = notify.VerdictBadMessage
	case says("BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken"):
		return permanent("the phone takes no more; open Bark on it once, and compare the key:")
	case says("PayloadTooLarge", "PayloadEmpty", "BadCollapseId"):
		v.Kind = notify.VerdictBadMessage
	case code == http.StatusTooManyRequests, says("TooManyRequests"):
		v.Kind, v.After = notify.VerdictRetry, a.RetryAfter(time.Minute)
	case code >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}
