package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/webhook"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	path   = "/hooks/aSecretThatIsNone"
	secret = "whsec_YVNlY3JldFRoYXRJc05vbmUwMTIzNDU2Nzg5"
)

var (
	shanghai = time.FixedZone("CST", 8*60*60)
	now      = time.Date(2026, 11, 30, 2, 0, 0, 0, shanghai)
)

func secrets() []string {
	return []string{path, "aSecretThatIsNone", secret, strings.TrimPrefix(secret, "whsec_")}
}

func open(t testing.TB, base, secret string, client *http.Client, clock func() time.Time) notify.Channel {
	t.Helper()
	c, err := webhook.Kind().Open(notify.Options{
		Name: "hook", Credential: map[string]string{"url": base + path, "secret": secret}, HTTP: client, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixed() time.Time { return now }

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 stop: exp-7 (in 10 min)", Severity: fleet.Warning, Event: notify.EventPending, At: now, Thread: "intent|12",
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n#12",
		Actions:  []notify.Action{{Label: "Wait 2h", URL: "https://curfew.example/a/1"}, {Label: "no page", Value: "v"}, {Label: "Stop now", URL: "https://curfew.example/a/2", Risky: true}},
		Mentions: []string{"wang"},
	}
}

func box() fleet.Instance {
	return fleet.Instance{
		Ref:         fleet.Ref{Account: "autodl:42", Kind: fleet.KindInstance, ID: "pro-0a1b2c"},
		AccountName: "autodl-lab", Provider: "autodl", Name: "exp-7", Owner: "wang", State: fleet.StateRunning, Region: "beijing-B",
		GPU:       fleet.GPU{Model: "RTX 4090", Count: 1},
		Price:     fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		OnStop:    fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
		StartedAt: now.Add(-6 * time.Hour),
	}
}

func notices() map[string]notify.Notice {
	i := &fleet.Intent{
		ID: 12, Ref: box().Ref, Action: fleet.Stop, Goal: fleet.Release, By: "policy", State: fleet.IntentPending,
		Subject: box(), CreatedAt: now, Warn: 10 * time.Minute, Deadline: now.Add(10 * time.Minute),
	}
	return map[string]notify.Notice{
		"pending": {
			Key: "act|12|announced|1", Event: notify.EventPending, Severity: fleet.Warning, Category: fleet.CategoryAct,
			At: now, Expires: now.Add(time.Hour), Intent: i, With: []notify.Other{{Intent: 13, Name: "exp-8"}},
		},
		"finding": {
			Key: "standing|money|autodl:42/account/autodl:42|low|", Event: notify.EventFinding, Severity: fleet.Critical, Category: fleet.CategoryMoney,
			At: now, Subject: fleet.Instance{Ref: fleet.Ref{Account: "autodl:42", Kind: fleet.KindAccount, ID: "autodl:42"}, Name: "autodl-lab"},
			Reason: fleet.Because("x.low", fleet.Values{"said": fleet.Text("<b>余额</b> & more")}),
		},
		"resolved": {
			Key: "over|1", Event: notify.EventResolved, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now, Subject: box(),
			Reason: fleet.Because("x.back", nil),
		},
		"digest": notify.Sample(string(notify.EventDigest), now)[0],
		"test":   {Event: notify.EventTest, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now},
	}
}

// verify checks a request as a receiver does: the signature, and that it is not older
// than five minutes. With no key there must be no signature.
func verify(r *http.Request, body []byte, secret string, at time.Time) error {
	id, stamp, given := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if age := at.Sub(time.Unix(seconds, 0)); err != nil || age.Abs() > 5*time.Minute {
		return fmt.Errorf("timestamp %q is not of now", stamp)
	}
	if id == "" || strings.Contains(id, ".") || !bytes.Contains(body, []byte(`"id":"`+id+`"`)) {
		return fmt.Errorf("id %q is not that of the body", id)
	}
	if secret == "" {
		if given != "" {
			return fmt.Errorf("signed by nothing: %q", given)
		}
		return nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); given != want {
		return fmt.Errorf("signature %q, want %q", given, want)
	}
	return nil
}

// verifying passes requests on that are signed right.
func verifying(t testing.TB, secret string, clock func() time.Time) *http.Client {
	c := notifytest.Client()
	c.Transport = notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verify(r, body, secret, clock())
		}
		if err != nil {
			t.Errorf("request: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return http.DefaultTransport.RoundTrip(r)
	})
	return c
}

func TestNotices(t *testing.T) {
	for name, n := range notices() {
		for _, lang := range []text.Language{text.English, text.Chinese} {
			t.Run(name+"."+string(lang), func(t *testing.T) {
				render, err := text.New(lang, shanghai)
				if err != nil {
					t.Fatal(err)
				}
				m := notify.Render(n, render, now)
				m.DeliveryID, m.Notices, m.Thread, m.Actions, m.Mentions = "7", []notify.Notice{n}, "thread-1", message().Actions, message().Mentions
				server := notifytest.NewServer(t, expect(), notifytest.Reply{Status: 204})
				if v := open(t, server.URL, secret, verifying(t, secret, fixed), fixed).Send(t.Context(), m); v.Kind != notify.VerdictOK {
					t.Errorf("verdict %+v", v)
				}
				notifytest.Golden(t, *update, name+"."+string(lang)+".json", string(server.Bodies()[0]))
			})
		}
	}
}

// A message that was refused goes out without Markdown; one that is not known to have
// been rendered from a notice says what it can.
func TestWithoutMarkdownAndNotice(t *testing.T) {
	m := message()
	m.Markdown = ""
	server := notifytest.NewServer(t, expect(), notifytest.Reply{})
	open(t, server.URL, secret, verifying(t, secret, fixed), fixed).Send(t.Context(), m)
	if got := string(server.Bodies()[0]); strings.Contains(got, "markdown") || strings.Contains(got, "subject") || !strings.Contains(got, `"at":"2026-11-29T18:00:00Z"`) {
		t.Errorf("body %s", got)
	}
}

// What is told in one message is listed whole, the most severe as the message's own news.
func TestNewsToldTogether(t *testing.T) {
	m := message()
	m.Notices = []notify.Notice{notices()["pending"], notices()["finding"]}
	server := notifytest.NewServer(t, expect(), notifytest.Reply{})
	open(t, server.URL, secret, verifying(t, secret, fixed), fixed).Send(t.Context(), m)
	var p payload
	if err := notifytest.Strict(server.Bodies()[0], &p); err != nil {
		t.Fatal(err)
	}
	if p.Event != "finding" || p.Severity != "critical" || *p.Category != "money" || len(p.Together) != 1 || p.Together[0].Intent.ID != 12 || p.Together[0].Also[0].Intent != 13 {
		t.Errorf("payload %+v", p)
	}
}

// The id is that of what is sent, so that two curfews, or one with a fresh state,
// never send two messages under one id.
func TestIDsAreOfTheMessageAlone(t *testing.T) {
	m := message()
	m.Notices = []notify.Notice{notices()["pending"]}
	same, other, later := m, m, m
	same.Title, same.At, same.Markdown = "other words", now.Add(time.Hour), ""
	other.DeliveryID = "8"
	later.Notices = []notify.Notice{notices()["pending"]}
	later.Notices[0].At = now.Add(time.Hour)
	id := m.UniqueID("hook")
	if same.UniqueID("hook") != id {
		t.Error("another attempt has another id")
	}
	for name, got := range map[string]string{"another delivery": other.UniqueID("hook"), "another state": later.UniqueID("hook"), "another channel": m.UniqueID("hook2")} {
		if got == id {
			t.Errorf("%s has the same id", name)
		}
	}
}

func TestATitleThatIsTooLongIsToldWhole(t *testing.T) {
	m := message()
	m.Title = strings.Repeat("训", 400)
	server := notifytest.NewServer(t, expect(), notifytest.Reply{})
	open(t, server.URL, secret, notifytest.Client(), fixed).Send(t.Context(), m)
	if got := string(server.Bodies()[0]); !strings.Contains(got, `"text":"`+m.Title+`\n`) {
		t.Errorf("body %s", got)
	}
}

// Attempts carry the same id and each its own time and signature.
func TestEachAttemptIsSignedAnew(t *testing.T) {
	clock := now
	tick := func() time.Time { return clock }
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Status: 503}, notifytest.Reply{Status: 200})
	c := open(t, server.URL, secret, verifying(t, secret, tick), tick)
	if v := c.Send(t.Context(), message()); v.Kind != notify.VerdictRetry {
		t.Errorf("verdict %+v", v)
	}
	clock = clock.Add(time.Hour)
	if v := c.Send(t.Context(), message()); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	if b := server.Bodies(); !bytes.Equal(b[0], b[1]) {
		t.Errorf("bodies differ:\n%s\n%s", b[0], b[1])
	}
}

func TestWithoutASecretNothingIsSigned(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{})
	if v := open(t, server.URL, "", verifying(t, "", fixed), fixed).Send(t.Context(), message()); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	wait := func(status int, after string) notifytest.Reply {
		return notifytest.Reply{Status: status, Header: http.Header{"Retry-After": {after}}}
	}
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, secret, verifying(t, secret, fixed), fixed)
	}, expect(), message(), secrets(), []notifytest.Case{
		{Name: "200 is success", Reply: reply(200, `{"message":"Workflow was started"}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "http 200"}},
		{Name: "202 is success", Reply: reply(202, ""), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "http 202"}},
		{Name: "204 is success", Reply: reply(204, ""), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "http 204"}},
		{Name: "a login page is unknown", Reply: reply(200, "\n<!DOCTYPE html><html>log in"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "another page is unknown", Reply: reply(200, "<HTML>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "400 is a bad message", Reply: reply(400, "no"), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 400"}},
		{Name: "413 is a bad message", Reply: reply(413, ""), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 413"}},
		{Name: "415 is a bad message", Reply: reply(415, ""), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 415"}},
		{Name: "422 is a bad message", Reply: reply(422, ""), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "http 422"}},
		{Name: "410 is permanent", Reply: reply(410, ""), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "http 410"}},
		{Name: "408 is tried again", Reply: reply(408, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 408"}},
		{Name: "425 is tried again", Reply: reply(425, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 425"}},
		{Name: "429 waits as long as it says", Reply: wait(429, "7"), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 7 * time.Second, Code: "http 429"}},
		{Name: "429 waits an hour at most", Reply: wait(429, "999999"), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "http 429"}},
		{Name: "429 without a time waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "429 with a date waits a minute", Reply: wait(429, "Fri, 04 Dec 2026 00:00:00 GMT"), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "503 waits as long as it says", Reply: wait(503, "30"), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 30 * time.Second, Code: "http 503"}},
		{Name: "500 is tried again", Reply: reply(500, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 500"}},
		{Name: "401 is unknown", Reply: reply(401, ""), Want: notify.Verdict{Code: "http 401"}},
		{Name: "403 is unknown", Reply: reply(403, ""), Want: notify.Verdict{Code: "http 403"}},
		{Name: "404 is unknown", Reply: reply(404, "404 page not found"), Want: notify.Verdict{Code: "http 404"}},
		{Name: "405 is unknown", Reply: reply(405, ""), Want: notify.Verdict{Code: "http 405"}},
		{Name: "418 is unknown", Reply: reply(418, "tea"), Want: notify.Verdict{Code: "http 418"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the address in an answer is not passed on", Reply: reply(418, "no route "+path+" for "+secret), Want: notify.Verdict{Code: "http 418"}},
	})
}
