package sim_test

import (
	"fmt"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/providertest"
	"curfew/providers/sim"
)

func TestConformance(t *testing.T) {
	for name, o := range map[string]sim.Options{
		"one scope":              {},
		"two regions":            {Accounts: []sim.Account{{Name: "lab", Regions: []string{"north", "south"}}}},
		"ids that come again":    {Ways: sim.Ways{Incarnations: true}},
		"released ones readable": {Ways: sim.Ways{ShowsReleased: true}},
		"reads that lag":         {Timing: sim.Timing{SettleLag: 15 * time.Second}},
		"tokens of no use":       {Ways: sim.Ways{IgnoresTokens: true}, Timing: sim.Timing{SettleLag: 15 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Opts{
				Kind: sim.Kind(),
				Open: func(t *testing.T) providertest.Fake { return open(t, o) },
				Lacks: map[providertest.Behaviour]string{
					providertest.Pages:      "a list is one answer",
					providertest.ShortPages: "no total is told beside a list",
				},
			})
		})
	}
}

// open makes a cloud whose clock moves only by Settle.
func open(t *testing.T, o sim.Options) providertest.Fake {
	t.Helper()
	now := time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	if o.Accounts == nil {
		o.Accounts = []sim.Account{{Name: "lab"}}
	}
	cloud := sim.New(o)
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: cloud})
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	region := ""
	if len(o.Accounts[0].Regions) > 0 {
		region = o.Accounts[0].Regions[0]
	}
	return providertest.Fake{
		Account: providers.Collect("lab", sim.Kind(), p),
		Add: func(s fleet.Scope) fleet.Ref {
			return cloud.MustAdd(sim.Spec{Region: s.Region, Price: fleet.CNY(1_980_000)})
		},
		AddResource: func(s fleet.Scope, kind fleet.ThingKind) fleet.Ref {
			added++
			return cloud.MustAddResource(kind, sim.Resource{ID: fmt.Sprintf("%s-%d", kind, added), Region: s.Region, Price: fleet.CNY(20_000)})
		},
		Use: cloud.MustUse,
		AddBill: func(b fleet.BillItem) {
			if err := cloud.Charge("lab", b); err != nil {
				t.Fatal(err)
			}
		},
		Stock: func(model string, n int) {
			_ = cloud.Offer(sim.Good{ID: model, Region: region, GPU: sim.GPU{Model: model}, Price: fleet.CNY(1_980_000)}) // it may be there by now
			if err := cloud.SetStock(model, n); err != nil {
				t.Fatal(err)
			}
		},
		Model: "RTX 4090",
		SetRawState: func(ref fleet.Ref, raw string) {
			if err := cloud.SetRawState(ref.ID, raw); err != nil {
				t.Fatal(err)
			}
		},
		Settle: func() { now = now.Add(5 * time.Minute) },
		Break: func(f providertest.Fault) {
			cloud.Break(sim.Fault{
				Kind: sim.FaultKind(f.Kind), Op: f.Op, After: f.After, Times: f.Times,
				RetryAfter: providertest.RetryIn, Reached: f.Reached,
			})
		},
		UnknownID: "sim-9999",
	}
}
