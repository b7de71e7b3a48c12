package app

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/policies"
	"curfew/providers/sim"
)

// richLab has money enough for everything.
func richLab(t *testing.T, policies ...string) *lab {
	t.Helper()
	return purseOf(t, fleet.CNY(100_000_000_000), policies...)
}

func of(owner string, s sim.Spec) sim.Spec {
	s.Owner = owner
	return s
}

// Who is over the limit loses what is idle, and nobody else loses anything.
func TestABudgetByOwnerStopsWhatIsIdleOfThatOwner(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: share, type: budget, match: all, by: owner, limit: 6 CNY, period: month, at: {50%: warn, 80%: warn, 100%: stop-idle}}\n")
		l.cloud.MustAdd(of("li", box("a")))
		l.cloud.MustAdd(of("li", training("b")))
		l.cloud.MustAdd(of("li", darkBox("c")))
		l.cloud.MustAdd(of("wang", box("w")))
		l.cloud.MustAdd(box("n"))
		l.restart()
		l.run(25 * time.Minute)
		l.wantNews(0, "finding .*policy.budget-")
		l.run(70 * time.Minute)                      // at 6 CNY an hour
		for _, share := range []string{"50", "80"} { // which are seen five minutes late at most
			l.wantNews(1, `finding warning li: policy.budget-told does=\(policy.money-warns\) why=\(policy.budget-share from=1231-16:00 limit=6.00 CNY percent=`+share[:1]+`[0-9] since=0101-00:00 spent=[0-9.]+ CNY to=0131-16:00 who=li\)`)
		}
		l.wantNews(1, `finding critical li: policy.budget-told does=\(policy.money-stops-idle\) .* percent=1[0-9]+ .* who=li`)
		l.wantNews(2, `finding warning (exp-b|box-c): policy.left-running `)
		l.wantOutcomes("a stop done")
		if b := l.plan().Blocks; len(b) != 1 || b[0].Ref.Kind != fleet.KindOwner || b[0].Ref.ID != "li" {
			t.Errorf("orders are held back by %v", b)
		}
		l.run(30 * time.Minute)
		l.wantNews(1, `finding critical li: `)
		l.wantNews(1, `finding warning wang: policy.budget-told .* percent=5`)
		l.wantState(fleet.StateRunning, "b", "c", "w", "n")
		// What was idle starts again, and is stopped again: the limit stands.
		if err := l.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		l.run(30 * time.Minute)
		l.wantOutcomes("a stop done", "a stop done")
	})
}

// The month ends at midnight in Shanghai: what was spent then begins anew, and a stop
// that was announced is taken back.
func TestAMonthEndsWhereThePeopleAre(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: month, type: budget, match: all, limit: 1000 CNY, period: month, at: {100%: stop-idle}, warn: {stop: 40m}}\n")
		l.cloud.MustAdd(box("a"))
		l.restart()
		l.run(10 * time.Minute)
		l.stop()
		time.Sleep(time.Until(time.Date(2000, 1, 31, 15, 40, 0, 0, time.UTC))) // 23:40 there
		l.restart()
		l.run(10 * time.Minute)
		// From 08:00 on the first to 23:40 on the last are 735 hours and 40 minutes.
		l.wantNews(1, `finding critical month: policy.budget-told .* forecast=1472.[0-9]+ CNY from=1231-16:00 limit=1000.00 CNY percent=147 since=0101-00:00 spent=1471.[0-9]+ CNY to=0131-16:00`)
		l.wantNews(1, "pending .*box-a")
		l.run(9 * time.Minute)
		if is := l.journal(); len(is) != 1 || !is[0].Open() {
			t.Fatalf("%+v", is)
		}
		l.run(3 * time.Minute)
		l.wantOutcomes("a stop abandoned")
		if why := l.journal()[0].Why; why.Code != policies.ReasonBudgetShare {
			t.Errorf("the ground against it is %v", why)
		}
		l.run(time.Hour)
		l.wantState(fleet.StateRunning, "a")
		if p := l.plan(); len(p.Blocks) != 0 {
			t.Errorf("held back: %v", p.Blocks)
		}
	})
}

func TestADayEndsWhereThePeopleAre(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: day, type: budget, match: all, limit: 20 CNY, period: day, at: {100%: warn}}\n")
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(15 * time.Hour)
		l.wantNews(1, `finding critical day: policy.budget-told .* spent=20\.[0-9]+ CNY`)
		l.run(2 * time.Hour)
		e, err := l.app.Explain(t.Context(), "exp-b")
		if err != nil {
			t.Fatal(err)
		}
		v, _ := find(e.Verdicts, func(v fleet.Verdict) bool { return v.Policy == "day" })
		if got := v.Reason.Values["spent"].Any().(fleet.Money); got.Micros < 1_800_000 || got.Micros > 2_000_000 {
			t.Errorf("an hour after midnight %s are spent", got)
		}
		l.run(10 * time.Hour)
		l.wantNews(2, `finding critical day: policy.budget-told .* spent=20\.[0-9]+ CNY`)
	})
}

// A run that became too dear is stopped, and nothing else is.
func TestABudgetOfARunStopsThatRun(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: each, type: budget, match: all, limit: 4 CNY, period: run, at: {50%: warn, 100%: stop-all}}\n")
		l.cloud.MustAdd(training("b"))
		late := training("d")
		late.Box.Processes[0].From = -5 * time.Minute
		l.cloud.MustAdd(late)
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(darkBox("c"))
		l.restart()
		l.run(35 * time.Minute)
		l.wantNews(1, `finding warning exp-b: policy.budget-told does=\(policy.money-warns\) why=\(policy.budget-run began=1231-23:30 limit=4.00 CNY percent=50 run=r-b spent=2.0[0-9] CNY\)`)
		l.run(54 * time.Minute) // it began half an hour before
		l.wantOutcomes()
		l.run(13 * time.Minute)
		l.wantNews(1, `finding critical exp-b: policy.budget-told does=\(policy.run-stops-all\) why=\(policy.budget-run began=1231-23:30 limit=4.00 CNY percent=100 run=r-b spent=4.0[0-9] CNY\)`)
		l.wantOutcomes("b stop done")
		l.wantState(fleet.StateRunning, "a", "c", "d")
		l.run(30 * time.Minute)
		l.wantOutcomes("b stop done", "d stop done")
		l.wantState(fleet.StateRunning, "a", "c")
	})
}

func TestWhatAMonthWillComeToIsToldOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: month, type: budget, match: all, limit: 1000 CNY, period: month}\n")
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(355 * time.Minute)
		l.wantNews(0, "finding ")
		l.run(15 * time.Minute)
		// 736 hours are left of the month when it begins, at 2 CNY each.
		l.wantNews(1, `finding warning month: policy.budget-forecast why=\(policy.budget-share forecast=147[12].[0-9]+ CNY from=1231-16:00 limit=1000.00 CNY percent=1 since=0101-00:00 spent=12.[0-9]+ CNY to=0131-16:00\)`)
		l.stop()
		l.restart()
		l.run(time.Hour)
		l.wantNews(1, "finding ")
	})
}

// A limit that is raised during the warning takes the stop back; when that one is
// reached too people are told again.
func TestALimitThatIsRaisedCountsAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: month, type: budget, match: all, limit: 2 CNY, period: month, at: {100%: stop-all}, warn: {stop: 20m}}\n")
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(66 * time.Minute)
		l.wantNews(1, `finding critical month: policy.budget-told .* limit=2.00 CNY`)
		l.wantNews(1, "pending ")
		l.reload("limit: 2 CNY", "limit: 4 CNY")
		l.run(30 * time.Minute)
		l.wantOutcomes("b stop abandoned")
		l.run(50 * time.Minute)
		l.wantNews(1, `finding critical month: policy.budget-told .* limit=4.00 CNY`)
		l.wantOutcomes("b stop abandoned", "b stop done")
	})
}

// The account's own mode holds for what is done for the sake of money, and what people
// are told says so.
func TestABudgetInADryRunHoldsBackNothing(t *testing.T) {
	for _, by := range []string{"all", "account", "owner"} {
		t.Run(by, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				key := strings.TrimPrefix("by: "+by+", ", "by: all, ")
				l := richLab(t, "  - {name: month, type: budget, match: all, "+key+"limit: 1 CNY, period: month, at: {100%: stop-all}}\n")
				l.yaml = strings.Replace(l.yaml, "poll: 1m", "poll: 1m, mode: dry-run", 1)
				l.cloud.MustAdd(box("a"))
				l.restart()
				l.run(time.Hour)
				l.wantOutcomes()
				l.wantNews(1, "would ")
				l.wantNews(1, `finding critical .*: policy.budget-told does=\(policy.money-dry what=\(policy.money-stops-all\)\)`)
				if b := l.plan().Blocks; len(b) != 0 {
					t.Errorf("held back: %v", b)
				}
			})
		})
	}
}

// What a plan and an explanation show of a stop for the sake of money.
func TestAPlanShowsABudgetThatIsSpent(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := richLab(t, "  - {name: month, type: budget, match: all, limit: 1 CNY, period: month, at: {100%: stop-idle}}\n", "protect: {names: [box-p]}\n")
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(box("p"))
		l.restart()
		l.run(21 * time.Minute) // a moment before the stop
		p := l.plan()
		if len(p.Findings) != 1 || p.Findings[0].Ref.Kind != fleet.KindBudget || len(p.Blocks) != 1 || p.Blocks[0].Ref.ID != "lab" {
			t.Errorf("findings %v, blocks %v", p.Findings, p.Blocks)
		}
		for _, i := range p.Items {
			id, want := i.Instance.Ref.ID, policies.ReasonMoneyStop
			if id == "p" {
				want = guard.ReasonProtected
			}
			if i.Reason.Code != want {
				t.Errorf("%s: %s", id, i.Reason.Code)
			}
		}
	})
}
