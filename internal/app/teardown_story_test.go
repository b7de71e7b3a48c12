package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/providers/sim"
)

// releasing is a lab whose policy releases under other conditions than that the data
// may go.
func releasing(t *testing.T, terms string, more ...string) *lab {
	t.Helper()
	l := newLab(t, "release", more...)
	l.yaml = strings.Replace(l.yaml, "    data: discard\n", terms, 1)
	return l
}

const (
	savesImage = "    save_image: {name: \"{{.Name}}\", keep_last: 2, timeout: 10m}\n"
	withAll    = "    data: discard\n    with: [disks, snapshots, ips]\n"
)

// images are those that are there in truth, by name.
func (l *lab) images() []string {
	l.t.Helper()
	var names []string
	for _, e := range l.cloud.Effects() {
		if e.Op == "save-image" && l.cloud.Exists(e.Made) {
			names = append(names, e.Made.ID)
		}
	}
	return names
}

func (l *lab) wantDeleted(want ...string) {
	l.t.Helper()
	var got []string
	for _, e := range l.cloud.Effects() {
		if strings.HasPrefix(e.Op, "delete-") {
			got = append(got, e.Ref.ID)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		l.t.Errorf("deleted: %v, want %v\n%s", got, want, l.out)
	}
}

func TestAnImageIsSavedBeforeTheRelease(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := releasing(t, savesImage)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.untilStopped("a")
		if len(l.images()) != 0 {
			t.Error("an image was saved before the stop")
		}
		l.run(2 * time.Hour)
		l.wantOutcomes("a stop done", "a release done")
		if n := len(l.images()); n != 1 {
			t.Errorf("%d images are there, want 1", n)
		}
		l.wantTold("An image is saved before the release", 2)
		l.wantTold("Left, and no policy will delete it: image exp-a-c2-", 1)
		var saved, released time.Time
		for _, e := range l.cloud.Effects() {
			switch e.Op {
			case "save-image":
				saved = e.At
			case "release":
				released = e.At
			}
		}
		if d := released.Sub(saved); d < 2*time.Minute || d > 4*time.Minute {
			t.Errorf("the release came %s after the image was asked for, which takes 2 m", d)
		}
	})
}

func TestWithoutAnImageNothingIsReleased(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault sim.Fault
		saves int // that took effect
		told  string
	}{
		{"it vanishes", sim.Fault{Kind: sim.ImageVanishes}, 1, "the list does not show it"},
		{"it is never ready", sim.Fault{Kind: sim.ImageStuck}, 1, "was not ready after 10m"},
		{"it is accepted and forgotten", sim.Fault{Kind: sim.Ignored, Op: "save-image"}, 0, "the list does not show it"},
		{"the platform refuses", sim.Fault{Kind: sim.LostRights, Op: "save-image"}, 0, "refused to save an image"},
		{"it is dropped both times", sim.Fault{Kind: sim.TimeoutBefore, Op: "save-image"}, 0, "asked for twice and never came"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := releasing(t, savesImage)
				spec := trained("a", 10*time.Minute, 0)
				spec.StillCosts = fleet.CNY(500_000)
				l.cloud.MustAdd(spec)
				l.cloud.Break(c.fault)
				if err := l.start(); err != nil {
					t.Fatal(err)
				}
				l.untilStopped("a")
				l.run(8 * time.Hour)
				if got := l.effects("release", "a"); got != 0 {
					t.Errorf("released %d times\n%s", got, l.out)
				}
				if got := l.effects("save-image", "a"); got != c.saves {
					t.Errorf("%d images were made, want %d", got, c.saves)
				}
				if l.cloud.State("a") != fleet.StateStopped {
					t.Errorf("it is %s", l.cloud.State("a"))
				}
				l.wantTold("Warning: ", 1)
				l.wantTold("Will not release exp-a after all", 1)
				for _, what := range []string{"it stays and is not released", c.told, "it costs 12.00 CNY"} {
					if !strings.Contains(l.out.String(), what) {
						t.Errorf("nobody was told that %s\n%s", what, l.out)
					}
				}
			})
		})
	}
}

func TestAnImageThatMayHaveBeenAskedForIsLookedForFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault *sim.Fault
		kill  int // the kill comes at this write or commit after the image was to be asked for
	}{
		{name: "the answer is lost", fault: &sim.Fault{Kind: sim.TimeoutAfter, Op: "save-image", Times: 1}},
		{name: "the request is lost", fault: &sim.Fault{Kind: sim.TimeoutBefore, Op: "save-image", Times: 1}},
		{name: "the daemon is killed before it is sent", kill: 1},
		{name: "the daemon is killed after it took effect", kill: 2},
		{name: "the daemon is killed before the answer is journaled", kill: 3},
		{name: "the daemon is killed right after", kill: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := releasing(t, savesImage)
				l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
				if c.fault != nil {
					l.cloud.Break(*c.fault)
				}
				if err := l.start(); err != nil {
					t.Fatal(err)
				}
				l.untilStopped("a")
				if c.kill > 0 {
					l.killAtImage(c.kill)
				}
				l.run(3 * time.Hour)
				if got := l.effects("save-image", "a"); got != 1 {
					t.Errorf("%d images were made, want 1\n%s", got, l.out)
				}
				if got := l.effects("release", "a"); got != 1 || len(l.images()) != 1 {
					t.Errorf("released %d times, with %d images\n%s", got, len(l.images()), l.out)
				}
			})
		})
	}
}

// killAtImage kills the daemon once, at the nth moment within asking for an image.
func (l *lab) killAtImage(nth int) {
	begun, n := false, 0
	l.cloud.OnWrite(func(op string, _ fleet.Ref, _ sim.Phase) error {
		l.mu.Lock()
		begun = begun || op == "save-image"
		l.mu.Unlock()
		return l.mayDie(true)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kill = func() bool {
		if !begun || n >= nth {
			return false
		}
		n++
		return n == nth
	}
}

func TestAReleaseTakesWithItWhatBelongedToItAlone(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := releasing(t, withAll)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.cloud.MustAdd(trained("b", 100*time.Hour, 0))
		add := func(kind fleet.ThingKind, r sim.Resource) fleet.Ref {
			r.Price = fleet.CNY(100_000)
			return l.cloud.MustAddResource(kind, r)
		}
		add(fleet.KindDisk, sim.Resource{ID: "system", AttachedTo: "a", System: true})
		add(fleet.KindDisk, sim.Resource{ID: "data", AttachedTo: "a"})
		add(fleet.KindDisk, sim.Resource{ID: "shared", AttachedTo: "a", Shared: "yes"})
		add(fleet.KindDisk, sim.Resource{ID: "locked", AttachedTo: "a", Protected: true})
		add(fleet.KindDisk, sim.Resource{ID: "unread", AttachedTo: "a", Unread: []string{"labels"}})
		add(fleet.KindDisk, sim.Resource{ID: "of-b", AttachedTo: "b"})
		add(fleet.KindDisk, sim.Resource{ID: "free"})
		add(fleet.KindPublicIP, sim.Resource{ID: "eip", Address: "192.0.2.1", AttachedTo: "a"})
		add(fleet.KindPublicIP, sim.Resource{ID: "eip-of-b", Address: "192.0.2.2", AttachedTo: "b"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-data", OfDisk: "data"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-system", OfDisk: "system"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-a", OfInstance: "a"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-used", OfDisk: "data"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-shared", OfDisk: "shared"})
		add(fleet.KindSnapshot, sim.Resource{ID: "snap-b", OfDisk: "of-b"})
		add(fleet.KindImage, sim.Resource{ID: "image", OfSnapshot: "snap-used"})
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.untilStopped("a")
		l.wantTold("Destroyed with it: disk system (2.40 CNY a day)\n", 1)
		l.wantTold("Deleted afterwards by policy done: disk data (2.40 CNY a day), snapshot snap-data (2.40 CNY a day)", 1)
		l.run(90 * time.Minute)
		if l.effects("release", "a") != 1 {
			t.Fatalf("it was not released\n%s", l.out)
		}
		l.run(4 * time.Hour)
		l.wantDeleted("data", "eip", "snap-data", "snap-system", "snap-a")
		l.wantTold("Will delete data and 4 more", 1)
		l.wantTold("Left, and policy done will delete it: disk data (2.40 CNY a day), ", 1)
		l.wantTold("Left, and no policy will delete it: snapshot snap-used (2.40 CNY a day), disk locked", 2)
	})
}

func TestWhatSomebodyUsesSinceIsSpared(t *testing.T) {
	for name, ways := range map[string]sim.Ways{"the platform tells when it was detached": {}, "the platform does not tell": {HidesDetached: true}} {
		t.Run(name, func(t *testing.T) { usedSince(t, ways) })
	}
}

// usedSince attaches a disk that was left to another instance for a while.
func usedSince(t *testing.T, ways sim.Ways) {
	t.Helper()
	inLab(t, func(t *testing.T) {
		l := releasing(t, withAll)
		l.cloud = sim.New(sim.Options{Now: time.Now, Ways: ways, Timing: sim.Timing{SettleLag: 5 * time.Second}, Accounts: []sim.Account{{Name: "lab"}}})
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.cloud.MustAdd(trained("b", 100*time.Hour, 0))
		for _, id := range []string{"data", "more"} {
			l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: id, AttachedTo: "a", Price: fleet.CNY(100_000)})
		}
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.untilStopped("a")
		for range 120 {
			if l.run(time.Minute); l.cloud.State("a") == fleet.StateReleased {
				break
			}
		}
		l.run(5 * time.Minute)
		data := fleet.Ref{Kind: fleet.KindDisk, ID: "data"}
		if err := l.cloud.Attach(data, "b"); err != nil {
			t.Fatal(err)
		}
		l.run(25 * time.Minute)
		if err := l.cloud.Detach(data); err != nil {
			t.Fatal(err)
		}
		l.run(8 * time.Hour)
		l.wantDeleted("more")
	})
}

func TestAReleaseThatWouldDestroyADiskBecomesAStop(t *testing.T) {
	for _, c := range []struct {
		name     string
		keeps    fleet.Keeps
		disk     sim.Resource
		released int
		why      string
	}{
		{"a disk that goes with it", fleet.KeepsAll, sim.Resource{WithInstance: "yes"}, 0, "disk d goes with it)"},
		{"a disk of which that is not known", fleet.KeepsAll, sim.Resource{WithInstance: "unknown"}, 0, "whether disk d goes with it is not known"},
		{"its own data", fleet.KeepsNone, sim.Resource{}, 0, "a release would lose its data"},
		{"a disk that stays", fleet.KeepsAll, sim.Resource{}, 1, "A release keeps the data on the instance itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := releasing(t, "")
				spec := trained("a", 10*time.Minute, 0)
				spec.ReleaseKeeps = c.keeps
				l.cloud.MustAdd(spec)
				c.disk.ID, c.disk.AttachedTo, c.disk.Price = "d", "a", fleet.CNY(100_000)
				l.cloud.MustAddResource(fleet.KindDisk, c.disk)
				if err := l.start(); err != nil {
					t.Fatal(err)
				}
				l.untilStopped("a")
				l.run(3 * time.Hour)
				if got := l.effects("release", "a"); got != c.released {
					t.Errorf("released %d times, want %d\n%s", got, c.released, l.out)
				}
				if !strings.Contains(l.out.String(), c.why) {
					t.Errorf("nobody was told that %s\n%s", c.why, l.out)
				}
				l.wantTold("Left, and no policy will delete it: disk d (2.40 CNY a day)", c.released)
			})
		})
	}
}

func TestAfterTheLastOfItNothingCosts(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := releasing(t, withAll)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "d", AttachedTo: "a", Price: fleet.CNY(100_000)})
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.untilStopped("a")
		l.run(4 * time.Hour)
		l.wantOutcomes("a stop done", "a release done", "d delete done")
		l.wantTold("Nothing of exp-a costs any more", 1)
	})
	t.Run("where nothing belonged to it", func(t *testing.T) {
		inLab(t, func(t *testing.T) {
			l := releasing(t, withAll)
			l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
			if err := l.start(); err != nil {
				t.Fatal(err)
			}
			l.untilStopped("a")
			l.run(2 * time.Hour)
			l.wantTold("Nothing of exp-a costs any more", 1)
		})
	})
}

func TestOtherPoliciesThatTakeWhatIsLeftAreNamed(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := releasing(t, "    data: discard\n", "  - {name: sweep, type: orphans, match: all, kinds: disks, unused_for: 3d, then: delete}\n")
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		l.cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: "d", AttachedTo: "a", Price: fleet.CNY(100_000)})
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.untilStopped("a")
		l.run(2 * time.Hour)
		l.wantTold("policy sweep deletes it if it stays like this for 3d: disk d", 1)
	})
}

func TestOfImagesOnlyTheNewestAreKept(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := releasing(t, savesImage)
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		ref := func(id string) fleet.Ref { return fleet.Ref{Account: "sim:lab", Kind: fleet.KindImage, ID: id} }
		for _, id := range []string{"first", "second", "third", "theirs"} {
			l.cloud.MustAddResource(fleet.KindImage, sim.Resource{ID: id, OfInstance: "a", Price: fleet.CNY(100_000)})
		}
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		l.run(time.Minute)
		instance := l.app.inv.Things().Instances[0]
		for n, id := range []string{"first", "second", "third"} {
			at := instance.StartedAt.Add(time.Duration(n-10) * time.Hour)
			row := fleet.Secured{Ref: instance.Ref, Boot: fleet.BootAt(at), Policy: "done", By: fleet.SecuredByImage, StartedAt: at, EndedAt: at, OK: true,
				Image: fleet.Ref{Account: instance.Ref.Account, Kind: fleet.KindImage, ID: ref(id).ID}}
			if err := l.app.store.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveSecured(row) }); err != nil {
				t.Fatal(err)
			}
		}
		l.untilStopped("a")
		l.run(6 * time.Hour)
		l.wantDeleted("first", "second")
	})
}
