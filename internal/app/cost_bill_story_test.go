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

// billed gives what the comparison of the only account's bill says, a word for each
// day, with what is not explained.
func (m *month) billed() string {
	m.t.Helper()
	a, err := m.app.Cost(m.t.Context(), ctl.CostQuery{From: m.began.AddDate(0, 0, -1), To: time.Now(), By: ledger.ByItem, Check: true})
	if err != nil {
		m.t.Fatal(err)
	}
	if len(a.Bills) != 1 {
		m.t.Fatalf("%d bills were compared, want that of the only account", len(a.Bills))
	}
	var days []string
	for _, d := range a.Bills[0].Days {
		line := d.Day + " " + string(d.Judgement) + " " + d.Billed.Round().String() + " of " + d.Reckoned.Round().String()
		for _, r := range d.Rows {
			if r.Judgement != ledger.Agrees {
				line += " " + r.Ref.ID + " " + string(r.Judgement)
			}
		}
		days = append(days, line)
	}
	return strings.Join(days, ", ")
}

func (m *month) pollFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Minute) {
		m.poll()
	}
}

func (m *month) billReads() int {
	n := 0
	for _, c := range m.cloud.Calls() {
		if c.Op == "bill" {
			n++
		}
	}
	return n
}

// oneRegionUnread is a cloud of which one region is read, with a disk in the other.
func oneRegionUnread(t *testing.T) *month {
	t.Helper()
	l := newLab(t, "stop")
	l.yaml = strings.Replace(l.yaml, "poll: 1m", "poll: 1m, regions: [near]", 1)
	l.cloud = sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab", Regions: []string{"near", "far"}}}})
	l.cloud.MustAdd(sim.Spec{ID: "works", Account: "lab", Region: "near", Price: fleet.CNY(1_000_000)})
	l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "lost", Account: "lab", Region: "far", Price: fleet.CNY(500_000)})
	return &month{lab: l, rand: rand.New(rand.NewPCG(1, 2)), began: time.Now()}
}

// A disk in a region that nobody reads is on the bill: 24 × 0.50 CNY of the first whole
// day, beside the 24 CNY that are known. It is told once, also by a daemon that is
// started again, and the bill is read once a day.
func TestWhatTheBillNamesAndNobodyKnowsIsToldOnceADay(t *testing.T) {
	inLab(t, func(t *testing.T) {
		m := oneRegionUnread(t)
		m.open()
		m.pollFor(41*time.Hour + 30*time.Minute) // until half an hour before the second day's bill is complete
		if got := m.billed(); got != "" {
			t.Errorf("before the bill of a whole day is complete: %s", got)
		}
		m.pollFor(2 * time.Hour)
		if got := m.billed(); got != "2000-01-02 more 36.00 CNY of 24.00 CNY lost unknown-resource" {
			t.Errorf("the days: %s", got)
		}
		if n := m.billReads(); n != 3 {
			t.Errorf("the bill was read %d times, want once at first and once on each of two days", n)
		}
		m.close()
		for range 2 {
			m.restart()
			m.run(20 * time.Minute)
			m.stop()
		}
		m.wantTold("On 2000-01-02 the platform billed 12.00 CNY for lost (disks) in lab, and curfew knows of no such resource. "+
			"All of that day: 36.00 CNY billed, 24.00 CNY reckoned. See curfew cost --check", 1)
		if n := m.billReads(); n != 3 {
			t.Errorf("after two restarts the bill was read %d times", n)
		}
	})
}

// A bill that cannot be read is tried again each hour, and one whose items came late is
// right the day after. Nothing is told of either.
func TestABillThatFailsOrComesLateIsReadAgain(t *testing.T) {
	inLab(t, func(t *testing.T) {
		m := oneRegionUnread(t)
		m.cloud = sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab", Regions: []string{"near", "far"}}}})
		m.cloud.MustAdd(sim.Spec{ID: "works", Account: "lab", Region: "near", Price: fleet.CNY(1_000_000)})
		m.open()
		m.pollFor(40 * time.Hour)
		before := m.billReads()
		m.cloud.Break(sim.Fault{Kind: sim.ServerError, Op: "bill", Times: 3})
		m.cloud.Break(sim.Fault{Kind: sim.LateItems, Op: "bill", Times: 1})
		m.pollFor(10 * time.Hour)
		if got := m.billReads() - before; got != 4 {
			t.Errorf("the bill was read %d times, want three that failed and one", got)
		}
		if got := m.billed(); !strings.HasPrefix(got, "2000-01-02 less ") {
			t.Errorf("while items are missing: %s", got)
		}
		m.pollFor(24 * time.Hour)
		if got := m.billed(); got != "2000-01-02 agrees 24.00 CNY of 24.00 CNY, 2000-01-03 agrees 24.00 CNY of 24.00 CNY" {
			t.Errorf("the day after: %s", got)
		}
		m.close()
		m.restart()
		m.run(20 * time.Minute)
		m.stop()
		m.wantTold("the platform billed", 0)
	})
}
