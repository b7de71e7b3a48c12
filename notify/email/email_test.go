package email_test

import (
	"context"
	"encoding/base64"
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/email"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func fixed() time.Time {
	return time.Date(2026, 11, 30, 2, 0, 0, 0, time.FixedZone("CST", 8*60*60))
}

func secrets() []string {
	encode := base64.StdEncoding.EncodeToString
	return []string{password, encode([]byte(password)), encode([]byte("\x00" + user + "\x00" + password))}
}

func options(port int, how string) notify.Options {
	return notify.Options{
		Name: "mail", Now: fixed, Credential: map[string]string{"password": password},
		Settings: map[string]string{
			"host": "127.0.0.1", "port": strconv.Itoa(port), "tls": how, "user": user, "to": "wang@example.org, 李 <li@example.org>",
		},
	}
}

func open(t testing.TB, d *double, o notify.Options) notify.Channel {
	t.Helper()
	c, err := email.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return email.Trust(c, d.roots)
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning,
		Markdown: "**exp-7** (pro-0a1b) · <RTX>\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n.\n[docs](https://x.example/a?b=1&c=2)",
		Plain:    "exp-7 (pro-0a1b) · <RTX>\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n.\n",
	}
}

var authed = doubleOptions{implicit: true, auth: "PLAIN LOGIN"}

func TestMessages(t *testing.T) {
	told := notifytest.Told(t)
	for name, m := range told {
		t.Run(name, func(t *testing.T) {
			if m.ReplyTo != "" {
				m.ReplyTo = "<curfew-00112233445566778899aabb@example.com>"
			}
			d := startDouble(t, authed, nil)
			if v := open(t, d, options(d.port, "implicit")).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Fatalf("verdict %+v", v)
			}
			got := d.messages()[0]
			var b strings.Builder
			for _, h := range []string{"From", "To", "Cc", "Date", "Message-Id", "In-Reply-To", "References", "Importance", "Content-Type"} {
				if v := got.header.Get(h); v != "" {
					kind, _, _ := strings.Cut(v, ";") // a boundary is drawn
					b.WriteString(h + ": " + kind + "\n")
				}
			}
			notifytest.Golden(t, *update, name+".txt", b.String()+"Subject: "+got.subject+"\n\n"+got.plain+"---\n"+got.html)
		})
	}
}

// Every attempt has the same id, and what answers a message names it.
func TestIDsAndConversations(t *testing.T) {
	d := startDouble(t, authed, map[string][]string{"end": {"451 4.7.1 greylisted, come back later"}})
	c, m := open(t, d, options(d.port, "implicit")), message()
	if v := c.Send(t.Context(), m); v.Kind != notify.VerdictRetry || v.Ref != "" {
		t.Errorf("verdict %+v", v)
	}
	first := c.Send(t.Context(), m)
	m.DeliveryID, m.ReplyTo = "8", first.Ref
	second := c.Send(t.Context(), m)
	m.DeliveryID, m.ReplyTo = "9", "<forged>\r\nBcc: x@example.org"
	c.Send(t.Context(), m)
	got := d.messages()
	if len(got) != 3 || first.Ref != got[0].header.Get("Message-Id") || second.Ref == first.Ref {
		t.Fatalf("%d messages, refs %q and %q", len(got), first.Ref, second.Ref)
	}
	if h := got[1].header; h.Get("In-Reply-To") != first.Ref || h.Get("References") != first.Ref {
		t.Errorf("header %v", h)
	}
	if h := got[2].header; h.Get("In-Reply-To") != "" || h.Get("References") != "" {
		t.Errorf("header %v", h)
	}
}

func TestWithoutMarkdownThereIsOnePart(t *testing.T) {
	d := startDouble(t, authed, nil)
	m := message()
	m.Markdown = ""
	m.Actions = []notify.Action{{Label: "暂缓", URL: "https://curfew.example/a/1"}, {Label: "nowhere", Value: "v"}}
	open(t, d, options(d.port, "implicit")).Send(t.Context(), m)
	if got := d.messages()[0]; got.html != "" || !strings.HasSuffix(got.plain, "\n\n暂缓: https://curfew.example/a/1\n") || strings.Contains(got.plain, "nowhere") {
		t.Errorf("plain %q, html %q", got.plain, got.html)
	}
}

func TestALongTitleIsToldWhole(t *testing.T) {
	d := startDouble(t, authed, nil)
	m := message()
	m.Title = strings.Repeat("训<", 100) + "练"
	open(t, d, options(d.port, "implicit")).Send(t.Context(), m)
	got := d.messages()[0]
	if utf8.RuneCountInString(got.subject) != 150 || !strings.HasPrefix(got.plain, m.Title+"\n") || !strings.Contains(got.html, "&lt;</b>") && !strings.Contains(got.html, "练</b>") {
		t.Errorf("subject %q, plain %q, html %q", got.subject, got.plain, got.html)
	}
}

// Who is mentioned gets a copy; one whom the server does not know costs nobody the
// message.
func TestMentions(t *testing.T) {
	d := startDouble(t, authed, map[string][]string{"rcpt gone@example.org": {"550 5.1.1 no such user"}})
	c, m := open(t, d, options(d.port, "implicit")), message()
	m.Mentions = []string{"zhao@example.org", "not an address", "x@example.org\r\nBcc: y@example.org"}
	c.Send(t.Context(), m)
	m.Mentions = []string{"gone@example.org"}
	if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	got := d.messages()
	if diff := cmp.Diff([]string{"wang@example.org", "li@example.org", "zhao@example.org"}, got[0].to); diff != "" {
		t.Error(diff)
	}
	if got[0].header.Get("Cc") != "<zhao@example.org>" || len(got[1].to) != 2 || got[1].header.Get("Cc") != "" {
		t.Errorf("copies %q and %q", got[0].header.Get("Cc"), got[1].header.Get("Cc"))
	}
}

func TestImportance(t *testing.T) {
	d := startDouble(t, authed, nil)
	c := open(t, d, options(d.port, "implicit"))
	for want, change := range map[string]func(*notify.Message){
		"":     func(*notify.Message) {},
		"high": func(m *notify.Message) { m.Severity = fleet.Critical },
		"low":  func(m *notify.Message) { m.Severity, m.Silent = fleet.Critical, true },
	} {
		m := message()
		change(&m)
		c.Send(t.Context(), m)
		all := d.messages()
		if got := all[len(all)-1].header.Get("Importance"); got != want {
			t.Errorf("importance %q, want %q", got, want)
		}
	}
}

func TestNothingBreaksAMail(t *testing.T) {
	d := startDouble(t, doubleOptions{noTLS: true, auth: "PLAIN"}, nil)
	c := open(t, d, options(d.port, "none"))
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>&\n\r\x00.`*[]() \u2028")), 0, 60, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 300).Draw(t, name+" times")) + rapid.SampledFrom([]string{"", "\xff\xe8"}).Draw(t, name+" end")
		}
		m := notify.Message{
			DeliveryID: "7", Title: long("title"), Markdown: long("markdown"), Plain: long("plain"), ReplyTo: long("reply"),
			Actions: []notify.Action{{Label: long("label"), URL: "https://x.example"}}, Mentions: []string{long("who")},
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		all := d.messages()
		got := all[len(all)-1]
		if n := utf8.RuneCountInString(got.subject); n < 1 || n > 150 || strings.ContainsAny(got.subject, "\r\n") || !utf8.ValidString(got.plain+got.html+got.subject) {
			t.Fatalf("subject %q", got.subject)
		}
		if len(got.plain) > 66<<10 || len(got.raw) > 2<<20 {
			t.Fatalf("%d bytes of text, %d in all", len(got.plain), len(got.raw))
		}
		if script := strings.ToLower(got.html); strings.Count(script, "<") != strings.Count(script, ">") {
			t.Fatalf("html %q", got.html)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	with := func(key, value string) func(*notify.Options) {
		return func(o *notify.Options) { o.Settings[key] = value }
	}
	notifytest.Refuses(t, email.Kind(), func() notify.Options { return options(465, "") }, secrets(), map[string]notifytest.Refusal{
		"no host":                 {with("host", ""), "no host; give host:"},
		"an address as host":      {with("host", "smtps://smtp.qq.com"), "give it alone"},
		"a host with a port":      {with("host", "smtp.qq.com:465"), "give it alone"},
		"a port that is none":     {with("port", "smtp"), `port "smtp" is no port`},
		"a port beyond all":       {with("port", "70000"), "is no port"},
		"an unknown tls":          {with("tls", "ssl"), "write implicit, starttls or none"},
		"the clear to elsewhere":  {func(o *notify.Options) { o.Settings["tls"], o.Settings["host"] = "none", "smtp.qq.com" }, "for a server on this machine only"},
		"a password without user": {with("user", ""), "a password without a user"},
		"a user without password": {func(o *notify.Options) { o.Credential = nil }, "a user without a password"},
		"a user who is no sender": {with("user", "curfew"), "no from; give from:"},
		"a from that is none":     {with("from", "curfew at home"), "is no address"},
		"no to":                   {with("to", ""), "no to; give to:"},
		"a to that is none":       {with("to", "wang"), "is not a list of addresses"},
		"a crowd":                 {with("to", strings.TrimSuffix(strings.Repeat("a@example.org,", 51), ",")), "50 is the most"},
		"a base_url":              {func(o *notify.Options) { o.BaseURL = "https://x.example" }, "give host: and port:"},
		"no clock":                {func(o *notify.Options) { o.Now = nil }, "no clock"},
	})
	for name, change := range map[string]func(*notify.Options){
		"without a port":        with("port", ""),
		"587":                   with("port", "587"),
		"another implicit port": func(o *notify.Options) { o.Settings["port"], o.Settings["tls"] = "2465", "implicit" },
		"a name before from":    with("from", "Lab <lab@example.com>"),
	} {
		o := options(465, "")
		change(&o)
		if _, err := email.Kind().Open(o); err != nil {
			t.Errorf("refuses what is right, %s: %v", name, err)
		}
	}
}
