package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/sched"
	"curfew/internal/text"
	"curfew/providers/sim"
)

// benchPolicies is how many policies every benchmark has. Each is about every
// instance, and each looks for a process of its own.
const benchPolicies = 10

// still is a clock that stands, so that evidence stays fresh for as long as a
// benchmark takes.
type still struct {
	sched.Wall
	at time.Time
}

// Now gives the moment at which the clock stands.
func (s still) Now() time.Time { return s.at }

// benchCloud has n instances. Of a hundred, ninety train, five never did, three
// have just ended, one ended long ago, so that it is announced for a stop, and
// one is stopped already.
func benchCloud(n int, now func() time.Time) *sim.Cloud {
	cloud := sim.New(sim.Options{Now: now, Accounts: []sim.Account{{Name: "lab"}}})
	for k := range n {
		s := sim.Spec{
			ID: fmt.Sprintf("i-%05d", k), Account: "lab", Name: fmt.Sprintf("exp-%05d", k), Age: 4 * time.Hour, Price: fleet.CNY(1_980_000),
			GPU: sim.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		}
		run := sim.Process{
			Command: fmt.Sprintf("python -u job%d.py", k%benchPolicies), From: -3 * time.Hour,
			Run: fmt.Sprintf("r-%05d", k), Load: 97, MemoryMB: 20000,
		}
		switch kind := k % 100; {
		case kind < 90:
			s.Box.Processes = []sim.Process{run}
		case kind < 95:
		case kind < 98:
			run.To = -time.Minute
			s.Box.Processes = []sim.Process{run}
		case kind < 99:
			run.To = -time.Hour
			s.Box.Processes = []sim.Process{run}
		default:
			s.State = fleet.StateStopped
		}
		cloud.MustAdd(s)
	}
	return cloud
}

// benchApp opens a daemon over the cloud, with an empty state.
func benchApp(b *testing.B, cloud *sim.Cloud, clock sched.Clock) *App {
	b.Helper()
	var file strings.Builder
	fmt.Fprintf(&file, "mode: enforce\nstate: sqlite:%s\n", filepath.Join(b.TempDir(), "curfew.db"))
	file.WriteString(`
accounts: [{name: lab, provider: sim, world: world.yaml, poll: 1m}]
signals: [{type: sim, every: 30s, timeout: 10s}]
notify: {channels: [{name: me, type: console}]}
policies:
`)
	for p := range benchPolicies {
		fmt.Fprintf(&file, "  - {name: p%d, type: training, match: {account: lab, name: \"exp-*\"}, process: 'job%d\\.py', then: stop}\n", p, p)
	}
	registry := (&lab{cloud: cloud}).registry()
	a, err := New(b.Context(), Options{
		Version: "bench", Registry: registry, Clock: clock, Log: zerolog.Nop(), Out: io.Discard, Language: text.English,
		Load:      func() (*config.Config, error) { return config.Parse("curfew.yaml", []byte(file.String()), registry) },
		LookupEnv: func(string) (string, bool) { return "", false },
		World:     func(string) (any, error) { return cloud, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// benchSteady opens a daemon over n instances in which nothing changes any more:
// they were polled and looked at, and a pass has told and announced what there
// was to say.
func benchSteady(b *testing.B, n int) *App {
	b.Helper()
	clock := still{at: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
	a := benchApp(b, benchCloud(n, clock.Now), clock)
	b.Cleanup(func() { benchClose(b, a) })
	if err := a.Once(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := a.Pass(b.Context()); err != nil {
		b.Fatal(err)
	}
	open, err := a.store.OpenIntents(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	all, err := a.think(b.Context(), a.runtime(), everything)
	if err != nil {
		b.Fatal(err)
	}
	verdicts, busy := 0, 0
	for _, d := range all.decisions {
		verdicts += len(d.verdicts)
		if d.activity.Activity == fleet.Busy {
			busy++
		}
	}
	if len(all.decisions) != n || verdicts != n*benchPolicies || busy != n*90/100 || len(open) != n/100 {
		b.Fatalf("of %d instances: %d decisions, %d verdicts, %d busy, %d announced", n, len(all.decisions), verdicts, busy, len(open))
	}
	return a
}

func benchClose(b *testing.B, a *App) {
	b.Helper()
	if err := a.Close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkPass measures a pass in which nothing changed.
func BenchmarkPass(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("instances=%d/policies=%d", n, benchPolicies), func(b *testing.B) {
			a := benchSteady(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Pass(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkThink measures deciding alone, as a plan asks for it.
func BenchmarkThink(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("instances=%d/policies=%d", n, benchPolicies), func(b *testing.B) {
			a := benchSteady(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.think(b.Context(), a.runtime(), actedOn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStartToFirstPass measures from an empty state to the end of the first
// pass over every instance.
func BenchmarkStartToFirstPass(b *testing.B) {
	const n = 50
	b.Run(fmt.Sprintf("instances=%d/policies=%d", n, benchPolicies), func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			clock := sched.Wall{}
			cloud := benchCloud(n, clock.Now)
			ctx, cancel := context.WithCancel(b.Context())
			b.StartTimer()

			a := benchApp(b, cloud, clock)
			done := make(chan error, 1)
			go func() { done <- a.Run(ctx) }()
			for !a.hasNoted(n) {
				time.Sleep(100 * time.Microsecond)
			}

			b.StopTimer()
			cancel()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			benchClose(b, a)
			b.StartTimer()
		}
	})
}

// hasNoted reports whether a pass has noted what n instances do.
func (a *App) hasNoted(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.noted) == n
}
