package config

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"curfew/fleet"
	"curfew/policies"
)

// compile parses a match and gives it with its text.
func compile(t *testing.T, match string) (policies.Match, string) {
	t.Helper()
	c, err := Parse("c.yaml", []byte("accounts:\n- {name: lab, provider: autodl, token: {env: A}}\n- {name: sim, provider: sim}\nsignals: [{type: ssh}]\n"+
		"policies:\n- name: p\n  type: training\n  then: stop\n  match: "+match+"\n"), registry())
	if err != nil {
		t.Fatal(err)
	}
	return c.Policies[0].Match, c.Policies[0].MatchText
}

func instance() fleet.Instance {
	return fleet.Instance{
		Ref: fleet.Ref{Account: "autodl:1", Kind: fleet.KindInstance, ID: "pro-1"}, AccountName: "lab", Provider: "autodl",
		Name: "exp-7", Owner: "wang", Region: "west", State: fleet.StateRunning,
		GPU: fleet.GPU{Model: "RTX 4090", Count: 2, MemoryGB: 24}, Labels: map[string]string{"tier": "scratch"},
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		match string
		want  bool
		text  string
	}{
		{`all`, true, "all"},
		{`{account: lab}`, true, "account lab"},
		{`{account: sim}`, false, "account sim"},
		{`{account: [sim, lab]}`, true, "account sim or lab"},
		{`{provider: autodl, name: "exp-*"}`, true, "provider autodl, name exp-*"},
		{`{provider: autodl, name: "prod-*"}`, false, "provider autodl, name prod-*"},
		{`{name: [prod-*, "exp-?"]}`, true, "name prod-* or exp-?"},
		{`{name: exp}`, false, "name exp"},
		{`{name: EXP-7}`, false, "name EXP-7"},
		{`{label: {tier: "scr*"}}`, true, "label tier=scr*"},
		{`{label: {tier: scratch, team: "*"}}`, false, "label tier=scratch, label team=*"},
		{`{owner: wang}`, true, "owner wang"},
		{`{gpu: rtx 4090}`, true, "gpu rtx 4090"},
		{`{gpu: ["A100*", "H*"]}`, false, "gpu A100* or H*"},
		{`{region: east}`, false, "region east"},
		{`{state: [running, stopped]}`, true, "state running or stopped"},
		{`{state: unknown}`, false, "state unknown"},
		{`{expr: 'gpu.count * gpu.memory_gb >= 48 and state == "running"'}`, true, `expr gpu.count * gpu.memory_gb >= 48 and state == "running"`},
		{`{expr: 'labels["none"] == "" and charge == "unknown"'}`, true, `expr labels["none"] == "" and charge == "unknown"`},
		{`{expr: 'any(["a", "w"], owner startsWith #)', account: sim}`, false, ""},
	} {
		t.Run(c.match, func(t *testing.T) {
			match, text := compile(t, c.match)
			got, err := match(instance())
			if err != nil || got != c.want {
				t.Errorf("matched %t, %v; want %t", got, err, c.want)
			}
			if c.text != "" && text != c.text {
				t.Errorf("text %q, want %q", text, c.text)
			}
		})
	}
}

func FuzzMatchExpression(f *testing.F) {
	f.Add(`name startsWith "exp-" and gpu.count >= 4`)
	f.Add(`labels["tier"] in ["a", "b"] or not (state == "running")`)
	f.Add(`any(map(split(name, "-"), upper(#)), # matches "^EXP")`)
	f.Add("let x = gpu; x?.count ?? 1 > 2 ? true : false")
	f.Fuzz(func(t *testing.T, source string) {
		quoted, err := yaml.Marshal(source)
		if err != nil {
			t.Skip()
		}
		c, err := Parse("c.yaml", []byte("accounts: [{name: a, provider: sim}]\nsignals: [{type: sim}]\n"+
			"policies:\n- name: p\n  type: training\n  then: stop\n  match:\n    expr: "+strings.ReplaceAll(string(quoted), "\n", "\n      ")+"\n"), registry())
		if err != nil {
			return
		}
		i := instance()
		i.Unread = []string{"name", "owner", "labels", "region", "state", "charge", "gpu"}
		readable, errReadable := c.Policies[0].Match(instance())
		if ok, err := c.Policies[0].Match(i); ok && (err != nil || !readable || errReadable != nil) {
			t.Fatalf("%q matches an instance nothing is known of: %v", source, err)
		}
	})
}

func TestWhatCannotBeReadIsNotMatched(t *testing.T) {
	for _, c := range []struct {
		name, match, unread string
		fails               bool
	}{
		{"labels asked for and unread", `{label: {tier: scratch}}`, "labels", true},
		{"labels in an expression and unread", `{expr: 'labels["tier"] == "scratch"'}`, "labels", true},
		{"gpu in an expression and unread", `{expr: 'gpu.count == 0'}`, "gpu", true},
		{"the whole instance in an expression", `{expr: '$env["name"] == "exp-7"'}`, "labels", true},
		{"labels unread and not asked for", `{name: "exp-*"}`, "labels", false},
		{"name asked for and unread", `{name: "*"}`, "name", true},
		{"state asked for and unread", `{state: running}`, "state", true},
		{"all asks for nothing", `all`, "labels", false},
		{"an expression that fails", `{expr: 'int(name) > 5'}`, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			match, _ := compile(t, c.match)
			i := instance()
			if c.unread != "" {
				i.Unread = []string{c.unread}
			}
			ok, err := match(i)
			if c.fails && (ok || err == nil) || !c.fails && (!ok || err != nil) {
				t.Errorf("matched %t, %v", ok, err)
			}
			if err != nil && !strings.Contains(err.Error(), "pro-1") {
				t.Errorf("error %q does not name the instance", err)
			}
		})
	}
	t.Run("one that fails elsewhere is simply not meant", func(t *testing.T) {
		match, _ := compile(t, `{label: {tier: scratch}, account: sim}`)
		i := instance()
		i.Unread = []string{"labels"}
		if ok, err := match(i); ok || err != nil {
			t.Errorf("matched %t, %v", ok, err)
		}
	})
}
