package alertmanager_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	gossip := options("webhook", "https://dt.example/hook/aSecretThatIsNone?t=anotherSecretThatIsNone")
	gossip.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, errors.Join(errors.New("proxy said no to "+r.URL.RequestURI()), &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF})
	})}
	for name, o := range map[string]notify.Options{"nobody listens": options("", gone.URL), "a proxy that gossips": gossip} {
		t.Run(name, func(t *testing.T) {
			v := open(t, o).Send(t.Context(), told(t, text.English, act(notify.EventPending, fleet.Warning, 0)))
			if v.Kind != notify.VerdictRetry || v.Detail == "" {
				t.Errorf("verdict %+v", v)
			}
			notifytest.NoSecret(t, v, password, pair, "anotherSecretThatIsNone")
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingIsTooLongOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"alerts", "webhook"}).Draw(t, "mode")
		o := options(mode, "http://am.example")
		o.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			into := expect(mode).Body()
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = errors.Join(notifytest.Strict(body, into), expect(mode).Check(into))
			}
			if err != nil || !utf8.Valid(body) {
				t.Errorf("%v, valid %v", err, utf8.Valid(body))
			}
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
		})}
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
	for name, c := range map[string]struct {
		change func(*notify.Options)
		want   string
	}{
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
	} {
		t.Run(name, func(t *testing.T) {
			o := options("", "http://am.example/prefix/")
			c.change(&o)
			_, err := alertmanager.Kind().Open(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "channel am") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, password, pair)
		})
	}
	anonymous := notify.Options{Name: "am", HTTP: notifytest.Client(), Now: fixed, Settings: map[string]string{"url": "http://127.0.0.1:9093"}}
	for name, o := range map[string]notify.Options{
		"with a user": options("alerts", "http://am.example"), "with nobody": anonymous,
		"a receiver with a query": options("webhook", "https://dt.example/api/send?x=y"),
	} {
		if _, err := alertmanager.Kind().Open(o); err != nil {
			t.Errorf("refuses what is right, %s: %v", name, err)
		}
	}
}
