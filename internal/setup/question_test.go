package setup_test

import (
	"testing"

	"curfew/fleet"
	"curfew/internal/setup"
	"curfew/notify"
)

func TestAnswers(t *testing.T) {
	choice := setup.Question{Options: []setup.Option{{Name: "wecom"}, {Name: "slack"}}, Default: "slack"}
	ask := func(check func(string) (string, fleet.Reason)) setup.Question { return setup.Question{Check: check} }
	for name, c := range map[string]struct {
		q            setup.Question
		line, answer string
		refused      fleet.Code
	}{
		"a number":                      {choice, "1\n", "wecom", ""},
		"a name":                        {choice, "Wecom", "wecom", ""},
		"nothing is the default":        {choice, "  \r\n", "slack", ""},
		"a number too many":             {choice, "3", "", setup.ReasonNoSuch},
		"nought":                        {choice, "0", "", setup.ReasonNoSuch},
		"no option":                     {choice, "telegram", "", setup.ReasonNoSuch},
		"yes":                           {ask(setup.YesNo), "YES", "y", ""},
		"yes in Chinese":                {ask(setup.YesNo), "是", "y", ""},
		"no":                            {ask(setup.YesNo), "n", "n", ""},
		"neither":                       {ask(setup.YesNo), "maybe", "", setup.ReasonYesOrNo},
		"a key":                         {ask(setup.Credential), "abc.def \n", "abc.def", ""},
		"a key and something":           {ask(setup.Credential), "Bearer abc", "", setup.ReasonSpaces},
		"an escape":                     {ask(setup.Credential), "abc\x1b[A", "", setup.ReasonControl},
		"not UTF-8":                     {ask(setup.Glob), "exp-\xff", "", setup.ReasonControl},
		"a glob":                        {ask(setup.Glob), "exp-*", "exp-*", ""},
		"half a glob":                   {ask(setup.Glob), "exp-[", "", setup.ReasonNoGlob},
		"a pattern":                     {ask(setup.Pattern), "python .*train", "python .*train", ""},
		"half a pattern":                {ask(setup.Pattern), "python (", "", setup.ReasonNoPattern},
		"a pattern of everything":       {ask(setup.Pattern), ".*", "", setup.ReasonPatternAll},
		"a price":                       {ask(setup.Price), "1.98", "1.98 CNY", ""},
		"a price with its sign":         {ask(setup.Price), "￥1.98", "1.98 CNY", ""},
		"a price in dollars":            {ask(setup.Price), "0.45 usd", "0.45 USD", ""},
		"no price":                      {ask(setup.Price), "cheap", "", setup.ReasonNoPrice},
		"free is no price":              {ask(setup.Price), "0", "", setup.ReasonNoPrice},
		"less than free":                {ask(setup.Price), "-1", "", setup.ReasonNoPrice},
		"days":                          {ask(setup.Days), "15", "15d", ""},
		"days with their unit":          {ask(setup.Days), "15 天", "15d", ""},
		"at once":                       {ask(setup.Days), "0", "", setup.ReasonNoDays},
		"no days":                       {ask(setup.Days), "soon", "", setup.ReasonNoDays},
		"nothing where that is allowed": {ask(setup.Price), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer, why := c.q.Read(c.line)
			if answer != c.answer || why.Code != c.refused {
				t.Errorf("%q is read as %q, refused for %q; want %q, %q", c.line, answer, why.Code, c.answer, c.refused)
			}
		})
	}
}

func TestTokensInTheEnvironment(t *testing.T) {
	env := func(set ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for _, s := range set {
				if s == name {
					return "secret", true
				}
			}
			return " ", true // set to nothing
		}
	}
	for name, c := range map[string]struct {
		kind string
		keys []string
		env  func(string) (string, bool)
		want string // of the first key
	}{
		"the usual name":                   {"autodl", []string{"token"}, env("AUTODL_TOKEN"), "AUTODL_TOKEN"},
		"a kind with a hyphen":             {"ai-galaxy", []string{"api_key"}, env("AI_GALAXY_API_KEY"), "AI_GALAXY_API_KEY"},
		"AutoDL's messages":                {"autodlpush", []string{"token"}, env("AUTODL_TOKEN"), "AUTODL_TOKEN"},
		"AutoDL's messages with their own": {"autodlpush", []string{"token"}, env("AUTODL_TOKEN", "AUTODLPUSH_TOKEN"), "AUTODLPUSH_TOKEN"},
		"half a pair is none":              {"aliyun", []string{"access_key_id", "access_key_secret"}, env("ALIYUN_ACCESS_KEY_ID"), ""},
		"a blank is none":                  {"autodl", []string{"token"}, env(), ""},
		"a kind without credentials":       {"machines", nil, env("AUTODL_TOKEN"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			names := setup.EnvNames(c.kind, c.keys, c.env)
			got := ""
			if names != nil {
				got = names[c.keys[0]]
			}
			if got != c.want {
				t.Errorf("found %v, want %q", names, c.want)
			}
		})
	}
}

func TestTheEasiestChannelComesFirst(t *testing.T) {
	kinds := []notify.Kind{{Name: "autodlpush"}, {Name: "console"}, {Name: "other"}, {Name: "serverchan"}, {Name: "wecom"}}
	for autodl, want := range map[bool][]string{
		true:  {"autodlpush", "serverchan", "wecom", "other", "console"},
		false: {"serverchan", "wecom", "autodlpush", "other", "console"},
	} {
		for n, k := range setup.ChannelsInOrder(kinds, autodl) {
			if k.Name != want[n] {
				t.Errorf("with AutoDL %t, channel %d is %s, want %s", autodl, n, k.Name, want[n])
			}
		}
	}
}
