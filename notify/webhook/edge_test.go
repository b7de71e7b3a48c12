package webhook_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/webhook"
)

func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	refuses := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, errors.Join(errors.New("proxy said no to "+r.URL.Path), &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF})
	})}
	for name, c := range map[string]notify.Channel{
		"nobody listens":       open(t, gone.URL, secret, notifytest.Client(), fixed),
		"a proxy that gossips": open(t, "https://hooks.example.com", secret, refuses, fixed),
	} {
		t.Run(name, func(t *testing.T) {
			v := c.Send(t.Context(), message())
			if v.Kind != notify.VerdictRetry || v.Detail == "" {
				t.Errorf("verdict %+v", v)
			}
			notifytest.NoSecret(t, v, secrets()...)
		})
	}
}

func TestNoBodyIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			var p payload
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = errors.Join(notifytest.Strict(body, &p), p.check(), verify(r, body, secret, now))
			}
			if err != nil || !utf8.Valid(body) {
				t.Errorf("%v, valid %v", err, utf8.Valid(body))
			}
			return &http.Response{StatusCode: 204, Body: http.NoBody, Request: r}, nil
		})}
		c, err := webhook.Kind().Open(notify.Options{Name: "hook", Credential: map[string]string{"url": "https://h.example/x", "secret": secret}, HTTP: client, Now: fixed})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>&\n\x00\"")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times")) + rapid.SampledFrom([]string{"", "\xff\xe8"}).Draw(t, name+" end")
		}
		m := message()
		m.Title, m.Markdown, m.Plain = long("title"), long("markdown"), long("plain")
		m.Actions = append(m.Actions, notify.Action{Label: long("label"), URL: "https://x"})
		m.Notices = []notify.Notice{{Key: long("key"), At: now, Subject: fleet.Instance{Ref: box().Ref, Name: long("name")}}}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := notify.Options{Name: "hook", HTTP: notifytest.Client(), Now: fixed, Credential: map[string]string{"url": "https://h.example" + path, "secret": secret}}
	with := func(u, s string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"url": u, "secret": s} }
	}
	for name, c := range map[string]struct {
		change func(*notify.Options)
		want   string
	}{
		"no url":                 {with("", secret), "no url; give url: {env: NAME}"},
		"a host alone":           {with("h.example/aSecretThatIsNone", secret), "not a web address"},
		"another scheme":         {with("ftp://h.example/aSecretThatIsNone", secret), "not a web address"},
		"a line end":             {with("https://h.example/aSecretThatIsNone\n", secret), "not a web address"},
		"a fragment":             {with("https://h.example/#aSecretThatIsNone", secret), "write it as %23"},
		"a secret that is words": {with("https://h.example", "aSecretThatIsNone!"), "not in base64"},
		"a secret with a line":   {with("https://h.example", secret+"\n"), "not in base64"},
		"a short secret":         {with("https://h.example", "c2hvcnQ="), "stands for 5 bytes"},
		"a long secret":          {with("https://h.example", base64.StdEncoding.EncodeToString(make([]byte, 65))), "stands for 65 bytes"},
		"a base_url":             {func(o *notify.Options) { o.BaseURL = "https://x.example" }, "base_url does nothing here"},
		"no client":              {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
		"no clock":               {func(o *notify.Options) { o.Now = nil }, "no clock"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := webhook.Kind().Open(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "channel hook") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, append(secrets(), "c2hvcnQ=")...)
		})
	}
	if _, err := webhook.Kind().Open(good); err != nil {
		t.Errorf("refuses what is right: %v", err)
	}
}
