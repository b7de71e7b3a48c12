package wxpusher_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/wxpusher"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	spt      = "SPT_aSecretThatIsNone"
	appToken = "AT_aTokenThatIsNone"
	uid      = "UID_somebody"
	taken    = `{"code":1000,"msg":"处理成功","data":[{"uid":"UID_somebody","topicId":null,"messageId":121,"messageContentId":2123,"sendRecordId":12313,"code":1000,"status":"创建发送任务成功"}],"success":true}`
)

func simple(o *notify.Options) { o.Credential = map[string]string{"spt": spt} }

func app(o *notify.Options) {
	o.Credential, o.Settings = map[string]string{"app_token": appToken}, map[string]string{"uid": uid}
}

func open(t testing.TB, baseURL string, client *http.Client, as func(*notify.Options)) notify.Channel {
	t.Helper()
	o := notify.Options{Name: "me", BaseURL: baseURL, HTTP: client}
	as(&o)
	c, err := wxpusher.Kind().Open(o)
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
	SPT         string   `json:"spt"`
	AppToken    string   `json:"appToken"`
	UIDs        []string `json:"uids"`
	Summary     string   `json:"summary"`
	Content     string   `json:"content"`
	ContentType int      `json:"contentType"`
}

// check keeps WxPusher's limits.
func (p payload) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if n := utf8.RuneCountInString(p.Summary); n < 1 || n > 100 {
		bad("summary has %d characters, want 1 to 100", n)
	}
	if n := utf8.RuneCountInString(p.Content); n < 1 || n > 40000 || !utf8.ValidString(p.Content) {
		bad("content has %d characters, want 1 to 40000", n)
	}
	if p.ContentType != 1 && p.ContentType != 3 {
		bad("content is of type %d", p.ContentType)
	}
	if p.ContentType == 3 && runsTogether(p.Content) {
		bad("lines run together: %q", p.Content)
	}
	if bySPT, byApp := p.SPT != "", p.AppToken != "" && len(p.UIDs) == 1; bySPT == byApp || (p.AppToken == "") != (len(p.UIDs) == 0) {
		bad("it is for %+v", p)
	}
	return errors.Join(errs...)
}

// runsTogether reports whether lines stand without an empty one between them. A cut
// may fall into that gap.
func runsTogether(s string) bool {
	return strings.Contains(strings.NewReplacer("\n\n", "", "\n…(+", "").Replace(s), "\n")
}

func expect(path string) notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: path, ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

const (
	simplePath = "/api/send/message/simple-push"
	appPath    = "/api/send/message"
)

func TestPayloads(t *testing.T) {
	messages := notifytest.Told(t)
	plain, long := messages["pending.zh"], message()
	plain.Markdown = ""
	long.Title = "费用警告：实验账户 <b>**余额**</b> " + strings.Repeat("只够再用 3 小时，请尽快充值或关机；", 8)
	maps.Copy(messages, map[string]notify.Message{"markdown": message(), "text": plain, "long-title": long})
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(simplePath), notifytest.Reply{Body: taken})
			if v := open(t, server.URL, notifytest.Client(), simple).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			notifytest.Golden(t, *update, name+".json", string(server.Bodies()[0]))
		})
	}
}

func TestAnApplicationSendsToOnePerson(t *testing.T) {
	server := notifytest.NewServer(t, expect(appPath), notifytest.Reply{Body: taken})
	if v := open(t, server.URL, notifytest.Client(), app).Send(t.Context(), message()); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	notifytest.Golden(t, *update, "app.json", string(server.Bodies()[0]))
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	no := func(code string) notifytest.Reply {
		return reply(200, `{"code":`+code+`,"msg":"出错了","data":null,"success":false}`)
	}
	permanent := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	retry := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictRetry, Code: code} }
	ok := notify.Verdict{Kind: notify.VerdictOK, Code: "1000"}
	for path, as := range map[string]func(*notify.Options){simplePath: simple, appPath: app} {
		secret := map[string]string{simplePath: spt, appPath: appToken}[path]
		notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
			return open(t, baseURL, notifytest.Client(), as)
		}, expect(path), message(), []string{secret}, []notifytest.Case{
			{Name: "1000 is success", Reply: reply(200, taken), Want: ok},
			{Name: "1000 that tells of nobody is success", Reply: reply(200, `{"code":1000,"msg":"处理成功","data":null}`), Want: ok},
			{Name: "a person it cannot send to is unknown", Reply: reply(200, `{"code":1000,"msg":"处理成功","data":[{"uid":"UID_somebody","code":1001,"status":"用户未关注"}]}`), Want: notify.Verdict{Code: "1001"}},
			{Name: "WeChat's trouble with the person is tried again", Reply: reply(200, `{"code":1000,"data":[{"code":1006,"status":"x"}]}`), Want: retry("1006")},
			{Name: "1001 is unknown", Reply: no("1001"), Want: notify.Verdict{Code: "1001"}},
			{Name: "a token it does not know is permanent", Reply: no("1002"), Want: permanent("1002")},
			{Name: "a wrong signature is permanent", Reply: no("1003"), Want: permanent("1003")},
			{Name: "no such interface is permanent", Reply: no("1004"), Want: permanent("1004")},
			{Name: "trouble at WxPusher is tried again", Reply: no("1005"), Want: retry("1005")},
			{Name: "trouble at WeChat is tried again", Reply: no("1006"), Want: retry("1006")},
			{Name: "trouble on the way is tried again", Reply: no("1007"), Want: retry("1007")},
			{Name: "data it does not like is a bad message", Reply: no("1008"), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "1008"}},
			{Name: "1009 is unknown", Reply: no("1009"), Want: notify.Verdict{Code: "1009"}},
			{Name: "another service's success is unknown", Reply: no("200"), Want: notify.Verdict{Code: "200"}},
			{Name: "a success with a wrong status is unknown", Reply: reply(404, taken), Want: notify.Verdict{Code: "http 404"}},
			{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
			{Name: "an answer without a code is unknown", Reply: reply(200, `{"success":true}`), Want: notify.Verdict{Code: "http 200"}},
			{Name: "a code that is no number is unknown", Reply: reply(200, `{"code":"1000"}`), Want: notify.Verdict{Code: "http 200"}},
			{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
			{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
			{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry("http 502")},
			{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"code":1001}`), Want: retry("1001")},
			{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
			{Name: "429 with a code waits a minute", Reply: reply(429, `{"code":1001}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "1001"}},
			{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry("network")},
			{Name: "a token in an answer is not passed on", Reply: reply(200, `{"code":1001,"msg":"bad `+secret+`"}`), Want: notify.Verdict{Code: "1001"}},
		})
	}
}

func TestUnreachable(t *testing.T) {
	for secret, as := range map[string]func(*notify.Options){spt: simple, appToken: app} {
		t.Run(secret, func(t *testing.T) {
			notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, base, c, as) }, wxpusher.Kind().DefaultURL, message(), secret)
		})
	}
}

func TestNoMessageIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(simplePath), notifytest.Reply{Body: taken})
		c, err := wxpusher.Kind().Open(notify.Options{BaseURL: wxpusher.Kind().DefaultURL, Credential: map[string]string{"spt": spt}, HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		words := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<>*\n")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(words.Draw(t, name), rapid.IntRange(1, 1000).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + strings.Join(strings.Fields(long("title")), " "), Markdown: "m" + long("markdown"), Plain: long("plain")}
		if rapid.Bool().Draw(t, "refused before") {
			m.Markdown = ""
		}
		for range rapid.IntRange(0, 20).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: "l" + words.Draw(t, "label"), URL: "https://h" + strings.Repeat("/&a", rapid.IntRange(0, 2000).Draw(t, "address")),
			})
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		o := notify.Options{Name: "me", BaseURL: wxpusher.Kind().DefaultURL, HTTP: notifytest.Client()}
		simple(&o)
		return o
	}
	with := func(spt, appToken, uid string) func(*notify.Options) {
		return func(o *notify.Options) {
			o.Credential, o.Settings = map[string]string{"spt": spt, "app_token": appToken}, map[string]string{"uid": uid}
		}
	}
	notifytest.Refuses(t, wxpusher.Kind(), good, []string{spt, appToken}, map[string]notifytest.Refusal{
		"nothing":                   {with("", "", ""), "no spt and no app_token; give spt: {env: NAME}"},
		"a person alone":            {with("", "", uid), "no spt and no app_token"},
		"both tokens":               {with(spt, appToken, ""), "either spt alone"},
		"a token and a person":      {with(spt, "", uid), "either spt alone"},
		"an application's as one's": {with(appToken, "", ""), "begins with SPT_"},
		"one's as an application's": {with("", spt, uid), "begins with AT_"},
		"an address":                {with("https://wxpusher.zjiecode.com/api/send/message/"+spt+"/hello", "", ""), "begins with SPT_"},
		"a token with a line end":   {with(spt+"\n", "", ""), "begins with SPT_"},
		"an application for nobody": {with("", appToken, ""), "no uid; give uid:"},
		"a token for a person":      {with("", appToken, appToken), "uid is not a person's"},
		"a person with a line end":  {with("", appToken, uid+"\n"), "uid is not a person's"},
		"no address":                {func(o *notify.Options) { o.BaseURL = "wxpusher.zjiecode.com" }, "base_url is not a web address"},
		"a broken address":          {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":                 {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
	for _, as := range []func(*notify.Options){app, with("", appToken, "c1BcpqxEbD8irqlGUh9BhOqR2BvH8yWZ")} {
		o := good()
		as(&o)
		notifytest.Opens(t, wxpusher.Kind(), o)
	}
}
