package telegram_test

import (
	"strings"
	"testing"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/telegram"
)

func TestOpenRefuses(t *testing.T) {
	good := notify.Options{
		Name: "tg", BaseURL: "https://api.telegram.org", HTTP: notifytest.Client(),
		Credential: map[string]string{"token": token}, Settings: map[string]string{"chat": "-1001234567890"},
	}
	with := func(token string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": token} }
	}
	in := func(chat string) func(*notify.Options) {
		return func(o *notify.Options) { o.Settings = map[string]string{"chat": chat} }
	}
	for name, c := range map[string]struct {
		change func(*notify.Options)
		want   string
	}{
		"no token":                   {with(""), "no token; give token: {env: NAME}"},
		"an address":                 {with("https://api.telegram.org" + path), "only what follows bot"},
		"the path's part":            {with("bot" + token), "only what follows bot"},
		"a token without its number": {with(secret), "a number, a colon"},
		"a token with a line end":    {with(token + "\n"), "a number, a colon"},
		"a token that leads away":    {with("1:../" + secret), "a number, a colon"},
		"no chat":                    {func(o *notify.Options) { o.Settings = nil }, "no chat; give chat:"},
		"a chat's address":           {in("https://t.me/labgroup"), "chat is an address"},
		"a chat's name without @":    {in("labgroup"), `"@name" of a public chat`},
		"chat zero":                  {in("0"), "neither a number nor a name"},
		"everybody":                  {in("@all"), "neither a number nor a name"},
		"no address":                 {func(o *notify.Options) { o.BaseURL = "api.telegram.org" }, "base_url is not a web address"},
		"a broken address":           {func(o *notify.Options) { o.BaseURL = "https://%zz" }, "base_url is not a web address"},
		"no client":                  {func(o *notify.Options) { o.HTTP = nil }, "no HTTP client"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := telegram.Kind().Open(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "channel tg") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			notifytest.NoSecret(t, err, token, secret)
		})
	}
	for _, chat := range []string{"42", "-42", "-1001234567890", "@labgroup"} {
		in(chat)(&good)
		if _, err := telegram.Kind().Open(good); err != nil {
			t.Errorf("refuses what is right: %v", err)
		}
	}
}
