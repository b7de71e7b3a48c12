package config

import (
	"errors"
	"strings"
	"testing"
)

func TestWherePingsAreListenedFor(t *testing.T) {
	const head = "accounts: [{name: a, provider: sim}]\n"
	for name, c := range map[string]struct{ yaml, listen, says string }{
		"every address of this machine":       {`ping: {listen: "0.0.0.0:8421"}`, "0.0.0.0:8421", ""},
		"every address, without naming it":    {`ping: {listen: ":8421"}`, ":8421", ""},
		"one address of the new kind":         {`ping: {listen: "[::1]:8421"}`, "[::1]:8421", ""},
		"nothing is said, nobody listens":     {`mode: dry-run`, "", ""},
		"a port alone is no address":          {`ping: {listen: "8421"}`, "", `c.yaml:2:16: ping.listen: "8421" is not an address and a port; write "0.0.0.0:8421"`},
		"a number is not an address":          {`ping: {listen: 8421}`, "", `ping.listen: 8421 is a number, not text`},
		"a port of nobody's choice":           {`ping: {listen: "127.0.0.1:0"}`, "", `ping.listen: "0" is not a port`},
		"a service by its name":               {`ping: {listen: "127.0.0.1:http"}`, "", `"http" is not a port`},
		"an address of the web":               {`ping: {listen: "http://h:8421"}`, "", `is not an address and a port`},
		"a block without the key":             {`ping: {lisen: ":8421"}`, "", `ping: listen is missing`},
		"a public address that is none":       {`public_url: curfew.lab.example`, "", `public_url: is not the address of a service`},
		"a public address with a secret":      {`public_url: https://u:p@h`, "", `public_url: is not the address of a service`},
		"a run that pings needs no signals":   {"ping: {listen: \":8421\"}\npolicies: [{name: p, type: training, match: all, then: stop}]", ":8421", ""},
		"a process is not seen through pings": {"ping: {listen: \":8421\"}\npolicies: [{name: p, type: training, match: all, then: stop, process: train}]", "", "policies[0]: looks at runs, and no signal looks inside"},
		"rest is not seen through pings":      {"ping: {listen: \":8421\"}\npolicies: [{name: p, type: idle, match: all, then: stop, for: 1h}]", "", "policies[0]: looks at what instances do, and no signal"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("c.yaml", []byte(head+c.yaml+"\n"), registry())
			if c.says == "" {
				if err != nil || got.Ping.Listen != c.listen {
					t.Fatalf("%+v, %v", got, err)
				}
				return
			}
			if _, ok := errors.AsType[*Problems](err); !ok || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %s", err, c.says)
			}
		})
	}
}
