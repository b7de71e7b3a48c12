package policies

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// The reasons that every policy has.
const (
	ReasonMatchUnreadable fleet.Code = "policy.match-unreadable"
	ReasonNotUp           fleet.Code = "policy.not-up"
	ReasonNotDue          fleet.Code = "policy.not-due"
	ReasonWindowClosed    fleet.Code = "policy.window-closed"
	ReasonBootUnknown     fleet.Code = "policy.boot-unknown"
	ReasonRunOpen         fleet.Code = "policy.run-open"
	ReasonNobodyLooked    fleet.Code = "policy.nobody-looked"
	ReasonStopForData     fleet.Code = "policy.stop-for-data"
	ReasonKeptForData     fleet.Code = "policy.kept-for-data"
	ReasonStoppedDone     fleet.Code = "policy.stopped-done"
)

// The conditions of findings that several policies have.
const (
	ConditionMatchUnreadable = "match-unreadable"
	ConditionKeptForData     = "kept-for-data"
)

// subject is one instance under one policy.
type subject struct {
	*Common
	view     *View
	instance *fleet.Instance
	findings []fleet.Finding
}

// each answers for every instance the policy matches, in the order of their
// references. Where it cannot be told whether one is matched there is no verdict
// on it, and people are told.
func (c *Common) each(v *View, answer func(*subject) fleet.Verdict) Result {
	var out Result
	if c.Match == nil {
		return out
	}
	instances := inOrder(v.Things.Instances)
	out.Verdicts = slices.Grow(v.Room, len(instances))
	s := &subject{Common: c, view: v}
	for n := range instances {
		i := &instances[n]
		matched, err := c.Match(*i)
		if err != nil {
			out.Findings = append(out.Findings, c.finding(i.Ref, ConditionMatchUnreadable, "",
				fleet.Because(ReasonMatchUnreadable, fleet.Values{"why": fleet.Text(err.Error())})))
			continue
		}
		if !matched {
			continue
		}
		s.instance, s.findings = i, nil
		out.Verdicts = append(out.Verdicts, answer(s))
		out.Findings = append(out.Findings, s.findings...)
	}
	return out
}

// inOrder gives the instances in the order of their references.
func inOrder(instances []fleet.Instance) []fleet.Instance {
	for n := 1; n < len(instances); n++ {
		if fleet.CompareRefs(instances[n-1].Ref, instances[n].Ref) > 0 {
			return slices.SortedFunc(slices.Values(instances), func(a, b fleet.Instance) int { return fleet.CompareRefs(a.Ref, b.Ref) })
		}
	}
	return instances
}

func (c *Common) finding(ref fleet.Ref, condition, period string, why fleet.Reason) fleet.Finding {
	return fleet.Finding{
		Policy: c.Name, Ref: ref, Severity: fleet.Warning, Category: fleet.CategoryHealth,
		Condition: condition, Period: period, Reason: why,
	}
}

// notNow keeps an instance of which nothing can be asked at this moment: it is on
// its way from one state to another, the policy's window is closed, or it is not
// known which Boot this is.
func (s *subject) notNow() (fleet.Verdict, bool) {
	i := s.instance
	why, closed := s.view.closed()
	switch {
	case i.State != fleet.StateRunning && i.State != fleet.StateStopped:
		v := s.keep(fleet.Because(ReasonNotUp, fleet.Values{"state": inState(i.State)}))
		// What is on its way up has left its Boot; of the others nothing can be
		// told until they settle.
		v.Gap = i.State != fleet.StateStarting && i.State != fleet.StateCreating && !i.State.Gone()
		return v, true
	case closed:
		v := s.keep(why)
		v.Next = s.view.Opens
		return v, true
	case i.Boot == "":
		return s.gap(fleet.Because(ReasonBootUnknown, nil)), true
	}
	return fleet.Verdict{}, false
}

func (s *subject) keep(why fleet.Reason) fleet.Verdict {
	v := fleet.Verdict{
		Policy: s.Name, Ref: s.instance.Ref, Boot: s.instance.Boot,
		Goal: fleet.Keep, Reason: why, Terms: s.Terms,
	}
	if j, ok := s.judgement(); ok {
		v.Evidence = j.Sources
	}
	return v
}

func (s *subject) gap(why fleet.Reason) fleet.Verdict {
	v := s.keep(why)
	v.Gap = true
	return v
}

func (s *subject) wish(goal fleet.Action, g fleet.Ground, why fleet.Reason) fleet.Verdict {
	v := s.keep(why)
	g.Policy, g.Boot, g.Goal = s.Name, s.instance.Boot, goal
	v.Goal, v.Ground, v.Due = goal, &g, s.view.Due
	return v
}

// wishAsFar wishes for a goal as far as the data may go with it: a release that
// would destroy some that nobody secures becomes a stop, if that keeps all; else the
// instance is kept, which is told once in a period of the Boot.
func (s *subject) wishAsFar(goal fleet.Action, g fleet.Ground, period string, why fleet.Reason) fleet.Verdict {
	switch {
	case len(s.Terms.Data.Ways()) > 0 && s.letsGo(goal) && !s.Terms.Discard:
		return s.wishSecured(goal, g, period, why)
	case goal != fleet.Release || s.Terms.Discard || s.releaseKeepsAll():
		return s.wish(goal, g, why)
	case s.instance.OnStop.KeepsData == fleet.KeepsAll:
		return s.wish(fleet.Stop, g, fleet.Because(ReasonStopForData, fleet.Values{"why": fleet.Nested(why), "lost": s.lost()}))
	}
	kept := fleet.Because(ReasonKeptForData, fleet.Values{"why": fleet.Nested(why), "lost": s.lost()})
	s.tell(ConditionKeptForData, period, kept)
	return s.keep(kept)
}

// tell adds a finding that is told once in a period of the Boot.
func (s *subject) tell(condition, period string, why fleet.Reason) {
	s.findings = append(s.findings,
		s.finding(s.instance.Ref, condition, string(s.instance.Boot)+"/"+period, why))
}

// judgement is that of the present Boot; another one says nothing.
func (s *subject) judgement() (fleet.Judgement, bool) {
	j, ok := s.view.Activity[s.instance.Ref]
	return j, ok && j.Boot.Same(s.instance.Boot)
}

// doing is what is known of the work going on now: any open run of this Boot is
// work, and where nobody looked nothing is known.
func (s *subject) doing() (fleet.Activity, fleet.Reason) {
	if open := firstOpen(s.ofBoot()); open != nil {
		return fleet.Busy, fleet.Because(ReasonRunOpen, told(*open))
	}
	j, looked := s.judgement()
	if !looked {
		return fleet.Unknown, fleet.Because(ReasonNobodyLooked, nil)
	}
	return j.Activity, j.Reason
}

// startedAt is when the instance was started, as far as anybody tells.
func (s *subject) startedAt() (time.Time, bool) {
	at := s.instance.StartedAt
	if at.IsZero() {
		at = s.view.Facts[s.instance.Ref].BootedAt
	}
	return at, !at.IsZero()
}

// stopped answers for an instance that no longer runs: only what was wished for
// when its Boot ended, and is still allowed, can still be wished for; and that
// not if a run began after the ground.
func (s *subject) stopped(runs iter.Seq[*fleet.Run], allows func(fleet.Ground) fleet.Action, why func(fleet.Ground) fleet.Reason) fleet.Verdict {
	var grounds []fleet.Ground
	for _, g := range s.view.Grounds[s.instance.Ref] {
		if g.Policy == s.Name && g.Boot.Same(s.instance.Boot) {
			grounds = append(grounds, g)
		}
	}
	if len(grounds) == 0 {
		return s.keep(fleet.Because(ReasonStoppedDone, nil))
	}
	return s.stoppedOn(grounds, runs, allows, why)
}

// stoppedOn is stopped, on what was journaled.
func (s *subject) stoppedOn(grounds []fleet.Ground, runs iter.Seq[*fleet.Run], allows func(fleet.Ground) fleet.Action, why func(fleet.Ground) fleet.Reason) fleet.Verdict {
	done := s.keep(fleet.Because(ReasonStoppedDone, nil))
	goal := func(g fleet.Ground) fleet.Action { return min(g.Goal, allows(g)) }
	// Of two that ended at once the one that allows less counts.
	g := slices.MaxFunc(grounds, func(a, b fleet.Ground) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), cmp.Compare(goal(b), goal(a)),
			strings.Compare(a.Run, b.Run), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(b.Goal, a.Goal))
	})
	secures := !s.Terms.Discard && len(s.Terms.Data.Ways()) > 0
	switch {
	case secures && allows(g) == fleet.Release && s.wanted(g):
	case goal(g) != fleet.Release || !s.Terms.Discard && !s.releaseKeepsAll():
		return done
	}
	for r := range runs {
		if r.StartedAt.After(g.EndedAt) {
			return done
		}
	}
	if secures {
		return s.stoppedSecured(g, why(g))
	}
	return s.wish(fleet.Release, g, why(g))
}

// How much later than the real boot the two clocks that tell of it may say it
// was.
const (
	insideSlack   = 5 * time.Second
	platformSlack = time.Minute
)

// ofBoot gives the runs of the present Boot, whoever told of them.
func (s *subject) ofBoot() iter.Seq[*fleet.Run] {
	return func(yield func(*fleet.Run) bool) {
		all := s.view.Runs[s.instance.Ref]
		for n := range all {
			r := &all[n]
			switch {
			case !r.Boot.Same(s.instance.Boot):
			case r.Source == runByFile && !s.ofThisBoot(r):
			case !yield(r):
				return
			}
		}
	}
}

// ofThisBoot reports whether a file found inside tells of this Boot. It may be of
// an earlier one, or of the instance this one was copied from: it counts only if
// it began in this one, or was seen going on.
func (s *subject) ofThisBoot(r *fleet.Run) bool {
	var up time.Time
	if at := s.view.Facts[s.instance.Ref].BootedAt; !at.IsZero() {
		up = at.Add(-insideSlack)
	}
	if at := s.instance.StartedAt; !at.IsZero() && at.Add(-platformSlack).After(up) {
		up = at.Add(-platformSlack)
	}
	if up.IsZero() {
		return !r.Seen.IsZero()
	}
	return !r.StartedAt.Before(up)
}

// firstOpen gives the run still going on that began first, or nil.
func firstOpen(runs iter.Seq[*fleet.Run]) *fleet.Run {
	var first *fleet.Run
	for r := range runs {
		if r.Open() && (first == nil || byStart(*r, *first) < 0) {
			first = r
		}
	}
	return first
}

// told gives what people are told of a run.
func told(r fleet.Run) fleet.Values {
	values := fleet.Values{"run": fleet.Text(r.Name())}
	if !r.StartedAt.IsZero() {
		values["began"] = fleet.Moment(r.StartedAt)
	}
	if !r.Open() {
		values["ended"] = fleet.Moment(r.EndedAt)
	}
	return values
}

// byStart orders runs by when they began.
func byStart(a, b fleet.Run) int {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}
