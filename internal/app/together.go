package app

import (
	"context"
	"errors"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/policies"
)

// openTogether journals deletions that are asked for at one time, and announces
// those that one policy asks for in one message: nobody reads a hundred. No more are
// opened than the cap has room for: the rest is announced when there is room, and
// can be called off until then.
func (a *App) openTogether(ctx context.Context, ds []decision) error {
	byPolicy := map[string][]decision{}
	var order []string
	for _, d := range ds {
		if refused(d.rulings) || a.letAlone(d.subject.Ref.Account) {
			continue
		}
		name := together(d.step) + "|" + d.hurried
		if byPolicy[name] == nil {
			order = append(order, name)
		}
		byPolicy[name] = append(byPolicy[name], d)
	}
	var errs []error
	for _, name := range order {
		errs = append(errs, a.openBatch(ctx, byPolicy[name]))
	}
	return errors.Join(errs...)
}

// together names what is announced in one message.
func together(s policies.Step) string { return s.Verdicts[0].Policy }

func (a *App) openBatch(ctx context.Context, ds []decision) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		room, err := a.roomToDelete(tx)
		if err != nil {
			return err
		}
		var is []fleet.Intent
		for _, d := range ds {
			if room >= 0 && len(is) >= room {
				break
			}
			i, effect := wanted(d)
			if err := tx.OpenIntent(&i, effect); errors.Is(err, store.ErrOpenIntent) {
				continue
			} else if err != nil {
				return err
			}
			is = append(is, i)
		}
		if len(is) == 0 {
			return nil
		}
		a.log.Info().Int64("intent", is[0].ID).Int("acts", len(is)).Str("first", is[0].Ref.String()).Str("action", is[0].Action.String()).
			Str("policy", is[0].Verdicts[0].Policy).Str("reason", string(is[0].Verdicts[0].Reason.Code)).Msg("acts announced")
		return a.announce(tx, is, store.Unnoted)
	})
}

// roomToDelete is how many deletions may be opened under the cap, with those that
// are open taken off; negative where there is no cap.
func (a *App) roomToDelete(tx *store.Tx) (int, error) {
	limit := a.runtime().cap(capKey{effect: fleet.Delete})
	if limit == (guard.Cap{}) {
		return -1, nil
	}
	all, err := tx.OpenIntents()
	if err != nil {
		return 0, err
	}
	announced, open := 0, make(map[fleet.Ref]fleet.Intent, len(all))
	for _, i := range all {
		open[i.Ref] = i
		if i.Action == fleet.Delete && len(i.Attempts) == 0 {
			announced++
		}
	}
	sent, err := tx.Sent(fleet.Delete, false, tx.Now.Add(-capWindow))
	most, _ := limit.Limit(countThere(a.inv.Snapshot(), open) + sent)
	return max(most-announced-sent, 0), err
}
