package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/export"
	"curfew/providers/sim"
)

// exports stands in for the commands of a story: the simulated cloud can run none.
// It checks what it is asked.
type exports struct {
	t   *testing.T
	lab *lab

	mu     sync.Mutex
	asked  []string // in order, with the state they found
	going  map[string]bool
	takes  time.Duration
	fails  []fleet.Code // the first, the second and so on; empty is success
	errs   int          // how many were ended by the daemon's own end
	during func(id string)
}

// exportLab is a lab whose policy exports before a release.
func exportLab(t *testing.T, more ...string) (*lab, *exports) {
	t.Helper()
	l := newLab(t, "release", more...)
	l.yaml = strings.Replace(l.yaml, "    data: discard\n", `    export:
      require: ["/root/out/*.safetensors"]
      run: "rclone copy /root/out oss:lab/{{.Name}}-{{.ID}}"
      verify: "rclone check --one-way /root/out oss:lab/{{.Name}}-{{.ID}}"
`, 1)
	x := &exports{t: t, lab: l, going: map[string]bool{}, takes: 10 * time.Minute}
	l.exporter = x
	return l, x
}

// Export takes its time and answers as the story says.
func (x *exports) Export(ctx context.Context, job export.Job) (export.Result, error) {
	id := job.Instance.Ref.ID
	x.mu.Lock()
	n := len(x.asked)
	x.asked = append(x.asked, id)
	e := job.Export
	switch {
	case x.going[id]:
		x.t.Errorf("two exports of %s at once", id)
	case job.Instance.State != fleet.StateRunning || x.lab.cloud.State(id) != fleet.StateRunning:
		x.t.Errorf("an export in %s, which is %s", id, x.lab.cloud.State(id))
	case len(e.Require) != 1 || !strings.HasPrefix(e.Run, "rclone copy") || !strings.HasPrefix(e.Verify, "rclone check") || e.Timeout != 30*time.Minute:
		x.t.Errorf("export %+v", e)
	case job.Since.IsZero() || job.Since.After(time.Now()):
		x.t.Errorf("the run began at %s", job.Since)
	}
	x.going[id] = true
	takes, during := x.takes, x.during
	var why fleet.Code
	if n < len(x.fails) {
		why = x.fails[n]
	}
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		delete(x.going, id)
		x.mu.Unlock()
	}()
	if during != nil {
		during(id)
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		x.mu.Lock()
		x.errs++
		x.mu.Unlock()
		return export.Result{Begun: true}, ctx.Err()
	}
	switch why {
	case "":
		return export.Result{Begun: true}, nil
	case export.ReasonUnreachable:
		return export.Result{Why: fleet.Because(why, fleet.Values{"error": fleet.Text("nobody answers")})}, nil
	}
	return export.Result{Begun: true, Why: fleet.Because(why, fleet.Values{"status": fleet.Number(1), "said": fleet.Text("no such bucket")})}, nil
}

// wantExports asks of which instances there were exports, in order.
func (x *exports) want(ids ...string) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Equal(x.asked, ids) {
		x.t.Errorf("exports of %v, want %v\n%s", x.asked, ids, x.lab.out)
	}
}

func (l *lab) wantUp(id string) {
	l.t.Helper()
	if got := l.cloud.State(id); got != fleet.StateRunning {
		l.t.Errorf("%s is %s, want running\n%s", id, got, l.out)
	}
}

func (l *lab) secured(id string) []fleet.Secured {
	l.t.Helper()
	all, err := l.app.store.Secured(context.Background())
	if err != nil {
		l.t.Fatal(err)
	}
	for ref, records := range all {
		if ref.ID == id {
			return records
		}
	}
	return nil
}

func TestDataIsExportedBeforeTheStopAndThenReleased(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(24 * time.Minute)
		x.want() // not in the grace, nor in the warning
		l.run(5 * time.Minute)
		x.want("a")
		l.wantUp("a")
		l.run(10 * time.Minute)
		if n := l.effects("stop", "a"); n != 1 {
			t.Fatalf("%d stops after the export, want 1\n%s", n, l.out)
		}
		e, err := l.app.Explain(t.Context(), "exp-a")
		if err != nil || len(e.Secured) != 1 || !e.Secured[0].OK || e.Secured[0].Run == "" {
			t.Errorf("explain shows %+v, %v", e.Secured, err)
		}
		l.run(time.Hour)
		x.want("a")
		l.wantOutcomes("a stop done", "a release done")
		l.wantTold("before that the export of done runs, for at most 30m", 1)
		l.wantTold("its data was exported and proven", 2) // after the stop, after the release
		l.wantTold("not secured", 0)
	})
}

func TestWhereTheExportFailsTheInstanceIsStoppedAndNeverReleased(t *testing.T) {
	long(t)
	for _, why := range []fleet.Code{export.ReasonMissing, export.ReasonFailed, export.ReasonVerifyFailed, export.ReasonTimedOut, export.ReasonLost} {
		t.Run(string(why), func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l, x := exportLab(t)
				x.fails = []fleet.Code{why}
				s := trained("a", 10*time.Minute, 0)
				s.StillCosts = fleet.CNY(50_000)
				l.cloud.MustAdd(s)
				l.restart()
				l.run(5 * time.Hour)
				x.want("a")
				l.wantOutcomes("a stop done-still-billing")
				l.wantTold("not released, since its data was not secured", 3) // with the stop, and, in title and text, with what it costs
				l.wantTold("it costs 1.20 CNY a day", 2)
				if r := l.secured("a"); len(r) != 1 || r[0].OK || r[0].Why.Code != why {
					t.Errorf("journal %+v", r)
				}
				e, err := l.app.Explain(t.Context(), "exp-a")
				if err != nil || len(e.Verdicts) != 1 || e.Verdicts[0].Reason.Code != "policy.not-secured" {
					t.Errorf("explain: %+v, %v", e.Verdicts, err)
				}
			})
		})
	}
}

func TestWhereAStopLosesDataAFailedExportLeavesItRunning(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		x.fails = []fleet.Code{export.ReasonFailed, export.ReasonFailed, export.ReasonFailed}
		s := trained("a", 10*time.Minute, 0)
		s.StopKeeps = fleet.KeepsNone
		l.cloud.MustAdd(s)
		l.restart()
		l.run(44 * time.Minute) // a stop that loses data has the warning of a release
		x.want()
		l.run(20 * time.Minute)
		x.want("a")
		l.wantUp("a")
		l.wantOutcomes("a stop abandoned")
		l.wantTold("left running, since its data was not secured", 3) // called off, and, in title and text, what it costs
		l.wantTold("it costs 47.52 CNY a day", 3)
		l.run(6 * time.Hour)
		x.want("a", "a") // once more after an hour, and not again
		l.wantUp("a")
		l.wantOutcomes("a stop abandoned", "a stop abandoned")
		l.run(4 * time.Hour)
		x.want("a", "a")
		l.wantOutcomes("a stop abandoned", "a stop abandoned")
		l.wantUp("a")
	})
}

func TestWhereAStopLosesDataAnExportLetsItGo(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		x.fails = []fleet.Code{export.ReasonLost}
		s := trained("a", 10*time.Minute, 0)
		s.StopKeeps = fleet.KeepsNone
		l.cloud.MustAdd(s)
		l.restart()
		l.run(8 * time.Hour)
		x.want("a", "a")
		l.wantOutcomes("a stop abandoned", "a stop done", "a release done")
	})
}

func TestAHoldDuringTheExportIsHonoured(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(30 * time.Minute)
		x.want("a")
		if _, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "exp-a", Until: time.Now().Add(3 * time.Hour), By: "wang", Why: "copying"}); err != nil {
			t.Fatal(err)
		}
		l.run(2 * time.Hour)
		l.wantUp("a")
		l.wantOutcomes("a stop abandoned")
		l.run(4 * time.Hour)
		x.want("a") // what was exported is exported: nothing has happened since
		l.wantOutcomes("a stop abandoned", "a stop done", "a release done")
	})
}

func TestWorkDuringTheExportVoidsIt(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		s := trained("a", 10*time.Minute, 0)
		s.Box.Processes = append(s.Box.Processes, sim.Process{Command: "python eval.py", From: 30 * time.Minute, To: 34 * time.Minute, Load: 80})
		l.cloud.MustAdd(s)
		l.restart()
		l.run(37 * time.Minute)
		x.want("a")
		l.wantUp("a")
		if is := l.journal(); is[len(is)-1].Outcome != fleet.OutcomeAbandoned {
			t.Errorf("what was announced before the work stands: %+v", is)
		}
		if r := l.secured("a"); len(r) != 1 || !r[0].OK || r[0].VoidAt.IsZero() {
			t.Errorf("journal %+v", r)
		}
		l.run(3 * time.Hour)
		x.want("a", "a")
		l.wantOutcomes("a stop abandoned", "a stop done", "a release done")
	})
}

func TestARunThatBeginsDuringTheExportIsExportedToo(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		s := trained("a", 10*time.Minute, 0)
		s.Box.Processes = append(s.Box.Processes, sim.Process{Command: "python -u train.py", From: 30 * time.Minute, To: 90 * time.Minute, Run: "r-2", Load: 97})
		l.cloud.MustAdd(s)
		l.restart()
		l.run(80 * time.Minute)
		x.want("a")
		l.wantUp("a")
		l.run(3 * time.Hour)
		x.want("a", "a")
		l.wantOutcomes("a stop abandoned", "a stop done", "a release done")
	})
}

func TestADaemonKilledDuringTheExportMakesItAgain(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(30 * time.Minute)
		x.want("a")
		l.stop()
		if x.errs != 1 {
			t.Fatal("the export outlives the daemon")
		}
		l.restart()
		if r := l.secured("a"); len(r) != 1 || !r[0].EndedAt.IsZero() || r[0].OK {
			t.Errorf("journal %+v", r)
		}
		l.run(3 * time.Hour)
		x.want("a", "a")
		l.wantOutcomes("a stop done", "a release done")
	})
}

func TestSomebodyWhoStopsItDuringTheExportKeepsIt(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		x.during = func(id string) {
			if err := l.cloud.UserStops(id); err != nil {
				t.Error(err)
			}
		}
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(5 * time.Hour)
		x.want("a")
		l.wantOutcomes("a stop abandoned")
	})
}

func TestLongExportsHoldUpNobodyElse(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t, `  - name: other
    type: training
    match: {name: "plain-*"}
    process: 'python .*train'
    then: stop
caps:
  stop: {percent: off}
`)
		x.takes = 25 * time.Minute
		var want []string
		for n := range 3 * actsAtOnce {
			id := fmt.Sprintf("a%02d", n)
			want = append(want, id)
			l.cloud.MustAdd(trained(id, 4*time.Minute, 0))
		}
		s := trained("b", 10*time.Minute, 0)
		s.Name = "plain-b"
		l.cloud.MustAdd(s)
		l.restart()
		l.run(35 * time.Minute)
		if n := l.effects("stop", "b"); n != 1 {
			t.Errorf("one that exports nothing was stopped %d times while others do", n)
		}
		l.run(30 * time.Minute)
		x.mu.Lock()
		slices.Sort(x.asked)
		x.mu.Unlock()
		x.want(want...)
		for _, id := range want {
			if n := l.effects("stop", id); n != 1 {
				t.Errorf("%s was stopped %d times", id, n)
			}
		}
	})
}

func TestWhatWaitsForNothingExportsNothing(t *testing.T) {
	long(t)
	t.Run("a limit", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l, x := exportLab(t, "  - {name: limit, type: lifetime, match: all, max: 80m, then: stop}\n")
			s := trained("a", 10*time.Minute, 0)
			s.StillCosts = fleet.CNY(50_000)
			l.cloud.MustAdd(s) // up for an hour already
			l.restart()
			l.run(5 * time.Hour)
			x.want()
			l.wantOutcomes("a stop done-still-billing")
			l.wantTold("it stays and is not released, since its data was not secured; it costs 1.20 CNY a day", 1)
		})
	})
	t.Run("a person", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l, x := exportLab(t)
			l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
			l.restart()
			l.run(12 * time.Minute)
			if _, err := l.app.Act(t.Context(), ctl.ActRequest{Name: "exp-a", Action: fleet.Stop, By: "wang"}); err != nil {
				t.Fatal(err)
			}
			l.run(5 * time.Hour)
			x.want()
			l.wantOutcomes("a stop done")
		})
	})
	t.Run("a dry run", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l, x := exportLab(t)
			l.yaml = strings.Replace(l.yaml, "    grace: 5m", "    mode: dry-run\n    grace: 5m", 1)
			l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
			l.restart()
			l.run(3 * time.Hour)
			x.want()
			l.wantOutcomes()
			l.wantUp("a")
		})
	})
	t.Run("a run that failed", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l, x := exportLab(t)
			l.cloud.MustAdd(trained("a", 10*time.Minute, 1))
			l.restart()
			l.run(3 * time.Hour)
			x.want()
			l.wantOutcomes("a stop done")
		})
	})
}

func TestAStopThatAnotherPolicyAsksForWaitsForTheExport(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t, `  - name: rests
    type: idle
    match: all
    for: 10m
    boot_grace: off
    vram_idle_max: off
    then: stop
`)
		l.yaml = strings.Replace(l.yaml, "    grace: 5m", "    grace: 5h", 1)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(32 * time.Minute)
		x.want("a")
		l.wantUp("a")
		l.wantTold("before that the export of done runs", 1)
		l.run(12 * time.Hour)
		x.want("a")
		l.wantOutcomes("a stop done")
	})
}

func TestNothingIsExportedForAnActThatWaits(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		l.yaml = strings.Replace(l.yaml, "    grace: 5m", "    approval: true\n    grace: 5m", 1)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(2 * time.Hour)
		x.want()
		l.wantUp("a")
		open := l.journal()
		if len(open) != 1 || open[0].HeldBack.Code != "guard.approval-missing" {
			t.Fatalf("journal %+v", open)
		}
		if _, err := l.app.Approve(t.Context(), open[0].ID, "wang"); err != nil {
			t.Fatal(err)
		}
		l.run(30 * time.Minute)
		x.want("a")
		if n := l.effects("stop", "a"); n != 1 {
			t.Errorf("%d stops, want 1\n%s", n, l.out)
		}
	})
}

func TestWhatCannotBeLoggedInToIsWaitedFor(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := exportLab(t)
		x.takes = time.Second
		x.fails = slices.Repeat([]fleet.Code{export.ReasonUnreachable}, 20)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.restart()
		l.run(26 * time.Minute)
		l.wantUp("a")
		l.run(3 * time.Hour)
		x.want(slices.Repeat([]string{"a"}, 21)...)
		l.wantTold("the export could not begin, since it cannot be logged in to: nobody answers", 1)
		l.wantOutcomes("a stop done", "a release done")
	})
}

// TestKilledAtAnyMomentWithAnExport kills the daemon at every moment that matters: an
// instance is released only after an export that was journaled as done.
func TestKilledAtAnyMomentWithAnExport(t *testing.T) {
	long(t)
	t.Parallel()
	live := func(t *testing.T, moment int) int {
		l, x := exportLab(t)
		x.takes = time.Minute
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		moments := 0
		l.kill = func() bool {
			moments++
			return moments == moment
		}
		l.restart()
		for end := time.Now().Add(100 * time.Minute); time.Now().Before(end) && l.effects("release", "a") == 0; {
			l.run(time.Minute)
		}
		l.run(5 * time.Minute)
		l.wantOnce("a")
		if n := len(x.asked); n < 1 || n > 2 || moment == 0 && n != 1 {
			t.Errorf("%d exports", n)
		}
		if r := l.secured("a"); len(r) != 1 || !r[0].OK || r[0].EndedAt.IsZero() {
			t.Errorf("journal %+v", r)
		}
		return moments
	}
	moments := 0
	t.Run("never", func(t *testing.T) {
		inLab(t, func(t *testing.T) { moments = live(t, 0) })
	})
	if moments < 44 {
		t.Fatalf("there are only %d moments to die at", moments)
	}
	for moment := 1; moment <= moments; moment++ {
		t.Run(fmt.Sprintf("moment %d of %d", moment, moments), func(t *testing.T) {
			t.Parallel()
			inLab(t, func(t *testing.T) { live(t, moment) })
		})
	}
}
