package app

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/policies"
	"curfew/providers/sim"
)

// scaleFile has ten policies of all kinds; each is about every thing of its kind.
const scaleFile = `
mode: enforce
state: sqlite:%s
accounts: [{name: lab, provider: sim, world: world.yaml, poll: 1m}]
signals: [{type: sim, every: 5m, timeout: 10s}]
protect: {labels: {curfew: keep}, names: ["prod-*"]}
caps: {stop: {per_hour: 10}, delete: {per_hour: 10}}
notify: {channels: [{name: me, type: console}]}
policies:
  - {name: trained, type: training, match: {name: "exp-*"}, process: 'train\.py', then: stop}
  - {name: batches, type: training, match: {account: lab, name: ["exp-*", "batch-*"]}, process: 'batch\.py', then: release, data: discard}
  - {name: idle, type: idle, match: all, for: 1h, then: stop}
  - {name: long-idle, type: idle, match: {expr: 'name startsWith "exp-" and gpu.count >= 1'}, for: 1h, then: release, data: discard}
  - {name: night, type: offhours, match: {account: lab}, schedule: "0 2 * * *", window: 4h, then: stop}
  - {name: week, type: lifetime, match: {name: "exp-*"}, max: 168h, then: stop}
  - {name: ends, type: expiry, match: all}
  - {name: leftovers, type: orphans, match: all, unused_for: 720h}
  - {name: old, type: snapshots, match: all, older_than: 336h, keep_last: 2, then: delete}
  - {name: older, type: snapshots, match: {name: "auto-*"}, older_than: 720h, then: delete, mode: dry-run}
`

// runningOf is of how many instances one runs, and is looked into.
const runningOf = 10

// scaleState writes a state of n instances and twice as many snapshots, as polls would
// have left it.
func scaleState(b *testing.B, path string, n int, now time.Time) {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{DSN: "sqlite:" + path, Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	write := func(f func(tx *store.Tx) error) {
		b.Helper()
		if err := s.Update(b.Context(), f); err != nil {
			b.Fatal(err)
		}
	}
	scope := fleet.Scope{Account: "sim:u-lab"}
	write(func(tx *store.Tx) error {
		if err := tx.SaveAccount(store.Account{Identity: scope.Account, Provider: "sim", Name: "lab"}); err != nil {
			return err
		}
		if err := tx.SaveScope(policies.ScopeState{Scope: scope, At: now}); err != nil {
			return err
		}
		if err := tx.SaveWallet(scope.Account, fleet.Wallet{Cash: fleet.CNY(1e12)}, now.Add(-time.Hour)); err != nil {
			return err
		}
		for _, kind := range fleet.ResourceKinds() {
			if err := tx.SaveList(policies.ListState{Scope: scope, Kind: kind, At: now}); err != nil {
				return err
			}
		}
		return nil
	})
	const batch = 5000
	for from := 0; from < n; from += batch {
		write(func(tx *store.Tx) error {
			for k := from; k < min(from+batch, n); k++ {
				i := scaleInstance(k, now)
				if err := tx.SaveThing(nil, store.Thing{Instance: i, Boots: 1, Down: !i.State.Up(), SeenAt: now, FirstSeen: i.CreatedAt}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for from := 0; from < 2*n; from += batch {
		write(func(tx *store.Tx) error {
			for k := from; k < min(from+batch, 2*n); k++ {
				if err := tx.SaveResource(store.Resource{Resource: scaleSnapshot(k, now), FirstSeen: now.Add(-time.Hour), SeenAt: now}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func scaleInstance(k int, now time.Time) fleet.Instance {
	up := now.Add(-time.Duration(k%100) * time.Hour)
	i := fleet.Instance{
		Ref:         fleet.Ref{Account: "sim:u-lab", Kind: fleet.KindInstance, ID: fmt.Sprintf("i-%08x", k)},
		AccountName: "lab", Provider: "sim", Name: fmt.Sprintf("exp-%06d", k), Owner: fmt.Sprintf("user-%03d", k%500), Region: "west",
		Labels: map[string]string{"team": fmt.Sprintf("team-%02d", k%50), "project": fmt.Sprintf("p-%03d", k%300)},
		State:  fleet.StateStopped, RawState: "shutdown", Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
		GPU:       fleet.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		Price:     fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		CreatedAt: now.Add(-2000 * time.Hour), StartedAt: up, Boot: fleet.BootAt(up), StoppedAt: up.Add(30 * time.Minute),
		OnStop: fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, StillCosts: fleet.Price{PerHour: fleet.CNY(10_000), Source: fleet.PriceProvider}},
	}
	if k%runningOf == 0 {
		i.State, i.RawState, i.StoppedAt = fleet.StateRunning, "running", time.Time{}
	}
	return i
}

// scaleSnapshot is one of two that an instance has; of a hundred, one is older than its
// policy wants.
func scaleSnapshot(k int, now time.Time) fleet.Resource {
	r := fleet.Resource{
		Ref:         fleet.Ref{Account: "sim:u-lab", Kind: fleet.KindSnapshot, ID: fmt.Sprintf("s-%08x", k)},
		AccountName: "lab", Provider: "sim", Name: fmt.Sprintf("auto-%06d", k), Owner: fmt.Sprintf("user-%03d", k%500), Region: "west",
		Labels: map[string]string{"team": fmt.Sprintf("team-%02d", k%50)},
		Ready:  true, RawState: "available", Charge: fleet.Charge{Type: fleet.ChargeOnDemand}, SizeGB: 100,
		Price:     fleet.Price{PerHour: fleet.CNY(5_000), Billing: fleet.BillingPerHour, Source: fleet.PriceProvider},
		Source:    fleet.Ref{Account: "sim:u-lab", Kind: fleet.KindDisk, ID: fmt.Sprintf("d-%08x", k/4)},
		CreatedAt: now.Add(-time.Duration(k%4*3) * 24 * time.Hour), UnusedSince: now.Add(-time.Hour),
	}
	if k%400 == 3 {
		r.CreatedAt = now.Add(-20 * 24 * time.Hour)
	}
	return r
}

// scaleLook is what a look shows of a running instance: of ten, nine train.
func scaleLook(i fleet.Instance, k int, at time.Time) fleet.Evidence {
	used, memory, power := 97.0, 20000.0, 300.0
	e := fleet.Evidence{Source: "sim", SeenAt: at, Boot: i.Boot, FreshFor: 10*time.Minute + 10*time.Second, Facts: fleet.Facts{
		Reached: true, ProcessesRead: true, Load1: 3, BootedAt: i.StartedAt,
	}}
	for n := range 30 {
		e.Facts.Processes = append(e.Facts.Processes, fleet.Process{PID: n + 1, StartedAt: i.StartedAt, Command: fmt.Sprintf("/usr/sbin/service-%d --config /etc/service-%d.conf", n, n)})
	}
	if k%10 == 9 {
		used, memory, power = 0, 10, 20
	} else {
		e.Facts.Processes = append(e.Facts.Processes, fleet.Process{PID: 4242, StartedAt: i.StartedAt.Add(time.Minute), Command: "python -u train.py --config exp.yaml"})
	}
	e.Facts.Cards = []fleet.Card{{Model: "NVIDIA GeForce RTX 4090", Utilization: &used, MemoryMB: &memory, PowerW: &power}}
	return e
}

// scaleApp opens a daemon over such a state, and looks once into all that run. It may have
// more policies.
func scaleApp(b *testing.B, path string, now time.Time, more string) *App {
	b.Helper()
	cloud := sim.New(sim.Options{Now: func() time.Time { return now }, Accounts: []sim.Account{{Name: "lab"}}})
	registry := (&lab{cloud: cloud}).registry()
	a, err := New(b.Context(), Options{
		Version: "bench", Registry: registry, Clock: still{at: now}, Log: zerolog.Nop(), Out: io.Discard, Language: text.English,
		Load: func() (*config.Config, error) {
			return config.Parse("curfew.yaml", fmt.Appendf(nil, scaleFile+more, path), registry)
		},
		LookupEnv: func(string) (string, bool) { return "", false },
		World:     func(string) (any, error) { return cloud, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	rt := a.runtime()
	running := a.seenBy(rt, rt.sources[0])
	const atOnce = 500
	for k := 0; k < len(running); k += atOnce {
		some := running[k:min(k+atOnce, len(running))]
		seen := make(map[fleet.Ref][]fleet.Evidence, len(some))
		for n, i := range some {
			seen[i.Ref] = []fleet.Evidence{scaleLook(i, k+n, now)}
		}
		if err := a.fold(b.Context(), rt, rt.sources[0].cfg, some, seen); err != nil {
			b.Fatal(err)
		}
	}
	return a
}

// peakMB is the most memory that this process ever had resident.
func peakMB(b *testing.B) float64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n / 1024
		}
	}
	b.Fatal("the system does not tell")
	return 0
}

// scaleStateEnv names the state that a process measures, which another one has written:
// what that takes must not count.
const scaleStateEnv = "CURFEW_BENCH_STATE"

// BenchmarkScale measures a pass over n instances and twice as many snapshots by ten
// policies, on one core, in a process of its own.
func BenchmarkScale(b *testing.B) { scale(b, "") }

func scale(b *testing.B, more string) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("instances=%d", n), func(b *testing.B) {
			if path := os.Getenv(scaleStateEnv); path != "" {
				benchScale(b, path, now, more)
				return
			}
			path := filepath.Join(b.TempDir(), "curfew.db")
			scaleState(b, path, n, now)
			child := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^$", "-test.bench", "^"+b.Name()+"$", "-test.benchtime", "5x", "-test.cpu", "1")
			child.Env = append(os.Environ(), scaleStateEnv+"="+path)
			child.Stderr = os.Stderr
			out, err := child.Output()
			if err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			fields := strings.Fields(readingsOf(string(out)))
			if len(fields) == 0 {
				b.Fatalf("%s", out)
			}
			for k := 0; k+1 < len(fields); k += 2 {
				v, err := strconv.ParseFloat(fields[k], 64)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(v, strings.Replace(fields[k+1], "ns/op", "pass-ns", 1))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// readingsOf gives what a benchmark's line says behind its name and count.
func readingsOf(out string) string {
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasPrefix(fields[0], "Benchmark") {
			return strings.Join(fields[2:], " ")
		}
	}
	return ""
}

func benchScale(b *testing.B, path string, now time.Time, more string) {
	debug.SetGCPercent(GCPercent)
	a := scaleApp(b, path, now, more)
	defer benchClose(b, a)
	for range 3 { // until nothing changes any more
		if _, err := a.Pass(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	before := processorTime(b)
	a.cost.at = time.Time{}
	if _, err := a.Pass(b.Context()); err != nil {
		b.Fatal(err)
	}
	hourly := processorTime(b) - before
	before = processorTime(b)
	var tally time.Duration
	if rt := a.runtime(); len(budgetsOf(rt)) > 0 {
		a.tallies.of = nil
		a.tally(b.Context(), rt, now)
		tally, before = processorTime(b)-before, processorTime(b)
	}
	passes := 0
	for b.Loop() {
		if _, err := a.Pass(b.Context()); err != nil {
			b.Fatal(err)
		}
		passes++
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(passes), "cpu-ms")
	b.ReportMetric(float64(hourly.Microseconds())/1000, "hourly-ms")
	if tally > 0 {
		b.ReportMetric(float64(tally.Microseconds())/1000, "tally-ms")
	}
	b.ReportMetric(peakMB(b), "peak-MB")
}

// processorTime is what this process has had of the processor: other work on the machine
// does not add to it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
