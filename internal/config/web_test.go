package config

import (
	"strings"
	"testing"

	"curfew/notify"
)

// channelsWithButtons are a bot that hears by a token of its own and one that needs
// another for that.
func channelsWithButtons() []notify.Kind {
	return []notify.Kind{
		{Name: "tg", Credentials: []string{"token"}, Buttons: "token", UserID: "^[0-9]+$", UserLike: "42"},
		{Name: "sl", Credentials: []string{"webhook", "bot"}, Buttons: "app", UserID: "^U[0-9]+$", UserLike: "U42"},
		{Name: "plain", NoSecrets: true},
	}
}

func TestWhereThePageIsServed(t *testing.T) {
	const public = "public_url: https://curfew.example/x\n"
	for name, c := range map[string]struct{ yaml, listen, address, says string }{
		"nobody listens":                   {"", "", "", ""},
		"an address alone serves nothing":  {public, "", "", ""},
		"this machine alone has no links":  {`listen: "127.0.0.1:8420"`, "127.0.0.1:8420", "", ""},
		"by its name":                      {`listen: "localhost:8420"`, "localhost:8420", "", ""},
		"of the new kind":                  {`listen: "[::1]:8420"`, "[::1]:8420", "", ""},
		"behind a proxy":                   {public + `listen: "127.0.0.1:8420"`, "127.0.0.1:8420", "https://curfew.example/x", ""},
		"an address of this machine":       {"web: {token: {env: T}}\nlisten: \"10.0.0.5:8420\"", "10.0.0.5:8420", "http://10.0.0.5:8420", ""},
		"every address, and none is named": {"web: {token: {env: T}}\nlisten: \"0.0.0.0:8420\"", "0.0.0.0:8420", "", ""},
		"every address, without naming it": {"web: {token: {env: T}}\nlisten: \":8420\"", ":8420", "", ""},
		"within reach and without a token": {`listen: "10.0.0.5:8420"`, "", "", `c.yaml:2:9: listen: "10.0.0.5:8420" is within reach of other machines, and there is no token; write web: {token:`},
		"every address and no token":       {`listen: ":8420"`, "", "", "there is no token"},
		"a token for nothing":              {`web: {token: {env: T}}`, "", "", "c.yaml:2:6: web: is about a page that is not served"},
		"a token in the file":              {"listen: \"10.0.0.5:8420\"\nweb: {token: s3cret}", "", "", "web.token: holds a secret in the file itself"},
		"where pings come in":              {"ping: {listen: \"127.0.0.1:8420\"}\nlisten: \"127.0.0.1:8420\"", "", "", "listen: is where pings come in already"},
		"no port":                          {`listen: "127.0.0.1"`, "", "", `listen: "127.0.0.1" is not an address and a port; write "127.0.0.1:8420"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("c.yaml", []byte("accounts: [{name: a, provider: sim}]\n"+c.yaml), registry())
			if c.says == "" {
				if err != nil || got.Listen != c.listen || got.Address() != c.address {
					t.Errorf("%v, listens at %q, is reached at %q", err, got.Listen, got.Address())
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestWhoMayPressButtons(t *testing.T) {
	reg := registry()
	reg.Channels = channelsWithButtons()
	for name, c := range map[string]struct{ channel, users, says string }{
		"nobody":                        {"type: tg, token: {env: T}", "", ""},
		"a number is an id":             {"type: tg, token: {env: T}, users: [42, \"43\"]", "42 43", ""},
		"one alone":                     {"type: tg, token: {env: T}, users: 42", "42", ""},
		"with the secret that it needs": {"type: sl, bot: {env: T}, app: {env: A}, users: [U1]", "U1", ""},
		"with the secret and no users":  {"type: sl, bot: {env: T}, app: {env: A}", "", ""},
		"without the secret":            {"type: sl, bot: {env: T}, users: [U1]", "", "notify.channels[0].users: says who may press buttons, and without app there are none"},
		"the secret is no other":        {"type: sl, app: {env: A}", "", "has no webhook and no bot"},
		"a name is no id":               {"type: tg, token: {env: T}, users: [\"@wang\"]", "", `users[0]: "@wang" is not the id of a person there; write one like 42, not a name`},
		"one twice":                     {"type: tg, token: {env: T}, users: [42, 42]", "", `users[1]: "42" is named already`},
		"an empty list":                 {"type: tg, token: {env: T}, users: []", "", "users: names nobody"},
		"a channel that has no buttons": {"type: plain, users: [42]", "", "users: is not a known key here"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("c.yaml", []byte("accounts: [{name: a, provider: sim}]\nnotify: {channels: [{name: n, "+c.channel+"}]}"), reg)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if users := strings.Join(got.Notify.Channels[0].Users, " "); users != c.users {
					t.Errorf("users %q, want %q", users, c.users)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}
