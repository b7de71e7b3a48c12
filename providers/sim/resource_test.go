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

const disk, snapshot, image, ip = fleet.KindDisk, fleet.KindSnapshot, fleet.KindImage, fleet.KindPublicIP

func (b *bench) listOf(kind fleet.ThingKind) map[string]fleet.Resource {
	b.Helper()
	rs, err := b.api.Resources[kind](b.Context(), b.api.Scopes[0])
	b.must(err)
	out := map[string]fleet.Resource{}
	for _, r := range rs {
		out[r.Ref.ID] = r
	}
	return out
}

func (b *bench) remove(kind fleet.ThingKind, id string) error {
	return b.api.Delete[kind](b.Context(), fleet.Resource{Ref: fleet.Ref{Kind: kind, ID: id}}, providers.DeleteOptions{Token: "t2"})
}

func (b *bench) release(id string, o providers.ReleaseOptions) error {
	return b.api.Release(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: id}}, o)
}

func TestResourcesAreToldAsTheirSpecSays(t *testing.T) {
	b := setup(t, sim.Options{})
	price := fleet.CNY(20_000)
	a := b.MustAdd(sim.Spec{ID: "a", Image: "img"})
	b.MustAddResource(disk, sim.Resource{
		ID: "d", Name: "data", Labels: map[string]string{"team": "vision"}, Owner: "wang", SizeGB: 200, Price: price,
		AttachedTo: "a", System: true, Age: 2 * time.Hour,
	})
	b.MustAddResource(snapshot, sim.Resource{ID: "s", OfDisk: "long-gone", Price: price, Protected: true, Shared: "yes"})
	b.MustAddResource(image, sim.Resource{ID: "img", OfSnapshot: "s", Price: price, Shared: "unknown", Unread: []string{"labels"}, Labels: map[string]string{"a": "b"}})
	b.MustAddResource(ip, sim.Resource{ID: "e", Address: "203.0.113.7", Price: price, PriceAttached: fleet.CNY(0), Age: 5 * time.Hour, DetachedFor: 3 * time.Hour})
	b.MustAddResource(disk, sim.Resource{ID: "paid", HidesPrice: true, Charge: fleet.ChargePeriod, EndsIn: 48 * time.Hour, WithInstance: "unknown"})

	onDemand := fleet.Charge{Type: fleet.ChargeOnDemand}
	told := fleet.Price{PerHour: price, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	hour := b.time.Add(-time.Hour)
	for kind, want := range map[fleet.ThingKind]map[string]fleet.Resource{
		disk: {
			"d": {
				Ref: fleet.Ref{Kind: disk, ID: "d"}, Name: "data", Labels: map[string]string{"team": "vision"}, Owner: "wang",
				Ready: true, RawState: "in-use", Charge: onDemand, Price: told, SizeGB: 200, Shared: fleet.No,
				AttachedTo: a, WithInstance: fleet.Yes, System: true, CreatedAt: b.time.Add(-2 * time.Hour),
			},
			"paid": {
				Ref: fleet.Ref{Kind: disk, ID: "paid"}, Ready: true, RawState: "available", Shared: fleet.No, CreatedAt: hour,
				Charge: fleet.Charge{Type: fleet.ChargePeriod, End: b.time.Add(48 * time.Hour)},
			},
		},
		snapshot: {"s": {
			Ref: fleet.Ref{Kind: snapshot, ID: "s"}, Ready: true, RawState: "available", Charge: onDemand, Price: told,
			Protected: true, Shared: fleet.Yes, Source: fleet.Ref{Kind: disk, ID: "long-gone"},
			UsedBy: []fleet.Ref{{Kind: image, ID: "img"}}, CreatedAt: hour,
		}},
		image: {"img": {
			Ref: fleet.Ref{Kind: image, ID: "img"}, Ready: true, RawState: "available", Charge: onDemand, Price: told,
			Source: fleet.Ref{Kind: snapshot, ID: "s"}, UsedBy: []fleet.Ref{a}, CreatedAt: hour, Unread: []string{"labels"},
		}},
		ip: {"e": {
			Ref: fleet.Ref{Kind: ip, ID: "e"}, Name: "203.0.113.7", Ready: true, RawState: "available", Charge: onDemand, Price: told,
			Shared: fleet.No, CreatedAt: b.time.Add(-5 * time.Hour), DetachedAt: b.time.Add(-3 * time.Hour),
		}},
	} {
		if diff := cmp.Diff(want, b.listOf(kind)); diff != "" {
			t.Errorf("%ss wanted (-) and got (+):\n%s", kind, diff)
		}
	}
	b.must(b.Attach(fleet.Ref{Kind: ip, ID: "e"}, "a"))
	if got := b.listOf(ip)["e"]; got.AttachedTo != a || !got.DetachedAt.IsZero() || got.Price.PerHour != fleet.CNY(0) {
		t.Errorf("attached, the address is told as %+v", got)
	}
}

func TestDeletionsAreRefusedAsThePlatformWould(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  fleet.ThingKind
		spec  sim.Resource
		first func(b *bench)
		want  fleet.ErrorKind
	}{
		{name: "a disk that belongs to nothing goes", kind: disk},
		{name: "a snapshot that nothing was made of goes", kind: snapshot},
		{name: "an image that nothing runs goes", kind: image},
		{name: "an address that belongs to nothing goes", kind: ip},
		{name: "an attached disk stays", kind: disk, spec: sim.Resource{AttachedTo: "a"}, want: fleet.Conflict},
		{name: "an attached address stays", kind: ip, spec: sim.Resource{AttachedTo: "a"}, want: fleet.Conflict},
		{name: "a detached disk goes", kind: disk, spec: sim.Resource{AttachedTo: "a"}, first: func(b *bench) {
			b.must(b.Detach(fleet.Ref{Kind: disk, ID: "x"}))
		}},
		{name: "a disk whose instance is being released stays", kind: disk, spec: sim.Resource{AttachedTo: "a"}, first: func(b *bench) {
			b.must(b.UserReleases("a"))
		}, want: fleet.Conflict},
		{name: "a disk whose instance was released goes", kind: disk, spec: sim.Resource{AttachedTo: "a"}, first: func(b *bench) {
			b.must(b.UserReleases("a"))
			b.pass(5 * time.Second)
		}},
		{name: "a snapshot that an image was made of stays", kind: snapshot, first: func(b *bench) {
			b.MustAddResource(image, sim.Resource{ID: "img", OfSnapshot: "x"})
		}, want: fleet.Conflict},
		{name: "a snapshot that only another account's image names goes", kind: snapshot, first: func(b *bench) {
			b.MustAddResource(image, sim.Resource{ID: "img", Account: "home", OfSnapshot: "x"})
		}},
		{name: "an image that only another account's instance names goes", kind: image, first: func(b *bench) {
			b.MustAdd(sim.Spec{ID: "b", Account: "home", Image: "x"})
		}},
		{name: "a snapshot whose image was deleted goes", kind: snapshot, first: func(b *bench) {
			ref := b.MustAddResource(image, sim.Resource{ID: "img", OfSnapshot: "x"})
			b.must(b.UserDeletes(ref))
			b.pass(5 * time.Second)
		}},
		{name: "an image that an instance was made of stays", kind: image, first: func(b *bench) {
			b.MustAdd(sim.Spec{ID: "b", Image: "x"})
		}, want: fleet.Conflict},
		{name: "an image whose instance was released goes", kind: image, first: func(b *bench) {
			b.MustAdd(sim.Spec{ID: "b", Image: "x", ReleasesRunning: true})
			b.must(b.UserReleases("b"))
			b.pass(5 * time.Second)
		}},
		{name: "what is protected stays", kind: snapshot, spec: sim.Resource{Protected: true}, want: fleet.Conflict},
		{name: "what the user protects stays", kind: image, first: func(b *bench) {
			b.must(b.SetResourceProtected(fleet.Ref{Kind: image, ID: "x"}, true))
		}, want: fleet.Conflict},
		{name: "what is still being made stays", kind: snapshot, spec: sim.Resource{ReadyIn: time.Minute}, want: fleet.Conflict},
		{name: "what was being made goes when it is ready", kind: snapshot, spec: sim.Resource{ReadyIn: time.Minute}, first: func(b *bench) {
			b.pass(time.Minute)
		}},
		{name: "a second deletion is a conflict", kind: disk, first: func(b *bench) { b.must(b.remove(disk, "x")) }, want: fleet.Conflict},
		{name: "a deletion of what is gone is not found", kind: disk, first: func(b *bench) {
			b.must(b.remove(disk, "x"))
			b.pass(5 * time.Second)
		}, want: fleet.NotFound},
		{name: "another kind's id is not found", kind: disk, spec: sim.Resource{ID: "y"}, want: fleet.NotFound},
		{name: "another account's is not found", kind: disk, spec: sim.Resource{Account: "home"}, want: fleet.NotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, sim.Options{})
			b.MustAdd(sim.Spec{ID: "a", ReleasesRunning: true})
			if c.spec.ID == "" {
				c.spec.ID = "x"
			}
			ref := b.MustAddResource(c.kind, c.spec)
			if c.first != nil {
				c.first(b)
			}
			before := b.Effects()
			err := b.remove(c.kind, "x")
			if fleet.KindOf(err) != c.want {
				t.Fatalf("got %v, want kind %q", err, c.want)
			}
			took := b.Effects()[len(before):]
			if c.want != "" {
				if len(took) != 0 {
					t.Errorf("refused, it had the effects %+v", took)
				}
				return
			}
			want := []sim.Effect{{At: b.time, Account: "lab", Op: "delete-" + string(c.kind), Ref: ref, By: sim.ByAPI, Token: "t2"}}
			if diff := cmp.Diff(want, took); diff != "" {
				t.Errorf("effects wanted (-) and got (+):\n%s", diff)
			}
			if r := b.listOf(c.kind)["x"]; r.Ready || r.RawState != "deleting" {
				t.Errorf("accepted, it is told as ready %v and %q", r.Ready, r.RawState)
			}
			b.pass(5 * time.Second)
			if r, there := b.listOf(c.kind)["x"]; there || b.Exists(ref) {
				t.Errorf("after its deletion the list has %+v", r)
			}
		})
	}
}

func TestListsOfResourcesLagBehindWrites(t *testing.T) {
	const lag = 15 * time.Second
	b := setup(t, sim.Options{Timing: sim.Timing{SettleLag: lag}})
	b.MustAdd(sim.Spec{ID: "a"})
	ref := b.MustAddResource(disk, sim.Resource{ID: "d", Age: time.Second})
	if d := b.listOf(disk)["d"]; !d.Ready {
		t.Errorf("what is younger than the lag is told as %+v", d)
	}
	b.must(b.Attach(ref, "a"))
	b.pass(time.Minute)
	b.must(b.Detach(ref))
	b.must(b.remove(disk, "d"))
	saved, err := b.api.SaveImage(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "a"}}, providers.ImageSpec{})
	b.must(err)
	b.pass(lag - time.Second)
	if d := b.listOf(disk)["d"]; d.AttachedTo.ID != "a" || !d.Ready {
		t.Errorf("before the lag has passed the disk is told as %+v", d)
	}
	if got := b.listOf(image); len(got) != 0 {
		t.Errorf("before the lag has passed the images are %v", got)
	}
	if b.Exists(ref) {
		t.Error("in truth the disk is still there")
	}
	b.pass(time.Second)
	if d := b.listOf(disk)["d"]; !d.AttachedTo.IsZero() || d.RawState != "deleting" {
		t.Errorf("after the lag the disk is told as %+v", d)
	}
	if _, ok := b.listOf(image)[saved.ID]; !ok {
		t.Error("after the lag the image is not listed")
	}
	b.pass(5 * time.Second)
	if got := b.listOf(disk); len(got) != 0 {
		t.Errorf("after the lag and the deletion the disks are %v", got)
	}
}

func TestDeletionsMeetTheSameFaults(t *testing.T) {
	for kind, c := range map[sim.FaultKind]struct {
		want fleet.ErrorKind
		gone bool
	}{
		sim.RateLimit:     {want: fleet.RateLimited},
		sim.LostRights:    {want: fleet.Unauthorized},
		sim.TimeoutBefore: {want: fleet.OutcomeUnknown},
		sim.TimeoutAfter:  {want: fleet.OutcomeUnknown, gone: true},
		sim.Ignored:       {},
	} {
		for _, thing := range fleet.ResourceKinds() {
			t.Run(string(kind)+" of a "+string(thing), func(t *testing.T) {
				b := setup(t, sim.Options{})
				ref := b.MustAddResource(thing, sim.Resource{ID: "x"})
				b.Break(sim.Fault{Kind: kind, Op: "delete-" + string(thing)})
				if err := b.remove(thing, "x"); fleet.KindOf(err) != c.want {
					t.Errorf("got %v, want kind %q", err, c.want)
				}
				b.pass(time.Minute)
				if b.Exists(ref) == c.gone || len(b.Effects()) == 1 != c.gone {
					t.Errorf("it is there: %v; effects are %+v", b.Exists(ref), b.Effects())
				}
			})
		}
	}
	for _, kind := range fleet.ResourceKinds() {
		b := setup(t, sim.Options{})
		b.MustAddResource(kind, sim.Resource{ID: "x"})
		b.MustAddResource(kind, sim.Resource{ID: "y"})
		b.Break(sim.Fault{Kind: sim.ShortList, Op: string(kind) + "s", Times: 1})
		b.Break(sim.Fault{Kind: sim.EmptyList, Op: string(kind) + "s", Times: 1})
		b.Break(sim.Fault{Kind: sim.LostRights, Op: string(kind) + "s"})
		for _, want := range []int{1, 0} {
			if got := b.listOf(kind); len(got) != want {
				t.Errorf("the list of %ss has %d, want %d", kind, len(got), want)
			}
		}
		if rs, err := b.api.Resources[kind](t.Context(), b.api.Scopes[0]); !errors.Is(err, fleet.Unauthorized) || rs != nil {
			t.Errorf("without rights the list of %ss is %v, %v", kind, rs, err)
		}
	}
}

func TestTheUsersHandShowsOnResources(t *testing.T) {
	b := setup(t, sim.Options{})
	a := b.MustAdd(sim.Spec{ID: "a", ReleasesRunning: true})
	b.MustAdd(sim.Spec{ID: "b"})
	ref := b.MustAddResource(disk, sim.Resource{ID: "d", Labels: map[string]string{"old": "1"}, Owner: "wang"})
	snap := b.MustAddResource(snapshot, sim.Resource{ID: "s"})
	b.must(b.SetResourceLabel(ref, "curfew", "keep"))
	b.must(b.SetResourceLabel(ref, "old", ""))
	b.must(b.SetResourceUnread(ref, "owner"))
	b.must(b.Attach(ref, "a"))
	if d := b.listOf(disk)["d"]; len(d.Labels) != 1 || d.Labels["curfew"] != "keep" || d.Owner != "" || len(d.Unread) != 1 || d.AttachedTo != a {
		t.Errorf("it is shown as %+v", d)
	}
	b.listOf(disk)["d"].Labels["curfew"] = "changed by a reader"
	if got := b.listOf(disk)["d"].Labels["curfew"]; got != "keep" {
		t.Errorf("a reader changed the cloud's own label to %q", got)
	}
	for name, err := range map[string]error{
		"attach what is attached":     b.Attach(ref, "b"),
		"attach a snapshot":           b.Attach(snap, "a"),
		"delete what is attached":     b.UserDeletes(ref),
		"detach what is not attached": b.Detach(snap),
		"label what is not there":     b.SetResourceLabel(fleet.Ref{Kind: disk, ID: "none"}, "a", "b"),
	} {
		if err == nil {
			t.Errorf("%s gives no error", name)
		}
	}
	b.must(b.UserReleases("a"))
	b.pass(time.Minute)
	b.must(b.Attach(ref, "b"))
	if got := b.listOf(disk)["d"].AttachedTo.ID; got != "b" {
		t.Errorf("attached again, it belongs to %q", got)
	}
	if err := b.Attach(ref, "a"); err == nil {
		t.Error("it was attached to what is gone")
	}
	b.must(b.Detach(ref))
	b.must(b.UserDeletes(ref))
	if err := b.Attach(ref, "b"); err == nil {
		t.Error("it was attached while it is being deleted")
	}
	want := sim.Effect{At: b.time, Account: "lab", Op: "delete-disk", Ref: ref, By: sim.ByUser}
	if diff := cmp.Diff(want, b.Effects()[1]); diff != "" {
		t.Errorf("the effect wanted (-) and got (+):\n%s", diff)
	}
}

func TestAnIDComesAgainOnceItIsFree(t *testing.T) {
	b := setup(t, sim.Options{})
	ref := b.MustAddResource(ip, sim.Resource{ID: "e", Price: fleet.CNY(3_600_000)})
	b.pass(time.Minute)
	b.must(b.remove(ip, "e"))
	if _, err := b.AddResource(ip, sim.Resource{ID: "e"}); err == nil {
		t.Error("the id was given to a second address while the first is there")
	}
	b.pass(5 * time.Second)
	if again := b.MustAddResource(ip, sim.Resource{ID: "e", Price: fleet.CNY(7_200_000)}); again != ref {
		t.Errorf("the second is %s, want %s", again, ref)
	}
	b.pass(time.Minute)
	if got := b.listOf(ip)["e"]; !got.Ready || got.Price.PerHour != fleet.CNY(7_200_000) {
		t.Errorf("it is told as %+v", got)
	}
	if got := b.cost("e"); got != 65_000+120_000 {
		t.Errorf("both cost %d micros", got)
	}
}
