package dingtalk

import (
	"net/url"
	"testing"
)

// Vectors that other programs, in Java, Python, node and Go, give for the same.
func TestSign(t *testing.T) {
	for name, c := range map[string]struct {
		ms           int64
		secret, want string
	}{
		"made for this test":     {1790000000000, "SECgpuwatchdemo0000000000000000000000000000000000000000000000000000", "fWuUrRl8U4cQjZeS7fa%2FgzcsKpTkqrfBy73FAK0oris%3D"},
		"the platform's example": {1577262236757, "this is secret", "hmPWwU%2B7lVdm3ZZz0r9tSfx0L4Q26jWOZr9%2BGs6EZQM%3D"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := url.QueryEscape(sign(c.ms, c.secret)); got != c.want {
				t.Errorf("sign %s, want %s", got, c.want)
			}
		})
	}
}

func TestWithoutIP(t *testing.T) {
	for in, want := range map[string]string{
		"ip 203.0.113.7 not in whitelist":    "ip <ip> not in whitelist",
		"from 2001:db8::17, error":           "from <ip>, error",
		"ends in 203.0.113.7.":               "ends in <ip>.",
		"at 16:30:05, description:无效的 1.2.3": "at 16:30:05, description:无效的 1.2.3",
	} {
		if got := withoutIP(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
