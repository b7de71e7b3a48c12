package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
)

// holdRequestsKey is where holds are kept that wait for a yes: there are a few at most,
// and none is old.
const holdRequestsKey = "hold/requests"

// HoldRequest is a hold that is longer than may be at once, and waits for the yes of
// somebody else.
type HoldRequest struct {
	ID      int64     `json:"id"` // people write hold:ID
	Ref     fleet.Ref `json:"ref"`
	Until   time.Time `json:"until"`
	By      string    `json:"by"`
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires"`
}

// AskForHold keeps a request, in place of an earlier one for the same thing, and gives
// it its number.
func (t *Tx) AskForHold(r *HoldRequest) error {
	id, err := number(t.ctx, t.tx, "hold-request")
	if err != nil {
		return err
	}
	r.ID, r.At = id, t.Now
	return t.changeHoldRequests(func(all []HoldRequest) []HoldRequest {
		return append(slices.DeleteFunc(all, func(o HoldRequest) bool { return o.Ref == r.Ref }), *r)
	})
}

// DropHoldRequests forgets the requests of which gone is true.
func (t *Tx) DropHoldRequests(gone func(HoldRequest) bool) error {
	return t.changeHoldRequests(func(all []HoldRequest) []HoldRequest { return slices.DeleteFunc(all, gone) })
}

// HoldRequests reads those that wait.
func (t *Tx) HoldRequests() ([]HoldRequest, error) { return holdRequests(t.ctx, t.tx, t.Now) }

// HoldRequests reads those that wait at now.
func (s *Store) HoldRequests(ctx context.Context, now time.Time) ([]HoldRequest, error) {
	return holdRequests(ctx, s.r, now)
}

func holdRequests(ctx context.Context, q querier, now time.Time) ([]HoldRequest, error) {
	text, err := meta(ctx, q, holdRequestsKey)
	if err != nil || text == "" {
		return nil, err
	}
	var all []HoldRequest
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("state: requests to hold cannot be read: %w", err)
	}
	return slices.DeleteFunc(all, func(r HoldRequest) bool { return !now.Before(r.Expires) }), nil
}

func (t *Tx) changeHoldRequests(change func([]HoldRequest) []HoldRequest) error {
	all, err := t.HoldRequests()
	if err != nil {
		return err
	}
	before := len(all)
	if all = change(all); len(all) == 0 && before == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return t.SetMeta(holdRequestsKey, string(text))
}

// HoldsOf reads the holds of a thing that were in force after a moment, oldest first.
func (t *Tx) HoldsOf(ref fleet.Ref, since time.Time) ([]fleet.Hold, error) {
	return holdsOf(t.ctx, t.tx, ref, since)
}

// HoldsOf reads the holds of a thing that were in force after a moment, oldest first.
func (s *Store) HoldsOf(ctx context.Context, ref fleet.Ref, since time.Time) ([]fleet.Hold, error) {
	return holdsOf(ctx, s.r, ref, since)
}

func holdsOf(ctx context.Context, q querier, ref fleet.Ref, since time.Time) ([]fleet.Hold, error) {
	return bodies[fleet.Hold](ctx, q, `SELECT body FROM holds WHERE ref = $1 AND until > $2 ORDER BY id`, refKey(ref), millis(since))
}
