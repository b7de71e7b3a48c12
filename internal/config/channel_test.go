package config

import (
	"fmt"
	"strings"
	"testing"

	"curfew/notify"
	channels "curfew/notify/all"
)

// ofChannel reads a file with one channel of the built-in kinds.
func ofChannel(t *testing.T, entry string) (Channel, error) {
	t.Helper()
	reg := registry()
	reg.Channels = channels.Kinds()
	c, err := Parse("curfew.yaml", fmt.Appendf(nil, "accounts: [{name: a, provider: sim}]\nsignals: [{type: sim}]\nnotify: {channels: [{name: x, %s}]}\n", entry), reg)
	if err != nil {
		return Channel{}, err
	}
	return c.Notify.Channels[0], nil
}

func TestTheWayOfAChannel(t *testing.T) {
	const wx = "type: wecom, key: {env: K}"
	const mail = "type: email, host: smtp.example.com, from: a@example.com, to: b@example.com"
	for entry, want := range map[string]string{
		wx:                                      "env",
		wx + ", proxy: env":                     "env",
		wx + ", proxy: direct":                  "direct",
		wx + `, proxy: "http://10.0.0.1:3128"`:  "http://10.0.0.1:3128",
		wx + `, proxy: "https://p.lab.example"`: "https://p.lab.example",
		wx + `, proxy: "socks5://[::1]:1080/"`:  "socks5://[::1]:1080",
		wx + ", proxy: {env: PROXY}":            "env PROXY",
		mail + ", proxy: direct":                "direct",
		mail + `, proxy: "socks5://127.0.0.1"`:  "socks5://127.0.0.1",
	} {
		c, err := ofChannel(t, entry)
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		got := "env"
		switch {
		case !c.ProxySecret.IsZero():
			got = c.ProxySecret.Place()
		case c.Proxy.Direct:
			got = "direct"
		case c.Proxy.URL != nil:
			got = c.Proxy.URL.String()
		}
		if got != want {
			t.Errorf("%s: the way is %s, want %s", entry, got, want)
		}
	}
}

func TestWhatAKindOfChannelCannot(t *testing.T) {
	const wx = "type: wecom, key: {env: K}"
	const mail = "type: email, host: smtp.example.com, from: a@example.com, to: b@example.com"
	for entry, want := range map[string]string{
		mail + `, proxy: "http://10.0.0.1:3128"`:                "is a proxy for HTTP, which email does not speak; write socks5://HOST:PORT",
		mail + ", proxy: env":                                   "means proxies for HTTP, which email does not speak",
		wx + ", quota: {per_minute: 19}":                        "19 is more than wecom takes, which is 18 a minute; write 18 or less",
		"type: dingtalk, token: {env: T}, quota: {per_day: 91}": "91 is more than dingtalk takes, which is 90 in 24 hours",
		"type: console, proxy: direct":                          "is not a known key here",
	} {
		if _, err := ofChannel(t, entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", entry, err, want)
		}
	}
}

func TestAQuotaLowersOrSetsTheKinds(t *testing.T) {
	c, err := ofChannel(t, "type: wecom, key: {env: K}, quota: {per_minute: 6, per_month: 400}")
	if err != nil {
		t.Fatal(err)
	}
	got := notify.Kind{PerMinute: 18, PerDay: 90}.Within(c.Quota)
	if got.PerMinute != 6 || got.PerDay != 90 || got.PerMonth != 400 {
		t.Errorf("%d a minute, %d a day, %d a month", got.PerMinute, got.PerDay, got.PerMonth)
	}
}
