package ledger

import (
	"slices"
	"time"

	"curfew/fleet"
)

// By is what costs are grouped by.
type By string

// What costs can be grouped by.
const (
	ByAccount  By = "account"
	ByOwner    By = "owner"
	ByInstance By = "instance" // and everything else that is billed by itself
	ByRun      By = "run"
	ByItem     By = "item"
	ByPhase    By = "phase"
	ByDay      By = "day"
)

// Groupings are all that costs can be grouped by.
func Groupings() []By {
	return []By{ByAccount, ByOwner, ByInstance, ByRun, ByItem, ByPhase, ByDay}
}

// The phases of an instance. What is billed beside instances is kept.
const (
	PhaseSetup   = "setup"   // from the start to the first run, or the first time it was busy
	PhaseRun     = "run"     // a run was going on, or it was busy
	PhaseIdle    = "idle"    // it was seen idle after that
	PhaseUnknown = "unknown" // nobody could tell
	PhaseStopped = "stopped"
	PhaseKept    = "kept"
)

// Phases are all phases, in the order in which people see them.
func Phases() []string {
	return []string{PhaseSetup, PhaseRun, PhaseIdle, PhaseUnknown, PhaseStopped, PhaseKept}
}

// part is a stretch of time that belongs to one group, or to several in equal
// parts.
type part struct {
	from, to time.Time
	keys     []group
}

// group is what a sum is for.
type group struct{ key, name, account string }

// parts cuts [from, to) by the groups that a thing's time belongs to.
func (h History) parts(q Query) []part {
	whole := func(g group) []part { return []part{{q.From, q.To, []group{g}}} }
	switch q.By {
	case ByOwner:
		return whole(group{key: h.Owner, name: h.Owner})
	case ByInstance:
		return whole(group{h.Ref.String(), h.Name, h.Account})
	case ByItem:
		item := string(ItemOf(h.Ref.Kind))
		return whole(group{key: item, name: item})
	case ByDay:
		return days(q)
	case ByRun:
		return h.runParts(q)
	case ByPhase:
		return h.phaseParts(q)
	}
	return whole(group{key: h.Ref.Account, name: h.Account})
}

// days cuts [from, to) at midnight of the zone.
func days(q Query) []part {
	var out []part
	for from := q.From; from.Before(q.To); {
		to := nextDay(from, q.Zone)
		if to.After(q.To) {
			to = q.To
		}
		day := from.In(q.Zone).Format(time.DateOnly)
		out = append(out, part{from, to, []group{{key: day, name: day}}})
		from = to
	}
	return out
}

func nextDay(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone)
}

// elementary cuts [from, to) at every moment given.
func elementary(from, to time.Time, cuts []time.Time) [][2]time.Time {
	moments := []time.Time{from, to}
	for _, c := range cuts {
		if c.After(from) && c.Before(to) {
			moments = append(moments, c)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	var out [][2]time.Time
	for n := 0; n+1 < len(moments); n++ {
		out = append(out, [2]time.Time{moments[n], moments[n+1]})
	}
	return out
}

func runEnd(r fleet.Run, now time.Time) time.Time {
	if r.EndedAt.IsZero() {
		return now
	}
	return r.EndedAt
}

func covers(from, to, t time.Time) bool { return !t.Before(from) && t.Before(to) }

// runParts cuts by the runs that went on; those at the same time share the cost. One
// known by its processes alone is the same training as a named one beside it.
func (h History) runParts(q Query) []part {
	var cuts []time.Time
	for _, r := range h.Runs {
		cuts = append(cuts, r.StartedAt, runEnd(r, q.Now))
	}
	var out []part
	for _, e := range elementary(q.From, q.To, cuts) {
		var named, nameless []group
		for _, r := range h.Runs {
			if !covers(r.StartedAt, runEnd(r, q.Now), e[0]) {
				continue
			}
			g := group{h.Ref.String() + "|" + string(r.Boot) + "|" + r.ID, h.Name + " " + r.Name(), h.Account}
			if r.Name() == "" {
				g.name += r.StartedAt.In(q.Zone).Format("2006-01-02 15:04")
				nameless = append(nameless, g)
			} else {
				named = append(named, g)
			}
		}
		switch {
		case len(named) > 0:
			out = append(out, part{e[0], e[1], named})
		case len(nameless) > 0:
			out = append(out, part{e[0], e[1], nameless})
		default:
			out = append(out, part{e[0], e[1], []group{{}}})
		}
	}
	return out
}

// phaseParts cuts by what an instance was doing.
func (h History) phaseParts(q Query) []part {
	if h.Ref.Kind != fleet.KindInstance {
		return []part{{q.From, q.To, []group{{key: PhaseKept, name: PhaseKept}}}}
	}
	spans := h.spans(q.Now)
	var cuts []time.Time
	for _, s := range spans {
		cuts = append(cuts, s.from, s.to)
	}
	for _, g := range h.Segments {
		if g.What == "activity" {
			cuts = append(cuts, g.From, g.To)
		}
	}
	for _, r := range h.Runs {
		cuts = append(cuts, r.StartedAt, runEnd(r, q.Now))
	}
	activity, next := newReader(h.Segments, "activity"), 0
	first := time.Time{} // of the present time up: when it was first at work
	var out []part
	var open []int // of the present time up, those in which it was not at work yet
	from := q.From
	if len(spans) > 0 && spans[0].from.Before(from) {
		from = spans[0].from
	}
	for _, e := range elementary(from, q.To, cuts) {
		for next < len(spans) && !spans[next].to.After(e[0]) {
			next++
		}
		state := ""
		if next < len(spans) && !spans[next].from.After(e[0]) {
			state = spans[next].state
		}
		doing := activity.at(e[0])
		phase := PhaseUnknown
		switch {
		case up(state):
			busy := doing == "busy" || slices.ContainsFunc(h.Runs, func(r fleet.Run) bool { return covers(r.StartedAt, runEnd(r, q.Now), e[0]) })
			switch {
			case busy:
				phase = PhaseRun
				if first.IsZero() {
					first = e[0]
					for _, n := range open {
						out[n].keys[0] = group{key: PhaseSetup, name: PhaseSetup}
					}
					open = nil
				}
			case doing == "idle":
				phase = PhaseIdle
			}
			if !busy && first.IsZero() {
				open = append(open, len(out))
			}
		case state != "unknown":
			phase, first, open = PhaseStopped, time.Time{}, nil
		}
		out = append(out, part{e[0], e[1], []group{{key: phase, name: phase}}})
	}
	return slices.DeleteFunc(out, func(p part) bool { return !p.to.After(q.From) })
}
