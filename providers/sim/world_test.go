package sim_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers/sim"
)

func TestTheDemoWorldTellsItsStory(t *testing.T) {
	w, err := sim.LoadWorld(filepath.Join("testdata", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, time: time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)}
	b.Cloud = sim.New(sim.Options{Now: func() time.Time { return b.time }})
	b.must(b.Load(w))
	b.api = b.account("lab")

	if got := b.wallet(); got.Cash != fleet.CNY(346_400_000) || got.Vouchers != fleet.CNY(5_000_000) {
		t.Errorf("the wallet begins with %+v", got)
	}
	type seen struct {
		Reached, Training, Done bool
		Exit                    int // -1 while there is none
	}
	look := func() map[string]seen {
		list, err := b.api.Instances(t.Context(), b.api.Scopes[0])
		b.must(err)
		out := map[string]seen{}
		for _, i := range list {
			e := b.look(i.Ref.ID, []string{"/root/out/DONE"}, []string{"/root/out/train.log"})
			s := seen{Reached: e.Facts.Reached, Training: len(commands(e.Facts)) > 0, Done: e.Facts.Files["/root/out/DONE"].Exists, Exit: -1}
			for _, r := range e.Facts.BoxRuns {
				if r.ExitCode != nil {
					s.Exit = *r.ExitCode
				}
			}
			out[i.Name] = s
		}
		return out
	}
	at := func(minute time.Duration, want map[string]seen) {
		t.Helper()
		b.pass(b.time.Truncate(24 * time.Hour).Add(20*time.Hour + minute*time.Minute).Sub(b.time))
		if diff := cmp.Diff(want, look()); diff != "" {
			t.Errorf("after %d minutes, wanted (-) and got (+):\n%s", minute, diff)
		}
	}
	trains, dark := seen{Reached: true, Training: true, Exit: -1}, seen{Exit: -1}
	at(0, map[string]seen{"exp-llama": trains, "exp-crash": trains, "exp-busy": trains, "exp-dark": dark, "exp-oldcontract": trains, "lr-sweep": dark})
	at(5, map[string]seen{
		"exp-llama": {Reached: true, Done: true}, "exp-crash": {Reached: true, Exit: 1}, "exp-busy": trains,
		"exp-dark": dark, "exp-oldcontract": {Reached: true, Done: true}, "lr-sweep": dark,
	})
	at(15, map[string]seen{
		"exp-llama": {Reached: true, Done: true}, "exp-crash": {Reached: true, Exit: 1}, "exp-busy": trains,
		"exp-dark": dark, "exp-oldcontract": {Reached: true, Done: true}, "lr-sweep": dark,
	})

	// What the old contract costs when stopped is told only then.
	before := b.read("sim-oldcontract")
	if before.OnStop.EndsBilling != fleet.Unsure || before.OnStop.StillCosts.Known() {
		t.Errorf("before its stop the old contract tells %+v", before.OnStop)
	}
	b.must(b.stop("sim-oldcontract"))
	b.pass(time.Minute)
	after := b.read("sim-oldcontract")
	if still, ok := after.CostNow().For(time.Hour); !ok || still != fleet.CNY(350_000) {
		t.Errorf("stopped, the old contract costs %s (known: %v)", still, ok)
	}
}

func TestWorldFilesAreStrict(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"an unknown key":             {"instances:\n  - id: a\n    gpus: 1\n", `gpus`},
		"a duration without a unit":  {"timing: {boot_time: 20}\n", "boot_time"},
		"money without a currency":   {"instances:\n  - {id: a, price: 1.98}\n", "1.98 CNY"},
		"an id given twice":          {"instances: [{id: a}, {id: a}]\n", "there is an instance a already"},
		"an account given twice":     {"accounts: [{name: lab}, {name: lab}]\n", "account lab is given twice"},
		"an account without a name":  {"accounts: [{cash: 1 CNY}]\n", "needs a name"},
		"two currencies":             {"accounts: [{name: lab, cash: 1 CNY}]\ninstances: [{id: a, price: 1 USD}]\n", "pays in CNY"},
		"vouchers of another kind":   {"accounts: [{name: lab, cash: 1 CNY, vouchers: 1 USD}]\n", "one currency"},
		"a disk of another currency": {"disks: [{id: d, price: 1 USD}]\n", "pays in CNY"},
		"a disk without an id":       {"disks: [{name: d}]\n", "needs an id"},
		"an unknown state":           {"instances: [{id: a, state: sleeping}]\n", `state "sleeping"`},
		"an unknown billing":         {"instances: [{id: a, billing: day}]\n", `billing "day"`},
		"an unknown charge":          {"instances: [{id: a, charge: gift}]\n", `charge "gift"`},
		"an unknown answer":          {"instances: [{id: a, stop_ends_billing: maybe}]\n", `"maybe"`},
		"an unknown renewal":         {"instances: [{id: a, charge: period, auto_renew: maybe}]\n", `auto_renew "maybe"`},
		"a renewal of no period":     {"instances: [{id: a, auto_renew: yes}]\n", "is of a period"},
		"unknown keeping":            {"instances: [{id: a, stop_keeps: some}]\n", `"some"`},
		"a negative age":             {"instances: [{id: a, age: -1h}]\n", "age is -1h"},
		"an unknown region":          {"accounts: [{name: lab, regions: [north]}]\ninstances: [{id: a, region: west}]\n", `region "west"`},
		"a process before the boot":  {"instances: [{id: a, age: 1h, box: {processes: [{command: x, from: -2h}]}}]\n", "begins 1h0m0s before"},
		"a process that ends first":  {"instances: [{id: a, box: {processes: [{command: x, from: 2m, to: 1m}]}}]\n", "not after its beginning"},
		"an unknown reading":         {"instances: [{id: a, box: {unreadable: [{reading: gpu}]}}]\n", `reading "gpu"`},
		"an address of a disk":       {"disks: [{id: d, address: 203.0.113.1}]\n", "a disk has no address"},
		"an attached snapshot":       {"instances: [{id: a}]\nsnapshots: [{id: s, attached_to: a}]\n", "a snapshot has no attached_to"},
		"an image of a disk":         {"images: [{id: i, of_disk: d}]\n", "an image has no of_disk"},
		"two sources":                {"images: [{id: i, of_instance: a, of_snapshot: s}]\n", "two things"},
		"a size of an address":       {"ips: [{id: e, size_gb: 1}]\n", "an ip has no size_gb"},
		"attached to nothing there":  {"ips: [{id: e, attached_to: a}]\n", "has no such instance"},
		"attached and detached":      {"instances: [{id: a}]\ndisks: [{id: d, attached_to: a, detached_for: 1h}]\n", "nothing or to something"},
		"detached before it was":     {"disks: [{id: d, age: 1h, detached_for: 2h}]\n", "no more than its age"},
		"a resource id given twice":  {"images: [{id: i}, {id: i}]\n", "there is an image i already"},
		"a resource without its id":  {"ips: [{name: x}]\n", "an ip needs an id"},
		"an unknown sharing":         {"images: [{id: i, shared: some}]\n", `shared "some"`},
		"an unknown going along":     {"disks: [{id: d, with_instance: perhaps}]\n", `with_instance "perhaps"`},
		"a disk in no region":        {"accounts: [{name: lab, regions: [north]}]\ndisks: [{id: d}]\n", `region ""`},
		"a resource's charge":        {"disks: [{id: d, charge: spot}]\n", `charge "spot"`},
		"a resource's age":           {"disks: [{id: d, age: -1h}]\n", "age is -1h"},
		"images of another currency": {"accounts: [{name: lab, cash: 1 CNY, image_price: 1 USD}]\n", "one currency"},
		"an offer without an id":     {"market: [{region: north}]\n", "an offer needs an id"},
		"an offer given twice":       {"market: [{id: g}, {id: g}]\n", "there is an offer g already"},
		"an offer for a period":      {"market: [{id: g, charge: period}]\n", `charge "period"`},
		"an offer's billing":         {"market: [{id: g, billing: day}]\n", `billing "day"`},
		"an offer of less than none": {"market: [{id: g, available: -1}]\n", "fewer than none"},
		"an offer in no region":      {"accounts: [{name: lab, regions: [north]}]\nmarket: [{id: g}]\n", `region ""`},
		"an offer's currency":        {"market: [{id: g, price: 1 USD}]\n", "pays in CNY"},
		"a later price's currency":   {"market: [{id: g, prices: [{at: 1m, price: 1 USD}]}]\n", "pays in CNY"},
		"prices out of order":        {"market: [{id: g, prices: [{at: 2m}, {at: 1m}]}]\n", "not after what is before"},
		"a window that ends first":   {"market: [{id: g, from: 2m, to: 1m}]\n", "not after its beginning"},
		"a window before all":        {"market: [{id: g, from: -2m}]\n", "not negative"},
		"windows that overlap":       {"market: [{id: g, to: 50m, every: 1h, jitter: 11m}]\n", "does not fit into every 1h"},
		"windows that never close":   {"market: [{id: g, every: 1h}]\n", "does not fit"},
		"utilisation of more":        {"instances: [{id: a, box: {gpu: [{util: \"130\"}]}}]\n", `"130"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sim.ReadWorld("world.yaml", strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "world.yaml: ") {
				t.Errorf("got %v, want an error of world.yaml that says %q", err, c.want)
			}
		})
	}
}

func TestAnEmptyWorldIsAWorld(t *testing.T) {
	if _, err := sim.ReadWorld("world.yaml", strings.NewReader("")); err != nil {
		t.Error(err)
	}
	if _, err := sim.LoadWorld(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there gives no error")
	}
}

func TestAWorldFileHoldsWhatIsBilledBesideInstances(t *testing.T) {
	w, err := sim.LoadWorld(filepath.Join("testdata", "leftovers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, time: time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)}
	b.Cloud = sim.New(sim.Options{Now: func() time.Time { return b.time }})
	b.must(b.Load(w))
	b.api = b.account("lab")
	disks := b.listOf(disk)
	if d := disks["d-system"]; d.WithInstance != fleet.Yes || !d.System || d.AttachedTo.ID != "sim-a" || d.Price.PerHour != fleet.CNY(20_000) || d.SizeGB != 30 {
		t.Errorf("the system disk is %+v", d)
	}
	if d := disks["d-data"]; d.WithInstance != fleet.No || d.System || d.AttachedTo.ID != "sim-a" {
		t.Errorf("the data disk is %+v", d)
	}
	if d := disks["d-left"]; !d.AttachedTo.IsZero() || !d.DetachedAt.IsZero() || d.Labels["team"] != "vision" || !d.CreatedAt.Equal(b.time.Add(-72*time.Hour)) {
		t.Errorf("the disk left behind is %+v", d)
	}
	if s := b.listOf(snapshot)["s-stuck"]; s.Ready || s.Source.ID != "d-data" {
		t.Errorf("the snapshot that is stuck is %+v", s)
	}
	if s := b.listOf(snapshot)["s-base"]; !s.Ready || s.Source.ID != "d-gone" || len(s.UsedBy) != 1 || s.UsedBy[0].ID != "base" {
		t.Errorf("the snapshot in use is %+v", s)
	}
	if i := b.listOf(image)["base"]; i.Shared != fleet.Unsure || len(i.UsedBy) != 1 || i.UsedBy[0].ID != "sim-a" {
		t.Errorf("the image is %+v", i)
	}
	if e := b.listOf(ip)["eip-1"]; e.Name != "203.0.113.7" || !e.Protected || e.Price.PerHour != fleet.CNY(20_000) {
		t.Errorf("the address is %+v", e)
	}
	saved, err := b.save("sim-a")
	b.must(err)
	b.must(b.remove(disk, "d-left"))
	b.pass(3 * time.Second)
	if b.Exists(fleet.Ref{Kind: disk, ID: "d-left"}) {
		t.Error("the deletion takes longer than the file says")
	}
	b.pass(27 * time.Second)
	if i := b.listOf(image)[saved.ID]; !i.Ready || i.Price.PerHour != fleet.CNY(10_000) {
		t.Errorf("after the time in the file the saved image is %+v", i)
	}
}
