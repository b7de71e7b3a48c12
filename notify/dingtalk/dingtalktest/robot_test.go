package dingtalktest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"curfew/notify/dingtalk/dingtalktest"
	"curfew/notify/notifytest"
)

const (
	good = `{"msgtype":"text","text":{"content":"hello"}}`
	path = "/robot/send?access_token=T"
)

func TestRobotComplainsOfWrongRequests(t *testing.T) {
	const kind = "application/json"
	card := func(rest string) string {
		return `{"msgtype":"actionCard","actionCard":{"title":"t","text":"x","btnOrientation":"0"` + rest + `}}`
	}
	notifytest.Complains(t, func(fail func(string, ...any)) http.RoundTripper { return dingtalktest.New("T", "", time.Now, fail) }, map[string]notifytest.Wrong{
		"a wrong method":          {"PUT", path, kind, good, "not how it is called"},
		"a wrong path":            {"POST", "/send?access_token=T", kind, good, "not how it is called"},
		"a wrong content type":    {"POST", path, "text/plain", good, "content type"},
		"a signature of nothing":  {"POST", path + "&sign=1", kind, good, "each of"},
		"two tokens":              {"POST", path + "&access_token=T", kind, good, "each of"},
		"an unknown field":        {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"sign":"1"}`, "unknown field"},
		"all of a group":          {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"at":{"isAtAll":true}}`, "unknown field"},
		"nobody mentioned":        {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"at":{}}`, "want 1 to 50"},
		"a mention not in words":  {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"at":{"atUserIds":["li"]}}`, "not in the text"},
		"content of another type": {"POST", path, kind, `{"msgtype":"markdown","text":{"content":"x"}}`, "its own content"},
		"content of two types":    {"POST", path, kind, `{"msgtype":"text","text":{"content":"x"},"markdown":{"text":"x"}}`, "its own content"},
		"a type we do not send":   {"POST", path, kind, `{"msgtype":"feedCard"}`, "its own content"},
		"no content":              {"POST", path, kind, `{"msgtype":"text","text":{"content":""}}`, "empty"},
		"no title":                {"POST", path, kind, `{"msgtype":"markdown","markdown":{"text":"x"}}`, "empty"},
		"a card without buttons":  {"POST", path, kind, card(""), "one button"},
		"a single one by btns":    {"POST", path, kind, card(`,"btns":[{"title":"a","actionURL":"https://b"}]`), "one button"},
		"a button to nowhere":     {"POST", path, kind, card(`,"singleTitle":"a","singleURL":"b"`), "leads to"},
		"two values":              {"POST", path, kind, good + good, "more than one value"},
		"what is not JSON":        {"POST", path, kind, "hello", "body"},
		"what is not UTF-8":       {"POST", path, kind, "{\"msgtype\":\"text\",\"text\":{\"content\":\"\xff\"}}", "UTF-8"},
	})
}

func TestRobotKeepsThePlatformsLimits(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	robot := dingtalktest.New("T", "", func() time.Time { return now }, t.Errorf)
	send := func(body string) string { return notifytest.Ask(t, robot, "POST", path, "application/json", body) }
	expect := func(what, answer, code string) {
		t.Helper()
		if !strings.Contains(answer, `"errcode":`+code+`,`) {
			t.Errorf("%s: %s, want %s", what, answer, code)
		}
	}
	expect("a wrong token", notifytest.Ask(t, robot, "POST", path+"x", "application/json", good), "300005")
	sized := func(n int) string { return strings.Replace(good, "hello", strings.Repeat("x", n-len(good)+5), 1) }
	expect("a body at its limit", send(sized(20_000)), "0")
	expect("a body over its limit", send(sized(20_001)), "460101")
	once := `{"msgtype":"text","msgUuid":"u","text":{"content":"hello"}}`
	expect("a message", send(once), "0")
	expect("the same again", send(once), "0")
	for range 18 {
		expect("within the limit", send(good), "0")
	}
	expect("the 21st in a minute", send(good), "410100")
	now = now.Add(10*time.Minute - time.Second)
	expect("before ten minutes are over", send(good), "410100")
	now = now.Add(time.Second)
	expect("after them", send(good), "0")
	robot.Answer(dingtalktest.Answer{Status: 502, Raw: "bad gateway"})
	if got := send(good); got != "bad gateway" {
		t.Errorf("a scripted answer: %q", got)
	}
	if len(robot.Messages()) != 21 || robot.Refused() != 5 {
		t.Errorf("%d messages, %d refused", len(robot.Messages()), robot.Refused())
	}
}

// The signature is that of another program, for the same moment and secret.
func TestRobotChecksTheSignature(t *testing.T) {
	const signed = "/robot/send?access_token=T&timestamp=1577262236757&sign=hmPWwU%2B7lVdm3ZZz0r9tSfx0L4Q26jWOZr9%2BGs6EZQM%3D"
	now := time.UnixMilli(1577262236757)
	robot := dingtalktest.New("T", "this is secret", func() time.Time { return now }, t.Errorf)
	for _, c := range []struct {
		target string
		skew   time.Duration
		want   string
	}{
		{signed, 0, `"errcode":0`},
		{signed, time.Hour, `"errcode":0`},
		{signed, time.Hour + time.Millisecond, "invalid timestamp"},
		{strings.Replace(signed, "hmPW", "hmPV", 1), 0, "sign not match"},
		{strings.ReplaceAll(signed, "%2B", "+"), 0, "sign not match"}, // + in a query is a space
	} {
		now = time.UnixMilli(1577262236757).Add(c.skew)
		if got := notifytest.Ask(t, robot, "POST", c.target, "application/json", good); !strings.Contains(got, c.want) {
			t.Errorf("%s after %v: %s, want %s", c.target, c.skew, got, c.want)
		}
	}
}
