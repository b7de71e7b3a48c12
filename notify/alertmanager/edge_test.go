package alertmanager_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/alertmanager"
	"curfew/notify/notifytest"
)

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	both := []notifytest.Case{
		{Name: "200 and nothing is success", Reply: reply(200, ""), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "http 200"}},
		{Name: "a page is unknown", Reply: reply(200, "<!DOCTYPE html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a page behind a mark of its encoding is unknown", Reply: reply(200, "\ufeff\n<HTML>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "400 is a bad message", Reply: reply(400, `"start time must be before end time"`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 400"}},
		{Name: "413 is a bad message", Reply: reply(413, ""), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 413"}},
		{Name: "422 is a bad message", Reply: reply(422, `{"code":602,"message":"labels in body is required"}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 422"}},
		{Name: "401 is permanent", Reply: reply(401, "Unauthorized"), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "http 401"}},
		{Name: "404 is unknown", Reply: reply(404, "404 page not found"), Want: notify.Verdict{Code: "http 404"}},
		{Name: "405 is unknown", Reply: reply(405, ""), Want: notify.Verdict{Code: "http 405"}},
		{Name: "403 is unknown", Reply: reply(403, ""), Want: notify.Verdict{Code: "http 403"}},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "429 waits as long as it says", Reply: notifytest.Reply{Status: 429, Header: http.Header{"Retry-After": {"9"}}}, Want: notify.Verdict{Kind: notify.VerdictRetry, After: 9 * time.Second, Code: "http 429"}},
		{Name: "503 is tried again", Reply: reply(503, "Service Unavailable"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 503"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/login"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the password in an answer is not passed on", Reply: reply(400, "no "+password+" and no "+pair), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 400"}},
	}
	words := map[string]notifytest.Case{
		"alerts":  {Name: "words are not an Alertmanager's", Reply: reply(200, `{"status":"ok"}`), Want: notify.Verdict{Code: "http 200"}},
		"webhook": {Name: "a receiver may say something", Reply: reply(202, `{"status":"ok"}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "http 200"}},
	}
	for mode, one := range words {
		t.Run(mode, func(t *testing.T) {
			notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
				return open(t, options(mode, address(mode, baseURL)))
			}, expect(mode), told(t, text.English, act(notify.EventPending, fleet.Warning, 0)), []string{password, pair}, append(both, one))
		})
	}
}

func TestUnreachable(t *testing.T) {
	m := told(t, text.English, act(notify.EventPending, fleet.Warning, 0))
	for mode, address := range map[string]string{"alerts": "http://am.example", "webhook": "https://dt.example/hook/aSecretThatIsNone?t=anotherSecretThatIsNone"} {
		t.Run(mode, func(t *testing.T) {
			notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel {
				o := options(mode, base)
				o.HTTP = c
				return open(t, o)
			}, address, m, password, pair, "anotherSecretThatIsNone")
		})
	}
}

func TestNothingIsTooLongOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"alerts", "webhook"}).Draw(t, "mode")
		o := options(mode, map[string]string{"alerts": "http://am.example", "webhook": "http://am.example/hook"}[mode])
		o.HTTP = notifytest.Takes(t, expect(mode), notifytest.Reply{})
		c, err := alertmanager.Kind().Open(o)
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>&\n\x00\"")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times")) + rapid.SampledFrom([]string{"", "\xff\xe8"}).Draw(t, name+" end")
		}
		n := act(rapid.SampledFrom([]notify.Event{notify.EventPending, notify.EventDone, notify.EventAlarm, notify.EventFinding, notify.EventResolved, notify.EventWould, "new"}).Draw(t, "event"), fleet.Warning, 0)
		n.Key, n.Intent.Subject.Name = long("key"), long("name")
		m := notify.Message{
			DeliveryID: "7", Title: "t" + long("title"), Plain: long("plain"), Notices: []notify.Notice{n, finding(notify.EventFinding, fleet.Critical)},
			Actions: []notify.Action{{Label: long("label"), URL: "https://x"}},
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	with := func(key, value string) func(*notify.Options) {
		return func(o *notify.Options) { o.Settings[key] = value }
	}
	notifytest.Refuses(t, alertmanager.Kind(), func() notify.Options { return options("", "http://am.example/prefix/") }, []string{password, pair}, map[string]notifytest.Refusal{
		"an unknown mode":          {with("mode", "push"), "write alerts or webhook"},
		"no url":                   {with("url", ""), "no url; give url:"},
		"a host alone":             {with("url", "127.0.0.1:9093"), "not a web address"},
		"a user in the url":        {with("url", "http://ops:aSecretThatIsNone@am.example"), "give user: and password:"},
		"a query":                  {with("url", "http://am.example?x=aSecretThatIsNone"), "has a ? or #"},
		"a part of the API":        {with("url", "http://am.example/api/v2/alerts"), "the address of the Alertmanager alone"},
		"a password without user":  {with("user", ""), "a password without a user"},
		"a user without password":  {func(o *notify.Options) { o.Credential = nil }, "a user without a password"},
		"a base_url":               {func(o *notify.Options) { o.BaseURL = "https://x.example" }, "base_url does nothing here"},
		"no client":                {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
		"no clock":                 {func(o *notify.Options) { o.Now = nil }, "no clock"},
		"a fragment of a receiver": {func(o *notify.Options) { o.Settings["mode"], o.Settings["url"] = "webhook", "http://x.example/#a" }, "has a ? or #"},
	})
	anonymous := notify.Options{Name: "am", HTTP: notifytest.Client(), Now: fixed, Settings: map[string]string{"url": "http://127.0.0.1:9093"}}
	notifytest.Opens(t, alertmanager.Kind(), options("alerts", "http://am.example"), anonymous, options("webhook", "https://dt.example/api/send?x=y"))
}
