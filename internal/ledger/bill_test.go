package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ledger"
)

// Everything begins on the first of the month; the times of a story are counted
// from there.
func begin() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

func after(d time.Duration) time.Time { return begin().Add(d) }

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// tale writes the history of one thing as the state would keep it.
type tale struct {
	h    ledger.History
	open map[string]int
}

func of(kind fleet.ThingKind, id string) *tale {
	return &tale{
		h:    ledger.History{Ref: fleet.Ref{Account: "acc", Kind: kind, ID: id}, Name: id, Account: "lab"},
		open: map[string]int{},
	}
}

// at notes that from a time on, what has the value.
func (s *tale) at(d time.Duration, what, value string) *tale {
	if n, ok := s.open[what]; ok {
		s.h.Segments[n].To = after(d)
	}
	s.open[what] = len(s.h.Segments)
	s.h.Segments = append(s.h.Segments, ledger.Segment{What: what, Value: value, From: after(d)})
	return s
}

func (s *tale) run(id string, from, to time.Duration) *tale {
	s.h.Runs = append(s.h.Runs, fleet.Run{ID: "file:" + id, Source: "file", Ref: s.h.Ref, StartedAt: after(from), EndedAt: after(to)})
	return s
}

func reckon(by ledger.By, from, to, now time.Duration, tales ...*tale) ledger.Costs {
	var hs []ledger.History
	for _, s := range tales {
		hs = append(hs, s.h)
	}
	return ledger.Reckon(hs, ledger.Query{From: after(from), To: after(to), Now: after(now), By: by, Zone: time.UTC})
}

// Each rule has one bill that was added up by hand.
func TestBillsReckonedByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		tale   *tale
		until  time.Duration
		micros int64
	}{
		{
			// AutoDL, pay as you go: 1.98 CNY/h by the second, 2 h 30 min 30 s = 9030 s;
			// 1.98 × 9030 / 3600 = 4.9665. Stopped it costs nothing.
			"by the second, free once it is stopped",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "1.98 CNY").at(0, "billing", "second on-demand provider").
				at(9030*time.Second, "state", "stopped").at(9030*time.Second, "price", "0.00 CNY"),
			day, 4_966_500,
		},
		{
			// A started hour is paid whole: 1 h 20 min is 2 h, and the 10 min after a stop
			// and a start are another: 3 × 2.50 = 7.50.
			"by the started hour, a new one after each start",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "2.50 CNY").at(0, "billing", "hour on-demand provider").at(0, "boot", "n1").
				at(80*minute, "state", "stopped").at(80*minute, "price", "0.00 CNY").
				at(90*minute, "state", "running").at(90*minute, "price", "2.50 CNY").at(90*minute, "boot", "n2").
				at(100*minute, "state", "stopped").at(100*minute, "price", "0.00 CNY"),
			day, 7_500_000,
		},
		{
			// Restarted between two readings: 30 min and 30 min are two started hours.
			"by the started hour, a restart that nobody saw as a stop",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "1.00 CNY").at(0, "billing", "hour on-demand provider").at(0, "boot", "n1").
				at(30*minute, "boot", "n2").at(60*minute, "state", "gone"),
			day, 2_000_000,
		},
		{
			// The price is that at the beginning of each hour: 1 + 1 + 2 (from 1 h 30 min on).
			"by the started hour, with another price",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "1.00 CNY").at(0, "billing", "hour on-demand provider").
				at(90*minute, "price", "2.00 CNY").at(150*minute, "state", "gone"),
			day, 4_000_000,
		},
		{
			// A month of 2160 CNY is 3 CNY/h; it goes on while stopped: 48 h × 3 = 144.
			"a prepaid month, by its time",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "3.00 CNY").at(0, "billing", "prepaid period config 2026-12-01T00:00:00Z").
				at(10*hour, "state", "stopped"),
			2 * day, 144_000_000,
		},
		{
			// A stopped instance whose disk goes on costing 0.0175 CNY/h: 2 h × 4 + 22 h ×
			// 0.0175 = 8.385.
			"the disk of a stopped instance",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "4.00 CNY").at(0, "billing", "second on-demand provider").
				at(2*hour, "state", "stopped").at(2*hour, "price", "0.0175 CNY"),
			day, 8_385_000,
		},
		{
			// A disk at 0.35 CNY a day, until it is deleted after 10 days and 12 h: in
			// millionths an hour 14583, × 252 = 3.674916.
			"a disk of its own, until it is gone",
			of(fleet.KindDisk, "d").
				at(0, "state", "there").at(0, "price", "0.014583 CNY").
				at(252*hour, "state", "gone"),
			30 * day, 3_674_916,
		},
		{
			"what is being made, or created, costs nothing yet",
			of(fleet.KindSnapshot, "s").
				at(0, "state", "making").at(0, "price", "1.00 CNY").at(hour, "state", "there").at(2*hour, "state", "gone"),
			day, 1_000_000,
		},
		{
			"a moment in which nobody could tell is as before and after",
			of(fleet.KindInstance, "a").
				at(0, "state", "running").at(0, "price", "1.00 CNY").
				at(hour, "state", "unknown").at(hour+minute, "state", "running").at(2*hour, "state", "gone"),
			day, 2_000_000,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			costs := reckon(ledger.ByAccount, 0, c.until, c.until, c.tale)
			if diff := cmp.Diff(fleet.Sums{fleet.CNY(c.micros)}, costs.Total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
			if len(costs.Unknown) > 0 {
				t.Errorf("unknown: %+v", costs.Unknown)
			}
		})
	}
}

func TestWhatIsNotKnownIsSaidAndNotAdded(t *testing.T) {
	priced := of(fleet.KindInstance, "priced").at(0, "state", "running").at(0, "price", "1.00 CNY")
	for _, c := range []struct {
		name string
		tale *tale
		want ledger.Unknown
		time time.Duration
	}{
		{"no price was ever told", of(fleet.KindInstance, "a").at(0, "state", "running"), ledger.UnknownPrice, 10 * hour},
		{"what it costs while stopped was not told", of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").
			at(4*hour, "state", "stopped").at(4*hour, "price", "unknown"), ledger.UnknownPrice, 6 * hour},
		{"nobody can tell whether it runs", of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").
			at(9*hour, "state", "unknown"), ledger.UnknownState, hour},
		{"a price by the hour is not that of a period", of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").
			at(0, "billing", "second period config"), ledger.UnknownPeriod, 10 * hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			costs := reckon(ledger.ByInstance, 0, 10*hour, 10*hour, c.tale, priced)
			want := []ledger.UnknownCost{{Ref: c.tale.h.Ref, Name: "a", Account: "lab", Item: ledger.ItemInstance, Why: c.want, For: c.time}}
			if diff := cmp.Diff(want, costs.Unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			known := int64(10_000_000) + int64((10*hour-c.time)/hour)*1_000_000
			if c.want == ledger.UnknownPeriod {
				known = 10_000_000
			}
			if diff := cmp.Diff(fleet.Sums{fleet.CNY(known)}, costs.Total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
			for _, r := range costs.Rows {
				if r.Name == "a" && r.Unknown != c.time {
					t.Errorf("its row says that %s are unknown, want %s", r.Unknown, c.time)
				}
			}
		})
	}
}

func TestCurrenciesAreKeptApart(t *testing.T) {
	yuan := of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "2.00 CNY")
	dollars := of(fleet.KindInstance, "b").at(0, "state", "running").at(0, "price", "0.50 USD").at(0, "billing", "second on-demand config")
	costs := reckon(ledger.ByAccount, 0, 10*hour, 10*hour, yuan, dollars)
	want := fleet.Sums{fleet.CNY(20_000_000), {Micros: 5_000_000, Currency: "USD"}}
	if diff := cmp.Diff(want, costs.Total); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if got := costs.Configured.String(); got != "5.00 USD" {
		t.Errorf("by prices of the configuration: %s", got)
	}
	if got := costs.Total.String(); got != "20.00 CNY + 5.00 USD" {
		t.Errorf("in words: %s", got)
	}
}

func TestTheTimeOfAnInstanceIsToldByPhase(t *testing.T) {
	a := of(fleet.KindInstance, "a").
		at(0, "state", "running").at(0, "price", "6.00 CNY").at(0, "billing", "second on-demand provider").
		at(0, "activity", "idle").at(90*minute, "activity", "unknown").at(100*minute, "activity", "idle").
		at(2*hour, "state", "stopped").at(2*hour, "price", "0.60 CNY").
		run("r", 20*minute, 80*minute)
	quiet := of(fleet.KindInstance, "quiet").at(0, "state", "running").at(0, "price", "0.00 CNY").at(0, "activity", "idle")
	disk := of(fleet.KindDisk, "d").at(0, "state", "there").at(0, "price", "0.10 CNY")
	costs := reckon(ledger.ByPhase, 0, 3*hour, 3*hour, a, quiet, disk)
	got := map[string]string{}
	for _, r := range costs.Rows {
		got[r.Key] = r.Total.String() + " " + r.Time.String()
	}
	want := map[string]string{
		"setup": "2.00 CNY 20m0s", "run": "6.00 CNY 1h0m0s", "idle": "3.00 CNY 3h30m0s", "unknown": "1.00 CNY 10m0s",
		"stopped": "0.60 CNY 1h0m0s", "kept": "0.30 CNY 0s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	if costs.Busy != hour || costs.BusyHour.String() != "12.60 CNY" {
		t.Errorf("at work for %s at %s an hour, want 1h at 12.60 CNY", costs.Busy, costs.BusyHour)
	}
}

func TestRunsAtTheSameTimeShareTheCost(t *testing.T) {
	a := of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").
		run("one", 0, 2*hour).run("two", hour, 3*hour)
	costs := reckon(ledger.ByRun, 0, 4*hour, 4*hour, a)
	var got []string
	for _, r := range costs.Rows {
		got = append(got, r.Name+": "+r.Total.String())
	}
	if diff := cmp.Diff([]string{"a one: 1.50 CNY", "a two: 1.50 CNY", ": 1.00 CNY"}, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestDaysAreThoseOfTheZone(t *testing.T) {
	zone := time.FixedZone("CST", 8*3600)
	a := of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").at(0, "billing", "hour on-demand provider").
		at(17*hour+30*minute, "state", "gone")
	costs := ledger.Reckon([]ledger.History{a.h}, ledger.Query{From: begin().Add(-8 * hour), To: after(2 * day), Now: after(2 * day), By: ledger.ByDay, Zone: zone})
	var got []string
	for _, r := range costs.Rows {
		got = append(got, r.Key+": "+r.Total.String())
	}
	// Sixteen hours on the first, two begun on the second.
	if diff := cmp.Diff([]string{"2026-11-01: 16.00 CNY", "2026-11-02: 2.00 CNY"}, got); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}

func TestWhatWasSavedIsAnEstimate(t *testing.T) {
	a := of(fleet.KindInstance, "a").
		at(0, "state", "running").at(0, "price", "2.00 CNY").at(0, "billing", "second on-demand provider").
		at(hour, "state", "stopped").at(hour, "price", "0.10 CNY"). // by curfew
		at(4*hour, "state", "running").at(4*hour, "price", "2.00 CNY").
		at(5*hour, "state", "stopped").at(5*hour, "price", "0.10 CNY") // by hand at the console
	untold := of(fleet.KindInstance, "b").at(0, "state", "running").at(hour, "state", "gone")
	stops := []ledger.Stop{{Ref: a.h.Ref, At: after(hour + minute)}, {Ref: untold.h.Ref, At: after(hour + minute)}}
	q := ledger.Query{From: begin(), To: after(day), Now: after(10 * hour), Zone: time.UTC}
	got := ledger.Save([]ledger.History{a.h, untold.h}, stops, q)
	want := ledger.Saved{Sums: fleet.Sums{fleet.CNY(5_700_000)}, Stops: 1, For: 3 * hour, Untold: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
}
