package app

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/providers/sim"
)

// shown gives the acts that the plan shows now.
func (l *lab) shown() []ctl.Shown {
	l.t.Helper()
	plan, err := l.app.Plan(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	var out []ctl.Shown
	for _, i := range slices.Concat(plan.Items, plan.Resources) {
		if i.Pending() {
			out = append(out, i.Shown())
		}
	}
	return out
}

func (l *lab) apply(r ctl.ApplyRequest) ctl.Applied {
	l.t.Helper()
	r.By = "wang"
	a, err := l.app.Apply(l.t.Context(), r)
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l *lab) wantApplied(a ctl.Applied, announced, waits, done, failed, notNow int) {
	l.t.Helper()
	if len(a.Announced) != announced || len(a.Waits) != waits || len(a.Done) != done || len(a.Failed) != failed || len(a.NotNow) != notNow {
		l.t.Errorf("announced %d, waits %d, done %d, failed %d, not now %d; want %d %d %d %d %d\n%s",
			len(a.Announced), len(a.Waits), len(a.Done), len(a.Failed), len(a.NotNow), announced, waits, done, failed, notNow, l.out)
	}
}

// idleLab is a lab whose run has ended and whose stop is announced.
func idleLab(t *testing.T) *lab {
	l := newLab(t, "stop")
	l.cloud.MustAdd(trained("a", -8*time.Minute, 0))
	l.restart()
	l.run(2 * time.Minute)
	l.wantTold("Will stop exp-a", 1)
	return l
}

func TestApplyDoesWhatIsDueAndSaysWhatWaits(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		l.wantApplied(l.apply(ctl.ApplyRequest{}), 0, 1, 0, 0, 0)
		if l.cloud.State("a") != fleet.StateRunning {
			t.Error("it did not wait for the warning")
		}
		l.wantApplied(l.apply(ctl.ApplyRequest{Wait: 20 * time.Minute}), 0, 0, 1, 0, 0)
		l.wantApplied(l.apply(ctl.ApplyRequest{}), 0, 0, 0, 0, 0)
	})
}

func TestWhatIsWantedNowSkipsTheWarningAndTheCooldownAndIsTold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		began := time.Now()
		a := l.apply(ctl.ApplyRequest{Now: l.shown()})
		l.wantApplied(a, 0, 0, 1, 0, 0)
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it took %s", took)
		}
		l.wantTold("Now, without waiting: stop exp-a", 1)
		l.wantTold("Wanted now by wang, who was shown it", 2) // and once with its end
		l.wantOutcomes("a stop done")
	})
}

func TestWhatIsWantedNowPassesEveryOtherCheck(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		shown := l.shown()
		if _, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "a", Until: time.Now().Add(time.Hour), By: "li"}); err != nil {
			t.Fatal(err)
		}
		l.wantApplied(l.apply(ctl.ApplyRequest{Now: shown}), 0, 0, 0, 0, 1)
		l.run(30 * time.Minute)
		if l.cloud.State("a") != fleet.StateRunning {
			t.Error("a hold was skipped")
		}
	})
}

func TestWhatIsNotAsShownAnyMoreIsNotDoneNow(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		shown := l.shown()
		if err := errors.Join(l.cloud.UserStops("a")); err != nil {
			t.Fatal(err)
		}
		l.run(time.Minute)
		if err := l.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Minute)
		a := l.apply(ctl.ApplyRequest{Now: shown})
		l.wantApplied(a, 0, 0, 0, 0, 1)
		if len(a.NotNow) == 1 && a.NotNow[0] != shown[0] {
			t.Errorf("it names %v", a.NotNow[0])
		}
		l.run(30 * time.Minute)
		if l.effects("stop", "a") != 0 {
			t.Error("another power cycle was stopped")
		}
	})
}

func TestApplySaysWhatFailed(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		l.cloud.Break(sim.Fault{Kind: sim.LostRights, Op: "stop"})
		a := l.apply(ctl.ApplyRequest{Now: l.shown()})
		l.wantApplied(a, 0, 0, 0, 1, 0)
	})
}

// A hurry is of the moment: after a time in which nobody could say wait, it is over.
func TestAHurryThatWasCutOffIsOver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "instance"}) // so that it waits
		a := l.apply(ctl.ApplyRequest{Now: l.shown(), Wait: time.Second})
		l.wantApplied(a, 0, 1, 0, 0, 0)
		l.stop()
		l.cloud.Mend()
		time.Sleep(10 * time.Minute)
		l.restart()
		l.run(2 * time.Minute)
		if l.cloud.State("a") != fleet.StateRunning {
			t.Error("it was stopped ten minutes later, without a warning")
		}
		l.run(15 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestApplyEndsWithTheDaemon(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := idleLab(t)
		app, ended := l.app, make(chan error, 1)
		go func() {
			_, err := app.Apply(context.WithoutCancel(t.Context()), ctl.ApplyRequest{Wait: time.Hour})
			ended <- err
		}()
		time.Sleep(time.Second)
		l.cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}
