package sim

import (
	"fmt"
	"maps"
	"time"

	"curfew/fleet"
	"curfew/providers"
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
	ordered     bool   // by the API: reads that lag do not show it at first
	raw         string // the status word the platform says instead of its own
	// What its accepted release takes along of all that is attached to it.
	takesDisks, takesIPs bool
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

// released is when it was or will be released, as far as that is settled; zero
// where it is not.
func (m *machine) released() time.Time {
	if last := m.moments[len(m.moments)-1]; last.state == fleet.StateReleased {
		return last.at
	}
	return time.Time{}
}

// releasesAt is when the platform will release it by itself, as known at t.
func (m *machine) releasesAt(t time.Time) time.Time {
	if at := m.released(); at.After(t) {
		return at
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

func (c *Cloud) release(m *machine, now time.Time, o providers.ReleaseOptions) (fleet.ErrorKind, string) {
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
	m.takesDisks, m.takesIPs = o.WithDisks, o.WithPublicIPs
	return "", ""
}

func refusal(s fleet.State, wanted string) (fleet.ErrorKind, string) {
	if s == fleet.StateReleased {
		return fleet.NotFound, "there is no such instance"
	}
	return fleet.Conflict, fmt.Sprintf("it is %s and cannot be %s now", s, wanted)
}
