package store

import (
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/guard"
)

// BoxHold is the hold file inside an instance, as the last look that could read it
// found it.
type BoxHold struct {
	Ref   fleet.Ref  `json:"ref"`
	Boot  fleet.Boot `json:"boot"`
	Until time.Time  `json:"until"` // what the file says
	// Since is when it was first seen to say so, and Ends when the limits of holds end
	// it; zero: there were none, and it ends when it says.
	Since time.Time `json:"since,omitzero"`
	Ends  time.Time `json:"ends,omitzero"`
	// Past is when the file held before it said what it says now.
	Past []guard.Held `json:"past,omitempty"`
}

// End is until when the file forbids acting.
func (h BoxHold) End() time.Time {
	if !h.Ends.IsZero() && h.Ends.Before(h.Until) {
		return h.Ends
	}
	return h.Until
}

// Held is all that is known of when the file held, or does.
func (h BoxHold) Held() []guard.Held {
	if h.Until.IsZero() || h.Since.IsZero() {
		return slices.Clip(h.Past)
	}
	return append(slices.Clip(h.Past), guard.Held{From: h.Since, To: h.End()})
}

// SaveBoxHold remembers what a look found; one without an end or a past forgets it.
func (t *Tx) SaveBoxHold(h BoxHold) error {
	last := h.Until
	for _, p := range h.Past {
		if p.To.After(last) {
			last = p.To
		}
	}
	if last.IsZero() {
		return t.exec(`DELETE FROM box_holds WHERE ref = $1`, refKey(h.Ref))
	}
	body, err := encode(h)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO box_holds (ref, until, body) VALUES ($1, $2, $3)
		ON CONFLICT (ref) DO UPDATE SET until = excluded.until, body = excluded.body`, refKey(h.Ref), millis(last), body)
}

// BoxHolds reads what is remembered, over or not.
func (s *Store) BoxHolds(ctx context.Context) ([]BoxHold, error) {
	return bodies[BoxHold](ctx, s.r, `SELECT body FROM box_holds ORDER BY ref`)
}
