package slackform_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"curfew/notify"
	"curfew/notify/notifytest"
)

func reply(status int, body string) notifytest.Reply {
	return notifytest.Reply{Status: status, Body: body}
}

func late(header, body string) notifytest.Reply {
	return notifytest.Reply{Status: 429, Header: http.Header{"Retry-After": {header}}, Body: body}
}

func verdict(kind notify.VerdictKind, after time.Duration, code string) notify.Verdict {
	return notify.Verdict{Kind: kind, After: after, Code: code}
}

// common are answers that mean the same on both platforms.
func common() []notifytest.Case {
	unknown := notify.VerdictUnknown
	return []notifytest.Case{
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: verdict(unknown, 0, "http 200")},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: verdict(unknown, 0, "http 200")},
		{Name: "another platform's success is unknown", Reply: reply(200, `{"errcode":0}`), Want: verdict(unknown, 0, "http 200")},
		{Name: "a proxy's 404 is unknown", Reply: reply(404, "404 page not found"), Want: verdict(unknown, 0, "http 404")},
		{Name: "a proxy's 403 is unknown", Reply: reply(403, "Forbidden"), Want: verdict(unknown, 0, "http 403")},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: verdict(unknown, 0, "http 302")},
		{Name: "429 waits as long as the header says", Reply: late("7", ""), Want: verdict(notify.VerdictRetry, 7*time.Second, "http 429")},
		{Name: "429 for days waits an hour", Reply: late("999999", ""), Want: verdict(notify.VerdictRetry, time.Hour, "http 429")},
		{Name: "429 that says nothing waits a minute", Reply: reply(429, "limit exceeded"), Want: verdict(notify.VerdictRetry, time.Minute, "http 429")},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: verdict(notify.VerdictRetry, 0, "http 502")},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: verdict(notify.VerdictRetry, 0, "network")},
	}
}

func judge(t *testing.T, s sample, cases []notifytest.Case) {
	t.Helper()
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return s.mustOpen(t, baseURL, notifytest.Client())
	}, s.expect(), message(), s.hidden(), append(cases, common()...))
}

func TestAnswersOfMattermost(t *testing.T) {
	named := func(status int, id string) notifytest.Reply {
		return reply(status, `{"id":"`+id+`","message":"words","detailed_error":"","request_id":"x","status_code":`+strconv.Itoa(status)+`}`)
	}
	hook := func(word string) string { return "web.incoming_webhook." + word + ".app_error" }
	gone := func(id string) notify.Verdict { return verdict(notify.VerdictPermanent, 0, id) }
	bad := func(id string) notify.Verdict { return verdict(notify.VerdictBadMessage, 0, id) }
	s := mattermost()
	judge(t, s, []notifytest.Case{
		{Name: "ok is success", Reply: reply(200, "ok"), Want: verdict(notify.VerdictOK, 0, "ok")},
		{Name: "ok with another status is unknown", Reply: reply(202, "ok"), Want: verdict(notify.VerdictUnknown, 0, "http 202")},
		{Name: "a removed webhook is permanent", Reply: named(400, hook("invalid")), Want: gone(hook("invalid"))},
		{Name: "webhooks switched off are permanent", Reply: named(501, hook("disabled")), Want: gone(hook("disabled"))},
		{Name: "a locked channel is permanent", Reply: named(403, hook("channel_locked")), Want: gone(hook("channel_locked"))},
		{Name: "a closed channel is permanent", Reply: named(403, hook("permissions")), Want: gone(hook("permissions"))},
		{Name: "a gone user is permanent", Reply: named(403, hook("user")), Want: gone(hook("user"))},
		{Name: "a missing channel is permanent", Reply: named(404, hook("channel")), Want: gone(hook("channel"))},
		{Name: "a removed channel is permanent", Reply: named(404, "app.channel.get.existing.app_error"), Want: gone("app.channel.get.existing.app_error")},
		{Name: "a channel that cannot be found just now is tried again", Reply: named(500, hook("channel")), Want: verdict(notify.VerdictRetry, 0, hook("channel"))},
		{Name: "a payload it cannot read is a bad message", Reply: named(400, hook("parse")), Want: bad(hook("parse"))},
		{Name: "no text is a bad message", Reply: named(400, hook("text")), Want: bad(hook("text"))},
		{Name: "too much is a bad message", Reply: named(413, "api.context.request_body_too_large.app_error"), Want: bad("api.context.request_body_too_large.app_error")},
		{Name: "a name with another status is unknown", Reply: named(404, "api.context.404.app_error"), Want: verdict(notify.VerdictUnknown, 0, "api.context.404.app_error")},
		{Name: "a success that is JSON is unknown", Reply: reply(200, `{"success":true}`), Want: verdict(notify.VerdictUnknown, 0, "http 200")},
		{Name: "the address in an answer is not passed on", Reply: reply(400, `{"id":"a.b","message":"no route `+s.path+`"}`), Want: bad("a.b")},
	})
}

func TestAnswersOfRocketChat(t *testing.T) {
	no := func(status int, words string) notifytest.Reply {
		return reply(status, `{"success":false,"error":"`+words+`"}`)
	}
	s := rocketchat()
	wrong := "Invalid integration id or token provided."
	judge(t, s, []notifytest.Case{
		{Name: "success is success", Reply: reply(200, `{"success":true}`), Want: verdict(notify.VerdictOK, 0, "success")},
		{Name: "success with another status is unknown", Reply: reply(201, `{"success":true}`), Want: verdict(notify.VerdictUnknown, 0, "http 201")},
		{Name: "no success is none, whatever the status", Reply: no(200, "unknown-error"), Want: verdict(notify.VerdictUnknown, 0, "http 200")},
		{Name: "a wrong webhook is permanent in old servers", Reply: no(404, wrong), Want: verdict(notify.VerdictPermanent, 0, "invalid-integration")},
		{Name: "a wrong webhook is permanent in new servers", Reply: no(400, wrong), Want: verdict(notify.VerdictPermanent, 0, "invalid-integration")},
		{Name: "a webhook that is switched off is permanent", Reply: no(503, "Service Unavailable"), Want: verdict(notify.VerdictPermanent, 0, "http 503")},
		{Name: "a gateway's 503 is tried again", Reply: reply(503, "Service Unavailable"), Want: verdict(notify.VerdictRetry, 0, "http 503")},
		{Name: "a missing channel is permanent", Reply: no(400, "invalid-channel"), Want: verdict(notify.VerdictPermanent, 0, "http 400")},
		{Name: "a channel it may not write to is permanent", Reply: no(400, "error-not-allowed"), Want: verdict(notify.VerdictPermanent, 0, "http 400")},
		{Name: "a webhook that may not write is permanent", Reply: no(400, "Not enough permission"), Want: verdict(notify.VerdictPermanent, 0, "http 400")},
		{Name: "an archived channel is permanent", Reply: no(400, "room_is_archived"), Want: verdict(notify.VerdictPermanent, 0, "http 400")},
		{Name: "a field it does not like is a bad message", Reply: no(400, "Match error: Expected string, got number"), Want: verdict(notify.VerdictBadMessage, 0, "http 400")},
		{Name: "too much is a bad message", Reply: no(400, "error-message-size-exceeded"), Want: verdict(notify.VerdictBadMessage, 0, "http 400")},
		{Name: "a script that fails is unknown", Reply: no(400, "error-running-script"), Want: verdict(notify.VerdictUnknown, 0, "http 400")},
		{Name: "words that are none are unknown", Reply: reply(400, `{"success":false,"error":{"responses":[]}}`), Want: verdict(notify.VerdictUnknown, 0, "http 400")},
		{Name: "too many wait as long as it says", Reply: no(429, "Error, too many requests. Please slow down. You must wait 42 seconds before trying this endpoint again. [error-too-many-requests]"),
			Want: verdict(notify.VerdictRetry, 42*time.Second, "http 429")},
		{Name: "too many with another status wait too", Reply: no(400, "Error, too many requests. [error-too-many-requests]"), Want: verdict(notify.VerdictRetry, time.Minute, "http 400")},
		{Name: "a server in trouble is tried again", Reply: no(500, "Internal server error"), Want: verdict(notify.VerdictRetry, 0, "http 500")},
		{Name: "the address in an answer is not passed on", Reply: no(400, "no route "+s.path), Want: verdict(notify.VerdictUnknown, 0, "http 400")},
	})
}
