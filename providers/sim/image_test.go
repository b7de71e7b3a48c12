package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

func (b *bench) save(id string) (fleet.Ref, error) {
	return b.api.SaveImage(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: id}}, providers.ImageSpec{Name: "kept", Token: "t3"})
}

func TestASavedImageIsReadyAfterItsTime(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab", ImagePrice: fleet.CNY(3_600_000)}}})
	a := b.MustAdd(sim.Spec{ID: "a"})
	b.MustAddResource(disk, sim.Resource{ID: "d", SizeGB: 30, AttachedTo: "a"})
	b.MustAddResource(disk, sim.Resource{ID: "other", SizeGB: 7})
	b.MustAddResource(image, sim.Resource{ID: "img-0001"})
	ref, err := b.save("a")
	b.must(err)
	want := fleet.Resource{
		Ref: fleet.Ref{Kind: image, ID: "img-0002"}, Name: "kept", RawState: "creating", SizeGB: 30,
		Charge: fleet.Charge{Type: fleet.ChargeOnDemand}, Shared: fleet.No, Source: a, CreatedAt: b.time,
		Price: fleet.Price{PerHour: fleet.CNY(3_600_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
	}
	if ref != want.Ref {
		t.Errorf("the answer names %s, want %s", ref, want.Ref)
	}
	if diff := cmp.Diff(want, b.listOf(image)[ref.ID]); diff != "" {
		t.Errorf("at once, wanted (-) and got (+):\n%s", diff)
	}
	effect := sim.Effect{At: b.time, Account: "lab", Op: "save-image", Ref: a, Made: ref, By: sim.ByAPI, Token: "t3"}
	if diff := cmp.Diff([]sim.Effect{effect}, b.Effects()); diff != "" {
		t.Errorf("effects wanted (-) and got (+):\n%s", diff)
	}
	b.pass(2*time.Minute - 1)
	if b.listOf(image)[ref.ID].Ready {
		t.Error("it is ready before its time")
	}
	b.pass(1)
	want.Ready, want.RawState = true, "available"
	if diff := cmp.Diff(want, b.listOf(image)[ref.ID]); diff != "" {
		t.Errorf("after its time, wanted (-) and got (+):\n%s", diff)
	}
	b.pass(time.Minute)
	if got := b.cost(ref.ID); got != 60_000 {
		t.Errorf("it cost %d micros, want those since it was ready", got)
	}
	b.must(b.stop("a"))
	b.pass(10 * time.Second)
	b.must(b.UserReleases("a"))
	b.pass(time.Hour)
	if got := b.listOf(image)[ref.ID]; !got.Ready || got.Source != a {
		t.Errorf("after its instance is gone it is told as %+v", got)
	}
}

func TestSavingIsRefusedWhereThereIsNothingToSave(t *testing.T) {
	for name, c := range map[string]struct {
		spec sim.Spec
		do   func(b *bench)
		want fleet.ErrorKind
	}{
		"of what is stopped it is taken":   {spec: sim.Spec{State: fleet.StateStopped}},
		"of what is stopping it is not":    {do: func(b *bench) { b.must(b.UserStops("a")) }, want: fleet.Conflict},
		"of what is being created neither": {spec: sim.Spec{State: fleet.StateCreating}, want: fleet.Conflict},
		"of what was released it is not found": {spec: sim.Spec{ReleasesRunning: true}, do: func(b *bench) {
			b.must(b.UserReleases("a"))
			b.pass(time.Minute)
		}, want: fleet.NotFound},
		"of another account's it is not found": {spec: sim.Spec{Account: "home"}, want: fleet.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, sim.Options{})
			c.spec.ID = "a"
			b.MustAdd(c.spec)
			if c.do != nil {
				c.do(b)
			}
			ref, err := b.save("a")
			if fleet.KindOf(err) != c.want || ref.IsZero() == (c.want == "") {
				t.Errorf("got %s and %v, want kind %q", ref, err, c.want)
			}
			if n := len(b.listOf(image)); n != 1 && c.want == "" || n != 0 && c.want != "" {
				t.Errorf("%d images are listed", n)
			}
		})
	}
}

func TestAnImageMayComeToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		fault  sim.FaultKind
		do     func(b *bench)
		lost   bool // the answer
		first  bool // it is listed at first
		listed bool // and in the end
		ready  bool
	}{
		"it vanishes when it ought to be ready": {fault: sim.ImageVanishes, first: true},
		"it is never ready":                     {fault: sim.ImageStuck, first: true, listed: true},
		"it is accepted and forgotten":          {fault: sim.Ignored},
		"its answer is lost":                    {fault: sim.TimeoutAfter, lost: true, first: true, listed: true, ready: true},
		"its request is lost":                   {fault: sim.TimeoutBefore, lost: true},
		"its instance is released too early": {do: func(b *bench) {
			b.pass(time.Minute)
			b.must(b.UserReleases("a"))
		}, first: true, listed: true},
		"its instance is stopped": {do: func(b *bench) { b.must(b.UserStops("a")) }, first: true, listed: true, ready: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab", ImagePrice: fleet.CNY(3_600_000)}}})
			b.MustAdd(sim.Spec{ID: "a", ReleasesRunning: true})
			if c.fault != "" {
				b.Break(sim.Fault{Kind: c.fault, Times: 1})
			}
			ref, err := b.save("a")
			if errors.Is(err, fleet.OutcomeUnknown) != c.lost || err != nil && !c.lost || ref.IsZero() != c.lost {
				t.Fatalf("the answer is %s and %v", ref, err)
			}
			ref = fleet.Ref{Kind: image, ID: "img-0001"}
			if got, there := b.listOf(image)[ref.ID]; there != c.first || got.Ready {
				t.Errorf("at first it is listed: %v, ready: %v", there, got.Ready)
			}
			if c.do != nil {
				c.do(b)
			}
			b.pass(time.Hour)
			got, there := b.listOf(image)[ref.ID]
			if there != c.listed || got.Ready != c.ready {
				t.Errorf("in the end it is listed: %v, ready: %v; want %v and %v", there, got.Ready, c.listed, c.ready)
			}
			if cost := b.cost(ref.ID); cost > 0 != c.ready {
				t.Errorf("it cost %d micros", cost)
			}
		})
	}
	t.Run("a fault of saving waits for a saving", func(t *testing.T) {
		b := setup(t, sim.Options{})
		b.MustAdd(sim.Spec{ID: "a"})
		b.Break(sim.Fault{Kind: sim.ImageStuck, Times: 1})
		b.listOf(image)
		ref, err := b.save("a")
		b.must(err)
		b.pass(time.Hour)
		if b.listOf(image)[ref.ID].Ready {
			t.Error("the fault was used up by a list")
		}
	})
}
