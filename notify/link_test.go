package notify_test

import (
	"slices"
	"strings"
	"testing"

	"curfew/notify"
)

func TestLinks(t *testing.T) {
	wait := notify.Action{Label: "Wait 2h", URL: "https://curfew.lab/a?t=1&x=2"}
	for name, c := range map[string]struct {
		actions         []notify.Action
		markdown, plain string
	}{
		"none":                          {nil, "", ""},
		"one":                           {[]notify.Action{wait}, "[Wait 2h](https://curfew.lab/a?t=1&x=2)", "Wait 2h: https://curfew.lab/a?t=1&x=2"},
		"one without an address":        {[]notify.Action{{Label: "Wait", Value: "v"}, wait}, "[Wait 2h](https://curfew.lab/a?t=1&x=2)", "Wait 2h: https://curfew.lab/a?t=1&x=2"},
		"two":                           {[]notify.Action{wait, {Label: "Now", URL: "http://h/b"}}, "[Wait 2h](https://curfew.lab/a?t=1&x=2) · [Now](http://h/b)", "Wait 2h: https://curfew.lab/a?t=1&x=2\nNow: http://h/b"},
		"a label of markup":             {[]notify.Action{{Label: "[a](b)\n**c**", URL: "https://h"}}, "[a(b) *\u200b*c*\u200b*](https://h)", "[a](b) **c**: https://h"},
		"no label":                      {[]notify.Action{{URL: "https://h"}}, "", ""},
		"an address of another kind":    {[]notify.Action{{Label: "x", URL: "javascript:alert(1)"}, {Label: "x", URL: "/a"}, {Label: "x", URL: "https://%zz"}}, "", ""},
		"an address that breaks out":    {[]notify.Action{{Label: "x", URL: "https://h/a)b"}, {Label: "x", URL: "https://h/a|b>"}, {Label: "x", URL: "https://h/a b"}}, "", ""},
		"an address with a line end":    {[]notify.Action{{Label: "x", URL: "https://h/a\nb"}}, "", ""},
		"an address with a backslash":   {[]notify.Action{{Label: "x", URL: `https://h/a\b`}}, "", ""},
		"an address with an apostrophe": {[]notify.Action{{Label: "x", URL: "https://h/a'b"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.Links(c.actions); got != c.markdown {
				t.Errorf("Markdown %q, want %q", got, c.markdown)
			}
			if got := notify.PlainLinks(c.actions); got != c.plain {
				t.Errorf("plain %q, want %q", got, c.plain)
			}
		})
	}
}

func TestCutAbove(t *testing.T) {
	long := strings.Repeat("训", 100)
	for name, c := range map[string]struct{ lines, tail, want string }{
		"no tail":               {"lines", "", "lines"},
		"both fit":              {"lines", "tail", "lines\ntail"},
		"lines are cut":         {long, "tail", strings.Repeat("训", 26) + "…(+222 bytes)\ntail"},
		"too long a tail":       {"lines", strings.Repeat("t", 51), "lines"},
		"a tail that just fits": {"lines", strings.Repeat("t", 50), "lines\n" + strings.Repeat("t", 50)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.CutAbove(c.lines, c.tail, 100); got != c.want || len(got) > 100 {
				t.Errorf("%d bytes %q, want %q", len(got), got, c.want)
			}
		})
	}
}

func TestAddressSecrets(t *testing.T) {
	for address, want := range map[string][]string{
		"https://hooks.example/in":                           nil,
		"https://hooks.example/in/4fTq81xz?k=a&key=9Pd2sL0v": {"4fTq81xz", "k=a&key=9Pd2sL0v", "/in/4fTq81xz", "9Pd2sL0v"},
		"https://Tk3jd92kd@hooks.example":                    {"Tk3jd92kd"},
		"https://ops:pw@hooks.example":                       {"pw"}, // a password is one, however short
	} {
		u := notify.WebURL(address)
		if u == nil {
			t.Fatalf("%s is no web address", address)
		}
		if got := notify.AddressSecrets(u); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"", "hooks.example", "ftp://hooks.example", "https:///in", "https://a b/"} {
		if notify.WebURL(address) != nil {
			t.Errorf("%q is a web address", address)
		}
	}
}
