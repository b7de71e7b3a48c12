package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"curfew/fleet"
)

func TestClassify(t *testing.T) {
	const page = "<!doctype html><title>gateway</title>"
	for _, tc := range []struct {
		name        string
		status      int
		body        string
		after       string
		read, write fleet.ErrorKind
		wait        time.Duration
	}{
		{"success", 200, `{"a": 1}`, "", "", "", 0},
		{"bad request", 400, `{}`, "", fleet.Invalid, fleet.Invalid, 0},
		{"lost login", 401, `{}`, "", fleet.Unauthorized, fleet.Unauthorized, 0},
		{"no right", 403, `{}`, "", fleet.Unauthorized, fleet.Unauthorized, 0},
		{"not there", 404, `{}`, "", fleet.NotFound, fleet.NotFound, 0},
		{"not allowed", 405, `{}`, "", fleet.Unsupported, fleet.Unsupported, 0},
		{"conflict", 409, `{}`, "", fleet.Conflict, fleet.Conflict, 0},
		{"too many requests", 429, `{}`, "7", fleet.RateLimited, fleet.RateLimited, 7 * time.Second},
		{"a rate limit's page stays a rate limit", 429, page, "", fleet.RateLimited, fleet.RateLimited, 0},
		{"server error", 500, `{}`, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"busy, with a time to come back", 503, page, "90", fleet.Transient, fleet.OutcomeUnknown, 90 * time.Second},
		{"request time-out", 408, `{}`, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"strange status", 418, `{}`, "", fleet.Other, fleet.Other, 0},
		{"a page instead of JSON", 200, page, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"a page after a mark of byte order", 200, "\xef\xbb\xbf \n" + page, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"a page that says 404 is not a thing that is gone", 404, page, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"a page that keeps programs out", 403, page, "", fleet.Banned, fleet.Banned, 0},
		{"a captcha with 200", 200, "<html>请完成滑动验证</html>", "", fleet.Banned, fleet.Banned, 0},
		{"JSON that breaks off", 200, `{"a": [1, 2`, "", fleet.Transient, fleet.OutcomeUnknown, 0},
		{"nothing at all", 200, ``, "", fleet.Transient, fleet.OutcomeUnknown, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tc.after != "" {
					w.Header().Set("Retry-After", tc.after)
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer srv.Close()
			c := New(Options{})(nil)
			defer c.GetClient().CloseIdleConnections()
			for write, want := range map[bool]fleet.ErrorKind{false: tc.read, true: tc.write} {
				var out map[string]any
				resp, err := c.R().SetContext(t.Context()).Post(srv.URL)
				err = Decode("test: op", write, resp, err, &out)
				if fleet.KindOf(err) != want {
					t.Errorf("write %t: got %v, want kind %q", write, err, want)
				}
				if e, ok := errors.AsType[*fleet.Error](err); ok && (e.RetryAfter != tc.wait || e.Op != "test: op") {
					t.Errorf("write %t: op %q and wait %s, want test: op and %s", write, e.Op, e.RetryAfter, tc.wait)
				}
				if want == "" && out["a"] != 1.0 {
					t.Errorf("write %t: decoded %v", write, out)
				}
			}
		})
	}
}

func TestClassifyBrokenConnections(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	handle := func(h http.HandlerFunc) string {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		return srv.URL
	}
	live := func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }
	ended := func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx, cancel
	}
	for _, tc := range []struct {
		name        string
		url         string
		ctx         func() (context.Context, context.CancelFunc)
		read, write fleet.ErrorKind
	}{
		{"nobody listens: nothing was sent", nobody, live, fleet.Transient, fleet.Transient},
		{"a name that is no name: nothing was sent", "http://no-such-host.invalid", live, fleet.Transient, fleet.Transient},
		{"the context had ended before: nothing was sent", nobody, ended, fleet.Transient, fleet.Transient},
		{"the connection broke without an answer", handle(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), live, fleet.Transient, fleet.OutcomeUnknown},
		{"the body broke off", handle(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"a":`))
		}), live, fleet.Transient, fleet.OutcomeUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dial := (&net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("there is no name server in tests")
			}}}).DialContext
			c := New(Options{Dial: dial})(nil)
			defer c.GetClient().CloseIdleConnections()
			for write, want := range map[bool]fleet.ErrorKind{false: tc.read, true: tc.write} {
				ctx, cancel := tc.ctx()
				defer cancel()
				if !write {
					ctx = Read(ctx)
				}
				resp, err := c.R().SetContext(ctx).Post(tc.url)
				if err = Classify("x", write, resp, err); fleet.KindOf(err) != want {
					t.Errorf("write %t: got %v, want %s", write, err, want)
				}
			}
		})
	}
}

func TestWriteCancelledHalfWayIsUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer srv.Close()
	resp, err := New(Options{})(nil).R().SetContext(ctx).Post(srv.URL)
	err = Classify("stop", true, resp, err)
	if fleet.KindOf(err) != fleet.OutcomeUnknown || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an OutcomeUnknown that is a cancelled context", err)
	}
}

func TestRetryAfter(t *testing.T) {
	date := "Sun, 06 Sep 2026 08:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		"-7":                            0,
		"soon":                          0,
		"999999999":                     24 * time.Hour,
		"Sun, 06 Sep 2026 08:01:30 GMT": 90 * time.Second,
		"Sun, 06 Sep 2026 07:00:00 GMT": 0,
	} {
		h := http.Header{"Date": {date}, "Retry-After": {value}}
		if got := retryAfter(h); got != want {
			t.Errorf("Retry-After %q is %s, want %s", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {date}}); got != 0 {
		t.Errorf("a date without a Date is %s, want 0", got)
	}
}

func TestKindCoversEveryStatus(t *testing.T) {
	for status := 100; status < 600; status++ {
		if k := Kind(status); (k == "") != (status/100 == 2) || k == fleet.OutcomeUnknown {
			t.Errorf("status %d is %q", status, k)
		}
	}
}
