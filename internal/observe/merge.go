package observe

import (
	"reflect"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
)

// merge joins what is remembered of an instance with what the platform shows
// now. It fills in the Boot where the platform does not tell: a counter, raised
// when what was down is seen coming up. An ended power cycle keeps its Boot while
// the instance is down, so that the ground of its stop still speaks of it.
func merge(known *store.Thing, seen fleet.Instance, at time.Time) store.Thing {
	t := store.Thing{Instance: seen, SeenAt: at, FirstSeen: at, Boots: 1}
	if known != nil {
		t.FirstSeen, t.Boots = known.FirstSeen, known.Boots
		was := known.Instance
		if down(was.State) && seen.State.Up() && !seen.Boot.Same(was.Boot) {
			t.Boots++
		}
		if seen.Boot == "" && !seen.State.Up() {
			t.Instance.Boot = was.Boot
		}
		if seen.StoppedAt.IsZero() && seen.State == fleet.StateStopped {
			t.Instance.StoppedAt = was.StoppedAt
			if was.State != fleet.StateStopped {
				t.Instance.StoppedAt = at
			}
		}
		if seen.StartedAt.IsZero() && t.Instance.Boot.Same(was.Boot) {
			t.Instance.StartedAt = was.StartedAt
		}
		if !seen.Price.Known() && seen.State != fleet.StateRunning {
			t.Instance.Price = was.Price
		}
	}
	if t.Instance.Boot == "" && seen.State != fleet.StateUnknown {
		t.Instance.Boot = fleet.BootNumber(t.Boots)
		if known != nil && t.Instance.Boot.Same(known.Instance.Boot) && t.Instance.StartedAt.IsZero() {
			t.Instance.StartedAt = known.Instance.StartedAt
		}
	}
	if t.Instance.StartedAt.IsZero() && seen.State == fleet.StateRunning {
		t.Instance.StartedAt = at // it runs at least since now
	}
	return t
}

func down(s fleet.State) bool {
	switch s {
	case fleet.StateStopped, fleet.StateStopping, fleet.StateReleasing, fleet.StateReleased, fleet.StateFailed:
		return true
	}
	return false
}

// same reports whether two records differ in nothing but when they were seen.
func same(a, b store.Thing) bool {
	a.SeenAt, b.SeenAt = time.Time{}, time.Time{}
	return reflect.DeepEqual(a, b)
}
