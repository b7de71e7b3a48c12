package ping_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/signals/ping"
)

// desk takes pings for one instance, and remembers them.
type desk struct {
	mu      sync.Mutex
	key     string
	now     time.Time
	failing int // how often the state cannot be written
	taken   []ping.Ping
}

func newDesk() *desk { return &desk{key: ping.Key("secret", ref), now: at(0)} }

func (d *desk) handler() *ping.Handler {
	return ping.NewHandler(ping.Options{
		Find: func(key string) (fleet.Ref, bool) { return ref, key == d.key },
		Record: func(ctx context.Context, of fleet.Ref, p ping.Ping) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if _, bounded := ctx.Deadline(); of != ref || !bounded {
				return errors.New("the wrong instance, or no end to waiting")
			}
			if d.failing > 0 {
				d.failing--
				return errors.New("disk full at /var/lib/secret")
			}
			d.taken = append(d.taken, p)
			return nil
		},
		Now: func() time.Time { return d.now },
	})
}

// pings gives what was taken since the last time.
func (d *desk) pings() []ping.Ping {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.taken
	d.taken = nil
	return taken
}

func ask(t *testing.T, h http.Handler, method, target, body string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
	return w.Result()
}

func TestRequests(t *testing.T) {
	d := newDesk()
	url := "/ping/" + d.key
	end := func(exit int) *ping.Ping { return &ping.Ping{Kind: ping.End, Exit: exit} }
	with := func(p *ping.Ping, rid, text string) *ping.Ping {
		p.RID, p.Text = rid, text
		return p
	}
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		says                 string
		want                 *ping.Ping
	}{
		"success":                        {"GET", url, "", 200, "OK", end(0)},
		"success with a slash":           {"GET", url + "/", "", 200, "OK", end(0)},
		"success by HEAD":                {"HEAD", url, "", 200, "", end(0)},
		"success by POST":                {"POST", url, "all fine", 200, "OK", with(end(0), "", "all fine")},
		"a key in capitals":              {"GET", "/ping/" + strings.ToUpper(d.key), "", 200, "OK", end(0)},
		"start":                          {"GET", url + "/start", "", 200, "OK", &ping.Ping{Kind: ping.Start}},
		"fail":                           {"POST", url + "/fail", "Traceback", 200, "OK", with(end(1), "", "Traceback")},
		"log":                            {"POST", url + "/log", "step 7", 200, "OK", &ping.Ping{Kind: ping.Log, Text: "step 7"}},
		"exit status 0":                  {"GET", url + "/0", "", 200, "OK", end(0)},
		"exit status 137":                {"GET", url + "/137", "", 200, "OK", end(137)},
		"exit status 255":                {"GET", url + "/255", "", 200, "OK", end(255)},
		"exit status 256 is none":        {"GET", url + "/256", "", 400, "invalid url format", nil},
		"exit status without end":        {"GET", url + "/" + strings.Repeat("9", 40), "", 400, "invalid url format", nil},
		"exit status -1 is none":         {"GET", url + "/-1", "", 404, "not found", nil},
		"an id":                          {"GET", url + "/start?rid=" + rid1, "", 200, "OK", &ping.Ping{Kind: ping.Start, RID: rid1}},
		"an id in capitals":              {"GET", url + "?rid=ABCDEFAB-1111-4111-8111-111111111111", "", 200, "OK", with(end(0), "abcdefab-1111-4111-8111-111111111111", "")},
		"an id that is none":             {"GET", url + "?rid=run-7", "", 400, "invalid url format", nil},
		"an id without dashes":           {"GET", url + "?rid=" + strings.ReplaceAll(rid1, "-", ""), "", 400, "invalid url format", nil},
		"an id in brackets":              {"GET", url + "?rid={" + rid1 + "}", "", 400, "invalid url format", nil},
		"an empty id":                    {"GET", url + "?rid=", "", 400, "invalid url format", nil},
		"a key of nobody":                {"GET", "/ping/" + rid1, "", 404, "not found", nil},
		"a key that is no key":           {"GET", "/ping/x", "", 404, "not found", nil},
		"no key":                         {"GET", "/ping/", "", 404, "not found", nil},
		"no key and no slash":            {"GET", "/ping", "", 404, "not found", nil},
		"something else after the key":   {"GET", url + "/pause", "", 404, "not found", nil},
		"something more after the verb":  {"GET", url + "/start/now", "", 404, "not found", nil},
		"dots in the path":               {"GET", "/ping/../ping/" + d.key, "", 404, "not found", nil},
		"the root":                       {"GET", "/", "", 404, "not found", nil},
		"the daemon's own socket's path": {"GET", "/v1/plan", "", 404, "not found", nil},
		"an act":                         {"POST", "/v1/act", `{"name":"a","action":"release"}`, 404, "not found", nil},
		"the measurements":               {"GET", "/metrics", "", 404, "not found", nil},
		"a method that pings not":        {"DELETE", url, "", 405, "method not allowed", nil},
		"a question about methods":       {"OPTIONS", url, "", 405, "method not allowed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			// For each a handler of its own: this is not about how many come.
			resp := ask(t, d.handler(), c.method, c.target, c.body)
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status || c.method != "HEAD" && string(body) != c.says {
				t.Errorf("answer %d %q, %v; want %d %q", resp.StatusCode, body, err, c.status, c.says)
			}
			var want []ping.Ping
			if c.want != nil {
				c.want.At = at(0)
				want = []ping.Ping{*c.want}
			}
			if diff := cmp.Diff(want, d.pings()); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNotRecordedIsNotAcknowledged(t *testing.T) {
	d := newDesk()
	h := d.handler()
	d.failing = 1
	resp := ask(t, h, "POST", "/ping/"+d.key+"/fail", "x")
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || strings.Contains(string(body), "disk") {
		t.Errorf("answer %d %q, retry after %q", resp.StatusCode, body, resp.Header.Get("Retry-After"))
	}
	if n := len(d.pings()); n != 0 {
		t.Errorf("%d pings were taken", n)
	}
	if resp := ask(t, h, "POST", "/ping/"+d.key+"/fail", "x"); resp.StatusCode != 200 || len(d.pings()) != 1 {
		t.Errorf("once it can be recorded the answer is %d", resp.StatusCode)
	}
}

func TestABodyThatBreaksOffIsNoPing(t *testing.T) {
	d := newDesk()
	r := httptest.NewRequest("POST", "/ping/"+d.key, io.MultiReader(strings.NewReader("half"), broken{}))
	w := httptest.NewRecorder()
	d.handler().ServeHTTP(w, r)
	if w.Code != 400 || len(d.pings()) != 0 {
		t.Errorf("answer %d", w.Code)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestOfALongBodyTheLastPartIsKept(t *testing.T) {
	d := newDesk()
	h := d.handler()
	for name, c := range map[string]struct {
		body, ends string
		kept       int
	}{
		"as much as counts":     {strings.Repeat("x", 99_990) + "at the end", "at the end", ping.TextKept},
		"more than counts":      {strings.Repeat("y", 100_000) + "never read", "yyy", ping.TextKept},
		"little":                {"step 1\n", "step 1\n", 7},
		"letters of three each": {strings.Repeat("训", 10_000), "训", ping.TextKept - 1},
	} {
		t.Run(name, func(t *testing.T) {
			resp := ask(t, h, "POST", "/ping/"+d.key+"/log", c.body)
			got := d.pings()
			if resp.StatusCode != 200 || len(got) != 1 || len(got[0].Text) != c.kept || !strings.HasSuffix(got[0].Text, c.ends) {
				t.Errorf("answer %d, taken %+.60v", resp.StatusCode, got)
			}
		})
	}
}

func TestPingsThatComeTooFastWait(t *testing.T) {
	d := newDesk()
	h := d.handler()
	status := func(target string) int { return ask(t, h, "GET", target, "").StatusCode }
	url, stranger := "/ping/"+d.key+"/log", "/ping/"+rid1
	count := func(target string) (taken int) {
		for range 200 {
			if s := status(target); s != 429 {
				taken++
			}
		}
		return taken
	}
	if n := count(stranger); n != 50 {
		t.Errorf("of 200 pings of strangers %d were looked at", n)
	}
	if n := count(url); n != 30 {
		t.Errorf("of 200 pings %d were taken, and strangers must take nothing from them", n)
	}
	resp := ask(t, h, "GET", url, "")
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("answer %d, retry after %q", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	d.now = d.now.Add(2 * time.Second)
	if a, b, c := status(url), status(url), status(url); a != 200 || b != 200 || c != 429 {
		t.Errorf("two seconds later: %d %d %d, want two more", a, b, c)
	}
	if d.now = d.now.Add(time.Second); status(stranger) != 404 {
		t.Error("a stranger is never looked at again")
	}
}
