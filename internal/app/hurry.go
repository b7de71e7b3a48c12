package app

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/execute"
	"curfew/internal/store"
	"curfew/policies"
)

// hurry is what somebody was shown and wants now.
type hurry struct {
	by    string
	shown map[ctl.Shown]bool
}

// mark notes on the decisions that are still what was shown who wants them now.
func (h hurry) mark(ds []decision) {
	if len(h.shown) == 0 {
		return
	}
	for n := range ds {
		d := &ds[n]
		if h.shown[ctl.Shown{Ref: d.subject.Ref, Boot: d.subject.Boot, Action: d.step.Action}] {
			d.hurried = h.by
		}
	}
}

// hurryUp lets an announced act that is still what was shown wait no longer, and
// tells.
func (a *App) hurryUp(ctx context.Context, d decision) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(d.intent.ID)
		if err != nil || !mayHurry(row) || row.Action != d.step.Action || row.Boot != d.subject.Boot {
			return err
		}
		return a.hurryIn(tx, row, d.hurried)
	})
}

// mayHurry reports whether the act waits for its time, and for nobody who wants it now
// already.
func mayHurry(i fleet.Intent) bool {
	return i.State == fleet.IntentPending && i.Hurried == "" && i.By == execute.ByPolicy
}

// hurryIn lets an announced act wait no longer, in a given transaction, and tells.
func (a *App) hurryIn(tx *store.Tx, row fleet.Intent, by string) error {
	row.Hurried = by
	row.AcceptedAt, row.AcceptedBy = time.Time{}, ""
	a.log.Info().Int64("intent", row.ID).Str("instance", row.Ref.String()).Str("by", by).Msg("wanted now")
	return a.announce(tx, []fleet.Intent{row}, "hurried")
}

// slowDown gives an act the warning time back that somebody wanted to skip.
func slowDown(i *fleet.Intent) {
	i.Hurried = ""
	for _, v := range i.Verdicts {
		i.Warn = max(i.Warn, v.Terms.Warn(policies.Effect(i.Subject, i.Action)))
	}
}
