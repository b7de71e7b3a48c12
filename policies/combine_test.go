package policies_test

import (
	"testing"

	"curfew/fleet"
	"curfew/policies"
)

func TestCombineDeletesWhatIsNoInstance(t *testing.T) {
	all := func(fleet.Action) bool { return true }
	disk := fleet.Resource{Ref: fleet.Ref{Account: "lab", Kind: fleet.KindDisk, ID: "d"}, Ready: true}
	wish := []fleet.Verdict{{Policy: "p", Ref: disk.Ref, Goal: fleet.Delete}}
	if got := policies.Combine(disk.Subject(), wish, all); got.Action != fleet.Delete || got.Goal != fleet.Delete || len(got.Verdicts) != 1 {
		t.Errorf("got %+v, want the deletion", got)
	}
	if got := policies.Combine(disk.Subject(), wish, nil); got.Action != fleet.Keep || got.Reason.Code != policies.ReasonCannot {
		t.Errorf("what the platform cannot delete: %+v", got)
	}
	disk.Ready = false
	if got := policies.Combine(disk.Subject(), wish, all); got.Action != fleet.Keep || got.Reason.Code != policies.ReasonWait {
		t.Errorf("what is being made: %+v", got)
	}
}

func TestCombineTakesTheMildestStepNotYetReached(t *testing.T) {
	const keep, start, stop, release = fleet.Keep, fleet.Start, fleet.Stop, fleet.Release
	running, stopped := fleet.StateRunning, fleet.StateStopped
	for _, c := range []struct {
		name    string
		state   fleet.State
		billing fleet.Tri
		cannot  fleet.Action
		goals   []fleet.Action
		action  fleet.Action
		goal    fleet.Action
		by      int
		why     fleet.Code
	}{
		{name: "nothing asked", state: running, why: policies.ReasonNothingAsked},
		{name: "keep holds nothing back", state: running, goals: []fleet.Action{keep, stop}, action: stop, goal: stop, by: 1},
		{name: "keep alone keeps", state: running, goals: []fleet.Action{keep, keep}, why: policies.ReasonNothingAsked},
		{name: "a release of what runs begins with a stop", state: running, goals: []fleet.Action{release}, action: stop, goal: release, by: 1},
		{name: "stop and release lead through one stop", state: running, goals: []fleet.Action{release, stop}, action: stop, goal: release, by: 2},
		{name: "a stopped thing with the goal stop is reached", state: stopped, goals: []fleet.Action{stop}, why: policies.ReasonReached},
		{name: "a stopped thing is released", state: stopped, goals: []fleet.Action{stop, release}, action: release, goal: release, by: 1},
		{name: "what cannot be stopped is released at once", state: running, cannot: stop, goals: []fleet.Action{release}, action: release, goal: release, by: 1},
		{name: "what cannot be stopped is not released instead", state: running, cannot: stop, goals: []fleet.Action{stop}, why: policies.ReasonCannot},
		{name: "a stop that ends no billing is left out on the way to a release", state: running, billing: fleet.No, goals: []fleet.Action{release}, action: release, goal: release, by: 1},
		{name: "a stop that may end billing is tried", state: running, billing: fleet.Unsure, goals: []fleet.Action{release}, action: stop, goal: release, by: 1},
		{name: "what cannot be released is stopped", state: running, cannot: release, goals: []fleet.Action{release}, action: stop, goal: release, by: 1},
		{name: "stopped it cannot go further", state: stopped, cannot: release, goals: []fleet.Action{release}, why: policies.ReasonCannot},
		{name: "a start of what runs is reached", state: running, goals: []fleet.Action{start}, why: policies.ReasonReached},
		{name: "a start is milder than a release", state: stopped, goals: []fleet.Action{release, start}, action: start, goal: start, by: 1},
		{name: "a starting thing waits", state: fleet.StateStarting, goals: []fleet.Action{release}, why: policies.ReasonWait},
		{name: "a stopping thing waits", state: fleet.StateStopping, goals: []fleet.Action{release}, why: policies.ReasonWait},
		{name: "a releasing thing waits", state: fleet.StateReleasing, goals: []fleet.Action{release}, why: policies.ReasonWait},
		{name: "a thing in an unknown state waits", state: fleet.StateUnknown, goals: []fleet.Action{release}, why: policies.ReasonWait},
		{name: "a released thing waits", state: fleet.StateReleased, goals: []fleet.Action{release}, why: policies.ReasonWait},
		{name: "a delete is not for instances", state: running, goals: []fleet.Action{fleet.Delete}, why: policies.ReasonCannot},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := fleet.Instance{Ref: refOf("a"), Boot: "b1", State: c.state, OnStop: fleet.OnStop{EndsBilling: c.billing}}
			var vs []fleet.Verdict
			for n, goal := range c.goals {
				vs = append(vs, fleet.Verdict{Policy: string(rune('a' + n)), Ref: i.Ref, Boot: "b1", Goal: goal})
			}
			got := policies.Combine(i, vs, func(a fleet.Action) bool { return a != c.cannot || c.cannot == fleet.Keep })
			if got.Action != c.action || got.Goal != c.goal || len(got.Verdicts) != c.by || got.Reason.Code != c.why {
				t.Errorf("got %s towards %s by %d because %q, want %s towards %s by %d because %q",
					got.Action, got.Goal, len(got.Verdicts), got.Reason.Code, c.action, c.goal, c.by, c.why)
			}
		})
	}
}

func TestCombineLeavesOutWhatIsAboutSomethingElse(t *testing.T) {
	i := fleet.Instance{Ref: refOf("a"), Boot: "b2", State: fleet.StateRunning}
	all := func(fleet.Action) bool { return true }
	for name, v := range map[string]fleet.Verdict{
		"another instance": {Ref: refOf("b"), Boot: "b2", Goal: fleet.Stop},
		"an earlier boot":  {Ref: refOf("a"), Boot: "b1", Goal: fleet.Stop},
	} {
		t.Run(name, func(t *testing.T) {
			if got := policies.Combine(i, []fleet.Verdict{v}, all); got.Action != fleet.Keep {
				t.Errorf("got %s", got.Action)
			}
		})
	}
	t.Run("a platform of which nothing is known does nothing", func(t *testing.T) {
		v := fleet.Verdict{Ref: i.Ref, Boot: i.Boot, Goal: fleet.Release}
		if got := policies.Combine(i, []fleet.Verdict{v}, nil); got.Action != fleet.Keep {
			t.Errorf("got %s", got.Action)
		}
	})
}

func TestEffectOfAStop(t *testing.T) {
	for keeps, want := range map[fleet.Keeps]fleet.Action{
		fleet.KeepsAll: fleet.Stop, fleet.KeepsPart: fleet.Release,
		fleet.KeepsNone: fleet.Release, fleet.KeepsUnknown: fleet.Release,
	} {
		i := fleet.Instance{OnStop: fleet.OnStop{KeepsData: keeps}}
		if got := policies.Effect(i, fleet.Stop); got != want {
			t.Errorf("a stop that keeps %q counts as %s, want %s", keeps, got, want)
		}
		if got := policies.Effect(i, fleet.Start); got != fleet.Start {
			t.Errorf("a start counts as %s", got)
		}
	}
}
