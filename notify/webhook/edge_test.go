package webhook_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/webhook"
)

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, base, secret, c, fixed) }, "https://hooks.example.com", message(), secrets()...)
}

func TestNoBodyIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := expect()
		to.Whole = func(r *http.Request, body []byte) error { return verify(r, body, secret, now) }
		client := notifytest.Takes(t, to, notifytest.Reply{Status: 204})
		c, err := webhook.Kind().Open(notify.Options{Name: "hook", Credential: map[string]string{"url": "https://h.example" + path, "secret": secret}, HTTP: client, Now: fixed})
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
	good := func() notify.Options {
		return notify.Options{Name: "hook", HTTP: notifytest.Client(), Now: fixed, Credential: map[string]string{"url": "https://h.example" + path, "secret": secret}}
	}
	with := func(u, s string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"url": u, "secret": s} }
	}
	notifytest.Refuses(t, webhook.Kind(), good, append(secrets(), "c2hvcnQ="), map[string]notifytest.Refusal{
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
	})
}
