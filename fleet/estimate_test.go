package fleet_test

import (
	"testing"
	"time"

	"curfew/fleet"
)

func stored(at time.Time, p fleet.Price) fleet.Estimate {
	return fleet.Estimate{At: at, Since: at, For: 2 * time.Hour, Price: p, Started: at.Add(-30 * time.Minute)}
}

func spent(t *testing.T, e fleet.Estimate, at time.Time, want int64) {
	t.Helper()
	if got, ok := e.Spent(at); !ok || got != fleet.CNY(want) {
		t.Errorf("after %s: spent %v (%v), want %v", at.Sub(e.At), got, ok, fleet.CNY(want))
	}
}

func TestWhatWasSpentSinceAnEstimateBySecondAndByStartedHour(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	second := fleet.Price{PerHour: fleet.CNY(3_600_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	hour := second
	hour.Billing = fleet.BillingPerHour
	spent(t, stored(at, second), at, 0)
	spent(t, stored(at, second), at.Add(90*time.Minute), 5_400_000)
	// The hour that began half an hour before was paid before.
	spent(t, stored(at, hour), at.Add(30*time.Minute), 0)
	spent(t, stored(at, hour), at.Add(31*time.Minute), 3_600_000)
	spent(t, stored(at, hour), at.Add(91*time.Minute), 7_200_000)
	unsure := stored(at, second)
	unsure.Started = time.Time{} // then the clock begins with the estimate
	spent(t, unsure, at.Add(time.Hour), 3_600_000)
}

func TestAnEstimateCountsOnAtAnotherPrice(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	p := fleet.Price{PerHour: fleet.CNY(1_000_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	e := stored(at, p)
	if e.Reprice(p, at.Add(time.Hour)) {
		t.Error("the same price is told as another")
	}
	p.PerHour = fleet.Money{Micros: 1, Currency: "USD"}
	if e.Reprice(p, at.Add(time.Hour)) || e.Reprice(fleet.Price{}, at.Add(time.Hour)) {
		t.Error("a price that does not add, or none, was taken")
	}
	p.PerHour = fleet.CNY(3_000_000)
	if !e.Reprice(p, at.Add(time.Hour)) {
		t.Fatal("the new price was not taken")
	}
	spent(t, e, at.Add(time.Hour), 1_000_000)
	spent(t, e, at.Add(90*time.Minute), 2_500_000)
	if left := e.Left(at.Add(90 * time.Minute)); left != 30*time.Minute {
		t.Errorf("%s are left, want 30m", left)
	}
	e.Close(at.Add(100*time.Minute), fleet.EstimateStopped)
	spent(t, e, at.Add(50*time.Hour), 3_000_000)
	if left := e.Left(at.Add(50 * time.Hour)); left != 20*time.Minute || e.Open() {
		t.Errorf("%s are left of a closed one, want 20m", left)
	}
	e = stored(at, p)
	e.Close(at.Add(-time.Hour), fleet.EstimateStopped) // of a clock that was put back
	if !e.ClosedAt.Equal(at) || e.Cost != fleet.CNY(0) {
		t.Errorf("closed at %s with %v", e.ClosedAt, e.Cost)
	}
}
