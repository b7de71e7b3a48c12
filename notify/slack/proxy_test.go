package slack_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/slack"
)

func TestSocketModeGoesThroughAProxy(t *testing.T) {
	for scheme, start := range map[string]func(testing.TB) *notifytest.Proxy{"http": notifytest.CONNECT, "socks5": notifytest.SOCKS5} {
		t.Run(scheme, func(t *testing.T) {
			p := start(t)
			w := newWired(t)
			o := w.options()
			var err error
			if o.Proxy, err = notify.ParseProxy(p.URL); err != nil {
				t.Fatal(err)
			}
			c, err := slack.Kind().Open(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- c.(notify.Listener).Listen(ctx, func(context.Context, notify.Press) (notify.Heard, error) {
					return notify.Heard{}, nil
				})
			}()
			w.server.SendToWebsocket(press("env-1", "curfew", "v1"))
			w.acknowledged(t, "env-1")
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			if want := []string{w.server.ServerAddr}; !slices.Equal(p.Asked(), want) {
				t.Errorf("the proxy was asked for %q, want %q", p.Asked(), want)
			}
		})
	}
}

func TestSocketModeGoesThroughNoProxyWithACertificate(t *testing.T) {
	o := newWired(t).options()
	var err error
	if o.Proxy, err = notify.ParseProxy("https://me:s3cr3t@p.lab.example"); err != nil {
		t.Fatal(err)
	}
	if _, err := slack.Kind().Open(o); err == nil || !strings.Contains(err.Error(), "socks5://") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
	delete(o.Credential, "app_token")
	if _, err := slack.Kind().Open(o); err != nil {
		t.Errorf("without Socket Mode: %v", err)
	}
}
