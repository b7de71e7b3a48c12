package dingtalk_test

import (
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/dingtalk"
	"curfew/notify/dingtalk/dingtalktest"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	token  = "0a1b2c3d4e5f0a1b2c3d4e5faTokenThatIsNone"
	secret = "SECgpuwatchdemo0000000000000000000000000000000000000000000000000000"
	signed = "fWuUrRl8U4cQjZeS7fa/gzcsKpTkqrfBy73FAK0oris="
)

// clock stands at the moment of the known signature.
func clock() time.Time { return time.UnixMilli(1790000000000) }

func options(baseURL string, client *http.Client) notify.Options {
	return notify.Options{
		Name: "ding", BaseURL: baseURL, HTTP: client, Now: clock,
		Credential: map[string]string{"token": token, "secret": secret},
	}
}

func open(t testing.TB, o notify.Options) notify.Channel {
	t.Helper()
	c, err := dingtalk.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chinese() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "02:10 将关机：exp-7（10分钟后）", Severity: fleet.Warning, Event: notify.EventPending,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n> second line\n\n如需暂缓：`curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nsecond line\n如需暂缓：curfew hold exp-7 2h\n#12",
		Actions: []notify.Action{
			{Label: "暂缓 2 小时", URL: "https://curfew.lab.example/a?t=hold&n=12"},
			{Label: "立即关机", URL: "https://curfew.lab.example/a?t=now&n=12", Risky: true},
		},
		Mentions: []string{"wangwei", "13800000000"},
	}
}

func english() notify.Message {
	m := chinese()
	m.Title, m.Mentions = "Will stop exp-7 at 02:10 (in 10m)", nil
	m.Markdown = "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\nTo wait: `curfew hold exp-7 2h`\n#12"
	m.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nTo wait: curfew hold exp-7 2h\n#12"
	m.Actions = []notify.Action{{Label: "Hold for 2h", URL: "https://curfew.lab.example/a?t=hold&n=12"}, {Label: "Only a button", Value: "x"}}
	return m
}

func with(m notify.Message, change func(*notify.Message)) notify.Message {
	change(&m)
	return m
}

// messages are the forms a message can take, each by name.
func messages() map[string]notify.Message {
	return map[string]notify.Message{
		"card.zh":     chinese(),
		"card.en":     english(),
		"markdown.zh": with(chinese(), func(m *notify.Message) { m.Actions = nil }),
		"markdown.en": with(english(), func(m *notify.Message) { m.Actions = nil }),
		"text.zh":     with(chinese(), func(m *notify.Message) { m.Markdown = "" }),
		"text.en":     with(english(), func(m *notify.Message) { m.Markdown = "" }),
		"armed": with(english(), func(m *notify.Message) {
			m.Title, m.Markdown = "<@all> **exp** @manager7675", "[x]\u200b(https://c) `curfew hold @all`"
			m.Mentions = []string{"all", "ALL", "no one", "a@b", "", "user-1"}
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
	robot := dingtalktest.New(token, secret, clock, t.Errorf)
	if v := open(t, options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	return string(robot.Bodies()[0])
}

func TestCards(t *testing.T) {
	robot, base := dingtalktest.Start(t, token, secret, clock)
	c := open(t, options(base, notifytest.Client()))
	for _, m := range []notify.Message{
		chinese(),
		with(english(), func(m *notify.Message) { m.DeliveryID, m.Actions[0].URL = "8", "ftp://curfew.lab.example/" }),
		with(english(), func(m *notify.Message) {
			m.DeliveryID, m.Actions = "9", nil
			for range 7 {
				m.Actions = append(m.Actions, notify.Action{Label: "x", URL: "https://curfew.lab.example/"})
			}
		}),
	} {
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	}
	got := robot.Messages()
	if diff := cmp.Diff([]dingtalktest.Button{
		{Title: "暂缓 2 小时", URL: "dingtalk://dingtalkclient/page/link?pc_slide=false&url=https%3A%2F%2Fcurfew.lab.example%2Fa%3Ft%3Dhold%26n%3D12"},
		{Title: "立即关机", URL: "dingtalk://dingtalkclient/page/link?pc_slide=false&url=https%3A%2F%2Fcurfew.lab.example%2Fa%3Ft%3Dnow%26n%3D12"},
	}, got[0].Buttons); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	if !cmp.Equal(got[0].AtMobiles, []string{"13800000000"}) || !cmp.Equal(got[0].AtUserIDs, []string{"wangwei"}) {
		t.Errorf("mentioned %v and %v", got[0].AtMobiles, got[0].AtUserIDs)
	}
	if got[1].Type != "markdown" {
		t.Errorf("an address that is no page made a %s", got[1].Type)
	}
	if len(got[2].Buttons) != 5 {
		t.Errorf("%d buttons, want 5", len(got[2].Buttons))
	}
}

// A delivery that is sent again is shown once; another of the same number, from
// another daemon, is shown as well.
func TestADeliveryIsShownOnce(t *testing.T) {
	robot := dingtalktest.New(token, secret, clock, t.Errorf)
	here := options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})
	there := here
	there.Now = func() time.Time { return clock().Add(time.Nanosecond) }
	c := open(t, here)
	refused := with(chinese(), func(m *notify.Message) { m.Markdown = "" })
	for n, m := range []notify.Message{chinese(), with(chinese(), func(m *notify.Message) { m.Title += " " }), refused, refused} {
		if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("attempt %d: verdict %+v", n, v)
		}
	}
	if n := len(robot.Messages()); n != 2 {
		t.Errorf("%d messages are shown, want 2: one as a card, one as text", n)
	}
	open(t, there).Send(t.Context(), chinese())
	if n := len(robot.Messages()); n != 3 {
		t.Errorf("%d messages are shown after another daemon's, want 3", n)
	}
	noticed := with(chinese(), func(m *notify.Message) { m.Notices = []notify.Notice{{Key: "p|i|act|n3", At: clock()}} })
	later := with(noticed, func(m *notify.Message) { m.Notices = []notify.Notice{{Key: "p|i|act|n4", At: clock()}} })
	for _, o := range []notify.Options{here, there} { // before and after a restart
		open(t, o).Send(t.Context(), noticed)
	}
	open(t, here).Send(t.Context(), later)
	if n := len(robot.Messages()); n != 5 {
		t.Errorf("%d messages are shown, want 5: a message that says what it is of shows once even after a restart", n)
	}
}

// Each attempt is signed with the time it is made at, and the platform wants that
// time to be right.
func TestEachAttemptIsSignedAnew(t *testing.T) {
	now := clock()
	robot := dingtalktest.New(token, secret, func() time.Time { return now }, t.Errorf)
	o := options(dingtalk.Kind().DefaultURL, &http.Client{Transport: robot})
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
	skew = 0
	o.Credential = map[string]string{"token": token, "secret": secret + "x"}
	v := open(t, o).Send(t.Context(), chinese())
	if v.Kind != notify.VerdictPermanent || !strings.Contains(v.Detail, "secret") {
		t.Errorf("with a wrong secret: %+v", v)
	}
	notifytest.NoSecret(t, v, token, secret)
	o.Credential = map[string]string{"token": "another"}
	plain := dingtalktest.New("another", "", clock, t.Errorf)
	o.HTTP = &http.Client{Transport: plain}
	if v := open(t, o).Send(t.Context(), chinese()); v.Kind != notify.VerdictOK {
		t.Errorf("without a signature: %+v", v)
	}
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, options(base, c)) }, dingtalk.Kind().DefaultURL, chinese(), token, secret, signed)
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options { return options(dingtalk.Kind().DefaultURL, notifytest.Client()) }
	given := func(token, secret string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": token, "secret": secret} }
	}
	notifytest.Refuses(t, dingtalk.Kind(), good, []string{token, secret}, map[string]notifytest.Refusal{
		"no token":                 {given("", secret), "no token; give token: {env: NAME}"},
		"the whole address":        {given("https://oapi.dingtalk.com/robot/send?access_token="+token, secret), "only what follows access_token="},
		"its end":                  {given("access_token="+token, secret), "only what follows access_token="},
		"a token with a line end":  {given(token+"\n", secret), "only what follows access_token="},
		"the secret as token":      {given(secret, ""), "token holds the secret"},
		"the token as secret":      {given(token, token), "begins with SEC"},
		"a secret with a line end": {given(token, secret+"\n"), "begins with SEC"},
		"no address":               {func(o *notify.Options) { o.BaseURL = "oapi.dingtalk.com" }, "base_url is not a web address"},
		"a broken address":         {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":                {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
		"no clock":                 {func(o *notify.Options) { o.Now = nil }, "no clock"},
	})
}
