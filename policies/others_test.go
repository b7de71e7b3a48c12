package policies_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// others are policies of the types that look at no run, over the same match.
func others(c policies.Common) []policies.Policy {
	return []policies.Policy{
		policies.Idle{Common: c, For: 5 * time.Minute, GPUBelow: 5, LoadBelow: 0.5, SessionIdleMax: time.Minute, IgnoreMemory: true, Then: fleet.Release},
		policies.OffHours{Common: c, Window: 4 * time.Hour, Then: fleet.Stop},
		policies.OffHours{Common: c, Window: time.Hour, IfBusy: policies.IfBusyForce, WaitMax: 10 * time.Minute, Then: fleet.Stop},
		policies.Lifetime{Common: c, Max: time.Hour, Then: fleet.Stop},
		policies.Orphans{Common: c, Kinds: []fleet.ThingKind{fleet.KindInstance}, UnusedFor: time.Hour},
		policies.Expiry{Common: c, Remind: []time.Duration{2 * time.Hour, time.Hour}, KeepAlive: &policies.KeepAlive{Before: 90 * time.Minute, For: 3 * time.Minute}},
		balanceOf(c, everyLevel()...),
		budgetOf(c),
		policies.Budget{Common: c, Limit: fleet.CNY(10e6), Period: policies.PerRun, At: []policies.BudgetStep{{Percent: 10, Then: policies.StopIdle}, {Percent: 100, Then: policies.StopAll}}},
	}
}

// drawOthers is draw with what only these policies look at.
func drawOthers(t *rapid.T) policies.View {
	d := draw(t)
	v := d.view
	v.Samples, v.Open, v.Starts = map[fleet.Ref][]fleet.Evidence{}, map[fleet.Ref]fleet.Intent{}, map[fleet.Ref]fleet.Intent{}
	if !v.Due.IsZero() {
		v.Due = base.Add(-time.Duration(rapid.IntRange(0, 99).Draw(t, "since the tick")-2) * time.Minute)
	}
	for n := range v.Things.Instances {
		i := &v.Things.Instances[n]
		if mostly(t, "start known", true, false) {
			i.StartedAt = base.Add(-time.Duration((rapid.IntRange(0, 499).Draw(t, "up") - 5)) * time.Minute)
		}
		if rapid.Bool().Draw(t, "plain") {
			i.State, i.OnStop.KeepsData = fleet.StateRunning, fleet.KeepsAll
			delete(v.Runs, i.Ref)
			v.Activity[i.Ref] = fleet.Judgement{
				Boot:     mostly(t, "judged boot", i.Boot, "b0"),
				Activity: rapid.SampledFrom([]fleet.Activity{fleet.Idle, fleet.Busy, fleet.Unknown}).Draw(t, "judged"),
			}
		}
		if rapid.Bool().Draw(t, "looked at") {
			for m := range 40 {
				v.Samples[i.Ref] = append(v.Samples[i.Ref], restful("ssh", base.Add(time.Duration(m-39)*30*time.Second)))
			}
		}
		drawEnds(t, i, v.Starts)
		if mostly(t, "priced", true, false) {
			i.Price = fleet.Price{PerHour: drawAmount(t, "price", 40e6), Source: fleet.PriceProvider}
		}
		if rapid.Bool().Draw(t, "open") {
			v.Open[i.Ref] = fleet.Intent{
				Ref: i.Ref, Boot: mostly(t, "intent boot", i.Boot, "b0"), Action: mostly(t, "intent", fleet.Stop, fleet.Release),
				Verdicts: []fleet.Verdict{{Policy: mostly(t, "by", "p", "other"), Due: mostly(t, "under", v.Due, base.Add(-24*time.Hour))}},
			}
		}
	}
	drawMoney(t, &v)
	return v
}

func TestTheOtherTypesAnswerForEachInstanceOnceAndAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, match := drawOthers(t), draw(t).policy.Match
		for _, p := range others(policies.Common{Name: "p", Match: match, Terms: fleet.Terms{Discard: true, WarnStop: 10 * time.Minute, WarnDestroy: time.Hour}}) {
			want := p.Decide(v)
			var alone policies.Result
			again := v
			again.Things.Instances = rapid.Permutation(v.Things.Instances).Draw(t, "instances again")
			again.Samples, again.Runs = map[fleet.Ref][]fleet.Evidence{}, map[fleet.Ref][]fleet.Run{}
			for _, i := range v.Things.Instances {
				matched, err := match(i)
				n := 0
				for _, d := range want.Verdicts {
					if d.Ref == i.Ref {
						n++
						if d.Reason.IsZero() || d.Policy != "p" || d.Boot != i.Boot || d.Blind && d.Goal != fleet.Stop || d.Gap && d.Goal != fleet.Keep {
							t.Fatalf("%T: %+v", p, d)
						}
					}
				}
				if (n == 1) != (matched && err == nil) || n > 1 {
					t.Fatalf("%T: %d verdicts on %s", p, n, i.Ref)
				}
				one := v
				one.Things.Instances = []fleet.Instance{i}
				r := p.Decide(one)
				alone.Verdicts, alone.Findings = append(alone.Verdicts, r.Verdicts...), append(alone.Findings, r.Findings...)
				again.Samples[i.Ref], again.Runs[i.Ref] = shuffled(t, v.Samples[i.Ref]), shuffled(t, v.Runs[i.Ref])
			}
			if len(want.Verdicts)+len(alone.Verdicts) > 0 && !reflect.DeepEqual(want.Verdicts, alone.Verdicts) || !reflect.DeepEqual(want.Findings, alone.Findings) {
				t.Fatalf("%T: asked one by one, another answer:\n%+v\n%+v", p, want, alone)
			}
			if got := p.Decide(again); !reflect.DeepEqual(want, got) {
				t.Fatalf("%T: another order, another answer:\n%+v\n%+v", p, want, got)
			}
		}
	})
}

func TestOffHoursWishesOnlyInItsWindow(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		p := policies.OffHours{
			Common: policies.Common{
				Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil },
				Terms: fleet.Terms{WarnStop: time.Duration(rapid.IntRange(0, 20).Draw(t, "warn")) * time.Minute, WarnDestroy: time.Hour},
			},
			Window:  time.Duration((rapid.IntRange(0, 199).Draw(t, "window") + 1)) * time.Minute,
			IfBusy:  rapid.SampledFrom([]policies.IfBusy{"", policies.IfBusyWait, policies.IfBusyWarn, policies.IfBusyForce}).Draw(t, "if busy"),
			WaitMax: time.Duration(rapid.IntRange(0, 40).Draw(t, "wait max")) * time.Minute,
			Then:    fleet.Stop,
		}
		if mostly(t, "holiday", false, true) {
			p.Holiday = func(tick time.Time) bool { return tick.Equal(v.Due) }
		}
		for _, d := range p.Decide(v).Verdicts {
			if d.Goal == fleet.Keep {
				continue
			}
			n := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == d.Ref })
			i := v.Things.Instances[n]
			started := i.StartedAt
			if started.IsZero() {
				started = v.Facts[i.Ref].BootedAt
			}
			end := v.Due.Add(p.Window)
			open, announced := v.Open[i.Ref]
			announced = announced && open.Boot == i.Boot && open.Action == fleet.Stop && open.Verdicts[0].Policy == "p" && open.Verdicts[0].Due.Equal(v.Due)
			j := v.Activity[i.Ref]
			idle := j.Activity == fleet.Idle && j.Boot.Same(i.Boot) &&
				!slices.ContainsFunc(v.Runs[i.Ref], func(r fleet.Run) bool { return r.Open() && r.Boot == i.Boot && r.Source != "file" })
			seen[fmt.Sprintf("blind %v announced %v", d.Blind, announced)]++
			switch {
			case d.Goal != fleet.Stop || i.State != fleet.StateRunning || i.Boot == "":
				t.Fatalf("%s of what is %s: %+v", d.Goal, i.State, d)
			case v.Due.IsZero() || base.Before(v.Due) || !base.Before(end) || !d.Due.Equal(v.Due):
				t.Fatalf("outside the window from %s to %s: %+v", v.Due, end, d)
			case p.Holiday != nil:
				t.Fatalf("on a holiday: %+v", d)
			case started.IsZero() || !started.Before(v.Due):
				t.Fatalf("started at %s, after the tick of %s: %+v", started, v.Due, d)
			case !announced && base.Add(p.Terms.Warn(policies.Effect(i, fleet.Stop))).After(end):
				t.Fatalf("the warning does not fit before %s: %+v", end, d)
			case !idle && !d.Blind:
				t.Fatalf("not idle: %+v", d)
			case d.Blind && (p.IfBusy != policies.IfBusyForce || base.Before(v.Due.Add(p.WaitMax)) || i.OnStop.KeepsData != fleet.KeepsAll):
				t.Fatalf("may not be forced: %+v", d)
			}
		}
	})
	t.Logf("wishes: %v", seen)
	if len(seen) != 4 {
		t.Fatalf("the views drawn led to too few wishes to prove anything: %v", seen)
	}
}

func TestLifetimeWishesNeverBeforeItsTime(t *testing.T) {
	wishes := 0
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		p := policies.Lifetime{
			Common: policies.Common{Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil }, Terms: fleet.Terms{Discard: rapid.Bool().Draw(t, "discard")}},
			Max:    time.Duration(rapid.IntRange(0, 300).Draw(t, "max")) * time.Minute, Then: fleet.Stop,
		}
		for _, d := range p.Decide(v).Verdicts {
			n := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == d.Ref })
			i := v.Things.Instances[n]
			want := i.State == fleet.StateRunning && i.Boot != "" && !v.Due.IsZero() && p.Max > 0 && !i.StartedAt.IsZero() &&
				base.Sub(i.StartedAt) >= p.Max && i.OnStop.KeepsData == fleet.KeepsAll
			if want {
				wishes++
			}
			if (d.Goal == fleet.Stop) != want || d.Blind != want || !want && d.Goal != fleet.Keep {
				t.Fatalf("up since %s, %s: %+v", i.StartedAt, i.State, d)
			}
		}
	})
	if wishes == 0 {
		t.Fatal("no wish was ever made")
	}
}
