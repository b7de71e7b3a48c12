package app

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/providers/sim"
)

func TestAHoldInTheBoxOutlivesTheLookThatSawIt(t *testing.T) {
	long(t)
	const limit = `
  - {name: limit, type: lifetime, match: {name: ["dark"]}, max: 2h, then: stop}
`
	t.Run("when the instance goes dark", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l := newLab(t, "stop", limit)
			s := working("dark")
			s.Box.Holds = []sim.Hold{{At: 10 * time.Minute, Until: 8 * time.Hour}}
			s.Box.Dark = []sim.Stretch{{From: 20 * time.Minute}}
			l.cloud.MustAdd(s)
			l.restart()
			l.run(3 * time.Hour)
			if got := l.cloud.State("dark"); got != fleet.StateRunning {
				t.Errorf("it is %s, and somebody said hold\n%s", got, l.out)
			}
		})
	})
	t.Run("when the daemon is started anew while it is dark", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l := newLab(t, "stop", limit)
			s := working("dark")
			s.Box.Holds = []sim.Hold{{At: 10 * time.Minute, Until: 8 * time.Hour}}
			s.Box.Dark = []sim.Stretch{{From: 20 * time.Minute}}
			l.cloud.MustAdd(s)
			l.restart()
			l.run(30 * time.Minute)
			l.stop()
			l.restart()
			l.run(3 * time.Hour)
			if got := l.cloud.State("dark"); got != fleet.StateRunning {
				t.Errorf("it is %s, and somebody said hold\n%s", got, l.out)
			}
		})
	})
	t.Run("when its user shuts it down and the daemon is started anew", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l := newLab(t, "release")
			s := trained("a", 4*time.Minute, 0)
			s.Box.Holds = []sim.Hold{{At: 12 * time.Minute, Until: 8 * time.Hour}}
			l.cloud.MustAdd(s)
			l.restart()
			l.run(14 * time.Minute)
			if err := l.cloud.UserStops("a"); err != nil {
				t.Fatal(err)
			}
			l.run(3 * time.Minute)
			l.stop()
			l.restart()
			l.run(3 * time.Hour)
			if got := l.cloud.State("a"); got != fleet.StateStopped {
				t.Errorf("it is %s, and somebody said hold\n%s", got, l.out)
			}
		})
	})
}

func TestOrdersFromAllSidesAtOnceTakeEffectOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", `
  - {name: limit, type: lifetime, match: {name: ["busy-*"]}, max: 2h, then: stop, warn: 1m}
caps: {stop: {per_hour: off, percent: off}}
`)
		const n = 6
		for k := range n {
			l.cloud.MustAdd(working(fmt.Sprintf("busy-%d", k)))
		}
		l.restart()
		l.run(61*time.Minute - 3*time.Second)
		ctx := t.Context()
		var all sync.WaitGroup
		r := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			name := fmt.Sprintf("busy-%d", r.IntN(n))
			what, after := r.IntN(10), time.Duration(r.IntN(20_000))*time.Millisecond
			all.Go(func() {
				time.Sleep(after)
				switch what {
				case 0, 1, 2, 3:
					_, _ = l.app.Act(ctx, ctl.ActRequest{Name: name, Action: fleet.Stop, By: "me"})
				case 4:
					_ = l.app.Reload(ctx)
				case 5:
					_, _ = l.app.Plan(ctx)
					_, _ = l.app.Explain(ctx, name)
					_, _ = l.app.List(ctx)
				case 6:
					if name == "busy-0" {
						_, _ = l.app.Hold(ctx, ctl.HoldRequest{Name: name, Until: time.Now().Add(time.Minute), By: "me"})
					}
				case 7:
					if open, err := l.app.store.OpenIntents(ctx); err == nil && len(open) > 0 {
						_, _ = l.app.Approve(ctx, open[0].ID, "me")
					}
				case 8:
					_, _ = l.app.Pass(ctx)
				case 9:
					_, _ = l.app.Status(ctx)
					_, _ = l.app.Journal(ctx, ctl.JournalQuery{})
				}
			})
		}
		all.Wait()
		l.run(10 * time.Minute)
		for k := range n {
			id := fmt.Sprintf("busy-%d", k)
			if got := l.effects("stop", id); got != 1 {
				t.Errorf("%s was stopped %d times", id, got)
			}
			if got := l.cloud.State(id); got != fleet.StateStopped {
				t.Errorf("%s is %s", id, got)
			}
			calls := 0
			for _, c := range l.cloud.Calls() {
				if c.Op == "stop" && c.ID == id {
					calls++
				}
			}
			if calls != 1 {
				t.Errorf("%s: the platform was asked %d times to stop it", id, calls)
			}
		}
		open, err := l.app.store.OpenIntents(ctx)
		if err != nil || len(open) > 0 {
			t.Errorf("open: %v %v", open, err)
		}
	})
}

// during counts the calls of the cloud's API while time passes, by operation.
func (l *lab) during(d time.Duration) map[string]int {
	l.t.Helper()
	before := len(l.cloud.Calls())
	l.run(d)
	ops := map[string]int{}
	for _, c := range l.cloud.Calls()[before:] {
		ops[c.Op]++
	}
	return ops
}

func TestAListThatComesBackEmptyIsNoReasonToAskAboutEverything(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		const n = 40
		for k := range n {
			l.cloud.MustAdd(trained(fmt.Sprintf("m%d", k), 48*time.Hour, 0))
		}
		l.restart()
		l.run(5 * time.Minute)
		l.cloud.Break(sim.Fault{Kind: sim.EmptyList})
		begin := len(l.cloud.Calls())
		if ops := l.during(10 * time.Minute); ops["instance"] > 10*missingAtOnce {
			t.Errorf("in ten polls %d single reads were sent", ops["instance"])
		}
		asked := map[string]bool{}
		for _, c := range l.cloud.Calls()[begin:] {
			if c.Op == "instance" {
				asked[c.ID] = true
			}
		}
		if len(asked) != n {
			t.Errorf("%d of %d were asked about", len(asked), n)
		}
		if got := len(l.app.inv.Things().Instances); got != n {
			t.Errorf("%d instances are known, want %d", got, n)
		}
	})
}

func TestOneThingThatCannotBeReadDoesNotSlowTheAccountDown(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 48*time.Hour, 0))
		l.cloud.MustAdd(trained("b", 48*time.Hour, 0))
		l.restart()
		l.run(3 * time.Minute)
		l.cloud.Break(sim.Fault{Kind: sim.ShortList})
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "instance"})
		if ops := l.during(30 * time.Minute); ops["instances"] < 29 {
			t.Errorf("the list was read %d times in half an hour", ops["instances"])
		}
		if got := len(l.app.inv.Things().Instances); got != 2 {
			t.Errorf("%d instances are known, want 2", got)
		}
	})
}

func TestAPlatformThatIsDownForAnHourInMidActIsAskedPolitelyAndNothingIsForgotten(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		var sent atomic.Bool
		l.cloud.Break(sim.Fault{Kind: sim.TimeoutAfter, Op: "stop", Reached: func() { sent.Store(true) }})
		for n := 0; !sent.Load(); n++ {
			if l.run(5 * time.Second); n > 500 {
				t.Fatal("the stop was never sent")
			}
		}
		l.cloud.Break(sim.Fault{Kind: sim.ServerError})
		ops := l.during(time.Hour)
		if ops["instances"]+ops["instance"] > 60 {
			t.Errorf("in an hour %d lists and %d single reads were sent to a platform that is down", ops["instances"], ops["instance"])
		}
		l.wantTold("Not confirmed yet", 1)
		l.cloud.Mend()
		l.run(16 * time.Minute)
		l.wantOutcomes("a stop done")
		if n := l.effects("stop", "a"); n != 1 {
			t.Errorf("it was stopped %d times", n)
		}
	})
}

func TestOfTwoWarningsTheLongerIsKept(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", `
  - {name: short, type: lifetime, match: {name: ["busy"]}, max: 2h, then: stop, warn: 1m}
  - {name: long, type: lifetime, match: {name: ["busy"]}, max: 2h, then: stop, warn: 40m}
`)
		l.cloud.MustAdd(working("busy"))
		l.restart()
		l.run(99 * time.Minute)
		if got := l.cloud.State("busy"); got != fleet.StateRunning {
			t.Fatalf("it is %s before the longer warning is over\n%s", got, l.out)
		}
		l.run(5 * time.Minute)
		l.wantOutcomes("busy stop done")
	})
}
