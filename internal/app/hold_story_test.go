package app

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/providers/sim"
)

const limited = "hold: {max: 2h, total: 3h}\n"

// holds asks for a hold from now on.
func (l *lab) holds(by string, d time.Duration) ctl.HoldAnswer {
	l.t.Helper()
	a, err := l.app.Hold(l.t.Context(), ctl.HoldRequest{Name: "exp-a", Until: time.Now().Add(d), By: by, Why: "copying"})
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l *lab) wantRefused(id int64, by, why string) {
	l.t.Helper()
	if _, err := l.app.ApproveHold(l.t.Context(), id, by); err == nil || !strings.Contains(err.Error(), why) {
		l.t.Errorf("approved by %s: %v, want %q", by, err, why)
	}
}

func TestALongHoldIsCutAndTheRestWaitsForAYes(t *testing.T) {
	long(t)
	for _, lang := range []struct {
		name, asked, granted string
	}{
		{
			"en",
			"wang asks to hold it until 2 Jan 08:06 (copying): held until 10:06, the rest waits for curfew approve hold:1 by somebody else until 2 Jan 08:06; a hold lasts 2h at most",
			"li granted wang's hold until 2 Jan 08:06",
		},
		{
			"zh",
			"wang 申请暂缓至 1月2日 08:06（copying）：已暂缓至 10:06，其余须由他人在 1月2日 08:06 前执行 curfew approve hold:1；单次暂缓最长 2小时",
			"li 已批准 wang 暂缓至 1月2日 08:06",
		},
	} {
		for _, approved := range []bool{true, false} {
			inLab(t, func(t *testing.T) {
				l := newLab(t, "stop", limited, "language: "+lang.name+"\n")
				l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
				l.restart()
				l.run(6 * time.Minute)
				answer := l.holds("wang", 24*time.Hour)
				if got := time.Until(answer.Hold.Until); got != 2*time.Hour || answer.Request == nil || answer.Limit.Code != guard.ReasonHoldMax {
					t.Fatalf("it holds for %s: %+v", got, answer)
				}
				l.run(2 * time.Minute)
				l.wantTold(lang.asked, 1)
				l.wantRefused(1, "wang", "somebody else")
				l.wantRefused(2, "li", "no hold:2 waits")
				l.run(time.Hour)
				if !approved {
					l.run(2 * time.Hour)
					l.wantOutcomes("a stop done")
					l.run(21 * time.Hour)
					l.wantRefused(1, "li", "its time is over")
					return
				}
				l.stop()
				l.restart()
				granted, err := l.app.ApproveHold(t.Context(), 1, "li")
				if err != nil {
					t.Fatal(err)
				}
				if granted.Hold.ApprovedBy != "li" || granted.Hold.By != "wang" || !granted.Hold.Until.Equal(answer.Request.Until) {
					t.Errorf("granted %+v", granted.Hold)
				}
				l.wantRefused(1, "li", "it was granted")
				l.run(22 * time.Hour)
				l.wantTold(lang.granted, 1)
				l.wantOutcomes()
				l.run(2 * time.Hour)
				l.wantOutcomes("a stop done")
			})
		}
	}
}

func TestHoldsAfterEachOtherEndWithTheTotal(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", limited)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(6 * time.Minute)
		if a := l.holds("wang", 2*time.Hour); a.Request != nil {
			t.Errorf("two hours wait for a yes: %+v", a.Request)
		}
		l.run(110 * time.Minute)
		last := l.holds("li", 2*time.Hour)
		if got := time.Until(last.Hold.Until); got != 70*time.Minute || last.Limit.Code != guard.ReasonHoldTotal {
			t.Errorf("it holds for %s of %+v", got, last)
		}
		e, err := l.app.Explain(t.Context(), "exp-a")
		if err != nil {
			t.Fatal(err)
		}
		if e.HoldLimits == nil || e.HoldLimits.Max != 2*time.Hour || e.HoldLimits.Total != 3*time.Hour || e.HoldLimits.Held != 3*time.Hour || len(e.HoldRequests) != 1 {
			t.Errorf("explained as %+v, %+v", e.HoldLimits, e.HoldRequests)
		}
		l.run(time.Minute)
		none := l.holds("zhao", 3*time.Hour)
		if !none.Hold.Until.Equal(last.Hold.Until) {
			t.Errorf("it holds until %s, want what holds anyway until %s", none.Hold.Until, last.Hold.Until)
		}
		l.wantRefused(last.Request.ID, "wang", "asked for anew")
		l.run(90 * time.Minute)
		l.wantOutcomes("a stop done")
		if a := l.holds("wang", time.Hour); !a.Hold.Until.IsZero() || a.Request == nil {
			t.Errorf("more than all holds: %+v", a)
		}
		if _, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "exp-a", By: "wang"}); err != nil {
			t.Fatal(err)
		}
		l.wantRefused(4, "li", "withdrawn")
	})
}

func TestAHoldFileHoldsNoLongerThanAHold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", limited)
		a := trained("a", 4*time.Minute, 0)
		a.Box.Holds = []sim.Hold{{At: -time.Minute, Until: 5 * 24 * time.Hour}}
		l.cloud.MustAdd(a)
		l.restart()
		l.run(30 * time.Minute)
		l.stop()
		l.restart()
		l.run(85 * time.Minute)
		l.wantOutcomes()
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
		l.wantTold("its hold file says until 6 Jan 08:00; it holds until 10:00: a hold lasts 2h at most. More waits for a yes: curfew hold exp-a", 1)
	})
}

func TestAHoldFileThatIsWrittenAnewHoldsUpToTheTotal(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", limited)
		a := trained("a", 4*time.Minute, 0)
		for at := time.Duration(0); at < 12*time.Hour; at += 90 * time.Minute {
			a.Box.Holds = append(a.Box.Holds, sim.Hold{At: at, Until: at + 2*time.Hour})
		}
		l.cloud.MustAdd(a)
		l.restart()
		l.run(175 * time.Minute)
		l.wantOutcomes()
		l.run(time.Hour)
		l.wantOutcomes("a stop done")
		l.wantTold("all holds since 07:00 last 3h at most", 2) // and then that nothing is left
		l.wantTold("it does not hold any more", 1)
	})
}

func TestWithoutLimitsAHoldFileHoldsAsLongAsItSays(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop")
		a := trained("a", 4*time.Minute, 0)
		a.Box.Holds = []sim.Hold{{At: -time.Minute, Until: 30 * time.Hour}}
		l.cloud.MustAdd(a)
		l.restart()
		l.run(time.Minute)
		if a := l.holds("wang", 24*time.Hour); a.Request != nil || a.Hold.Until.IsZero() {
			t.Errorf("a day without limits: %+v", a)
		}
		l.run(29 * time.Hour)
		l.wantOutcomes()
		if l.cloud.State("a") != fleet.StateRunning {
			t.Error("it was stopped")
		}
		l.wantTold("hold file", 0)
	})
}
