package store

import (
	"context"

	"curfew/fleet"
)

// OpenEstimate remembers an estimate under a new number. It replaces the one that was
// open of the same instance and Boot, and gives that; nil: there was none.
func (t *Tx) OpenEstimate(e *fleet.Estimate) (before *fleet.Estimate, err error) {
	open, err := bodies[fleet.Estimate](t.ctx, t.tx, `SELECT body FROM estimates WHERE ref = $1 AND closed_at = 0`, refKey(e.Ref))
	if err != nil {
		return nil, err
	}
	for n := range open {
		o := &open[n]
		if o.Boot.Same(e.Boot) {
			before = o
			o.Close(t.Now, fleet.EstimateReplaced)
		} else {
			o.Close(t.Now, fleet.EstimateStopped)
		}
		if err := t.SaveEstimate(*o); err != nil {
			return nil, err
		}
	}
	if e.ID, err = number(t.ctx, t.tx, "estimates"); err != nil {
		return nil, err
	}
	body, err := encode(*e)
	if err != nil {
		return nil, err
	}
	return before, t.exec(`INSERT INTO estimates (id, ref, boot, closed_at, body) VALUES ($1, $2, $3, 0, $4)`, e.ID, refKey(e.Ref), string(e.Boot), body)
}

// SaveEstimate remembers what became of an estimate. One that was closed or dropped
// meanwhile stays so.
func (t *Tx) SaveEstimate(e fleet.Estimate) error {
	body, err := encode(e)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE estimates SET closed_at = $1, body = $2 WHERE id = $3 AND closed_at = 0`, millis(e.ClosedAt), body, e.ID)
}

// DropEstimate forgets the open estimate of an instance, and gives it; nil: there is
// none.
func (t *Tx) DropEstimate(ref fleet.Ref) (*fleet.Estimate, error) {
	all, err := bodies[fleet.Estimate](t.ctx, t.tx, `SELECT body FROM estimates WHERE ref = $1 AND closed_at = 0 ORDER BY id DESC`, refKey(ref))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], t.exec(`DELETE FROM estimates WHERE ref = $1 AND closed_at = 0`, refKey(ref))
}

// OpenEstimates reads the estimates that are not closed.
func (s *Store) OpenEstimates(ctx context.Context) ([]fleet.Estimate, error) {
	return bodies[fleet.Estimate](ctx, s.r, `SELECT body FROM estimates WHERE closed_at = 0 ORDER BY id`)
}

// Estimates reads the newest estimates of one instance, newest first, at most limit
// of them.
func (s *Store) Estimates(ctx context.Context, ref fleet.Ref, limit int) ([]fleet.Estimate, error) {
	return bodies[fleet.Estimate](ctx, s.r, `SELECT body FROM estimates WHERE ref = $1 ORDER BY id DESC LIMIT $2`, refKey(ref), limit)
}
