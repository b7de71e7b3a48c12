package bark_test

import (
	"testing"

	"curfew/notify"
	"curfew/notify/bark"
	"curfew/notify/notifytest"
)

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{Name: "phone", BaseURL: "https://api.day.app", HTTP: notifytest.Client(), Credential: map[string]string{"key": key}}
	}
	with := func(key string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"key": key} }
	}
	notifytest.Refuses(t, bark.Kind(), good, []string{key}, map[string]notifytest.Refusal{
		"no key":                {with(""), "no key; give key: {env: NAME}"},
		"an address":            {with("https://api.day.app/" + key + "/hello"), "only the part after the server"},
		"a key with a line end": {with(key + "\n"), "letters and digits"},
		"no address":            {func(o *notify.Options) { o.BaseURL = "api.day.app" }, "base_url is not a web address"},
		"a broken address":      {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":             {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}
