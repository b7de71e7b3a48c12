package config

import (
	"fmt"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals"
)

// Policy is one entry of policies, compiled.
type Policy struct {
	Pos
	Name      string
	Type      string
	Policy    policies.Policy
	Match     policies.Match
	MatchText string        // for people
	MatchOn   []Matched     // the same in parts; none: everything
	Window    *sched.Window // nil: always open
	Terms     fleet.Terms   // Mode is the milder of file and policy; the account's comes on top
	Pattern   *signals.Pattern
	Rule      *signals.RunRule
	// Ask is what the policy wants to know of an instance beyond the usual
	// readings; nil if nothing.
	Ask func(fleet.Instance) signals.Ask
	// Samples is how far back the policy looks at what was seen of an instance;
	// zero: not further than the newest looks.
	Samples time.Duration
	// Explain lists the values the policy works with, and who set each.
	Explain []Effective
}

// Effective is a value as it is in force.
type Effective struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as it would be written in the file
	From  From   `json:"from"`
	Pos   Pos    `json:"pos,omitzero"` // of what set it; zero for a default
}

// From says who set a value.
type From string

// Who can set a value. Of a mode the milder of file, account and policy holds;
// for the rest a policy's word goes before an account's.
const (
	FromDefault From = "default"
	FromFile    From = "file"
	FromAccount From = "account"
	FromPolicy  From = "policy"
)

// set notes the value of a key.
func (p *Policy) set(key string, n node, value string) {
	e := Effective{Key: key, Value: value, From: FromDefault}
	if n.given() {
		e.From, e.Pos = FromPolicy, n.pos
	}
	p.Explain = append(p.Explain, e)
}

// policyTypes are the types that can be written.
func policyTypes() []string {
	return []string{"training", "idle", "offhours", "lifetime", "snapshots", "orphans", "expiry", "balance", "budget"}
}

func (r *reader) policies(n node) {
	seen := map[string]string{}
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		p := Policy{Pos: m.pos}
		name := m.need("name", "write name: and what you call it")
		p.Name = name.name()
		unique(name, p.Name, seen)
		if p.Name == ExecPolicy {
			name.bad("is the name of the policy that curfew exec asks", "give it another; what that one waits for is set beside policies, by exec: {warn: 10m}")
		}
		kind := m.need("type", "write type: "+strings.Join(policyTypes(), ", "))
		p.Type = kind.as(oneOf(kindChoice, "", policyTypes())).text("")
		matched := r.match(m)
		p.Match, p.MatchText, p.MatchOn = matched.match, matched.text, matched.on
		switch p.Type {
		case "training":
			r.training(m, &p, matched)
		case "idle":
			r.idle(m, &p, matched)
		case "offhours":
			r.offhours(m, &p, matched)
		case "lifetime":
			r.lifetime(m, &p, matched)
		case "snapshots":
			r.snapshots(m, &p, matched)
		case "orphans":
			r.orphans(m, &p, matched)
		case "expiry":
			r.expiry(m, &p, matched)
		case "balance":
			r.balance(m, &p, matched)
		case "budget":
			r.budget(m, &p, matched)
		case "":
			m.free = true
		default:
			m.free = true
			later := []string{"stock"}
			if contains(later, p.Type) {
				kind.bad(fmt.Sprintf("%q is not in this version", p.Type), "leave the policy out")
			} else {
				kind.bad(fmt.Sprintf("%q is not a type of policy", p.Type), suggest(p.Type, policyTypes()))
			}
		}
		m.done()
		r.cfg.Policies = append(r.cfg.Policies, p)
	}
}

// terms reads the conditions that every acting policy can put on its wishes.
// goal is the furthest that the policy wishes for.
func (r *reader) terms(m *mapping, p *Policy, goal fleet.Action) {
	t := &p.Terms
	own, said := m.take("mode"), fleet.Mode("")
	if own.given() {
		said = mode(own, fleet.DryRun)
	}
	switch said {
	case fleet.DryRun, r.cfg.Mode:
		t.Mode = said
		p.set("mode", own, string(said))
	default:
		t.Mode = r.cfg.Mode
		p.set("mode", r.mode, string(t.Mode))
		if r.mode.given() {
			p.Explain[len(p.Explain)-1].From = FromFile
		}
	}

	ceiling := m.take("at_most")
	t.AtMost = atMost(ceiling)
	if t.AtMost != fleet.Keep && goal > t.AtMost {
		right := "write then: " + t.AtMost.String()
		if goal == fleet.Delete {
			right = "leave it out" // there is no milder wish
		}
		ceiling.bad(fmt.Sprintf("then: %s goes further than this allows", goal), right)
	}
	if t.AtMost != fleet.Keep {
		p.set("at_most", ceiling, t.AtMost.String())
	}

	r.warn(m.take("warn"), p, goal)
	cooldown := m.take("cooldown")
	t.Cooldown = cooldown.spanOrOff(10 * time.Minute)
	p.set("cooldown", cooldown, spanText(t.Cooldown))
	approval := m.take("approval")
	t.Approval = approval.flag()
	p.set("approval", approval, fmt.Sprint(t.Approval))
	if n := m.take("prepaid"); n.given() {
		t.Refund = n.word("", "refund") == "refund"
		p.set("prepaid", n, "refund")
	}
	if n := m.take("data"); n.given() {
		t.Discard = n.word("", "discard") == "discard"
		p.set("data", n, "discard")
	}
}

// warn reads the time from the accepted warning to the act: one for all acts, or
// one each.
func (r *reader) warn(n node, p *Policy, goal fleet.Action) {
	stop, destroy := n, n
	if _, single := n.source(); !single {
		m := n.mapping()
		stop, destroy = m.take("stop"), m.take("release")
		m.done()
	} else if s, _ := n.source(); s == "off" && goal < fleet.Release {
		destroy = node{r: n.r, pos: n.pos, path: n.path} // a stop needs none; what counts as a release does
	}
	p.Terms.WarnStop = stop.spanOrOff(10 * time.Minute)
	if s, _ := destroy.source(); s == "off" {
		destroy.bad("off would release without a warning", "write a length of time, such as 24h")
		return
	}
	if destroy == stop && n.given() {
		p.Terms.WarnDestroy = p.Terms.WarnStop
	} else {
		p.Terms.WarnDestroy = destroy.span(24 * time.Hour)
	}
	p.set("warn.stop", stop, spanText(p.Terms.WarnStop))
	p.set("warn.release", destroy, spanText(p.Terms.WarnDestroy))
}

// window reads when a policy may ask. Without a schedule that is always.
func (r *reader) window(m *mapping, p *Policy) {
	r.windowOf(m.take("schedule"), m.take("window"), p)
}

func (r *reader) windowOf(schedule, length node, p *Policy) {
	d := length.span(time.Hour)
	if !schedule.given() {
		if length.given() {
			length.bad("is the time after a tick, and there is no schedule", `add schedule: "0 2 * * *", or leave it out`)
		}
		return
	}
	expr := schedule.text("")
	if expr == "" {
		return
	}
	s, err := sched.ParseSchedule(expr, r.cfg.Timezone)
	if err != nil {
		schedule.bad(halves(err, `write five fields, such as "0 2 * * *"`))
		return
	}
	if s.Always() && length.given() {
		length.bad("has no meaning with @every, which is always open", "leave it out")
	}
	p.Window = &sched.Window{Schedule: s, Length: d}
	p.set("schedule", schedule, s.String())
	if !s.Always() {
		p.set("window", length, spanText(d))
	}
}

// able reports accounts that the policy names and whose platform cannot do what
// it wants.
func (r *reader) able(then node, goal fleet.Action, named []string) {
	needs := map[fleet.Action]providers.Capability{fleet.Start: providers.CanStart, fleet.Stop: providers.CanStop, fleet.Release: providers.CanRelease}[goal]
	for _, a := range r.cfg.Accounts {
		if needs == "" || !contains(named, a.Name) {
			continue
		}
		for _, k := range r.reg.Providers {
			if k.Name == a.Provider && !k.Can(needs) {
				then.bad(fmt.Sprintf("%s cannot %s, and account %s is there", k.Name, goal, a.Name), "take the account out of the match, or write another then")
			}
		}
	}
}
