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
	ReasonNoRun          fleet.Code = "policy.no-run"
	ReasonRunLost        fleet.Code = "policy.run-lost"
	ReasonRunInterrupted fleet.Code = "policy.run-interrupted"
	ReasonNotLooked      fleet.Code = "policy.not-looked"
	ReasonBusyAgain      fleet.Code = "policy.busy-again"
	ReasonUnknown        fleet.Code = "policy.unknown"
	ReasonGrace          fleet.Code = "policy.grace"
	ReasonRunEnded       fleet.Code = "policy.run-ended"
	ReasonKeptAfterRun   fleet.Code = "policy.kept-after-run"
	ReasonEndedUnproven  fleet.Code = "policy.ended-unproven"
	ReasonLastWords      fleet.Code = "policy.last-words"
	ReasonFailedKept     fleet.Code = "policy.failed-kept"
	ReasonReleaseStopped fleet.Code = "policy.release-stopped"
	ReasonSpotNoExport   fleet.Code = "policy.spot-no-export"
)

// The conditions of a training policy's findings.
const (
	ConditionEndedUnproven = "ended-unproven"
	ConditionLastWords     = "last-words"
	ConditionFailedKept    = "failed-kept"
	ConditionRunLost       = "run-lost"
	ConditionSpotNoExport  = "spot-no-export"
)

// Training stops or releases an instance after its training run has ended.
type Training struct {
	Common
	Grace   time.Duration // from the end of the run to the wish
	Success Success
	Log     string // whose last lines are told where a run failed or proved nothing; that of Success by default
	// Failed is the wish after a run that failed; never further than Then.
	Failed End
	Then   fleet.Action // Stop or Release
	// ReleaseUnproven lets a run whose outcome is unknown go as far as Then.
	ReleaseUnproven bool
	// Asked leaves the wish to the runs: only one that asked for a stop is a ground,
	// and only while no later one began without asking.
	Asked bool
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
	return t.withLeft(&v, func(s *subject) fleet.Verdict {
		tr := trainee{subject: s, policy: &t}
		tr.onSpot()
		if kept, ok := s.notNow(); ok {
			return kept
		}
		if s.instance.State == fleet.StateStopped {
			return s.stopped(tr.concerning(), func(g fleet.Ground) fleet.Action { return t.goal(g.Outcome) }, stoppedAfterRun)
		}
		return tr.running()
	})
}

// onSpot tells once of each run that may be lost with its instance at any time, and
// whose files nothing copies away.
func (s trainee) onSpot() {
	if s.instance.Charge.Type != fleet.ChargeSpot || !s.instance.State.Up() || s.Terms.Data != nil && s.Terms.Data.Export != nil {
		return
	}
	for _, r := range s.runs() {
		if r.Open() {
			s.tell(ConditionSpotNoExport, r.ID, fleet.Because(ReasonSpotNoExport, told(r)))
		}
	}
}

// trainee is one instance under one training policy.
type trainee struct {
	*subject
	policy *Training
}

func (s trainee) running() fleet.Verdict {
	if open := firstOpen(s.concerning()); open != nil {
		return s.keep(fleet.Because(ReasonRunOpen, told(*open)))
	}
	runs := s.runs()
	if s.policy.Asked {
		asked, why := s.asked(runs)
		if !why.IsZero() {
			return s.keep(why)
		}
		runs = asked
	}
	if len(runs) == 0 {
		values := fleet.Values{}
		if j, ok := s.judgement(); ok && j.Activity == fleet.Unknown && !j.Reason.IsZero() {
			values["why"] = fleet.Nested(j.Reason) // a run could not have been seen
		}
		return s.keep(fleet.Because(ReasonNoRun, values))
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
func (s trainee) atWork(last fleet.Run) (fleet.Verdict, bool) {
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
// or a fresh look could read all but how busy the cards are.
func (s trainee) speaksForItself(last fleet.Run, j fleet.Judgement) bool {
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
	// A card that does not tell how busy it is, and holds a program's memory, may be at
	// work for somebody else.
	return !slices.ContainsFunc(facts.Cards, func(c fleet.Card) bool {
		return c.Utilization == nil && c.MemoryMB != nil && *c.MemoryMB >= heldMemoryMB
	})
}

// ending is what is known of the end of a run.
func (s trainee) ending(last fleet.Run, runs []fleet.Run) ending {
	return ending{last: last, overlapping: overlapping(last, runs), facts: s.view.Facts[s.instance.Ref]}
}

// ended answers for an instance at rest whose last run is over.
func (s trainee) ended(last fleet.Run, runs []fleet.Run) fleet.Verdict {
	end := s.ending(last, runs)
	outcome, why := s.policy.Success.outcome(end)
	if s.policy.Asked && outcome == fleet.OutcomeSucceeded && last.ExitCode != nil {
		why = fleet.Because(ReasonSucceededExit, fleet.Values{"exit": fleet.Number(float64(*last.ExitCode))})
	}
	after := s.policy.Grace
	if outcome == fleet.OutcomeFailed {
		after = s.policy.Failed.After
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
	if outcome == fleet.OutcomeUnproven && (s.policy.Then == fleet.Release || s.policy.Success.given()) {
		s.tell(ConditionEndedUnproven, last.ID, fleet.Because(ReasonEndedUnproven, fleet.Values{
			"ended": values["ended"], "why": fleet.Nested(why),
			"log": fleet.Text(s.lastWords(end))}))
	}
	if words := s.lastWords(end); outcome == fleet.OutcomeFailed && words != "" {
		s.tell(ConditionLastWords, last.ID, fleet.Because(ReasonLastWords, fleet.Values{
			"ended": values["ended"], "why": fleet.Nested(why), "log": fleet.Text(words)}))
	}
	ground := fleet.Ground{Run: last.ID, Outcome: outcome, EndedAt: last.EndedAt}
	if goal := s.policy.goal(outcome); goal != fleet.Keep {
		if words := s.lastWords(end); words != "" {
			values["log"] = fleet.Text(words) // for a notice after which nobody can look
		}
		return s.wishAsFar(goal, ground, last.ID, fleet.Because(ReasonRunEnded, values))
	}
	if outcome == fleet.OutcomeFailed {
		s.tell(ConditionFailedKept, last.ID, fleet.Because(ReasonFailedKept, values))
	}
	return s.keep(fleet.Because(ReasonKeptAfterRun, values))
}

// lastWords are the last lines of the log that the policy names, or else of what
// came with the run's pings.
func (s trainee) lastWords(e ending) string {
	return cmp.Or(lastLines(e.facts.Files[cmp.Or(s.policy.Log, s.policy.Success.Log.File)].Tail), lastLines(e.last.Said))
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

// stoppedAfterRun is why an instance that was stopped is wished to be released.
func stoppedAfterRun(g fleet.Ground) fleet.Reason {
	return fleet.Because(ReasonReleaseStopped, fleet.Values{
		"ended": fleet.Moment(g.EndedAt), "outcome": fleet.Nested(named(g.Outcome))})
}

// Where a run is known from; anything but a process tells of its end itself.
const (
	runByProcess = "process"
	runByFile    = "file"
)

// concerning gives the runs of the present Boot that concern this policy.
func (s trainee) concerning() iter.Seq[*fleet.Run] {
	return func(yield func(*fleet.Run) bool) {
		for r := range s.ofBoot() {
			if (r.Policy == "" || r.Policy == s.Name) && !yield(r) {
				return
			}
		}
	}
}

// runs gives those that concern this policy, the one that began first leading.
func (s trainee) runs() []fleet.Run {
	var runs []fleet.Run
	for r := range s.concerning() {
		runs = append(runs, *r)
	}
	slices.SortFunc(runs, byStart)
	return runs
}

// byEnd orders runs by when they ended; of those that did so at once the later
// started leads, and the id decides what is left.
func byEnd(a, b fleet.Run) int {
	return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}
