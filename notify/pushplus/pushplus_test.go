package pushplus_test

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
	"curfew/notify/notifytest"
	"curfew/notify/pushplus"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const token = "aSecretThatIsNone42"

// now is in the evening in Beijing.
var now = time.Date(2026, 11, 30, 20, 5, 0, 0, time.FixedZone("Beijing", 8*60*60))

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := pushplus.Kind().Open(notify.Options{
		Name: "me", BaseURL: baseURL, Credential: map[string]string{"token": token}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning, At: now,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n> second line\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n  second line\n如需暂缓：curfew hold exp-7 2h\n#12",
	}
}

type payload struct {
	Token    string `json:"token"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	Template string `json:"template"`
}

// check keeps PushPlus's limits, and refuses lines that would run together.
func (p payload) check() error {
	var errs []error
	if p.Token != token {
		errs = append(errs, errors.New("token is wrong"))
	}
	if n := utf8.RuneCountInString(p.Title); n < 1 || n > 100 {
		errs = append(errs, fmt.Errorf("title has %d characters, want 1 to 100", n))
	}
	if n := utf8.RuneCountInString(p.Content); n < 1 || n > 20000 {
		errs = append(errs, fmt.Errorf("content has %d characters, want 1 to 20000", n))
	}
	switch {
	case p.Template != "markdown" && p.Template != "txt":
		errs = append(errs, fmt.Errorf("template %q", p.Template))
	case p.Template == "markdown" && runsTogether(p.Content):
		errs = append(errs, fmt.Errorf("content has a single line end: %q", p.Content))
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
		Method: http.MethodPost, Path: "/send", ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	plain, alone, long := message(), message(), message()
	long.Title = "low balance: " + strings.Repeat("<b>word</b> ", 12)
	plain.Markdown = ""
	alone.Markdown, alone.Plain = "", ""
	for name, m := range map[string]notify.Message{"markdown": message(), "text": plain, "title-alone": alone, "long-title": long} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"code":200,"msg":"请求成功","data":"a1b2"}`})
			if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			notifytest.Golden(t, *update, name+".json", string(server.Bodies()[0]))
		})
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), []string{token}, []notifytest.Case{
		{Name: "code 200 is success", Reply: reply(200, `{"code":200,"msg":"请求成功","data":"a1b2"}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "200"}},
		{Name: "too many waits for the next day", Reply: reply(200, `{"code":900,"msg":"用户账号使用受限"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 4 * time.Hour, Code: "900"}},
		{Name: "a token it does not know is permanent", Reply: reply(200, `{"code":903,"msg":"无效的用户令牌"}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "903"}},
		{Name: "an account without a real name is permanent", Reply: reply(200, `{"code":905,"msg":"账户未进行实名认证"}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "905"}},
		{Name: "an address that is not allowed is permanent", Reply: reply(200, `{"code":403,"msg":"请求IP未授权"}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "403"}},
		{Name: "an account that takes nothing is permanent", Reply: reply(200, `{"code":401,"msg":"请求未授权"}`), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "401"}},
		{Name: "a platform in trouble is tried again", Reply: reply(200, `{"code":500,"msg":"系统异常，请稍后再试"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "500"}},
		{Name: "data it does not like is a bad message", Reply: reply(200, `{"code":600,"msg":"数据异常，操作失败"}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "600"}},
		{Name: "what fails its checks is a bad message", Reply: reply(200, `{"code":999,"msg":"服务端验证错误"}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "999"}},
		{Name: "not logged in is unknown", Reply: reply(200, `{"code":302,"msg":"未登录"}`), Want: notify.Verdict{Code: "302"}},
		{Name: "no right to see is unknown", Reply: reply(200, `{"code":805,"msg":"无权查看"}`), Want: notify.Verdict{Code: "805"}},
		{Name: "no points left is unknown", Reply: reply(200, `{"code":888,"msg":"积分不足，需要充值"}`), Want: notify.Verdict{Code: "888"}},
		{Name: "another platform's success is unknown", Reply: reply(200, `{"code":0}`), Want: notify.Verdict{Code: "0"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, `{"code":200}`), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"msg":"ok"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is no number is unknown", Reply: reply(200, `{"code":"200"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"code":50001}`), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "50001"}},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the token in an answer is not passed on", Reply: reply(200, `{"code":1,"msg":"no user `+token+`"}`), Want: notify.Verdict{Code: "1"}},
	})
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, pushplus.Kind().DefaultURL, message(), token)
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(), notifytest.Reply{Body: `{"code":200}`})
		c, err := pushplus.Kind().Open(notify.Options{
			BaseURL: pushplus.Kind().DefaultURL, Credential: map[string]string{"token": token}, HTTP: client,
		})
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
		return notify.Options{
			Name: "me", BaseURL: "https://www.pushplus.plus", HTTP: notifytest.Client(), Credential: map[string]string{"token": token},
		}
	}
	with := func(secret string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": secret} }
	}
	notifytest.Refuses(t, pushplus.Kind(), good, []string{token}, map[string]notifytest.Refusal{
		"no token":                {with(""), "no token; give token: {env: NAME}"},
		"an address":              {with("https://www.pushplus.plus/send?token=" + token), "only the token"},
		"a token with a line end": {with(token + "\n"), "letters and digits"},
		"a part of a query":       {with("token=" + token), "letters and digits"},
		"no address":              {func(o *notify.Options) { o.BaseURL = "www.pushplus.plus" }, "base_url is not a web address"},
		"a broken address":        {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":               {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
		return notifytest.Posted(t, expect(), notifytest.Reply{Body: `{"code":200,"msg":"请求成功","data":"a1b2"}`}, func(base string) notify.Channel {
			return open(t, base, notifytest.Client())
		}, m)
	})
}
