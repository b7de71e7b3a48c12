package feishu_test

import (
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/feishu"
	"curfew/notify/feishu/feishutest"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	token  = "0a1b2c3d-0000-4000-8000-aTokenThatIsNone"
	secret = "gpuwatch-demo"
	signed = "6VEgymNQCXph5ZFu9+u8FAeDuzV7LLTMVaqN3J3L8Dg="
)

// clock stands at the moment of the known signature.
func clock() time.Time { return time.Unix(1790000000, 0) }

func options(baseURL string, client *http.Client) notify.Options {
	return notify.Options{
		Name: "lab", BaseURL: baseURL, HTTP: client, Now: clock,
		Credential: map[string]string{"token": token, "secret": secret},
	}
}

func open(t testing.TB, o notify.Options) notify.Channel {
	t.Helper()
	c, err := feishu.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chinese() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning, Event: notify.EventPending,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n#12",
		Actions: []notify.Action{
			{Label: "暂缓 2 小时", URL: "https://curfew.lab.example/a?t=hold&n=12"},
			{Label: "立即关机", URL: "https://curfew.lab.example/a?t=now&n=12", Risky: true},
			{Label: "详情", URL: "https://curfew.lab.example/i/exp-7"},
		},
		Mentions: []string{"ou_18eac85d35a26f989317ad4f02e8bbbb", "b6xxxxg8"},
	}
}

func english() notify.Message {
	m := chinese()
	m.Title, m.Mentions, m.Actions = "Will stop exp-7 at 02:10 (in 10m)", nil, nil
	m.Markdown = "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\nTo wait: `curfew hold exp-7 2h`\n#12"
	m.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nTo wait: curfew hold exp-7 2h\n#12"
	return m
}

func with(m notify.Message, change func(*notify.Message)) notify.Message {
	change(&m)
	return m
}

// messages are the forms a message can take, each by name.
func messages() map[string]notify.Message {
	return map[string]notify.Message{
		"card.zh": chinese(),
		"card.en": english(),
		"text.zh": with(chinese(), func(m *notify.Message) { m.Markdown = "" }),
		"text.en": with(english(), func(m *notify.Message) { m.Markdown = "" }),
		"critical.zh": with(chinese(), func(m *notify.Message) {
			m.Severity, m.Actions = fleet.Critical, m.Actions[1:2]
			m.Title = "严重：余额只够 5 小时 " + strings.Repeat("很长", 60)
		}),
		"done.en": with(english(), func(m *notify.Message) { m.Severity, m.Event = fleet.Info, notify.EventDone }),
		"armed": with(english(), func(m *notify.Message) {
			m.Title = "<at id=all></at> **exp**"
			m.Markdown = "<\u200bat id=all></at> `curfew hold '< AT id=all></at>'`"
			m.Mentions = []string{"all", "ALL", "ou_1>all", "", "ou_2"}
		}),
		"armed-text": with(english(), func(m *notify.Message) {
			m.Title, m.Markdown, m.Plain = `<at user_id="all">x</at>`, "", "<At user_id='all'>x</at> <attic>"
		}),
		"test.en": {DeliveryID: "test-1", Title: "Test message from curfew", Severity: fleet.Info, Markdown: "If you can read this, the channel works.", Plain: "If you can read this, the channel works."},
	}
}

func TestPayloads(t *testing.T) {
	for name, m := range messages() {
		t.Run(name, func(t *testing.T) { notifytest.Golden(t, *update, name+".json", posted(t, m)) })
	}
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) { notifytest.Payloads(t, *update, "json", posted) }

// posted gives what is posted of a message.
func posted(t *testing.T, m notify.Message) string {
	t.Helper()
	bot := feishutest.New(token, secret, clock, t.Errorf)
	if v := open(t, options(feishu.Kind().DefaultURL, &http.Client{Transport: bot})).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	return string(bot.Bodies()[0])
}

func TestCards(t *testing.T) {
	bot, base := feishutest.Start(t, token, secret, clock)
	c := open(t, options(base, notifytest.Client()))
	for _, m := range []notify.Message{
		chinese(),
		with(chinese(), func(m *notify.Message) {
			m.Actions = nil
			for _, u := range []string{"", "ftp://a/", "javascript:alert(1)", "https://", "https://a/\"b", "https://a/" + strings.Repeat("x", 1500)} {
				m.Actions = append(m.Actions, notify.Action{Label: "x", URL: u, Value: "v"})
			}
		}),
	} {
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	}
	got := bot.Messages()
	if diff := cmp.Diff([]feishutest.Button{
		{Text: "暂缓 2 小时", Type: "primary", URL: "https://curfew.lab.example/a?t=hold&n=12"},
		{Text: "立即关机", Type: "danger", URL: "https://curfew.lab.example/a?t=now&n=12"},
		{Text: "详情", Type: "default", URL: "https://curfew.lab.example/i/exp-7"},
	}, got[0].Buttons); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	if got[1].Buttons != nil {
		t.Errorf("addresses that are no pages became buttons: %+v", got[1].Buttons)
	}
}

// Each attempt is signed with the time it is made at, and the platform wants that
// time to be right.
func TestEachAttemptIsSignedAnew(t *testing.T) {
	now := clock()
	bot := feishutest.New(token, secret, func() time.Time { return now }, t.Errorf)
	o := options(feishu.Kind().DefaultURL, &http.Client{Transport: bot})
	skew := time.Duration(0)
	o.Now = func() time.Time { return now.Add(skew) }
	c := open(t, o)
	now = now.Add(3 * time.Hour)
	if v := c.Send(t.Context(), chinese()); v.Kind != notify.VerdictOK {
		t.Errorf("three hours later: %+v", v)
	}
	skew = -61 * time.Minute
	if v := c.Send(t.Context(), chinese()); v.Kind != notify.VerdictPermanent || !strings.Contains(v.Detail, "clock") {
		t.Errorf("with a wrong clock: %+v", v)
	}
	o.Credential = map[string]string{"token": "another"}
	o.HTTP = &http.Client{Transport: feishutest.New("another", "", clock, t.Errorf)}
	if v := open(t, o).Send(t.Context(), chinese()); v.Kind != notify.VerdictOK {
		t.Errorf("without a signature: %+v", v)
	}
}

func TestLarkIsAnotherAddress(t *testing.T) {
	var got string
	client := &http.Client{Transport: notifytest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.URL.String()
		return nil, io.EOF
	})}
	for base, want := range map[string]string{
		feishu.Kind().DefaultURL:      "https://open.feishu.cn/open-apis/bot/v2/hook/" + token,
		"https://open.larksuite.com/": "https://open.larksuite.com/open-apis/bot/v2/hook/" + token,
		"http://relay.lab:8080/fs":    "http://relay.lab:8080/fs/open-apis/bot/v2/hook/" + token,
	} {
		open(t, options(base, client)).Send(t.Context(), chinese())
		if got != want {
			t.Errorf("sent to %s, want %s", got, want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, options(base, c)) }, feishu.Kind().DefaultURL, chinese(), token, secret, signed)
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options { return options(feishu.Kind().DefaultURL, notifytest.Client()) }
	given := func(token, secret string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": token, "secret": secret} }
	}
	notifytest.Refuses(t, feishu.Kind(), good, []string{token, secret}, map[string]notifytest.Refusal{
		"no token":                 {given("", secret), "no token; give token: {env: NAME}"},
		"the whole address":        {given("https://open.feishu.cn/open-apis/bot/v2/hook/"+token, secret), "only what follows /hook/"},
		"that of Lark":             {given("https://open.larksuite.com/open-apis/bot/v2/hook/"+token, secret), "base_url: https://open.larksuite.com"},
		"its end":                  {given("hook/"+token, secret), "only what follows /hook/"},
		"a token that leads away":  {given("..", secret), "only what follows /hook/"},
		"a token with a line end":  {given(token+"\n", secret), "only what follows /hook/"},
		"a secret with a line end": {given(token, secret+"\n"), "signature verification"},
		"no address":               {func(o *notify.Options) { o.BaseURL = "open.feishu.cn" }, "base_url is not a web address"},
		"a broken address":         {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":                {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
		"no clock":                 {func(o *notify.Options) { o.Now = nil }, "no clock"},
	})
}
