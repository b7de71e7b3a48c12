package feishutest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"curfew/notify/feishu/feishutest"
	"curfew/notify/notifytest"
)

const (
	good = `{"msg_type":"text","content":{"text":"hello"}}`
	path = "/open-apis/bot/v2/hook/T"
)

func card(schema, template, elements string) string {
	return `{"msg_type":"interactive","card":{"schema":"` + schema + `","header":{"title":{"tag":"plain_text","content":"t"},"template":"` +
		template + `"},"body":{"elements":[` + elements + `]}}}`
}

func TestBotComplainsOfWrongRequests(t *testing.T) {
	const kind = "application/json"
	const words = `{"tag":"markdown","content":"x"}`
	notifytest.Complains(t, func(fail func(string, ...any)) http.RoundTripper { return feishutest.New("T", "", time.Now, fail) }, map[string]notifytest.Wrong{
		"a wrong method":          {"PUT", path, kind, good, "not how it is called"},
		"a wrong path":            {"POST", "/hook/T", kind, good, "not how it is called"},
		"a wrong content type":    {"POST", path, "text/plain", good, "content type"},
		"a parameter":             {"POST", path + "?sign=1", kind, good, "query must be empty"},
		"a signature of nothing":  {"POST", path, kind, `{"timestamp":"1","sign":"x","msg_type":"text","content":{"text":"x"}}`, "without a secret"},
		"an unknown field":        {"POST", path, kind, `{"msg_type":"text","content":{"text":"x"},"at":1}`, "unknown field"},
		"an unknown card field":   {"POST", path, kind, card("2.0", "red", `{"tag":"markdown","content":"x","href":1}`), "unknown field"},
		"a card as content":       {"POST", path, kind, `{"msg_type":"interactive","content":{"text":"x"}}`, "its own content"},
		"a type we do not send":   {"POST", path, kind, `{"msg_type":"post"}`, "its own content"},
		"no words":                {"POST", path, kind, `{"msg_type":"text","content":{"text":""}}`, "no words"},
		"all of a group, in text": {"POST", path, kind, `{"msg_type":"text","content":{"text":"<at user_id=\"all\"></at>"}}`, "all of the group"},
		"all of a group, in card": {"POST", path, kind, card("2.0", "red", `{"tag":"markdown","content":"<AT id=all></at>"}`), "all of the group"},
		"an old card":             {"POST", path, kind, card("1.0", "red", words), "JSON 2.0"},
		"a colour nobody knows":   {"POST", path, kind, card("2.0", "pink", words), "template"},
		"a button before words":   {"POST", path, kind, card("2.0", "red", `{"tag":"button"}`), "wrong fields"},
		"an old group of buttons": {"POST", path, kind, card("2.0", "red", words+`,{"tag":"action"}`), "wrong fields"},
		"a button to nowhere":     {"POST", path, kind, card("2.0", "red", words+`,{"tag":"button","type":"default","text":{"tag":"plain_text","content":"b"},"behaviors":[{"type":"open_url","default_url":"x"}]}`), "button"},
		"two values":              {"POST", path, kind, good + good, "more than one value"},
		"what is not JSON":        {"POST", path, kind, "hello", "body"},
		"what is not UTF-8":       {"POST", path, kind, "{\"msg_type\":\"text\",\"content\":{\"text\":\"\xff\"}}", "UTF-8"},
	})
}

func TestBotKeepsThePlatformsLimits(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	bot := feishutest.New("T", "", func() time.Time { return now }, t.Errorf)
	send := func(body string) string {
		return notifytest.Ask(t, bot, "POST", path, "application/json; charset=utf-8", body)
	}
	expect := func(what, answer, code string) {
		t.Helper()
		if !strings.Contains(answer, `"code":`+code+`,`) {
			t.Errorf("%s: %s, want %s", what, answer, code)
		}
	}
	expect("a wrong token", notifytest.Ask(t, bot, "POST", path+"x", "application/json", good), "19001")
	sized := func(n int) string { return strings.Replace(good, "hello", strings.Repeat("x", n-len(good)+5), 1) }
	expect("a body at its limit", send(sized(20_000)), "0")
	expect("a body over its limit", send(sized(20_001)), "9499")
	expect("a card", send(card("2.0", "red", `{"tag":"markdown","content":"x"}`)), "0")
	for range 3 {
		expect("within the limit", send(good), "0")
	}
	expect("the sixth in a second", send(good), "11232")
	now = now.Add(time.Second)
	for range 95 {
		now = now.Add(300 * time.Millisecond)
		expect("at a calm pace", send(good), "0")
	}
	now = now.Add(time.Second)
	expect("the 101st in a minute", send(good), "11232")
	now = now.Add(time.Minute)
	expect("a minute later", send(good), "0")
	bot.Answer(feishutest.Answer{Status: 502, Raw: "bad gateway"})
	if got := send(good); got != "bad gateway" {
		t.Errorf("a scripted answer: %q", got)
	}
	if len(bot.Messages()) != 101 || bot.Refused() != 5 {
		t.Errorf("%d messages, %d refused", len(bot.Messages()), bot.Refused())
	}
}

// The signature is that of another program, for the same moment and secret.
func TestBotChecksTheSignature(t *testing.T) {
	signed := func(sign string) string {
		return `{"timestamp":"1661860880","sign":"` + sign + `","msg_type":"text","content":{"text":"x"}}`
	}
	var now time.Time
	bot := feishutest.New("T", "xxx", func() time.Time { return now }, t.Errorf)
	const right = "QnWVTSBe6FmQDE0bG6X0mURbI+DnvVyu1h+j5dHOjrU="
	for _, c := range []struct {
		body string
		skew time.Duration
		want string
	}{
		{signed(right), 0, `"code":0`},
		{signed(right), -time.Hour, `"code":0`},
		{signed(right), -time.Hour - time.Second, `"code":19021`},
		{signed("x" + right), 0, `"code":19021`},
		{good, 0, `"code":19021`},
	} {
		now = time.Unix(1661860880, 0).Add(c.skew)
		if got := notifytest.Ask(t, bot, "POST", path, "application/json", c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s after %v: %s, want %s", c.body, c.skew, got, c.want)
		}
	}
}
