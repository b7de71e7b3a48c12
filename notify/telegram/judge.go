package telegram

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

// judge reads Telegram's answer. Its error codes are those of HTTP, and what a 400
// means is only in its words; these are as others report them.
//
//	ok and a message   taken; its number is what it can be answered by
//	429                too fast: wait as long as it says
//	400 with words of  the chat is not there, has another number by now, or does not
//	  the chat         let the bot write
//	400                it does not like the message: once more as plain words
//	401, 404           no such bot: the token is wrong or was revoked
//	403                blocked by the person, or removed from the group
//	5xx                Telegram is in trouble
//	others             not known: never success, tried again a few times
//	no ok              a gateway, a captive portal
func judge(a notify.Answer) notify.Verdict {
	var said struct {
		OK          *bool  `json:"ok"`
		Code        int    `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter int   `json:"retry_after"`
			MigrateTo  int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
		Result *struct {
			MessageID *int64 `json:"message_id"`
		} `json:"result"`
	}
	status := "http " + strconv.Itoa(a.Status)
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &said); err != nil || said.OK == nil || !*said.OK && said.Code == 0 {
		switch {
		case a.Status == http.StatusTooManyRequests:
			return notify.Verdict{Kind: notify.VerdictRetry, After: a.RetryAfter(time.Minute), Code: status}
		case a.Status >= http.StatusInternalServerError:
			return notify.Verdict{Kind: notify.VerdictRetry, Code: status}
		}
		return notify.Verdict{Code: status, Detail: "the answer is not Telegram's; is something between here and Telegram?"}
	}
	if *said.OK {
		if a.Status != http.StatusOK || said.Result == nil || said.Result.MessageID == nil {
			return notify.Verdict{Code: status, Detail: "the answer holds no message"} // a success that is none
		}
		v := notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}
		if id := *said.Result.MessageID; id > 0 {
			v.Ref = strconv.FormatInt(id, 10)
		}
		return v
	}
	v := notify.Verdict{Code: strconv.Itoa(said.Code), Detail: said.Description}
	permanent := func(why string) notify.Verdict {
		v.Kind, v.Detail = notify.VerdictPermanent, why+" "+v.Detail
		return v
	}
	switch {
	case said.Code == http.StatusTooManyRequests:
		v.Kind, v.After = notify.VerdictRetry, pause(said.Parameters.RetryAfter, a)
	case said.Code == http.StatusBadRequest && said.Parameters.MigrateTo != 0:
		return permanent("the group has another number by now; write chat: " + strconv.FormatInt(said.Parameters.MigrateTo, 10) + ":")
	case said.Code == http.StatusBadRequest && aboutTheChat(said.Description):
		return permanent("is chat right, did the person press Start, is the bot in the group and may it write there?")
	case said.Code == http.StatusBadRequest:
		v.Kind = notify.VerdictBadMessage
	case said.Code == http.StatusUnauthorized, said.Code == http.StatusNotFound:
		return permanent("no such bot; was its token revoked?")
	case said.Code == http.StatusForbidden:
		return permanent("was the bot blocked, or removed from the group?")
	case said.Code >= http.StatusInternalServerError:
		v.Kind = notify.VerdictRetry
	}
	return v
}

// aboutTheChat reports whether Telegram refuses the chat and not the message.
func aboutTheChat(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{
		"chat not found", "chat_id is empty", "peer_id_invalid", "user not found", "deactivated",
		"not enough rights", "have no rights", "need administrator rights",
		"chat_admin_required", "chat_write_forbidden", "chat_restricted", "topic_closed",
	}, func(known string) bool { return strings.Contains(words, known) })
}

// pause is how long Telegram wants to be left alone: as the body or the header says,
// else a minute, and never more than an hour.
func pause(seconds int, a notify.Answer) time.Duration {
	if seconds <= 0 {
		return a.RetryAfter(time.Minute)
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}
