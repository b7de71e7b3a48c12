package config

import (
	"fmt"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/policies"
)

// offhours decodes a policy that stops what is left running in a window of time.
func (r *reader) offhours(m *mapping, p *Policy, matched matcher) {
	t := &policies.OffHours{}
	r.onlyStop(m, p, &t.Then, matched)
	schedule := m.need("schedule", `write schedule: "0 2 * * *"`)
	length := m.need("window", "write window: and for how long after each tick it may act, such as 4h")
	r.windowOf(schedule, length, p)
	r.terms(m, p, fleet.Stop)
	if p.Window != nil {
		t.Window = p.Window.Length
		r.apart(schedule, length, p.Window)
	}

	busy := m.take("if_busy")
	t.IfBusy = policies.IfBusy(busy.word(string(policies.IfBusyWait), string(policies.IfBusyWait), string(policies.IfBusyWarn), string(policies.IfBusyForce)))
	p.set("if_busy", busy, string(t.IfBusy))
	if t.IfBusy != policies.IfBusyForce {
		r.needsIdle(m)
	}
	r.waitMax(m.take("wait_max"), length, p, t)
	t.Holiday = r.holidays(m.take("holidays"), p)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// onlyStop reads the wish of a policy that does no more than stop.
func (r *reader) onlyStop(m *mapping, p *Policy, into *fleet.Action, matched matcher) {
	then := m.need("then", "write then: stop")
	if s, _ := then.source(); s == fleet.Release.String() {
		then.bad("release is not for "+p.Type+", which knows of no work that is done", "write stop")
		return
	}
	*into = action(then, fleet.Stop)
	p.set("then", then, into.String())
	r.able(then, *into, matched.accounts)
}

// waitMax reads when waiting ends, and reports what does not fit into the window.
func (r *reader) waitMax(n, window node, p *Policy, t *policies.OffHours) {
	margin := t.Margin(p.Terms.WarnStop)
	if t.Window > 0 && margin >= t.Window {
		window.bad(fmt.Sprintf("%s is too short to announce a stop %s before", spanText(t.Window), spanText(margin)), "write a longer window, or a shorter warn")
		return
	}
	switch t.IfBusy {
	case policies.IfBusyWarn:
		if n.given() {
			n.bad("has no meaning with if_busy: warn, which waits for nothing", "leave it out")
		}
	case policies.IfBusyForce:
		t.WaitMax = n.span(30 * time.Minute)
		if t.Window > 0 && t.WaitMax+margin >= t.Window {
			n.bad(fmt.Sprintf("%s leaves no time in a window of %s to announce a stop %s before", spanText(t.WaitMax), spanText(t.Window), spanText(margin)),
				"write less than "+spanText(t.Window-margin))
		}
		p.set("wait_max", n, spanText(t.WaitMax))
	default:
		t.WaitMax = n.span(0)
		if t.Window > 0 && t.WaitMax > t.Window {
			n.bad(fmt.Sprintf("%s is longer than the window, %s", spanText(t.WaitMax), spanText(t.Window)), "write less, or leave it out for as long as the window allows")
		}
		if n.given() {
			p.set("wait_max", n, spanText(t.WaitMax))
		}
	}
}

// ticksAsked is how many ticks are compared to see whether windows overlap: for a
// daily schedule more than a year, with every change of the clocks in it.
const ticksAsked = 400

// apart reports windows that touch: what was started in one of them could not be
// told from what was left running, and what is always open has no tick to wait
// for.
func (r *reader) apart(schedule, length node, w *sched.Window) {
	if w.Schedule.Always() {
		schedule.bad("opens no window: @every is always open", `write five fields, such as "0 2 * * *"`)
		return
	}
	tick := w.Schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	for range ticksAsked {
		next := w.Schedule.Next(tick)
		if next.IsZero() {
			return
		}
		if next.Sub(tick) <= w.Length {
			length.bad(fmt.Sprintf("%s reaches from one tick to the next, which comes after %s", spanText(w.Length), spanText(next.Sub(tick))), "write a shorter window, or fewer ticks")
			return
		}
		tick = next
	}
}

// holidays reads the dates on whose ticks the policy does nothing; nil where there
// are none.
func (r *reader) holidays(n node, p *Policy) func(time.Time) bool {
	days := map[string]bool{}
	var texts []string
	for _, v := range n.listed() {
		if day := v.date(); day != "" {
			days[day] = true
			texts = append(texts, day)
		}
	}
	if len(days) == 0 {
		return nil
	}
	p.set("holidays", n, strings.Join(texts, ", "))
	zone := r.cfg.Timezone
	return func(tick time.Time) bool { return days[tick.In(zone).Format(time.DateOnly)] }
}
