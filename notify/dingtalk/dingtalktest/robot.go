// Package dingtalktest is a strict double of a custom robot in a DingTalk group, for
// tests of the channel and of everything that sends through it. It keeps the
// platform's own limits: 20 messages a minute, over which it takes nothing for ten
// minutes, bodies of 20,000 bytes, signatures of an hour, and one message per msgUuid.
package dingtalktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
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
type Answer struct {
	Status int // zero: 200
	Code   int
	Msg    string
	Raw    string // instead of code and message
}

// Robot is one custom robot. It is an http.Handler, usable without a socket by
// [Robot.RoundTrip].
type Robot struct {
	token, secret string
	now           func() time.Time
	fail          func(format string, args ...any)

	mu       sync.Mutex
	messages []Message
	answers  []Answer
	refused  int
	silent   time.Time // it takes nothing before
}

// New makes a Robot with this token and, where it is not empty, this secret of its
// signature. fail is told of requests that no correct client sends; t.Errorf fits.
func New(token, secret string, now func() time.Time, fail func(format string, args ...any)) *Robot {
	return &Robot{token: token, secret: secret, now: now, fail: fail}
}

// Start runs a Robot on this machine until the test ends, and gives it and its base
// URL.
func Start(t testing.TB, token, secret string, now func() time.Time) (*Robot, string) {
	t.Helper()
	r := New(token, secret, now, t.Errorf)
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

// Answer makes the next requests get these answers, whatever they hold; none of them
// is taken.
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
	w.Header().Set("Content-Type", "application/json")
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
		r.fail("dingtalk robot: read the request: %v", err)
	}
	if req.Method != http.MethodPost || req.URL.Path != "/robot/send" {
		r.fail("dingtalk robot: %s %s is not how a robot is called", req.Method, req.URL.Path)
	}
	if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); kind != "application/json" {
		r.fail("dingtalk robot: content type is %q, want application/json", kind)
	}
	query := req.URL.Query()
	want := []string{"access_token"}
	if r.secret != "" {
		want = append(want, "sign", "timestamp")
	}
	if got := keys(query); !slices.Equal(got, want) {
		r.fail("dingtalk robot: the query holds %q, want each of %q once", got, want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.judge(query, body)
	if a != (Answer{Msg: "ok"}) {
		r.refused++
	}
	return a
}

// keys gives the parameters in order, each as often as it is there.
func keys(query url.Values) []string {
	var all []string
	for key, values := range query {
		for range values {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// judge decides on one request and keeps what it takes.
func (r *Robot) judge(query url.Values, body []byte) Answer {
	now := r.now()
	if len(r.answers) > 0 {
		a := r.answers[0]
		r.answers = r.answers[1:]
		return a
	}
	if query.Get("access_token") != r.token {
		return Answer{Code: 300005, Msg: "token is not exist"}
	}
	if a := r.signed(query, now); a.Code != 0 {
		return a
	}
	if now.Before(r.silent) {
		return Answer{Code: 410100, Msg: "发送速度太快而限流"}
	}
	if len(body) > maxBody {
		return Answer{Code: 460101, Msg: "message too long, exceed 20000 bytes"}
	}
	m, err := decode(body)
	if err != nil {
		r.fail("dingtalk robot: %v", err)
		return Answer{Code: 40035, Msg: err.Error()}
	}
	if m.UUID != "" && slices.ContainsFunc(r.messages, func(before Message) bool { return before.UUID == m.UUID }) {
		return Answer{Msg: "ok"} // as told before
	}
	recent := 0
	for _, before := range r.messages {
		if now.Sub(before.At) < time.Minute {
			recent++
		}
	}
	if recent >= perMinute {
		r.silent = now.Add(silence)
		return Answer{Code: 410100, Msg: "发送速度太快而限流"}
	}
	m.At = now
	r.messages = append(r.messages, m)
	return Answer{Msg: "ok"}
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
