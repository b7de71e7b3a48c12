// Package feishutest is a strict double of a custom bot in a Feishu group, for tests
// of the channel and of everything that sends through it. It keeps the platform's own
// limits: 100 messages a minute and five a second, bodies of 20 KB, and signatures of
// an hour.
package feishutest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	perMinute = 100
	perSecond = 5
	maxBody   = 20_000
	maxSkew   = time.Hour
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
type Answer struct {
	Status int // zero: 200
	Code   int
	Msg    string
	Raw    string // instead of code and message
}

// Bot is one custom bot. It is an http.Handler, usable without a socket by
// [Bot.RoundTrip].
type Bot struct {
	token, secret string
	now           func() time.Time
	fail          func(format string, args ...any)

	mu       sync.Mutex
	messages []Message
	answers  []Answer
	refused  int
}

// New makes a Bot with this token and, where it is not empty, this secret of its
// signature. fail is told of requests that no correct client sends; t.Errorf fits.
func New(token, secret string, now func() time.Time, fail func(format string, args ...any)) *Bot {
	return &Bot{token: token, secret: secret, now: now, fail: fail}
}

// Start runs a Bot on this machine until the test ends, and gives it and its base URL.
func Start(t testing.TB, token, secret string, now func() time.Time) (*Bot, string) {
	t.Helper()
	b := New(token, secret, now, t.Errorf)
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, server.URL
}

// Messages gives the messages taken so far, in order of arrival.
func (b *Bot) Messages() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.messages)
}

// Refused is how many requests were not taken.
func (b *Bot) Refused() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Answer makes the next requests get these answers, whatever they hold; none of them
// is taken.
func (b *Bot) Answer(answers ...Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = append(b.answers, answers...)
}

// RoundTrip answers without a socket, so that a Bot can be an http.Client's Transport
// where time is simulated.
func (b *Bot) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	b.ServeHTTP(w, req)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// ServeHTTP takes one message.
func (b *Bot) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := b.take(req)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Raw != "" {
		_, _ = io.WriteString(w, a.Raw)
		return
	}
	said := map[string]any{"code": a.Code, "msg": a.Msg, "data": map[string]any{}}
	if a.Code == 0 {
		said["StatusCode"], said["StatusMessage"] = 0, "success"
	}
	_ = json.NewEncoder(w).Encode(said)
}

func (b *Bot) take(req *http.Request) Answer {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		b.fail("feishu bot: read the request: %v", err)
	}
	const path = "/open-apis/bot/v2/hook/"
	if req.Method != http.MethodPost || len(req.URL.Path) <= len(path) || req.URL.Path[:len(path)] != path {
		b.fail("feishu bot: %s %s is not how a bot is called", req.Method, req.URL.Path)
		return Answer{Status: http.StatusNotFound}
	}
	if kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); kind != "application/json" {
		b.fail("feishu bot: content type is %q, want application/json", kind)
	}
	if req.URL.RawQuery != "" {
		b.fail("feishu bot: the query must be empty")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.judge(req.URL.Path[len(path):], body)
	if a != (Answer{Msg: "success"}) {
		b.refused++
	}
	return a
}

// judge decides on one request and keeps what it takes.
func (b *Bot) judge(token string, body []byte) Answer {
	now := b.now()
	if len(b.answers) > 0 {
		a := b.answers[0]
		b.answers = b.answers[1:]
		return a
	}
	if token != b.token {
		return Answer{Code: 19001, Msg: "param invalid: incoming webhook access token invalid"}
	}
	if len(body) > maxBody {
		return Answer{Status: http.StatusBadRequest, Code: 9499, Msg: "Bad Request"}
	}
	m, stamp, err := decode(body)
	if err != nil {
		b.fail("feishu bot: %v", err)
		return Answer{Code: 19002, Msg: "params error, " + err.Error()}
	}
	if !b.signed(stamp, now) {
		return Answer{Code: 19021, Msg: "sign match fail or timestamp is not within one hour from current time"}
	}
	minute, second := 0, 0
	for _, before := range b.messages {
		if age := now.Sub(before.At); age < time.Minute {
			minute++
			if age < time.Second {
				second++
			}
		}
	}
	if minute >= perMinute || second >= perSecond {
		return Answer{Code: 11232, Msg: "frequency limited psm[lark.oapi.app_platform_runtime]appID[1500]"}
	}
	m.At = now
	b.messages = append(b.messages, m)
	return Answer{Msg: "success"}
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
