package feishu

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"curfew/notify"
)

// judge reads the bot's answer.
//
//	code 0                   taken; StatusCode and StatusMessage beside it are of old
//	11232                    too many for the bot, or for the platform at a full or half hour
//	9499 too many request    the same, with HTTP 400
//	9499 otherwise           malformed, or longer than 20 KB
//	19001                    no such token
//	19002, 200621, 200861    it does not like the message or its card (the latter two seen elsewhere only)
//	19007                    the bot is switched off (seen elsewhere only)
//	19021, 19022, 19024      refused by the bot's security settings: signature or time, address, keyword
//	others                   not known: never success, tried again a few times
//	no code                  a gateway, a captive portal, a platform in trouble
func judge(a notify.Answer) notify.Verdict {
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
		return notify.Verdict{Code: status, Detail: "the answer holds no code; is something between here and Feishu?"}
	}
	v := verdict(*said.Code, said.Msg)
	switch {
	case v.Kind == notify.VerdictOK && a.Status != http.StatusOK:
		return notify.Verdict{Code: status, Detail: said.Msg} // a success that is none
	case v.Kind == notify.VerdictUnknown && a.Status == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, time.Minute
	case v.Kind == notify.VerdictUnknown && a.Status >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}

func verdict(code int, msg string) notify.Verdict {
	v := notify.Verdict{Code: strconv.Itoa(code), Detail: msg}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch code {
	case 0:
		return notify.Verdict{Kind: notify.VerdictOK, Code: v.Code}
	case 11232:
		v.Kind, v.After = notify.VerdictRetry, 5*time.Second
	case 9499:
		v.Kind = notify.VerdictBadMessage
		if strings.Contains(strings.ToLower(msg), "too many request") {
			v.Kind, v.After = notify.VerdictRetry, 10*time.Second
		}
	case 19002, 200621, 200861:
		v.Kind = notify.VerdictBadMessage
	case 19001:
		return permanent("no such bot; was it removed from the group, is the token right, is it one of Lark (base_url: " + larkURL + ")?")
	case 19007:
		return permanent("the bot is switched off; switch it on in the group's settings.")
	case 19021:
		return permanent("the signature is refused; is the secret that of this bot, and this machine's clock right?")
	case 19022:
		return permanent("the bot does not know this machine's address; add it to the bot's list, or set the bot to signature verification (签名校验).")
	case 19024:
		return permanent("the bot wants a keyword in every message; set it to signature verification (签名校验) instead, and give its secret.")
	}
	return v
}
