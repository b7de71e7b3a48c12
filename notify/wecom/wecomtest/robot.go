// Package wecomtest is a strict double of a WeCom group robot, for tests of the
// channel and of everything that sends through it. It keeps the platform's own
// limits: 20 messages a minute, 4096 bytes of Markdown in either form, 2048 bytes of
// text, and what a card must and may hold.
package wecomtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"curfew/notify/notifytest"
)

const (
	perMinute   = 20
	maxMarkdown = 4096
	maxText     = 2048
)

// Message is one message that the robot took.
type Message struct {
	At      time.Time // when it arrived
	Type    string    // markdown, markdown_v2, text or template_card
	Content string    // of a card: its words, line by line
}

// Answer is an answer of the platform.
type Answer = notifytest.Answer

// Robot is one group robot.
type Robot struct {
	*notifytest.Robot[Message]

	key  string
	fail func(format string, args ...any)
}

// New makes a Robot with this key. fail is told of requests that no correct
// client sends; t.Errorf fits.
func New(key string, now func() time.Time, fail func(format string, args ...any)) *Robot {
	r := &Robot{key: key, fail: fail}
	r.Robot = notifytest.NewRobot(notifytest.Platform[Message]{
		Name: "wecom robot", Path: "/cgi-bin/webhook/send", Query: oneKey, Judge: r.judge,
		JSON: func(a Answer) any { return map[string]any{"errcode": a.Code, "errmsg": a.Msg} },
	}, now, fail)
	return r
}

// Start runs a Robot on this machine until the test ends, and gives it and its
// base URL.
func Start(t testing.TB, key string, now func() time.Time) (*Robot, string) {
	t.Helper()
	r := New(key, now, t.Errorf)
	return r, notifytest.Start(t, r)
}

func oneKey(u *url.URL) error {
	query := u.Query()
	if len(query) != 1 || len(query["key"]) != 1 {
		return errors.New("the query must hold one key and nothing else")
	}
	return nil
}

// judge decides on one request.
func (r *Robot) judge(req *http.Request, body []byte, past notifytest.Past[Message]) (*Message, Answer) {
	if req.URL.Query().Get("key") != r.key {
		return nil, Answer{Code: 93000, Msg: "invalid webhook url, hint: [1790000000000000000000000], from ip: 203.0.113.7, more info at https://open.work.weixin.qq.com/devtool/query?e=93000"}
	}
	m, err := decode(body)
	if err != nil {
		r.fail("wecom robot: %v", err)
		return nil, Answer{Code: 40058, Msg: err.Error()}
	}
	if limit, ok := limits()[m.Type]; ok && len(m.Content) > limit {
		return nil, Answer{Code: 40058, Msg: fmt.Sprintf("%s.content exceed max length %d", m.Type, limit)}
	}
	if past.Within(time.Minute) >= perMinute {
		return nil, Answer{Code: 45009, Msg: "api freq out of limit"}
	}
	m.At = past.Now
	return &m, Answer{Msg: "ok"}
}
