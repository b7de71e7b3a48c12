package wecom_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/wecom"
	"curfew/notify/wecom/wecomtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const key = "693a91f6-7xxx-4bc4-97a0/0ec2+sifa5aaa"

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	return openForm(t, baseURL, client, "")
}

func openForm(t testing.TB, baseURL string, client *http.Client, form string) notify.Channel {
	t.Helper()
	c, err := wecom.Kind().Open(notify.Options{
		Name: "wx", BaseURL: baseURL, Credential: map[string]string{"key": key}, Settings: map[string]string{"form": form}, HTTP: client,
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

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/cgi-bin/webhook/send", Query: url.Values{"key": {key}},
		ContentType: "application/json", Body: func() any { return new(map[string]any) },
	}
}

// actions are what a reader could say: only what has an address can be a link.
func actions() []notify.Action {
	return []notify.Action{
		{Label: "不能点", Value: "v"},
		{Label: "等 2 小时", URL: "https://curfew.lab/a?id=12&t=x", Value: "hold-12"},
		{Label: "现在关机", URL: "https://curfew.lab/b?id=12", Value: "now-12", Risky: true},
	}
}

func TestPayloads(t *testing.T) {
	calm, critical, armed := message(), message(), message()
	calm.Severity = fleet.Info
	critical.Severity, critical.Title = fleet.Critical, "02:10 将释放：一个名字很长很长很长的实例-exp-7（10分钟后）"
	armed.Title, armed.Plain = "<@all> **exp**</font>", "<@all>"
	linked := message()
	linked.Actions = actions()
	english := linked
	english.Title = "Will stop exp-7 at 02:10 (in 10m)"
	english.Markdown = "exp-7 (pro-0a1b) · RTX 4090 ×1 · owner wang\n> gpu: x said=no run\n\nTo make it wait: `curfew hold exp-7 2h`\n#12 · More: `curfew explain exp-7`"
	english.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1 · owner wang\ngpu: x said=no run\nTo make it wait: curfew hold exp-7 2h\n#12 · More: curfew explain exp-7"
	english.Actions = []notify.Action{{Label: "Wait 2 hours", URL: "https://curfew.lab/a?id=12&t=x"}}
	linked.Mentions = []string{"wangwei", "@all", "ALL", "li.si", "a b", "<@x>", ""}
	quiet := linked
	quiet.Silent = true
	criticalLinked := critical
	criticalLinked.Actions = actions()
	for name, m := range map[string]notify.Message{
		"": message(), "info": calm, "title-with-markup": armed, "linked": linked, "silent": quiet, "english": english, "critical": criticalLinked,
	} {
		for _, form := range []string{"markdown", "markdown_v2", "template_card", "text"} {
			t.Run(name+"-"+form, func(t *testing.T) {
				sent := m
				if form == "text" {
					sent.Markdown = ""
				}
				robot, base := wecomtest.Start(t, key, time.Now)
				server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"errcode":0,"errmsg":"ok"}`})
				for _, to := range []string{base, server.URL} {
					if v := openForm(t, to, notifytest.Client(), strings.Replace(form, "text", "", 1)).Send(t.Context(), sent); v.Kind != notify.VerdictOK {
						t.Errorf("verdict %+v", v)
					}
				}
				want := form
				if form == "template_card" && len(m.Actions) == 0 {
					want = "markdown"
				}
				if got := robot.Messages()[0].Type; got != want {
					t.Errorf("type %s, want %s", got, want)
				}
				if want != form {
					return // as it is there
				}
				notifytest.Golden(t, *update, strings.TrimPrefix(name+"-"+form, "-")+".json", string(server.Bodies()[0]))
			})
		}
	}
}

// A form that a robot may not know is given up for text, whatever code it is refused
// with; all else is judged alike.
func TestAnswersToOtherForms(t *testing.T) {
	linked := message()
	linked.Actions = actions()
	for name, c := range map[string]struct {
		status int
		body   string
		want   notify.Verdict
	}{
		"taken":                {200, `{"errcode":0}`, notify.Verdict{Kind: notify.VerdictOK, Code: "0"}},
		"an unknown code":      {200, `{"errcode":40008,"errmsg":"invalid message type"}`, notify.Verdict{Kind: notify.VerdictBadMessage, Code: "40008"}},
		"too many":             {200, `{"errcode":45009}`, notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "45009"}},
		"no robot":             {200, `{"errcode":93000}`, notify.Verdict{Kind: notify.VerdictPermanent, Code: "93000"}},
		"a broken platform":    {500, `{"errcode":50001}`, notify.Verdict{Kind: notify.VerdictRetry, Code: "50001"}},
		"a page for an answer": {200, `<html>`, notify.Verdict{Code: "http 200"}},
	} {
		for _, form := range []string{"markdown_v2", "template_card"} {
			t.Run(name+" to "+form, func(t *testing.T) {
				server := notifytest.NewServer(t, expect(), notifytest.Reply{Status: c.status, Body: c.body})
				v := openForm(t, server.URL, notifytest.Client(), form).Send(t.Context(), linked)
				if v.Detail = ""; v != c.want {
					t.Errorf("verdict %+v, want %+v", v, c.want)
				}
			})
		}
	}
}

func TestAnswers(t *testing.T) {
	invalidURL := `{"errcode":93000,"errmsg":"invalid webhook url, hint: [1790000000], from ip: 203.0.113.7, more info at https://open.work.weixin.qq.com/devtool/query?e=93000"}`
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), []string{key, "203.0.113.7"}, []notifytest.Case{
		{Name: "errcode 0 is success", Reply: reply(200, `{"errcode":0,"errmsg":"ok"}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "0"}},
		{Name: "too many in a minute waits one", Reply: reply(200, `{"errcode":45009,"errmsg":"api freq out of limit"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "45009"}},
		{Name: "a busy platform is tried again", Reply: reply(200, `{"errcode":-1,"errmsg":"system busy"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 30 * time.Second, Code: "-1"}},
		{Name: "a removed robot is permanent, and its words hold no address", Reply: reply(200, invalidURL), Want: notify.Verdict{Kind: notify.VerdictPermanent, Code: "93000"}},
		{Name: "too long is a bad message", Reply: reply(200, `{"errcode":40058,"errmsg":"markdown.content exceed max length 4096"}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "40058"}},
		{Name: "a code nobody knows is unknown", Reply: reply(200, `{"errcode":46234,"errmsg":"消息发送失败"}`), Want: notify.Verdict{Code: "46234"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"ok":true}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is no number is unknown", Reply: reply(200, `{"errcode":"0"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, `{"errcode":0}`), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"errcode":50001}`), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "50001"}},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the key in an answer is not passed on", Reply: reply(200, `{"errcode":40001,"errmsg":"bad key `+key+`"}`), Want: notify.Verdict{Code: "40001"}},
	})
}

func TestWordsOfTheAnswerAreKeptShort(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"errcode":1,"errmsg":"` + strings.Repeat("错误", 5000) + `"}`})
	if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), message()); len(v.Detail) > 200 || !utf8.ValidString(v.Detail) {
		t.Errorf("%d bytes of detail", len(v.Detail))
	}
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, wecom.Kind().DefaultURL, message(), key)
}

func TestNoMessageIsTooLongForTheRobot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		robot := wecomtest.New(key, time.Now, t.Errorf)
		c, err := wecom.Kind().Open(notify.Options{
			BaseURL: wecom.Kind().DefaultURL, Credential: map[string]string{"key": key}, HTTP: &http.Client{Transport: robot},
			Settings: map[string]string{"form": rapid.SampledFrom([]string{"", "markdown", "markdown_v2", "template_card"}).Draw(t, "form")},
		})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<&\n`：· ")), 0, 6000, -1)
		m := notify.Message{Title: "t" + runes.Draw(t, "title"), Markdown: runes.Draw(t, "markdown"), Plain: runes.Draw(t, "plain")}
		for range rapid.IntRange(0, 5).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: "l" + rapid.StringN(0, 40, -1).Draw(t, "label"), URL: "https://h/" + strings.Repeat("a", rapid.IntRange(0, 600).Draw(t, "long")),
			})
		}
		m.Mentions = rapid.SliceOfN(rapid.StringMatching(`[a-z@]{1,64}`), 0, 40).Draw(t, "mentions")
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		if got := robot.Messages()[0]; strings.Contains(got.Content, `\u003c`) {
			t.Fatalf("HTML escapes in %q", got.Content)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{
			Name: "wx", BaseURL: "https://qyapi.weixin.qq.com", HTTP: notifytest.Client(), Credential: map[string]string{"key": key},
		}
	}
	notifytest.Refuses(t, wecom.Kind(), good, []string{key}, map[string]notifytest.Refusal{
		"no key": {func(o *notify.Options) { o.Credential = nil }, "no key"},
		"the whole address": {func(o *notify.Options) {
			o.Credential = map[string]string{"key": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=" + key}
		}, "only what follows key="},
		"a key with a line end":   {func(o *notify.Options) { o.Credential = map[string]string{"key": key + "\n"} }, "only what follows key="},
		"a form there is none of": {func(o *notify.Options) { o.Settings = map[string]string{"form": "card"} }, `form "card" is none; give markdown, markdown_v2 or template_card`},
		"no address":              {func(o *notify.Options) { o.BaseURL = "qyapi.weixin.qq.com" }, "base_url is not a web address"},
		"a broken address":        {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":               {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}

// Every notice in both languages, in each form.
func TestTold(t *testing.T) {
	for _, form := range []string{"markdown", "markdown_v2", "template_card"} {
		notifytest.Payloads(t, *update, form+".json", func(t *testing.T, m notify.Message) string {
			return notifytest.Posted(t, expect(), notifytest.Reply{Body: `{"errcode":0,"errmsg":"ok"}`}, func(base string) notify.Channel {
				return openForm(t, base, notifytest.Client(), form)
			}, m)
		})
	}
}
