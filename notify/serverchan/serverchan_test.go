package serverchan_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/serverchan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	turbo = "SCT1TaSecretThatIsNone"
	three = "sctp42taSecretThatIsNone"
)

func open(t testing.TB, baseURL, key string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := serverchan.Kind().Open(notify.Options{
		Name: "me", BaseURL: baseURL, Credential: map[string]string{"key": key}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n> second line\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n  second line\n如需暂缓：curfew hold exp-7 2h\n#12",
	}
}

type payload struct {
	Title string `json:"title"`
	Desp  string `json:"desp"`
}

// check keeps ServerChan's limits, and refuses lines that would run together.
func (p payload) check() error {
	var errs []error
	if n := utf8.RuneCountInString(p.Title); n < 1 || n > 32 {
		errs = append(errs, fmt.Errorf("title has %d characters, want 1 to 32", n))
	}
	if len(p.Desp) > 32<<10 {
		errs = append(errs, fmt.Errorf("desp has %d bytes, want at most %d", len(p.Desp), 32<<10))
	}
	if runsTogether(p.Desp) {
		errs = append(errs, fmt.Errorf("desp has a single line end: %q", p.Desp))
	}
	return errors.Join(errs...)
}

// runsTogether reports whether lines stand without an empty one between them. A cut
// may fall into that gap.
func runsTogether(s string) bool {
	return strings.Contains(strings.NewReplacer("\n\n", "", "\n…(+", "").Replace(s), "\n")
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/" + turbo + ".send", ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	plain, long, longPlain := message(), message(), message()
	plain.Markdown = ""
	long.Title = "费用警告：实验账户 <b>**余额**</b> 只够再用 3 小时，请尽快充值或关机"
	longPlain.Title, longPlain.Markdown = long.Title, ""
	for name, m := range map[string]notify.Message{"markdown": message(), "text": plain, "long-title": long, "long-title-text": longPlain} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"code":0,"message":"","data":{"pushid":"1","readkey":"x","error":"SUCCESS","errno":0}}`})
			if v := open(t, server.URL, turbo, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			notifytest.Golden(t, *update, name+".json", string(server.Bodies()[0]))
		})
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, turbo, notifytest.Client())
	}, expect(), message(), []string{turbo}, []notifytest.Case{
		{Name: "code 0 is success", Reply: reply(200, `{"code":0,"message":"","data":{"errno":0}}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "0"}},
		{Name: "a spent day is asked once an hour", Reply: reply(400, `{"code":40001,"message":"[AUTH]超过当天的发送次数限制[5]"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "40001"}},
		{Name: "a spent day by its other code is too", Reply: reply(400, `{"code":471,"message":"超过当天的发送次数限制[5]"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "471"}},
		{Name: "a wrong key is permanent", Reply: reply(400, `{"message":"[AUTH]\u9519\u8bef\u7684Key","code":40001,"info":"\u9519\u8bef\u7684Key","args":[null],"scode":461}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "40001"}},
		{Name: "40001 for another reason is unknown", Reply: reply(400, `{"code":40001,"message":"[AUTH]其他"}`), Want: notify.Verdict{Code: "40001"}},
		{Name: "a field it does not like is a bad message", Reply: reply(400, `{"message":"[INPUT]title 不能为空","code":20001,"scode":460}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "20001"}},
		{Name: "a code nobody knows is unknown", Reply: reply(400, `{"code":1024,"message":"?"}`), Want: notify.Verdict{Code: "1024"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(400, `{"code":0}`), Want: notify.Verdict{Code: "http 400"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"errno":0}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is no number is unknown", Reply: reply(200, `{"code":"0"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"code":50001}`), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "50001"}},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "429 with a code waits a minute", Reply: reply(429, `{"code":42900}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "42900"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the key in an answer is not passed on", Reply: reply(400, `{"code":1,"message":"no route /`+turbo+`.send"}`), Want: notify.Verdict{Code: "1"}},
	})
}

// A key is sent to the service it is of, and to no other.
func TestTheKeySaysWhereTo(t *testing.T) {
	for name, c := range map[string]struct{ key, base, want string }{
		"Turbo":                  {turbo, "", "https://sctapi.ftqq.com/" + turbo + ".send"},
		"ServerChan³":            {three, "", "https://42.push.ft07.com/send/" + three + ".send"},
		"Turbo by a relay":       {turbo, "http://relay.lab:8080/sc/", "http://relay.lab:8080/sc/" + turbo + ".send"},
		"ServerChan³ by a relay": {three, "https://relay.lab", "https://relay.lab/send/" + three + ".send"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			open(t, c.base, c.key, &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				got = r.URL.String()
				return nil, io.EOF
			})}).Send(t.Context(), message())
			if got != c.want {
				t.Errorf("sent to %s, want %s", got, c.want)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	for name, key := range map[string]string{"turbo": turbo, "3": three} {
		t.Run(name, func(t *testing.T) {
			notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, base, key, c) }, "", message(), turbo, three)
		})
	}
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(), notifytest.Reply{Body: `{"code":0}`})
		c, err := serverchan.Kind().Open(notify.Options{Credential: map[string]string{"key": turbo}, HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>\n")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 4000).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + strings.Join(strings.Fields(long("title")), " "), Markdown: long("markdown"), Plain: long("plain")}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{Name: "me", HTTP: notifytest.Client(), Credential: map[string]string{"key": turbo}}
	}
	with := func(key string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"key": key} }
	}
	notifytest.Refuses(t, serverchan.Kind(), good, []string{turbo, "aSecretThatIsNone"}, map[string]notifytest.Refusal{
		"no key":                     {with(""), "no key; give key: {env: NAME}"},
		"a key of the old service":   {with("SCU1TaSecretThatIsNone"), "which has ended"},
		"an address":                 {with("https://sctapi.ftqq.com/" + turbo + ".send"), "only the SendKey"},
		"the end of an address":      {with(turbo + ".send"), "only the SendKey"},
		"a key with a line end":      {with(turbo + "\n"), "not a SendKey"},
		"a key that leads elsewhere": {with("SCT/../aSecretThatIsNone"), "not a SendKey"},
		"a key without a number":     {with("sctptaSecretThatIsNone"), "with sctp, your number and t"},
		"a number that is a host":    {with("sctp1.evil.example/taSecretThatIsNone"), "not a SendKey"},
		"no address":                 {func(o *notify.Options) { o.BaseURL = "sctapi.ftqq.com" }, "base_url is not a web address"},
		"a broken address":           {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":                  {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
		return notifytest.Posted(t, expect(), notifytest.Reply{Body: `{"code":0,"message":"","data":{"pushid":"1","readkey":"x","error":"SUCCESS","errno":0}}`}, func(base string) notify.Channel {
			return open(t, base, turbo, notifytest.Client())
		}, m)
	})
}
