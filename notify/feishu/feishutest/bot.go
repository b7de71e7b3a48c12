// Package feishutest is a strict double of a custom bot in a Feishu group, for tests
// of the channel and of everything that sends through it. It keeps the platform's own
// limits: 100 messages a minute and five a second, bodies of 20 KB, and signatures of
// an hour.
package feishutest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"curfew/notify/notifytest"
)

const (
	perMinute = 100
	perSecond = 5
	maxBody   = 20_000
	maxSkew   = time.Hour
	hooks     = "/open-apis/bot/v2/hook/" // the token follows
)

// Message is one message that the bot took.
type Message struct {
	At       time.Time // when it arrived
	Type     string    // interactive or text
	Title    string    // of a card
	Template string    // the colour of a card's title
	Text     string
	Buttons  []Button
}

// Button is a link of a card.
type Button struct{ Text, Type, URL string }

// Answer is an answer of the platform.
type Answer = notifytest.Answer

// Bot is one custom bot.
type Bot struct {
	*notifytest.Robot[Message]

	token, secret string
	fail          func(format string, args ...any)
}

// New makes a Bot with this token and, where it is not empty, this secret of its
// signature. fail is told of requests that no correct client sends; t.Errorf fits.
func New(token, secret string, now func() time.Time, fail func(format string, args ...any)) *Bot {
	b := &Bot{token: token, secret: secret, fail: fail}
	b.Robot = notifytest.NewRobot(notifytest.Platform[Message]{
		Name: "feishu bot", Path: hooks + "?*", Query: noQuery, Judge: b.judge,
		JSON: func(a Answer) any {
			said := map[string]any{"code": a.Code, "msg": a.Msg, "data": map[string]any{}}
			if a.Code == 0 {
				said["StatusCode"], said["StatusMessage"] = 0, "success"
			}
			return said
		},
	}, now, fail)
	return b
}

// Start runs a Bot on this machine until the test ends, and gives it and its base URL.
func Start(t testing.TB, token, secret string, now func() time.Time) (*Bot, string) {
	t.Helper()
	b := New(token, secret, now, t.Errorf)
	return b, notifytest.Start(t, b)
}

func noQuery(u *url.URL) error {
	if u.RawQuery != "" {
		return errors.New("the query must be empty")
	}
	return nil
}

// judge decides on one request.
func (b *Bot) judge(req *http.Request, body []byte, past notifytest.Past[Message]) (*Message, Answer) {
	if strings.TrimPrefix(req.URL.Path, hooks) != b.token {
		return nil, Answer{Code: 19001, Msg: "param invalid: incoming webhook access token invalid"}
	}
	if len(body) > maxBody {
		return nil, Answer{Status: http.StatusBadRequest, Code: 9499, Msg: "Bad Request"}
	}
	m, stamp, err := decode(body)
	if err != nil {
		b.fail("feishu bot: %v", err)
		return nil, Answer{Code: 19002, Msg: "params error, " + err.Error()}
	}
	if !b.signed(stamp, past.Now) {
		return nil, Answer{Code: 19021, Msg: "sign match fail or timestamp is not within one hour from current time"}
	}
	if past.Within(time.Minute) >= perMinute || past.Within(time.Second) >= perSecond {
		return nil, Answer{Code: 11232, Msg: "frequency limited psm[lark.oapi.app_platform_runtime]appID[1500]"}
	}
	m.At = past.Now
	return &m, Answer{Msg: "success"}
}

// signed checks the signature: there is one exactly where the bot has a secret.
func (b *Bot) signed(s stamp, now time.Time) bool {
	if b.secret == "" {
		if s != (stamp{}) {
			b.fail("feishu bot: signed without a secret")
		}
		return true
	}
	seconds, err := strconv.ParseInt(s.Timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > maxSkew {
		return false
	}
	mac := hmac.New(sha256.New, []byte(s.Timestamp+"\n"+b.secret))
	return s.Sign == base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
