package policies

import (
	"math/bits"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
)

// The reasons of an orphans policy.
const (
	ReasonOrphan        fleet.Code = "policy.orphan"
	ReasonOrphanDelete  fleet.Code = "policy.orphan-delete"
	ReasonUsedLately    fleet.Code = "policy.used-lately"
	ReasonByAbsence     fleet.Code = "policy.by-absence"
	ReasonStoppedCosts  fleet.Code = "policy.stopped-costs"
	ReasonStoppedUnsure fleet.Code = "policy.stopped-costs-unknown"
	ReasonStoppedFree   fleet.Code = "policy.stopped-costs-nothing"
	ReasonNotStopped    fleet.Code = "policy.not-stopped"
)

// The conditions of an orphans policy's findings.
const (
	ConditionOrphan       = "orphan"
	ConditionStoppedCosts = "stopped-costs"
)

// Orphans tells of what nothing uses and goes on costing, and deletes what it may.
type Orphans struct {
	Common
	Kinds     []fleet.ThingKind // KindDisk, KindPublicIP, KindImage, and KindInstance for stopped ones
	UnusedFor time.Duration     // zero: nothing is deleted
	Then      fleet.Action      // Keep tells only; Delete
}

// Name is the rule's name in the configuration.
func (o Orphans) Name() string { return o.Common.Name }

// Decide answers for every disk, address and image, and every instance, that the
// policy is about.
//
// A disk or an address belongs to nothing by the platform's own word, so it may be
// deleted. That nobody uses an image is only what no list shows: such a thing is told
// of and never deleted.
func (o Orphans) Decide(v View) Result {
	out := o.eachResource(&v, o.Kinds, func(group []thing, out *Result) {
		for _, t := range group {
			verdict, finding := o.one(t)
			out.Verdicts = append(out.Verdicts, verdict)
			if finding != nil {
				out.Findings = append(out.Findings, *finding)
			}
		}
	})
	if slices.Contains(o.Kinds, fleet.KindInstance) {
		if len(out.Verdicts) > 0 {
			v.Room = nil // it is taken
		}
		stopped := o.each(&v, o.stopped)
		if len(out.Verdicts) == 0 {
			out.Verdicts = stopped.Verdicts
		} else {
			out.Verdicts = append(out.Verdicts, stopped.Verdicts...)
		}
		out.Findings = append(out.Findings, stopped.Findings...)
	}
	return out
}

func (o Orphans) one(t thing) (fleet.Verdict, *fleet.Finding) {
	r := t.resource
	if kept, ok := t.notNow(); ok {
		return kept, nil
	}
	switch {
	case !r.AttachedTo.IsZero():
		return t.keep(fleet.Because(ReasonThingUsed, fleet.Values{"by": fleet.Text(r.AttachedTo.ID)})), nil
	case len(r.UsedBy) > 0:
		return t.keep(fleet.Because(ReasonThingUsed, fleet.Values{"by": fleet.Text(r.UsedBy[0].ID)})), nil
	case r.Shared == fleet.Yes:
		return t.keep(fleet.Because(ReasonThingShared, nil)), nil
	case r.UnusedSince.IsZero():
		return t.gap(fleet.Because(ReasonThingUnread, fleet.Values{"what": fleet.Text("use")})), nil
	}
	idle := max(t.view.Now.Sub(r.UnusedSince), 0) // clocks differ
	values := perDay(fleet.Values{"for": fleet.Span(idle), "since": fleet.Moment(r.UnusedSince)}, r.Price)
	if idle < o.UnusedFor {
		due := r.UnusedSince.Add(o.UnusedFor)
		return t.until(due, usedLately(idle, due)), nil
	}
	told := r.Ref.Kind == fleet.KindDisk || r.Ref.Kind == fleet.KindPublicIP // by the platform
	if told && o.Then == fleet.Delete && o.UnusedFor > 0 {
		return t.delete(fleet.Because(ReasonOrphanDelete, values)), nil
	}
	why := fleet.Because(ReasonOrphan, values)
	if !told {
		why = fleet.Because(ReasonByAbsence, values)
	}
	finding := o.finding(r.Ref, ConditionOrphan, period(r.UnusedSince, idle), why)
	finding.Category = fleet.CategoryMoney
	return t.keep(why), &finding
}

// stopped tells of an instance that is stopped and goes on costing.
func (o Orphans) stopped(s *subject) fleet.Verdict {
	i := s.instance
	price := i.CostNow()
	why, closed := s.view.closed()
	switch {
	case i.State == fleet.StateUnknown:
		return s.gap(fleet.Because(ReasonNotUp, fleet.Values{"state": inState(i.State)}))
	case i.State != fleet.StateStopped:
		return s.keep(fleet.Because(ReasonNotStopped, nil))
	case closed:
		v := s.keep(why)
		v.Next = s.view.Opens
		return v
	case price.Known() && price.PerHour.IsZero():
		return s.keep(fleet.Because(ReasonStoppedFree, nil))
	}
	code, values, since := ReasonStoppedCosts, perDay(fleet.Values{}, price), "?"
	if !price.Known() {
		code = ReasonStoppedUnsure
	}
	if !i.StoppedAt.IsZero() {
		idle := max(s.view.Now.Sub(i.StoppedAt), 0) // clocks differ
		if idle < o.UnusedFor {
			v := s.keep(usedLately(idle, i.StoppedAt.Add(o.UnusedFor)))
			v.Next = i.StoppedAt.Add(o.UnusedFor)
			return v
		}
		values["for"], values["since"] = fleet.Span(idle), fleet.Moment(i.StoppedAt)
		since = period(i.StoppedAt, idle)
	}
	f := o.finding(i.Ref, ConditionStoppedCosts, since, fleet.Because(code, values))
	f.Category = fleet.CategoryMoney
	if code == ReasonStoppedUnsure {
		f.Severity = fleet.Info // a platform that tells no price tells none of any
	}
	s.findings = append(s.findings, f)
	return s.keep(f.Reason)
}

// usedLately says that a thing has not been unused for long enough.
func usedLately(idle time.Duration, until time.Time) fleet.Reason {
	return fleet.Because(ReasonUsedLately, fleet.Values{"for": fleet.Span(idle), "until": fleet.Moment(until)})
}

// period grows with the time a thing has been unused: it is told of after a day, two,
// four, eight, and so on.
func period(since time.Time, idle time.Duration) string {
	days := uint(max(idle, 0) / (24 * time.Hour))
	return since.UTC().Format(time.DateOnly) + "/" + strconv.Itoa(bits.Len(days))
}
