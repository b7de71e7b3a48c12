package policies

import (
	"cmp"
	"slices"
	"strings"

	"curfew/fleet"
)

// The reasons why there is no step.
const (
	ReasonNothingAsked fleet.Code = "policy.nothing-asked"
	ReasonWait         fleet.Code = "policy.wait"
	ReasonReached      fleet.Code = "policy.reached"
	ReasonCannot       fleet.Code = "policy.cannot"
)

// Step is what to do next with one instance.
type Step struct {
	Action fleet.Action
	// Goal is the furthest that is asked for.
	Goal fleet.Action
	// Verdicts are the wishes the step leads to, enforcing ones first.
	Verdicts []fleet.Verdict
	// Reason says why the step is to keep; zero otherwise.
	Reason fleet.Reason
}

// Combine joins the answers of all policies for one instance into the mildest
// step not yet reached.
//
//	wish      running              stopped
//	start     reached              start
//	stop      stop, if it can      reached
//	release   stop, then release   release
//
// A running instance is released at once only where it cannot be stopped, or
// where a stop ends no billing. What is no instance can only be deleted, which is one
// step. Keep holds nothing back. While an instance is on
// its way from one state to another there is no step. can tells what the
// platform is able to do. The order of the verdicts does not matter.
func Combine(i fleet.Instance, vs []fleet.Verdict, can func(fleet.Action) bool) Step {
	var wishes []fleet.Verdict
	for _, v := range vs {
		if v.Ref == i.Ref && (v.Boot == "" || v.Boot == i.Boot) && v.Goal != fleet.Keep {
			wishes = append(wishes, v)
		}
	}
	if len(wishes) == 0 {
		return Step{Reason: fleet.Because(ReasonNothingAsked, nil)}
	}
	switch i.State {
	case fleet.StateRunning, fleet.StateStopped, fleet.StateFailed:
	default:
		return Step{Reason: fleet.Because(ReasonWait, fleet.Values{"state": inState(i.State)})}
	}
	slices.SortFunc(wishes, byWeight)

	var step Step
	reached := true
	for _, v := range wishes {
		action, done := towards(i, v.Goal, can)
		reached = reached && done
		if action != fleet.Keep && (step.Action == fleet.Keep || action < step.Action) {
			step.Action = action
		}
	}
	if step.Action == fleet.Keep {
		code := ReasonCannot
		if reached {
			code = ReasonReached
		}
		furthest := wishes[0].Goal
		for _, v := range wishes {
			furthest = max(furthest, v.Goal)
		}
		return Step{Reason: fleet.Because(code, fleet.Values{"goal": fleet.Nested(fleet.Because(fleet.Code("action."+furthest.String()), nil))})}
	}
	for _, v := range wishes {
		if action, _ := towards(i, v.Goal, can); action == step.Action {
			step.Verdicts = append(step.Verdicts, v)
			step.Goal = max(step.Goal, v.Goal)
		}
	}
	return step
}

// towards gives the next step to one goal: Keep where there is none, with
// whether that is because the goal is reached.
func towards(i fleet.Instance, goal fleet.Action, can func(fleet.Action) bool) (step fleet.Action, reached bool) {
	if can == nil {
		can = func(fleet.Action) bool { return false }
	}
	stopped := i.State == fleet.StateStopped
	switch goal {
	case fleet.Start:
		step, reached = fleet.Start, i.State == fleet.StateRunning
	case fleet.Stop:
		step, reached = fleet.Stop, stopped
	case fleet.Release:
		step = fleet.Release
		if !stopped && can(fleet.Stop) && i.OnStop.EndsBilling != fleet.No {
			step = fleet.Stop
		}
	case fleet.Delete:
		if i.Ref.Kind == fleet.KindInstance {
			return fleet.Keep, false // what is deleted has no life of its own
		}
		step = fleet.Delete
	default:
		return fleet.Keep, false
	}
	if reached || !can(step) {
		return fleet.Keep, reached
	}
	return step, false
}

// byWeight orders wishes: enforcing ones first, then by policy.
func byWeight(a, b fleet.Verdict) int {
	dry := func(v fleet.Verdict) int {
		if v.Terms.Mode == fleet.Enforce {
			return 0
		}
		return 1
	}
	return cmp.Or(dry(a)-dry(b), strings.Compare(a.Policy, b.Policy), int(a.Goal)-int(b.Goal))
}

// Effect is what an action amounts to: a stop that does not keep all data is a
// release to guard, approval and caps.
func Effect(i fleet.Instance, a fleet.Action) fleet.Action {
	if a == fleet.Stop && i.OnStop.KeepsData != fleet.KeepsAll {
		return fleet.Release
	}
	return a
}
