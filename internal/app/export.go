package app

import (
	"context"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/export"
	"curfew/internal/store"
)

// Exporter copies an instance's data away, from inside it.
type Exporter interface {
	// Export gives an error only where ctx ended first.
	Export(ctx context.Context, job export.Job) (export.Result, error)
}

// export copies an instance's data away for a policy, and journals that it was begun
// and how it ended: one without an end was interrupted, and is made again. ok says
// that it was copied and proven. What could not even be begun is put off.
func (a *App) export(ctx context.Context, rt *runtime, i fleet.Instance, one toSecure) (ok bool, later execute.Answer, err error) {
	row := fleet.Secured{
		Ref: i.Ref, Boot: i.Boot, Policy: one.policy.Name, By: fleet.SecuredByExport, Run: one.run.ID, Tries: one.tries,
	}
	save := func(change func(tx *store.Tx)) error {
		return a.store.Update(ctx, func(tx *store.Tx) error {
			change(tx)
			return a.saveSecured(tx, row)
		})
	}
	if err := save(func(tx *store.Tx) { row.StartedAt = tx.Now }); err != nil {
		return false, later, err
	}
	log := a.log.With().Str("instance", i.Ref.String()).Str("policy", row.Policy).Str("run", row.Run).Logger()
	log.Info().Int("try", row.Tries).Msg("export begins")
	res, err := rt.exporter.Export(ctx, export.Job{Instance: i, Export: *one.policy.Terms.Data.Export, Since: one.run.StartedAt})
	if err != nil {
		return false, later, err
	}
	if res.Why.Code == export.ReasonUnreachable {
		log.Warn().Str("reason", rt.render.Reason(res.Why, a.clock.Now())).Msg("export cannot begin, will be tried again")
		return false, execute.Answer{Word: execute.PutOff, Reason: res.Why}, save(func(*store.Tx) { row.Why = res.Why })
	}
	if err := save(func(tx *store.Tx) { row.EndedAt, row.OK, row.Why = tx.Now, res.Why.IsZero(), res.Why }); err != nil {
		return false, later, err
	}
	if !row.OK {
		log.Warn().Str("reason", rt.render.Reason(res.Why, a.clock.Now())).Msg("export failed, nothing will be released for this run")
		return false, later, nil
	}
	log.Info().Dur("took", row.EndedAt.Sub(row.StartedAt)).Msg("export is done and proven")
	return true, later, nil
}
