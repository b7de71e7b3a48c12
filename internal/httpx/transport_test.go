package httpx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"curfew/fleet"
)

func TestRetry(t *testing.T) {
	type answer struct {
		status int
		after  string
	}
	for _, tc := range []struct {
		name    string
		write   bool
		answers []answer // the last one repeats
		sent    int
		took    time.Duration
		status  int
	}{
		{"a read is tried again after 503 and then succeeds", false, []answer{{503, ""}, {200, ""}}, 2, time.Second, 200},
		{"a read is tried again after 502 and 504, with growing pauses", false, []answer{{502, ""}, {504, ""}, {200, ""}}, 3, 3 * time.Second, 200},
		{"a read gives up after its retries", false, []answer{{503, ""}}, 4, 7 * time.Second, 503},
		{"a read waits as long as the platform asks", false, []answer{{429, "7"}, {200, ""}}, 2, 7 * time.Second, 200},
		{"a read whose pause would be too long is given to the caller", false, []answer{{429, "11"}, {200, ""}}, 1, 0, 429},
		{"a read is not tried again after 500", false, []answer{{500, ""}}, 1, 0, 500},
		{"a read is not tried again after 401", false, []answer{{401, ""}}, 1, 0, 401},
		{"a write is never tried again after 503", true, []answer{{503, ""}, {200, ""}}, 1, 0, 503},
		{"a write is never tried again after 429", true, []answer{{429, "1"}, {200, ""}}, 1, 0, 429},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent int
				c := bubble(t, Options{RetryMax: 3, RetryWait: time.Second, RetryWaitMax: 10 * time.Second}, nil,
					func(w http.ResponseWriter, r *http.Request) {
						a := tc.answers[min(sent, len(tc.answers)-1)]
						sent++
						if a.after != "" {
							w.Header().Set("Retry-After", a.after)
						}
						w.WriteHeader(a.status)
					})
				ctx := Read(t.Context())
				if tc.write {
					ctx = t.Context() // unmarked is a write
				}
				began := time.Now()
				resp, err := c.R().SetContext(ctx).SetBody(map[string]int{"page": 1}).Post("/x")
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode() != tc.status || sent != tc.sent || time.Since(began) != tc.took {
					t.Errorf("got status %d after %d attempts in %s, want %d, %d, %s",
						resp.StatusCode(), sent, time.Since(began), tc.status, tc.sent, tc.took)
				}
			})
		})
	}
}

func TestEndedContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubble(t, Options{RetryMax: 3, RetryWait: 5 * time.Second}, nil,
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		ctx, cancel := context.WithTimeout(Read(t.Context()), 2*time.Second)
		defer cancel()
		began := time.Now()
		resp, err := c.R().SetContext(ctx).Get("/x")
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("came back after %s, want 2s", took)
		}
		err = Classify("read", false, resp, err)
		if fleet.KindOf(err) != fleet.Transient || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a Transient that is a deadline exceeded", err)
		}
	})
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubble(t, Options{Timeout: 3 * time.Second}, nil,
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		began := time.Now()
		resp, err := c.R().SetContext(t.Context()).Post("/x")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("came back after %s, want 3s", took)
		}
		if err = Classify("write", true, resp, err); fleet.KindOf(err) != fleet.OutcomeUnknown {
			t.Errorf("a write cut off by the time-out: %v, want OutcomeUnknown", err)
		}
	})
}

func TestBackoffIsBoundedAndSpread(t *testing.T) {
	for _, tc := range []struct {
		jitter float64
		n      int
		want   time.Duration
	}{
		{0, 0, 500 * time.Millisecond}, {0.5, 0, 750 * time.Millisecond}, {1, 3, 8 * time.Second}, {1, 60, 10 * time.Second}, {0, 60, 5 * time.Second},
	} {
		got := backoff(func() float64 { return tc.jitter })(time.Second, 10*time.Second, tc.n, nil)
		if got != tc.want {
			t.Errorf("retry %d with jitter %v waits %s, want %s", tc.n, tc.jitter, got, tc.want)
		}
	}
}

func TestEveryAttemptIsSignedAndPaidAfresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := NewMemoryCounter()
		budget := NewBudget(Limits{PerMinute: 100}, counter, time.Now)
		signed := 0
		sign := func(r *http.Request) error {
			signed++
			r.Header.Set("Authorization", fmt.Sprintf("signature-%d", signed))
			return nil
		}
		var got []string
		c := bubble(t, Options{RetryMax: 2, RetryWait: time.Second, Budget: budget, UserAgent: "curfew/test"}, sign,
			func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Errorf("body: %v", err)
				}
				got = append(got, r.Header.Get("Authorization")+" "+r.UserAgent()+" "+string(body))
				if len(got) < 3 {
					w.WriteHeader(http.StatusBadGateway)
				}
			})
		if _, err := c.R().SetContext(Read(t.Context())).SetBody(map[string]int{"page": 1}).Post("/x"); err != nil {
			t.Fatal(err)
		}
		want := []string{
			`signature-1 curfew/test {"page":1}`, `signature-2 curfew/test {"page":1}`, `signature-3 curfew/test {"page":1}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
		if minute, _, err := budget.Used(t.Context()); err != nil || minute != 3 {
			t.Errorf("budget counts %d (%v), want 3", minute, err)
		}
	})
}

func TestRefusedByBudgetIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		budget := NewBudget(Limits{PerMinute: 1}, NewMemoryCounter(), time.Now)
		c := bubble(t, Options{RetryMax: 3, Budget: budget}, nil, func(http.ResponseWriter, *http.Request) { sent++ })
		for range 2 {
			_, _ = c.R().SetContext(Read(t.Context())).Get("/x")
		}
		resp, err := c.R().SetContext(Read(t.Context())).Get("/x")
		err = Classify("test: list", false, resp, err)
		e, ok := errors.AsType[*fleet.Error](err)
		if !ok || e.Kind != fleet.RateLimited || e.RetryAfter <= 0 || e.Op != "test: list" {
			t.Errorf("got %#v, want RateLimited with a time to come back", err)
		}
		if _, err := c.R().SetContext(Write(t.Context())).Post("/x"); err != nil {
			t.Errorf("a write is never refused: %v", err)
		}
		if sent != 2 {
			t.Errorf("%d requests were sent, want one read and one write", sent)
		}
	})
}

func TestFailingSignerSendsNothing(t *testing.T) {
	sent := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer srv.Close()
	c := New(Options{RetryMax: 3, RetryWait: time.Millisecond, Secrets: func() []string { return []string{"s3cret"} }})(
		func(*http.Request) error { return errors.New("key s3cret is malformed") })
	resp, err := c.R().SetContext(t.Context()).Post(srv.URL)
	err = Classify("stop", true, resp, err)
	if fleet.KindOf(err) != fleet.Other || strings.Contains(err.Error(), "s3cret") || sent != 0 {
		t.Errorf("got %v with %d requests sent, want Other without the secret and none sent", err, sent)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	followed := false
	mux := http.NewServeMux()
	mux.Handle("/from", http.RedirectHandler("/to", http.StatusTemporaryRedirect))
	mux.HandleFunc("/to", func(http.ResponseWriter, *http.Request) { followed = true })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	c := New(Options{})(nil)
	defer c.GetClient().CloseIdleConnections()
	for write, want := range map[bool]fleet.ErrorKind{false: fleet.Transient, true: fleet.OutcomeUnknown} {
		ctx := Read(t.Context())
		if write {
			ctx = Write(ctx)
		}
		resp, err := c.R().SetContext(ctx).Post(srv.URL + "/from")
		if err = Classify("x", write, resp, err); fleet.KindOf(err) != want {
			t.Errorf("write %t: %v, want %s", write, err, want)
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
}

// A kept connection that dies under a GET makes net/http send it once more by
// itself. A GET that is a write must not be.
func TestNothingResendsAWrite(t *testing.T) {
	var kills atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/kill" {
			kills.Add(1)
			panic(http.ErrAbortHandler)
		}
	}))
	defer srv.Close()
	c := New(Options{})(nil)
	defer c.GetClient().CloseIdleConnections()
	for _, warm := range []context.Context{Read(t.Context()), Write(t.Context())} {
		if _, err := c.R().SetContext(warm).Get(srv.URL + "/warm"); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := c.R().SetContext(Write(t.Context())).Get(srv.URL + "/kill")
	if err = Classify("stop", true, resp, err); fleet.KindOf(err) != fleet.OutcomeUnknown {
		t.Errorf("got %v, want OutcomeUnknown", err)
	}
	if n := kills.Load(); n != 1 {
		t.Errorf("the write was sent %d times, want once", n)
	}
}

func TestAnswersAreLimited(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte(" "), bodyLimit+1))
	}))
	defer srv.Close()
	c := New(Options{})(nil)
	defer c.GetClient().CloseIdleConnections()
	resp, err := c.R().SetContext(Read(t.Context())).Get(srv.URL)
	if err = Classify("list", false, resp, err); fleet.KindOf(err) != fleet.Transient {
		t.Errorf("got %v, want an error", err)
	}
}

func TestNoSecretGetsOut(t *testing.T) {
	const token = "tok/en+42 \"x\""
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer srv.Close()
	var logged bytes.Buffer
	c := New(Options{
		Logger:  zerolog.New(&logged).Level(zerolog.DebugLevel),
		Secrets: func() []string { return []string{token} },
	})(func(r *http.Request) error { r.Header.Set("Authorization", token); return nil })
	resp, err := c.R().SetContext(Read(t.Context())).SetQueryParam("key", token).SetPathParam("p", token).Get(srv.URL + "/a/{p}")
	err = Classify("list", false, resp, err)
	if err == nil {
		t.Fatal("a dropped connection gave no error")
	}
	if logged.Len() == 0 {
		t.Error("nothing was logged at debug level")
	}
	for where, text := range map[string]string{"error": err.Error(), "verbose error": fmt.Sprintf("%+v %#v", err, err), "log": logged.String()} {
		for _, part := range []string{"tok/en", "tok%2Fen", `tok\/en`} {
			if strings.Contains(text, part) {
				t.Errorf("the %s holds %q: %s", where, part, text)
			}
		}
	}
}
