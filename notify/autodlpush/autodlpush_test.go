package autodlpush_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/autodlpush"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const token = "aToken.that-is/none+at_all"

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := autodlpush.Kind().Open(notify.Options{
		Name: "me", BaseURL: baseURL, Credential: map[string]string{"token": token}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n#12",
	}
}

type payload struct {
	Title   string `json:"title"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

// check keeps the lengths that AutoDL's users keep to.
func (p payload) check() error {
	within := func(what, s string, limit int) error {
		if n := utf8.RuneCountInString(s); n < 1 || n > limit {
			return fmt.Errorf("%s has %d characters, want 1 to %d: %q", what, n, limit, s)
		}
		return nil
	}
	return errors.Join(within("title", p.Title, 20), within("name", p.Name, 20), within("content", p.Content, 200))
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/api/v1/wechat/message/send", ContentType: "application/json",
		Header: http.Header{"Authorization": {token}},
		Body:   func() any { return new(payload) },
		Check:  func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	short, long, endless := message(), message(), message()
	short.Title = "测试消息"
	long.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1\n运行中，开始于 01:00\n" + strings.Repeat("原因很长，一行放不下。\n", 30) + "如需暂缓：curfew hold exp-7 2h\n#12 · 详情：curfew explain exp-7"
	endless.Title = strings.Repeat("很长的标题", 40)
	for name, m := range map[string]notify.Message{"title-in-content": message(), "short-title": short, "long": long, "long-title": endless} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"code":"Success","msg":"","data":null}`})
			if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			body := string(server.Bodies()[0])
			notifytest.Golden(t, *update, name+".json", body)
			if !strings.Contains(body, "curfew hold exp-7 2h") {
				t.Errorf("does not say how to make it wait: %s", body)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), []string{token}, []notifytest.Case{
		{Name: "Success is success", Reply: reply(200, `{"code":"Success","msg":"","data":null}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "Success"}},
		{Name: "a token it does not know is permanent", Reply: reply(200, `{"code":"AuthorizeFailed","msg":"登录超时，请重新登录"}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "AuthorizeFailed"}},
		{Name: "a code nobody knows is unknown", Reply: reply(200, `{"code":"Failed","msg":"发送过于频繁"}`), Want: notify.Verdict{Code: "Failed"}},
		{Name: "success in small letters is unknown", Reply: reply(200, `{"code":"success"}`), Want: notify.Verdict{Code: "success"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"msg":"ok"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty code is unknown", Reply: reply(200, `{"code":""}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is a number is unknown", Reply: reply(200, `{"code":0}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, `{"code":"Success"}`), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"code":"SystemError"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "SystemError"}},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "429 with a code waits a minute", Reply: reply(429, `{"code":"TooMany"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "TooMany"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the token in an answer is not passed on", Reply: reply(200, `{"code":"Failed `+token+`","msg":"bad `+token+`"}`), Want: notify.Verdict{Code: "Failed <secret>"}},
	})
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, autodlpush.Kind().DefaultURL, message(), token)
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(), notifytest.Reply{Body: `{"code":"Success"}`})
		c, err := autodlpush.Kind().Open(notify.Options{
			BaseURL: autodlpush.Kind().DefaultURL, Credential: map[string]string{"token": token}, HTTP: client,
		})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<\n")), 0, 40, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 40).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Plain: long("plain")}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{
			Name: "me", BaseURL: "https://www.autodl.com", HTTP: notifytest.Client(), Credential: map[string]string{"token": token},
		}
	}
	with := func(secret string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": secret} }
	}
	notifytest.Refuses(t, autodlpush.Kind(), good, []string{token}, map[string]notifytest.Refusal{
		"no token":                {with(""), "no token; give token: {env: NAME}"},
		"a header instead":        {with("Bearer " + token), "give only the developer token itself"},
		"a token with a line end": {with(token + "\n"), "without spaces"},
		"a token with a space":    {with("x " + token), "without spaces"},
		"what is not ASCII":       {with(token + "令"), "without spaces"},
		"an address":              {with("https://www.autodl.com/" + token), "not a developer token"},
		"no address":              {func(o *notify.Options) { o.BaseURL = "www.autodl.com" }, "base_url is not a web address"},
		"a broken address":        {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"another kind of address": {func(o *notify.Options) { o.BaseURL = "ftp://www.autodl.com" }, "base_url is not a web address"},
		"no client":               {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
		return notifytest.Posted(t, expect(), notifytest.Reply{Body: `{"code":"Success","msg":"","data":null}`}, func(base string) notify.Channel {
			return open(t, base, notifytest.Client())
		}, m)
	})
}
