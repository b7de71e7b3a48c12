package policies_test

import (
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
	"curfew/signals"
)

// drawn is a view made by chance, with the looks its judgements rest on.
type drawn struct {
	view   policies.View
	looks  map[fleet.Ref][]fleet.Evidence
	policy policies.Training
}

// TestMain draws more views than rapid does by itself, since most lead to no
// wish; -rapid.checks still has the last word.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "3000"); err != nil {
		panic(err)
	}
	m.Run()
}

var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// mostly draws the usual value, and one time in eight one of the others: views
// in which everything is odd lead to no wish and prove nothing.
func mostly[T any](t *rapid.T, label string, usual T, others ...T) T {
	// The ends of a range are drawn too often to stand for what is rare.
	if n := rapid.IntRange(0, 63).Draw(t, label); n >= 24 && n < 32 {
		return rapid.SampledFrom(others).Draw(t, label+" odd")
	}
	return usual
}

// minute draws a moment within the half hour before base, or a little after it.
func minute(t *rapid.T, label string) time.Time {
	return base.Add(time.Duration(rapid.Int64Range(-30*60, 2*60).Draw(t, label)) * time.Second)
}

func drawRun(t *rapid.T, n int, ref fleet.Ref) fleet.Run {
	r := fleet.Run{
		ID:        fmt.Sprintf("x:%d", n),
		Source:    rapid.SampledFrom([]string{"process", "file", "ping"}).Draw(t, "source"),
		Ref:       ref,
		Boot:      mostly[fleet.Boot](t, "run boot", "b1", "b0", ""),
		StartedAt: minute(t, "run start"),
		End:       mostly(t, "end", fleet.RunEnded, fleet.RunOpen, fleet.RunLost, fleet.RunInterrupted),
		Seen:      minute(t, "seen"),
	}
	if r.Source == "process" {
		r.Policy = mostly(t, "run policy", "p", "other")
	}
	if r.End != fleet.RunOpen {
		r.EndedAt = r.StartedAt.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "length")) * time.Minute)
		if r.Source != "process" && rapid.Bool().Draw(t, "has exit") {
			code := rapid.IntRange(0, 1).Draw(t, "exit")
			r.ExitCode = &code
		}
		if mostly(t, "busy after", false, true) {
			r.BusyAt = r.EndedAt.Add(time.Minute)
		}
	}
	return r
}

func drawLook(t *rapid.T) fleet.Evidence {
	return fleet.Evidence{
		Source:   mostly(t, "look source", "ssh", "probe"),
		SeenAt:   base.Add(-time.Duration(rapid.IntRange(-1, 8).Draw(t, "look")) * time.Minute),
		Boot:     mostly[fleet.Boot](t, "look boot", "b1", "b0", ""),
		Activity: mostly(t, "activity", fleet.Idle, fleet.Busy, fleet.Unknown, fleet.Unknown),
		FreshFor: 5 * time.Minute,
	}
}

func draw(t *rapid.T) drawn {
	actions := []fleet.Action{fleet.Release, fleet.Stop, fleet.Keep}
	d := drawn{
		looks: map[fleet.Ref][]fleet.Evidence{},
		view: policies.View{
			Now: base, Due: base,
			Activity: map[fleet.Ref]fleet.Judgement{}, Facts: map[fleet.Ref]fleet.Facts{},
			Runs: map[fleet.Ref][]fleet.Run{}, Grounds: map[fleet.Ref][]fleet.Ground{},
		},
		policy: policies.Training{
			Common: policies.Common{
				Name: "p",
				Match: func(i fleet.Instance) (bool, error) {
					if len(i.Unread) > 0 {
						return true, errors.New("labels were not read")
					}
					return i.Name != "unmatched", nil
				},
				Terms: fleet.Terms{Discard: mostly(t, "discard", true, false)},
			},
			Grace:           time.Duration(rapid.IntRange(0, 5).Draw(t, "grace")) * time.Minute,
			Failed:          policies.End{Then: rapid.SampledFrom(actions).Draw(t, "failed then"), After: time.Minute},
			Then:            mostly(t, "then", fleet.Release, actions...),
			ReleaseUnproven: rapid.Bool().Draw(t, "release unproven"),
		},
	}
	if mostly(t, "closed", false, true) {
		d.view.Due = time.Time{}
	}
	for n := range rapid.IntRange(1, 3).Draw(t, "instances") {
		ref := refOf(fmt.Sprintf("i%d", n))
		i := fleet.Instance{
			Ref: ref, Boot: mostly[fleet.Boot](t, "boot", "b1", ""),
			Name:   mostly(t, "name", "", "unmatched"),
			Charge: fleet.Charge{Type: mostly(t, "charge", fleet.ChargeOnDemand, fleet.ChargeSpot)},
			State: mostly(t, "state", rapid.SampledFrom([]fleet.State{fleet.StateRunning, fleet.StateStopped}).Draw(t, "settled"),
				fleet.StateStarting, fleet.StateStopping, fleet.StateUnknown),
			OnStop: fleet.OnStop{
				KeepsData:   mostly(t, "keeps", fleet.KeepsAll, fleet.KeepsPart, fleet.KeepsUnknown),
				EndsBilling: mostly(t, "billing", fleet.Yes, fleet.No, fleet.Unsure),
			},
		}
		if mostly(t, "unread", false, true) {
			i.Unread = []string{"labels"}
		}
		d.view.Things.Instances = append(d.view.Things.Instances, i)
		for r := range rapid.IntRange(0, 3).Draw(t, "runs") {
			d.view.Runs[ref] = append(d.view.Runs[ref], drawRun(t, r, ref))
		}
		for range rapid.IntRange(0, 3).Draw(t, "looks") {
			d.looks[ref] = append(d.looks[ref], drawLook(t))
		}
		if mostly(t, "judged", true, false) {
			d.view.Activity[ref] = signals.Fuse(base, i, d.looks[ref], d.view.Runs[ref],
				mostly(t, "required", []string{"ssh"}, []string{"ssh", "probe"}, nil))
		}
		if rapid.Bool().Draw(t, "facts") {
			f := fleet.Facts{Reached: true, ProcessesRead: true}
			if rapid.Bool().Draw(t, "facts unreadable") {
				f.Unreadable = map[string]string{rapid.SampledFrom([]string{"cards", "sessions"}).Draw(t, "what"): "no"}
			}
			d.view.Facts[ref] = f
		}
		for range rapid.IntRange(0, 2).Draw(t, "grounds") {
			d.view.Grounds[ref] = append(d.view.Grounds[ref], fleet.Ground{
				Policy:  mostly(t, "ground policy", "p", "other"),
				Boot:    mostly[fleet.Boot](t, "ground boot", "b1", "b0", ""),
				Outcome: rapid.SampledFrom([]fleet.RunOutcome{fleet.OutcomeSucceeded, fleet.OutcomeFailed, fleet.OutcomeUnproven}).Draw(t, "ground outcome"),
				EndedAt: minute(t, "ground ended"),
				Goal:    mostly(t, "ground goal", fleet.Release, actions...),
			})
		}
	}
	return d
}

func TestEveryMatchedInstanceGetsOneVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		got := d.policy.Decide(d.view)
		for _, i := range d.view.Things.Instances {
			want := 1
			if i.Name == "unmatched" || len(i.Unread) > 0 {
				want = 0
			}
			verdicts, unread := 0, 0
			for _, v := range got.Verdicts {
				if v.Ref == i.Ref {
					verdicts++
					if v.Reason.IsZero() || v.Policy != "p" || v.Boot != i.Boot {
						t.Fatalf("a verdict without reason, policy or boot: %+v", v)
					}
				}
			}
			for _, f := range got.Findings {
				if f.Ref == i.Ref && f.Condition == policies.ConditionMatchUnreadable {
					unread++
				}
			}
			if verdicts != want || (unread == 1) != (len(i.Unread) > 0) {
				t.Fatalf("%s: %d verdicts, want %d; %d findings that it could not be read", i.Ref, verdicts, want, unread)
			}
		}
	})
}

func TestTheOrderOfTheViewDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		want := d.policy.Decide(d.view)
		v := d.view
		v.Things.Instances = rapid.Permutation(v.Things.Instances).Draw(t, "instances again")
		v.Runs, v.Grounds = map[fleet.Ref][]fleet.Run{}, map[fleet.Ref][]fleet.Ground{}
		for _, i := range d.view.Things.Instances {
			v.Runs[i.Ref] = rapid.Permutation(d.view.Runs[i.Ref]).Draw(t, "runs again")
			v.Grounds[i.Ref] = rapid.Permutation(d.view.Grounds[i.Ref]).Draw(t, "grounds again")
		}
		got := d.policy.Decide(v)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("another order, another answer:\n%+v\n%+v", want, got)
		}
	})
}

// TestEveryWishHasItsGround checks wishes against the rules as people know them,
// and not as Decide goes about them.
func TestEveryWishHasItsGround(t *testing.T) {
	wishes := map[fleet.State]int{}
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, v := range d.policy.Decide(d.view).Verdicts {
			if v.Goal == fleet.Keep {
				continue
			}
			n := slices.IndexFunc(d.view.Things.Instances, func(i fleet.Instance) bool { return i.Ref == v.Ref })
			i := d.view.Things.Instances[n]
			wishes[i.State]++
			if why := d.objection(i, v); why != "" {
				t.Fatalf("%s for %s: %s\nverdict %+v\nground %+v", v.Goal, i.Ref, why, v, v.Ground)
			}
		}
	})
	t.Logf("wishes: %v", wishes)
	if wishes[fleet.StateRunning] == 0 || wishes[fleet.StateStopped] == 0 {
		t.Fatalf("the views drawn led to too few wishes to prove anything: %v", wishes)
	}
}

func (d drawn) objection(i fleet.Instance, v fleet.Verdict) string {
	g := v.Ground
	switch {
	case v.Gap:
		return "a wish is no gap"
	case d.view.Due.IsZero():
		return "the window is closed"
	case g == nil || i.Boot == "" || g.Boot != i.Boot || g.Policy != "p" || g.Goal != v.Goal:
		return "the ground is not of this policy, boot and goal"
	case v.Goal > d.policy.Then:
		return "further than then"
	case v.Goal == fleet.Release && !d.policy.Terms.Discard:
		return "the data may not be discarded"
	case v.Goal == fleet.Release && g.Outcome == fleet.OutcomeUnproven && !d.policy.ReleaseUnproven:
		return "nothing proves success"
	case g.Outcome == fleet.OutcomeFailed && v.Goal > d.policy.Failed.Then:
		return "further than on_failure"
	case i.State == fleet.StateStopped:
		if v.Goal != fleet.Release {
			return "a stopped instance can only be released"
		}
		if !slices.ContainsFunc(d.view.Grounds[i.Ref], func(j fleet.Ground) bool { return j == *g }) {
			return "the ground is not in the journal"
		}
		return ""
	case i.State != fleet.StateRunning:
		return "it is " + i.State.String()
	}
	return d.objectionRunning(i, *g)
}

func (d drawn) objectionRunning(i fleet.Instance, g fleet.Ground) string {
	var run fleet.Run
	for _, r := range d.view.Runs[i.Ref] {
		if r.ID == g.Run {
			run = r
		}
	}
	if run.Boot != i.Boot || run.End != fleet.RunEnded || run.Policy == "other" {
		return "the run is not one of ours that ended in this boot"
	}
	if base.Before(run.EndedAt.Add(min(d.policy.Grace, d.policy.Failed.After))) {
		return "the grace is not over"
	}
	for _, r := range d.view.Runs[i.Ref] {
		if r.Boot == i.Boot && r.Policy != "other" && (r.Open() || r.StartedAt.After(run.EndedAt)) {
			return "there is a later run, or an open one"
		}
	}
	idle, busy := false, false
	for _, e := range d.looks[i.Ref] {
		if e.Boot != i.Boot || !e.Fresh(base) || newerLook(e, d.looks[i.Ref]) {
			continue
		}
		idle = idle || e.Activity == fleet.Idle && !e.SeenAt.Before(run.EndedAt)
		busy = busy || e.Activity == fleet.Busy
	}
	j := d.view.Activity[i.Ref]
	switch {
	case busy || j.Activity == fleet.Busy:
		return "it is busy"
	case j.Activity == fleet.Idle && idle:
		return ""
	case run.Source == "process" || run.ExitCode == nil:
		return "no fresh idle look of this boot, and the run did not tell of its end itself"
	case !run.BusyAt.IsZero():
		return "a busy look came after the end"
	case !j.Boot.Same(i.Boot):
		return "nobody judged this boot"
	}
	return ""
}

// newerLook reports whether the source of a look has looked again since.
func newerLook(e fleet.Evidence, all []fleet.Evidence) bool {
	return slices.ContainsFunc(all, func(o fleet.Evidence) bool {
		return o.Source == e.Source && o.Boot == e.Boot && o.SeenAt.After(e.SeenAt)
	})
}

// TestUnknownWishesForNothing: without an end that was told, or a fresh look at
// all but the cards, an Unknown instance is never asked for.
func TestUnknownWishesForNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, i := range d.view.Things.Instances {
			j := fleet.Judgement{Boot: i.Boot, Sources: []fleet.SourceSeen{{Source: "ssh", Required: true}}}
			d.view.Activity[i.Ref] = j
			delete(d.view.Facts, i.Ref)
		}
		for _, v := range d.policy.Decide(d.view).Verdicts {
			n := slices.IndexFunc(d.view.Things.Instances, func(i fleet.Instance) bool { return i.Ref == v.Ref })
			if d.view.Things.Instances[n].State != fleet.StateStopped && v.Goal != fleet.Keep {
				t.Fatalf("unknown and unreachable, and yet: %+v", v)
			}
		}
	})
}

func TestCombineNeverGoesPastWhatWasAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		var vs []fleet.Verdict
		i := d.view.Things.Instances[0]
		for n := range rapid.IntRange(0, 4).Draw(t, "verdicts") {
			vs = append(vs, fleet.Verdict{
				Policy: string(rune('a' + n)), Ref: i.Ref, Boot: i.Boot,
				Goal:  rapid.SampledFrom([]fleet.Action{fleet.Keep, fleet.Start, fleet.Stop, fleet.Release}).Draw(t, "goal"),
				Terms: fleet.Terms{Mode: rapid.SampledFrom([]fleet.Mode{fleet.Enforce, fleet.DryRun, ""}).Draw(t, "mode")},
			})
		}
		able := map[fleet.Action]bool{}
		for _, a := range []fleet.Action{fleet.Start, fleet.Stop, fleet.Release} {
			able[a] = rapid.Bool().Draw(t, "can "+a.String())
		}
		can := func(a fleet.Action) bool { return able[a] }
		step := policies.Combine(i, vs, can)
		furthest := fleet.Keep
		for _, v := range vs {
			furthest = max(furthest, v.Goal)
		}
		switch {
		case step.Action > furthest || step.Goal > furthest || step.Action > step.Goal:
			t.Fatalf("%s towards %s, but at most %s was asked for", step.Action, step.Goal, furthest)
		case step.Action != fleet.Keep && !able[step.Action]:
			t.Fatalf("the platform cannot %s", step.Action)
		case (step.Action == fleet.Keep) != (len(step.Verdicts) == 0), (step.Action == fleet.Keep) == step.Reason.IsZero():
			t.Fatalf("a step without a wish, or a keep without a reason: %+v", step)
		case i.State != fleet.StateRunning && i.State != fleet.StateStopped && step.Action != fleet.Keep:
			t.Fatalf("%s while it is %s", step.Action, i.State)
		case step.Action == fleet.Release && i.State == fleet.StateRunning && able[fleet.Stop] && i.OnStop.EndsBilling != fleet.No:
			t.Fatal("released without a stop before")
		case step.Action == fleet.Stop && i.State == fleet.StateStopped:
			t.Fatal("stopped twice")
		}
		dry := false
		for _, v := range step.Verdicts {
			if v.Terms.Mode == fleet.Enforce && dry {
				t.Fatal("an enforcing wish stands behind a dry one")
			}
			dry = dry || v.Terms.Mode != fleet.Enforce
			if v.Goal < step.Action {
				t.Fatalf("%s asked for %s only, and leads to %s", v.Policy, v.Goal, step.Action)
			}
		}
		again := policies.Combine(i, rapid.Permutation(vs).Draw(t, "verdicts again"), can)
		if !reflect.DeepEqual(step, again) {
			t.Fatalf("another order, another step:\n%+v\n%+v", step, again)
		}
	})
}
