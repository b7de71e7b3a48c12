package wecom_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
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
	c, err := wecom.Kind().Open(notify.Options{
		Name: "wx", BaseURL: baseURL, Credential: map[string]string{"key": key}, HTTP: client,
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
	MsgType  string `json:"msgtype"`
	Markdown *struct {
		Content string `json:"content"`
	} `json:"markdown"`
	Text *struct {
		Content string `json:"content"`
	} `json:"text"`
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/cgi-bin/webhook/send", Query: url.Values{"key": {key}},
		ContentType: "application/json", Body: func() any { return new(payload) },
	}
}

func TestPayloads(t *testing.T) {
	plain, calm := message(), message()
	plain.Markdown = ""
	calm.Severity = fleet.Info
	armed := message()
	armed.Title = "<@all> **exp**</font>"
	for name, m := range map[string]notify.Message{"markdown": message(), "info": calm, "text": plain, "title-with-markup": armed} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"errcode":0,"errmsg":"ok"}`})
			if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			notifytest.Golden(t, *update, name+".json", string(server.Bodies()[0]))
		})
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
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		base string
	}{
		"nobody listens":      {t.Context(), gone.URL},
		"the context is over": {cancelled, gone.URL},
	} {
		t.Run(name, func(t *testing.T) {
			v := open(t, c.base, notifytest.Client()).Send(c.ctx, message())
			if v.Kind != notify.VerdictRetry || v.Detail == "" {
				t.Errorf("verdict %+v", v)
			}
			notifytest.NoSecret(t, v, key, "/cgi-bin/")
		})
	}
}

// An error may carry the address inside another error.
func TestErrorsOfTheTransportHoldNoKey(t *testing.T) {
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, errors.Join(errors.New("proxy said no to "+r.URL.String()), &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF})
	})}
	v := open(t, "https://qyapi.weixin.qq.com", client).Send(t.Context(), message())
	if !strings.Contains(v.Detail, "proxy said no") {
		t.Errorf("verdict %+v", v)
	}
	notifytest.NoSecret(t, v, key)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNoMessageIsTooLongForTheRobot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		robot := wecomtest.New(key, time.Now, t.Errorf)
		c, err := wecom.Kind().Open(notify.Options{
			BaseURL: wecom.Kind().DefaultURL, Credential: map[string]string{"key": key}, HTTP: &http.Client{Transport: robot},
		})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<&\n`")), 0, 6000, -1)
		m := notify.Message{Title: runes.Draw(t, "title"), Markdown: runes.Draw(t, "markdown"), Plain: runes.Draw(t, "plain")}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
		if got := robot.Messages()[0]; strings.Contains(got.Content, `\u003c`) {
			t.Fatalf("HTML escapes in %q", got.Content)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := notify.Options{
		Name: "wx", BaseURL: "https://qyapi.weixin.qq.com", HTTP: notifytest.Client(), Credential: map[string]string{"key": key},
	}
	for name, c := range map[string]struct {
		change func(*notify.Options)
		want   string
	}{
		"no key": {func(o *notify.Options) { o.Credential = nil }, "no key"},
		"the whole address": {func(o *notify.Options) {
			o.Credential = map[string]string{"key": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=" + key}
		}, "only what follows key="},
		"a key with a line end": {func(o *notify.Options) { o.Credential = map[string]string{"key": key + "\n"} }, "only what follows key="},
		"no address":            {func(o *notify.Options) { o.BaseURL = "qyapi.weixin.qq.com" }, "base_url is not a web address"},
		"a broken address":      {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":             {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := wecom.Kind().Open(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "channel wx") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, key)
		})
	}
	if _, err := wecom.Kind().Open(good); err != nil {
		t.Errorf("refuses what is right: %v", err)
	}
}
