package providers_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

func TestStampPutsIdentityOnEverythingThatComesOut(t *testing.T) {
	a, cloud := open(t, evening)
	cloud.MustAdd(sim.Spec{ID: "sim-a", Parent: "task-7", Image: "base"})
	cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "d-1", AttachedTo: "sim-a"})
	cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "d-2"})
	cloud.MustAddResource(fleet.KindSnapshot, sim.Resource{ID: "s-1", OfDisk: "d-1"})
	cloud.MustAddResource(fleet.KindImage, sim.Resource{ID: "base", OfSnapshot: "s-1"})
	cloud.MustAddResource(fleet.KindPublicIP, sim.Resource{ID: "e-1", AttachedTo: "sim-a"})
	a = a.With(providers.Stamp("sim:u-lab"))
	if a.Identity != "sim:u-lab" {
		t.Errorf("the account's identity is %q", a.Identity)
	}
	want := fleet.Ref{Account: "sim:u-lab", Kind: fleet.KindInstance, ID: "sim-a"}
	list, err := a.Instances(t.Context(), a.Scopes[0])
	if err != nil {
		t.Fatal(err)
	}
	read, err := a.Instance(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	for where, i := range map[string]fleet.Instance{"list": list[0], "read": read} {
		if i.Ref != want || i.Parent.Account != "sim:u-lab" || i.AccountName != "lab" || i.Provider != "sim" {
			t.Errorf("in the %s: ref %s, parent %s, account %q, provider %q", where, i.Ref, i.Parent, i.AccountName, i.Provider)
		}
	}
	of := func(kind fleet.ThingKind, id string) fleet.Ref {
		return fleet.Ref{Account: "sim:u-lab", Kind: kind, ID: id}
	}
	type refs struct {
		Ref, AttachedTo, Source fleet.Ref
		UsedBy                  []fleet.Ref
	}
	got := map[fleet.ThingKind][]refs{}
	for kind, list := range a.Resources {
		rs, err := list(t.Context(), a.Scopes[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rs {
			got[kind] = append(got[kind], refs{r.Ref, r.AttachedTo, r.Source, r.UsedBy})
			if r.AccountName != "lab" || r.Provider != "sim" {
				t.Errorf("%s is of account %q and provider %q", r.Ref, r.AccountName, r.Provider)
			}
		}
	}
	wanted := map[fleet.ThingKind][]refs{
		fleet.KindDisk:     {{Ref: of(fleet.KindDisk, "d-1"), AttachedTo: want}, {Ref: of(fleet.KindDisk, "d-2")}},
		fleet.KindSnapshot: {{Ref: of(fleet.KindSnapshot, "s-1"), Source: of(fleet.KindDisk, "d-1"), UsedBy: []fleet.Ref{of(fleet.KindImage, "base")}}},
		fleet.KindImage:    {{Ref: of(fleet.KindImage, "base"), Source: of(fleet.KindSnapshot, "s-1"), UsedBy: []fleet.Ref{want}}},
		fleet.KindPublicIP: {{Ref: of(fleet.KindPublicIP, "e-1"), AttachedTo: want}},
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("references wanted (-) and got (+):\n%s", diff)
	}
	saved, err := a.SaveImage(t.Context(), read, providers.ImageSpec{})
	if err != nil || saved != of(fleet.KindImage, saved.ID) {
		t.Errorf("the saved image is %s, %v", saved, err)
	}
}

func TestStampPutsIdentityOnWhatWasBilled(t *testing.T) {
	below := []fleet.BillItem{{Ref: fleet.Ref{Kind: fleet.KindDisk, ID: "d"}, Item: fleet.ItemDisk}, {Item: fleet.ItemTraffic}}
	a := providers.Account{BillItems: func(context.Context, time.Time, time.Time) ([]fleet.BillItem, error) { return below, nil }}
	got, err := a.With(providers.Stamp("x:1")).BillItems(t.Context(), evening(), evening())
	want := []fleet.BillItem{{Ref: fleet.Ref{Account: "x:1", Kind: fleet.KindDisk, ID: "d"}, Item: fleet.ItemDisk}, {Item: fleet.ItemTraffic}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("items wanted (-) and got (+), %v:\n%s", err, diff)
	}
	if below[0].Ref.Account != "" {
		t.Error("the adapter's own slice was written to")
	}
}

func TestStampPutsTheAccountOnOffersAndOrders(t *testing.T) {
	below := []fleet.Offer{{SKU: "g", Available: 1}}
	plain := providers.Account{
		Name: "lab", Kind: providers.Kind{Name: "x"},
		Offers: func(context.Context, fleet.OfferQuery) ([]fleet.Offer, error) { return below, nil },
		Order: func(_ context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
			if spec.Name == "" {
				return fleet.Ref{}, &fleet.Error{Op: "x: order", Kind: fleet.Invalid}
			}
			return fleet.Ref{Kind: fleet.KindInstance, ID: spec.Name}, nil
		},
	}
	a := plain.With(providers.Stamp("x:1"))
	got, err := a.Offers(t.Context(), fleet.OfferQuery{})
	want := []fleet.Offer{{Account: "x:1", AccountName: "lab", Provider: "x", SKU: "g", Available: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("offers wanted (-) and got (+), %v:\n%s", err, diff)
	}
	if below[0].Account != "" {
		t.Error("the adapter's own slice was written to")
	}
	ref, err := a.Order(t.Context(), anOrder())
	if want := (fleet.Ref{Account: "x:1", Kind: fleet.KindInstance, ID: "n"}); ref != want || err != nil {
		t.Errorf("the order answers %s and %v, want %s", ref, err, want)
	}
	if ref, err := a.Order(t.Context(), fleet.OrderSpec{}); !ref.IsZero() || fleet.KindOf(err) != fleet.Invalid {
		t.Errorf("the failed order answers %s and %v, want nothing and the error as it is", ref, err)
	}
}

func TestStampLeavesTheListBelowItAlone(t *testing.T) {
	below := []fleet.Instance{{Ref: fleet.Ref{Kind: fleet.KindInstance, ID: "a"}}}
	a := providers.Account{
		Name: "lab", Kind: providers.Kind{Name: "x"},
		Instances: func(context.Context, fleet.Scope) ([]fleet.Instance, error) { return below, nil },
	}.With(providers.Stamp("x:1"))
	if _, err := a.Instances(t.Context(), fleet.Scope{}); err != nil {
		t.Fatal(err)
	}
	if below[0].Ref.Account != "" {
		t.Error("the adapter's own slice was written to")
	}
	snapshots := []fleet.Resource{{Ref: fleet.Ref{Kind: fleet.KindSnapshot, ID: "s"}, UsedBy: []fleet.Ref{{Kind: fleet.KindImage, ID: "i"}}}}
	plain := providers.Account{Resources: map[fleet.ThingKind]providers.Lister{
		fleet.KindSnapshot: func(context.Context, fleet.Scope) ([]fleet.Resource, error) { return snapshots, nil },
	}}
	stamped, err := plain.With(providers.Stamp("x:1")).Resources[fleet.KindSnapshot](t.Context(), fleet.Scope{})
	if err != nil || stamped[0].UsedBy[0].Account != "x:1" {
		t.Fatalf("stamped it is %+v, %v", stamped, err)
	}
	if snapshots[0].Ref.Account != "" || snapshots[0].UsedBy[0].Account != "" {
		t.Error("the adapter's own slices were written to")
	}
	if rs, err := plain.Resources[fleet.KindSnapshot](t.Context(), fleet.Scope{}); err != nil || rs[0].Ref.Account != "" {
		t.Errorf("the account below lists %+v, %v: its own functions were replaced", rs, err)
	}
}
