package fleet_test

import (
	"testing"
	"time"

	"curfew/fleet"
)

func TestCostSoFarIsOfARunningInstanceInThisBoot(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	price := fleet.Price{PerHour: fleet.CNY(1_980_000), Source: fleet.PriceProvider}
	for _, c := range []struct {
		name  string
		i     fleet.Instance
		want  fleet.Money
		known bool
	}{
		{"two hours", fleet.Instance{State: fleet.StateRunning, StartedAt: now.Add(-2 * time.Hour), Price: price}, fleet.CNY(3_960_000), true},
		{"nobody knows since when", fleet.Instance{State: fleet.StateRunning, Price: price}, fleet.Money{}, false},
		{"nobody knows the price", fleet.Instance{State: fleet.StateRunning, StartedAt: now.Add(-time.Hour)}, fleet.Money{}, false},
		{"stopped", fleet.Instance{State: fleet.StateStopped, StartedAt: now.Add(-time.Hour), Price: price}, fleet.Money{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, known := c.i.CostSoFar(now); got != c.want || known != c.known {
				t.Errorf("CostSoFar = %v, %t; want %v, %t", got, known, c.want, c.known)
			}
		})
	}
}
