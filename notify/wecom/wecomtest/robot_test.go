package wecomtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"curfew/notify/notifytest"
	"curfew/notify/wecom/wecomtest"
)

const (
	good     = `{"msgtype":"text","text":{"content":"hello","mentioned_list":["wang"]}}`
	goodCard = `{"msgtype":"template_card","template_card":{"card_type":"text_notice","source":{"desc":"curfew","desc_color":1},"main_title":{"title":"t"},` +
		`"sub_title_text":"s","horizontal_content_list":[{"keyname":"k","value":"v"}],"card_action":{"type":1,"url":"https://h"}}}`
)

func TestRobotComplainsOfWrongRequests(t *testing.T) {
	const path, kind = "/cgi-bin/webhook/send?key=K", "application/json"
	notifytest.Complains(t, func(fail func(string, ...any)) http.RoundTripper { return wecomtest.New("K", time.Now, fail) }, map[string]notifytest.Wrong{
		"a wrong method":          {"PUT", path, kind, good, "not how it is called"},
		"a wrong path":            {"POST", "/send?key=K", kind, good, "not how it is called"},
		"a wrong content type":    {"POST", path, "text/plain", good, "content type"},
		"an invented parameter":   {"POST", path + "&sign=1", kind, good, "one key and nothing else"},
		"an unknown field":        {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"at":1}`, "unknown field"},
		"content of another type": {"POST", path, kind, `{"msgtype":"markdown","text":{"content":"x"}}`, "its own content"},
		"content of two types":    {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"markdown":{"content":"x"}}`, "its own content"},
		"a type we do not send":   {"POST", path, kind, `{"msgtype":"news"}`, "its own content"},
		"a colour in version 2":   {"POST", path, kind, `{"msgtype":"markdown_v2","markdown_v2":{"content":"<font>"}}`, "no colours"},
		"a mention in version 2":  {"POST", path, kind, `{"msgtype":"markdown_v2","markdown_v2":{"content":"<@a>"}}`, "no mentions"},
		"a list for Markdown":     {"POST", path, kind, `{"msgtype":"markdown","markdown":{"content":"x","mentioned_list":["a"]}}`, "no mentioned_list"},
		"a mention of all":        {"POST", path, kind, `{"msgtype":"text","text":{"content":"x","mentioned_list":["@all"]}}`, "is mentioned"},
		"a mention of all inside": {"POST", path, kind, `{"msgtype":"text","text":{"content":"<@all>"}}`, "all are mentioned"},
		"a card without a link":   {"POST", path, kind, strings.Replace(goodCard, `,"card_action":{"type":1,"url":"https://h"}`, "", 1), "card_action is missing"},
		"a card to nowhere":       {"POST", path, kind, strings.Replace(goodCard, "https://h", "h", 1), "leads nowhere"},
		"a card with a picture":   {"POST", path, kind, strings.Replace(goodCard, "text_notice", "news_notice", 1), "card_type"},
		"a card without a title":  {"POST", path, kind, strings.Replace(goodCard, `"title":"t"`, `"title":""`, 1), "main_title.title has 0"},
		"a card of many facts":    {"POST", path, kind, strings.Replace(goodCard, `[`, `[`+strings.Repeat(`{"keyname":"k","value":"v"},`, 6), 1), "7 facts"},
		"a card of long facts":    {"POST", path, kind, strings.Replace(goodCard, `"v"`, `"`+strings.Repeat("值", 27)+`"`, 1), "value has 27"},
		"no content":              {"POST", path, kind, `{"msgtype":"text","text":{"content":""}}`, "empty"},
		"two values":              {"POST", path, kind, good + good, "more than one value"},
		"what is not JSON":        {"POST", path, kind, "hello", "body"},
		"what is not UTF-8":       {"POST", path, kind, "{\"msgtype\":\"text\",\"text\":{\"content\":\"\xff\"}}", "UTF-8"},
	})
}

func TestRobotKeepsThePlatformsLimits(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	robot := wecomtest.New("K", func() time.Time { return now }, t.Errorf)
	send := func(key, body string) string {
		return notifytest.Ask(t, robot, "POST", "/cgi-bin/webhook/send?key="+key, "application/json; charset=utf-8", body)
	}
	text := func(kind string, n int) string {
		return `{"msgtype":"` + kind + `","` + kind + `":{"content":"` + strings.Repeat("x", n) + `"}}`
	}
	expect := func(what, answer, code string) {
		t.Helper()
		if !strings.Contains(answer, `"errcode":`+code) {
			t.Errorf("%s: %s, want %s", what, answer, code)
		}
	}
	expect("a wrong key", send("other", good), "93000")
	expect("text at its limit", send("K", text("text", 2048)), "0")
	expect("text over its limit", send("K", text("text", 2049)), "40058")
	expect("markdown at its limit", send("K", text("markdown", 4096)), "0")
	expect("markdown over its limit", send("K", text("markdown", 4097)), "40058")
	expect("markdown of version 2 at its limit", send("K", text("markdown_v2", 4096)), "0")
	expect("markdown of version 2 over its limit", send("K", text("markdown_v2", 4097)), "40058")
	expect("a card", send("K", goodCard), "0")
	now = now.Add(59 * time.Second)
	for range 16 {
		expect("within the limit", send("K", good), "0")
	}
	expect("the 21st in a minute", send("K", good), "45009")
	now = now.Add(time.Second)
	if card := robot.Messages()[3]; card.Type != "template_card" || card.Content != "t\ns\nk: v" {
		t.Errorf("card %+v", card)
	}
	expect("when the first four are a minute old", send("K", good), "0")
	robot.Answer(wecomtest.Answer{Status: 502, Raw: "bad gateway"})
	if got := send("K", good); got != "bad gateway" {
		t.Errorf("a scripted answer: %q", got)
	}
	if len(robot.Messages()) != 21 || robot.Refused() != 6 {
		t.Errorf("%d messages, %d refused", len(robot.Messages()), robot.Refused())
	}
	if last := robot.Messages()[20]; !last.At.Equal(now) || last.Type != "text" || last.Content != "hello" {
		t.Errorf("last message %+v", last)
	}
}

func TestRobotOnASocket(t *testing.T) {
	robot, base := wecomtest.Start(t, "K", time.Now)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/cgi-bin/webhook/send?key=K", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(robot.Messages()) != 1 {
		t.Errorf("%d messages", len(robot.Messages()))
	}
}
