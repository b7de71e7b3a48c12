package fleet_test

import (
	"encoding/json"
	"testing"
	"time"

	"curfew/fleet"
)

func TestEvidenceIsFreshForItsTime(t *testing.T) {
	now := time.Date(2026, 11, 3, 2, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		age, freshFor time.Duration
		want          bool
	}{
		"begun just now":                     {0, 70 * time.Second, true},
		"within its time":                    {69 * time.Second, 70 * time.Second, true},
		"at the end of its time":             {70 * time.Second, 70 * time.Second, true},
		"past its time":                      {70*time.Second + 1, 70 * time.Second, false},
		"from the future":                    {-1, 70 * time.Second, false},
		"long from the future":               {-time.Hour, 70 * time.Second, false},
		"of a source that gave no freshness": {time.Second, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := fleet.Evidence{SeenAt: now.Add(-c.age), FreshFor: c.freshFor}
			if got := e.Fresh(now); got != c.want {
				t.Fatalf("fresh = %v, want %v", got, c.want)
			}
		})
	}
	t.Run("never taken", func(t *testing.T) {
		if (fleet.Evidence{FreshFor: time.Hour}).Fresh(now) {
			t.Fatal("a look that never began is fresh")
		}
	})
}

func TestActivitiesAreWords(t *testing.T) {
	for _, a := range []fleet.Activity{fleet.Unknown, fleet.Busy, fleet.Idle} {
		data, err := json.Marshal(a)
		if err != nil || string(data) != `"`+a.String()+`"` {
			t.Fatalf("%s is written as %s, %v", a, data, err)
		}
		got := fleet.Activity(-1)
		if err := json.Unmarshal(data, &got); err != nil || got != a {
			t.Errorf("%s is read as %v, %v", data, got, err)
		}
	}
}

func TestAnUnknownWordIsUnknownActivity(t *testing.T) {
	got := fleet.Idle
	if err := json.Unmarshal([]byte(`"resting"`), &got); err != nil || got != fleet.Unknown {
		t.Fatalf("got %v, %v", got, err)
	}
	if s := fleet.Activity(7).String(); s != "unknown" {
		t.Errorf("a value outside the range is called %s", s)
	}
}

func TestCostNowFollowsTheState(t *testing.T) {
	price := func(micros int64) fleet.Price {
		return fleet.Price{PerHour: fleet.CNY(micros), Source: fleet.PriceProvider}
	}
	base := fleet.Instance{Price: price(5), OnStop: fleet.OnStop{EndsBilling: fleet.Yes, StillCosts: price(1)}}
	for name, c := range map[string]struct {
		state fleet.State
		ends  fleet.Tri
		want  fleet.Price
	}{
		"running costs the price":                  {fleet.StateRunning, fleet.Yes, price(5)},
		"an unknown state costs the price":         {fleet.StateUnknown, fleet.Yes, price(5)},
		"stopped costs what is left":               {fleet.StateStopped, fleet.Yes, price(1)},
		"stopped where a stop ends no billing":     {fleet.StateStopped, fleet.No, price(5)},
		"released costs nothing that anybody told": {fleet.StateReleased, fleet.Yes, fleet.Price{}},
	} {
		t.Run(name, func(t *testing.T) {
			i := base
			i.State, i.OnStop.EndsBilling = c.state, c.ends
			if got := i.CostNow(); got != c.want {
				t.Fatalf("costs %v, want %v", got, c.want)
			}
		})
	}
}
