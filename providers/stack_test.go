package providers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/providertest"
	"curfew/providers/sim"
)

// open gives an account in a simulated cloud, and the cloud.
func open(t *testing.T, now func() time.Time) (providers.Account, *sim.Cloud) {
	t.Helper()
	cloud := sim.New(sim.Options{Now: now, Accounts: []sim.Account{{Name: "lab"}}})
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: cloud})
	if err != nil {
		t.Fatal(err)
	}
	return providers.Collect("lab", sim.Kind(), p), cloud
}

func evening() time.Time { return time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC) }

func asItIs(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
	return next(ctx)
}

func TestEveryStackOfDecoratorsConforms(t *testing.T) {
	const readOnly = "the stack is read-only"
	stamp, timeout, around := providers.Stamp("sim:u-lab"), providers.Timeout(time.Minute, time.Minute), providers.Around(asItIs)
	for _, stack := range []struct {
		name  string
		ds    []providers.Decorator
		lacks map[providertest.Behaviour]string
	}{
		{name: "none"},
		{name: "stamp", ds: []providers.Decorator{stamp}},
		{name: "timeout", ds: []providers.Decorator{timeout}},
		{name: "around", ds: []providers.Decorator{around}},
		{name: "read only", ds: []providers.Decorator{providers.ReadOnlyAccount()}, lacks: map[providertest.Behaviour]string{providertest.Writes: readOnly}},
		{name: "all that write", ds: []providers.Decorator{around, timeout, stamp, around}},
		{name: "all", ds: []providers.Decorator{around, timeout, stamp, providers.ReadOnlyAccount()}, lacks: map[providertest.Behaviour]string{providertest.Writes: readOnly}},
	} {
		t.Run(stack.name, func(t *testing.T) {
			lacks := map[providertest.Behaviour]string{
				providertest.Pages:      "a list is one answer",
				providertest.ShortPages: "no total is told beside a list",
			}
			for b, why := range stack.lacks {
				lacks[b] = why
			}
			providertest.Run(t, providertest.Opts{
				Kind:  sim.Kind(),
				Lacks: lacks,
				Open: func(t *testing.T) providertest.Fake {
					now := evening()
					a, cloud := open(t, func() time.Time { return now })
					added := 0
					return providertest.Fake{
						Account: a.With(stack.ds...),
						Add:     func(s fleet.Scope) fleet.Ref { return cloud.MustAdd(sim.Spec{Region: s.Region}) },
						AddResource: func(s fleet.Scope, kind fleet.ThingKind) fleet.Ref {
							added++
							return cloud.MustAddResource(kind, sim.Resource{ID: fmt.Sprintf("%s-%d", kind, added), Region: s.Region})
						},
						Use: cloud.MustUse,
						AddBill: func(b fleet.BillItem) {
							if err := cloud.Charge("lab", b); err != nil {
								t.Fatal(err)
							}
						},
						Stock: func(model string, n int) {
							_ = cloud.Offer(sim.Good{ID: model, Region: "", GPU: sim.GPU{Model: model}, Price: fleet.CNY(1_980_000)}) // it may be there by now
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
				},
			})
		})
	}
}
