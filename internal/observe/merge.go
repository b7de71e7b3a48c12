package observe

import (
	"time"

	"curfew/fleet"
	"curfew/internal/store"
)

// merge joins what is remembered of an instance with what the platform shows
// now. It fills in the Boot where the platform does not tell: a counter, raised
// when what was down is seen coming up, whatever could not be told in between, and
// when a platform that told it does not any more. An ended power cycle keeps its
// Boot while the instance is down, so that the ground of its stop still speaks of
// it. What comes back after it was gone is another thing, in another Boot, under
// the same reference.
func merge(known *store.Thing, seen fleet.Instance, at time.Time) store.Thing {
	t := store.Thing{Instance: seen, SeenAt: at, FirstSeen: at, Boots: 1}
	var was fleet.Instance
	switch {
	case known == nil:
	case !known.GoneAt.IsZero():
		t.Boots = known.Boots + 1
	default:
		was = known.Instance
		t.FirstSeen, t.Boots, t.Down = known.FirstSeen, known.Boots, known.Down || down(was.State)
	}
	i := &t.Instance
	told := was.Boot != "" && was.Boot != fleet.BootNumber(t.Boots)
	if seen.State.Up() && !seen.Boot.Same(was.Boot) && (t.Down || told && seen.Boot == "") {
		t.Boots++
	}
	switch {
	case seen.Boot != "":
	case was.Boot != "" && !seen.State.Up():
		i.Boot = was.Boot
	case seen.State != fleet.StateUnknown:
		i.Boot = fleet.BootNumber(t.Boots)
	}
	if i.Boot.Same(was.Boot) {
		if seen.StartedAt.IsZero() {
			i.StartedAt = was.StartedAt
		}
		if seen.StoppedAt.IsZero() && !seen.State.Up() {
			i.StoppedAt = was.StoppedAt
		}
	}
	if i.StartedAt.IsZero() && seen.State == fleet.StateRunning {
		i.StartedAt = at // it runs at least since now
	}
	if i.StoppedAt.IsZero() && seen.State == fleet.StateStopped && !was.Ref.IsZero() && was.State != fleet.StateStopped {
		i.StoppedAt = at // it was seen in another state before
	}
	if !seen.Price.Known() && seen.State != fleet.StateRunning {
		i.Price = was.Price
	}
	if seen.State != fleet.StateUnknown {
		t.Down = down(seen.State)
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
