package bark_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/bark"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	key   = "aKeyThatIsNoneAtAll"
	taken = `{"code":200,"message":"success","timestamp":1790000000}`
)

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := bark.Kind().Open(notify.Options{
		Name: "phone", BaseURL: baseURL, Credential: map[string]string{"key": key}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Thread: "autodl:42/pro-0a1b", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n#12",
	}
}

type payload struct {
	Key   string `json:"device_key"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Level string `json:"level"`
	Group string `json:"group"`
	ID    string `json:"id"`
	URL   string `json:"url"`
}

// check keeps Apple's limits on what the server makes of a message.
func (p payload) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	type object map[string]any
	push, err := json.Marshal(object{
		"aps": object{
			"alert":           object{"title": p.Title, "body": p.Body},
			"mutable-content": 1, "sound": "1107", "category": "myNotificationCategory", "thread-id": p.Group,
		},
		"id": p.ID, "level": p.Level, "group": p.Group, "url": p.URL,
	})
	if err != nil || len(push) > 4096 {
		bad("%v: a push of %d bytes, want at most 4096", err, len(push))
	}
	if p.Key != key || p.Title == "" || !utf8.ValidString(p.Title+p.Body) || len(p.ID) > 64 {
		bad("title, key or id are wrong: %+v", p)
	}
	if !slices.Contains([]string{"critical", "active", "timeSensitive", "passive"}, p.Level) {
		bad("level is %q", p.Level)
	}
	return errors.Join(errs...)
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/push", ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

// sent gives what one message is sent as.
func sent(t *testing.T, m notify.Message) (payload, string) {
	t.Helper()
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: taken})
	v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m)
	var p payload
	if err := notifytest.Strict(server.Bodies()[0], &p); err != nil {
		t.Fatal(err)
	}
	if v.Kind != notify.VerdictOK || v.Ref != p.ID {
		t.Errorf("verdict %+v of id %q", v, p.ID)
	}
	return p, string(server.Bodies()[0])
}

func TestPayloads(t *testing.T) {
	messages := notifytest.Told(t)
	refused, long := messages["pending.zh"], message()
	refused.Markdown = ""
	long.Title, long.Plain = strings.Repeat("很长的标题", 40), strings.Repeat("训练 <一直> 没有结束\n", 400)
	longRefused := long
	longRefused.Markdown = ""
	maps.Copy(messages, map[string]notify.Message{"refused": refused, "long": long, "long-refused": longRefused})
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			_, body := sent(t, m)
			notifytest.Golden(t, *update, name+".json", body)
		})
	}
}

func TestLevel(t *testing.T) {
	for severity, want := range map[fleet.Severity]string{fleet.Info: "active", fleet.Warning: "timeSensitive", fleet.Critical: "critical"} {
		m := message()
		m.Severity = severity
		if p, _ := sent(t, m); p.Level != want {
			t.Errorf("%s has level %s, want %s", severity, p.Level, want)
		}
		m.Silent = true
		if p, _ := sent(t, m); p.Level != "passive" {
			t.Errorf("%s in silence has level %s, want passive", severity, p.Level)
		}
	}
}

// What is sent twice replaces itself, and an answer what it answers; nothing else is
// replaced.
func TestTheIDIsTheDeliverys(t *testing.T) {
	id := func(change func(*notify.Message)) string {
		m := message()
		change(&m)
		p, _ := sent(t, m)
		return p.ID
	}
	first := id(func(*notify.Message) {})
	if again := id(func(m *notify.Message) { m.Title, m.Markdown = "02:09 将关机", "" }); first == "" || again != first {
		t.Errorf("sent again as %q, first as %q", again, first)
	}
	if answer := id(func(m *notify.Message) { m.DeliveryID, m.ReplyTo = "9", first }); answer != first {
		t.Errorf("the answer is %q, want %q", answer, first)
	}
	for name, other := range map[string]string{
		"another delivery": id(func(m *notify.Message) { m.DeliveryID = "8" }),
		"another thing":    id(func(m *notify.Message) { m.Thread = "autodl:42/pro-9" }),
		"a foreign answer": id(func(m *notify.Message) { m.DeliveryID, m.ReplyTo = "8", strings.Repeat("x", 65) }),
	} {
		if other == first || other == "" {
			t.Errorf("%s has id %q, as the first", name, other)
		}
	}
	if none := id(func(m *notify.Message) { m.DeliveryID = "" }); none != "" {
		t.Errorf("a message without an id has %q", none)
	}
}

func TestATapOpensTheFirstHarmlessPage(t *testing.T) {
	m := message()
	m.Actions = []notify.Action{
		{Label: "Stop now", URL: "https://h/stop", Risky: true}, {Label: "No page", Value: "v"},
		{Label: "Long", URL: "https://h/" + strings.Repeat("x", 1000)}, {Label: "Wait", URL: "https://h/wait?a=1&b=2"}, {Label: "More", URL: "https://h/more"},
	}
	if p, _ := sent(t, m); p.URL != "https://h/wait?a=1&b=2" {
		t.Errorf("a tap opens %q", p.URL)
	}
	m.Actions = m.Actions[:1]
	if p, _ := sent(t, m); p.URL != "" {
		t.Errorf("a tap opens %q", p.URL)
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	no := func(code, words string) string {
		return `{"code":` + code + `,"message":"` + words + `","timestamp":1}`
	}
	permanent := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	bad := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code} }
	retry := func(code string, after time.Duration) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: code, After: after}
	}
	ref := func() string { p, _ := sent(t, message()); return p.ID }()
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), []string{key}, []notifytest.Case{
		{Name: "200 is success and has an id", Reply: reply(200, taken), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "200", Ref: ref}},
		{Name: "a key it does not know is permanent", Reply: reply(400, no("400", "failed to get device token: failed to get ["+key+"] device token from database")), Want: permanent("400")},
		{Name: "a key of a phone that is gone is permanent", Reply: reply(400, no("400", "failed to get device token: device token invalid")), Want: permanent("400")},
		{Name: "no key is permanent", Reply: reply(400, no("400", "device key is empty")), Want: permanent("400")},
		{Name: "a request it cannot read is a bad message", Reply: reply(400, no("400", "request bind failed: unexpected EOF")), Want: bad("400")},
		{Name: "a phone Apple does not know is permanent", Reply: reply(500, no("500", "push failed: BadDeviceToken")), Want: permanent("500")},
		{Name: "a phone without the app is permanent", Reply: reply(500, no("500", "push failed: Unregistered")), Want: permanent("500")},
		{Name: "too long for Apple is a bad message", Reply: reply(500, no("500", "push failed: PayloadTooLarge")), Want: bad("500")},
		{Name: "too many for Apple waits a minute", Reply: reply(500, no("500", "push failed: TooManyRequests")), Want: retry("500", time.Minute)},
		{Name: "429 with a code waits a minute", Reply: reply(429, no("429", "slow down")), Want: retry("429", time.Minute)},
		{Name: "trouble at Apple is tried again", Reply: reply(500, no("500", "push failed: InternalServerError")), Want: retry("500", 0)},
		{Name: "a code nobody knows is unknown", Reply: reply(404, no("404", "Cannot POST /push")), Want: notify.Verdict{Code: "404"}},
		{Name: "a server with a password is permanent", Reply: reply(418, "I'm a teapot"), Want: permanent("http 418")},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, taken), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"message":"success"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a proxy's 429 waits a minute", Reply: reply(429, ""), Want: retry("http 429", time.Minute)},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry("http 502", 0)},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry("network", 0)},
	})
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, bark.Kind().DefaultURL, message(), key)
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(), notifytest.Reply{Body: taken})
		c, err := bark.Kind().Open(notify.Options{BaseURL: bark.Kind().DefaultURL, Credential: map[string]string{"key": key}, HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		words := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<\n\"\x01\u2028")), 0, 60, -1)
		long := func(name string) string {
			return strings.Repeat(words.Draw(t, name), rapid.IntRange(1, 300).Draw(t, name+" times"))
		}
		m := notify.Message{DeliveryID: "7", Title: "t" + long("title"), Markdown: "m", Plain: long("plain"), ReplyTo: long("answers")}
		m.Actions = []notify.Action{{Label: "l", URL: "https://h" + strings.Repeat("/&a", rapid.IntRange(0, 400).Draw(t, "address"))}}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}
