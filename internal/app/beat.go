package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/notify"
)

const beatKey = "heartbeat"

// wake notes how long nobody could say "wait", before anything else is done.
func (a *App) wake(ctx context.Context) error { return a.beat(ctx) }

// beat notes that the daemon is alive, and announces anew what nobody could say
// "wait" to.
func (a *App) beat(ctx context.Context) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		heard, err := lastBeat(tx)
		if err != nil {
			return err
		}
		if err := a.announceAnew(tx, heard); err != nil {
			return err
		}
		return tx.SetMeta(beatKey, tx.Now.Format(time.RFC3339))
	})
}

func lastBeat(tx *store.Tx) (time.Time, error) {
	last, err := tx.Meta(beatKey)
	heard, _ := time.Parse(time.RFC3339, last) // the first start of all has none
	return heard, err
}

// deaf reports whether the last beat is so old that a deadline may have passed
// while nobody could say "wait": nothing is written before the next beat has
// seen to it.
func (a *App) deaf(tx *store.Tx) (bool, error) {
	heard, err := lastBeat(tx)
	return tx.Now.Sub(heard) > deafAfter, err
}

// announceAnew announces again what has lost its announcement. After a silence
// longer than deafAfter, or a clock that jumped, that is every act whose deadline
// passed meanwhile: the promised time to say "wait" was not given, or no channel
// had the time to take the warning. It is also every act whose announcement was
// refused by all channels, or is too old to be delivered.
func (a *App) announceAnew(tx *store.Tx, heard time.Time) error {
	open, err := tx.OpenIntents()
	if err != nil {
		return err
	}
	deaf := !heard.IsZero() && tx.Now.Sub(heard) > deafAfter
	anew := map[int64][]fleet.Intent{}
	for _, i := range open {
		if i.State != fleet.IntentPending || i.By != execute.ByPolicy {
			continue
		}
		deadline := i.Deadline
		if i.AcceptedAt.IsZero() {
			deadline = i.AnnouncedAt.Add(i.Warn + guard.NobodyHeard)
		}
		missed := deaf && deadline.After(heard) && !deadline.After(tx.Now)
		if deaf && i.Hurried != "" {
			missed = true // that now is over
			slowDown(&i)
		}
		if i.AcceptedAt.IsZero() {
			waits, err := tx.Announcing(i)
			if err != nil {
				return err
			}
			switch {
			case missed && waits: // it is on its way, and has its time from now on
				i.AnnouncedAt, i.NextAt = tx.Now, tx.Now.Add(i.Warn+guard.NobodyHeard)
				if err := tx.SaveIntent(&i, fleet.IntentPending, "announced anew"); err != nil {
					return err
				}
				continue
			case !waits && tx.Now.Sub(i.AnnouncedAt) >= announceAgain:
				missed = true
			}
		}
		if !missed {
			continue
		}
		a.log.Info().Int64("intent", i.ID).Time("deadline", deadline).Msg("nobody could say wait, announced anew")
		i.AcceptedAt, i.AcceptedBy = time.Time{}, ""
		together := cmp.Or(i.Batch, i.ID)
		anew[together] = append(anew[together], i)
	}
	for _, id := range slices.Sorted(maps.Keys(anew)) {
		if err := a.announce(tx, anew[id], "announced anew"); err != nil {
			return err
		}
	}
	return nil
}

// announcement is the key of the newest announcement of an act, alone or with others.
func announcement(i fleet.Intent) string {
	return fmt.Sprintf("intent|%d|pending|%d", cmp.Or(i.Batch, i.ID), i.Announced)
}

// announce queues the warning of intents, in one message for all of them, and
// journals the step. The clock starts when a channel accepts it.
func (a *App) announce(tx *store.Tx, is []fleet.Intent, step string) error {
	first := &is[0]
	for n := range is {
		i := &is[n]
		i.Announced = first.Announced + 1
		i.AnnouncedAt = tx.Now
		switch {
		case i.Hurried == "":
			i.NextAt = tx.Now.Add(i.Warn + guard.NobodyHeard)
		case len(i.Attempts) == 0: // a platform that asked for peace gets it
			i.NextAt = tx.Now
			fallthrough
		default:
			i.Warn, i.Deadline = 0, tx.Now
		}
		i.Batch = 0
		if len(is) > 1 {
			i.Batch = first.ID
		}
	}
	first.Announced = is[len(is)-1].Announced
	n := notify.Notice{
		Key: announcement(*first), Event: notify.EventPending,
		Severity: fleet.Warning, Category: fleet.CategoryAct, Subject: first.Subject, Intent: first,
	}
	for _, i := range is[1:] {
		n.With = append(n.With, notify.Other{Intent: i.ID, Name: i.Subject.DisplayName(), Price: i.Subject.CostNow(), Owner: i.Subject.Owner})
	}
	for _, v := range first.Verdicts {
		n.Because = append(n.Because, v.Reason)
	}
	if len(n.Because) > 0 {
		n.Reason = n.Because[0]
	}
	secured, err := a.firstSecured(tx, *first)
	if err != nil {
		return err
	}
	n.Because = append(append(n.Because, secured...), a.imageFirst(*first)...)
	n.Because = append(n.Because, a.fate(*first)...)
	if err := a.tell(tx, n, 0); err != nil {
		return err
	}
	for n := range is {
		if err := tx.SaveIntent(&is[n], fleet.IntentPending, step); err != nil {
			return err
		}
	}
	return nil
}
