// Package wecomtest is a strict double of a WeCom group robot, for tests of the
// channel and of everything that sends through it. It keeps the platform's own
// limits: 20 messages a minute, 4096 bytes of Markdown in either form, 2048 bytes of
// text, and what a card must and may hold.
package wecomtest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
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
type Answer struct {
	Status int // zero: 200
	Code   int
	Msg    string
	Raw    string // instead of code and message
}

// Robot is one group robot. It is an http.Handler, usable without a socket by
// [Robot.RoundTrip].
type Robot struct {
	key  string
	now  func() time.Time
	fail func(format string, args ...any)

	mu       sync.Mutex
	messages []Message
	answers  []Answer
	refused  int
}

// New makes a Robot with this key. fail is told of requests that no correct
// client sends; t.Errorf fits.
func New(key string, now func() time.Time, fail func(format string, args ...any)) *Robot {
	return &Robot{key: key, now: now, fail: fail}
}

// Start runs a Robot on this machine until the test ends, and gives it and its
// base URL.
func Start(t testing.TB, key string, now func() time.Time) (*Robot, string) {
	t.Helper()
	r := New(key, now, t.Errorf)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL
}

// Messages gives the messages taken so far, in order of arrival.
func (r *Robot) Messages() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.messages)
}

// Refused is how many requests were not taken.
func (r *Robot) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// Answer makes the next requests get these answers, whatever they hold; none of
// them is taken.
func (r *Robot) Answer(answers ...Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, answers...)
}

// RoundTrip answers without a socket, so that a Robot can be an http.Client's
// Transport where time is simulated.
func (r *Robot) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// ServeHTTP takes one message.
func (r *Robot) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := r.take(req)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Raw != "" {
		_, _ = io.WriteString(w, a.Raw)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"errcode": a.Code, "errmsg": a.Msg})
}

func (r *Robot) take(req *http.Request) Answer {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.fail("wecom robot: read the request: %v", err)
	}
	if req.Method != http.MethodPost || req.URL.Path != "/cgi-bin/webhook/send" {
		r.fail("wecom robot: %s %s is not how a robot is called", req.Method, req.URL.Path)
	}
	if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); kind != "application/json" {
		r.fail("wecom robot: content type is %q, want application/json", kind)
	}
	query := req.URL.Query()
	if len(query) != 1 || len(query["key"]) != 1 {
		r.fail("wecom robot: the query must hold one key and nothing else")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.judge(query.Get("key"), body)
	if a.Code != 0 || a.Status != 0 || a.Raw != "" {
		r.refused++
	}
	return a
}

// judge decides on one request and keeps what it takes.
func (r *Robot) judge(key string, body []byte) Answer {
	now := r.now()
	if len(r.answers) > 0 {
		a := r.answers[0]
		r.answers = r.answers[1:]
		return a
	}
	if key != r.key {
		return Answer{Code: 93000, Msg: "invalid webhook url, hint: [1790000000000000000000000], from ip: 203.0.113.7, more info at https://open.work.weixin.qq.com/devtool/query?e=93000"}
	}
	m, err := decode(body)
	if err != nil {
		r.fail("wecom robot: %v", err)
		return Answer{Code: 40058, Msg: err.Error()}
	}
	if limit, ok := limits()[m.Type]; ok && len(m.Content) > limit {
		return Answer{Code: 40058, Msg: fmt.Sprintf("%s.content exceed max length %d", m.Type, limit)}
	}
	recent := 0
	for _, before := range r.messages {
		if now.Sub(before.At) < time.Minute {
			recent++
		}
	}
	if recent >= perMinute {
		return Answer{Code: 45009, Msg: "api freq out of limit"}
	}
	m.At = now
	r.messages = append(r.messages, m)
	return Answer{Msg: "ok"}
}
