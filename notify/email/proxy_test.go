package email_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/email"
	"curfew/notify/notifytest"
)

func TestMailGoesThroughASOCKSProxy(t *testing.T) {
	for how, o := range map[string]doubleOptions{"implicit": authed, "starttls": {auth: authed.auth}} {
		t.Run(how, func(t *testing.T) {
			p := notifytest.SOCKS5(t)
			d := startDouble(t, o, nil)
			through := options(d.port, how)
			var err error
			if through.Proxy, err = notify.ParseProxy(p.URL); err != nil {
				t.Fatal(err)
			}
			if v := open(t, d, through).Send(t.Context(), message()); v.Kind != notify.VerdictOK || len(d.messages()) != 1 {
				t.Errorf("verdict %+v, %d messages", v, len(d.messages()))
			}
			if want := []string{fmt.Sprintf("127.0.0.1:%d", d.port)}; !slices.Equal(p.Asked(), want) {
				t.Errorf("the proxy was asked for %q, want %q", p.Asked(), want)
			}
		})
	}
}

func TestMailGoesThroughNoProxyForHTTP(t *testing.T) {
	o := options(465, "implicit")
	var err error
	if o.Proxy, err = notify.ParseProxy("http://me:s3cr3t@10.0.0.1:3128"); err != nil {
		t.Fatal(err)
	}
	if _, err := email.Kind().Open(o); err == nil || !strings.Contains(err.Error(), "socks5://") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
}
