package app

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/httpx"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/signals"
)

// sightings is what the sources saw: the newest look of each source at each
// instance, by source, and the runs told from looks in a row. The slices are
// replaced and never changed, so that whoever reads may keep them.
type sightings struct {
	looks map[fleet.Ref][]fleet.Evidence
	runs  map[fleet.Ref][]fleet.Run
	// samples are the looks of the present boot, oldest first, as far back as any
	// policy looks. They are kept in memory only: after a restart a window begins
	// anew, which can only make an act later.
	samples map[fleet.Ref][]fleet.Evidence
	// holds are the hold files inside, as the last look that could read them found
	// them.
	holds map[fleet.Ref]store.BoxHold
	// wallets are the last balances read, by account name.
	wallets map[string]fleet.Wallet
	// purses are what wallets held lately, by the account's identity. They are replaced
	// and never changed.
	purses map[string][]policies.Reading
	// advice is what the looks of the present boot showed of cards and files.
	advice trackers
}

func newSightings() sightings {
	return sightings{
		looks: map[fleet.Ref][]fleet.Evidence{}, runs: map[fleet.Ref][]fleet.Run{},
		samples: map[fleet.Ref][]fleet.Evidence{}, holds: map[fleet.Ref]store.BoxHold{}, wallets: map[string]fleet.Wallet{}, purses: map[string][]policies.Reading{}, advice: trackers{},
	}
}

// look looks from one source for as long as its configuration holds.
func (a *App) look(ctx context.Context, rt *runtime, s *source) {
	for {
		if running := a.seenBy(rt, s); len(running) > 0 {
			a.lookAt(ctx, rt, s, running)
			nudge(a.kick)
		}
		if a.wait(ctx, s.cfg.Every, s.wake) != nil {
			return
		}
	}
}

// seenBy gives the running instances that a source is to look at.
func (a *App) seenBy(rt *runtime, s *source) []fleet.Instance {
	var running []fleet.Instance
	for i := range a.inv.Snapshot().Up() {
		if i.State == fleet.StateRunning && s.signals.Applies(*i) && rt.watches(*i) {
			running = append(running, *i)
		}
	}
	return running
}

// lookSoon wakes the sources that have not looked at an instance in the boot it
// runs in: nobody waits for a whole round after a start.
func (a *App) lookSoon(rt *runtime) {
	for i := range a.inv.Snapshot().Up() {
		if i.State != fleet.StateRunning || !rt.watches(*i) {
			continue
		}
		looks, _ := a.evidence(i.Ref)
		for _, s := range rt.sources {
			looked := func(e fleet.Evidence) bool { return e.Source == s.signals.Name() && e.Boot.Same(i.Boot) }
			if s.signals.Applies(*i) && !slices.ContainsFunc(looks, looked) {
				nudge(s.wake)
			}
		}
	}
}

// watches reports whether any policy is about the instance: only such are looked
// at.
func (rt *runtime) watches(i fleet.Instance) bool {
	return slices.ContainsFunc(rt.cfg.Policies, func(p config.Policy) bool {
		ok, err := p.Match(i)
		return ok || err != nil
	})
}

// lookNow looks at one instance from every source, for an act that is about to
// be carried out. One that hangs holds up no other.
func (a *App) lookNow(ctx context.Context, i fleet.Instance) {
	ctx, cancel := context.WithTimeout(ctx, lookBeforeWrite)
	defer cancel()
	rt := a.runtime()
	var wg sync.WaitGroup
	for _, s := range rt.sources {
		if s.signals.Applies(i) {
			wg.Go(func() { a.lookAt(httpx.WithClass(ctx, httpx.Act), rt, s, []fleet.Instance{i}) })
		}
	}
	wg.Wait()
}

// lookAt lets one source look, and folds what it saw. A source that could not
// look at all leaves what was known to grow old.
func (a *App) lookAt(ctx context.Context, rt *runtime, s *source, is []fleet.Instance) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	seen, err := s.signals.Look(ctx, is)
	<-s.turn
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Str("source", s.signals.Name()).Msg("look failed, will be tried again")
		}
		return
	}
	if err := a.fold(ctx, rt, s.cfg, is, seen); err != nil {
		a.databaseIs(err)
	}
}

// fold judges what one source saw and follows the runs by it. Runs and hold files
// are remembered before they are used, all in one transaction.
func (a *App) fold(ctx context.Context, rt *runtime, limits config.Signal, is []fleet.Instance, seen map[fleet.Ref][]fleet.Evidence) error {
	a.folding.Lock()
	defer a.folding.Unlock()
	fresh := newSightings()
	var changed []fleet.Run
	var held []fleet.Instance // whose hold files say something new
	busy := map[fleet.Ref]fleet.Evidence{}
	judged := make([][]fleet.Evidence, len(is))
	for n, i := range is {
		patterns, rules := rt.rules(i)
		looks, before := a.evidence(i.Ref)
		runs := before
		memory := rt.memory(i)
		if memory > 0 {
			fresh.samples[i.Ref] = a.samples(i.Ref)
		}
		for _, e := range seen[i.Ref] {
			e = signals.Judge(e, signals.Limits{BusyAbove: limits.BusyAbove, SessionIdleMax: limits.SessionIdleMax}, patterns)
			known, ok := find(looks, func(k fleet.Evidence) bool { return k.Source == e.Source })
			if ok && known.Boot == e.Boot && known.SeenAt.After(e.SeenAt) {
				continue
			}
			runs = signals.Follow(i.Ref, runs, e, rules)
			judged[n] = append(judged[n], e)
			looks = withLook(looks, e)
			if a.speaksAgainstSecured(i.Ref, e) {
				busy[i.Ref] = e
			}
			if h, ok := holdFile(i.Ref, e); ok && otherHold(h, a.heldInside(i.Ref)) {
				fresh.holds[i.Ref] = h
			}
			if memory > 0 {
				fresh.samples[i.Ref] = withSample(fresh.samples[i.Ref], e, memory)
			}
		}
		fresh.looks[i.Ref], fresh.runs[i.Ref] = looks, runs
		changed = append(changed, changedRuns(before, runs)...)
		if _, ok := fresh.holds[i.Ref]; ok {
			held = append(held, i)
		}
	}
	if len(changed) > 0 || len(held) > 0 || len(busy) > 0 {
		if err := a.store.Update(ctx, func(tx *store.Tx) error {
			if err := a.voidSecured(tx, busy); err != nil {
				return err
			}
			for _, i := range held {
				h, err := a.holdInBox(tx, i, fresh.holds[i.Ref])
				if err != nil {
					return err
				}
				fresh.holds[i.Ref] = h
			}
			return tx.SaveRuns(changed)
		}); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.seen.looks, fresh.looks)
	maps.Copy(a.seen.runs, fresh.runs)
	maps.Copy(a.seen.samples, fresh.samples)
	maps.Copy(a.seen.holds, fresh.holds)
	for n, i := range is {
		a.seen.advice.watch(rt, i, judged[n])
	}
	a.seen.advice.forget(a.clock.Now())
	return nil
}

// holdFile gives what a look found of the hold file; false where it could not
// tell, which changes nothing.
func holdFile(ref fleet.Ref, e fleet.Evidence) (store.BoxHold, bool) {
	if _, unreadable := e.Facts.Unreadable["hold"]; unreadable || !e.Facts.Reached {
		return store.BoxHold{}, false
	}
	if e.Facts.HoldUntil.IsZero() {
		return store.BoxHold{Ref: ref}, true
	}
	return store.BoxHold{Ref: ref, Boot: e.Boot, Until: e.Facts.HoldUntil.UTC().Round(0)}, true
}

// otherHold reports whether two differ by more than two measurements of one clock
// do.
func otherHold(a, b store.BoxHold) bool {
	return a.Boot != b.Boot || a.Until.Sub(b.Until).Abs() > holdSlack
}

const holdSlack = 5 * time.Second

// heldInside gives the hold file that is remembered.
func (a *App) heldInside(ref fleet.Ref) store.BoxHold {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h, ok := a.seen.holds[ref]; ok {
		return h
	}
	return store.BoxHold{Ref: ref}
}

// memory is how far back the policies that match an instance look.
func (rt *runtime) memory(i fleet.Instance) time.Duration {
	var far time.Duration
	for _, p := range rt.cfg.Policies {
		if p.Samples <= far {
			continue
		}
		if ok, err := p.Match(i); ok && err == nil {
			far = p.Samples
		}
	}
	return far
}

// withSample adds what policies need of a look to those of its boot, and drops
// what no policy looks back to. What was handed out before is not changed: an
// append only writes behind it.
func withSample(samples []fleet.Evidence, e fleet.Evidence, memory time.Duration) []fleet.Evidence {
	from := slices.IndexFunc(samples, func(s fleet.Evidence) bool {
		return s.Boot == e.Boot && e.SeenAt.Sub(s.SeenAt) <= memory
	})
	if from < 0 {
		from = len(samples)
	}
	return append(samples[from:], policies.Sample(e))
}

func (a *App) samples(ref fleet.Ref) []fleet.Evidence {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.samples[ref]
}

// withLook gives the looks with e in place of the older one of its source, in the
// order of the sources.
func withLook(looks []fleet.Evidence, e fleet.Evidence) []fleet.Evidence {
	looks = slices.DeleteFunc(slices.Clone(looks), func(k fleet.Evidence) bool { return k.Source == e.Source })
	looks = append(looks, e)
	slices.SortFunc(looks, func(a, b fleet.Evidence) int { return strings.Compare(a.Source, b.Source) })
	return looks
}

// changedRuns gives the runs that are worth remembering: new ones, and those that
// differ in more than when they were last seen. A minute of Seen may be lost by a
// crash; nothing rests on it.
func changedRuns(before, after []fleet.Run) []fleet.Run {
	known := make(map[string]fleet.Run, len(before))
	for _, r := range before {
		known[string(r.Boot)+"/"+r.ID] = r
	}
	var out []fleet.Run
	for _, r := range after {
		old, ok := known[string(r.Boot)+"/"+r.ID]
		recent := r.Seen.Sub(old.Seen) < time.Minute
		old.Seen = r.Seen
		if !ok || !recent || !sameRun(old, r) {
			out = append(out, r)
		}
	}
	return out
}

func sameRun(a, b fleet.Run) bool {
	exit := func(r fleet.Run) int {
		if r.ExitCode == nil {
			return -1 << 30
		}
		return *r.ExitCode
	}
	return a.End == b.End && a.EndedAt.Equal(b.EndedAt) && a.StartedAt.Equal(b.StartedAt) && a.Absent == b.Absent &&
		a.AbsentSince.Equal(b.AbsentSince) && a.BusyAt.Equal(b.BusyAt) && a.Slack == b.Slack && exit(a) == exit(b) && maps.Equal(a.Marks, b.Marks)
}

// rules gives what the policies that match an instance look for in it.
func (rt *runtime) rules(i fleet.Instance) (patterns []signals.Pattern, rules []signals.RunRule) {
	for _, p := range rt.cfg.Policies {
		if ok, err := p.Match(i); !ok || err != nil {
			continue
		}
		if p.Pattern != nil {
			patterns = append(patterns, *p.Pattern)
		}
		if p.Rule != nil {
			rules = append(rules, *p.Rule)
		}
	}
	return patterns, rules
}

// evidence gives the newest look of every source at an instance, by source, and
// its runs; for reading only.
func (a *App) evidence(ref fleet.Ref) (looks []fleet.Evidence, runs []fleet.Run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.looks[ref], a.seen.runs[ref]
}
