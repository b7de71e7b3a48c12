package config

import (
	"fmt"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/signals"
)

// shortestIdle is the least time at rest that says anything: less is a pause in
// somebody's work.
const shortestIdle = 5 * time.Minute

// looksInIdle is how many rounds of looks the time at rest must hold at least.
const looksInIdle = 5

// idle decodes a policy that acts on an instance nobody has used for a while.
func (r *reader) idle(m *mapping, p *Policy, matched matcher) {
	t := &policies.Idle{}
	then := m.need("then", "write then: stop")
	t.Then = action(then, fleet.Stop, fleet.Release)
	p.set("then", then, t.Then.String())
	r.able(then, t.Then, matched.accounts)
	r.needsIdle(m)

	length := m.need("for", "write for: and how long it must have been idle, such as 1h")
	t.For = length.span(time.Hour)
	r.enough(length, t.For)
	p.set("for", length, spanText(t.For))

	limits := r.limits()
	gpu := m.take("gpu_below")
	t.GPUBelow = gpu.percent(min(signals.DefaultBusyAbove, limits.BusyAbove), false)
	if t.GPUBelow > limits.BusyAbove {
		gpu.bad(fmt.Sprintf("%s lies above what counts as busy, %s%%", percentText(t.GPUBelow), number(limits.BusyAbove)),
			"write less, or raise busy_above of the signal too")
	}
	p.set("gpu_below", gpu, percentText(t.GPUBelow))
	cpu := m.take("cpu_below")
	t.LoadBelow = cpu.figure(0.5)
	p.set("cpu_below", cpu, number(t.LoadBelow))
	session := m.take("session_idle_max")
	t.SessionIdleMax = session.span(limits.SessionIdleMax)
	if t.SessionIdleMax < limits.SessionIdleMax {
		session.bad(fmt.Sprintf("%s is less than that of the signal, %s, until which a session counts as busy", spanText(t.SessionIdleMax), spanText(limits.SessionIdleMax)),
			"write more, or lower session_idle_max of the signal too")
	}
	p.set("session_idle_max", session, spanText(t.SessionIdleMax))
	vram := m.take("vram_idle_max")
	t.MemoryIdleMax = vram.spanOrOff(2 * time.Hour)
	t.IgnoreMemory = t.MemoryIdleMax == 0
	p.set("vram_idle_max", vram, spanText(t.MemoryIdleMax))
	grace := m.take("boot_grace")
	t.BootGrace = grace.spanOrOff(15 * time.Minute)
	p.set("boot_grace", grace, spanText(t.BootGrace))

	r.terms(m, p, t.Then)
	r.window(m, p)
	r.securing(m, p, t.Then, matched)
	m.notYet("export")
	p.Samples = max(t.For, t.MemoryIdleMax) + t.BootGrace + r.slowest()
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// enough reports a time at rest that proves nothing.
func (r *reader) enough(n node, d time.Duration) {
	if d < shortestIdle {
		n.bad(spanText(d)+" is a pause, not idle time", "write "+spanText(shortestIdle)+" or more")
		return
	}
	for _, s := range r.cfg.Signals {
		if least := looksInIdle * s.Every; s.proves() && d < least {
			n.bad(fmt.Sprintf("%s holds too few looks by %s, which looks every %s", spanText(d), s.Source(), spanText(s.Every)),
				"write "+spanText(least)+" or more, or look more often")
			return
		}
	}
}

// limits are the strictest at which every signal that looks inside still calls an
// instance idle.
func (r *reader) limits() signals.Limits {
	l := signals.Limits{BusyAbove: 100, SessionIdleMax: 0}
	for _, s := range r.cfg.Signals {
		if !s.inside() {
			continue
		}
		l.BusyAbove = min(l.BusyAbove, s.BusyAbove)
		l.SessionIdleMax = max(l.SessionIdleMax, s.SessionIdleMax)
	}
	if l.SessionIdleMax == 0 {
		l.SessionIdleMax = signals.DefaultSessionIdleMax
	}
	return l
}

// slowest is the longest that a look may be relied on.
func (r *reader) slowest() time.Duration {
	var d time.Duration
	for _, s := range r.cfg.Signals {
		d = max(d, 2*s.Every+s.Timeout)
	}
	return d
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func percentText(v float64) string { return number(v) + "%" }
