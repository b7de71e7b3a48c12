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

// benchApp opens a daemon over n instances that were polled and looked at once.
// Of a hundred, ninety train, five never did, three have just ended, and one is
// announced for a stop; the last is stopped already.
func benchApp(b *testing.B, n int, clock sched.Clock) *App {
	b.Helper()
	cloud := sim.New(sim.Options{Now: clock.Now, Accounts: []sim.Account{{Name: "lab"}}})
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
	l := &lab{cloud: cloud}
	a, err := New(b.Context(), Options{
		Version: "bench",
		Load: func() (*config.Config, error) {
			return config.Parse("curfew.yaml", []byte(file.String()), l.registry())
		},
		Registry: l.registry(), Clock: clock, Log: zerolog.Nop(), Out: io.Discard, Language: text.English,
		LookupEnv: func(string) (string, bool) { return "", false },
		World:     func(string) (any, error) { return cloud, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := a.Once(b.Context()); err != nil {
		b.Fatal(err)
	}
	return a
}

// wantSteady fails a benchmark that does not measure what it says.
func wantSteady(b *testing.B, a *App, n int) {
	b.Helper()
	open, err := a.store.OpenIntents(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	decisions, _, err := a.think(b.Context(), a.runtime())
	if err != nil {
		b.Fatal(err)
	}
	verdicts := 0
	for _, d := range decisions {
		verdicts += len(d.verdicts)
	}
	if len(decisions) != n || len(open) != n/100 || verdicts != n*benchPolicies {
		b.Fatalf("%d decisions, %d open intents and %d verdicts for %d instances", len(decisions), len(open), verdicts, n)
	}
}

// BenchmarkPass measures a pass in which nothing changed.
func BenchmarkPass(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("instances=%d/policies=%d", n, benchPolicies), func(b *testing.B) {
			a := benchApp(b, n, still{at: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)})
			if _, err := a.Pass(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Pass(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			wantSteady(b, a, n)
		})
	}
}

// BenchmarkThink measures deciding alone, as curfew plan and the page ask for it.
func BenchmarkThink(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("instances=%d/policies=%d", n, benchPolicies), func(b *testing.B) {
			a := benchApp(b, n, still{at: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)})
			if _, err := a.Pass(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := a.think(b.Context(), a.runtime()); err != nil {
					b.Fatal(err)
				}
			}
			wantSteady(b, a, n)
		})
	}
}

var _ = context.Background
