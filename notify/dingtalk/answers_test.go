package dingtalk_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"curfew/notify"
	"curfew/notify/notifytest"
)

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/robot/send", ContentType: "application/json",
		Query: url.Values{"access_token": {token}, "timestamp": {"1790000000000"}, "sign": {signed}},
		Body:  func() any { return new(map[string]any) },
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	said := func(code, msg string) notifytest.Reply {
		return reply(200, `{"errcode":`+code+`,"errmsg":"`+msg+`"}`)
	}
	retry := func(code string, after time.Duration) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: code, After: after}
	}
	gone := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	bad := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code} }
	ok := notify.Verdict{Kind: notify.VerdictOK, Code: "0"}
	const minutes = 10 * time.Minute
	// The clock stands at 22:13:20 in Beijing.
	tomorrow := time.Hour + 51*time.Minute + 40*time.Second
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, options(baseURL, notifytest.Client()))
	}, expect(), chinese(), []string{token, secret, signed, "203.0.113.7"}, []notifytest.Case{
		{Name: "errcode 0 is success", Reply: said("0", "ok"), Want: ok},
		{Name: "errcode 0 in quotes is, too", Reply: said(`"0"`, "ok"), Want: ok},
		{Name: "a status beside it that is a word does not matter", Reply: reply(200, `{"errcode":0,"errmsg":"ok","status":"success"}`), Want: ok},
		{Name: "a busy platform is tried again", Reply: said("-1", "系统繁忙"), Want: retry("-1", 30*time.Second)},
		{Name: "too many in a minute wait ten", Reply: said("410100", "发送速度太快而限流"), Want: retry("410100", minutes)},
		{Name: "too many by the old code do, too", Reply: said("130101", "send too fast, exceed 20 times per minute"), Want: retry("130101", minutes)},
		{Name: "the old code counts before the status beside it", Reply: reply(200, `{"errcode":130101,"errmsg":"send too fast","status":1111}`), Want: retry("130101", minutes)},
		{Name: "spent calls wait for tomorrow", Reply: said("90030", "webhook over limit"), Want: retry("90030", tomorrow)},
		{Name: "a missing keyword is permanent", Reply: said("310000", "keywords not in content, more: [https://ding-doc.dingtalk.com]"), Want: gone("310000")},
		{Name: "a refused time is permanent", Reply: said("310000", "invalid timestamp"), Want: gone("310000")},
		{Name: "a refused signature is permanent", Reply: said("310000", "sign not match"), Want: gone("310000")},
		{Name: "a refused address is permanent, and its words hold none", Reply: said("310000", "ip 203.0.113.7 not in whitelist"), Want: gone("310000")},
		{Name: "a refusal for a new reason is permanent", Reply: said("310000", "description:机器人发送签名不匹配"), Want: gone("310000")},
		{Name: "a wrong token is permanent", Reply: said("400101", "access_token不存在"), Want: gone("400101")},
		{Name: "a wrong token by another code is, too", Reply: said("300005", "token is not exist"), Want: gone("300005")},
		{Name: "and by a third", Reply: said("300001", "token is not exist"), Want: gone("300001")},
		{Name: "a dissolved group is permanent", Reply: said("400013", "群已被解散"), Want: gone("400013")},
		{Name: "a robot switched off is permanent", Reply: said("400102", "机器人已停用"), Want: gone("400102")},
		{Name: "a robot that left is permanent", Reply: said("400106", "机器人不存在"), Want: gone("400106")},
		{Name: "a missing parameter is a bad message", Reply: said("40035", "缺少参数 json"), Want: bad("40035")},
		{Name: "a wrong content type is a bad message", Reply: said("43004", "无效的HTTP HEADER Content-Type"), Want: bad("43004")},
		{Name: "a type it does not take is a bad message", Reply: said("400105", "不支持的消息类型"), Want: bad("400105")},
		{Name: "an unsafe link is a bad message", Reply: said("430101", "含有不安全的外链"), Want: bad("430101")},
		{Name: "unfit words are a bad message", Reply: said("430102", "含有不合适的文本"), Want: bad("430102")},
		{Name: "an unfit picture is a bad message", Reply: said("430103", "含有不合适的图片"), Want: bad("430103")},
		{Name: "unfit content is a bad message", Reply: said("430104", "含有不合适的内容"), Want: bad("430104")},
		{Name: "too long is a bad message", Reply: said("460101", "message too long, exceed 20000 bytes"), Want: bad("460101")},
		{Name: "too long by the old code is, too", Reply: said("101002", "message is too long"), Want: bad("101002")},
		{Name: "a code nobody knows is unknown", Reply: said("88", "ding talk error"), Want: notify.Verdict{Code: "88"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"errcode":88}`), Want: retry("88", 0)},
		{Name: "an unknown code with 429 waits", Reply: reply(429, `{"errcode":88}`), Want: retry("88", minutes)},
		{Name: "a banned address waits five minutes", Reply: reply(200, `{"status":1111,"wait":5,"source":"x5","punish":"deny"}`), Want: retry("status 1111", 5*time.Minute)},
		{Name: "a redirect is not followed, and waits", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: retry("http 302", minutes)},
		{Name: "another redirect is unknown", Reply: notifytest.Reply{Status: 301, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 301"}},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"ok":true}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is null is unknown", Reply: reply(200, `{"errcode":null}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is no number is unknown", Reply: said(`"ok"`, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, `{"errcode":0}`), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry("http 502", 0)},
		{Name: "429 waits", Reply: reply(429, ""), Want: retry("http 429", minutes)},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry("network", 0)},
		{Name: "token and signature in an answer are not passed on", Reply: said("1", "no robot "+token+" with "+signed+" and "+url.QueryEscape(signed)), Want: notify.Verdict{Code: "1"}},
	})
}

func TestAnAnswerIsCutShort(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"errcode":88,"errmsg":"` + strings.Repeat("长", 5000) + `"}`})
	v := open(t, options(server.URL, notifytest.Client())).Send(t.Context(), chinese())
	if len(v.Detail) > 200 || !utf8.ValidString(v.Detail) {
		t.Errorf("%d bytes of detail", len(v.Detail))
	}
}
