package bark_test

import (
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/bark"
	"curfew/notify/notifytest"
)

func TestOpenRefuses(t *testing.T) {
	good := notify.Options{Name: "phone", BaseURL: "https://api.day.app", HTTP: notifytest.Client(), Credential: map[string]string{"key": key}}
	with := func(key string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"key": key} }
	}
	for name, c := range map[string]struct {
		change func(*notify.Options)
		want   string
	}{
		"no key":                {with(""), "no key; give key: {env: NAME}"},
		"an address":            {with("https://api.day.app/" + key + "/hello"), "only the part after the server"},
		"a key with a line end": {with(key + "\n"), "letters and digits"},
		"no address":            {func(o *notify.Options) { o.BaseURL = "api.day.app" }, "base_url is not a web address"},
		"a broken address":      {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":             {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := bark.Kind().Open(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "channel phone") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, key)
		})
	}
	if _, err := bark.Kind().Open(good); err != nil {
		t.Errorf("refuses what is right: %v", err)
	}
}
