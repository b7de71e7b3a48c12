package ntfy_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/ntfy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	topic = "curfew-aSecretThatIsNone"
	token = "tk_aTokenThatIsNone"
	taken = `{"id":"xE73Iyuabi","time":1790000000,"expires":1790043200,"event":"message","topic":"` + topic + `","message":"x"}`
)

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := ntfy.Kind().Open(notify.Options{
		Name: "phone", BaseURL: baseURL, Credential: map[string]string{"topic": topic, "token": token}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 stop: exp-7 (in 10 min)", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\nTo wait: `curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nTo wait: curfew hold exp-7 2h\n#12",
	}
}

type payload struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Tags     []string `json:"tags"`
	Actions  []struct {
		Action string `json:"action"`
		Label  string `json:"label"`
		URL    string `json:"url"`
	} `json:"actions"`
}

// check keeps ntfy's limits.
func (p payload) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`).MatchString(p.Topic) {
		bad("topic is %q", p.Topic)
	}
	if n := len(p.Message); n < 1 || n > 4096 || !utf8.ValidString(p.Message) {
		bad("message has %d bytes, want 1 to 4096 of UTF-8", n)
	}
	if len(p.Title) > 250 || strings.Contains(p.Title, "\n") {
		bad("title is %q", p.Title)
	}
	if p.Priority < 1 || p.Priority > 5 || len(p.Actions) > 3 {
		bad("priority %d, %d actions", p.Priority, len(p.Actions))
	}
	for _, a := range p.Actions {
		if a.Action != "view" || a.Label == "" || !strings.HasPrefix(a.URL, "http") {
			bad("action %+v", a)
		}
	}
	return errors.Join(errs...)
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/", ContentType: "application/json",
		Header: http.Header{"Authorization": {"Bearer " + token}},
		Body:   func() any { return new(payload) },
		Check:  func(body any) error { return body.(*payload).check() },
	}
}

// sent gives what one message is sent as.
func sent(t *testing.T, m notify.Message) (payload, string) {
	t.Helper()
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: taken})
	if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	var p payload
	if err := notifytest.Strict(server.Bodies()[0], &p); err != nil {
		t.Fatal(err)
	}
	return p, string(server.Bodies()[0])
}

func TestPayloads(t *testing.T) {
	messages := notifytest.Told(t)
	plain, long, alone := messages["pending.en"], message(), message()
	plain.Markdown = ""
	long.Title, long.Plain = strings.Repeat("很长的标题", 40), strings.Repeat("训练一直没有结束\n", 400)
	alone.Plain = ""
	maps.Copy(messages, map[string]notify.Message{"refused": plain, "long": long, "title-alone": alone})
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			_, body := sent(t, m)
			notifytest.Golden(t, *update, name+".json", body)
		})
	}
}

func TestPriority(t *testing.T) {
	for severity, want := range map[fleet.Severity]int{fleet.Info: 3, fleet.Warning: 4, fleet.Critical: 5, "": 3} {
		m := message()
		m.Severity = severity
		if p, _ := sent(t, m); p.Priority != want {
			t.Errorf("%s has priority %d, want %d", severity, p.Priority, want)
		}
		m.Silent = true
		if p, _ := sent(t, m); p.Priority != 2 {
			t.Errorf("%s in silence has priority %d, want 2", severity, p.Priority)
		}
	}
}

func TestThreeActionsWithAPageAreButtons(t *testing.T) {
	m := message()
	m.Actions = []notify.Action{
		{Label: "No page", Value: "v"}, {Label: "A", URL: "https://h/a"}, {Label: "Long", URL: "https://h/" + strings.Repeat("x", 900)},
		{Label: "B", URL: "https://h/b", Value: "v"}, {Label: "C", URL: "https://h/c"}, {Label: "D", URL: "https://h/d"},
	}
	p, _ := sent(t, m)
	got := ""
	for _, a := range p.Actions {
		got += a.Label + a.URL + " "
	}
	if got != "Ahttps://h/a Bhttps://h/b Chttps://h/c " {
		t.Errorf("actions %s", got)
	}
}

// A topic that anybody may write to needs no token.
func TestWithoutAToken(t *testing.T) {
	e := expect()
	e.Header = http.Header{"Authorization": nil}
	server := notifytest.NewServer(t, e, notifytest.Reply{Body: taken})
	c, err := ntfy.Kind().Open(notify.Options{BaseURL: server.URL + "/", Credential: map[string]string{"topic": topic}, HTTP: notifytest.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Send(t.Context(), message()); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	no := func(code, words string) notifytest.Reply {
		var status int
		if _, err := fmt.Sscan(code[:3], &status); err != nil {
			t.Fatal(err)
		}
		return reply(status, `{"code":`+code+`,"http":`+code[:3]+`,"error":"`+words+`","link":"https://ntfy.sh/docs/"}`)
	}
	permanent := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	bad := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code} }
	retry := func(code string, after time.Duration) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: code, After: after}
	}
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), []string{topic, token}, []notifytest.Case{
		{Name: "an id is success", Reply: reply(200, taken), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}},
		{Name: "too fast waits a minute", Reply: no("42901", "limit reached: too many requests"), Want: retry("42901", time.Minute)},
		{Name: "a spent day is asked once an hour", Reply: no("42908", "limit reached: daily message quota reached"), Want: retry("42908", time.Hour)},
		{Name: "too many failed logins are left alone", Reply: no("42909", "limit reached: too many auth failures"), Want: retry("42909", time.Hour)},
		{Name: "another limit waits a minute", Reply: no("42904", "limit reached: the total number of topics"), Want: retry("42904", time.Minute)},
		{Name: "a wrong token is permanent", Reply: no("40101", "unauthorized"), Want: permanent("40101")},
		{Name: "a topic of somebody else's is permanent", Reply: no("40301", "forbidden"), Want: permanent("40301")},
		{Name: "a topic with a wrong name is permanent", Reply: no("40009", "invalid request: topic invalid"), Want: permanent("40009")},
		{Name: "a topic that is not allowed is permanent", Reply: no("40010", "invalid request: topic name is disallowed"), Want: permanent("40010")},
		{Name: "a topic of UnifiedPush is permanent", Reply: no("50701", "cannot publish to UnifiedPush topic"), Want: permanent("50701")},
		{Name: "another part of the server is permanent", Reply: no("40401", "page not found"), Want: permanent("40401")},
		{Name: "actions it does not like are a bad message", Reply: no("40018", "invalid request: actions invalid"), Want: bad("40018")},
		{Name: "JSON it cannot read is a bad message", Reply: no("40017", "invalid request: request body must be message JSON"), Want: bad("40017")},
		{Name: "too long is a bad message", Reply: no("41303", "JSON body too large"), Want: bad("41303")},
		{Name: "a server in trouble is tried again", Reply: no("50001", "internal server error"), Want: retry("50001", 0)},
		{Name: "a code nobody knows is unknown", Reply: no("40902", "conflict"), Want: notify.Verdict{Code: "40902"}},
		{Name: "another event is unknown", Reply: reply(200, `{"id":"x","event":"open"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a message without an id is unknown", Reply: reply(200, `{"event":"message"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, taken), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a proxy's 401 is unknown", Reply: reply(401, "Unauthorized"), Want: notify.Verdict{Code: "http 401"}},
		{Name: "a proxy's 429 waits a minute", Reply: reply(429, ""), Want: retry("http 429", time.Minute)},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry("http 502", 0)},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry("network", 0)},
		{Name: "secrets in an answer are not passed on", Reply: no("40000", "bad "+topic+" "+token), Want: bad("40000")},
	})
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, ntfy.Kind().DefaultURL, message(), topic, token)
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := expect()
		to.Whole = func(_ *http.Request, body []byte) error {
			if len(body) > 2*4096 {
				return fmt.Errorf("JSON of %d bytes", len(body))
			}
			return nil
		}
		client := notifytest.Takes(t, to, notifytest.Reply{Body: taken})
		c, err := ntfy.Kind().Open(notify.Options{
			BaseURL: ntfy.Kind().DefaultURL, Credential: map[string]string{"topic": topic, "token": token}, HTTP: client,
		})
		if err != nil {
			t.Fatal(err)
		}
		words := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<\n\"\x01\u2028")), 0, 60, -1)
		long := func(name string) string {
			return strings.Repeat(words.Draw(t, name), rapid.IntRange(1, 300).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Markdown: "m", Plain: long("plain")}
		if rapid.Bool().Draw(t, "refused before") {
			m.Markdown = ""
		}
		for range rapid.IntRange(0, 5).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: "l" + words.Draw(t, "label"), URL: "https://h" + strings.Repeat("/&a", rapid.IntRange(0, 400).Draw(t, "address")),
			})
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}
