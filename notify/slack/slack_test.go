package slack_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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
	"curfew/notify/slack"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	path    = "/services/T0TEST/B0TEST/aSecretThatIsNone"
	webhook = "https://hooks.slack.com" + path
)

func secrets() []string {
	return []string{webhook, path, "T0TEST/B0TEST", "aSecretThatIsNone"}
}

func open(t testing.TB, baseURL string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := slack.Kind().Open(notify.Options{
		Name: "lab", BaseURL: baseURL, Credential: map[string]string{"webhook": webhook}, HTTP: client,
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

type textObject struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji"`
	Verbatim bool   `json:"verbatim"`
}

type payload struct {
	Text   string `json:"text"`
	Blocks []struct {
		Type string     `json:"type"`
		Text textObject `json:"text"`
	} `json:"blocks"`
}

// check keeps Slack's limits, and refuses characters that Slack would take for a
// mention.
func (p payload) check() error {
	within := func(what, s string, limit int) error {
		if n := utf8.RuneCountInString(s); n < 1 || n > limit {
			return fmt.Errorf("%s has %d characters, want 1 to %d", what, n, limit)
		}
		for _, mention := range []string{"<!", "<@", "<#"} {
			if strings.Contains(regexp.MustCompile(`<@(U012AB3CD|W09)>`).ReplaceAllString(s, ""), mention) {
				return fmt.Errorf("%s holds a mention: %q", what, s)
			}
		}
		return nil
	}
	errs := []error{within("text", p.Text, 3000)}
	if len(p.Blocks) > 50 {
		errs = append(errs, fmt.Errorf("%d blocks, want at most 50", len(p.Blocks)))
	}
	for _, b := range p.Blocks {
		switch b.Type + " " + b.Text.Type {
		case "header plain_text":
			errs = append(errs, within("header", b.Text.Text, 150))
			if b.Text.Verbatim || b.Text.Emoji == nil || *b.Text.Emoji {
				errs = append(errs, fmt.Errorf("header has wrong fields: %+v", b.Text))
			}
		case "section mrkdwn":
			errs = append(errs, within("section", b.Text.Text, 3000))
			if !b.Text.Verbatim || b.Text.Emoji != nil {
				errs = append(errs, fmt.Errorf("section has wrong fields: %+v", b.Text))
			}
		default:
			errs = append(errs, fmt.Errorf("block %s of %s", b.Type, b.Text.Type))
		}
	}
	return errors.Join(errs...)
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: path, ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

func TestPayloads(t *testing.T) {
	plain := message()
	plain.Markdown = ""
	armed := message()
	armed.Title = "<!channel> & <@U1> **exp** :fire:"
	armed.Markdown = "**bold** and [the page](https://curfew.lab/i?a=1&b=2) `**a** < [b](https://c)`\n> <!here> & more\n**not bold, `nor code"
	linked := message()
	linked.Actions = actions()
	linked.Mentions = []string{"U012AB3CD", "<!channel>", "wang", "W09"}
	linkedPlain, quiet := linked, linked
	linkedPlain.Markdown, quiet.Silent = "", true
	long := message()
	long.Title = strings.Repeat("长&", 100)
	long.Markdown = strings.Repeat("a line that says nothing at all & is escaped\n", 120) + strings.Repeat("<", 4000)
	for name, m := range map[string]notify.Message{"blocks": message(), "text": plain, "markup": armed, "long": long, "linked": linked, "linked-text": linkedPlain, "silent": quiet} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: "ok"})
			if v := open(t, server.URL, notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK {
				t.Errorf("verdict %+v", v)
			}
			notifytest.Golden(t, *update, name+".json", string(server.Bodies()[0]))
		})
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	after := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	bad := func(word string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: word} }
	gone := func(word string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: word} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, notifytest.Client())
	}, expect(), message(), secrets(), []notifytest.Case{
		{Name: "ok is success", Reply: reply(200, "ok"), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}},
		{Name: "a payload it cannot read is a bad message", Reply: reply(400, "invalid_payload"), Want: bad("invalid_payload")},
		{Name: "blocks it does not take are a bad message", Reply: reply(400, "invalid_blocks"), Want: bad("invalid_blocks")},
		{Name: "blocks in a wrong form are a bad message", Reply: reply(400, "invalid_blocks_format\n"), Want: bad("invalid_blocks_format")},
		{Name: "a missing user is a bad message", Reply: reply(400, "user_not_found"), Want: bad("user_not_found")},
		{Name: "no text is a bad message", Reply: reply(400, "missing_text_or_fallback_or_attachments"), Want: bad("missing_text_or_fallback_or_attachments")},
		{Name: "a forbidden act is permanent", Reply: reply(403, "action_prohibited"), Want: gone("action_prohibited")},
		{Name: "an invalid token is permanent", Reply: reply(403, "invalid_token"), Want: gone("invalid_token")},
		{Name: "a missing channel is permanent", Reply: reply(404, "channel_not_found"), Want: gone("channel_not_found")},
		{Name: "a missing team is permanent", Reply: reply(404, "no_team"), Want: gone("no_team")},
		{Name: "a removed webhook is permanent", Reply: reply(404, "no_service"), Want: gone("no_service")},
		{Name: "an archived channel is permanent", Reply: reply(410, "channel_is_archived"), Want: gone("channel_is_archived")},
		{Name: "429 waits as long as the header says", Reply: notifytest.Reply{Status: 429, Header: after("30"), Body: "rate_limited"}, Want: notify.Verdict{Kind: notify.VerdictRetry, After: 30 * time.Second, Code: "rate_limited"}},
		{Name: "429 waits as long as the body says", Reply: reply(429, `{"retry_after":2,"ok":false,"error":"rate_limited"}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 2 * time.Second, Code: "http 429"}},
		{Name: "429 that says nothing waits a minute", Reply: reply(429, ""), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "429 for years waits an hour", Reply: notifytest.Reply{Status: 429, Header: after("99999999999")}, Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "http 429"}},
		{Name: "an error of Slack's is tried again", Reply: reply(500, "rollup_error"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "rollup_error"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "another platform's success is unknown", Reply: reply(200, `{"errcode":0}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a proxy's 404 is unknown", Reply: reply(404, "404 page not found"), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a proxy's 403 is unknown", Reply: reply(403, "Forbidden"), Want: notify.Verdict{Code: "http 403"}},
		{Name: "a proxy's 400 is unknown", Reply: reply(400, "<html>bad request</html>"), Want: notify.Verdict{Code: "http 400"}},
		{Name: "a word with another status is unknown", Reply: reply(201, "no_team"), Want: notify.Verdict{Code: "http 201"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
	})
}

func TestSectionsAreFilledUpToSlacksLimits(t *testing.T) {
	for name, c := range map[string]struct {
		markdown string
		blocks   int // without the header
	}{
		"two lines that just fit are one section": {strings.Repeat("x", 1499) + "\n" + strings.Repeat("y", 1500), 1},
		"one character more makes two":            {strings.Repeat("x", 1500) + "\n" + strings.Repeat("y", 1500), 2},
		"empty lines make none":                   {"\n \n\n", 0},
		"far too much is cut":                     {strings.Repeat("&&&\n", 100_000), 11},
	} {
		t.Run(name, func(t *testing.T) {
			server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: "ok"})
			m := message()
			m.Markdown = c.markdown
			open(t, server.URL, notifytest.Client()).Send(t.Context(), m)
			var p payload
			if err := notifytest.Strict(server.Bodies()[0], &p); err != nil || len(p.Blocks) != 1+c.blocks {
				t.Errorf("%v, %d blocks, want a header and %d", err, len(p.Blocks), c.blocks)
			}
		})
	}
}

func TestRefusedBlocksGoOutAsText(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Status: 400, Body: "invalid_blocks"}, notifytest.Reply{Body: "ok"})
	c, m := open(t, server.URL, notifytest.Client()), message()
	v := c.Send(t.Context(), m)
	if next, plain, final := notify.Next(v, notify.Delivery{Attempt: 1}, time.Time{}); !next.IsZero() || !plain || final {
		t.Fatalf("after %+v comes %v, plain %v, final %v", v, next, plain, final)
	}
	m.Markdown = ""
	if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	var p payload
	if err := notifytest.Strict(server.Bodies()[1], &p); err != nil || p.Blocks != nil || !strings.Contains(p.Text, "gpu &lt; 5% &amp;&amp; no run") {
		t.Errorf("%v, payload %+v", err, p)
	}
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, open, "", message(), secrets()...)
}

func TestNoMessageIsTooLongForSlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := expect()
		to.Whole = func(r *http.Request, _ []byte) error {
			if r.URL.String() != webhook {
				return fmt.Errorf("posts to %s", r.URL)
			}
			return nil
		}
		client := notifytest.Takes(t, to, notifytest.Reply{Body: "ok"})
		c, err := slack.Kind().Open(notify.Options{Credential: map[string]string{"webhook": webhook}, HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		runes := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<!&>\n` *[](")), 0, 100, -1)
		long := func(name string) string {
			return strings.Repeat(runes.Draw(t, name), rapid.IntRange(1, 400).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Markdown: long("markdown"), Plain: long("plain"), Mentions: people(t), Actions: drawActions(t)}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
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
	notifytest.Refuses(t, slack.Kind(), good, secrets(), map[string]notifytest.Refusal{
		"no webhook":              {with(""), "no webhook and no bot_token; give webhook: {env: NAME}"},
		"a channel for a webhook": {func(o *notify.Options) { o.Settings = map[string]string{"channel": "C0TEST"} }, "channel goes with bot_token"},
		"a token beside it": {func(o *notify.Options) {
			o.Credential = map[string]string{"webhook": webhook, "bot_token": token}
		}, "give one of them"},
		"a bot's token":              {with("xoxb-" + "aSecretThatIsNone"), "holds a token"},
		"the last part alone":        {with("aSecretThatIsNone"), "whole address"},
		"an address without TLS":     {with("http://hooks.slack.com" + path), "not an https address"},
		"a workflow's address":       {with("https://hooks.slack.com/triggers/T0TEST/1/aSecretThatIsNone"), "starts a workflow"},
		"another platform's address": {with("https://discord.com/api/webhooks/1/aSecretThatIsNone"), "give one like https://hooks.slack.com/services/"},
		"an address with a query":    {with(webhook + "?x=1"), "give one like"},
		"a line end":                 {with(webhook + "\n"), "not an https address"},
		"a broken address":           {with("https://hooks.slack.com/%zz/aSecretThatIsNone"), "not an https address"},
		"a base that is no address":  {func(o *notify.Options) { o.BaseURL = "127.0.0.1:9" }, "base_url is not a web address"},
		"no client":                  {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}

// Every notice in both languages, as it is posted.
func TestTold(t *testing.T) {
	notifytest.Payloads(t, *update, "json", func(t *testing.T, m notify.Message) string {
		return notifytest.Posted(t, expect(), notifytest.Reply{Body: "ok"}, func(base string) notify.Channel {
			return open(t, base, notifytest.Client())
		}, m)
	})
}
