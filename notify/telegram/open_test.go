package telegram_test

import (
	"testing"

	"curfew/notify"
	"curfew/notify/notifytest"
	"curfew/notify/telegram"
)

func TestOpenRefuses(t *testing.T) {
	good := func() notify.Options {
		return notify.Options{
			Name: "tg", BaseURL: "https://api.telegram.org", HTTP: notifytest.Client(),
			Credential: map[string]string{"token": token}, Settings: map[string]string{"chat": "-1001234567890"},
		}
	}
	with := func(token string) func(*notify.Options) {
		return func(o *notify.Options) { o.Credential = map[string]string{"token": token} }
	}
	in := func(chat string) func(*notify.Options) {
		return func(o *notify.Options) { o.Settings = map[string]string{"chat": chat} }
	}
	notifytest.Refuses(t, telegram.Kind(), good, []string{token, secret}, map[string]notifytest.Refusal{
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
	})
	for _, chat := range []string{"42", "-42", "-1001234567890", "@labgroup"} {
		o := good()
		in(chat)(&o)
		notifytest.Opens(t, telegram.Kind(), o)
	}
}
