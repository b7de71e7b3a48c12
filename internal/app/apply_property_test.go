package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/providers/sim"
)

// set is a clock that goes where it is told.
type set struct {
	sched.Wall
	mu sync.Mutex
	at time.Time
}

// Now gives the moment at which the clock was set.
func (s *set) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// Dry run equals real run: in random worlds the list that a plan shows in a dry run is
// the one it shows in enforce, and what is then done when its time has come, as long as
// nothing else changes: the same acts on the same things, step by step. What waits for
// a cap or an approval is shown to, and not done.
func TestWhatADryRunShowsIsWhatIsDone(t *testing.T) {
	t.Parallel()
	worlds := worldsAtMost
	if testing.Short() {
		worlds = min(worlds, 100)
	}
	seen, state := &tally{}, emptyState(t)
	t.Run("worlds", func(t *testing.T) {
		const parts = 8
		for part := range parts {
			t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < worlds && !t.Failed(); seed += parts {
					w := newWorld(t, uint64(seed), state)
					w.tally = seen
					w.try()
				}
			})
		}
	})
	// A world in which nothing is done proves nothing.
	for _, act := range []string{"stop instance", "release instance", "delete disk", "delete snapshot", "delete image", "delete " + string(fleet.KindPublicIP), "waits", "money stops idle", "money stops all"} {
		least := worlds / 50
		if strings.HasPrefix(act, "money") {
			least = worlds / 100
		}
		if seen.of[act] < least {
			t.Errorf("of %d worlds: %q only %d times", worlds, act, seen.of[act])
		}
	}
	t.Logf("%d worlds: %v", worlds, seen.of)
}

// tally counts acts by what they are.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (y *tally) add(acts, waits []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.of == nil {
		y.of = map[string]int{}
	}
	y.of["waits"] += len(waits)
	for _, act := range acts {
		y.of[act[:strings.LastIndex(act, " ")]]++
	}
}

// count counts one more of what is to happen in some worlds.
func (y *tally) count(what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.of == nil {
		y.of = map[string]int{}
	}
	y.of[what]++
}

// world is a random one, and an App over it that makes no step by itself.
type world struct {
	t     *testing.T
	seed  uint64
	clock *set
	cloud *sim.Cloud
	drawn map[string]sim.Spec // its instances
	file  func(mode string) string
	app   *App
	tally *tally
	seen  int // effects
	looks time.Time
}

// inMemory gives a folder that needs no disk, where the system has such: most of the time
// goes into waiting for one.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "curfew-") //nolint:usetesting // that one is on the disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// emptyState gives a state in which nothing is yet, as a file: to make the tables takes
// longer than the whole rest.
func emptyState(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "curfew.db")
	s, err := store.Open(t.Context(), store.Options{DSN: "sqlite:" + path, Now: time.Now})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newWorld(t *testing.T, seed uint64, state []byte) *world {
	t.Helper()
	d := roll(seed)
	w := &world{t: t, seed: seed, clock: &set{at: time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)}}
	w.cloud, w.drawn = d.cloud(w.clock.Now), d.drawn
	// Where accounts and policies have modes of their own a dry run of the whole file
	// shows more.
	path := filepath.Join(inMemory(t), "curfew.db")
	if err := os.WriteFile(path, state, 0o600); err != nil {
		t.Fatal(err)
	}
	w.file = d.file(path, seed%4 == 0)
	registry := (&lab{cloud: w.cloud}).registry()
	a, err := New(t.Context(), Options{
		Version: "test", Registry: registry, Clock: w.clock, Log: zerolog.Nop(), Out: io.Discard, Language: text.English,
		Load: func() (*config.Config, error) {
			return config.Parse("curfew.yaml", []byte(w.file("enforce")), registry)
		},
		LookupEnv: func(string) (string, bool) { return "", false },
		World:     func(string) (any, error) { return w.cloud, nil },
	})
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, w.file("enforce"))
	}
	w.app = a
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("seed %d: %v\n%s", w.seed, err, w.file("enforce"))
	}
}

// until lets time pass: the instances are looked at, and people could say wait.
func (w *world) until(to time.Time) {
	w.t.Helper()
	for at := w.looks.Add(lookGap); !at.After(to); at = at.Add(lookGap) {
		w.be(at)
		w.looks = at
		w.look()
	}
	w.be(to)
}

func (w *world) look() {
	rt := w.app.runtime()
	for _, s := range rt.sources {
		w.app.lookAt(w.t.Context(), rt, s, w.app.seenBy(rt, s))
	}
}

func (w *world) be(at time.Time) {
	w.t.Helper()
	w.clock.mu.Lock()
	w.clock.at = at
	w.clock.mu.Unlock()
	w.must(w.app.store.Update(w.t.Context(), func(tx *store.Tx) error { return tx.SetMeta(beatKey, at.Format(time.RFC3339)) }))
}

func (w *world) try() {
	w.t.Helper()
	ctx := w.t.Context()
	defer func() { w.must(w.app.Close()) }()
	start := w.clock.Now()
	w.be(start)
	w.looks = start
	w.must(w.app.Once(ctx))
	w.hold(roll(w.seed))
	at := start.Add(warmUp)
	w.until(at)
	w.must(w.app.Once(ctx))
	dry := w.dryRun()
	for round := range rounds {
		w.must(w.app.Once(ctx))
		plan, err := w.app.Plan(ctx)
		w.must(err)
		shown, waits := listed(plan, false)
		w.tally.add(shown, waits)
		if round == 0 && w.seed%4 != 0 {
			if would, _ := listed(dry, true); !cmp.Equal(would, shown) {
				w.differ(fmt.Sprintf("round %d: a dry run and enforce show other acts", round), would, shown, dry, plan)
				return
			}
		}
		did := w.apply(plan, w.seed%2 == 1)
		if !cmp.Equal(shown, did) {
			w.differ(fmt.Sprintf("round %d: other acts were done than shown", round), shown, did, plan)
			return
		}
		at = at.Add(roundGap)
		w.until(at)
	}
	w.money()
}

// money looks at what was done for the sake of money alone: it was stopped and no more,
// after a warning that was accepted, and where only what is idle was to be stopped
// nothing was at work, or such that nobody could tell.
func (w *world) money() {
	w.t.Helper()
	is, err := w.app.store.Intents(w.t.Context(), 1000)
	w.must(err)
	for _, i := range is {
		if len(i.Attempts) == 0 || slices.ContainsFunc(i.Verdicts, func(v fleet.Verdict) bool { return !v.Terms.Money }) {
			continue
		}
		blind := slices.ContainsFunc(i.Verdicts, func(v fleet.Verdict) bool { return v.Blind })
		w.tally.count(map[bool]string{true: "money stops all", false: "money stops idle"}[blind])
		if i.Action != fleet.Stop || i.Subject.OnStop.KeepsData != fleet.KeepsAll {
			w.t.Errorf("seed %d: for the sake of money: %s %s, of which a stop keeps %s", w.seed, i.Action, i.Ref, i.Subject.OnStop.KeepsData)
		}
		if i.Hurried == "" && (i.AcceptedAt.IsZero() || i.Attempts[0].StartedAt.Before(i.AcceptedAt.Add(i.Warn)) || i.Warn < 5*time.Minute) {
			w.t.Errorf("seed %d: %s %s without its warning: accepted at %s, done at %s", w.seed, i.Action, i.Ref, i.AcceptedAt, i.Attempts[0].StartedAt)
		}
		s := w.drawn[i.Ref.ID]
		b := s.Box
		// Without cards and without a file of its own nothing shows what a process does.
		shows := func(p sim.Process) bool { return p.To == 0 && (s.GPU.Count > 0 || s.GPU.Model != "" || p.Run != "") }
		works := slices.ContainsFunc(b.Processes, shows) || len(b.Sessions) > 0
		if !blind && (works || len(b.Dark)+len(b.Unreadable) > 0) {
			w.t.Errorf("seed %d: %s was stopped as idle: %+v\n%s\n%s", w.seed, i.Ref, b, w.file("enforce"), w.journal())
		}
	}
}

// dryRun gives the plan under the same file in a dry run.
func (w *world) dryRun() ctl.Plan {
	w.t.Helper()
	cfg, err := config.Parse("curfew.yaml", []byte(w.file("dry-run")), w.app.o.Registry)
	w.must(err)
	enforcing := w.app.runtime()
	dry := *enforcing
	dry.cfg = cfg
	w.app.rt = &dry
	defer func() { w.app.rt = enforcing }()
	plan, err := w.app.Plan(w.t.Context())
	w.must(err)
	return plan
}

// hold lets somebody hold a thing.
func (w *world) hold(d dice) {
	w.t.Helper()
	for _, i := range w.app.inv.Things().Instances {
		if d.one(10) {
			w.must(w.app.store.Update(w.t.Context(), func(tx *store.Tx) error {
				return tx.AddHold(&fleet.Hold{Ref: i.Ref, Until: tx.Now.Add(5 * day), By: "wang"})
			}))
		}
	}
}

// listed gives what a plan shows as to be done, and what it shows as waiting for more
// than time.
func listed(p ctl.Plan, dry bool) (does, waits []string) {
	for _, i := range slices.Concat(p.Items, p.Resources) {
		act := i.Action.String() + " " + string(i.Instance.Ref.Kind) + " " + i.Instance.Ref.ID
		_, held := i.Waits()
		switch {
		case i.Under() || dry && !i.Would() || !dry && !i.Pending():
		case held:
			waits = append(waits, act)
		default:
			does = append(does, act)
		}
	}
	slices.Sort(does)
	return does, waits
}

// apply makes one pass and carries out what comes due, without another; where it is
// hurried, what was shown at once.
func (w *world) apply(plan ctl.Plan, hurried bool) []string {
	w.t.Helper()
	ctx := w.t.Context()
	end := w.clock.Now().Add(40 * time.Minute)
	var h hurry
	if hurried {
		h = hurry{by: "wang", shown: map[ctl.Shown]bool{}}
		for _, i := range slices.Concat(plan.Items, plan.Resources) {
			if _, held := i.Waits(); i.Pending() && !held {
				h.shown[i.Shown()] = true
			}
		}
		end = w.clock.Now().Add(4 * time.Minute)
	}
	_, err := w.app.pass(ctx, h)
	w.must(err)
	_, err = w.app.runtime().sender.Flush(ctx)
	w.must(err)
	for range 1000 {
		var acts sync.WaitGroup
		_, err := w.app.carryOut(ctx, &acts)
		acts.Wait()
		w.must(err)
		open, err := w.app.store.OpenIntents(ctx)
		w.must(err)
		var next time.Time
		sent := false
		for _, i := range open {
			next = earlier(next, dueAt(i))
			sent = sent || i.State != fleet.IntentPending
		}
		if next.IsZero() || next.After(end) {
			return w.effects()
		}
		if next.After(w.clock.Now()) {
			w.until(next)
		}
		if sent { // what is gone is believed after a list
			w.must(w.app.Once(ctx))
		}
	}
	w.t.Fatalf("seed %d: it never comes to rest\n%s", w.seed, w.journal())
	return nil
}

// effects gives what took effect since it was last asked.
func (w *world) effects() (did []string) {
	all := w.cloud.Effects()
	for _, e := range all[w.seen:] {
		op, _, _ := strings.Cut(e.Op, "-")
		if e.By == sim.ByAPI {
			did = append(did, op+" "+string(e.Ref.Kind)+" "+e.Ref.ID)
		}
	}
	w.seen = len(all)
	slices.Sort(did)
	return did
}

func (w *world) journal() string {
	is, err := w.app.store.Intents(context.Background(), 100)
	w.must(err)
	var b strings.Builder
	for _, i := range is {
		fmt.Fprintf(&b, "#%d %s %s %s %s due %s held back %s, why %s %v\n", i.ID, i.Action, i.Ref, i.State, i.Outcome, dueAt(i).Format(time.TimeOnly), i.HeldBack.Code, i.Why.Code, i.Why.Values)
	}
	return b.String()
}

func (w *world) differ(what string, want, got []string, plans ...ctl.Plan) {
	w.t.Helper()
	var b strings.Builder
	for _, p := range plans {
		for _, i := range slices.Concat(p.Items, p.Resources) {
			fmt.Fprintf(&b, "%s %s goal %s: %s %v\n", i.Action, i.Instance.Ref, i.Goal, i.Reason.Code, i.Instance.State)
			for _, v := range i.Verdicts {
				fmt.Fprintf(&b, "    %s %s %s %s\n", v.Policy, v.Terms.Mode, v.Goal, v.Reason.Code)
			}
			for _, r := range i.Rulings {
				if r.Answer.String() != "allow" {
					fmt.Fprintf(&b, "    %s %s %s %v\n", r.Answer, r.Check, r.Reason.Code, r.Reason.Values)
				}
			}
		}
		b.WriteString("--\n")
	}
	w.t.Errorf("seed %d: %s\n%s\n%s\n%s\n%s", w.seed, what, cmp.Diff(want, got), w.file("enforce"), b.String(), w.journal())
}
