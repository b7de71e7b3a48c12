package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/notify"
	"curfew/providers/sim"
)

func TestAShareIsOfThoseThatRanHoweverManyAreStoppedAtOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", "caps:\n  stop: {percent: 50%}\n")
		for n := range 6 {
			l.cloud.MustAdd(trained(fmt.Sprintf("a%d", n), 4*time.Minute, 0))
		}
		l.restart()
		l.run(50 * time.Minute)
		if n := len(l.cloud.Effects()); n != 3 {
			t.Errorf("%d of six were stopped in the first hour, want half", n)
		}
		l.run(150 * time.Minute)
		if n := len(l.cloud.Effects()); n != 6 {
			t.Errorf("%d were stopped in the end, want all", n)
		}
	})
}

func TestAWarningNobodyCouldAcceptWhileThereWasNoDaemonIsNotUsedUp(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.out.fail(true)
		l.restart()
		l.run(12 * time.Minute)
		l.stop()
		time.Sleep(3 * time.Hour)
		l.restart()
		l.run(8 * time.Minute)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("stopped at once, though the channel had no more than a few minutes to take the warning")
		}
		l.out.fail(false)
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
		l.wantTold("Will stop exp-a", 1)
	})
}

func TestARefusedReloadSaysWhyInWords(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		if err := l.cloud.AddAccount(sim.Account{Name: "other"}); err != nil {
			t.Fatal(err)
		}
		l.restart()
		l.run(12 * time.Minute)
		l.yaml = strings.Replace(l.yaml, "{name: lab,", "{name: other,", 1)
		err := l.app.Reload(t.Context())
		if err == nil || strings.Contains(err.Error(), "%!") {
			t.Errorf("people are told: %v", err)
		}
	})
}

func TestARegionThatCannotBeListedDoesNotHideTheOthers(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.regions("one", "two")
		l.cloud.MustAdd(in("one", trained("a", 4*time.Minute, 0)))
		l.cloud.MustAdd(in("two", trained("b", 4*time.Minute, 0)))
		calls := 0
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "instances", When: func(string, fleet.Ref) bool {
			calls++
			return calls%2 == 1 // the first of two regions
		}})
		l.restart()
		l.run(50 * time.Minute)
		l.wantOutcomes("b stop done")
		l.wantTold("cannot be read", 1)
	})
}

// regions gives the lab's account regions.
func (l *lab) regions(names ...string) {
	l.t.Helper()
	if err := l.cloud.AddAccount(sim.Account{Name: "wide", Regions: names}); err != nil {
		l.t.Fatal(err)
	}
	l.yaml = strings.Replace(l.yaml, "{name: lab,", "{name: wide, regions: ["+strings.Join(names, ", ")+"],", 1)
}

func in(region string, s sim.Spec) sim.Spec {
	s.Account, s.Region = "wide", region
	return s
}

func TestARegionThatWasTakenOutIsLeftAlone(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.regions("one", "two")
		l.cloud.MustAdd(in("one", trained("a", 30*time.Minute, 0)))
		l.cloud.MustAdd(in("two", trained("b", 30*time.Minute, 0)))
		l.restart()
		l.run(5 * time.Minute)
		l.yaml = strings.Replace(l.yaml, "[one, two]", "[one]", 1)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestAnAnnouncementThatNoChannelTookIsMadeAgain(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(15 * time.Minute)
		l.out.fail(true)
		l.untilStopped("a")
		l.run(time.Minute)
		// The channel is broken for good, as one is whose token was taken away.
		due, err := l.app.store.DueDeliveries(t.Context(), time.Now().Add(time.Hour), 100)
		if err != nil || len(due) == 0 {
			t.Fatalf("%d deliveries wait (%v)", len(due), err)
		}
		for _, d := range due {
			if err := l.app.store.RecordDeliveries(t.Context(), d.Channel, []notify.Outcome{{Delivery: d, Verdict: notify.Verdict{Kind: notify.VerdictPermanent}}}, true, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		l.run(30 * time.Minute)
		l.out.fail(false)
		l.run(3 * time.Hour)
		l.wantOutcomes("a stop done", "a release done")
		l.wantTold("Will release exp-a", 1)
	})
}

func TestAnEndFileSpeaksForItselfWhereTheCardsCannotBeRead(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		s := trained("a", 4*time.Minute, 0)
		s.Box.Processes[0].Command = "sh job.sh" // known by its files alone
		s.Box.Unreadable = []sim.Unreadable{{Reading: "cards", Why: "driver mismatch"}}
		l.cloud.MustAdd(s)
		l.restart()
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestAProtectedNameIsProtectedWhateverIsInIt(t *testing.T) {
	for name, change := range map[string]func(*sim.Spec){
		"a slash":                 func(s *sim.Spec) { s.Name = "prod-team/llama" },
		"a name nobody can read":  func(s *sim.Spec) { s.Name, s.Unread = "", []string{"name"} },
		"nothing out of ordinary": func(s *sim.Spec) { s.Name = "prod-llama" },
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := newLab(t, "stop", "protect:\n  names: [\"prod-*\"]\n")
				l.yaml = strings.Replace(l.yaml, `match: {name: "exp-*"}`, `match: all`, 1)
				s := trained("a", 4*time.Minute, 0)
				change(&s)
				l.cloud.MustAdd(s)
				l.restart()
				l.run(time.Hour)
				l.wantOutcomes()
			})
		})
	}
}

func TestACeilingOnALabelThatCannotBeReadHolds(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		s := trained("a", 4*time.Minute, 0)
		s.Labels = map[string]string{labelAtMost: "stop"}
		l.cloud.MustAdd(s)
		l.restart()
		l.untilStopped("a")
		if err := errors.Join(l.cloud.SetLabel("a", labelAtMost, ""), l.cloud.SetUnread("a", "labels")); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Hour)
		if n := l.effects("release", "a"); n != 0 {
			t.Error("it was released, though its label says at most stop and could not be read")
		}
	})
}

func TestAnAccountIsNotBackBecauseItFailsInAnotherWay(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 8*time.Hour, 0))
		l.restart()
		l.run(3 * time.Minute)
		l.cloud.Break(sim.Fault{Kind: sim.LostRights, Op: "instances", Times: 1})
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "instances", Times: 3})
		l.run(3 * time.Minute)
		l.wantTold("cannot be read", 1)
		l.wantTold("can be read again", 0)
		l.run(time.Hour)
		l.wantTold("can be read again", 1)
	})
}

func TestOneInstanceThatCannotBeJournaledDoesNotHoldUpTheOthers(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		for _, id := range []string{"a", "b"} {
			l.cloud.MustAdd(trained(id, 4*time.Minute, 0))
		}
		l.restart()
		l.run(2 * time.Minute)
		all, err := l.app.think(t.Context(), l.app.runtime(), everything)
		decisions := all.decisions
		if err != nil || len(decisions) != 2 {
			t.Fatalf("%d decisions (%v)", len(decisions), err)
		}
		for n := range decisions {
			decisions[n].step.Action, decisions[n].rulings = fleet.Stop, []guard.Ruling{{Answer: guard.Wait}}
			decisions[n].step.Verdicts = []fleet.Verdict{{Policy: "done", Goal: fleet.Stop, Reason: fleet.Because("a.b", nil)}}
		}
		// A value that cannot be written down.
		decisions[0].step.Verdicts[0].Reason.Values = fleet.Values{"why": fleet.Value{}}
		if err := l.app.reconcile(t.Context(), l.app.runtime(), all); err == nil {
			t.Error("no error is told")
		}
		if is := l.journal(); len(is) != 1 || is[0].Ref.ID != "b" {
			t.Errorf("journaled: %+v", is)
		}
	})
}
