package providers_test

import (
	"context"
	"testing"

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
