package policies

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// The reasons of a training policy.
const (
	ReasonMatchUnreadable fleet.Code = "policy.match-unreadable"
	ReasonNotUp           fleet.Code = "policy.not-up"
	ReasonNotDue          fleet.Code = "policy.not-due"
	ReasonWindowClosed    fleet.Code = "policy.window-closed"
	ReasonBootUnknown     fleet.Code = "policy.boot-unknown"
	ReasonNoRun           fleet.Code = "policy.no-run"
	ReasonRunOpen         fleet.Code = "policy.run-open"
	ReasonRunLost         fleet.Code = "policy.run-lost"
	ReasonRunInterrupted  fleet.Code = "policy.run-interrupted"
	ReasonNotLooked       fleet.Code = "policy.not-looked"
	ReasonBusyAgain       fleet.Code = "policy.busy-again"
	ReasonUnknown         fleet.Code = "policy.unknown"
	ReasonGrace           fleet.Code = "policy.grace"
	ReasonRunEnded        fleet.Code = "policy.run-ended"
	ReasonStopForData     fleet.Code = "policy.stop-for-data"
	ReasonKeptForData     fleet.Code = "policy.kept-for-data"
	ReasonKeptAfterRun    fleet.Code = "policy.kept-after-run"
	ReasonEndedUnproven   fleet.Code = "policy.ended-unproven"
	ReasonFailedKept      fleet.Code = "policy.failed-kept"
	ReasonStoppedDone     fleet.Code = "policy.stopped-done"
	ReasonReleaseStopped  fleet.Code = "policy.release-stopped"
)

// The conditions of a training policy's findings.
const (
	ConditionMatchUnreadable = "match-unreadable"
	ConditionEndedUnproven   = "ended-unproven"
	ConditionFailedKept      = "failed-kept"
	ConditionRunLost         = "run-lost"
	ConditionKeptForData     = "kept-for-data"
)

// Training stops or releases an instance after its training run has ended.
type Training struct {
	Common
	Grace   time.Duration // from the end of the run to the wish
	Success Success
	// Failed is the wish after a run that failed; never further than Then.
	Failed End
	Then   fleet.Action // Stop or Release
	// ReleaseUnproven lets a run whose outcome is unknown go as far as Then.
	ReleaseUnproven bool
}

// End is a wish after a time.
type End struct {
	Then  fleet.Action
	After time.Duration // from the end of the run
}

// Name is the rule's name in the configuration.
func (t Training) Name() string { return t.Common.Name }

// Decide answers for every instance the policy matches.
//
// A running instance is asked for only when the newest run of its Boot has
// ended and the grace is over, and only on a fresh Idle judgement of that Boot,
// or on an end file or ping that nothing contradicts. A stopped one is asked for
// only on the ground journaled with the stop of that same Boot. Whatever cannot
// be told is a Keep.
func (t Training) Decide(v View) Result {
	var out Result
	if t.Match == nil {
		return out
	}
	instances := inOrder(v.Things.Instances)
	out.Verdicts = make([]fleet.Verdict, 0, len(instances))
	for n := range instances {
		i := &instances[n]
		matched, err := t.Match(*i)
		if err != nil {
			out.Findings = append(out.Findings, t.finding(i.Ref, ConditionMatchUnreadable, "",
				fleet.Because(ReasonMatchUnreadable, fleet.Values{"why": fleet.Text(err.Error())})))
			continue
		}
		if !matched {
			continue
		}
		s := subject{Training: &t, view: &v, instance: i}
		out.Verdicts = append(out.Verdicts, s.decide())
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

func (t Training) finding(ref fleet.Ref, condition, period string, why fleet.Reason) fleet.Finding {
	return fleet.Finding{
		Policy: t.Common.Name, Ref: ref, Severity: fleet.Warning, Category: fleet.CategoryHealth,
		Condition: condition, Period: period, Reason: why,
	}
}

// subject is one instance under one policy.
type subject struct {
	*Training
	view     *View
	instance *fleet.Instance
	findings []fleet.Finding
}

func (s *subject) decide() fleet.Verdict {
	i := s.instance
	switch {
	case i.State != fleet.StateRunning && i.State != fleet.StateStopped:
		v := s.keep(fleet.Because(ReasonNotUp, fleet.Values{"state": inState(i.State)}))
		// What is on its way up has left its Boot; of the others nothing can be
		// told until they settle.
		v.Gap = i.State != fleet.StateStarting && i.State != fleet.StateCreating && !i.State.Gone()
		return v
	case s.view.Due.IsZero() && s.view.Opens.IsZero():
		return s.keep(fleet.Because(ReasonWindowClosed, nil))
	case s.view.Due.IsZero():
		v := s.keep(fleet.Because(ReasonNotDue, fleet.Values{"until": fleet.Moment(s.view.Opens)}))
		v.Next = s.view.Opens
		return v
	case i.Boot == "":
		return s.gap(fleet.Because(ReasonBootUnknown, nil))
	case i.State == fleet.StateStopped:
		return s.stopped()
	}
	return s.running()
}

func (s *subject) keep(why fleet.Reason) fleet.Verdict {
	v := fleet.Verdict{
		Policy: s.Common.Name, Ref: s.instance.Ref, Boot: s.instance.Boot,
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
	g.Policy, g.Boot, g.Goal = s.Common.Name, s.instance.Boot, goal
	v.Goal, v.Ground, v.Due = goal, &g, s.view.Due
	return v
}

func (s *subject) tell(condition, run string, why fleet.Reason) {
	s.findings = append(s.findings,
		s.finding(s.instance.Ref, condition, string(s.instance.Boot)+"/"+run, why))
}

// judgement is that of the present Boot; another one says nothing.
func (s *subject) judgement() (fleet.Judgement, bool) {
	j, ok := s.view.Activity[s.instance.Ref]
	return j, ok && j.Boot.Same(s.instance.Boot)
}

func (s *subject) running() fleet.Verdict {
	if open := s.open(); open != nil {
		return s.keep(fleet.Because(ReasonRunOpen, told(*open)))
	}
	runs := s.runs()
	if len(runs) == 0 {
		return s.keep(fleet.Because(ReasonNoRun, nil))
	}
	last := slices.MaxFunc(runs, byEnd)
	switch last.End {
	case fleet.RunEnded:
	case fleet.RunLost:
		why := fleet.Because(ReasonRunLost, told(last))
		s.tell(ConditionRunLost, last.ID, why)
		return s.keep(why)
	default:
		return s.keep(fleet.Because(ReasonRunInterrupted, told(last)))
	}
	if v, stays := s.atWork(last); stays {
		return v
	}
	return s.ended(last, runs)
}

// atWork keeps an instance that works again, or of which that cannot be told.
func (s *subject) atWork(last fleet.Run) (fleet.Verdict, bool) {
	ended := fleet.Moment(last.EndedAt)
	j, looked := s.judgement()
	switch {
	case !looked:
		return s.gap(fleet.Because(ReasonNotLooked, fleet.Values{"ended": ended})), true
	case j.Activity == fleet.Busy:
		return s.keep(fleet.Because(ReasonBusyAgain, fleet.Values{
			"ended": ended, "why": fleet.Nested(j.Reason)})), true
	case j.Activity == fleet.Idle && !j.SeenAt.Before(last.EndedAt):
		return fleet.Verdict{}, false
	case j.Activity == fleet.Idle:
		return s.gap(fleet.Because(ReasonNotLooked, fleet.Values{"ended": ended})), true
	case s.speaksForItself(last, j):
		return fleet.Verdict{}, false
	}
	return s.gap(fleet.Because(ReasonUnknown, fleet.Values{"ended": ended, "why": fleet.Nested(j.Reason)})), true
}

// speaksForItself reports whether an end file or ping stands without an Idle
// look: nobody has seen work since, and either nobody is meant to look inside,
// or a fresh look could read all but the cards.
func (s *subject) speaksForItself(last fleet.Run, j fleet.Judgement) bool {
	if last.Source == runByProcess || last.ExitCode == nil || !last.BusyAt.IsZero() {
		return false
	}
	if !slices.ContainsFunc(j.Sources, func(seen fleet.SourceSeen) bool { return seen.Required }) {
		return true
	}
	facts, ok := s.view.Facts[s.instance.Ref]
	if !ok || !facts.Reached || !facts.ProcessesRead {
		return false
	}
	for what := range facts.Unreadable {
		if what != "cards" {
			return false
		}
	}
	return true
}

// ended answers for an instance at rest whose last run is over.
func (s *subject) ended(last fleet.Run, runs []fleet.Run) fleet.Verdict {
	end := ending{last: last, overlapping: overlapping(last, runs), facts: s.view.Facts[s.instance.Ref]}
	outcome, why := s.Success.outcome(end)
	after := s.Grace
	if outcome == fleet.OutcomeFailed {
		after = s.Failed.After
	}
	values := told(last)
	values["outcome"] = fleet.Nested(why)
	if due := last.EndedAt.Add(after); s.view.Now.Before(due) {
		values["until"] = fleet.Moment(due)
		v := s.keep(fleet.Because(ReasonGrace, values))
		v.Next = due
		return v
	}
	// Where nothing has to be proven, the announcement of the stop says all there is
	// to say of the outcome.
	if outcome == fleet.OutcomeUnproven && (s.Then == fleet.Release || s.Success.given()) {
		s.tell(ConditionEndedUnproven, last.ID, fleet.Because(ReasonEndedUnproven, fleet.Values{
			"ended": values["ended"], "why": fleet.Nested(why),
			"log": fleet.Text(lastLines(end.facts.Files[s.Success.Log.File].Tail))}))
	}
	ground := fleet.Ground{Run: last.ID, Outcome: outcome, EndedAt: last.EndedAt}
	switch goal := s.goal(outcome); {
	case goal == fleet.Stop, goal == fleet.Release && s.Terms.Discard:
		return s.wish(goal, ground, fleet.Because(ReasonRunEnded, values))
	case goal == fleet.Release && s.instance.OnStop.KeepsData == fleet.KeepsAll:
		return s.wish(fleet.Stop, ground, fleet.Because(ReasonStopForData, values))
	case goal == fleet.Release:
		kept := fleet.Because(ReasonKeptForData, values)
		s.tell(ConditionKeptForData, last.ID, kept)
		return s.keep(kept)
	}
	if outcome == fleet.OutcomeFailed {
		s.tell(ConditionFailedKept, last.ID, fleet.Because(ReasonFailedKept, values))
	}
	return s.keep(fleet.Because(ReasonKeptAfterRun, values))
}

// goal is how far the policy goes after a run with this outcome.
func (t Training) goal(outcome fleet.RunOutcome) fleet.Action {
	goal := t.Then
	switch outcome {
	case fleet.OutcomeSucceeded:
	case fleet.OutcomeFailed:
		goal = min(goal, t.Failed.Then)
	default:
		if !t.ReleaseUnproven {
			goal = min(goal, fleet.Stop)
		}
	}
	if goal != fleet.Stop && goal != fleet.Release {
		return fleet.Keep
	}
	return goal
}

// stopped answers for an instance that no longer runs: only what was wished for
// when its Boot ended can still be wished for.
func (s *subject) stopped() fleet.Verdict {
	var grounds []fleet.Ground
	for _, g := range s.view.Grounds[s.instance.Ref] {
		if g.Policy == s.Common.Name && g.Boot.Same(s.instance.Boot) {
			grounds = append(grounds, g)
		}
	}
	done := s.keep(fleet.Because(ReasonStoppedDone, nil))
	if len(grounds) == 0 {
		return done
	}
	allows := func(g fleet.Ground) fleet.Action { return min(g.Goal, s.goal(g.Outcome)) }
	// Of two that ended at once the one that allows less counts.
	g := slices.MaxFunc(grounds, func(a, b fleet.Ground) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), cmp.Compare(allows(b), allows(a)),
			strings.Compare(a.Run, b.Run), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(b.Goal, a.Goal))
	})
	later := func(r fleet.Run) bool { return r.StartedAt.After(g.EndedAt) }
	if allows(g) != fleet.Release || !s.Terms.Discard || slices.ContainsFunc(s.runs(), later) {
		return done
	}
	return s.wish(fleet.Release, g, fleet.Because(ReasonReleaseStopped, fleet.Values{
		"ended": fleet.Moment(g.EndedAt), "outcome": fleet.Nested(named(g.Outcome))}))
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

// Where a run is known from; anything but a process tells of its end itself.
const (
	runByProcess = "process"
	runByFile    = "file"
)

// How much later than the real boot the two clocks that tell of it may say it
// was.
const (
	insideSlack   = 5 * time.Second
	platformSlack = time.Minute
)

// concerning gives the runs of the present Boot that concern this policy.
func (s *subject) concerning() iter.Seq[*fleet.Run] {
	return func(yield func(*fleet.Run) bool) {
		all := s.view.Runs[s.instance.Ref]
		for n := range all {
			r := &all[n]
			switch {
			case !r.Boot.Same(s.instance.Boot):
			case r.Policy != "" && r.Policy != s.Common.Name:
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

// open gives the run still going on that began first, or nil.
func (s *subject) open() *fleet.Run {
	var first *fleet.Run
	for r := range s.concerning() {
		if r.Open() && (first == nil || byStart(*r, *first) < 0) {
			first = r
		}
	}
	return first
}

// runs gives those that concern this policy, the one that began first leading.
func (s *subject) runs() []fleet.Run {
	var runs []fleet.Run
	for r := range s.concerning() {
		runs = append(runs, *r)
	}
	slices.SortFunc(runs, byStart)
	return runs
}

// byStart orders runs by when they began.
func byStart(a, b fleet.Run) int {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}

// byEnd orders runs by when they ended; of those that did so at once the later
// started leads, and the id decides what is left.
func byEnd(a, b fleet.Run) int {
	return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}
