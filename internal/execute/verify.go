package execute

import (
	"context"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/providers"
)

// verify reads until the provider's own answer shows the effect of a write that
// was, or may have been, sent.
//
//	as wanted                                        ─► done, or done-still-billing
//	another boot, by a read later than the settle    ─► a stop: done, and started again
//	time, or from inside                                a release: abandoned
//	on the way                                       ─► read again later
//	unchanged, by a read later than the settle time  ─► no effect: pending again
func (x *Executor) verify(ctx context.Context, a providers.Account, i fleet.Intent) (time.Time, error) {
	if x.Now().Before(i.NextAt) {
		return i.NextAt, nil
	}
	began := x.Now()
	seen, gone, err := x.World.Read(ctx, a, i.Ref)
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	// Until then a read may show what was before the write.
	lagOver := !began.Before(x.quiet(i).Add(a.Kind.SettleTime))
	if err == nil && !gone && seen.Ref != i.Ref {
		err = &fleet.Error{Op: "read " + i.Ref.String(), Kind: fleet.Other, Err: fmt.Errorf("the platform answered about %s", seen.Ref)}
	}
	if x.World.Released != nil && i.Action == fleet.Release && (gone || err == nil && reached(i.Action, seen.State)) {
		x.World.Released(ctx, a, i)
	}
	switch {
	case gone && (i.Action == fleet.Release || i.Action == fleet.Delete):
		return time.Time{}, x.close(ctx, i, seen, fleet.OutcomeDone, fleet.Because(ReasonVerified, nil))
	case gone:
		return time.Time{}, x.close(ctx, i, seen, fleet.OutcomeVanished, fleet.Because(ReasonGone, nil))
	case fleet.KindOf(err) == fleet.NotFound:
		return x.readAgain(ctx, i, fleet.Because(ReasonNotFoundOnce, nil), max(a.Kind.SettleTime, firstPause)+time.Second)
	case err != nil:
		return x.readAgain(ctx, i, fleet.Because(ReasonReadFailed, fleet.Values{"error": fleet.Text(err.Error())}), max(pauseFor(i, began), retryPause(fleet.Intent{}, err)))
	case otherBoot(i, seen) && seen.State.Up() && (lagOver || seen.Here):
		if i.Action == fleet.Stop {
			return time.Time{}, x.close(ctx, i, seen, fleet.OutcomeDone, fleet.Because(ReasonStartedAgain, nil))
		}
		return time.Time{}, x.close(ctx, i, seen, fleet.OutcomeAbandoned, fleet.Because(ReasonOtherBoot, nil))
	case reached(i.Action, seen.State):
		return time.Time{}, x.closeReached(ctx, i, seen)
	case settled(seen.State) && lagOver:
		return x.again(ctx, i, seen)
	}
	return x.readAgain(ctx, i, inBetween(seen), pauseFor(i, began))
}

// quiet is when the present attempt can no longer be on its way to the provider.
func (x *Executor) quiet(i fleet.Intent) time.Time {
	if i.State == fleet.IntentWritten {
		return i.WrittenAt
	}
	quiet := i.StartedAt.Add(x.WriteTimeout)
	if lastWord(i.Subject, i) {
		quiet = quiet.Add(lastWordWait)
	}
	return quiet
}

// closeReached says done, or done-still-billing where the platform is known to
// go on charging.
func (x *Executor) closeReached(ctx context.Context, i fleet.Intent, seen fleet.Instance) error {
	if i.Action == fleet.Stop && !seen.State.Gone() {
		rest := seen.OnStop.StillCosts
		switch {
		case seen.OnStop.EndsBilling == fleet.No && !seen.CostNow().Known():
			return x.close(ctx, i, seen, fleet.OutcomeDoneStillBilling, fleet.Because(ReasonCostUnknown, nil))
		case seen.OnStop.EndsBilling == fleet.No:
			rest = seen.CostNow()
			fallthrough
		case rest.Known() && rest.PerHour.Micros > 0:
			return x.close(ctx, i, seen, fleet.OutcomeDoneStillBilling,
				fleet.Because(ReasonStillBilling, fleet.Values{"price": fleet.Amount(rest.PerHour)}))
		}
	}
	return x.close(ctx, i, seen, fleet.OutcomeDone, fleet.Because(ReasonVerified, nil))
}

// again puts an intent whose write had no effect back to pending: it passes look,
// hold, policies and guard once more before it is repeated.
func (x *Executor) again(ctx context.Context, i fleet.Intent, seen fleet.Instance) (time.Time, error) {
	err := x.Store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil {
			return err
		}
		if !same(row, i) {
			return nil
		}
		was, why := row.State, noEffect(row)
		row.State, row.HeldBack = fleet.IntentPending, why
		row.NextAt = tx.Now
		// A machine that did not power off from inside is nobody else's to stop.
		first := len(row.Attempts) < 2 && !row.Subject.Here
		if !first {
			row.NextAt = tx.Now.Add(retryPause(row, nil))
		}
		i = row
		if err := tx.SaveIntent(&row, was, "again"); err != nil {
			return err
		}
		if first {
			return nil
		}
		return x.alarm(tx, row, seen, fleet.OutcomeUnverified, why)
	})
	return i.NextAt, err
}

// noEffect says why the last attempt had none, as far as the platform told.
func noEffect(i fleet.Intent) fleet.Reason {
	n := len(i.Attempts)
	failed := n > 0 && i.Attempts[n-1].Error != ""
	switch {
	case failed && i.Subject.Here:
		return fleet.Because(ReasonCommandFailed, fleet.Values{"error": fleet.Text(i.Attempts[n-1].Error)})
	case failed:
		return fleet.Because(ReasonRefusedForNow, fleet.Values{"error": fleet.Text(i.Attempts[n-1].Error)})
	case i.Subject.Here:
		return fleet.Because(ReasonRunsOn, fleet.Values{"since": fleet.Moment(i.StartedAt)})
	}
	return fleet.Because(ReasonNoEffect, nil)
}

// readAgain journals when to read next, and raises the alarm when the effect has
// not been seen for long.
func (x *Executor) readAgain(ctx context.Context, i fleet.Intent, why fleet.Reason, pause time.Duration) (time.Time, error) {
	err := x.Store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil {
			return err
		}
		if !same(row, i) {
			return nil
		}
		news := row.HeldBack.Code != why.Code
		row.HeldBack, row.NextAt = why, tx.Now.Add(pause)
		i = row
		if err := tx.SaveIntent(&row, row.State, noted(news, "read")); err != nil {
			return err
		}
		if tx.Now.Before(row.StartedAt.Add(alarmAfter)) {
			return nil
		}
		return x.alarm(tx, row, row.Subject, fleet.OutcomeUnverified, fleet.Because(ReasonUnverified, fleet.Values{
			"since": fleet.Moment(row.StartedAt), "why": fleet.Nested(why),
		}))
	})
	return i.NextAt, err
}

// alarm tells that a write is not verified and what that costs meanwhile, again
// with growing pauses.
func (x *Executor) alarm(tx *store.Tx, i fleet.Intent, seen fleet.Instance, outcome fleet.Outcome, why fleet.Reason) error {
	repeat := min(max(tx.Now.Sub(firstTry(i))/2, time.Hour), 24*time.Hour)
	i.Outcome = outcome
	i.Cost = bootCost(i.Subject, seen, tx.Now)
	return x.World.Tell(tx, notify.Notice{
		Key: noticeKey(i, "unverified"), Event: notify.EventAlarm, Severity: fleet.Critical, Category: fleet.CategoryAct,
		Subject: i.Subject, Intent: &i, Reason: why,
	}, repeat)
}

// firstTry is when the intent was first sent.
func firstTry(i fleet.Intent) time.Time {
	if len(i.Attempts) > 0 {
		return i.Attempts[0].StartedAt
	}
	return i.StartedAt
}

// pauseFor grows with the time since the write, from 2 s to 5 m.
func pauseFor(i fleet.Intent, now time.Time) time.Duration {
	return min(max(now.Sub(i.StartedAt)/4, firstPause), longPause)
}
