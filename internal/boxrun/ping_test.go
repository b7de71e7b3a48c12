package boxrun

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

func TestPingsTellOfTheRun(t *testing.T) {
	var mu sync.Mutex
	var got, rids []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Method+" "+r.URL.Path+" "+string(body))
		rids = append(rids, r.URL.Query().Get("rid"))
	}))
	defer server.Close()
	for _, address := range []string{"/ping/key", "/ping/key/", "/ping/key/start"} {
		p, err := NewPinger(server.URL+address, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		p.Begin(t.Context())
		if err := p.End(t.Context(), 3, "完成"); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; n < len(got); n += 2 {
		if got[n] != "POST /ping/key/start " || got[n+1] != "POST /ping/key/3 完成" {
			t.Errorf("got %q", got[n:n+2])
		}
		if _, err := uuid.Parse(rids[n]); err != nil || rids[n] != rids[n+1] {
			t.Errorf("ids %q, %v", rids[n:n+2], err)
		}
	}
	if len(got) != 6 || rids[0] == rids[2] {
		t.Errorf("%d pings, ids %q", len(got), rids)
	}
}

func TestAPingThatFailsDoesNotTellItsAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }))
	address := server.URL + "/ping/s3cr3t"
	p, err := NewPinger(address, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	p.Begin(t.Context())
	err = p.End(t.Context(), 0, "")
	if err == nil || !strings.Contains(err.Error(), "404") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
	server.Close()
	if p, err = NewPinger(address, server.Client()); err != nil {
		t.Fatal(err)
	}
	p.Begin(t.Context())
	if err := p.End(t.Context(), 0, ""); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"s3cr3t", "ftp://s3cr3t/x", "http://", "http://a b/s3cr3t"} {
		if _, err := NewPinger(bad, nil); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// silent answers nothing until the request is given up.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestNobodyWaitsLongForAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPinger("https://curfew.lab.example/ping/key", &http.Client{Transport: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		p.Begin(t.Context())
		if time.Since(began) != 0 {
			t.Errorf("the start was waited for: %s", time.Since(began))
		}
		if err := p.End(t.Context(), 0, ""); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		again, err := NewPinger("https://curfew.lab.example/ping/key", &http.Client{Transport: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		again.started <- nil
		if err := again.End(t.Context(), 0, ""); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
