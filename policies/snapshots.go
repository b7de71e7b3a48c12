package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of a snapshots policy.
const (
	ReasonSnapshotOld   fleet.Code = "policy.snapshot-old"
	ReasonSnapshotSpare fleet.Code = "policy.snapshot-spare"
	ReasonAmongLast     fleet.Code = "policy.among-last"
	ReasonSourceUnknown fleet.Code = "policy.source-unknown"
)

// Snapshots deletes snapshots, or images, that are older than a time, but for the
// newest of each source.
type Snapshots struct {
	Common
	Kinds     []fleet.ThingKind // KindSnapshot, KindImage or both
	OlderThan time.Duration     // zero: nothing is old
	KeepLast  int               // of each source; zero: none
}

// Name is the rule's name in the configuration.
func (s Snapshots) Name() string { return s.Common.Name }

// Decide answers for every snapshot and image the policy matches.
//
// The newest KeepLast of a source are those that could be used: what is not ready or
// cannot be read does not count, nor does what the platform protects, which stays in
// any case. What has no known age stays as well, and takes nobody's place. Two of one
// age are both older or both newer.
func (s Snapshots) Decide(v View) Result {
	return s.eachResource(&v, s.Kinds, func(group []thing, out *Result) {
		last := s.newest(group)
		for _, t := range group {
			out.Verdicts = append(out.Verdicts, s.one(t, last))
		}
	})
}

// newest tells when the oldest of the newest KeepLast of a group was made: zero where
// the group has no more than that.
func (s Snapshots) newest(group []thing) time.Time {
	if s.KeepLast == 0 {
		return time.Time{}
	}
	made := make([]time.Time, 0, 16) // which most sources have room in
	for _, t := range group {
		r := t.resource
		if r.Ready && len(r.Unread) == 0 && !r.Protected && !r.CreatedAt.IsZero() {
			made = append(made, r.CreatedAt)
		}
	}
	if len(made) <= s.KeepLast {
		return time.Time{}
	}
	slices.SortFunc(made, func(a, b time.Time) int { return b.Compare(a) })
	return made[s.KeepLast-1]
}

func (s Snapshots) one(t thing, last time.Time) fleet.Verdict {
	r := t.resource
	if kept, ok := t.notNow(); ok {
		return kept
	}
	age := max(t.view.Now.Sub(r.CreatedAt), 0) // clocks differ
	switch {
	case r.CreatedAt.IsZero():
		return t.keep(fleet.Because(ReasonAgeUnknown, nil))
	case age < s.OlderThan || s.OlderThan <= 0:
		due := r.CreatedAt.Add(s.OlderThan)
		return t.until(due, fleet.Because(ReasonThingTooYoung, fleet.Values{"age": fleet.Span(age), "limit": fleet.Span(s.OlderThan), "until": fleet.Moment(due)}))
	case len(r.UsedBy) > 0:
		return t.keep(fleet.Because(ReasonThingUsed, fleet.Values{"by": fleet.Text(r.UsedBy[0].ID)}))
	case r.Shared == fleet.Yes:
		return t.keep(fleet.Because(ReasonThingShared, nil))
	case s.KeepLast > 0 && r.Source.IsZero():
		return t.keep(fleet.Because(ReasonSourceUnknown, fleet.Values{"keep": fleet.Number(float64(s.KeepLast))}))
	case s.KeepLast > 0 && (last.IsZero() || !r.CreatedAt.Before(last)):
		return t.keep(fleet.Because(ReasonAmongLast, fleet.Values{"keep": fleet.Number(float64(s.KeepLast)), "source": fleet.Text(r.Source.ID)}))
	}
	values := perDay(fleet.Values{"age": fleet.Span(age), "limit": fleet.Span(s.OlderThan)}, r.Price)
	if s.KeepLast == 0 {
		return t.delete(fleet.Because(ReasonSnapshotOld, values))
	}
	values["keep"], values["source"] = fleet.Number(float64(s.KeepLast)), fleet.Text(r.Source.ID)
	return t.delete(fleet.Because(ReasonSnapshotSpare, values))
}
