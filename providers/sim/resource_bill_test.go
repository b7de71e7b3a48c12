package sim_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

func TestResourcesAreBilledForAsLongAsTheyAreThere(t *testing.T) {
	const hour = 3_600_000 // micros an hour: 1000 a second
	price := fleet.CNY(hour)
	for _, c := range []struct {
		name string
		kind fleet.ThingKind
		spec sim.Resource
		do   func(b *bench)
		want int64
	}{
		{"a disk from when it was added", disk, sim.Resource{Price: price, Age: 100 * time.Hour}, func(b *bench) {
			b.pass(90 * time.Second)
		}, 90_000},
		{"until it is deleted, not only asked to be", disk, sim.Resource{Price: price}, func(b *bench) {
			b.pass(time.Minute)
			b.must(b.remove(disk, "x"))
			b.pass(time.Hour)
		}, 65_000},
		{"until it goes with its instance", disk, sim.Resource{Price: price, AttachedTo: "a", WithInstance: "yes"}, func(b *bench) {
			b.pass(time.Minute)
			b.must(b.UserReleases("a"))
			b.pass(time.Hour)
		}, 65_000},
		{"on and on where it is left behind", disk, sim.Resource{Price: price, AttachedTo: "a"}, func(b *bench) {
			b.pass(time.Minute)
			b.must(b.UserReleases("a"))
			b.pass(time.Minute)
		}, 120_000},
		{"until it goes because the release asks for it", disk, sim.Resource{Price: price, AttachedTo: "a"}, func(b *bench) {
			b.must(b.release("a", providers.ReleaseOptions{WithDisks: true}))
			b.pass(time.Hour)
		}, 5_000},
		{"a period is paid", disk, sim.Resource{Price: price, Charge: fleet.ChargePeriod}, func(b *bench) {
			b.pass(time.Hour)
		}, 0},
		{"a snapshot once it is ready", snapshot, sim.Resource{Price: price, ReadyIn: 30 * time.Second}, func(b *bench) {
			b.pass(time.Minute)
		}, 30_000},
		{"an image that is never ready costs nothing", image, sim.Resource{Price: price, ReadyIn: -1}, func(b *bench) {
			b.pass(time.Hour)
		}, 0},
		{"an address that is free in use", ip, sim.Resource{Price: price, PriceAttached: fleet.CNY(0)}, func(b *bench) {
			ref := fleet.Ref{Kind: ip, ID: "x"}
			b.pass(10 * time.Second)
			b.must(b.Attach(ref, "a"))
			b.pass(time.Hour)
			b.must(b.Detach(ref))
			b.pass(20 * time.Second)
		}, 30_000},
		{"an address that costs less in use", ip, sim.Resource{Price: price, PriceAttached: fleet.CNY(hour / 10), AttachedTo: "a"}, func(b *bench) {
			b.pass(95 * time.Second)
			b.must(b.UserReleases("a"))
			b.pass(65 * time.Second)
		}, 10_000 + 60_000},
		{"an address that costs the same in use", ip, sim.Resource{Price: price, AttachedTo: "a"}, func(b *bench) {
			b.pass(time.Minute)
			b.must(b.Detach(fleet.Ref{Kind: ip, ID: "x"}))
			b.pass(time.Minute)
		}, 120_000},
		{"an address until it is given back with its instance", ip, sim.Resource{Price: price, AttachedTo: "a"}, func(b *bench) {
			b.must(b.release("a", providers.ReleaseOptions{WithPublicIPs: true}))
			b.pass(time.Hour)
		}, 5_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, sim.Options{})
			b.MustAdd(sim.Spec{ID: "a", ReleasesRunning: true})
			c.spec.ID = "x"
			b.MustAddResource(c.kind, c.spec)
			c.do(b)
			if got := b.cost("x"); got != c.want {
				t.Errorf("it cost %d micros, want %d", got, c.want)
			}
			if got := b.wallet().Spent.Micros; got != c.want {
				t.Errorf("the wallet says %d micros were spent, want %d", got, c.want)
			}
		})
	}
}

// Whatever happens, what is billed is second for second the price that the lists
// show, no line ever falls, and the lines sum up to what the wallet has lost.
func TestTheBillOfResourcesIsWhatTheListsShow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seconds := func(what string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(rt, what)) * time.Second
		}
		price := func(what string) fleet.Money {
			return fleet.CNY(3600 * rapid.Int64Range(0, 5000).Draw(rt, what))
		}
		b := setup(t, sim.Options{
			Accounts: []sim.Account{{Name: "lab", ImagePrice: price("image price")}},
			Timing: sim.Timing{
				ReleaseTime: seconds("release", 1, 20), DeleteTime: seconds("delete", 1, 20),
				ImageTime: seconds("image", 1, 40), StopTime: seconds("stop", 1, 10), AutoRelease: seconds("auto", 0, 60),
			},
		})
		ids := []string{"a", "b"}
		for _, id := range ids {
			b.MustAdd(sim.Spec{ID: id, Price: price("price"), Image: rapid.SampledFrom([]string{"", "image-0"}).Draw(rt, "image"),
				ReleasesRunning: rapid.Bool().Draw(rt, "releases running")})
		}
		var refs []fleet.Ref
		for _, kind := range fleet.ResourceKinds() {
			for n := range rapid.IntRange(0, 2).Draw(rt, string(kind)+"s") {
				s := sim.Resource{ID: fmt.Sprintf("%s-%d", kind, n), Price: price("price"), Protected: rapid.IntRange(0, 4).Draw(rt, "protected") == 0}
				switch kind {
				case disk, ip:
					s.AttachedTo = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "attached to")
					if rapid.Bool().Draw(rt, "another price") {
						s.PriceAttached = price("price attached")
					}
				case snapshot:
					s.ReadyIn = seconds("ready in", -1, 30)
				case image:
					s.OfSnapshot = "snapshot-0"
				}
				if kind == disk {
					s.WithInstance = rapid.SampledFrom([]sim.Answer{"yes", "no", "unknown"}).Draw(rt, "with instance")
				}
				refs = append(refs, b.MustAddResource(kind, s))
			}
		}
		for _, f := range []sim.FaultKind{sim.ImageVanishes, sim.ImageStuck, sim.TimeoutAfter} {
			if rapid.IntRange(0, 3).Draw(rt, string(f)) == 0 {
				b.Break(sim.Fault{Kind: f, Op: "save-image", Times: 1})
			}
		}
		act := func() {
			id := rapid.SampledFrom(ids).Draw(rt, "instance")
			switch what := rapid.IntRange(0, 4).Draw(rt, "what"); {
			case what == 0:
				_ = b.UserStops(id)
			case what == 1:
				_ = b.release(id, providers.ReleaseOptions{WithDisks: rapid.Bool().Draw(rt, "with disks"), WithPublicIPs: rapid.Bool().Draw(rt, "with ips")})
			case what == 2:
				if ref, err := b.api.SaveImage(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: id}}, providers.ImageSpec{}); err == nil {
					refs = append(refs, ref)
				}
			case len(refs) == 0:
			case what == 3:
				ref := rapid.SampledFrom(refs).Draw(rt, "resource")
				_ = b.remove(ref.Kind, ref.ID)
			default:
				ref := rapid.SampledFrom(refs).Draw(rt, "resource")
				if b.Attach(ref, id) != nil {
					_ = b.Detach(ref)
				}
			}
		}
		model := map[fleet.Ref]int64{}
		before := b.wallet()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			act()
			for range rapid.IntRange(1, 45).Draw(rt, "seconds") {
				for _, kind := range fleet.ResourceKinds() {
					for _, r := range b.listOf(kind) {
						if r.RawState != "creating" {
							model[r.Ref] += r.Price.PerHour.Micros / 3600
						}
					}
				}
				last := b.Bill()
				b.pass(time.Second)
				for n, l := range b.Bill() {
					if n < len(last) && l.Cost.Micros < last[n].Cost.Micros {
						rt.Fatalf("the cost of %s fell from %s to %s", l.Ref, last[n].Cost, l.Cost)
					}
				}
			}
		}
		var sum int64
		for _, l := range b.Bill() {
			sum += l.Cost.Micros
			if l.Ref.Kind != fleet.KindInstance && l.Cost.Micros != model[l.Ref] {
				rt.Errorf("%s cost %d micros, the lists showed %d", l.Ref, l.Cost.Micros, model[l.Ref])
			}
		}
		after := b.wallet()
		if fell := before.Cash.Micros - after.Cash.Micros; fell != sum || after.Spent.Micros != sum {
			rt.Errorf("the wallet fell by %d and says %d were spent; the lines sum up to %d", fell, after.Spent.Micros, sum)
		}
	})
}
