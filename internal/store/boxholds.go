package store

import (
	"context"
	"time"

	"curfew/fleet"
)

// BoxHold is the hold file inside an instance, as the last look that could read it
// found it.
type BoxHold struct {
	Ref   fleet.Ref  `json:"ref"`
	Boot  fleet.Boot `json:"boot"`
	Until time.Time  `json:"until"`
}

// SaveBoxHold remembers what a look found; one without an end forgets it.
func (t *Tx) SaveBoxHold(h BoxHold) error {
	if h.Until.IsZero() {
		return t.exec(`DELETE FROM box_holds WHERE ref = $1`, refKey(h.Ref))
	}
	body, err := encode(h)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO box_holds (ref, until, body) VALUES ($1, $2, $3)
		ON CONFLICT (ref) DO UPDATE SET until = excluded.until, body = excluded.body`, refKey(h.Ref), millis(h.Until), body)
}

// BoxHolds reads what is remembered, over or not.
func (s *Store) BoxHolds(ctx context.Context) ([]BoxHold, error) {
	return bodies[BoxHold](ctx, s.r, `SELECT body FROM box_holds ORDER BY ref`)
}
