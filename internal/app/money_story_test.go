package app

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/notify"
	"curfew/policies"
	"curfew/providers/sim"
)

// purseOf is a lab whose account holds that much at first.
func purseOf(t *testing.T, cash fleet.Money, policies ...string) *lab {
	t.Helper()
	l := newLab(t, "stop", policies...)
	l.cloud = sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab", Cash: cash}}})
	l.cloud.OnWrite(func(string, fleet.Ref, sim.Phase) error { return l.mayDie(true) })
	return l
}

// box is an instance of 2 CNY an hour with nothing going on in it.
func box(id string) sim.Spec {
	return sim.Spec{
		ID: id, Account: "lab", Name: "box-" + id, Age: time.Hour, Price: fleet.CNY(2_000_000),
		GPU: sim.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
	}
}

// darkBox is one that nobody can look into.
func darkBox(id string) sim.Spec {
	s := box(id)
	s.Box.Dark = []sim.Stretch{{}}
	return s
}

// busyBox is one that is at work without a run that anybody knows.
func busyBox(id string) sim.Spec {
	s := box(id)
	s.Box.Processes = []sim.Process{{Command: "blender -b scene", From: -30 * time.Minute, Load: 97, MemoryMB: 9000}}
	return s
}

// training is one whose run goes on for days.
func training(id string) sim.Spec {
	s := trained(id, 100*time.Hour, 0)
	s.Price = fleet.CNY(2_000_000)
	return s
}

func purseRule(levels string, more ...string) string {
	return fmt.Sprintf("  - {name: purse, type: balance, match: all, levels: [%s]%s}\n", levels, strings.Join(append([]string{""}, more...), ", "))
}

func (l *lab) wantState(want fleet.State, ids ...string) {
	l.t.Helper()
	for _, id := range ids {
		if got := l.cloud.State(id); got != want {
			l.t.Errorf("%s is %s, want %s\n%s", id, got, want, l.out)
		}
	}
}

func (l *lab) plan() ctl.Plan {
	l.t.Helper()
	p, err := l.app.Plan(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

func (l *lab) topUp(account string, yuan int64) {
	l.t.Helper()
	if err := l.cloud.TopUp(account, fleet.CNY(yuan*1_000_000)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) reload(from, to string) {
	l.t.Helper()
	if !strings.Contains(l.yaml, from) {
		l.t.Fatalf("nothing says %q:\n%s", from, l.yaml)
	}
	l.yaml = strings.Replace(l.yaml, from, to, 1)
	if err := l.app.Reload(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// news gives what was told so far, a line for each: the event, how severe it is, what it
// is about, and why, as codes with their values.
func (l *lab) news() []string {
	l.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(l.dir, "curfew.db"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(l.t.Context(), `SELECT body FROM notices ORDER BY id`)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var body []byte
		var n notify.Notice
		if err := rows.Scan(&body); err != nil {
			l.t.Fatal(err)
		}
		if err := json.Unmarshal(body, &n); err != nil {
			l.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", n.Event, n.Severity, cmp.Or(n.Subject.Name, n.Subject.Ref.ID), coded(n.Reason)))
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// coded writes a reason without words.
func coded(r fleet.Reason) string {
	var b strings.Builder
	b.WriteString(string(r.Code))
	for _, key := range slices.Sorted(maps.Keys(r.Values)) {
		var word string
		switch v := r.Values[key].Any().(type) {
		case fleet.Reason:
			word = "(" + coded(v) + ")"
		case fleet.Money:
			word = v.Round().String()
		case time.Time:
			word = v.UTC().Format("0102-15:04")
		default:
			word = fmt.Sprint(v)
		}
		b.WriteString(" " + key + "=" + word)
	}
	return b.String()
}

// told counts the news that begin as a pattern says.
func (l *lab) told(pattern string) int {
	l.t.Helper()
	is, n := regexp.MustCompile("^"+pattern), 0
	for _, one := range l.news() {
		if is.MatchString(one) {
			n++
		}
	}
	return n
}

func (l *lab) wantNews(times int, pattern string) {
	l.t.Helper()
	if n := l.told(pattern); n != times {
		l.t.Errorf("%q was told %d times, want %d:\n%s", pattern, n, times, strings.Join(l.news(), "\n"))
	}
}

const (
	levels     = "{below: 95 CNY, then: warn}, {below: 90 CNY, then: stop-idle}"
	toldFirst  = `finding warning lab: policy.level-told does=\(policy.money-warns\) why=\(policy.level level=\(policy.level-below below=95.00 CNY\) wallet=\(policy.wallet-left left=9[0-9.]+ CNY pace=\(.*\)\)\) zero=\(provider.sim-at-zero\)`
	toldSecond = `finding critical lab: policy.level-told does=\(policy.money-stops-idle\) why=\(policy.level level=\(policy.level-below below=90.00 CNY\) wallet=\(policy.wallet-left left=8[0-9.]+ CNY pace=\(.*\)\)\) zero=\(provider.sim-at-zero\)`
)

// 100 CNY at 6 an hour: the first level comes after 50 minutes, the second after 100.
func TestAWalletFallsThroughItsLevelsAndIsFilledUp(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(100_000_000), purseRule(levels))
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(training("b"))
		l.cloud.MustAdd(darkBox("c"))
		l.cloud.MustAdd(busyBox("d"))
		l.cloud.MustAdd(box("off"))
		if err := l.cloud.UserStops("off"); err != nil {
			t.Fatal(err)
		}
		l.restart()
		l.run(37 * time.Minute) // at 8 CNY an hour it takes until 37 minutes and a half
		l.wantNews(0, toldFirst)
		l.run(8 * time.Minute)
		l.wantNews(1, toldFirst)
		l.run(29 * time.Minute)
		l.wantOutcomes()
		l.run(8 * time.Minute)
		l.wantNews(1, toldSecond)
		l.wantTold("Will stop box-a", 1)
		l.wantState(fleet.StateRunning, "a")
		l.wantNews(1, `finding warning exp-b: policy.left-running .*price=2.00 CNY why=\(policy.left-run why=\(policy.run-open began=1231-23:30 run=r-b`)
		l.wantNews(1, `finding warning box-c: policy.left-running .*price=2.00 CNY why=\(policy.left-unknown`)
		l.wantNews(1, `finding warning box-d: policy.left-running .*price=2.00 CNY why=\(policy.left-busy`)
		p := l.plan()
		if len(p.Findings) != 2 || len(p.Blocks) != 1 || p.Blocks[0].Ref.ID != "lab" {
			t.Errorf("the plan shows %d findings and %v", len(p.Findings), p.Blocks)
		}
		l.run(14 * time.Minute)
		l.wantOutcomes("a stop done")
		l.wantState(fleet.StateRunning, "b", "c", "d")
		l.wantNews(3, "finding warning .*policy.left-running ")
		l.run(time.Hour)
		l.wantNews(1, toldFirst)
		l.wantNews(1, toldSecond)
		l.wantNews(0, `reminder warning lab: .*below=95.00 CNY`)  // a deeper one stands
		l.wantNews(2, `reminder critical lab: .*below=90.00 CNY`) // a quarter of an hour, and an hour
		l.topUp("lab", 30)
		l.run(6 * time.Minute)
		l.wantNews(2, "resolved ")
		l.wantNews(1, `resolved info lab: policy.level-over level=\(policy.level-below below=95.00 CNY`)
		l.wantNews(1, `resolved info lab: policy.level-over level=\(policy.level-below below=90.00 CNY`)
		if p := l.plan(); len(p.Findings)+len(p.Blocks) != 0 {
			t.Errorf("after a top-up the plan shows %v and %v", p.Findings, p.Blocks)
		}
		l.run(time.Hour)
		l.wantNews(2, "reminder ")
		l.wantNews(1, toldFirst)
		l.run(4 * time.Hour)
		l.wantNews(2, toldFirst) // it falls through them again
	})
}

func TestATopUpDuringTheWarningTakesTheStopBack(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(89_000_000), purseRule(levels))
		l.cloud.MustAdd(box("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantTold("Will stop box-a", 1)
		l.topUp("lab", 4) // which is above the level, and not a tenth above it
		l.run(6 * time.Minute)
		if is := l.journal(); len(is) != 1 || !is[0].Open() {
			t.Errorf("4 CNY more took the stop back: %+v", is)
		}
		l.topUp("lab", 8)
		l.run(30 * time.Minute)
		l.wantOutcomes("a stop abandoned")
		l.wantState(fleet.StateRunning, "a")
		l.wantNews(1, "abandoned .*box-a: policy.wallet-left left=100")
		l.wantNews(1, `resolved info lab: policy.level-over level=\(policy.level-below below=90.00 CNY`)
		if why := l.journal()[0].Why; why.Code != policies.ReasonWalletLeft {
			t.Errorf("the ground against it is %s", why.Code)
		}
	})
}

// Everything is stopped, after its warning; the cap of stops does not hold that back,
// and the cap of what is done for the sake of money does.
func TestStopAllStopsWhatIsAtWorkUnderTheCapOfMoneyAlone(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-all}", "warn: {stop: 20m}"),
			"caps:\n  stop: {per_hour: 1, percent: off}\n  money: {per_hour: 3}\n")
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(training("b"))
		l.cloud.MustAdd(darkBox("c"))
		l.cloud.MustAdd(busyBox("d"))
		s := training("e")
		s.StopKeeps = fleet.KeepsPart
		l.cloud.MustAdd(s)
		l.restart()
		l.run(19 * time.Minute)
		if n := len(l.cloud.Effects()); n != 0 {
			t.Errorf("%d were stopped before their warning was over", n)
		}
		l.run(10 * time.Minute)
		if n := len(l.cloud.Effects()); n != 3 {
			t.Errorf("%d were stopped, want as many as the cap of money lets\n%s", n, l.out)
		}
		l.run(time.Hour)
		l.wantState(fleet.StateStopped, "a", "b", "c", "d")
		l.wantState(fleet.StateRunning, "e")
		l.wantNews(1, `finding warning exp-e: policy.left-running .*price=2.00 CNY why=\(policy.left-data\)`)
	})
}

// While the wallet cannot be read an open stop waits, and goes on when it can.
func TestAnUnknownWalletPutsAnOpenStopOff(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-idle}", "warn: {stop: 30m}"))
		l.cloud.MustAdd(box("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantTold("Will stop box-a", 1)
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "balance"})
		l.run(12 * time.Minute)
		l.wantNews(0, ".*policy.wallet-unknown")
		l.run(6 * time.Minute)
		l.wantNews(1, `finding warning lab: policy.wallet-unknown burn=2.00 CNY left=50.00 CNY running=1 since=0101-00:00`)
		l.run(30 * time.Minute)
		l.wantState(fleet.StateRunning, "a")
		is := l.journal()
		if len(is) != 1 || !is[0].Open() || is[0].HeldBack.Code != policies.ReasonWalletUnknown {
			t.Errorf("the stop: %+v", is)
		}
		if b := l.plan().Blocks; len(b) != 1 {
			t.Errorf("orders are held back by %v", b)
		}
		l.cloud.Mend()
		l.run(8 * time.Minute)
		l.wantNews(1, "resolved info lab: policy.wallet-known")
		l.wantOutcomes("a stop done")
		l.wantTold("Will stop box-a", 1)
	})
}

// Single reads that fail change nothing, and are no news.
func TestAReadOfTheWalletThatFailsIsNoNews(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(100_000_000), purseRule(levels))
		calls := 0
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "balance", When: func(string, fleet.Ref) bool {
			calls++
			return calls%2 == 0
		}})
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(5 * time.Hour)
		l.wantNews(0, ".*policy.wallet-(un)?known")
		l.wantNews(1, toldFirst)
		l.wantNews(1, toldSecond)
	})
}

// A daemon that is started again knows what the wallet held, and what it told.
func TestARestartForgetsNoWallet(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(100_000_000), purseRule(levels))
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(160 * time.Minute) // 94.67 are left
		l.wantNews(1, toldFirst)
		l.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "balance"})
		l.stop()
		l.restart()
		l.run(2 * time.Minute)
		f := l.plan().Findings
		if len(f) != 1 || f[0].Condition != "below 95.00 CNY" {
			t.Errorf("after a restart the plan shows %+v", f)
		}
		l.run(20 * time.Minute)
		l.wantNews(1, "finding warning lab: policy.wallet-unknown ")
		l.stop()
		l.cloud.Mend()
		time.Sleep(time.Minute)
		l.restart()
		l.run(6 * time.Minute)
		l.wantNews(1, "resolved info lab: policy.wallet-known")
		l.wantNews(1, "resolved ")
		l.wantNews(1, toldFirst)
	})
}

// A dry run tells of levels, says what it would do, and stops and holds back nothing.
func TestADryRunOfABalanceTellsAndStopsNothing(t *testing.T) {
	long(t)
	for _, where := range []string{"file", "account", "policy"} {
		t.Run(where, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				more := ""
				if where == "policy" {
					more = "mode: dry-run"
				}
				l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-all}", more))
				switch where {
				case "file":
					l.yaml = strings.Replace(l.yaml, "mode: enforce", "mode: dry-run", 1)
				case "account":
					l.yaml = strings.Replace(l.yaml, "poll: 1m", "poll: 1m, mode: dry-run", 1)
				}
				l.cloud.MustAdd(box("a"))
				l.cloud.MustAdd(training("b"))
				l.restart()
				l.run(2 * time.Hour)
				l.wantOutcomes()
				l.wantNews(2, "would ")
				l.wantNews(1, `finding critical lab: policy.level-told does=\(policy.money-dry what=\(policy.money-stops-all\)\) why=\(policy.level level=\(policy.level-below below=60.00 CNY\) wallet=\(policy.wallet-left left=50.00 CNY`)
				if b := l.plan().Blocks; len(b) != 0 {
					t.Errorf("a dry run holds back orders: %v", b)
				}
			})
		})
	}
}

func TestWhatIsProtectedHeldOrCappedIsNotStoppedForTheSakeOfMoney(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-all}"), "protect: {names: [\"box-p\"], labels: {curfew: keep}}\n")
		l.cloud.MustAdd(box("p"))
		kept := box("k")
		kept.Labels = map[string]string{"curfew": "keep"}
		l.cloud.MustAdd(kept)
		odd := box("o")
		odd.Labels = map[string]string{labelAtMost: "nonsense"}
		l.cloud.MustAdd(odd)
		most := box("m") // which lets a stop be
		most.Labels = map[string]string{labelAtMost: "stop"}
		l.cloud.MustAdd(most)
		l.cloud.MustAdd(box("h"))
		l.cloud.MustAdd(training("b"))
		l.restart()
		l.run(3 * time.Minute)
		if _, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "box-h", Until: time.Now().Add(3 * time.Hour), By: "wang", Why: "a talk"}); err != nil {
			t.Fatal(err)
		}
		l.run(time.Hour)
		l.wantState(fleet.StateRunning, "p", "k", "h", "o")
		l.wantOutcomes("b stop done", "h stop abandoned", "m stop done")
		l.run(3 * time.Hour)
		l.wantState(fleet.StateStopped, "h")
		l.wantState(fleet.StateRunning, "p", "k", "o")
	})
}

// Each account has its wallet, and its currency.
func TestTwoAccountsTwoWalletsTwoCurrencies(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-idle}, {below: 9 USD, then: stop-idle}"))
		if err := l.cloud.AddAccount(sim.Account{Name: "east", Cash: fleet.Money{Micros: 10_000_000, Currency: "USD"}}); err != nil {
			t.Fatal(err)
		}
		l.yaml = strings.Replace(l.yaml, "accounts:\n", "accounts:\n  - {name: east, provider: sim, world: world.yaml, poll: 1m}\n", 1)
		s := box("e")
		s.Account, s.Price = "east", fleet.Money{Micros: 400_000, Currency: "USD"}
		l.cloud.MustAdd(s)
		l.cloud.MustAdd(box("a"))
		l.restart()
		l.run(30 * time.Minute)
		l.wantOutcomes("a stop done")
		l.run(3 * time.Hour) // 2.5 h after the start the other has 9 USD left
		l.wantOutcomes("a stop done", "e stop done")
		l.wantNews(1, `finding critical east: policy.level-told .*below=9.00 USD\) wallet=\(policy.wallet-left left=8.9[0-9] USD pace=\(policy.pace burn=0.40 USD`)
		l.wantNews(1, `finding critical lab: policy.level-told .*left=50.00 CNY`)
		l.wantNews(0, ".*policy.wallet-no-level")
	})
}

func TestExplainSaysWhyMoneyStopsOrLeavesIt(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := purseOf(t, fleet.CNY(50_000_000), purseRule("{below: 60 CNY, then: stop-idle}"))
		l.cloud.MustAdd(box("a"))
		l.cloud.MustAdd(darkBox("c"))
		l.restart()
		l.run(3 * time.Minute)
		for id, want := range map[string]fleet.Code{"box-a": policies.ReasonMoneyStop, "box-c": policies.ReasonLeftRunning} {
			e, err := l.app.Explain(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			v, ok := find(e.Verdicts, func(v fleet.Verdict) bool { return v.Policy == "purse" })
			if !ok || v.Reason.Code != want {
				t.Errorf("%s: %+v", id, v)
			}
		}
	})
}
