package sim_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

func TestAReleaseTakesWhatGoesWithTheInstanceAndLeavesTheRest(t *testing.T) {
	things := func(b *bench) {
		b.MustAdd(sim.Spec{ID: "a", State: fleet.StateStopped})
		b.MustAddResource(disk, sim.Resource{ID: "system", AttachedTo: "a", System: true})
		b.MustAddResource(disk, sim.Resource{ID: "with", AttachedTo: "a", WithInstance: "yes"})
		b.MustAddResource(disk, sim.Resource{ID: "without", AttachedTo: "a", WithInstance: "no"})
		b.MustAddResource(disk, sim.Resource{ID: "unsaid", AttachedTo: "a", WithInstance: "unknown"})
		b.MustAddResource(disk, sim.Resource{ID: "kept-system", AttachedTo: "a", System: true, WithInstance: "no"})
		b.MustAddResource(ip, sim.Resource{ID: "e", AttachedTo: "a"})
	}
	for name, c := range map[string]struct {
		ways   sim.Ways
		timing sim.Timing
		do     func(b *bench) time.Duration
		disks  []string
		ips    []string
	}{
		"asked for nothing": {
			do: func(b *bench) time.Duration {
				b.must(b.release("a", providers.ReleaseOptions{}))
				return 5 * time.Second
			},
			disks: []string{"kept-system", "unsaid", "without"}, ips: []string{"e"},
		},
		"asked for disks": {
			do: func(b *bench) time.Duration {
				b.must(b.release("a", providers.ReleaseOptions{WithDisks: true}))
				return 5 * time.Second
			},
			ips: []string{"e"},
		},
		"asked for addresses": {
			do: func(b *bench) time.Duration {
				b.must(b.release("a", providers.ReleaseOptions{WithPublicIPs: true}))
				return 5 * time.Second
			},
			disks: []string{"kept-system", "unsaid", "without"},
		},
		"by the platform itself": {
			timing: sim.Timing{AutoRelease: 2 * time.Hour},
			do:     func(*bench) time.Duration { return time.Hour },
			disks:  []string{"kept-system", "unsaid", "without"}, ips: []string{"e"},
		},
		"where nobody tells since when": {
			ways:  sim.Ways{HidesDetached: true},
			do:    func(b *bench) time.Duration { b.must(b.UserReleases("a")); return 5 * time.Second },
			disks: []string{"kept-system", "unsaid", "without"}, ips: []string{"e"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, sim.Options{Ways: c.ways, Timing: c.timing})
			things(b)
			takes := c.do(b)
			b.pass(takes - time.Second)
			for id, r := range b.listOf(disk) {
				if r.AttachedTo.ID != "a" {
					t.Errorf("before the instance is gone, %s belongs to %s", id, r.AttachedTo)
				}
			}
			b.pass(time.Second)
			at := b.time
			b.pass(time.Hour)
			for kind, want := range map[fleet.ThingKind][]string{disk: c.disks, ip: c.ips} {
				got := b.listOf(kind)
				if len(got) != len(want) {
					t.Errorf("%ss left are %v, want %v", kind, got, want)
				}
				for _, id := range want {
					since := at
					if c.ways.HidesDetached {
						since = time.Time{}
					}
					if r, ok := got[id]; !ok || !r.AttachedTo.IsZero() || !r.DetachedAt.Equal(since) {
						t.Errorf("%s is there: %v, belongs to %s, detached at %s, want at %s", id, ok, r.AttachedTo, r.DetachedAt, since)
					}
				}
			}
		})
	}
	t.Run("a start in time calls it off", func(t *testing.T) {
		b := setup(t, sim.Options{Timing: sim.Timing{AutoRelease: 2 * time.Hour}})
		things(b)
		b.must(b.UserStarts("a"))
		b.pass(100 * time.Hour)
		if got := b.listOf(disk); len(got) != 5 || got["with"].AttachedTo.ID != "a" {
			t.Errorf("the disks are %v", got)
		}
	})
}
