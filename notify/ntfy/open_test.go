package ntfy_test

import (
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/ntfy"
)

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{
			Name: "phone", BaseURL: "https://ntfy.sh", HTTP: notifytest.Client(),
			Credential: map[string]string{"topic": topic, "token": token},
		}
	}
	with := func(topic, token string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"topic": topic, "token": token} }
	}
	at := func(base string) func(*notify.Options) { return func(o *notify.Options) { o.BaseURL = base } }
	notifytest.Refuses(t, ntfy.Kind(), good, []string{topic, token, "aPasswordThatIsNone"}, map[string]notifytest.Refusal{
		"no topic":                {with("", token), "no topic; give topic: {env: NAME}"},
		"a topic's address":       {with("https://ntfy.sh/"+topic, token), "only the last part"},
		"a topic with a line end": {with(topic+"\n", token), "letters, digits"},
		"a topic that is long":    {with(strings.Repeat("x", 65), token), "letters, digits"},
		"a header instead":        {with(topic, "Bearer "+token), "only the access token itself"},
		"a user and a password":   {with(topic, "li:aPasswordThatIsNone"), "make an access token"},
		"a token with a line end": {with(topic, token+"\n"), "without spaces"},
		"no address":              {at("ntfy.sh"), "base_url is not a web address"},
		"a broken address":        {at("https://%zz"), "base_url is not a web address"},
		"the topic's address":     {at("https://ntfy.sh/alerts"), "give only the server"},
		"no client":               {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	})
}
