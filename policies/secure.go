package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of wishes whose data must be secured first.
const (
	ReasonStopUnsecured fleet.Code = "policy.stop-unsecured"
	ReasonKeptUnsecured fleet.Code = "policy.kept-unsecured"
	ReasonNotSecured    fleet.Code = "policy.not-secured"
)

// ConditionNotSecured is that of a finding on an instance that stays, since its data
// was not secured: told once in a Boot.
const ConditionNotSecured = "not-secured"

// Securer is a policy that has data secured before a release.
type Securer interface {
	// Securing gives the run whose data is to be secured before anybody stops or
	// releases the running instance, whether the policy asks for that already or not.
	// There is none while one goes on or where work is seen, and where the policy lets
	// nothing go after the last one.
	Securing(v View, i fleet.Instance) (fleet.Run, bool)
}

var _ Securer = Training{}

// Securing gives the last run of the Boot, if it has ended in a way after which the
// policy lets data go.
func (t Training) Securing(v View, i fleet.Instance) (fleet.Run, bool) {
	s := trainee{subject: &subject{Common: &t.Common, view: &v, instance: &i}, policy: &t}
	if i.State != fleet.StateRunning || i.Boot == "" || firstOpen(s.concerning()) != nil {
		return fleet.Run{}, false
	}
	runs := s.runs()
	if len(runs) == 0 {
		return fleet.Run{}, false
	}
	last := slices.MaxFunc(runs, byEnd)
	if j, ok := s.judgement(); last.End != fleet.RunEnded || ok && j.Activity == fleet.Busy {
		return fleet.Run{}, false
	}
	outcome, _ := t.Success.outcome(s.ending(last, runs))
	return last, s.letsGo(t.goal(outcome))
}

// letsGo reports whether reaching a goal ends the instance's data.
func (s *subject) letsGo(goal fleet.Action) bool { return Effect(*s.instance, goal).Destroys() }

// wishSecured wishes for a goal before which data is secured. Where that failed, what
// keeps all data is wished for instead, and if there is nothing the instance is kept,
// until it may be tried again.
func (s *subject) wishSecured(goal fleet.Action, g fleet.Ground, period string, why fleet.Reason) fleet.Verdict {
	i := s.instance
	failed, ok := s.Terms.Data.Unsecured(i.Boot, s.Name, g.Run, s.view.Secured[i.Ref], s.view.Now)
	if !ok {
		return s.wish(goal, g, why)
	}
	values := fleet.Values{"why": fleet.Nested(why), "failed": fleet.Nested(failed.Why)}
	if i.OnStop.KeepsData == fleet.KeepsAll && i.OnStop.EndsBilling != fleet.No {
		return s.wish(fleet.Stop, g, fleet.Because(ReasonStopUnsecured, values))
	}
	values["day"] = s.aDay()
	kept := fleet.Because(ReasonKeptUnsecured, values)
	s.tellCost(period, kept)
	v := s.keep(kept)
	v.Next = failed.Again()
	return v
}

// stoppedSecured answers for a stopped instance that is to be released: it stays
// where its data was not secured before the stop, since nobody can get inside.
func (s *subject) stoppedSecured(g fleet.Ground, why fleet.Reason) fleet.Verdict {
	i := s.instance
	data, records := s.Terms.Data, s.view.Secured[i.Ref]
	if data.Secured(i.Boot, s.Name, g.Run, records) || data.ImageNext(i.Boot, s.Name, g.Run, records, time.Time{}) {
		return s.wish(fleet.Release, g, why)
	}
	values := fleet.Values{"why": fleet.Nested(why), "day": s.aDay()}
	if failed, ok := data.Unsecured(i.Boot, s.Name, g.Run, records, time.Time{}); ok {
		values["failed"] = fleet.Nested(failed.Why)
	}
	kept := fleet.Because(ReasonNotSecured, values)
	s.tellCost(g.Run, kept)
	return s.keep(kept)
}

// wanted reports whether a stopped instance was to be released when its Boot ended:
// a goal that was lowered since its data was not secured still says so.
func (s *subject) wanted(g fleet.Ground) bool {
	if g.Goal == fleet.Release {
		return true
	}
	i := s.instance
	_, failed := s.Terms.Data.Unsecured(i.Boot, s.Name, g.Run, s.view.Secured[i.Ref], time.Time{})
	return failed
}

// aDay is what the instance costs in a day as it is; empty where that is not known.
func (s *subject) aDay() fleet.Value {
	if cost, ok := s.instance.CostNow().For(24 * time.Hour); ok {
		return fleet.Amount(cost)
	}
	return fleet.Text("")
}

// tellCost adds a finding on what goes on costing, told once in a period of the Boot.
func (s *subject) tellCost(period string, why fleet.Reason) {
	s.tell(ConditionNotSecured, period, why)
	s.findings[len(s.findings)-1].Category = fleet.CategoryMoney
}
