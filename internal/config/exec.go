package config

import (
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals"
)

// ExecPolicy is the name of the policy that every configuration has which declares
// the machine curfew runs in: it stops it after runs that asked for that, by curfew
// exec --then stop.
const ExecPolicy = "exec"

// execGrace is short, since the run was started with the wish and tells of its end
// itself: it leaves a script the time to begin its next run before anything is
// announced.
const execGrace = time.Minute

// exec makes the policy of curfew exec. The file may set what it waits for and
// what it takes for success, and nothing of what it is about.
func (r *reader) exec(n node) {
	m := n.mapping()
	p := Policy{Pos: n.pos, Name: ExecPolicy, Type: "training"}
	t := policies.Training{Then: fleet.Stop, Asked: true}
	p.Explain = append(p.Explain, Effective{Key: "then", Value: t.Then.String(), From: FromDefault})
	grace := m.take("grace")
	t.Grace = grace.spanOrOff(execGrace)
	p.set("grace", grace, spanText(t.Grace))
	pending := m.take("pending_max")
	p.Rule = &signals.RunRule{
		Policy: p.Name, Looks: signals.DefaultLooks, Apart: signals.DefaultApart, PendingMax: pending.whole(120, 1, true),
	}
	logs := success(m.take("success"), &p, &t)
	t.Failed = onFailure(m.take("on_failure"), &p, &t)
	t.Log = m.take("log").insidePath()
	if t.Log != "" && !slices.Contains(logs, t.Log) {
		logs = append(logs, t.Log)
	}
	p.Terms.Mode = r.cfg.Mode // it enforces where the file and the account do
	p.set("mode", r.mode, string(p.Terms.Mode))
	if r.mode.given() {
		p.Explain[len(p.Explain)-1].From = FromFile
	}
	r.warn(m.take("warn"), &p, fleet.Stop)
	p.Terms.Cooldown = 10 * time.Minute
	m.done()

	account, machine, declared := r.cfg.Local()
	if !declared {
		if n.given() {
			n.bad("is about the machine curfew runs in, and none is declared", "declare it: provider: machines with host: local")
		}
		return
	}
	if !n.given() {
		p.Pos = account.Pos
	}
	p.MatchText = fmt.Sprintf("account %s, name %s", account.Name, machine.Name)
	p.MatchOn = []Matched{{"account", []string{account.Name}}, {"name", []string{machine.Name}}}
	p.Match = func(i fleet.Instance) (bool, error) {
		return i.Here && i.AccountName == account.Name && i.Ref.ID == machine.Name, nil
	}
	p.Rule.Logs = logs
	p.Ask = asks(p.Match, logs, t.Success.File)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = t
	r.cfg.Policies = append(r.cfg.Policies, p)
}

// asks gives what a policy wants to know of an instance it matches: nil if nothing.
func asks(match policies.Match, logs []string, file string) func(fleet.Instance) signals.Ask {
	ask := signals.Ask{Logs: logs}
	if file != "" {
		ask.Files = []string{file}
	}
	if len(ask.Files)+len(ask.Logs) == 0 {
		return nil
	}
	return func(i fleet.Instance) signals.Ask {
		if ok, err := match(i); err != nil || !ok {
			return signals.Ask{}
		}
		return ask
	}
}

// Local gives the machine that curfew runs in and the account that declares it.
func (c *Config) Local() (Account, providers.Machine, bool) {
	for _, a := range c.Accounts {
		for _, m := range a.Machines {
			if m.Here {
				return a, m, true
			}
		}
	}
	return Account{}, providers.Machine{}, false
}

// Exec gives the policy of curfew exec, which is there where the machine curfew
// runs in is declared.
func (c *Config) Exec() (Policy, bool) {
	n := slices.IndexFunc(c.Policies, func(p Policy) bool { return p.Name == ExecPolicy })
	if n < 0 {
		return Policy{}, false
	}
	return c.Policies[n], true
}

// Guard gives the configuration of the guard that curfew exec --then stop starts:
// the machine it runs in and nothing else, under the policy of exec alone, and in
// earnest, since somebody asked for that with the run. It looks from inside, and
// asks whom the file asks from outside. Of the file's policies only what their runs
// are recognised by is left: a training that is started by itself is followed, and
// calls the stop off. What protects the machine, the caps, the state and the channels
// stay what they are. The given configuration is left as it is.
func Guard(c *Config) *Config {
	g := *c
	g.Mode, g.Ping = fleet.Enforce, Ping{}
	g.Accounts, g.Policies = nil, nil
	if a, m, ok := c.Local(); ok {
		a.Mode, a.Machines = fleet.Enforce, []providers.Machine{m}
		g.Accounts = []Account{a}
	}
	// What logs in, and what looks into a simulated cloud, are about other machines.
	g.Signals = slices.DeleteFunc(slices.Clone(c.Signals), func(s Signal) bool { return s.inside() && s.Type != "local" })
	if !slices.ContainsFunc(g.Signals, Signal.inside) {
		g.Signals = slices.Insert(g.Signals, 0, Signal{
			Type: "local", Every: 30 * time.Second, Timeout: 10 * time.Second,
			Limits: signals.Limits{BusyAbove: signals.DefaultBusyAbove, SessionIdleMax: signals.DefaultSessionIdleMax},
		})
	}
	for _, p := range c.Policies {
		switch {
		case p.Name == ExecPolicy:
			g.Policies = append(g.Policies, inEarnest(p))
		case p.Pattern != nil:
			g.Policies = append(g.Policies, Policy{
				Pos: p.Pos, Name: p.Name, Type: p.Type, Policy: follower{p.Name}, Match: p.Match, MatchText: p.MatchText, MatchOn: p.MatchOn,
				Terms: fleet.Terms{Mode: fleet.DryRun}, Pattern: p.Pattern, Rule: p.Rule, Ask: p.Ask,
			})
		}
	}
	return &g
}

// inEarnest gives a policy that enforces, whatever the file says.
func inEarnest(p Policy) Policy {
	p.Terms.Mode = fleet.Enforce
	if t, ok := p.Policy.(policies.Training); ok {
		t.Terms = p.Terms
		p.Policy = t
	}
	p.Explain = slices.Clone(p.Explain)
	for n := range p.Explain {
		if p.Explain[n].Key == "mode" {
			p.Explain[n] = Effective{Key: "mode", Value: string(fleet.Enforce), From: FromPolicy}
		}
	}
	return p
}

// follower stands for a policy whose runs are followed, and which itself has no say.
type follower struct{ name string }

// Name is the name of the policy it stands for.
func (f follower) Name() string { return f.name }

// Decide answers for nothing.
func (follower) Decide(policies.View) policies.Result { return policies.Result{} }
