package sim

import (
	"maps"
	"time"

	"curfew/fleet"
)

// shown is the instance as lists and reads give it, and whether they give it at
// all.
func (c *Cloud) shown(m *machine, now time.Time, prices map[string]fleet.Money) (fleet.Instance, bool) {
	view := now.Add(-max(c.timing.SettleLag, 0))
	if view.Before(m.added) && m.ordered {
		return fleet.Instance{}, false
	}
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
		i.Charge.AutoRenew = s.AutoRenew.tri(fleet.Unsure)
	}
	i.OnStop = fleet.OnStop{EndsBilling: s.StopEndsBilling.tri(fleet.Yes), KeepsData: s.StopKeeps}
	i.OnRelease = fleet.OnRelease{KeepsData: s.ReleaseKeeps}
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
