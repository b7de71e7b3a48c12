package notifytest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"curfew/notify"
	"curfew/notify/notifytest"
)

// recorder is a test that only notes what it is told.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()                   {}
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) finish() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.errors, "\n")
}

type body struct {
	Text string `json:"text"`
}

func expect() notifytest.Expect {
	return notifytest.Expect{
		Method: http.MethodPost, Path: "/send", Query: url.Values{"key": {"K"}}, ContentType: "application/json",
		Header: http.Header{"X-Token": {"T"}},
		Body:   func() any { return new(body) },
		Check: func(b any) error {
			if len(b.(*body).Text) > 5 {
				return errors.New("text is longer than 5 bytes")
			}
			return nil
		},
	}
}

func TestServerIsStrict(t *testing.T) {
	for name, c := range map[string]struct{ method, target, contentType, body, want string }{
		"a right request passes":    {"POST", "/send?key=K", "application/json; charset=utf-8", `{"text":"x"}`, ""},
		"a wrong method fails":      {"PUT", "/send?key=K", "application/json", `{"text":"x"}`, "method is PUT"},
		"a wrong path fails":        {"POST", "/other?key=K", "application/json", `{"text":"x"}`, `path is "/other"`},
		"a parameter more fails":    {"POST", "/send?key=K&a=b", "application/json", `{"text":"x"}`, "query is"},
		"a wrong type fails":        {"POST", "/send?key=K", "text/plain", `{"text":"x"}`, "content type is"},
		"a missing header fails":    {"POST", "/send?key=K", "application/json", `{"text":"x"}`, "header X-Token is []"},
		"an unknown field fails":    {"POST", "/send?key=K", "application/json", `{"text":"x","y":1}`, "unknown field"},
		"two values fail":           {"POST", "/send?key=K", "application/json", `{"text":"x"} {}`, "more than one value"},
		"the test's own check does": {"POST", "/send?key=K", "application/json", `{"text":"longer"}`, "longer than 5"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			server := notifytest.NewServer(r, expect(), notifytest.Reply{Status: 201, Header: http.Header{"X-A": {"b"}}, Body: "ok"})
			req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.target, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", c.contentType)
			if !strings.Contains(name, "header") {
				req.Header.Set("X-Token", "T")
			}
			resp, err := notifytest.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 201 || resp.Header.Get("X-A") != "b" || string(answer) != "ok" {
				t.Errorf("answer %d %q", resp.StatusCode, answer)
			}
			switch got := r.finish(); {
			case c.want == "" && got != "":
				t.Errorf("complains of a right request: %s", got)
			case !strings.Contains(got, c.want):
				t.Errorf("complaint %q, want %q", got, c.want)
			}
		})
	}
}

func TestServerWantsExactlyItsReplies(t *testing.T) {
	r := &recorder{}
	notifytest.NewServer(r, expect(), notifytest.Reply{})
	if got := r.finish(); !strings.Contains(got, "1 scripted replies were never asked for") {
		t.Errorf("complaint %q", got)
	}
	r = &recorder{}
	server := notifytest.NewServer(r, expect())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/send?key=K", strings.NewReader(`{"text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Token", "T")
	resp, err := notifytest.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := r.finish(); !strings.Contains(got, "no reply is scripted") {
		t.Errorf("complaint %q", got)
	}
}

func TestFindSecretLooksEverywhere(t *testing.T) {
	const secret = "a+b/c d"
	hidden := fmt.Errorf("outer: %w", &url.Error{Op: "Post", URL: "https://x/?key=" + url.QueryEscape(secret), Err: io.EOF})
	for name, c := range map[string]struct {
		what any
		want bool
	}{
		"in a verdict's detail":     {notify.Verdict{Detail: "x " + secret}, true},
		"escaped, in an error":      {hidden, true},
		"not in a harmless verdict": {notify.Verdict{Code: "93000"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notifytest.FindSecret(c.what, "", secret); (got != "") != c.want {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestOutboxIsStrict(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	ok := notify.Verdict{Kind: notify.VerdictOK}
	for name, c := range map[string]struct {
		d    notify.Delivery
		v    notify.Verdict
		next time.Time
		want string
	}{
		"an unknown delivery":     {notify.Delivery{ID: 9}, ok, time.Time{}, "never due"},
		"an attempt not counted":  {notify.Delivery{ID: 1, Attempt: 5}, ok, time.Time{}, "attempt went from 0 to 5"},
		"ok that is not the end":  {notify.Delivery{ID: 1, Attempt: 1}, ok, now.Add(time.Second), "ok and not final"},
		"a wait for the past":     {notify.Delivery{ID: 1, Attempt: 1}, notify.Verdict{}, now.Add(-time.Second), "waits for the past"},
		"a delivery that is over": {notify.Delivery{ID: 2, Attempt: 1}, ok, time.Time{}, "after it was final"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			o := notifytest.NewOutbox(r)
			o.Add(notify.Delivery{}, notify.Delivery{})
			if err := o.RecordDeliveries(t.Context(), "", []notify.Outcome{{Delivery: notify.Delivery{ID: 2, Attempt: 1}, Verdict: ok}}, true, now); err != nil {
				t.Fatal(err)
			}
			if err := o.RecordDeliveries(t.Context(), "", []notify.Outcome{{Delivery: c.d, Verdict: c.v, Next: c.next}}, true, now); err != nil {
				t.Fatal(err)
			}
			if got := r.finish(); !strings.Contains(got, c.want) {
				t.Errorf("complaint %q, want %q", got, c.want)
			}
		})
	}
}
