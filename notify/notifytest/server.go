// Package notifytest is the kit with which channels are tested: a strict double
// of the platform's endpoint, a table of answers and how each must be judged, a
// watch for secrets, and golden payloads.
package notifytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// Expect says what every request must look like. A request that differs fails
// the test with a message.
type Expect struct {
	Method      string
	Path        string
	Query       url.Values // exactly these
	ContentType string     // media type, without parameters
	// Header holds headers that must be there with exactly these values; others may
	// be there too.
	Header http.Header
	// Body gives a fresh value into which the JSON body is decoded; a field it
	// does not know is refused. Nil: the body must be empty.
	Body func() any
	// Check looks at the decoded body; it may be nil.
	Check func(body any) error
	// Whole looks at the request and its body as they came; it may be nil.
	Whole func(r *http.Request, body []byte) error
}

// Reply is one scripted answer.
type Reply struct {
	Status int // zero: 200
	Header http.Header
	Body   string
	Drop   bool // the connection is cut instead of an answer
}

// Server is a strict double of a channel's endpoint on this machine. It answers
// the scripted replies in order; a request too many and a reply left over both
// fail the test.
type Server struct {
	URL string

	t       testing.TB
	expect  Expect
	mu      sync.Mutex
	replies []Reply
	bodies  [][]byte
}

// NewServer starts a Server; the test stops it.
func NewServer(t testing.TB, e Expect, replies ...Reply) *Server {
	t.Helper()
	s := &Server{t: t, expect: e, replies: replies}
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if n := len(s.replies); n > 0 {
			t.Errorf("%d scripted replies were never asked for", n)
		}
	})
	return s
}

// Bodies gives the bodies that came in, in order.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// ServeHTTP checks the request and gives the next reply.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read the request: %v", err)
	}
	for _, problem := range s.expect.problems(r, body) {
		s.t.Errorf("request %s %s: %s", r.Method, r.URL.Path, problem)
	}
	reply, ok := s.next(body)
	if !ok {
		s.t.Errorf("request %s %s: no reply is scripted for it", r.Method, r.URL.Path)
		reply = Reply{Status: http.StatusTeapot}
	}
	if reply.Drop {
		panic(http.ErrAbortHandler)
	}
	reply.write(w)
}

func (r Reply) write(w http.ResponseWriter) {
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	_, _ = io.WriteString(w, r.Body)
}

// Takes is a client of a platform that answers every request alike, without a socket.
// One that differs from what is expected is an error of t, which may be a property's.
func Takes(t interface {
	Errorf(format string, args ...any)
}, e Expect, reply Reply) *http.Client {
	return &http.Client{Transport: RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		for _, problem := range e.problems(r, body) {
			t.Errorf("request %s %s: %s", r.Method, r.URL.Path, problem)
		}
		return served(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply.write(w) }), r), nil
	})}
}

// RoundTrip is a function as an http.Client's Transport.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// served is what a handler answers, without a socket.
func served(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp
}

func (s *Server) next(body []byte) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	if len(s.replies) == 0 {
		return Reply{}, false
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply, true
}

func (e Expect) problems(r *http.Request, body []byte) []string {
	var all []string
	problem := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.Method != e.Method {
		problem("method is %s, want %s", r.Method, e.Method)
	}
	if r.URL.Path != e.Path {
		problem("path is %q, want %q", r.URL.Path, e.Path)
	}
	if got, want := r.URL.Query().Encode(), e.Query.Encode(); got != want {
		problem("query is %q, want %q", got, want)
	}
	if got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); got != e.ContentType {
		problem("content type is %q, want %q", got, e.ContentType)
	}
	for name, want := range e.Header {
		if got := r.Header.Values(name); !slices.Equal(got, want) {
			problem("header %s is %q, want %q", name, got, want)
		}
	}
	if e.Whole != nil {
		if err := e.Whole(r, body); err != nil {
			problem("%v", err)
		}
	}
	if e.Body == nil {
		if len(body) > 0 {
			problem("body is %q, want none", body)
		}
		return all
	}
	into := e.Body()
	if err := Strict(body, into); err != nil {
		problem("%v", err)
	} else if e.Check != nil {
		if err := e.Check(into); err != nil {
			problem("%v", err)
		}
	}
	return all
}

// Strict decodes one JSON value and refuses fields that into does not have, anything
// after it and what is not UTF-8.
func Strict(body []byte, into any) error {
	if !utf8.Valid(body) {
		return fmt.Errorf("body %q is not UTF-8", body)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("body %q: %w", body, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("body %q: more than one value", body)
	}
	return nil
}

// Client is an HTTP client like the one a channel is opened with: a time-out and
// no redirects.
func Client() *http.Client {
	return &http.Client{
		Timeout:       5 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
