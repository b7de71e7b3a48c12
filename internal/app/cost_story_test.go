package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/providers/sim"
)

// month is a cloud in which things come and go, and a daemon that polls, reads the
// bill, and stops what somebody asks it to.
type month struct {
	*lab
	rand  *rand.Rand
	began time.Time
	made  int
	up    []string    // ids of instances that are there
	kept  []fleet.Ref // resources that are there
	down  time.Time   // nobody polls until then
}

func (m *month) open() {
	m.t.Helper()
	a, err := New(context.Background(), m.options())
	if err != nil {
		m.t.Fatal(err)
	}
	m.app = a
}

func (m *month) close() {
	m.t.Helper()
	if err := m.app.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.app = nil
}

func (m *month) poll() {
	m.t.Helper()
	_ = m.app.pollOnce(m.t.Context(), m.app.runtime().accounts[0]) // faults are part of the story
}

// askToStop asks the daemon to stop an instance. It may be refused: it is stopped already,
// or a stop is under way.
func (m *month) askToStop(id string) {
	_, _ = m.app.Act(m.t.Context(), ctl.ActRequest{Name: id, Action: fleet.Stop, By: "wang"})
}

// act carries on with what the daemon was asked to do.
func (m *month) act() {
	m.t.Helper()
	if err := m.app.beat(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	open, err := m.app.store.OpenIntents(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, i := range open {
		if !i.NextAt.After(time.Now()) {
			_, _ = m.app.exec.Step(m.t.Context(), i.ID) // faults are part of the story
		}
	}
}

// oneIn gives true once in so many times, on average.
func (m *month) oneIn(n int) bool { return m.rand.IntN(n) == 0 }

func (m *month) id() string {
	m.made++
	return fmt.Sprintf("t%03d", m.made)
}

func (m *month) add() {
	prices := []int64{1_980_000, 2_500_001, 880_000, 13_333_333}
	s := sim.Spec{
		ID: m.id(), Account: "lab", Age: time.Millisecond, Price: fleet.CNY(prices[m.rand.IntN(len(prices))]),
		ReleasesRunning: m.oneIn(2), Owner: []string{"", "wang", "li"}[m.rand.IntN(3)],
	}
	switch m.rand.IntN(4) {
	case 0:
		s.Billing = fleet.BillingPerHour
	case 1:
		s.StillCosts = fleet.CNY(17_500)
	case 2:
		s.StopEndsBilling = "no"
	}
	m.cloud.MustAdd(s)
	m.up = append(m.up, s.ID)
	if m.oneIn(2) {
		kind := fleet.ResourceKinds()[m.rand.IntN(4)]
		r := sim.Resource{ID: m.id(), Account: "lab", Age: time.Millisecond, Price: fleet.CNY(14_583)}
		if kind == fleet.KindPublicIP {
			r.AttachedTo, r.PriceAttached = s.ID, fleet.CNY(0)
		}
		if kind == fleet.KindSnapshot {
			r.ReadyIn = 3 * time.Minute
		}
		m.kept = append(m.kept, m.cloud.MustAddResource(kind, r))
	}
}

// happen is what people do in one minute.
func (m *month) happen() {
	if len(m.up) < 12 && m.oneIn(200) {
		m.add()
	}
	for n, id := range m.up {
		switch {
		case m.oneIn(600):
			_ = m.cloud.UserStops(id)
		case m.oneIn(900):
			m.askToStop(id)
		case m.oneIn(400):
			_ = m.cloud.UserStarts(id)
		case m.oneIn(4000) && m.cloud.UserReleases(id) == nil:
			m.up = append(m.up[:n:n], m.up[n+1:]...)
			return
		}
	}
	for n, ref := range m.kept {
		switch {
		case m.oneIn(5000) && m.cloud.UserDeletes(ref) == nil:
			m.kept = append(m.kept[:n:n], m.kept[n+1:]...)
			return
		case ref.Kind == fleet.KindPublicIP && m.oneIn(1500):
			if m.cloud.Detach(ref) != nil {
				_ = m.cloud.Attach(ref, m.up[m.rand.IntN(len(m.up))])
			}
		}
	}
}

// The simulated cloud bills every second of a month in which instances and all that
// hangs on them come and go, polls fail, lists come back short, the answers to stops are
// lost, bills fail or come late, and the daemon is started again now and then. What the ledger says is within a thousandth of the
// bill, no thing is missing, and no day is thought to hold a hidden charge.
func TestTheLedgerOfAMonthIsTheBillOfTheMonth(t *testing.T) {
	long(t)
	if testing.Short() || worldsAtMost < 1000 {
		t.Skip("a month takes a while")
	}
	inLab(t, func(t *testing.T) {
		m := &month{lab: newLab(t, "stop"), rand: rand.New(rand.NewPCG(7, 11))}
		m.cloud = sim.New(sim.Options{
			Now: time.Now, Seed: 3, Timing: sim.Timing{SettleLag: 5 * time.Second, StopTime: 20 * time.Second, BillLag: 30 * time.Minute},
			Accounts: []sim.Account{{Name: "lab", Cash: fleet.CNY(100_000_000_000), Vouchers: fleet.CNY(500_000_000)}},
		})
		lists := func(op string, _ fleet.Ref) bool { return op != "bill" } // whose end is told with it
		for _, f := range []sim.Fault{
			{Kind: sim.TimeoutAfter, Op: "stop", Chance: 0.3}, {Kind: sim.TimeoutBefore, Op: "stop", Chance: 0.2},
			{Kind: sim.ServerError, Op: "bill", Chance: 0.2}, {Kind: sim.LateItems, Op: "bill", Chance: 0.3},
			{Kind: sim.ServerError, Chance: 0.03}, {Kind: sim.RateLimit, Chance: 0.005}, {Kind: sim.Truncated, Chance: 0.01},
			{Kind: sim.ShortList, Chance: 0.01, When: lists}, {Kind: sim.EmptyList, Chance: 0.002, When: lists},
		} {
			m.cloud.Break(f)
		}
		m.yaml = strings.Replace(m.yaml, m.dir, quickDir(t), 1)
		m.open()
		m.began = time.Now()
		m.poll() // of an empty cloud: what comes, comes while somebody looks
		for range 6 {
			m.add()
		}
		m.cloud.MustAdd(sim.Spec{ID: "period", Account: "lab", Price: fleet.CNY(3_000_000), Charge: fleet.ChargePeriod, EndsIn: 60 * 24 * time.Hour})
		for time.Since(m.began) < 30*24*time.Hour {
			time.Sleep(time.Duration(m.rand.Int64N(int64(time.Minute))))
			m.happen()
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
			if time.Now().Before(m.down) {
				continue
			}
			m.poll()
			m.act()
			if m.oneIn(3000) {
				m.close()
				m.down = time.Now().Add(time.Duration(1+m.rand.IntN(8)) * time.Minute)
				m.open()
			}
		}
		m.cloud.Mend()
		for range 25 {
			m.poll()
			m.act()
			time.Sleep(time.Minute)
		}
		m.poll()
		m.compare()
		m.compareBills()
		m.settled()
		m.close()
	})
}

// compare holds the ledger against the cloud's own bill, line by line.
func (m *month) compare() {
	m.t.Helper()
	now := time.Now()
	a, err := m.app.Cost(m.t.Context(), ctl.CostQuery{From: m.began.Add(-time.Hour), To: now, By: ledger.ByInstance, Check: true})
	if err != nil {
		m.t.Fatal(err)
	}
	rows := map[string]ledger.Row{}
	for _, r := range a.Rows {
		ref, err := fleet.ParseRef(r.Key)
		if err != nil {
			m.t.Fatal(err)
		}
		rows[string(ref.Kind)+"/"+ref.ID] = r
	}
	var bill int64
	lines := m.cloud.Bill()
	for _, l := range lines {
		bill += l.Cost.Micros
		got, ok := rows[string(l.Ref.Kind)+"/"+l.Ref.ID]
		switch {
		case !ok:
			m.t.Errorf("%s cost %s and is not in the ledger", l.Ref.ID, l.Cost)
		case l.Ref.ID == "period":
		case abs(got.Total.In("CNY").Micros-l.Cost.Micros) > l.Cost.Micros/100+3_000_000:
			m.t.Errorf("%s cost %s, the ledger says %s", l.Ref.ID, l.Cost, got.Total)
		}
	}
	ledgers := a.Total.In("CNY").Micros - a.Prepaid.In("CNY").Micros
	off := ledgers - bill
	m.t.Logf("%d things: the bill is %s, the ledger says %s, off by %d ppm", len(lines), fleet.CNY(bill).Round(), fleet.CNY(ledgers).Round(), off*1_000_000/bill)
	if bill < 1_000_000_000 || len(lines) < 60 {
		m.t.Errorf("a bill of %s for %d things proves little", fleet.CNY(bill), len(lines))
	}
	if abs(off)*1000 > bill {
		m.t.Errorf("the ledger says %s, the bill is %s: more than a thousandth apart", fleet.CNY(ledgers), fleet.CNY(bill))
	}
	if len(a.Unknown) > 0 {
		m.t.Errorf("of unknown cost: %+v", a.Unknown)
	}
	if len(a.Checks) != 1 || len(a.Checks[0].Days) < 30 {
		m.t.Fatalf("the wallet was compared on too few days: %+v", a.Checks)
	}
	for _, d := range a.Checks[0].Days {
		if d.Judgement != ledger.Agrees && d.Judgement != ledger.TooEarly {
			m.t.Errorf("%s: %s: %+v", d.Day, d.Judgement, d)
		}
	}
}

// compareBills holds the platform's bill, as it was read day by day, against the
// ledger: of the days that were read again after they were complete, all is there.
func (m *month) compareBills() {
	m.t.Helper()
	a, err := m.app.Cost(m.t.Context(), ctl.CostQuery{From: m.began, To: time.Now().AddDate(0, 0, -4), By: ledger.ByItem, Check: true})
	if err != nil {
		m.t.Fatal(err)
	}
	if len(a.Bills) != 1 || len(a.Bills[0].Days) < 25 {
		m.t.Fatalf("the bill was compared on too few days: %+v", a.Bills)
	}
	var billed, reckoned int64
	for _, d := range a.Bills[0].Days {
		billed, reckoned = billed+d.Billed.Micros, reckoned+d.Reckoned.Micros
		if d.Judgement != ledger.Agrees {
			m.t.Errorf("the bill of %s: %s: billed %s, reckoned %s", d.Day, d.Judgement, d.Billed, d.Reckoned)
		}
		for _, r := range d.Rows {
			if r.Judgement == ledger.Stranger || r.Judgement == ledger.NeverBilled && r.Reckoned.Micros > 1_000_000 {
				m.t.Errorf("%s: %s: %s: billed %s, reckoned %s", d.Day, r.Ref.ID, r.Judgement, r.Billed, r.Reckoned)
			}
		}
	}
	m.t.Logf("%d days: billed %s, reckoned %s, off by %d ppm", len(a.Bills[0].Days), fleet.CNY(billed).Round(), fleet.CNY(reckoned).Round(), (reckoned-billed)*1_000_000/billed)
	if abs(reckoned-billed)*1000 > billed {
		m.t.Errorf("billed %s, reckoned %s: more than a thousandth apart", fleet.CNY(billed), fleet.CNY(reckoned))
	}
}

// settled asks that what the daemon was asked to do came to an end, lost answers or
// not.
func (m *month) settled() {
	m.t.Helper()
	lost, stops := 0, 0
	for _, c := range m.cloud.Calls() {
		if c.Op == "stop" {
			if stops++; fleet.KindOf(c.Err) == fleet.OutcomeUnknown {
				lost++
			}
		}
	}
	m.t.Logf("%d stops were sent, the answers to %d were lost", stops, lost)
	if lost < 10 {
		m.t.Errorf("the answers to only %d of %d stops were lost", lost, stops)
	}
	open, err := m.app.store.OpenIntents(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, i := range open {
		m.t.Errorf("the stop of %s never came to an end: %s since %s, %s", i.Ref.ID, i.State, i.StartedAt, i.HeldBack.Code)
	}
}

// quickDir is a folder in memory, where there is such a thing: a month of commits
// would wait for the disk for longer than all else takes.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "curfew-month-*") //nolint:usetesting // TempDir cannot be told where
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func abs(n int64) int64 { return max(n, -n) }
