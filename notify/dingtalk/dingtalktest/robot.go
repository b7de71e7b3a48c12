// Package dingtalktest is a strict double of a custom robot in a DingTalk group, for
// tests of the channel and of everything that sends through it. It keeps the
// platform's own limits: 20 messages a minute, over which it takes nothing for ten
// minutes, bodies of 20,000 bytes, signatures of an hour, and one message per msgUuid.
package dingtalktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"curfew/notify/notifytest"
)

const (
	perMinute = 20
	silence   = 10 * time.Minute
	maxBody   = 20_000
	maxSkew   = time.Hour
)

// Message is one message that the robot took.
type Message struct {
	At        time.Time // when it arrived
	UUID      string
	Type      string // markdown, actionCard or text
	Title     string // empty for text
	Text      string
	Buttons   []Button
	AtMobiles []string
	AtUserIDs []string
}

// Button is a link of an actionCard.
type Button struct{ Title, URL string }

// Answer is an answer of the platform.
type Answer = notifytest.Answer

// Robot is one custom robot.
type Robot struct {
	*notifytest.Robot[Message]

	token, secret string
	fail          func(format string, args ...any)
	silent        time.Time // it takes nothing before
}

// New makes a Robot with this token and, where it is not empty, this secret of its
// signature. fail is told of requests that no correct client sends; t.Errorf fits.
func New(token, secret string, now func() time.Time, fail func(format string, args ...any)) *Robot {
	r := &Robot{token: token, secret: secret, fail: fail}
	r.Robot = notifytest.NewRobot(notifytest.Platform[Message]{
		Name: "dingtalk robot", Path: "/robot/send", Query: r.query, Judge: r.judge,
		JSON: func(a Answer) any { return map[string]any{"errcode": a.Code, "errmsg": a.Msg} },
	}, now, fail)
	return r
}

// Start runs a Robot on this machine until the test ends, and gives it and its base
// URL.
func Start(t testing.TB, token, secret string, now func() time.Time) (*Robot, string) {
	t.Helper()
	r := New(token, secret, now, t.Errorf)
	return r, notifytest.Start(t, r)
}

// judge decides on one request.
func (r *Robot) judge(req *http.Request, body []byte, past notifytest.Past[Message]) (*Message, Answer) {
	query := req.URL.Query()
	if query.Get("access_token") != r.token {
		return nil, Answer{Code: 300005, Msg: "token is not exist"}
	}
	if a := r.signed(query, past.Now); a.Code != 0 {
		return nil, a
	}
	tooFast := Answer{Code: 410100, Msg: "发送速度太快而限流"}
	if past.Now.Before(r.silent) {
		return nil, tooFast
	}
	if len(body) > maxBody {
		return nil, Answer{Code: 460101, Msg: "message too long, exceed 20000 bytes"}
	}
	m, err := decode(body)
	if err != nil {
		r.fail("dingtalk robot: %v", err)
		return nil, Answer{Code: 40035, Msg: err.Error()}
	}
	if m.UUID != "" && slices.ContainsFunc(past.Messages, func(before Message) bool { return before.UUID == m.UUID }) {
		return nil, Answer{Msg: "ok"} // as told before
	}
	if past.Within(time.Minute) >= perMinute {
		r.silent = past.Now.Add(silence)
		return nil, tooFast
	}
	m.At = past.Now
	return &m, Answer{Msg: "ok"}
}

// query wants the token and, where the robot has a secret, a signature, each once.
func (r *Robot) query(u *url.URL) error {
	want := []string{"access_token"}
	if r.secret != "" {
		want = append(want, "sign", "timestamp")
	}
	var all []string
	for key, values := range u.Query() {
		for range values {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	if !slices.Equal(all, want) {
		return fmt.Errorf("the query holds %q, want each of %q once", all, want)
	}
	return nil
}

// signed checks the signature, where the robot has one.
func (r *Robot) signed(query url.Values, now time.Time) Answer {
	if r.secret == "" {
		return Answer{}
	}
	ms, err := strconv.ParseInt(query.Get("timestamp"), 10, 64)
	if err != nil || now.Sub(time.UnixMilli(ms)).Abs() > maxSkew {
		return Answer{Code: 310000, Msg: "invalid timestamp"}
	}
	mac := hmac.New(sha256.New, []byte(r.secret))
	_, _ = io.WriteString(mac, query.Get("timestamp")+"\n"+r.secret)
	if query.Get("sign") != base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		return Answer{Code: 310000, Msg: "sign not match"}
	}
	return Answer{}
}
