package telegram_test

import (
	"context"
	"flag"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/telegram"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	token  = "4242:aSecretThatIsNone_at-all"
	secret = "aSecretThatIsNone_at-all"
	path   = "/bot" + token + "/sendMessage"
	taken  = `{"ok":true,"result":{"message_id":57,"date":1790000000,"chat":{"id":-1001234567890,"type":"supergroup"},"text":"x"}}`
)

func open(t testing.TB, baseURL, chat string, client *http.Client) notify.Channel {
	t.Helper()
	c, err := telegram.Kind().Open(notify.Options{
		Name: "tg", BaseURL: baseURL, Credential: map[string]string{"token": token},
		Settings: map[string]string{"chat": chat}, HTTP: client,
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

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: path, ContentType: "application/json",
		Body:  func() any { return new(payload) },
		Check: func(body any) error { return body.(*payload).check() },
	}
}

// sent gives what one message is sent as.
func sent(t *testing.T, m notify.Message) (payload, string) {
	t.Helper()
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: taken})
	if v := open(t, server.URL, "-1001234567890", notifytest.Client()).Send(t.Context(), m); v.Kind != notify.VerdictOK || v.Ref != "57" {
		t.Errorf("verdict %+v", v)
	}
	var p payload
	if err := notifytest.Strict(server.Bodies()[0], &p); err != nil {
		t.Fatal(err)
	}
	return p, string(server.Bodies()[0])
}

func TestPayloads(t *testing.T) {
	messages := notifytest.Told(t)
	plain, armed, long := messages["pending.en"], message(), message()
	plain.Markdown, plain.Mentions = "", []string{"wang_lab", "421"}
	armed.Title = "@admin & <b>**exp**</b>"
	armed.Markdown = "**bold** and [the page](https://curfew.lab/i?a=1&b=2) `**a** < [b](https://c) @d`\n> <b> & @more\n> quoted\n\n**[x** y](https://c) ``\n**not bold, `nor code @e"
	armed.Mentions = []string{"@wang_lab", "421", "<b>", "all"}
	long.Title = strings.Repeat("长&", 600)
	long.Markdown = strings.Repeat("a line of 训练 & 🙂 that says **nothing** at all\n", 200) + strings.Repeat("<", 4000)
	maps.Copy(messages, map[string]notify.Message{"html": message(), "text": plain, "markup": armed, "long": long})
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			_, body := sent(t, m)
			notifytest.Golden(t, *update, name+".json", body)
		})
	}
}

func TestButtonsAnswerOrOpenAPage(t *testing.T) {
	m := message()
	m.Actions = []notify.Action{
		{Label: "Wait", Value: "h:1", URL: "https://curfew.lab/h"},
		{Label: "Page", URL: "https://curfew.lab/i"},
		{Label: "Long", Value: strings.Repeat("x", 65), URL: "http://192.0.2.1:8420/l"},
		{Label: "Just", Value: strings.Repeat("x", 64)},
		{Label: "Nothing"},
		{Label: "Too long", Value: strings.Repeat("x", 65)},
		{Label: "Near", URL: "http://curfew:8420/n"},
		{Value: "nameless"},
		{Label: "Script", URL: "javascript:alert(1)"},
	}
	p, _ := sent(t, m)
	var got []string
	for _, row := range p.Markup.Rows {
		for _, b := range row {
			got = append(got, b.Text+" "+b.URL+b.Value)
		}
	}
	want := []string{"Wait h:1", "Page https://curfew.lab/i", "Long http://192.0.2.1:8420/l", "Just " + strings.Repeat("x", 64)}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("buttons %q, want %q", got, want)
	}
	if !strings.HasSuffix(p.Text, "\nNear: http://curfew:8420/n") {
		t.Errorf("what can be no button is not told: %q", p.Text)
	}
	m.Markdown = ""
	p, _ = sent(t, m)
	if p.Markup != nil || p.ParseMode != "" || !strings.Contains(p.Text, "\nWait: https://curfew.lab/h\nPage: https://curfew.lab/i\n") {
		t.Errorf("the plain form is %+v", p)
	}
	for range 20 {
		m.Actions = append(m.Actions, notify.Action{Label: "More", Value: "v"})
	}
	m.Markdown = "x"
	if p, _ = sent(t, m); len(p.Markup.Rows) != 4 {
		t.Errorf("%d rows of buttons, want 4", len(p.Markup.Rows))
	}
}

func TestAnswersAndSilence(t *testing.T) {
	m := message()
	if p, _ := sent(t, m); p.Reply != nil || p.Silent {
		t.Errorf("a first message is %+v", p)
	}
	m.ReplyTo, m.Silent = "57", true
	if p, _ := sent(t, m); p.Reply == nil || p.Reply.MessageID != 57 || !p.Reply.Anyway || !p.Silent {
		t.Errorf("an answer is %+v", p)
	}
	m.ReplyTo = "another channel's"
	if p, _ := sent(t, m); p.Reply != nil {
		t.Errorf("answers what is no message: %+v", p.Reply)
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	no := func(code, words string) string {
		return `{"ok":false,"error_code":` + code + `,"description":"` + words + `"}`
	}
	permanent := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	bad := notify.Verdict{Kind: notify.VerdictBadMessage, Code: "400"}
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, baseURL, "-1001234567890", notifytest.Client())
	}, expect(), message(), []string{token, secret}, []notifytest.Case{
		{Name: "ok is success and has a number", Reply: reply(200, taken), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "ok", Ref: "57"}},
		{Name: "a message without a number yet is success", Reply: reply(200, `{"ok":true,"result":{"message_id":0}}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "ok"}},
		{Name: "429 waits as long as the body says", Reply: reply(429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 31","parameters":{"retry_after":31}}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: 31 * time.Second, Code: "429"}},
		{Name: "429 waits as long as the header says", Reply: notifytest.Reply{Status: 429, Header: http.Header{"Retry-After": {"12"}}, Body: no("429", "Too Many Requests")}, Want: notify.Verdict{Kind: notify.VerdictRetry, After: 12 * time.Second, Code: "429"}},
		{Name: "429 that says nothing waits a minute", Reply: reply(429, no("429", "Too Many Requests")), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "429"}},
		{Name: "429 for years waits an hour", Reply: reply(429, `{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":99999999}}`), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour, Code: "429"}},
		{Name: "a proxy's 429 waits a minute", Reply: reply(429, "slow down"), Want: notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "http 429"}},
		{Name: "markup it cannot read is a bad message", Reply: reply(400, no("400", "Bad Request: can't parse entities: Unsupported start tag")), Want: bad},
		{Name: "too long is a bad message", Reply: reply(400, no("400", "Bad Request: message is too long")), Want: bad},
		{Name: "a button it does not like is a bad message", Reply: reply(400, no("400", "Bad Request: BUTTON_URL_INVALID")), Want: bad},
		{Name: "a missing chat is permanent", Reply: reply(400, no("400", "Bad Request: chat not found")), Want: permanent("400")},
		{Name: "a group with another number is permanent", Reply: reply(400, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1001557912345}}`), Want: permanent("400")},
		{Name: "no right to write is permanent", Reply: reply(400, no("400", "Bad Request: not enough rights to send text messages to the chat")), Want: permanent("400")},
		{Name: "a channel without a right is permanent", Reply: reply(400, no("400", "Bad Request: need administrator rights in the channel chat")), Want: permanent("400")},
		{Name: "a closed topic is permanent", Reply: reply(400, no("400", "Bad Request: TOPIC_CLOSED")), Want: permanent("400")},
		{Name: "a revoked token is permanent", Reply: reply(401, no("401", "Unauthorized")), Want: permanent("401")},
		{Name: "a token of no bot is permanent", Reply: reply(404, no("404", "Not Found")), Want: permanent("404")},
		{Name: "blocked is permanent", Reply: reply(403, no("403", "Forbidden: bot was blocked by the user")), Want: permanent("403")},
		{Name: "trouble at Telegram is tried again", Reply: reply(500, no("500", "Internal Server Error")), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "500"}},
		{Name: "a code nobody knows is unknown", Reply: reply(409, no("409", "Conflict")), Want: notify.Verdict{Code: "409"}},
		{Name: "a success without a message is unknown", Reply: reply(200, `{"ok":true}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, taken), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a refusal without a code is unknown", Reply: reply(400, `{"ok":false}`), Want: notify.Verdict{Code: "http 400"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "another platform's success is unknown", Reply: reply(200, `{"errcode":0}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a proxy's 404 is unknown", Reply: reply(404, "404 page not found"), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"}},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}},
		{Name: "the token in an answer is not passed on", Reply: reply(400, no("400", "no route "+path+", bad "+secret)), Want: bad},
	})
}

func TestTheNewNumberOfAGroupIsTold(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Status: 400, Body: `{"ok":false,"error_code":400,"description":"x","parameters":{"migrate_to_chat_id":-1001557912345}}`})
	if v := open(t, server.URL, "-42", notifytest.Client()).Send(t.Context(), message()); !strings.Contains(v.Detail, "chat: -1001557912345") {
		t.Errorf("detail %q", v.Detail)
	}
}

func TestRefusedMarkupGoesOutAsPlainWords(t *testing.T) {
	server := notifytest.NewServer(t, expect(),
		notifytest.Reply{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities"}`}, notifytest.Reply{Body: taken})
	c, m := open(t, server.URL, "@labgroup", notifytest.Client()), message()
	v := c.Send(t.Context(), m)
	if next, plain, final := notify.Next(v, notify.Delivery{Attempt: 1}, time.Time{}); !next.IsZero() || !plain || final {
		t.Fatalf("after %+v comes %v, plain %v, final %v", v, next, plain, final)
	}
	m.Markdown = ""
	if v := c.Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	var p payload
	if err := notifytest.Strict(server.Bodies()[1], &p); err != nil || p.ParseMode != "" || p.Chat != "@labgroup" || !strings.Contains(p.Text, "gpu < 5% && no run") {
		t.Errorf("%v, payload %+v", err, p)
	}
}

func TestUnreachable(t *testing.T) {
	notifytest.Unreachable(t, func(t testing.TB, base string, c *http.Client) notify.Channel { return open(t, base, "42", c) }, telegram.Kind().DefaultURL, message(), token, secret)
}

func TestNoMessageIsTooLongForTelegram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		client := notifytest.Takes(t, expect(), notifytest.Reply{Body: taken})
		c, err := telegram.Kind().Open(notify.Options{
			BaseURL: telegram.Kind().DefaultURL, Credential: map[string]string{"token": token},
			Settings: map[string]string{"chat": "42"}, HTTP: client,
		})
		if err != nil {
			t.Fatal(err)
		}
		words := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<!&>\n` *[](@)\"\x01")), 0, 60, -1)
		link := rapid.SampledFrom([]string{"", "[a](https://h/x?a=1&b=\")", "**", "> ", "\n> "})
		long := func(name string) string {
			return strings.Repeat(words.Draw(t, name)+link.Draw(t, name+" link"), rapid.IntRange(1, 300).Draw(t, name+" times"))
		}
		m := notify.Message{Title: "t" + long("title"), Markdown: "m" + long("markdown"), Plain: long("plain"), Silent: rapid.Bool().Draw(t, "silent")}
		if rapid.Bool().Draw(t, "refused before") {
			m.Markdown = ""
		}
		for range rapid.IntRange(0, 12).Draw(t, "actions") {
			m.Actions = append(m.Actions, notify.Action{
				Label: words.Draw(t, "label"), Value: strings.Repeat("v", rapid.IntRange(0, 70).Draw(t, "value")),
				URL: "https://h" + strings.Repeat("/&a", rapid.IntRange(0, 400).Draw(t, "address")),
			})
			m.Mentions = append(m.Mentions, rapid.SampledFrom([]string{"@wang_lab", "421", "<b>", strings.Repeat("x", 30)}).Draw(t, "mention"))
		}
		if v := c.Send(context.Background(), m); v.Kind != notify.VerdictOK {
			t.Fatalf("verdict %+v", v)
		}
	})
}
