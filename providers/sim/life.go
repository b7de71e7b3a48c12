package sim

import (
	"fmt"
	"maps"
	"time"

	"curfew/fleet"
)

// An instance's life is a list of moments at which its state changes, the ones
// to come included:
//
//	start:    starting ──BootTime──► running
//	stop:     stopping ──StopTime──► stopped ──AutoRelease──► released
//	release:  releasing ──ReleaseTime──► released
//
// A write drops the moments that were to come and appends its own. What is true
// now is the last moment that has passed; what a read shows is what was true
// SettleLag ago.
type machine struct {
	spec        Spec
	account     *account
	added       time.Time
	incarnation string
	moments     []moment
	removed     bool   // taken out of the world by hand: not even released is shown
	raw         string // the status word the platform says instead of its own
}

type moment struct {
	at    time.Time
	state fleet.State
}

func newMachine(s Spec, a *account, now time.Time) *machine {
	s.Labels = maps.Clone(s.Labels)
	m := &machine{spec: s, account: a, added: now}
	began := now.Add(-s.Age)
	if s.State == fleet.StateStopped {
		// It was up for as long as it has been stopped, so that it has times to tell.
		m.moments = append(m.moments, moment{began.Add(-s.Age), fleet.StateRunning})
	}
	m.moments = append(m.moments, moment{began, s.State})
	return m
}

// schedule appends what the platform will do to a new instance by itself.
func (c *Cloud) schedule(m *machine, now time.Time) {
	switch m.spec.State {
	case fleet.StateRunning:
		if m.spec.StopsIn > 0 {
			c.stopAt(m, now.Add(m.spec.StopsIn))
		}
	case fleet.StateStopped:
		if c.timing.AutoRelease > 0 {
			m.moments = append(m.moments, moment{m.moments[1].at.Add(c.timing.AutoRelease), fleet.StateReleased})
		}
	}
}

// stateAt is the true state. Before its first moment the instance is already as
// it was added.
func (m *machine) stateAt(t time.Time) fleet.State {
	s := m.moments[0].state
	for _, mo := range m.moments {
		if mo.at.After(t) {
			break
		}
		s = mo.state
	}
	return s
}

func (m *machine) forget(after time.Time) {
	for i, mo := range m.moments {
		if mo.at.After(after) {
			m.moments = m.moments[:i]
			return
		}
	}
}

// releasesAt is when the platform will release it by itself, as known at t.
func (m *machine) releasesAt(t time.Time) time.Time {
	if last := m.moments[len(m.moments)-1]; last.state == fleet.StateReleased && last.at.After(t) {
		return last.at
	}
	return time.Time{}
}

// powerCycle is one time from power-on to power-off. Times not reached are zero.
type powerCycle struct {
	on   time.Time // the start was accepted
	up   time.Time // running
	down time.Time // nothing runs inside any more
	off  time.Time // stopped, or gone
}

// cycles gives the power cycles that had begun by t, with what had happened by t.
func (m *machine) cycles(t time.Time) []powerCycle {
	var cs []powerCycle
	open := false
	for _, mo := range m.moments {
		if mo.at.After(t) {
			break
		}
		switch mo.state {
		case fleet.StateStarting, fleet.StateRunning:
			if !open {
				cs = append(cs, powerCycle{on: mo.at})
				open = true
			}
			if mo.state == fleet.StateRunning {
				cs[len(cs)-1].up = mo.at
			}
		case fleet.StateStopping, fleet.StateReleasing, fleet.StateStopped, fleet.StateReleased, fleet.StateFailed:
			if !open {
				continue
			}
			c := &cs[len(cs)-1]
			if c.down.IsZero() {
				c.down = mo.at
			}
			if mo.state != fleet.StateStopping && mo.state != fleet.StateReleasing {
				c.off = mo.at
				open = false
			}
		}
	}
	return cs
}

func (c *Cloud) bootTime(m *machine) time.Duration {
	return or(m.spec.BootTime, or(c.timing.BootTime, 20*time.Second))
}

func (c *Cloud) stopTime(m *machine) time.Duration {
	return or(m.spec.StopTime, or(c.timing.StopTime, 10*time.Second))
}

func (c *Cloud) stopAt(m *machine, at time.Time) {
	stopped := at.Add(c.stopTime(m))
	m.moments = append(m.moments, moment{at, fleet.StateStopping}, moment{stopped, fleet.StateStopped})
	if c.timing.AutoRelease > 0 {
		m.moments = append(m.moments, moment{stopped.Add(c.timing.AutoRelease), fleet.StateReleased})
	}
}

// The writes, as the platform takes or refuses them.

func (c *Cloud) stop(m *machine, now time.Time) (fleet.ErrorKind, string) {
	switch s := m.stateAt(now); s {
	case fleet.StateRunning, fleet.StateStarting, fleet.StateCreating:
	default:
		return refusal(s, "stopped")
	}
	m.forget(now)
	c.stopAt(m, now)
	return "", ""
}

func (c *Cloud) start(m *machine, now time.Time) (fleet.ErrorKind, string) {
	if s := m.stateAt(now); s != fleet.StateStopped {
		return refusal(s, "started")
	}
	if c.ways.ForceStop && c.left(m.account, now).Micros <= 0 {
		return fleet.Invalid, "the account has no money left"
	}
	m.forget(now)
	m.moments = append(m.moments, moment{now, fleet.StateStarting}, moment{now.Add(c.bootTime(m)), fleet.StateRunning})
	return "", ""
}

func (c *Cloud) release(m *machine, now time.Time, withDisks bool) (fleet.ErrorKind, string) {
	s := m.stateAt(now)
	switch {
	case s == fleet.StateReleased || s == fleet.StateReleasing:
		return refusal(s, "released")
	case m.spec.Protected:
		return fleet.Conflict, "its termination protection is on"
	case s != fleet.StateStopped && s != fleet.StateFailed && !m.spec.ReleasesRunning:
		return fleet.Conflict, fmt.Sprintf("it is %s; only what is stopped can be released", s)
	}
	m.forget(now)
	m.moments = append(m.moments, moment{now, fleet.StateReleasing},
		moment{now.Add(or(c.timing.ReleaseTime, 5*time.Second)), fleet.StateReleased})
	for _, d := range c.disks {
		if d.spec.AttachedTo == m.spec.ID && d.deletedAt.IsZero() {
			d.spec.AttachedTo = ""
			if withDisks {
				d.deletedAt = now
			}
		}
	}
	return "", ""
}

func refusal(s fleet.State, wanted string) (fleet.ErrorKind, string) {
	if s == fleet.StateReleased {
		return fleet.NotFound, "there is no such instance"
	}
	return fleet.Conflict, fmt.Sprintf("it is %s and cannot be %s now", s, wanted)
}

// shown is the instance as lists and reads give it, and whether they give it at
// all.
func (c *Cloud) shown(m *machine, now time.Time, prices map[string]fleet.Money) (fleet.Instance, bool) {
	view := now.Add(-max(c.timing.SettleLag, 0))
	if view.Before(m.added) {
		view = m.added.Add(-1) // as it was added, whatever was written in that very moment
	}
	s := m.spec
	i := fleet.Instance{
		Ref:       c.ref(m),
		Name:      s.Name,
		Labels:    maps.Clone(s.Labels),
		Owner:     s.Owner,
		State:     m.stateAt(view),
		Region:    s.Region,
		Charge:    fleet.Charge{Type: s.Charge},
		GPU:       fleet.GPU(s.GPU),
		Price:     m.price(prices),
		Protected: s.Protected,
		CreatedAt: m.moments[0].at,
		Unread:    append([]string(nil), s.Unread...),
	}
	if m.removed || i.State == fleet.StateReleased && !c.ways.ShowsReleased {
		return fleet.Instance{}, false
	}
	if s.Parent != "" {
		i.Parent = fleet.Ref{Kind: fleet.KindInstance, ID: s.Parent}
	}
	if s.Charge == fleet.ChargePeriod {
		i.Charge.End, i.Charge.Refundable = m.added.Add(s.EndsIn), s.Refundable
	}
	i.OnStop = fleet.OnStop{EndsBilling: s.StopEndsBilling.tri(), KeepsData: s.StopKeeps}
	if !s.HidesStillCosts || i.State == fleet.StateStopped {
		i.OnStop.StillCosts = fleet.Price{PerHour: s.StillCosts, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
		if s.StillCosts.Currency == "" {
			i.OnStop.StillCosts.PerHour.Currency = m.account.Cash.Currency
		}
	}
	if cs := m.cycles(view); len(cs) > 0 && !c.ways.HidesStarts {
		last := cs[len(cs)-1]
		i.StartedAt, i.StoppedAt, i.Boot = last.on, last.off, fleet.BootAt(last.on)
	}
	if s.StopsIn > 0 && i.State == fleet.StateRunning {
		i.StopsAt = m.added.Add(s.StopsIn)
	}
	if i.State == fleet.StateStopped {
		i.ReleasesAt = m.releasesAt(view)
	}
	i.RawState = string(i.State)
	if raw := m.odd(now); raw != "" {
		i.RawState, i.State = raw, stateOf(raw)
	}
	return i, true
}

// price is the running price as the platform tells it, or as configured where it
// does not.
func (m *machine) price(configured map[string]fleet.Money) fleet.Price {
	s := m.spec
	p := fleet.Price{PerHour: s.Price, Billing: s.Billing, Source: fleet.PriceProvider}
	if p.PerHour.Currency == "" {
		p.PerHour.Currency = m.account.Cash.Currency
	}
	if !s.HidesPrice {
		return p
	}
	amount, ok := configured[s.GPU.Model]
	if !ok {
		return fleet.Price{}
	}
	return fleet.Price{PerHour: amount, Billing: s.Billing, Source: fleet.PriceConfig}
}

func (m *machine) odd(now time.Time) string {
	if m.raw != "" {
		return m.raw
	}
	for _, o := range m.spec.Odd {
		if within(now, m.added, o.From, o.To) {
			return o.Raw
		}
	}
	return ""
}

// within reports whether t lies in [base+from, base+to); a zero to never ends.
func within(t, base time.Time, from, to time.Duration) bool {
	return !t.Before(base.Add(from)) && (to == 0 || t.Before(base.Add(to)))
}

// stateOf reads a status word of this platform, which are the words of fleet.
func stateOf(raw string) fleet.State {
	switch s := fleet.State(raw); s {
	case fleet.StateCreating, fleet.StateStarting, fleet.StateRunning, fleet.StateStopping,
		fleet.StateStopped, fleet.StateReleasing, fleet.StateReleased, fleet.StateFailed:
		return s
	}
	return fleet.StateUnknown
}
