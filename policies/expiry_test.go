package policies_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// drawEnds gives an instance ways to end, and perhaps a start that led to where it is.
func drawEnds(t *rapid.T, i *fleet.Instance, starts map[fleet.Ref]fleet.Intent) {
	at := func(label string) time.Time {
		return base.Add(time.Duration(rapid.IntRange(-30, 180).Draw(t, label)) * time.Minute)
	}
	i.Protected = mostly(t, "protected", false, true)
	if rapid.Bool().Draw(t, "released by the platform") {
		i.ReleasesAt = at("releases")
	}
	if mostly(t, "timer", false, true) {
		i.StopsAt = at("stops")
	}
	if mostly(t, "since known", true, false) {
		i.StoppedAt = base.Add(-time.Duration(rapid.IntRange(-5, 200).Draw(t, "stopped")) * time.Minute)
	}
	if mostly(t, "cost known", true, false) {
		i.OnStop.StillCosts = fleet.Price{PerHour: fleet.CNY(int64(rapid.IntRange(0, 1).Draw(t, "cost"))), Source: fleet.PriceProvider}
	}
	if rapid.Bool().Draw(t, "begun") {
		starts[i.Ref] = fleet.Intent{
			Ref: i.Ref, Action: fleet.Start, State: fleet.IntentClosed, Outcome: fleet.OutcomeDone,
			Reached:  mostly(t, "reached", i.Boot, "b0", ""),
			ClosedAt: base.Add(-time.Duration(rapid.IntRange(0, 200).Draw(t, "up for")) * time.Minute),
			Verdicts: []fleet.Verdict{{Policy: mostly(t, "begun by", "p", "other"), Goal: mostly(t, "to", fleet.Start, fleet.Stop)}},
		}
	}
}

func TestKeepAliveBootsOnlyWhatItMayStopAgainAndStopsOnlyWhatItBooted(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		p := policies.Expiry{
			Common:    policies.Common{Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil }},
			Remind:    []time.Duration{time.Hour},
			KeepAlive: &policies.KeepAlive{Before: time.Duration(rapid.IntRange(1, 120).Draw(t, "before")) * time.Minute, For: time.Duration(rapid.IntRange(1, 20).Draw(t, "for")) * time.Minute},
		}
		p.Terms.WarnStop = time.Duration(rapid.IntRange(0, 20).Draw(t, "warn")) * time.Minute
		for _, d := range p.Decide(v).Verdicts {
			n := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == d.Ref })
			i := v.Things.Instances[n]
			start, begun := v.Starts[i.Ref]
			ours := begun && start.Verdicts[0].Policy == "p" && start.Verdicts[0].Goal == fleet.Start
			j := v.Activity[i.Ref]
			known := j.Boot.Same(i.Boot)
			open := slices.ContainsFunc(v.Runs[i.Ref], func(r fleet.Run) bool { return r.Open() && r.Boot.Same(i.Boot) && r.Source != "file" })
			busy := open || known && j.Activity == fleet.Busy
			switch d.Goal {
			case fleet.Keep:
			case fleet.Start:
				seen["start"]++
				switch {
				case v.Due.IsZero() || i.State != fleet.StateStopped || i.ReleasesAt.IsZero() || base.Before(i.ReleasesAt.Add(-p.KeepAlive.Before)):
					t.Fatalf("%s, deleted at %s: %+v", i.State, i.ReleasesAt, d)
				case i.Protected || i.OnStop.KeepsData != fleet.KeepsAll || i.OnStop.EndsBilling == fleet.No || len(i.Unread) > 0 || d.Blind:
					t.Fatalf("it could not be stopped again: %+v", i)
				}
			case fleet.Stop:
				seen["stop"]++
				if d.Blind {
					seen["blind"]++
				}
				over := start.ClosedAt.Add(max(p.KeepAlive.For, p.Terms.WarnStop))
				switch {
				case i.State != fleet.StateRunning || !ours || !start.Reached.Same(i.Boot):
					t.Fatalf("%s, in boot %q and not begun by it: %+v", i.State, i.Boot, start)
				case base.Before(start.ClosedAt.Add(p.KeepAlive.For - p.Terms.WarnStop)):
					t.Fatalf("after %s: %+v", base.Sub(start.ClosedAt), d)
				case busy:
					t.Fatalf("it is busy: %+v", d)
				case !d.Blind && (!known || j.Activity != fleet.Idle):
					t.Fatalf("not idle: %+v", d)
				case d.Blind && !base.Before(over.Add(time.Hour)):
					t.Fatalf("%s late: %+v", base.Sub(over), d)
				}
			default:
				t.Fatalf("%s", d.Goal)
			}
		}
	})
	t.Logf("wishes: %v", seen)
	if seen["start"] == 0 || seen["blind"] == 0 || seen["stop"] == seen["blind"] {
		t.Fatalf("the views drawn led to too few wishes to prove anything: %v", seen)
	}
}

// TestRemindersGrowAndComeOnce asks every ten minutes, as passes do, and counts what
// is told apart.
func TestRemindersGrowAndComeOnce(t *testing.T) {
	all := policies.Common{Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil }}
	remind := []time.Duration{7 * 24 * time.Hour, 72 * time.Hour, 24 * time.Hour}
	stopped := fleet.Instance{
		Ref: refOf("a"), Boot: "b1", State: fleet.StateStopped, StoppedAt: base,
		OnStop: fleet.OnStop{EndsBilling: fleet.Yes, StillCosts: fleet.Price{PerHour: fleet.CNY(100_000), Source: fleet.PriceProvider}},
	}
	period := stopped
	period.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: base.Add(20 * 24 * time.Hour)}
	both := period
	both.ReleasesAt = period.Charge.End
	disk := fleet.Resource{Ref: fleet.Ref{Account: "lab", Kind: fleet.KindDisk, ID: "d"}, Ready: true, UnusedSince: base}
	for _, c := range []struct {
		name   string
		policy policies.Policy
		view   policies.Things
		shakes bool // the platform reckons the end anew each time
		want   []float64
	}{
		{"a paid period", policies.Expiry{Common: all, Remind: remind}, policies.Things{Instances: []fleet.Instance{period}}, false, []float64{13, 17, 19}},
		{"an end that shakes", policies.Expiry{Common: all, Remind: remind}, policies.Things{Instances: []fleet.Instance{period}}, true, []float64{13, 17, 19}},
		{"two ends at once", policies.Expiry{Common: all, Remind: remind}, policies.Things{Instances: []fleet.Instance{both}}, false, []float64{13, 13, 17, 17, 19, 19}},
		{"a disk that nothing uses", policies.Orphans{Common: all, Kinds: []fleet.ThingKind{fleet.KindDisk}, UnusedFor: 24 * time.Hour}, policies.Things{Resources: []*fleet.Resource{&disk}}, false, []float64{1, 2, 4, 8, 16}},
		{"a stopped instance", policies.Orphans{Common: all, Kinds: []fleet.ThingKind{fleet.KindInstance}, UnusedFor: 24 * time.Hour}, policies.Things{Instances: []fleet.Instance{stopped}}, false, []float64{1, 2, 4, 8, 16}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []float64
			told := map[string]bool{}
			for n := range 20 * 24 * 6 {
				now := base.Add(time.Duration(n) * 10 * time.Minute)
				v := policies.View{Now: now, Due: now, Things: c.view}
				if c.shakes {
					v.Things.Instances = slices.Clone(c.view.Instances)
					v.Things.Instances[0].Charge.End = period.Charge.End.Add(time.Duration(n%7-3) * time.Second)
				}
				for _, f := range c.policy.Decide(v).Findings {
					if !told[f.Key()] {
						told[f.Key()] = true
						got = append(got, now.Sub(base).Round(time.Hour).Hours()/24)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("told on the days %v, want %v", got, c.want)
			}
		})
	}
}

// While curfew's own release is at the platform, the platform tells of an end that is
// that release.
func TestAReleaseOfOursIsNotToldAsTheirs(t *testing.T) {
	i := fleet.Instance{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}, Boot: "b1", State: fleet.StateStopped,
		StoppedAt: base.Add(-time.Hour), ReleasesAt: base.Add(time.Minute),
	}
	e := policies.Expiry{
		Common: policies.Common{Name: "ends", Match: func(fleet.Instance) (bool, error) { return true, nil }},
		Remind: []time.Duration{time.Hour},
	}
	for state, want := range map[fleet.IntentState]int{fleet.IntentPending: 1, fleet.IntentStarted: 0, fleet.IntentWritten: 0} {
		open := map[fleet.Ref]fleet.Intent{i.Ref: {Ref: i.Ref, Action: fleet.Release, State: state}}
		r := e.Decide(policies.View{Now: base, Due: base, Things: policies.Things{Instances: []fleet.Instance{i}}, Open: open})
		if len(r.Findings) != want {
			t.Errorf("while it is %s: told %d times, want %d", state, len(r.Findings), want)
		}
	}
}
