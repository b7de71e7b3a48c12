package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/observe"
	"curfew/policies"
)

// capWindow is the time over which caps count.
const capWindow = time.Hour

// capKey is what a cap counts: acts of one effect, those for money apart.
type capKey struct {
	effect fleet.Action
	money  bool
}

// cap gives the cap of what a key counts.
func (rt *runtime) cap(k capKey) guard.Cap {
	all := map[fleet.Action]config.Cap{
		fleet.Start: rt.cfg.Caps.Start, fleet.Stop: rt.cfg.Caps.Stop, fleet.Release: rt.cfg.Caps.Release, fleet.Delete: rt.cfg.Caps.Delete,
	}
	c := all[k.effect]
	if k.money {
		c = rt.cfg.Caps.Money
	}
	return guard.Cap{PerHour: c.PerHour, Percent: c.Percent}
}

func capOf(i fleet.Intent) capKey {
	return capKey{policies.Effect(i.Subject, i.Action), i.Money}
}

// queue lets acts that are due together begin in their order, as many as the caps have
// room for: what comes later waits until it is known what became of those before it.
type queue struct {
	app  *App
	rt   *runtime
	open []fleet.Intent
	busy map[int64]bool
	left map[capKey]int // how many more may begin; negative: there is no bound, or no order to keep
}

func (a *App) queue(rt *runtime, open []fleet.Intent) *queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := &queue{app: a, rt: rt, open: open, busy: map[int64]bool{}, left: map[capKey]int{}}
	for id := range a.busy {
		q.busy[id] = true
	}
	return q
}

// mayBegin reports whether it is the act's turn, which is then taken.
func (q *queue) mayBegin(ctx context.Context, i fleet.Intent) (bool, error) {
	if i.State != fleet.IntentPending || i.By != execute.ByPolicy || len(i.Attempts) > 0 {
		return true, nil
	}
	key := capOf(i)
	left, known := q.left[key]
	if !known {
		var err error
		if left, err = q.room(ctx, key); err != nil {
			return false, err
		}
	}
	switch {
	case left < 0:
		q.left[key] = left
		return true, nil
	case left == 0:
		q.left[key] = left
		return false, nil
	}
	q.left[key] = left - 1
	return true, nil
}

// room is how many acts may begin beside those that have begun and are not sent yet.
// Where none may and none has begun the guard is to say so, and none is held up.
func (q *queue) room(ctx context.Context, key capKey) (int, error) {
	limit := q.rt.cap(key)
	if limit == (guard.Cap{}) {
		return -1, nil
	}
	used, err := q.app.store.Sent(ctx, key.effect, key.money, q.app.clock.Now().Add(-capWindow))
	if err != nil {
		return 0, err
	}
	begun := 0
	acted := map[fleet.Ref]fleet.Intent{}
	for _, i := range q.open {
		acted[i.Ref] = i
		if q.busy[i.ID] && i.State == fleet.IntentPending && len(i.Attempts) == 0 && capOf(i) == key {
			begun++
		}
	}
	base := used
	if limit.Percent > 0 && key.effect == fleet.Delete {
		base += countThere(q.app.inv.Snapshot(), acted)
	} else if limit.Percent > 0 {
		base += countRunning(q.rt, q.app.inv.Snapshot(), acted)
	}
	most, _ := limit.Limit(base)
	if most <= used && begun == 0 {
		return -1, nil
	}
	return max(most-used-begun, 0), nil
}

// countThere counts what a share of deletions is of, without what is being deleted:
// that is counted as used already, and lists may show it for a while.
func countThere(all observe.Snapshot, open map[fleet.Ref]fleet.Intent) int {
	_, n := all.Size()
	for _, i := range open {
		if i.Ref.Kind != fleet.KindInstance && len(i.Attempts) > 0 && all.Has(i.Ref) {
			n--
		}
	}
	return n
}

// turn is an act of a plan that will use up some of a cap.
type turn struct {
	decision *decision
	step     policies.Step
	key      capKey
	dry      bool      // it takes no place from those that are done
	due      time.Time // when it takes its place
	batch    int       // of what is announced together: which comes first
}

// before orders acts as they take their places.
func before(a, b turn) int {
	switch {
	case a.dry != b.dry && b.dry:
		return -1
	case a.dry != b.dry:
		return 1
	}
	return cmp.Or(a.due.Compare(b.due), a.batch-b.batch)
}

// turnOf tells when an act takes its place under a cap: a deletion when it is
// announced, any other when it is carried out. ok is false for what takes none.
func turnOf(d *decision, now time.Time) (t turn, ok bool) {
	t = turn{decision: d, step: d.step, due: now}
	if t.step.Action == fleet.Keep {
		t.step, t.dry = d.would, true
	}
	if t.step.Action == fleet.Keep || guard.Sum(guard.Without(d.rulings, "warning", "cooldown", "cap", "mode")).Answer != guard.Allow {
		return turn{}, false
	}
	i, _ := wanted(decision{subject: d.subject, step: t.step})
	if d.intent != nil {
		i = *d.intent
		if i.State != fleet.IntentPending || i.By != execute.ByPolicy || len(i.Attempts) > 0 {
			return turn{}, false
		}
		t.due = i.CreatedAt
	}
	t.key = capOf(i)
	if t.key.effect == fleet.Delete {
		return t, true
	}
	t.due = now.Add(i.Warn)
	if !i.AcceptedAt.IsZero() {
		t.due = later(now, dueAt(i))
	}
	for _, r := range d.rulings {
		if r.Answer == guard.Wait && r.Check != "cap" {
			t.due = later(t.due, r.Until)
		}
	}
	return t, true
}

// share lets the acts of a plan use up the caps one after the other, in the order in
// which they take their places: of what is over, the cap's own ruling then says that
// it waits.
func (a *App) share(ctx context.Context, rt *runtime, ds []decision, d *desk) error {
	var turns []turn
	batches := map[string]int{}
	for n := range ds {
		t, ok := turnOf(&ds[n], d.now)
		if !ok {
			continue
		}
		if t.key.effect == fleet.Delete && ds[n].intent == nil {
			batch := together(t.step)
			if batches[batch] == 0 {
				batches[batch] = len(batches) + 1
			}
			t.batch = batches[batch]
		}
		turns = append(turns, t)
	}
	slices.SortStableFunc(turns, before)
	places := map[capKey][]time.Time{}
	down := 0 // that will not run any more
	for _, t := range turns {
		limit := rt.cap(t.key)
		if limit == (guard.Cap{}) {
			continue
		}
		taken, known := places[t.key]
		if !known {
			var err error
			if taken, err = a.store.SentTimes(ctx, t.key.effect, t.key.money, d.now.Add(-capWindow)); err != nil {
				return err
			}
		}
		in := guard.Input{Action: t.step.Action, Effect: t.key.effect, Thing: t.decision.subject, Caps: limit}
		for _, at := range taken {
			if at.After(t.due.Add(-capWindow)) {
				in.CapUsed++
			}
		}
		in.CapBase = d.running - down + in.CapUsed
		if t.decision.subject.Ref.Kind != fleet.KindInstance {
			in.CapBase = d.there + d.sent[t.key]
		}
		ruling, _ := find(guard.Ask(guard.Chain(), in), func(r guard.Ruling) bool { return r.Check == "cap" })
		if ruling.Answer == guard.Allow {
			taken = append(taken, t.due)
			if t.decision.subject.State.Up() && t.step.Action != fleet.Start {
				down++
			}
		}
		places[t.key] = taken
		for n := range t.decision.rulings {
			if r := &t.decision.rulings[n]; r.Check == ruling.Check {
				*r = ruling
			}
		}
	}
	return nil
}
