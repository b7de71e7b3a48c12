package config

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals"
)

// box is what curfew init --box writes.
const box = `mode: dry-run
timezone: Asia/Shanghai
language: zh
state: sqlite:/root/.curfew/curfew.db
accounts:
  - name: box
    provider: machines
    machines:
      - name: autodl-1
        host: local
        stop: /usr/bin/shutdown
        price: 1.98 CNY
        billing: second
        on_stop: {ends_billing: yes, keeps_data: all}
        auto_release: 15d
signals:
  - {type: local}
policies:
  - name: after-training
    type: training
    match: {account: box}
    process: 'python .*train'
    then: stop
notify:
  channels:
    - {name: wx, type: wecom, key: {file: /root/.curfew/wx.token}}
`

func parsed(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("/root/.curfew/curfew.yaml", []byte(text), registry())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func execOf(t *testing.T, c *Config) (Policy, policies.Training) {
	t.Helper()
	p, ok := c.Exec()
	if !ok {
		t.Fatal("there is no policy of curfew exec")
	}
	training, ok := p.Policy.(policies.Training)
	if !ok {
		t.Fatalf("it is a %T", p.Policy)
	}
	return p, training
}

func TestTheMachineCurfewRunsInHasAPolicyOfExec(t *testing.T) {
	c := parsed(t, box)
	p, training := execOf(t, c)
	terms := fleet.Terms{Mode: fleet.DryRun, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute}
	want := policies.Training{
		Common: policies.Common{Name: "exec", Terms: terms}, Grace: time.Minute, Then: fleet.Stop, Asked: true,
		Failed: policies.End{Then: fleet.Stop, After: time.Minute},
	}
	if diff := cmp.Diff(want, training, cmpopts.IgnoreFields(policies.Common{}, "Match")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	if p.Type != "training" || p.Pattern != nil || p.Window != nil || p.Ask != nil || p.Terms != terms || p.Pos != (Pos{6, 5}) ||
		p.MatchText != "account box, name autodl-1" {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff(&signals.RunRule{Policy: "exec", Looks: 2, Apart: time.Minute, PendingMax: 120}, p.Rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	here := fleet.Instance{Ref: fleet.Ref{ID: "autodl-1"}, AccountName: "box", Here: true}
	for _, i := range []struct {
		fleet.Instance
		want bool
	}{
		{here, true},
		{fleet.Instance{Ref: fleet.Ref{ID: "autodl-1"}, AccountName: "box"}, false},
		{fleet.Instance{Ref: fleet.Ref{ID: "autodl-2"}, AccountName: "box", Here: true}, false},
	} {
		if got, err := p.Match(i.Instance); got != i.want || err != nil {
			t.Errorf("matches %+v: %v, %v", i.Instance, got, err)
		}
	}
	if last := c.Policies[len(c.Policies)-1]; last.Name != "exec" {
		t.Errorf("the policies of the file do not come first: %s is last", last.Name)
	}
	t.Run("the file may say what it waits for", func(t *testing.T) {
		p, training := execOf(t, parsed(t, box+"exec: {grace: 2s, warn: 3s, log: /root/train.log, success: {file: /root/DONE}}\n"))
		if training.Grace != 2*time.Second || p.Terms.WarnStop != 3*time.Second || training.Terms != p.Terms ||
			training.Log != "/root/train.log" || training.Success.File != "/root/DONE" || training.Failed.After != 2*time.Second {
			t.Errorf("got %+v", training)
		}
		if diff := cmp.Diff(signals.Ask{Files: []string{"/root/DONE"}, Logs: []string{"/root/train.log"}}, p.Ask(here)); diff != "" {
			t.Errorf("what it wants to know (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"/root/train.log"}, p.Rule.Logs); diff != "" {
			t.Errorf("logs (-want +got):\n%s", diff)
		}
	})
	t.Run("without such a machine there is none", func(t *testing.T) {
		if p, ok := load(t, "testdata/design.yaml").Exec(); ok {
			t.Errorf("got %+v", p)
		}
	})
}

func TestAGuardMindsTheMachineAlone(t *testing.T) {
	c := parsed(t, `mode: dry-run
ping: {listen: "127.0.0.1:8421"}
accounts:
  - {name: lab, provider: autodl, token: {env: T}}
  - {name: box, provider: machines, mode: dry-run, machines: [{name: here, host: local, stop: poweroff}]}
signals:
  - {type: ssh}
protect: {names: "prod-*"}
caps: {stop: {per_hour: 1}}
policies:
  - {name: other, type: training, match: all, then: stop}
notify:
  channels:
    - {name: term, type: console}
`)
	before := *c
	g := Guard(c)
	if g.Mode != fleet.Enforce || g.Ping.Listen != "" || len(g.Accounts) != 1 || g.Accounts[0].Name != "box" || g.Accounts[0].Mode != fleet.Enforce {
		t.Errorf("mode %s, pings at %q, accounts %+v", g.Mode, g.Ping.Listen, g.Accounts)
	}
	if len(g.Signals) != 1 || g.Signals[0].Type != "local" || g.Signals[0].Every != 30*time.Second || g.Signals[0].SessionIdleMax != 30*time.Minute {
		t.Errorf("signals %+v", g.Signals)
	}
	p, training := execOf(t, g)
	mode := slices.IndexFunc(p.Explain, func(e Effective) bool { return e.Key == "mode" })
	if len(g.Policies) != 1 || p.Terms.Mode != fleet.Enforce || training.Terms != p.Terms || mode < 0 || p.Explain[mode].Value != "enforce" {
		t.Errorf("policies %+v", g.Policies)
	}
	if diff := cmp.Diff(c.Protect, g.Protect); diff != "" || g.Caps != c.Caps || g.State != c.State || len(g.Notify.Channels) != 1 {
		t.Errorf("what protects, limits and tells is not what it was: %+v", g)
	}
	t.Run("and leaves the configuration as it is", func(t *testing.T) {
		p, _ := execOf(t, c)
		if c.Mode != before.Mode || len(c.Accounts) != 2 || c.Accounts[1].Mode != fleet.DryRun || p.Terms.Mode != fleet.DryRun || len(c.Policies) != 2 {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("with the file's own way to look", func(t *testing.T) {
		g := Guard(parsed(t, "accounts: [{name: box, provider: machines, machines: [{name: a, host: local}]}]\nsignals: [{type: local, every: 1s}]\n"))
		if len(g.Signals) != 1 || g.Signals[0].Every != time.Second {
			t.Errorf("got %+v", g.Signals)
		}
	})
	t.Run("with all that the file asks from outside, and no login", func(t *testing.T) {
		g := Guard(parsed(t, `accounts: [{name: box, provider: machines, machines: [{name: a, host: local}]}]
signals:
  - {type: ssh}
  - {type: probe, name: jobs, match: {account: box}, command: 'true', required: true}
  - {type: prometheus, name: cards, match: all, url: "https://prom.lab.example", busy_above: 5, query: 'busy{name="{{.Name}}"}'}
`))
		var got []string
		for _, s := range g.Signals {
			got = append(got, s.Source())
		}
		if diff := cmp.Diff([]string{"local", "probe:jobs", "prometheus:cards"}, got); diff != "" {
			t.Fatalf("signals (-want +got):\n%s", diff)
		}
		if jobs := g.Signals[1]; !jobs.Required || jobs.Match == nil || jobs.Command == nil {
			t.Errorf("got %+v", jobs)
		}
	})
	t.Run("and follows the runs of the file's policies, which have no say", func(t *testing.T) {
		c := parsed(t, box)
		g := Guard(c)
		if len(g.Policies) != 2 {
			t.Fatalf("policies %+v", g.Policies)
		}
		p := g.Policies[0]
		if p.Name != "after-training" || p.Pattern != c.Policies[0].Pattern || p.Rule != c.Policies[0].Rule || p.Policy.Name() != p.Name ||
			p.Terms.Mode != fleet.DryRun {
			t.Errorf("got %+v", p)
		}
		here := fleet.Instance{Ref: fleet.Ref{ID: "autodl-1"}, Name: "autodl-1", AccountName: "box", Here: true, State: fleet.StateRunning}
		if ok, err := p.Match(here); !ok || err != nil {
			t.Errorf("it is not about the machine: %v, %v", ok, err)
		}
		view := policies.View{Now: time.Unix(1796071860, 0)}
		view.Things.Instances = []fleet.Instance{here}
		if len(c.Policies[0].Policy.Decide(view).Verdicts) != 1 {
			t.Fatal("the file's policy has no say either")
		}
		if diff := cmp.Diff(policies.Result{}, p.Policy.Decide(view)); diff != "" {
			t.Errorf("it has a say (-want +got):\n%s", diff)
		}
		if g.Policies[1].Name != ExecPolicy {
			t.Errorf("and %s", g.Policies[1].Name)
		}
	})
	t.Run("and of its account only this machine", func(t *testing.T) {
		c := parsed(t, box)
		c.Accounts[0].Machines = append(c.Accounts[0].Machines, providers.Machine{Name: "far"})
		if ms := Guard(c).Accounts[0].Machines; len(ms) != 1 || ms[0].Name != "autodl-1" {
			t.Errorf("got %+v", ms)
		}
	})
}
