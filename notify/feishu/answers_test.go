package feishu_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"curfew/notify"
	"curfew/notify/notifytest"
)

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/open-apis/bot/v2/hook/" + token, ContentType: "application/json",
		Body: func() any { return new(map[string]any) },
		Check: func(body any) error {
			if m := *body.(*map[string]any); m["timestamp"] != "1790000000" || m["sign"] != signed {
				return errors.New("timestamp or sign is wrong, or not a string at the top")
			}
			return nil
		},
	}
}

func TestAnswers(t *testing.T) {
	reply := func(status int, body string) notifytest.Reply { return notifytest.Reply{Status: status, Body: body} }
	said := func(code, msg string) notifytest.Reply {
		return reply(200, `{"code":`+code+`,"data":{},"msg":"`+msg+`"}`)
	}
	retry := func(code string, after time.Duration) notify.Verdict {
		return notify.Verdict{Kind: notify.VerdictRetry, Code: code, After: after}
	}
	gone := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictPermanent, Code: code} }
	bad := func(code string) notify.Verdict { return notify.Verdict{Kind: notify.VerdictBadMessage, Code: code} }
	notifytest.Judge(t, func(t *testing.T, baseURL string) notify.Channel {
		return open(t, options(baseURL, notifytest.Client()))
	}, expect(), chinese(), []string{token, secret, signed}, []notifytest.Case{
		{Name: "code 0 is success", Reply: reply(200, `{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}`), Want: notify.Verdict{Kind: notify.VerdictOK, Code: "0"}},
		{Name: "the code counts, not the one of old", Reply: reply(200, `{"StatusCode":0,"StatusMessage":"success","code":19001,"msg":"x"}`), Want: gone("19001")},
		{Name: "the one of old alone is unknown", Reply: reply(200, `{"StatusCode":0,"StatusMessage":"success"}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "too many wait five seconds", Reply: said("11232", "frequency limited psm[lark.oapi.app_platform_runtime]appID[1500]"), Want: retry("11232", 5*time.Second)},
		{Name: "too many requests wait ten", Reply: reply(400, `{"code":9499,"msg":"too many request","data":{}}`), Want: retry("9499", 10*time.Second)},
		{Name: "the same code for a bad request is a bad message", Reply: reply(400, `{"code":9499,"msg":"Bad Request","data":{}}`), Want: bad("9499")},
		{Name: "a wrong token is permanent", Reply: said("19001", "param invalid: incoming webhook access token invalid"), Want: gone("19001")},
		{Name: "a wrong parameter is a bad message", Reply: said("19002", "params error, msg_type need"), Want: bad("19002")},
		{Name: "a wrong card is a bad message", Reply: said("200621", "parse card json err"), Want: bad("200621")},
		{Name: "a card that is too new or too old is a bad message", Reply: said("200861", "cards of schema V2 no longer support this capability"), Want: bad("200861")},
		{Name: "a bot switched off is permanent", Reply: said("19007", "Bot Not Enabled"), Want: gone("19007")},
		{Name: "a refused signature is permanent", Reply: said("19021", "sign match fail or timestamp is not within one hour from current time"), Want: gone("19021")},
		{Name: "a refused address is permanent", Reply: said("19022", "Ip Not Allowed"), Want: gone("19022")},
		{Name: "a missing keyword is permanent", Reply: said("19024", "Key Words Not Found"), Want: gone("19024")},
		{Name: "a code nobody knows is unknown", Reply: said("1", "?"), Want: notify.Verdict{Code: "1"}},
		{Name: "an unknown code from a broken platform is tried again", Reply: reply(500, `{"code":1}`), Want: retry("1", 0)},
		{Name: "an unknown code with 429 waits a minute", Reply: reply(429, `{"code":1}`), Want: retry("1", time.Minute)},
		{Name: "a page instead of an answer is unknown", Reply: reply(200, "<html>log in</html>"), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an answer without a code is unknown", Reply: reply(200, `{"ok":true}`), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a code that is no number is unknown", Reply: said(`"0"`, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "an empty answer is unknown", Reply: reply(200, ""), Want: notify.Verdict{Code: "http 200"}},
		{Name: "a success with a wrong status is unknown", Reply: reply(404, `{"code":0}`), Want: notify.Verdict{Code: "http 404"}},
		{Name: "a redirect is not followed", Reply: notifytest.Reply{Status: 302, Header: http.Header{"Location": {"/elsewhere"}}}, Want: notify.Verdict{Code: "http 302"}},
		{Name: "a broken gateway is tried again", Reply: reply(502, "<html>bad gateway</html>"), Want: retry("http 502", 0)},
		{Name: "429 waits a minute", Reply: reply(429, ""), Want: retry("http 429", time.Minute)},
		{Name: "a cut connection is tried again", Reply: notifytest.Reply{Drop: true}, Want: retry("network", 0)},
		{Name: "token and signature in an answer are not passed on", Reply: said("1", "no bot "+token+" with "+signed), Want: notify.Verdict{Code: "1"}},
	})
}

func TestAnAnswerIsCutShort(t *testing.T) {
	server := notifytest.NewServer(t, expect(), notifytest.Reply{Body: `{"code":1,"msg":"` + strings.Repeat("长", 5000) + `"}`})
	v := open(t, options(server.URL, notifytest.Client())).Send(t.Context(), chinese())
	if len(v.Detail) > 200 || !utf8.ValidString(v.Detail) {
		t.Errorf("%d bytes of detail", len(v.Detail))
	}
}
