package execute

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/providers"
)

// close ends an intent that still stands as it was when the step began.
func (x *Executor) close(ctx context.Context, i fleet.Intent, seen fleet.Instance, outcome fleet.Outcome, why fleet.Reason) error {
	return x.Store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil {
			return err
		}
		if !same(row, i) {
			return nil
		}
		return x.saveClosed(tx, &row, row.State, seen, outcome, why)
	})
}

// Abandon closes a pending intent in the given transaction, and tells if it was
// announced.
func (x *Executor) Abandon(tx *store.Tx, i *fleet.Intent, why fleet.Reason) error {
	return x.saveClosed(tx, i, fleet.IntentPending, fleet.Instance{}, fleet.OutcomeAbandoned, why)
}

// LetGo closes an open intent whatever its state, since nobody will look at its
// account any more: a pending one is abandoned, one that was requested stays
// unverified.
func (x *Executor) LetGo(tx *store.Tx, i *fleet.Intent, why fleet.Reason) error {
	if i.State == fleet.IntentPending {
		return x.Abandon(tx, i, why)
	}
	return x.saveClosed(tx, i, i.State, fleet.Instance{}, fleet.OutcomeUnverified, why)
}

func (x *Executor) saveClosed(tx *store.Tx, i *fleet.Intent, was fleet.IntentState, seen fleet.Instance, outcome fleet.Outcome, why fleet.Reason) error {
	i.State, i.Outcome, i.Why, i.ClosedAt, i.NextAt = fleet.IntentClosed, outcome, why, tx.Now, time.Time{}
	if !seen.Ref.IsZero() && i.Action != fleet.Start && i.Ref.Kind == fleet.KindInstance {
		until := tx.Now
		if why.Code == ReasonStartedAgain && i.Subject.Here {
			until = i.StartedAt // it was down since about then, whenever that was found out
		}
		i.Cost = bootCost(i.Subject, seen, until)
	}
	if i.Action == fleet.Start && outcome == fleet.OutcomeDone {
		i.Reached = seen.Boot
	}
	if err := tx.SaveIntent(i, was, "closed"); err != nil {
		return err
	}
	x.Log.Info().Int64("intent", i.ID).Str("instance", i.Ref.String()).Str("action", i.Action.String()).
		Str("outcome", string(outcome)).Str("reason", string(why.Code)).Msg("intent closed")
	n := notify.Notice{
		Key: noticeKey(*i, "closed"), Severity: fleet.Info, Category: fleet.CategoryAct,
		Subject: i.Subject, Intent: i, Reason: why,
	}
	if !seen.Ref.IsZero() {
		n.Subject = seen
		n.Subject.Price = i.Subject.Price
	}
	if i.Batch != 0 {
		n.Key = noticeKey(*i, "closed|"+string(outcome)+"|"+string(why.Code))
	}
	if outcome == fleet.OutcomeDone || outcome == fleet.OutcomeDoneStillBilling {
		n.Because = append(n.Because, exported(*i)...)
		if x.World.Closed != nil {
			follows, err := x.World.Closed(tx, *i)
			if err != nil {
				return err
			}
			n.Because = append(n.Because, follows...)
		}
	}
	switch outcome {
	case fleet.OutcomeDone:
		n.Event = notify.EventDone
		if i.Batch != 0 {
			return x.tellAllDone(tx, n)
		}
		if a, ok := x.World.Account(i.Ref.Account); ok && a.Kind.BillingProof == providers.ProofNone && i.Action != fleet.Start {
			n.Because = append(n.Because, fleet.Because(ReasonNoProof, fleet.Values{"provider": fleet.Text(a.Kind.Title)}))
		}
	case fleet.OutcomeDoneStillBilling:
		n.Event, n.Severity, n.Category = notify.EventDone, fleet.Warning, fleet.CategoryMoney
	case fleet.OutcomeAbandoned:
		// Where no channel took its first announcement, nobody was told of it.
		if i.AcceptedAt.IsZero() && i.Announced < 2 && i.By == ByPolicy {
			return nil
		}
		n.Event = notify.EventAbandoned
	case fleet.OutcomeVanished:
		n.Event, n.Severity = notify.EventAlarm, fleet.Warning
	default:
		n.Event, n.Severity = notify.EventAlarm, fleet.Critical
	}
	if err := x.World.Tell(tx, n, 0); err != nil || i.Batch == 0 {
		return err
	}
	n.Event, n.Severity = notify.EventDone, fleet.Info
	return x.tellAllDone(tx, n)
}

// exported says which data was copied away before the act, when, and how long it took.
func exported(i fleet.Intent) []fleet.Reason {
	var out []fleet.Reason
	for _, s := range i.Secured {
		if s.By == fleet.SecuredByExport && s.OK {
			out = append(out, fleet.Because(ReasonExported, fleet.Values{
				"policy": fleet.Text(s.Policy), "at": fleet.Moment(s.EndedAt), "took": fleet.Span(s.EndedAt.Sub(s.StartedAt))}))
		}
	}
	return out
}

// tellAllDone tells of acts that were announced together when the last of them has
// ended: how many had their effect.
func (x *Executor) tellAllDone(tx *store.Tx, n notify.Notice) error {
	open, done, all, err := tx.Batch(n.Intent.Batch)
	if err != nil || open > 0 || done == 0 {
		return err
	}
	n.Key = noticeKey(*n.Intent, "closed")
	n.Reason = fleet.Because(ReasonAllDone, fleet.Values{"done": fleet.Number(float64(done)), "all": fleet.Number(float64(all))})
	return x.World.Tell(tx, n, 0)
}

// bootCost is what the power cycle has cost until its end, or until now.
func bootCost(subject, seen fleet.Instance, now time.Time) fleet.Money {
	end := now
	switch {
	case !seen.State.Up() && seen.Boot.Same(subject.Boot) && !seen.StoppedAt.IsZero():
		end = seen.StoppedAt
	case !subject.State.Up() && !subject.StoppedAt.IsZero():
		end = subject.StoppedAt
	}
	if subject.StartedAt.IsZero() {
		return fleet.Money{}
	}
	cost, _ := subject.Price.For(end.Sub(subject.StartedAt))
	return cost
}
