package app

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/providers/sim"
)

func TestARunEndsAndTheInstanceIsStoppedAndReleased(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.run(26 * time.Minute)
		if n := l.effects("stop", "a"); n != 1 {
			t.Fatalf("after 26 minutes %d stops took effect, want 1\n%s", n, l.out)
		}
		for _, e := range l.cloud.Effects() {
			if e.Op == "stop" && e.At.Sub(began) < 25*time.Minute {
				t.Errorf("stopped after %s: before run, grace and warning were over", e.At.Sub(began))
			}
		}
		if n := l.effects("release", "a"); n != 0 {
			t.Fatalf("released before its own warning was over")
		}
		l.run(40 * time.Minute)
		l.wantOutcomes("a stop done", "a release done")
		if got := l.cloud.State("a"); got != fleet.StateReleased {
			t.Errorf("the cloud shows %s", got)
		}
		l.stop()
		for _, want := range []string{"exp-a", "#1", "#2", "CNY"} {
			if !strings.Contains(l.out.String(), want) {
				t.Errorf("the notices do not say %q:\n%s", want, l.out)
			}
		}
	})
}

func TestAFailedRunIsOnlyStopped(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 1))
		l.restart()
		l.run(3 * time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestWhatStillCostsAfterAStopIsSaid(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		s := trained("a", 4*time.Minute, 0)
		s.StillCosts = fleet.CNY(350_000)
		l.cloud.MustAdd(s)
		l.restart()
		l.run(time.Hour)
		l.wantOutcomes("a stop done-still-billing")
		l.wantTold("it still costs 0.35 CNY per hour", 1)
	})
}

func TestAnInstanceThatCannotBeReachedIsKeptAndReportedOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		s := trained("a", 4*time.Minute, 0)
		s.Box.Dark = []sim.Stretch{{}}
		l.cloud.MustAdd(s)
		l.restart()
		l.run(5 * time.Hour)
		l.wantOutcomes()
		l.wantTold("nothing was seen inside", 1)
	})
}

func TestAnInstanceThatGoesDarkAfterTheAnnouncementIsNotStopped(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		s := trained("a", 4*time.Minute, 0)
		s.Box.Dark = []sim.Stretch{{From: 15 * time.Minute, To: 2 * time.Hour}}
		l.cloud.MustAdd(s)
		l.restart()
		l.run(110 * time.Minute)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("it was stopped while nobody could tell what it does")
		}
		l.wantTold("Waiting to stop exp-a", 1)
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestWorkThatBeginsAgainCallsTheStopOff(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		s := trained("a", 4*time.Minute, 0)
		s.Box.Processes = append(s.Box.Processes, sim.Process{Command: "python eval.py", From: 12 * time.Minute, To: 40 * time.Minute, Load: 80})
		l.cloud.MustAdd(s)
		l.restart()
		l.run(35 * time.Minute)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("it was stopped at work")
		}
		l.run(40 * time.Minute)
		l.wantOutcomes("a stop abandoned", "a stop done")
		l.wantTold("Will stop exp-a", 2)
	})
}

func TestAHoldAfterTheStopKeepsTheInstance(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.untilStopped("a")
		answer, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "exp-a", Until: time.Now().Add(5 * time.Hour), By: "wang", Why: "copying"})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Abandoned == nil || answer.TooLate != nil {
			t.Errorf("the answer does not say that the release was called off: %+v", answer)
		}
		l.run(4 * time.Hour)
		if n := l.effects("release", "a"); n != 0 {
			t.Fatal("it was released under a hold")
		}
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop done", "a release abandoned", "a release done")
	})
}

func TestAProtectionLabelAfterTheStopKeepsTheInstance(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release", "protect:\n  labels: {curfew: keep}\n")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.untilStopped("a")
		if err := l.cloud.SetLabel("a", "curfew", "keep"); err != nil {
			t.Fatal(err)
		}
		l.run(6 * time.Hour)
		l.wantOutcomes("a stop done", "a release abandoned")
	})
}

func TestLabelsThatCannotBeReadProtect(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", "protect:\n  labels: {curfew: keep}\n")
		s := trained("a", 4*time.Minute, 0)
		s.Unread = []string{"labels"}
		l.cloud.MustAdd(s)
		l.restart()
		l.run(3 * time.Hour)
		l.wantOutcomes()
	})
}

func TestAUserWhoStartsItAgainBeforeTheReleaseKeepsIt(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.untilStopped("a")
		if err := l.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		l.run(6 * time.Hour)
		l.wantOutcomes("a stop done", "a release abandoned")
		if got := l.cloud.State("a"); got != fleet.StateRunning {
			t.Errorf("the instance is %s", got)
		}
	})
}

func TestASecondBootCanBeStoppedAgain(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		s := trained("a", 4*time.Minute, 0)
		s.Box.EachBoot = true
		s.Box.Processes[0].From = 0
		l.cloud.MustAdd(s)
		l.restart()
		l.untilStopped("a")
		l.run(time.Hour)
		if err := l.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		l.run(time.Hour)
		l.wantOutcomes("a stop done", "a stop done")
	})
}

func TestListsThatFailOrComeBackEmptyDestroyNothing(t *testing.T) {
	long(t)
	for _, kind := range []sim.FaultKind{sim.EmptyList, sim.ShortList, sim.HTML, sim.Truncated, sim.ServerError, sim.RateLimit, sim.LostRights, sim.Banned} {
		t.Run(string(kind), func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := newLab(t, "release")
				l.cloud.MustAdd(trained("a", 8*time.Hour, 0))
				l.cloud.MustAdd(trained("b", 8*time.Hour, 0))
				l.restart()
				l.run(10 * time.Minute)
				l.cloud.Break(sim.Fault{Kind: kind, Op: "instances", Times: 8})
				l.run(4 * time.Hour)
				l.wantOutcomes()
				listing, err := l.app.List(t.Context())
				if err != nil || len(listing.Items) != 2 {
					t.Errorf("after the fault %d instances are known, want 2 (%v)", len(listing.Items), err)
				}
				if kind == sim.LostRights {
					l.wantTold("cannot be read", 3) // with reminders a quarter of an hour and an hour later
					l.wantTold("can be read again", 1)
				}
			})
		})
	}
}

func TestAnInstanceThatIsGoneIsForgottenOnlyAfterTheSecondNotFound(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 8*time.Hour, 0))
		l.restart()
		l.run(10 * time.Minute)
		if err := l.cloud.UserReleases("a"); err == nil {
			t.Fatal("a running instance should not be released by this platform")
		}
		if err := l.cloud.Remove("a"); err != nil {
			t.Fatal(err)
		}
		l.run(30 * time.Second)
		if listing, _ := l.app.List(t.Context()); len(listing.Items) != 1 {
			t.Error("one list without it made it gone")
		}
		l.run(10 * time.Minute)
		if listing, _ := l.app.List(t.Context()); len(listing.Items) != 0 {
			t.Error("it is still listed though the platform does not find it any more")
		}
	})
}

func TestAWriteWhoseAnswerIsLostIsSettledByReading(t *testing.T) {
	for _, kind := range []sim.FaultKind{sim.TimeoutAfter, sim.TimeoutBefore, sim.ServerError, sim.RateLimit, sim.Ignored, sim.HTML, sim.Hang} {
		t.Run(string(kind), func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := newLab(t, "release")
				l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
				l.cloud.Break(sim.Fault{Kind: kind, Op: "stop", Times: 1})
				l.cloud.Break(sim.Fault{Kind: kind, Op: "release", Times: 1})
				l.restart()
				l.run(2 * time.Hour)
				l.wantOnce("a")
			})
		})
	}
}

func TestAWriteThatIsRefusedIsToldAndTriedAgainLater(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.cloud.Break(sim.Fault{Kind: sim.LostRights, Op: "stop", Times: 1})
		l.restart()
		l.run(time.Hour)
		l.wantOutcomes("a stop failed", "a stop done")
		l.wantTold("refused", 1)
	})
}

func TestAReloadInMidActAbandonsWhatNoPolicyAsksForAnyMore(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(12 * time.Minute)
		l.yaml = strings.Replace(l.yaml, `"exp-*"`, `"other-*"`, 1)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop abandoned")
		l.wantTold("Will stop exp-a", 1)
	})
}

func TestAModeLoweredInMidActAbandons(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(12 * time.Minute)
		l.yaml = strings.Replace(l.yaml, "mode: enforce", "mode: dry-run", 1)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop abandoned")
	})
}

func TestABadReloadKeepsTheOldConfigurationAndIsTold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(12 * time.Minute)
		good := l.yaml
		l.yaml = strings.Replace(l.yaml, "grace: 5m", "grice: 5m", 1)
		if err := l.app.Reload(t.Context()); err == nil {
			t.Fatal("a bad configuration was taken")
		}
		l.yaml = good
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
		l.wantTold("Configuration:", 1)
	})
}

func TestDryRunTellsWhatItWouldDoAndDoesNothing(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.yaml = strings.Replace(l.yaml, "mode: enforce", "mode: dry-run", 1)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(3 * time.Hour)
		l.wantOutcomes()
		l.wantTold("would stop exp-a", 1)
		for _, c := range l.cloud.Calls() {
			if c.Op == "stop" || c.Op == "release" {
				t.Errorf("a dry run called %s", c.Op)
			}
		}
	})
}

func TestAWarningNobodyAcceptsHoldsBackAReleaseButNotAStopThatKeepsAllData(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.out.fail(true)
		l.restart()
		l.run(28 * time.Minute)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("stopped before warning time and 10 minutes were over")
		}
		l.run(3 * time.Hour)
		if n := l.effects("stop", "a"); n != 1 {
			t.Fatal("a stop that keeps all data should go on")
		}
		if n := l.effects("release", "a"); n != 0 {
			t.Fatal("released though nobody could hear of it")
		}
		l.out.fail(false)
		l.run(90 * time.Minute)
		l.wantOutcomes("a stop done", "a release done")
	})
}

func TestAStateThatCannotBeWrittenStopsActing(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(12 * time.Minute)
		l.full(true)
		l.run(time.Hour)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("it acted without being able to journal")
		}
		l.full(false)
		l.run(45 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestADeadlineThatPassedWhileNobodyCouldSayWaitIsAnnouncedAnew(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(12 * time.Minute)
		l.wantTold("Will stop exp-a", 1)
		l.stop()
		time.Sleep(3 * time.Hour)
		l.restart()
		l.run(8 * time.Minute)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("stopped at once after three hours in which nobody could say wait")
		}
		l.run(20 * time.Minute)
		l.wantTold("Will stop exp-a", 2)
		l.wantOutcomes("a stop done")
	})
}

func TestAClockThatJumpsDestroysNothing(t *testing.T) {
	for _, jump := range []time.Duration{5 * time.Hour, -5 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := newLab(t, "stop")
				l.clock = &jumping{}
				l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
				l.cloud.MustAdd(trained("b", 48*time.Hour, 0))
				l.restart()
				l.run(12 * time.Minute)
				l.clock.jump(jump)
				l.run(5 * time.Minute)
				if n := l.effects("stop", "a"); n != 0 {
					t.Fatal("a clock that jumped stopped an instance before its time")
				}
				l.run(7 * time.Hour)
				l.wantOutcomes("a stop done")
			})
		})
	}
}

func TestARenamedAccountLosesNothing(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.yaml = strings.Replace(l.yaml, "  - {name: lab, provider: sim, world: world.yaml, poll: 1m}",
			"  - {name: lab, provider: tokened, token: {file: token}, poll: 1m}\n  - {name: other, provider: sim, world: world.yaml}", 1)
		if err := l.cloud.AddAccount(sim.Account{Name: "other"}); err != nil {
			t.Fatal(err)
		}
		l.restart()
		l.untilStopped("a")
		l.yaml = strings.Replace(l.yaml, "{name: lab,", "{name: renamed,", 1)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(time.Hour)
		l.wantOutcomes("a stop done", "a release done")
		refs := map[fleet.Ref]bool{}
		for _, i := range l.journal() {
			refs[i.Ref] = true
		}
		if len(refs) != 1 {
			t.Errorf("the renamed account made new things of old ones: %v", refs)
		}
	})
}

func TestAnAccountWithAnOpenActIsNotDroppedByAReload(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		if err := l.cloud.AddAccount(sim.Account{Name: "other"}); err != nil {
			t.Fatal(err)
		}
		l.restart()
		l.run(12 * time.Minute)
		l.yaml = strings.Replace(l.yaml, "{name: lab,", "{name: other,", 1)
		if err := l.app.Reload(t.Context()); err == nil {
			t.Fatal("an account with an announced act was dropped")
		}
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestByHand(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", "protect:\n  names: [\"prod-*\"]\n")
		l.cloud.MustAdd(trained("a", 8*time.Hour, 0))
		p := trained("b", 8*time.Hour, 0)
		p.Name = "prod-b"
		l.cloud.MustAdd(p)
		l.restart()
		l.run(2 * time.Minute)
		if _, err := l.app.Act(t.Context(), ctl.ActRequest{Name: "prod-b", Action: fleet.Stop, By: "wang"}); err == nil {
			t.Error("a protected instance was stopped by hand")
		}
		if _, err := l.app.Act(t.Context(), ctl.ActRequest{Name: "exp-a", Action: fleet.Stop, By: "wang"}); err != nil {
			t.Errorf("stop by hand: %v", err)
		}
		l.run(2 * time.Minute)
		l.wantOutcomes("a stop done")
		if _, err := l.app.Act(t.Context(), ctl.ActRequest{Name: "exp-a", Action: fleet.Start, By: "wang"}); err != nil {
			t.Errorf("start by hand: %v", err)
		}
		l.run(2 * time.Minute)
		l.wantOutcomes("a stop done", "a start done")
	})
}

func TestCapsHoldBackWhatIsTooMuchAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", "caps:\n  stop: {per_hour: 2}\n")
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			l.cloud.MustAdd(trained(id, 4*time.Minute, 0))
		}
		l.restart()
		l.run(40 * time.Minute)
		stopped := len(l.cloud.Effects())
		if stopped != 2 {
			t.Errorf("%d were stopped in the first hour, want 2", stopped)
		}
		l.run(3 * time.Hour)
		if n := len(l.cloud.Effects()); n != 5 {
			t.Errorf("%d were stopped in the end, want 5", n)
		}
	})
}

func TestAnActThatNeedsApprovalWaitsForIt(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml = strings.Replace(l.yaml, "    data: discard\n", "    data: discard\n    approval: true\n", 1)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(2 * time.Hour)
		if n := l.effects("stop", "a"); n != 0 {
			t.Fatal("stopped without the approval it needs")
		}
		if _, err := l.app.Approve(t.Context(), 1, "wang"); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestAWindowThatOpensLetsAPolicyAskAndAMissedOneIsTold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		// The bubble's clock begins at 08:00 in Shanghai.
		l.yaml = strings.Replace(l.yaml, "    grace: 5m\n", "    grace: 5m\n    schedule: \"0 9 * * *\"\n    window: 1h\n", 1)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(59 * time.Minute)
		l.wantOutcomes()
		l.run(15 * time.Minute)
		l.wantOutcomes("a stop done")
		l.stop()
		time.Sleep(26 * time.Hour)
		l.restart()
		l.run(10 * time.Minute)
		l.wantTold("it is not made up for", 1)
	})
}

func TestAnActAnnouncedInAWindowIsCarriedOutAfterItClosed(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml = strings.Replace(l.yaml, "    grace: 5m\n", "    grace: 5m\n    schedule: \"0 9 * * *\"\n    window: 5m\n", 1)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(80 * time.Minute)
		l.wantOutcomes("a stop done")
		for _, e := range l.cloud.Effects() {
			if at := e.At.UTC().Format("15:04"); at != "01:10" {
				t.Errorf("stopped at %s UTC, want 01:10: ten minutes after the announcement", at)
			}
		}
	})
}

func TestAnIdleInstanceIsStoppedAndOneWithASampleMissingIsNot(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml += `  - name: unused
    type: idle
    match: {name: "box-*"}
    for: 30m
    boot_grace: 15m
    then: stop
    warn: 10m
`
		quiet := func(id string) sim.Spec {
			s := trained(id, 0, 0)
			s.Name, s.Box = "box-"+id, sim.Box{}
			return s
		}
		l.cloud.MustAdd(quiet("a"))
		dark := quiet("b")
		for from := 20 * time.Minute; from < 5*time.Hour; from += 20 * time.Minute {
			dark.Box.Dark = append(dark.Box.Dark, sim.Stretch{From: from, To: from + 2*time.Minute})
		}
		l.cloud.MustAdd(dark)
		l.restart()
		l.run(25 * time.Minute)
		l.wantOutcomes()
		l.run(3 * time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestAtNightEverybodyGoesHomeButWhoWorks(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		// The bubble's clock begins at 08:00 in Shanghai.
		l.yaml += `  - name: night
    type: offhours
    match: {name: "box-*"}
    schedule: "0 9 * * *"
    window: 3h
    if_busy: wait
    then: stop
    warn: 10m
`
		idle := trained("a", 0, 0)
		idle.Name, idle.Box = "box-a", sim.Box{}
		busy := trained("b", 150*time.Minute, 0)
		busy.Name = "box-b"
		late := trained("c", 9*time.Hour, 0)
		late.Name = "box-c"
		l.cloud.MustAdd(idle)
		l.cloud.MustAdd(busy)
		l.cloud.MustAdd(late)
		l.restart()
		l.run(59 * time.Minute)
		l.wantOutcomes()
		l.run(13 * time.Minute)
		l.wantOutcomes("a stop done")
		l.run(4 * time.Hour)
		l.wantOutcomes("a stop done", "b stop done")
	})
}

func TestALifetimeEndsEvenWhatWorks(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml += `  - name: limit
    type: lifetime
    match: {name: "exp-*"}
    max: 3h
    then: stop
    warn: 10m
`
		l.cloud.MustAdd(trained("a", 9*time.Hour, 0)) // up since an hour
		l.restart()
		l.run(119 * time.Minute)
		l.wantOutcomes()
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestAnAccountThatThePlatformCallsByAnotherIDIsLeftAlone(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(3 * time.Minute)
		l.stop()
		// Somebody else's account under the old name: what it does not know of ours
		// is not gone.
		l.user = "somebody-else"
		l.restart()
		l.run(3 * time.Hour)
		l.wantOutcomes()
		listing, err := l.app.List(t.Context())
		if err != nil || len(listing.Items) != 1 {
			t.Errorf("%d instances are known, want 1 (%v)", len(listing.Items), err)
		}
	})
}

func TestAfterAReloadAnActByHandIsCarriedOutAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 8*time.Hour, 0))
		l.restart()
		l.run(2 * time.Minute)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.app.Act(t.Context(), ctl.ActRequest{Name: "exp-a", Action: fleet.Stop, By: "wang"}); err != nil {
			t.Errorf("stop by hand right after a reload: %v", err)
		}
		l.run(2 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestAHoldFileThatCannotBeReadHoldsEvenALifetime(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml += `  - name: limit
    type: lifetime
    match: {name: "exp-*"}
    max: 2h
    then: stop
    warn: 10m
`
		s := trained("a", 9*time.Hour, 0) // up since an hour
		s.Box.Unreadable = []sim.Unreadable{{Reading: "hold", Why: "2 hours", To: 3 * time.Hour}}
		l.cloud.MustAdd(s)
		l.restart()
		l.run(3*time.Hour - time.Minute)
		l.wantOutcomes()
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}
