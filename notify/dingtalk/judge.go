package dingtalk

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

const (
	throttled = 10 * time.Minute // what the platform says too many messages cost
	banned    = 5 * time.Minute  // what it says of an address that calls too often
)

// judge reads the robot's answer to a message sent at that moment.
//
//	errcode 0                 taken; the code is a number, in the platform's own example a string
//	-1                        the platform is busy
//	410100, 130101            more than 20 in a minute: nothing for ten (130101 is the older code)
//	90030                     the month's calls are spent: asked again tomorrow (seen elsewhere only)
//	310000                    refused by the robot's security settings; the message says by which
//	400101, 300001, 300005    no such token (the latter two seen elsewhere only)
//	400013, 400102, 400106    the group, or the robot in it, is gone or switched off
//	40035, 43004, 400105      it does not like the form
//	430101 … 430104           it does not like a link, the words, a picture, the content
//	460101, 101002            longer than 20,000 bytes (seen elsewhere only)
//	others                    not known: never success, tried again a few times
//	no errcode, status 1111   this address called too often: nothing for five minutes
//	no errcode, HTTP 302      what is said to follow on 130101; not followed (seen elsewhere only)
//	no errcode                a gateway, a captive portal, a platform in trouble
func judge(a notify.Answer, at time.Time) notify.Verdict {
	var said struct {
		Code   *json.Number    `json:"errcode"`
		Msg    string          `json:"errmsg"`
		Status json.RawMessage `json:"status"`
	}
	err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said)
	if err != nil || said.Code == nil {
		return noCode(a.Status, err == nil && string(said.Status) == "1111")
	}
	v := verdict(said.Code.String(), said.Msg, at)
	status := "http " + strconv.Itoa(a.Status)
	switch {
	case v.Kind == notify.VerdictOK && a.Status != http.StatusOK:
		return notify.Verdict{Code: status, Detail: said.Msg} // a success that is none
	case v.Kind == notify.VerdictUnknown && a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, throttled
	case v.Kind == notify.VerdictUnknown && a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}

// noCode judges an answer that is not the robot's.
func noCode(status int, ban bool) notify.Verdict {
	v := notify.Verdict{Kind: notify.VerdictRetry, Code: "http " + strconv.Itoa(status)}
	switch {
	case ban:
		v.Code, v.After, v.Detail = "status 1111", banned, "this machine's address called DingTalk too often"
	case status == http.StatusFound:
		v.After, v.Detail = throttled, "led elsewhere instead of answered, as after too many messages; is something between here and DingTalk?"
	case status == http.StatusTooManyRequests:
		v.After = throttled
	case status < http.StatusInternalServerError:
		v.Kind, v.Detail = notify.VerdictUnknown, "the answer holds no errcode; is something between here and DingTalk?"
	}
	return v
}

func verdict(code, msg string, at time.Time) notify.Verdict {
	v := notify.Verdict{Code: code, Detail: withoutIP(msg)}
	retry := func(after time.Duration, why string) notify.Verdict {
		v.Kind, v.After, v.Detail = notify.VerdictRetry, after, why+v.Detail
		return v
	}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch code {
	case "0":
		return notify.Verdict{Kind: notify.VerdictOK, Code: code}
	case "-1":
		return retry(30*time.Second, "")
	case "410100", "130101":
		return retry(throttled, "too many in a minute, by all who send by this robot: ")
	case "90030":
		return retry(restOfDay(at), "the calls of the robot or its organisation are spent; nothing more is sent before tomorrow: ")
	case "310000":
		return permanent(secured(msg))
	case "400101", "300001", "300005":
		return permanent("no such robot; was it removed from the group, is the token right?")
	case "400013":
		return permanent("the group is gone; make a robot in another one.")
	case "400102":
		return permanent("the robot is switched off; ask the group's or the organisation's administrator.")
	case "400106":
		return permanent("the robot is not in the group any more; add one and give its token.")
	case "40035", "43004", "400105", "430101", "430102", "430103", "430104", "460101", "101002":
		v.Kind = notify.VerdictBadMessage
	}
	return v
}

// secured says which of the robot's security settings refused a message.
func secured(msg string) string {
	msg = strings.ToLower(msg)
	switch {
	case strings.Contains(msg, "keyword"):
		return "the robot wants a keyword in every message; set it to a signature (加签) instead, and give its secret."
	case strings.Contains(msg, "timestamp"):
		return "the time of the signature is refused; is this machine's clock right?"
	case strings.Contains(msg, "sign"):
		return "the signature is refused; is the secret that of this robot?"
	case strings.Contains(msg, "whitelist"):
		return "the robot does not know this machine's address; add it to the robot's list, or set the robot to a signature (加签)."
	}
	return "refused by the robot's security settings."
}

// withoutIP takes the address that the platform saw us come from out of its words.
func withoutIP(s string) string {
	return regexp.MustCompile(`[0-9A-Fa-f:.]+`).ReplaceAllStringFunc(s, func(word string) string {
		core := strings.TrimRight(word, ":.")
		if _, err := netip.ParseAddr(core); err != nil {
			return word
		}
		return "<ip>" + word[len(core):]
	})
}

// restOfDay is how long it is to five past midnight in Beijing.
func restOfDay(at time.Time) time.Duration {
	beijing := time.FixedZone("Beijing", 8*60*60)
	y, m, d := at.In(beijing).Date()
	return time.Date(y, m, d+1, 0, 5, 0, 0, beijing).Sub(at)
}
