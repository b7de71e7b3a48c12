package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/policies"
)

// announceAgain is the pause after an announcement that no channel took.
const announceAgain = time.Hour

// passes asks all policies whenever something may have changed, and at least
// once a minute.
func (a *App) passes(ctx context.Context) error {
	var acts sync.WaitGroup
	defer acts.Wait()
	for {
		next, err := a.Pass(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fatal(err) {
			return err
		}
		a.databaseIs(err)
		if err != nil {
			next = time.Time{}
		} else {
			due, err := a.carryOut(ctx, &acts)
			if err != nil && ctx.Err() == nil {
				a.databaseIs(err)
			}
			next = earlier(next, due)
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

// carryOut starts the steps of every intent that is due, and says when the next
// one will be.
func (a *App) carryOut(ctx context.Context, acts *sync.WaitGroup) (time.Time, error) {
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return time.Time{}, err
	}
	now := a.clock.Now()
	turns := a.queue(a.runtime(), open)
	var next time.Time
	for _, i := range open {
		if due := dueAt(i); due.After(now) {
			next = earlier(next, due)
			continue
		}
		if a.awaited(i.Ref.Account) || turns.busy[i.ID] {
			continue
		}
		if turn, err := turns.mayBegin(ctx, i); err != nil {
			return time.Time{}, err
		} else if !turn || !a.take(i.ID) {
			continue
		}
		acts.Go(func() {
			defer nudge(a.kick)
			_, err := a.exec.Step(ctx, i.ID)
			a.giveBack(i.ID, err)
			if err != nil && ctx.Err() == nil {
				if !errors.Is(err, store.ErrChanged) {
					a.databaseIs(err)
				}
				a.log.Warn().Err(err).Int64("intent", i.ID).Str("instance", i.Ref.String()).Msg("step of an intent failed, will be tried again")
			}
		})
	}
	return next, nil
}

// awaited reports whether it is about to be found out who the account is: its
// first poll asks, and nudges.
func (a *App) awaited(identity string) bool {
	acc, ok := find(a.runtime().accounts, func(c *account) bool {
		p, opened := c.opened()
		return opened && p.Identity == identity
	})
	return ok && !acc.isIdentified()
}

// take marks an intent as being carried out; false if it is already, if enough
// are, or if it rests after a step that failed.
func (a *App) take(id int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[id] || len(a.busy)-len(a.securing) >= actsAtOnce || a.clock.Now().Before(a.resting[id]) {
		return false
	}
	a.busy[id] = true
	return true
}

// giveBack ends a step. After one that failed (the state could not be written,
// mostly) the intent rests, so that nothing is tried in a tight loop.
func (a *App) giveBack(id int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, id)
	delete(a.resting, id)
	if err != nil {
		a.resting[id] = a.clock.Now().Add(restAfterFailure)
	}
}

// Pass asks every policy once and brings the intents into line with the answers.
// It gives the next time at which an answer may change by time alone.
func (a *App) Pass(ctx context.Context) (time.Time, error) { return a.pass(ctx, hurry{}) }

// pass is a Pass in which some acts are wanted now.
func (a *App) pass(ctx context.Context, h hurry) (time.Time, error) {
	a.passing.Lock()
	defer a.passing.Unlock()
	rt := a.runtime()
	switch err := a.followEstimates(ctx, a.clock.Now()); {
	case fatal(err) || ctx.Err() != nil:
		return time.Time{}, err
	case err != nil: // which is no ground to put off an act
		a.log.Warn().Err(err).Msg("what became of estimates is not kept, will be tried again")
	}
	t, err := a.think(ctx, rt, actedOn)
	if err != nil {
		return time.Time{}, err
	}
	fresh, missed, err := a.ticks(ctx, rt, a.clock.Now())
	if err != nil {
		return time.Time{}, err
	}
	t.findings = append(t.findings, missed...)
	h.mark(t.decisions)
	if err := a.reconcile(ctx, rt, t); err != nil {
		return time.Time{}, err
	}
	if err := a.noteTicks(ctx, fresh); err != nil {
		return time.Time{}, err
	}
	digest, err := a.digest(ctx, rt)
	switch {
	case fatal(err) || ctx.Err() != nil:
		return time.Time{}, err
	case err != nil: // which is no ground to put off an act
		a.log.Warn().Err(err).Msg("the digest could not be made, will be tried again")
	}
	a.mu.Lock()
	a.lastPass = a.clock.Now()
	a.mu.Unlock()
	return earlier(t.next, digest), nil
}

// reconcile opens, joins and abandons intents, and tells what is new. It writes
// only where something changed.
func (a *App) reconcile(ctx context.Context, rt *runtime, t thoughts) error {
	if err := a.noteActivity(ctx, t.doing); err != nil {
		return err
	}
	told, err := a.store.ToldKeys(ctx, wouldPrefix)
	if err != nil {
		return err
	}
	var errs []error
	var together []decision
	for _, d := range t.decisions {
		if d.intent == nil && d.step.Action == fleet.Delete {
			together = append(together, d)
			continue
		}
		if err := a.reconcileOne(ctx, d, told); err != nil {
			if errs = append(errs, fmt.Errorf("%s: %w", d.subject.Ref, err)); fatal(err) || ctx.Err() != nil {
				break
			}
		}
	}
	errs = append(errs, a.openTogether(ctx, together), a.tellFindings(ctx, rt, t.findings), a.dropLeft(ctx, t.desk.left))
	return errors.Join(errs...)
}

func (a *App) reconcileOne(ctx context.Context, d decision, told map[string]time.Time) error {
	switch {
	case d.intent != nil && d.intent.State != fleet.IntentPending:
		return nil // it is at the platform; only reading tells
	case d.intent != nil && d.intent.By != execute.ByPolicy:
		return nil
	case d.intent != nil && d.hurried != "":
		return errors.Join(a.revise(ctx, d), a.hurryUp(ctx, d))
	case d.intent != nil:
		return a.revise(ctx, d)
	case d.step.Action != fleet.Keep:
		if refused(d.rulings) || a.letAlone(d.subject.Ref.Account) {
			return nil
		}
		return a.openIntent(ctx, d)
	case d.would.Action != fleet.Keep && !refused(guard.Without(d.rulings, "mode")):
		return a.tellWould(ctx, d, told)
	}
	return nil
}

// letAlone reports whether an account was forgotten by hand.
func (a *App) letAlone(identity string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forgotten[identity]
}

func refused(rulings []guard.Ruling) bool { return guard.Sum(rulings).Answer == guard.Refuse }

// openIntent journals a new intent and announces it in the same transaction.
func (a *App) openIntent(ctx context.Context, d decision) error {
	i, effect := wanted(d)
	return a.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.OpenIntent(&i, effect); err != nil {
			if errors.Is(err, store.ErrOpenIntent) {
				return nil
			}
			return err
		}
		a.log.Info().Int64("intent", i.ID).Str("instance", i.Ref.String()).Str("action", i.Action.String()).
			Str("policy", i.Verdicts[0].Policy).Str("reason", string(i.Verdicts[0].Reason.Code)).Msg("act announced")
		return a.announce(tx, []fleet.Intent{i}, store.Unnoted)
	})
}

// wanted is the intent that a decision asks for, and what it amounts to.
func wanted(d decision) (fleet.Intent, fleet.Action) {
	effect := policies.Effect(d.subject, d.step.Action)
	i := fleet.Intent{
		Ref: d.subject.Ref, Boot: d.subject.Boot, Action: d.step.Action, Goal: d.step.Goal, By: execute.ByPolicy,
		Verdicts: d.step.Verdicts, Subject: d.subject, Hurried: d.hurried,
	}
	for _, v := range d.step.Verdicts {
		i.Warn = max(i.Warn, v.Terms.Warn(effect))
		i.Money = i.Money || v.Terms.Money
	}
	return i, effect
}

// revise abandons a pending intent on a ground against it, and otherwise lets
// new wishes join it: the promised time is a lower bound for all of them.
func (a *App) revise(ctx context.Context, d decision) error {
	i := *d.intent
	var against fleet.Reason
	switch sum := guard.Sum(d.rulings); {
	case i.Boot != d.subject.Boot && d.subject.Boot != "" && d.subject.State.Up():
		against = fleet.Because(execute.ReasonOtherBoot, nil)
	case d.step.Action != i.Action:
		answer := a.runtime().standing(i, d)
		if answer.Word != execute.Against {
			return nil
		}
		against = answer.Reason
	case sum.Answer == guard.Refuse:
		against = sum.Reason
	}
	if !against.IsZero() {
		return a.store.Update(ctx, func(tx *store.Tx) error {
			row, err := tx.Intent(i.ID)
			if err != nil || row.State != fleet.IntentPending {
				return err
			}
			return a.exec.Abandon(tx, &row, against)
		})
	}
	warn := i.Warn
	for _, v := range d.step.Verdicts {
		warn = max(warn, v.Terms.Warn(policies.Effect(d.subject, i.Action)))
	}
	if i.Hurried != "" {
		warn = i.Warn // nobody waits for it any more
	}
	if warn == i.Warn && samePolicies(i.Verdicts, d.step.Verdicts) {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil || row.State != fleet.IntentPending {
			return err
		}
		row.Verdicts, row.Goal = d.step.Verdicts, d.step.Goal
		if warn > row.Warn {
			row.Warn = warn
			if deadline := row.AcceptedAt.Add(warn); !row.AcceptedAt.IsZero() && deadline.After(row.Deadline) {
				row.Deadline, row.NextAt = deadline, deadline
			}
		}
		return tx.SaveIntent(&row, fleet.IntentPending, "joined")
	})
}

func samePolicies(a, b []fleet.Verdict) bool {
	return slices.EqualFunc(a, b, func(a, b fleet.Verdict) bool { return a.Policy == b.Policy && a.Goal == b.Goal })
}

// wouldPrefix begins the keys of what would be announced.
const wouldPrefix = "would|"

// tellWould says once per boot what would be announced if the mode were enforce.
func (a *App) tellWould(ctx context.Context, d decision, told map[string]time.Time) error {
	v := d.would.Verdicts[0]
	key := wouldPrefix + fmt.Sprintf("%s|%s|%s|%s", v.Policy, d.subject.Ref, d.would.Action, d.subject.Boot)
	if _, ok := told[key]; ok {
		return nil
	}
	n := notify.Notice{
		Key: key, Event: notify.EventWould, Severity: fleet.Info, Category: fleet.CategoryAct, Subject: d.subject,
		Intent: &fleet.Intent{
			Ref: d.subject.Ref, Boot: d.subject.Boot, Action: d.would.Action, Goal: d.would.Goal,
			By: execute.ByPolicy, Verdicts: d.would.Verdicts, Subject: d.subject,
			Warn: v.Terms.Warn(policies.Effect(d.subject, d.would.Action)),
		},
		Reason: v.Reason,
	}
	n.Because = append(a.imageFirst(*n.Intent), a.fate(*n.Intent)...)
	return a.store.Update(ctx, func(tx *store.Tx) error { return a.tell(tx, n, 0) })
}

// tellOnce queues a notice unless it was told within repeat, without writing
// anything when it was.
func (a *App) tellOnce(ctx context.Context, n notify.Notice, repeat time.Duration) error {
	told, err := a.store.ToldKeys(ctx, n.Key)
	if err != nil {
		return err
	}
	if at, ok := told[n.Key]; ok && (repeat == 0 || a.clock.Now().Sub(at) < repeat) {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error { return a.tell(tx, n, repeat) })
}

// noteActivity keeps the history of what instances were doing, on changes only.
func (a *App) noteActivity(ctx context.Context, changed map[fleet.Ref]noted) error {
	if len(changed) == 0 {
		return nil
	}
	if err := a.store.Update(ctx, func(tx *store.Tx) error {
		for _, ref := range slices.SortedFunc(maps.Keys(changed), fleet.CompareRefs) {
			if err := tx.Segment(ref, "activity", changed[ref].activity.String(), tx.Now); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.noted, changed)
	return nil
}
