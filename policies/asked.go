package policies

import (
	"slices"

	"curfew/fleet"
)

// The reasons of a training policy whose runs ask by themselves.
const (
	ReasonNotAsked    fleet.Code = "policy.not-asked"
	ReasonAskedNoMore fleet.Code = "policy.asked-no-more"
)

// asked gives the runs that asked for a stop, or why none of them counts.
func (s trainee) asked(runs []fleet.Run) ([]fleet.Run, fleet.Reason) {
	var all []fleet.Run
	for r := range s.ofBoot() {
		all = append(all, *r)
	}
	newest, later := newestAsked(all)
	switch {
	case newest == nil:
		return nil, fleet.Because(ReasonNotAsked, nil)
	case later != nil:
		return nil, fleet.Because(ReasonAskedNoMore, told(*later))
	}
	return slices.DeleteFunc(runs, func(r fleet.Run) bool { return r.Then != fleet.ThenStop }), fleet.Reason{}
}

// newestAsked gives the run that asked for a stop and began last, and one that
// began after it without asking. The processes of a run are told of apart, and may
// be seen a little later than the run itself: those count as later only if they
// began after its end.
func newestAsked(runs []fleet.Run) (newest, later *fleet.Run) {
	for n := range runs {
		if r := &runs[n]; r.Then == fleet.ThenStop && (newest == nil || byStart(*r, *newest) > 0) {
			newest = r
		}
	}
	if newest == nil {
		return nil, nil
	}
	for n := range runs {
		r := &runs[n]
		// Times come in whole seconds: one of the same second is later unless it was
		// over by then.
		after := r.StartedAt.After(newest.StartedAt) ||
			r.StartedAt.Equal(newest.StartedAt) && (r.Open() || r.EndedAt.After(newest.StartedAt))
		if r.Source == runByProcess {
			after = !newest.Open() && r.StartedAt.After(newest.EndedAt)
		}
		if r.Then != fleet.ThenStop && after && (later == nil || byStart(*r, *later) > 0) {
			later = r
		}
	}
	return newest, later
}

// StillAsked reports whether a run of one Boot asked for a stop that is still
// wished for, or may be once it is over. It answers for the runs of that Boot
// alone.
func StillAsked(runs []fleet.Run) bool {
	open := func(r fleet.Run) bool { return r.Then == fleet.ThenStop && r.Open() }
	newest, later := newestAsked(runs)
	return newest != nil && (later == nil || slices.ContainsFunc(runs, open))
}
