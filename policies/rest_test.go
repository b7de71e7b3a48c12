package policies_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// calm is an instance that a source has looked at twice a minute for hours, and
// every look showed rest: all that is needed for a wish. Each test takes something
// away.
type calm struct {
	policy   policies.Idle
	instance fleet.Instance
	required []string
	samples  []fleet.Evidence
	runs     []fleet.Run
}

// shuffled gives the same in another order; a draw for each would be slow.
func shuffled[T any](t *rapid.T, all []T) []T {
	out := slices.Clone(all)
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
	random.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out
}

func ptr[T any](v T) *T { return &v }

func restful(source string, at time.Time) fleet.Evidence {
	return fleet.Evidence{
		Source: source, SeenAt: at, Boot: "b1", Activity: fleet.Idle, FreshFor: 70 * time.Second,
		Facts: fleet.Facts{
			Reached: true, ProcessesRead: true,
			Cards:    []fleet.Card{{Utilization: ptr(0.0), MemoryMB: ptr(300.0)}, {Index: 1, Utilization: ptr(1.0), MemoryMB: ptr(300.0)}},
			Sessions: []fleet.Session{{Kind: "tty", Name: "pts/0", Idle: 5 * time.Hour}},
		},
	}
}

// newCalm draws how long it must have been at rest and when the looks were made.
func newCalm(t *rapid.T) *calm {
	c := &calm{
		policy: policies.Idle{
			Common: policies.Common{Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil }},
			For:    time.Duration(rapid.IntRange(5, 20).Draw(t, "for")) * time.Minute, GPUBelow: 5, LoadBelow: 0.5,
			SessionIdleMax: 30 * time.Minute, MemoryIdleMax: 40 * time.Minute, BootGrace: 15 * time.Minute, Then: fleet.Stop,
		},
		instance: fleet.Instance{
			Ref: refOf("a"), Boot: "b1", State: fleet.StateRunning, StartedAt: base.Add(-9 * time.Hour), GPU: fleet.GPU{Count: 2},
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsAll},
		},
		required: rapid.SampledFrom([][]string{{"ssh"}, {"local", "ssh"}}).Draw(t, "required"),
	}
	for _, source := range c.required {
		at := base.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "newest look")) * time.Second)
		pause := time.Duration(rapid.IntRange(25, 35).Draw(t, "pause")) * time.Second
		for ; at.After(base.Add(-50 * time.Minute)); at = at.Add(-pause) {
			c.samples = append(c.samples, restful(source, at))
		}
	}
	return c
}

func (c *calm) view() policies.View {
	j := fleet.Judgement{Activity: fleet.Idle, Boot: c.instance.Boot}
	for _, source := range c.required {
		j.Sources = append(j.Sources, fleet.SourceSeen{Source: source, Required: true})
	}
	ref := c.instance.Ref
	return policies.View{
		Now: base, Due: base, Things: policies.Things{Instances: []fleet.Instance{c.instance}},
		Activity: map[fleet.Ref]fleet.Judgement{ref: j},
		Samples:  map[fleet.Ref][]fleet.Evidence{ref: c.samples},
		Runs:     map[fleet.Ref][]fleet.Run{ref: c.runs},
	}
}

func (c *calm) decide(t interface{ Fatalf(string, ...any) }) fleet.Verdict {
	got := c.policy.Decide(c.view())
	if len(got.Verdicts) != 1 {
		t.Fatalf("%d verdicts", len(got.Verdicts))
	}
	return got.Verdicts[0]
}

// inWindow draws one of the looks on which an act would rest: those begun within
// the time and, by each source, the one at or before its beginning.
func (c *calm) inWindow(t *rapid.T) int {
	begin := base.Add(-c.policy.For)
	var which []int
	anchors := map[string]int{}
	for n, e := range c.samples {
		if e.SeenAt.After(begin) {
			which = append(which, n)
		} else if a, ok := anchors[e.Source]; !ok || e.SeenAt.After(c.samples[a].SeenAt) {
			anchors[e.Source] = n
		}
	}
	for _, source := range c.required {
		which = append(which, anchors[source])
	}
	return rapid.SampledFrom(which).Draw(t, "which look")
}

// spoiled is a way in which one look of many may show no rest; gap says that it
// shows no work either.
type spoiled struct {
	name  string
	spoil func(c *calm, n int)
	gap   bool
}

func spoilings() []spoiled {
	return []spoiled{
		{"unknown", func(c *calm, n int) { c.samples[n].Activity = fleet.Unknown }, true},
		{"an activity nobody knows", func(c *calm, n int) { c.samples[n].Activity = 7 }, true},
		{"not reached", func(c *calm, n int) {
			c.samples[n].Activity, c.samples[n].Facts = fleet.Unknown, fleet.Facts{}
		}, true},
		{"said to be idle from outside", func(c *calm, n int) { c.samples[n].Facts = fleet.Facts{} }, true},
		{"a reading that failed", func(c *calm, n int) {
			c.samples[n].Facts.Unreadable = map[string]string{"sessions": "no"}
		}, true},
		{"a card without a reading", func(c *calm, n int) { c.samples[n].Facts.Cards[1].Utilization = nil }, true},
		{"a card below zero", func(c *calm, n int) { c.samples[n].Facts.Cards[0].Utilization = ptr(-1.0) }, true},
		{"a card that is split", func(c *calm, n int) { c.samples[n].Facts.Cards[0].MIG = true }, true},
		{"a card that is missing", func(c *calm, n int) { c.samples[n].Facts.Cards = c.samples[n].Facts.Cards[:1] }, true},
		{"no card at all", func(c *calm, n int) { c.samples[n].Facts.Cards = nil }, true},
		{"looks that are missing", func(c *calm, n int) { c.cut(n, "") }, true},
		{"looks of another boot", func(c *calm, n int) { c.cut(n, "b0") }, true},
		{"a look that is good for no time", func(c *calm, n int) { c.samples[n].FreshFor = 0 }, true},
		{"busy", func(c *calm, n int) { c.samples[n].Activity = fleet.Busy }, false},
		{"a card at the limit", func(c *calm, n int) { c.samples[n].Facts.Cards[1].Utilization = ptr(5.0) }, false},
		{"a session with input", func(c *calm, n int) { c.samples[n].Facts.Sessions[0].Idle = 30 * time.Minute }, false},
		{"work beside a card without a reading", func(c *calm, n int) {
			c.samples[n].Facts.Cards[0].Utilization = nil
			c.samples[n].Facts.Cards[1].Utilization = ptr(60.0)
		}, false},
	}
}

// TestOneLookThatIsNotRestIsEnough spoils one look of many and checks that there
// is no wish; and that it is a gap, and no ground against an act, exactly where
// the look shows no work.
func TestOneLookThatIsNotRestIsEnough(t *testing.T) {
	tried := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		world := newCalm(t)
		c := rapid.SampledFrom(spoilings()).Draw(t, "how")
		n := world.inWindow(t)
		if v := world.decide(t); v.Goal != fleet.Stop || v.Ground == nil || v.Ground.EndedAt.After(base.Add(-world.policy.For)) {
			t.Fatalf("nothing is wrong, and yet %+v", v)
		}
		at := world.samples[n].SeenAt
		if c.name == "a look that is good for no time" && at.Equal(base) {
			return // and now is that time
		}
		tried[c.name]++
		c.spoil(world, n)
		if v := world.decide(t); v.Goal != fleet.Keep || v.Gap != c.gap {
			t.Fatalf("%s at %s, and yet %s, gap %v: %s", c.name, at, v.Goal, v.Gap, v.Reason.Code)
		}
	})
	if len(tried) != len(spoilings()) {
		t.Fatalf("not every way was tried: %v", tried)
	}
}

// next gives the look by the same source that came after one, or before it, or
// -1.
func (c *calm) next(n int, later bool) int {
	best := -1
	for m, e := range c.samples {
		closer := best < 0 || e.SeenAt.Before(c.samples[best].SeenAt) == later
		if e.Source == c.samples[n].Source && e.SeenAt.After(c.samples[n].SeenAt) == later && m != n && closer {
			best = m
		}
	}
	return best
}

// cut gives looks by one source another boot, from the named one back, until what
// is left has a hole.
func (c *calm) cut(n int, boot fleet.Boot) {
	newer := base
	if m := c.next(n, true); m >= 0 {
		newer = c.samples[m].SeenAt
	}
	for ; n >= 0 && newer.Sub(c.samples[n].SeenAt) <= c.samples[n].FreshFor; n = c.next(n, false) {
		c.samples[n].Boot = boot
	}
}

// TestOneMissedLookIsNoGap: a look is good until some time after the next is due.
func TestOneMissedLookIsNoGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalm(t)
		n := c.inWindow(t)
		if c.next(n, true) < 0 {
			return // how old the newest may be is another matter
		}
		c.samples[n].Boot = ""
		if v := c.decide(t); v.Goal != fleet.Stop {
			t.Fatalf("%+v", v)
		}
	})
}

// TestIdleWishesOnlyOnWhatWasKnownAllTheTime draws looks in a mess, and checks
// every wish moment by moment: at each of the time the newest look by each
// required source must have been fresh, and have shown rest.
func TestIdleWishesOnlyOnWhatWasKnownAllTheTime(t *testing.T) {
	wishes := 0
	rapid.Check(t, func(t *rapid.T) {
		c := newCalm(t)
		for range rapid.IntRange(0, 3).Draw(t, "odd looks") {
			e := &c.samples[rapid.IntRange(0, len(c.samples)-1).Draw(t, "which")]
			switch rapid.IntRange(0, 6).Draw(t, "how") {
			case 0:
				e.Activity = fleet.Unknown
			case 1:
				e.Activity = fleet.Busy
			case 2:
				e.Boot = "b0"
			case 3:
				e.SeenAt = e.SeenAt.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "shift")) * time.Second)
			case 4:
				e.Facts.Cards[0].MemoryMB = ptr(8000.0)
			case 5:
				e.FreshFor = time.Duration(rapid.IntRange(0, 70).Draw(t, "fresh")) * time.Second
			case 6:
				e.Facts.Cards[1].Utilization = nil
			}
		}
		if mostly(t, "run", false, true) {
			c.runs = []fleet.Run{drawRun(t, 0, c.instance.Ref)}
		}
		c.samples = shuffled(t, c.samples)
		v := c.decide(t)
		if v.Goal == fleet.Keep {
			return
		}
		wishes++
		if why := c.objection(); why != "" {
			t.Fatalf("%s: %+v", why, v)
		}
	})
	t.Logf("%d wishes", wishes)
	if wishes < 300 {
		t.Fatal("too few wishes to prove anything")
	}
}

func (c *calm) objection() string {
	for _, r := range c.runs {
		if r.Boot == "b1" && (r.Open() || r.EndedAt.After(base.Add(-c.policy.For))) {
			return "a run went on"
		}
	}
	for ago := time.Duration(0); ago <= c.policy.For; ago += 3 * time.Second {
		at := base.Add(-ago)
		for _, source := range c.required {
			var newest *fleet.Evidence
			for n := range c.samples {
				e := &c.samples[n]
				if e.Source == source && e.Boot == "b1" && !e.SeenAt.After(at) && (newest == nil || e.SeenAt.After(newest.SeenAt)) {
					newest = e
				}
			}
			switch {
			case newest == nil:
				return fmt.Sprintf("%s ago %s had not looked", ago, source)
			case !newest.Fresh(at):
				return fmt.Sprintf("%s ago the look by %s was stale", ago, source)
			case newest.Activity != fleet.Idle || newest.Facts.Cards[1].Utilization == nil:
				return fmt.Sprintf("%s ago %s did not say idle", ago, source)
			case *newest.Facts.Cards[0].MemoryMB > 1024 && c.policy.For < c.policy.MemoryIdleMax && !c.restedFor(c.policy.MemoryIdleMax):
				return fmt.Sprintf("%s ago a card held memory", ago)
			}
		}
	}
	return ""
}

// restedFor reports whether no look within a time showed work.
func (c *calm) restedFor(d time.Duration) bool {
	return !slices.ContainsFunc(c.samples, func(e fleet.Evidence) bool {
		return e.Boot == "b1" && e.SeenAt.After(base.Add(-d)) && e.Activity != fleet.Idle
	})
}

func TestIdleKeepsWhatItCannotKnow(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*calm)
		why    fleet.Code
	}{
		{"without a required source nothing is idle", func(c *calm) { c.required = nil }, policies.ReasonIdleFewLooks},
		{"a required source that never looked", func(c *calm) { c.required = append(c.required, "zero") }, policies.ReasonIdleSince},
		{"the start was a moment ago", func(c *calm) { c.instance.StartedAt = base.Add(-time.Minute) }, policies.ReasonIdleSetUp},
		{"a start in the future", func(c *calm) { c.instance.StartedAt = base.Add(time.Hour) }, policies.ReasonIdleSetUp},
		{"the boot is not known", func(c *calm) { c.instance.Boot = "" }, policies.ReasonBootUnknown},
		{"all looks are of another boot", func(c *calm) { c.instance.Boot = "b2" }, policies.ReasonIdleSince},
		{"held memory that never stops counting", func(c *calm) {
			c.policy.MemoryIdleMax = 0
			for n := range c.samples {
				c.samples[n].Facts.Cards[0].MemoryMB = ptr(9000.0)
			}
		}, policies.ReasonLookMemory},
		{"a look from the future", func(c *calm) {
			e := restful(c.required[0], base.Add(time.Minute))
			c.samples = append(c.samples, e)
		}, policies.ReasonIdleUnwatched},
		{"few looks, each good for long", func(c *calm) {
			c.samples = nil
			for _, source := range c.required {
				for n := range 3 {
					e := restful(source, base.Add(-time.Duration(n)*c.policy.For*9/10))
					e.FreshFor = 2 * c.policy.For
					c.samples = append(c.samples, e)
				}
			}
		}, policies.ReasonIdleFewLooks},
		{"one look twice is one look", func(c *calm) {
			c.samples = nil
			for _, source := range c.required {
				e := restful(source, base.Add(-c.policy.For))
				e.FreshFor = 2 * c.policy.For
				again := restful(source, base.Add(-time.Minute))
				c.samples = append(c.samples, e, again, again, again, again, again)
			}
		}, policies.ReasonIdleFewLooks},
		{"a source that is not required saw work", func(c *calm) {
			e := restful("zero", base.Add(-time.Minute))
			e.Activity, e.Facts = fleet.Busy, fleet.Facts{}
			c.samples = append(c.samples, e)
		}, policies.ReasonIdleWorked},
		{"a source that is not required got in and could not tell", func(c *calm) {
			e := restful("zero", base.Add(-time.Minute))
			e.Activity = fleet.Unknown
			c.samples = append(c.samples, e)
		}, policies.ReasonIdleUnclear},
		{"a policy that is to do nothing", func(c *calm) { c.policy.Then = fleet.Keep }, policies.ReasonIdle},
		{"a policy without limits", func(c *calm) { c.policy.GPUBelow = 0 }, policies.ReasonIdleWorked},
		{"a policy without a length of time", func(c *calm) { c.policy.For = 0 }, policies.ReasonIdleFewLooks},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range 20 {
				world := rapid.Custom(newCalm).Example(seed)
				c.change(world)
				if v := world.decide(t); v.Goal != fleet.Keep || v.Reason.Code != c.why {
					t.Fatalf("seed %d: %s: %s, want keep: %s", seed, v.Goal, v.Reason.Code, c.why)
				}
			}
		})
	}
	t.Run("a source that is not required and never got in holds nothing back", func(t *testing.T) {
		world := rapid.Custom(newCalm).Example(1)
		e := restful("zero", base.Add(-time.Minute))
		e.Activity, e.Facts = fleet.Unknown, fleet.Facts{}
		world.samples = append(world.samples, e)
		if v := world.decide(t); v.Goal != fleet.Stop {
			t.Fatalf("%+v", v)
		}
	})
}

func TestASampleKeepsWhatPoliciesRead(t *testing.T) {
	e := restful("ssh", base)
	e.Facts.Processes = []fleet.Process{{PID: 1}}
	e.Facts.Files = map[string]fleet.FileFact{"/root/log": {Tail: strings.Repeat("x", 4096)}}
	e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r"}}
	s := policies.Sample(e)
	if s.Facts.Files != nil || s.Facts.Processes != nil || s.Facts.BoxRuns != nil {
		t.Errorf("what nobody reads is kept: %+v", s.Facts)
	}
	if want := restful("ssh", base); !reflect.DeepEqual(s.Facts.Cards, want.Facts.Cards) || !s.Facts.Reached || !s.Facts.ProcessesRead ||
		len(s.Facts.Sessions) != 1 || s.SeenAt != base || s.Activity != fleet.Idle || s.Boot != "b1" || s.FreshFor != want.FreshFor {
		t.Errorf("what is read is lost: %+v", s)
	}
}
