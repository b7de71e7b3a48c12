package autodl

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
)

const token = "invented-developer-token"

var noon = time.Date(2026, 9, 5, 4, 0, 0, 0, time.UTC) // 12:00 in Beijing

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// openAt opens an account at a URL, without retries.
func openAt(t *testing.T, url string, change func(*providers.Options, *httpx.Options)) *account {
	t.Helper()
	h := httpx.Options{Secrets: func() []string { return []string{token} }}
	o := providers.Options{Account: "lab", BaseURL: url, Credential: map[string]string{"token": token}}
	if change != nil {
		change(&o, &h)
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	o.HTTP = httpx.New(h)
	p, err := Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	a := p.(*account)
	t.Cleanup(a.http.GetClient().CloseIdleConnections)
	return a
}

type bundle struct {
	*account
	cloud *autodltest.Cloud
	clock *clock
}

// setup opens an account on a fresh double.
func setup(t *testing.T, o autodltest.Options, change func(*providers.Options, *httpx.Options)) bundle {
	t.Helper()
	c := &clock{t: noon}
	o.Token, o.Now = token, c.Now
	cloud := autodltest.New(o)
	return bundle{openAt(t, autodltest.Serve(t, cloud), change), cloud, c}
}

func (b bundle) ref(uuid string) fleet.Ref { return fleet.Ref{Kind: fleet.KindInstance, ID: uuid} }

func (b bundle) must(t *testing.T, uuid string) fleet.Instance {
	t.Helper()
	i, err := b.Instance(t.Context(), b.ref(uuid))
	if err != nil {
		t.Fatalf("read %s: %v", uuid, err)
	}
	return i
}

// sent gives the requests since the last from, without the prefix they share.
func (b bundle) sent(from int) []string {
	out := []string{}
	for _, r := range b.cloud.Requests()[from:] {
		out = append(out, strings.Replace(r.String(), "/api/v1/dev/", "", 1))
	}
	return out
}

// exchange is one request expected and the answer to it.
type exchange struct {
	want   string // "METHOD /path?query body"
	status int    // 200 by default
	file   string // answer from testdata,
	body   string // or given here
}

// recorded serves exchanges in order and fails the test for any other request.
func recorded(t *testing.T, xs ...exchange) string {
	t.Helper()
	var mu sync.Mutex
	next := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("request body: %v", err)
		}
		got := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if next >= len(xs) {
			t.Errorf("request %d was not expected: %s", next+1, got)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		x := xs[next]
		next++
		if got != x.want {
			t.Errorf("request %d\n got %s\nwant %s", next, got, x.want)
		}
		if h := r.Header.Values("Authorization"); len(h) != 1 || h[0] != token {
			t.Errorf("request %d: Authorization %q, want the raw token", next, h)
		}
		if len(body) > 0 && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("request %d: Content-Type %q", next, r.Header.Get("Content-Type"))
		}
		if x.file != "" {
			data, err := os.ReadFile("testdata/" + x.file)
			if err != nil {
				t.Error(err)
			}
			x.body = string(data)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if x.status != 0 {
			w.WriteHeader(x.status)
		}
		_, _ = io.WriteString(w, x.body)
	}))
	t.Cleanup(func() {
		srv.Close()
		if next != len(xs) {
			t.Errorf("%d of %d expected requests came", next, len(xs))
		}
	})
	return srv.URL
}

func envelopeOf(t *testing.T, code, msg string, data any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"code": code, "msg": msg, "data": data, "request_id": "req-77"})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	listPage1 = `POST /api/v1/dev/instance/pro/list {"page_index":1,"page_size":100}`
	listPage2 = `POST /api/v1/dev/instance/pro/list {"page_index":2,"page_size":100}`
)
