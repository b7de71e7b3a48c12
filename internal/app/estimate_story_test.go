package app

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/estimate"
	"curfew/providers/sim"
)

// atWork is an instance on which somebody works for days.
func atWork(price int64) sim.Spec {
	s := trained("a", 100*time.Hour, 0)
	s.Price, s.GPU.Count = fleet.CNY(price), 2
	return s
}

// keep keeps an estimate of so many hours on exp-a.
func (l *lab) keep(hours int64) ctl.EstimateAnswer {
	l.t.Helper()
	margin, err := estimate.ParsePercent("20%")
	if err != nil {
		l.t.Fatal(err)
	}
	a, err := l.app.Estimate(l.t.Context(), ctl.EstimateRequest{
		Name: "exp-a", By: "wang", Job: estimate.Job{Hours: estimate.Whole(hours)}, Margin: margin,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l *lab) estimates() []ctl.EstimateSoFar {
	l.t.Helper()
	e, err := l.app.Explain(l.t.Context(), "exp-a")
	if err != nil {
		l.t.Fatal(err)
	}
	return e.Estimates
}

// It is told once when it costs more than the estimate with its margin, over a
// restart too, and the estimate ends with the instance: that is kept.
func TestWhatCostsMoreThanItsEstimateIsToldOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(atWork(2_000_000))
		l.restart()
		l.run(2 * time.Minute)
		a := l.keep(2)
		if a.Estimate.Total != fleet.CNY(4_000_000) || a.Estimate.Limit != fleet.CNY(4_800_000) || a.Before != nil {
			t.Fatalf("kept %+v", a)
		}
		const over = "more than the 4.80 CNY that it comes to with 20% on top (4.00 CNY for 2 h); its time is over"
		l.run(2*time.Hour + 23*time.Minute)
		l.wantTold(over, 0)
		l.run(4 * time.Minute)
		l.wantTold(over, 1)
		l.wantTold("it has cost 4.8", 1)
		l.stop()
		l.restart()
		l.run(30 * time.Minute)
		l.wantTold(over, 1)
		if s := l.estimates(); len(s) != 1 || !s[0].Over || !s[0].Open() || s[0].Left != 0 {
			t.Errorf("meanwhile it is shown as %+v", s)
		}
		if err := l.cloud.UserStops("a"); err != nil {
			t.Fatal(err)
		}
		l.run(5 * time.Minute)
		s := l.estimates()
		if len(s) != 1 || s[0].Closed != fleet.EstimateStopped || s[0].Spent.Round() != fleet.CNY(5_910_000) || s[0].Took.Round(time.Minute) != 177*time.Minute {
			t.Errorf("it ended as %+v", s)
		}
		l.run(3 * time.Hour)
		if again := l.estimates(); again[0].Spent != s[0].Spent {
			t.Errorf("stopped, it went on to cost %s", again[0].Spent)
		}
		l.wantTold(over, 1)
	})
}

// Where the wallet lasts until the end nothing is said; a newer estimate that is
// longer is compared anew.
func TestAWalletThatWillNotLastUntilTheEstimateEndsIsToldOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud = sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab", Cash: fleet.CNY(20_000_000)}}})
		l.cloud.MustAdd(atWork(2_000_000))
		l.restart()
		l.run(10 * time.Minute)
		const short = "the wallet of lab will not last until the work is done: "
		l.keep(6)
		l.run(time.Hour)
		l.wantTold(short, 0)
		a := l.keep(30)
		if a.Before == nil || a.Before.Closed != fleet.EstimateReplaced || a.Before.Cost.Round() != fleet.CNY(2_000_000) {
			t.Errorf("it replaced %+v", a.Before)
		}
		l.run(2 * time.Hour)
		l.wantTold("Warning: exp-a · "+short, 1)
		l.wantTold("\n  "+short+"17.", 1)
		l.wantTold(" CNY at 2.00 CNY an hour is enough for 8h 50m, and by the estimate of 09:10 (60.00 CNY for 30 h) it runs for another", 1)
		l.wantTold("(60.00 CNY for 30 h) it runs for another 1d 6h; it has cost 0.00 CNY so far, 60.00 CNY remain", 1)
		if s := l.estimates(); len(s) != 2 || !s[0].Open() || s[1].Open() {
			t.Errorf("the estimates are %+v", s)
		}
	})
}

// What was stopped while no daemon ran is counted until then, and a start begins
// nothing anew.
func TestAnEstimateEndsWhenTheInstanceWasStoppedBehindTheDaemonsBack(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(atWork(2_000_000))
		l.restart()
		l.run(2 * time.Minute)
		l.keep(2)
		l.run(30 * time.Minute)
		l.stop()
		time.Sleep(30 * time.Minute)
		if err := l.cloud.UserStops("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Hour)
		if err := l.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		l.restart()
		l.run(5 * time.Minute)
		s := l.estimates()
		if len(s) != 1 || s[0].Closed != fleet.EstimateStopped {
			t.Fatalf("it is shown as %+v", s)
		}
		// The platform tells only when it was started again: until then it is counted.
		if s[0].Took.Round(time.Hour) != 21*time.Hour {
			t.Errorf("it is counted for %s", s[0].Took)
		}
		l.wantTold("since its estimate was stored", 0)
	})
}

func TestWhatCannotBeEstimatedIsRefused(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		hidden, paid, off := atWork(1_000_000), atWork(1_000_000), atWork(1_000_000)
		hidden.ID, hidden.Name, hidden.HidesPrice = "hidden", "hidden", true
		paid.ID, paid.Name, paid.Charge, paid.EndsIn = "paid", "paid", fleet.ChargePeriod, 100*time.Hour
		off.ID, off.Name, off.State, off.Box = "off", "off", fleet.StateStopped, sim.Box{}
		for _, s := range []sim.Spec{hidden, paid, off, atWork(1_000_000)} {
			l.cloud.MustAdd(s)
		}
		l.restart()
		l.run(2 * time.Minute)
		hours := estimate.Job{Hours: estimate.Whole(1)}
		for name, c := range map[string]struct {
			of   string
			job  estimate.Job
			want string
		}{
			"no price":        {"hidden", hours, "the price of hidden is not known; write prices: {RTX 4090: PRICE}"},
			"a period":        {"paid", hours, "paid is paid for by the period"},
			"stopped":         {"off", hours, "off is stopped; an estimate is kept for what runs"},
			"more cards":      {"exp-a", estimate.Job{Hours: estimate.Whole(1), Cards: []int{4}}, "exp-a has 2 cards"},
			"another's name":  {"exp-a", estimate.Job{Epochs: 2, EpochTime: map[string]time.Duration{"market": time.Second}}, "exp-a is not called market"},
			"of no instance":  {"nobody", hours, `there is no instance "nobody"`},
			"without a time":  {"exp-a", estimate.Job{Epochs: 2}, "how long an epoch takes on exp-a is not said"},
			"beyond counting": {"exp-a", estimate.Job{Hours: estimate.Whole(1 << 62)}, "beyond counting"},
		} {
			_, err := l.app.Estimate(t.Context(), ctl.EstimateRequest{Name: c.of, Job: c.job})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		if _, err := l.app.Estimate(t.Context(), ctl.EstimateRequest{Name: "exp-a", Forget: true}); err == nil {
			t.Error("what was not kept was forgotten")
		}
		l.keep(1)
		if a, err := l.app.Estimate(t.Context(), ctl.EstimateRequest{Name: "exp-a", Forget: true}); err != nil || a.Estimate.For != time.Hour || len(l.estimates()) != 0 {
			t.Errorf("forgot %+v (%v)", a, err)
		}
	})
}
