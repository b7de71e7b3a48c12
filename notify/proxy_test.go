package notify_test

import (
	"net/http"
	"strings"
	"testing"

	"curfew/notify"
)

func TestTheWayOfARequest(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.lab.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{
		"direct":                     "",
		"http://10.0.0.1:3128":       "http://10.0.0.1:3128",
		"https://p.lab.example/":     "https://p.lab.example",
		"socks5://me:pw@[::1]:1080":  "socks5://me:pw@[::1]:1080",
		"HTTP://relay.lab.example:8": "http://relay.lab.example:8",
	} {
		p, err := notify.ParseProxy(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		u, err := p.For(req)
		got := ""
		if u != nil {
			got = u.String()
		}
		if err != nil || got != want || p.IsZero() {
			t.Errorf("%s: goes by %q, want %q; %v", s, got, want, err)
		}
	}
	if p, err := notify.ParseProxy("env"); err != nil || !p.IsZero() {
		t.Errorf("env is %+v, %v", p, err)
	}
}

func TestWhatIsNoProxyIsNotRepeated(t *testing.T) {
	for _, s := range []string{"", "10.0.0.1:3128", "socks4://s3cr3t:1", "http://", "http://h/s3cr3t", "http://h?s3cr3t", "http://h#s3cr3t", "http://me:s3cr3t@[", "http://:8080"} {
		if _, err := notify.ParseProxy(s); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %v", s, err)
		}
	}
}
