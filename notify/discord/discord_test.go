package discord_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/discord"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	path    = "/api/webhooks/1234567890/aSecret-That_IsNone"
	webhook = "https://discord.com" + path
	taken   = `{"id":"1300000000000000001","channel_id":"2","content":"x"}`
)

func secrets() []string { return []string{webhook, path, "aSecret-That_IsNone"} }

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := discord.Kind().Open(notify.Options{
		Name: "lab", BaseURL: baseURL, Credential: map[string]string{"webhook": webhook}, HTTP: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func message() notify.Message {
	return notify.Message{
		DeliveryID: "7", Title: "Will stop exp-7 at 02:10 (in 10m)", Severity: fleet.Warning,
		Markdown: "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\nTo make it wait: `curfew hold exp-7 2h`\n#12",
		Plain:    "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\nTo make it wait: curfew hold exp-7 2h\n#12",
	}
}

func chinese() notify.Message {
	m := message()
	m.Title, m.Severity = "02:10 将释放：exp-7（10分钟后）", fleet.Critical
	m.Markdown = "exp-7 (pro-0a1b) · RTX 4090 ×1\n> gpu < 5% && no run\n\n如需暂缓：`curfew hold exp-7 2h`\n#12"
	m.Plain = "exp-7 (pro-0a1b) · RTX 4090 ×1\ngpu < 5% && no run\n如需暂缓：curfew hold exp-7 2h\n#12"
	return m
}

type payload struct {
	Content string `json:"content"`
	Embeds  []struct {
		Description string `json:"description"`
		Colour      int    `json:"color"`
	} `json:"embeds"`
	Mentions *struct {
		Parse []string `json:"parse"`
		Users []string `json:"users"`
	} `json:"allowed_mentions"`
	Flags int `json:"flags"`
}

// check keeps Discord's limits in the widest way of counting, and lets nobody be called
// but those who are listed.
func (p payload) check() error {
	var errs []error
	within := func(what, s string, limit int) {
		if n := len(utf16.Encode([]rune(s))); n < 1 || n > limit {
			errs = append(errs, fmt.Errorf("%s has %d characters, want 1 to %d", what, n, limit))
		}
	}
	within("content", p.Content, 2000)
	if len(p.Embeds) > 1 || p.Flags&^4096 != 0 {
		errs = append(errs, fmt.Errorf("%d embeds, flags %d", len(p.Embeds), p.Flags))
	}
	for _, e := range p.Embeds {
		within("description", e.Description, 4096)
		if e.Colour < 0 || e.Colour > 0xffffff {
			errs = append(errs, fmt.Errorf("color %d", e.Colour))
		}
	}
	if p.Mentions == nil || p.Mentions.Parse == nil || len(p.Mentions.Parse) > 0 || len(p.Mentions.Users) > 100 {
		return errors.Join(append(errs, fmt.Errorf("allowed_mentions is %+v", p.Mentions))...)
	}
	for _, id := range p.Mentions.Users {
		if !regexp.MustCompile(`^\d{15,21}$`).MatchString(id) {
			errs = append(errs, fmt.Errorf("mentions %q", id))
		}
	}
	for _, m := range regexp.MustCompile(`<@[!&]?(\d+)>`).FindAllStringSubmatch(p.Content, -1) {
		if !slices.Contains(p.Mentions.Users, m[1]) {
			errs = append(errs, fmt.Errorf("content mentions %s", m[0]))
		}
	}
	return errors.Join(errs...)
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: path, Query: url.Values{"wait": {"true"}}, ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	calm, armed, linked := message(), message(), message()
	calm.Severity = fleet.Info
	armed.Title, armed.Plain = "<@123456789012345678> @everyone [a](https://b) **c**", "<@&123456789012345678> `x`"
	linked.Actions = []notify.Action{{Label: "Wait 2h", URL: "https://curfew.lab/a?id=12&t=x", Value: "v"}, {Label: "No", Value: "v"}, {Label: "Now", URL: "https://curfew.lab/b"}}
	linked.Mentions = []string{"123456789012345678", "@everyone", "wang", "123456789012345678", "&123456789012345679"}
	quiet := linked
	quiet.Silent = true
	for name, m := range map[string]notify.Message{
		"en": message(), "zh": chinese(), "info": calm, "title-with-markup": armed, "linked": linked, "silent": quiet,
	} {
		for _, form := range []string{"embed", "text"} {
			t.Run(name+"-"+form, func(t *testing.T) {
				sent := m
				if form == "text" {
					sent.Markdown = ""
				}
				server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: taken})
				want := notify.Verdict{Kind: notify.VerdictOK, Code: "200", Ref: "1300000000000000001"}
				if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), sent); v != want {
					t.Errorf("verdict %+v", v)
				}
				notifytest.Golden(t, *update, name+"-"+form+".json", string(server.Bodies()[0]))
			})
		}
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	late := func(header, body string) notifytest.Reply {
		return notifytest.Reply{Status: 429, Header: http.Header{"Retry-After": {header}}, Body: body}
	}
	retry := func(after time.Duration, code string) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, After: after, Code: code}
	}
	gone := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), secrets(), []notifytest.Case{
		{Name: "a message with an id is success", Reply: reply(200, taken), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "200", Ref: "1300000000000000001"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(201, taken), Want: notify.Verdict{Code: "http 201"}},
		{Name: "heard but not kept is unknown", Reply: reply(204, ""), Want: notify.Verdict{Code: "http 204"}},
		{Name: "a message without an id is unknown", Reply: reply(200, `{"content":"x"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an id that is none is unknown", Reply: reply(200, `{"id":"ok"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an invalid form is a bad message", Reply: reply(400, `{"message":"Invalid Form Body","code":50035,"errors":{}}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "50035"}},
		{Name: "an empty message is a bad message", Reply: reply(400, `{"message":"Cannot send an empty message","code":50006}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "50006"}},
		{Name: "a proxy's 400 is unknown", Reply: reply(400, "<html>"), Want: notify.Verdict{Code: "http 400"}},
		{Name: "a wrong token is permanent", Reply: reply(401, `{"message":"Invalid Webhook Token","code":50027}`), Want: gone("50027")},
		{Name: "a missing permission is permanent", Reply: reply(403, `{"message":"Missing Permissions","code":50013}`), Want: gone("50013")},
		{Name: "a removed webhook is permanent", Reply: reply(404, `{"message":"Unknown Webhook","code":10015}`), Want: gone("10015")},
		{Name: "an unknown route is permanent", Reply: reply(404, `{"message":"404: Not Found","code":0}`), Want: gone("0")},
		{Name: "a proxy's 404 is unknown", Reply: reply(404, "404 page not found"), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a proxy's 403 is unknown", Reply: reply(403, "Forbidden"), Want: notify.Verdict{Code: "http 403"}},
		{Name: "429 waits as long as the body says", Reply: late("1", `{"message":"You are being rate limited.","retry_after":0.6457,"global":false}`), Want: retry(646*time.Millisecond, "http 429")},
		{Name: "429 with a code waits too", Reply: reply(429, `{"message":"x","retry_after":2,"global":true,"code":20028}`), Want: retry(2*time.Second, "20028")},
		{Name: "429 waits as long as the header says", Reply: late("65", "error code: 1015"), Want: retry(65*time.Second, "http 429")},
		{Name: "429 that says nothing waits a minute", Reply: reply(429, ""), Want: retry(time.Minute, "http 429")},
		{Name: "429 for less than nothing waits a minute", Reply: reply(429, `{"retry_after":-1}`), Want: retry(time.Minute, "http 429")},
		{Name: "429 for days waits an hour", Reply: late("1e300", ""), Want: retry(time.Hour, "http 429")},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry(0, "http 502")},
		{Name: "Discord in trouble is tried again", Reply: reply(500, `{"message":"500: Internal Server Error","code":0}`), Want: retry(0, "0")},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry(0, "network")},
		{Name: "the address in an answer is not passed on", Reply: reply(400, `{"code":1,"message":"no route `+path+`"}`), Want: notify.Verdict{Kind: notify.VerdictBadMessage, Code: "1"}},
	})
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, "", message(), secrets()...)
}

func TestNoMessageIsTooLongForDiscord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := expect()
		to.Whole = func(r *http.Request, _ []byte) error {
			if r.URL.String() != webhook+"?wait=true" {
				return fmt.Errorf("posts to %s", r.URL)
			}
			return nil
		}
		client := notifytest.Takes(t, to, notifytest.Reply{Body: taken})
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<@1>&\n` *[](")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Markdown: long("markdown"), Plain: long("plain"), Silent: rapid.Bool().Draw(t, "silent")}
		for range rapid.IntRange(0, 5).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{Label: "l" + long("label"), URL: "https://h/" + strings.Repeat("a", rapid.IntRange(0, 900).Draw(t, "long"))})
		}
		m.Mentions = rapid.SliceOfN(rapid.StringMatching(`[0-9]{10,24}`), 0, 60).Draw(t, "mentions")
		if v := must(client).Send(t.Context(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{Name: "lab", HTTP: notifytest.Client(), Credential: map[string]string{"webhook": webhook}}
	}
	with := func(w string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"webhook": w} }
	}
	notifytest.Refuses(t, discord.Kind(), good, secrets(), map[string]notifytest.Refusal{
		"no webhook":                 {with(""), "no webhook; give webhook: {env: NAME}"},
		"a bot's token":              {with("aSecret-That_IsNone"), "whole address"},
		"an address without TLS":     {with("http://discord.com" + path), "not an https address"},
		"the address of Slack's way": {with(webhook + "/slack"), "leave out the end, /slack"},
		"another platform's address": {with("https://hooks.slack.com/services/T/B/aSecret-That_IsNone"), "give one like https://discord.com/api/webhooks/"},
		"an address with a query":    {with(webhook + "?wait=true"), "give one like"},
		"a line end":                 {with(webhook + "\n"), "not an https address"},
		"a base that is no address":  {func(o *notify.Options) { o.BaseURL = "127.0.0.1:9" }, "base_url is not a web address"},
		"no client":                  {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
	for _, w := range []string{"https://discordapp.com" + path, "https://ptb.discord.com/api/v10/webhooks/1/a"} {
		o := good()
		with(w)(&o)
		notifytest.Opens(t, discord.Kind(), o)
	}
}

// must opens the channel where there is no test to fail.
func must(client *http.Client) notify.Channel {
	c, err := discord.Kind().Open(notify.Options{Credential: map[string]string{"webhook": webhook}, HTTP: client})
	if err != nil {
		panic(err)
	}
	return c
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
		return notifytest.Posted(t, expect(), notifytest.Reply{Body: taken}, func(base string) notify.Channel {
			return open(t, base, notifytest.Client())
		}, m)
	})
}
