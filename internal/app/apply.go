package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/execute"
)

// The bounds of an apply.
const (
	applyWait    = 5 * time.Minute        // for what is due to come to rest
	applyTelling = 30 * time.Second       // for a channel to take what was announced
	applyPause   = 250 * time.Millisecond // between looks at the journal
)

// Alone does what a daemon does beside passes and acts for as long as do takes: it
// hears who says "wait", and sends what is to be told. It returns what do does.
func (a *App) Alone(ctx context.Context, do func(context.Context) error) error {
	if err := a.wake(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	a.alone = true
	a.mu.Unlock()
	return a.beside(ctx, do, a.heartbeat, a.postman, a.listeners)
}

// beside runs loops for as long as do takes. One that fails ends all.
func (a *App) beside(ctx context.Context, do func(context.Context) error, loops ...func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for _, loop := range loops {
		wg.Go(func() {
			if err := loop(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	err := do(ctx)
	cause := context.Cause(ctx)
	stop(nil)
	wg.Wait()
	if cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// acting carries out what is due, and makes no pass.
func (a *App) acting(ctx context.Context) error {
	var acts sync.WaitGroup
	defer acts.Wait()
	for {
		next, err := a.carryOut(ctx, &acts)
		if fatal(err) {
			return err
		}
		wait := idlePass
		if !next.IsZero() {
			wait = min(max(next.Sub(a.clock.Now()), time.Second), idlePass)
		}
		if err := a.wait(ctx, wait, a.kick); err != nil {
			return err
		}
	}
}

// Apply makes one pass: it announces what is new and sees through what is due. A
// running daemon does the acts itself; alone, they are done here.
func (a *App) Apply(ctx context.Context, r ctl.ApplyRequest) (out ctl.Applied, err error) {
	a.applying.Lock()
	defer a.applying.Unlock()
	a.mu.Lock()
	alone, over := a.alone, a.over
	a.mu.Unlock()
	if alone {
		err = a.beside(ctx, func(ctx context.Context) error {
			out, err = a.apply(ctx, r)
			return err
		}, a.acting)
		return out, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-over:
			stop()
		case <-ctx.Done():
		}
	}()
	return a.apply(ctx, r)
}

func (a *App) apply(ctx context.Context, r ctl.ApplyRequest) (ctl.Applied, error) {
	began := a.clock.Now()
	out := ctl.Applied{Now: began, Mode: a.runtime().cfg.Mode}
	if fleet.Enforcing(out.Mode) {
		h := hurry{by: r.By, shown: map[ctl.Shown]bool{}}
		for _, s := range r.Now {
			h.shown[s] = true
		}
		before, err := a.openActs(ctx)
		if err != nil {
			return out, err
		}
		if _, err := a.pass(ctx, h); err != nil {
			return out, err
		}
		after, err := a.openActs(ctx)
		if err != nil {
			return out, err
		}
		nudge(a.kick)
		for _, i := range after {
			if i.Announced > before[i.ID].Announced {
				a.heard(ctx, announcement(i), applyTelling-a.clock.Now().Sub(began))
			}
		}
		seeing := maps.Clone(before)
		maps.Copy(seeing, after)
		if err := a.rest(ctx, seeing, began, r.Wait); err != nil {
			return out, err
		}
		for id, i := range seeing {
			_, was := before[id]
			sortOut(&out, i, !was)
		}
		out.NotNow = notNow(r.Now, seeing)
	}
	plan, err := a.Plan(ctx)
	if err != nil {
		return out, err
	}
	out.Now, out.Scopes, out.Lists = plan.Now, plan.Scopes, a.inv.Lists()
	for _, p := range slices.Concat(plan.Items, plan.Resources) {
		switch {
		case p.Would():
			out.Would = append(out.Would, p)
		case p.Intent == nil && p.Action == fleet.Delete && p.Pending():
			out.Held = append(out.Held, p)
		}
	}
	for _, is := range [][]fleet.Intent{out.Announced, out.Waits, out.Done, out.Failed, out.CalledOff} {
		slices.SortFunc(is, func(a, b fleet.Intent) int { return int(a.ID - b.ID) })
	}
	return out, nil
}

// openActs gives the acts that have not ended, by number.
func (a *App) openActs(ctx context.Context) (map[int64]fleet.Intent, error) {
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]fleet.Intent, len(open))
	for _, i := range open {
		out[i.ID] = i
	}
	return out, nil
}

// rest waits until every act has come to rest: it has ended, or waits for a time that
// is not yet, or is not to be waited for. It brings the acts up to date.
func (a *App) rest(ctx context.Context, acts map[int64]fleet.Intent, began time.Time, wait time.Duration) error {
	until := began.Add(wait)
	if wait == 0 {
		until = began.Add(applyWait)
	}
	for {
		open, err := a.openActs(ctx)
		if err != nil {
			return err
		}
		now := a.clock.Now()
		horizon := now
		if wait > 0 {
			horizon = until
		}
		resting := true
		for id, i := range acts {
			if !i.Open() {
				continue
			}
			if is, ok := open[id]; ok {
				i = is
			} else if i, err = a.store.Intent(ctx, id); err != nil {
				return err
			}
			acts[id] = i
			resting = resting && (!i.Open() || dueAt(i).After(horizon) && i.State == fleet.IntentPending || a.awaited(i.Ref.Account))
		}
		if resting || !now.Before(until) {
			return nil
		}
		if err := a.clock.Sleep(ctx, applyPause); err != nil {
			return err
		}
	}
}

// dueAt is when the next step of an act may be done.
func dueAt(i fleet.Intent) time.Time {
	if i.Deadline.After(i.NextAt) && i.State == fleet.IntentPending {
		return i.Deadline
	}
	return i.NextAt
}

// sortOut puts an act into the list that says how it stands.
func sortOut(out *ctl.Applied, i fleet.Intent, fresh bool) {
	list := &out.Waits
	switch {
	case i.Open() && fresh && i.State == fleet.IntentPending && i.HeldBack.IsZero():
		list = &out.Announced
	case i.Open():
	case i.Outcome == fleet.OutcomeDone || i.Outcome == fleet.OutcomeDoneStillBilling:
		list = &out.Done
	case i.Outcome == fleet.OutcomeAbandoned || i.Outcome == fleet.OutcomeVanished:
		list = &out.CalledOff
	default:
		list = &out.Failed
	}
	*list = append(*list, i)
}

// notNow gives what was asked for as it was shown, and is not that any more.
func notNow(asked []ctl.Shown, acts map[int64]fleet.Intent) []ctl.Shown {
	found := map[ctl.Shown]bool{}
	for _, i := range acts {
		if i.Hurried != "" || i.By != execute.ByPolicy || i.State != fleet.IntentPending {
			found[ctl.Shown{Ref: i.Ref, Boot: i.Boot, Action: i.Action}] = true
		}
	}
	var out []ctl.Shown
	for _, s := range asked {
		if !found[s] {
			out = append(out, s)
		}
	}
	return out
}
