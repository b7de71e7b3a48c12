package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/internal/config"
	"curfew/internal/text"
	"curfew/notify"
	channels "curfew/notify/all"
	"curfew/providers"
	"curfew/providers/sim"
)

// gate is a proxy of HTTP that answers for whoever is behind it.
type gate struct {
	URL   string
	mu    sync.Mutex
	asked []string // what was asked for, and with which login
}

func newGate(t *testing.T) *gate {
	g := &gate{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked = append(g.asked, r.URL.Host+r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):]+" "+r.Header.Get("Proxy-Authorization"))
		g.mu.Unlock()
		fmt.Fprint(w, `{"ok":true,"result":[]}`)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

func (g *gate) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// through opens a bot of Telegram on a host that is not there.
func through(t *testing.T, proxy, secret string, answered func(string, *http.Response)) (notify.OpenChannel, error) {
	t.Helper()
	registry := config.Registry{Providers: []providers.Kind{sim.Kind()}, Channels: channels.Kinds()}
	cfg, err := config.Parse("curfew.yaml", fmt.Appendf(nil, `
accounts: [{name: own, provider: sim}]
notify: {channels: [{name: me, type: telegram, token: {env: TOKEN}, chat: -1001234567890, base_url: "http://telegram.invalid", quota: {per_minute: 5}, users: ["1"], proxy: %s}]}
`, proxy), registry)
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{
		Registry: registry, Answered: answered,
		LookupEnv: func(name string) (string, bool) {
			return map[string]string{"TOKEN": "123456789:AAF-abcdefghijklmnopqrstuvwxyz01234", "PROXY": secret}[name], true
		},
	}
	return o.Channel(cfg.Notify.Channels[0], text.English, time.UTC)
}

func TestAChannelSendsAndListensThroughItsProxy(t *testing.T) {
	for _, told := range []bool{false, true} {
		g := newGate(t)
		var answered func(string, *http.Response)
		if told {
			answered = func(string, *http.Response) {}
		}
		secret := strings.Replace(g.URL, "http://", "http://me:s3cr3t@", 1)
		open, err := through(t, "{env: PROXY}", secret, answered)
		if err != nil {
			t.Fatal(err)
		}
		if open.Kind.PerMinute != 5 {
			t.Errorf("%d messages a minute, want those of the configuration", open.Kind.PerMinute)
		}
		open.Channel.Send(t.Context(), notify.Message{DeliveryID: "1", Title: "test", Plain: "test"})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_ = open.Channel.(notify.Listener).Listen(ctx, nil)
		const login = " Basic bWU6czNjcjN0"
		if got, want := g.heard(), []string{"telegram.invalid/sendMessage" + login, "telegram.invalid/getUpdates" + login}; !slices.Equal(got, want) {
			t.Errorf("the proxy was asked for %q, want %q", got, want)
		}
	}
}

func TestAProxyThatIsNoneIsToldAndNotRepeated(t *testing.T) {
	for _, secret := range []string{"s3cr3t", "direct", "ftp://me:s3cr3t@10.0.0.1"} {
		_, err := through(t, "{env: PROXY}", secret, nil)
		if err == nil || !strings.Contains(err.Error(), "proxy: env PROXY holds no address of a proxy") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", secret, err)
		}
	}
}
