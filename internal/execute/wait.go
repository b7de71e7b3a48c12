package execute

import (
	"context"
	"errors"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

// putOff journals that a due intent waits.
func (x *Executor) putOff(ctx context.Context, i fleet.Intent, answer Answer) (time.Time, error) {
	err := x.Store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil || !same(row, i) {
			return err
		}
		i = row
		return x.savePutOff(tx, &i, answer)
	})
	return i.NextAt, err
}

func (x *Executor) savePutOff(tx *store.Tx, i *fleet.Intent, answer Answer) error {
	next := answer.Until
	if !next.After(tx.Now) {
		next = tx.Now.Add(patience(*i, tx.Now))
	}
	news := i.HeldBack.Code != answer.Reason.Code
	i.HeldBack, i.NextAt = answer.Reason, next
	if err := tx.SaveIntent(i, i.State, noted(news, "put-off")); err != nil {
		return err
	}
	if answer.Silent {
		return nil
	}
	return x.tellPutOff(tx, *i, answer.Reason)
}

// tellPutOff tells once that a due intent waits, and only after another warning
// time has passed: a short gap is nobody's business.
func (x *Executor) tellPutOff(tx *store.Tx, i fleet.Intent, why fleet.Reason) error {
	if tx.Now.Before(due(i).Add(max(i.Warn, alarmAfter))) {
		return nil
	}
	i.Cost = bootCost(i.Subject, i.Subject, tx.Now)
	return x.World.Tell(tx, notify.Notice{
		Key: noticeKey(i, "put-off"), Event: notify.EventPutOff, Severity: fleet.Warning, Category: fleet.CategoryAct,
		Subject: i.Subject, Intent: &i, Reason: why,
	}, 0)
}

// due is when an intent was to be carried out at the earliest.
func due(i fleet.Intent) time.Time { return later(i.Deadline, later(i.AnnouncedAt, i.CreatedAt)) }

// patience is the pause before a due intent is tried again that waits for nothing
// in particular: it grows with the time it has waited.
func patience(i fleet.Intent, now time.Time) time.Duration {
	return min(max(now.Sub(due(i))/4, soon), longPause)
}

// retryPause grows with the tries; what the platform asked for is a lower bound.
func retryPause(i fleet.Intent, err error) time.Duration {
	pause := min(soon<<min(len(i.Attempts), 10), longRetry)
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		pause = max(pause, min(e.RetryAfter, longestRest))
		if e.Kind == fleet.Banned {
			pause = max(pause, bannedPause)
		}
	}
	return pause
}
