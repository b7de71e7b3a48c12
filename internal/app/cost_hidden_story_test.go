package app

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/providers/sim"
)

// A disk in a region that nobody reads goes on costing. The wallet tells, once for
// each day, with what is known to be stopped or kept.
func TestWhatNoKnownResourceExplainsIsToldOnceADay(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.yaml = strings.Replace(l.yaml, "poll: 1m", "poll: 1m, regions: [near]", 1)
		l.cloud = sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab", Regions: []string{"near", "far"}}}})
		l.cloud.MustAdd(sim.Spec{ID: "old", Account: "lab", Region: "near", Name: "old-exp", State: fleet.StateStopped, StillCosts: fleet.CNY(10_000)})
		l.cloud.MustAdd(sim.Spec{ID: "works", Account: "lab", Region: "near", Price: fleet.CNY(1_000_000)})
		l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "known", Account: "lab", Region: "near", Name: "known-disk", Price: fleet.CNY(20_000)})
		l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "lost", Account: "lab", Region: "far", Price: fleet.CNY(500_000)})
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "bill"}) // nor does the bill tell
		m := &month{lab: l, rand: rand.New(rand.NewPCG(1, 2)), began: time.Now()}
		m.open()
		for time.Since(m.began) < 42*time.Hour { // from eight in the morning until two in the night
			m.poll()
			time.Sleep(5 * time.Minute)
		}
		a, err := m.app.Cost(t.Context(), ctl.CostQuery{From: m.began, To: time.Now(), By: ledger.ByItem, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		var days []string
		for _, d := range a.Checks[0].Days {
			days = append(days, d.Day+" "+string(d.Judgement)+" "+d.Gap.Round().String())
		}
		if got := strings.Join(days, ", "); got != "2000-01-01 hidden 6.34 CNY, 2000-01-02 hidden 10.96 CNY, 2000-01-03 too-early 0.00 CNY" {
			t.Errorf("the days: %s", got)
		}
		m.close()
		for range 2 { // a daemon that is started again tells nothing twice
			l.restart()
			l.run(20 * time.Minute)
			l.stop()
		}
		for _, day := range []string{"6.34 CNY left the wallet of lab on 2000-01-01", "10.96 CNY left the wallet of lab on 2000-01-02"} {
			l.wantTold("\n  "+day+" and no known resource explains it: ", 1)
		}
		l.wantTold("Stopped or kept there: old-exp, known-disk. See curfew cost --check, and", 2)
	})
}

// A stop by curfew shows in the sums: what the run cost, what idled after it, and as
// an estimate what would have been spent.
func TestAStopIsSeenInTheSums(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		l.cloud.MustAdd(trained("a", 30*time.Minute, 0))
		l.restart()
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop done")
		cost := func(by ledger.By) ctl.CostAnswer {
			t.Helper()
			a, err := l.app.Cost(t.Context(), ctl.CostQuery{From: time.Now().Add(-3 * time.Hour), To: time.Now(), By: by})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		phases := cost(ledger.ByPhase)
		bill := l.cloud.Bill()[0].Cost.Micros
		if off := phases.Total.In("CNY").Micros - bill; abs(off) > 10_000 {
			t.Errorf("the ledger says %s, the bill is %s", phases.Total, fleet.CNY(bill))
		}
		got := map[string]time.Duration{}
		for _, r := range phases.Rows {
			got[r.Key] = r.Time.Round(time.Minute)
		}
		if got[ledger.PhaseRun].Round(5*time.Minute) != 30*time.Minute || got[ledger.PhaseIdle] < 10*time.Minute || got[ledger.PhaseStopped] < time.Hour {
			t.Errorf("phases: %v", got)
		}
		// It is seen by its process and by its file, and is one run.
		if runs := cost(ledger.ByRun).Rows; len(runs) != 2 || runs[0].Name != "exp-a r-a" || runs[0].Total.String() != "0.99 CNY" || runs[1].Key != "" {
			t.Errorf("runs: %+v", runs)
		}
		// About 70 minutes at 1.98 CNY/h.
		if s := phases.Saved; s.Stops != 1 || s.Untold != 0 || s.Sums.In("CNY").Micros < 2_100_000 || s.Sums.In("CNY").Micros > 2_600_000 {
			t.Errorf("saved: %+v", s)
		}
	})
}
