package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"curfew/fleet"
)

// ErrOpenIntent is returned when a second intent would be opened for a thing.
var ErrOpenIntent = errors.New("there is an open intent for this already")

// ErrChanged is returned when an intent is no longer in the state it was
// thought to be in.
var ErrChanged = errors.New("the intent has changed meanwhile")

// ErrNoIntent is returned where nobody knows an intent.
var ErrNoIntent = errors.New("curfew journal lists them")

// ReasonNoIntent is [ErrNoIntent] for people.
const ReasonNoIntent fleet.Code = "store.no-intent"

// Unnoted is the step of a save that says nothing new: the row changes, and the
// journal gets no line.
const Unnoted = ""

// Entry is one line of the journal: what an intent went through.
type Entry struct {
	ID     int64        `json:"id"`
	Intent int64        `json:"intent"`
	At     time.Time    `json:"at"`
	Step   string       `json:"step"` // opened, announced, started, written, closed, put-off, again
	Row    fleet.Intent `json:"row"`  // the intent as it then was
}

// OpenIntent journals a new intent and gives it its number. effect is what the
// action amounts to for caps.
func (t *Tx) OpenIntent(i *fleet.Intent, effect fleet.Action) error {
	var n int
	if err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM intents WHERE ref = $1 AND state <> 'closed'`, refKey(i.Ref)).Scan(&n); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if n > 0 {
		return fmt.Errorf("%s: %w", i.Ref, ErrOpenIntent)
	}
	id, err := number(t.ctx, t.tx, "intent")
	if err != nil {
		return err
	}
	i.ID, i.State, i.Fence = id, fleet.IntentPending, t.store.fence
	if i.CreatedAt.IsZero() {
		i.CreatedAt = t.Now
	}
	body, err := encode(i)
	if err != nil {
		return err
	}
	if err := t.exec(`INSERT INTO intents (id, ref, account, boot, action, effect, money, state, outcome, fence, created_at, first_sent, closed_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, $10, 0, 0, $11)`,
		i.ID, refKey(i.Ref), i.Ref.Account, string(i.Boot), i.Action.String(), effect.String(), flag(i.Money),
		string(i.State), i.Fence, millis(i.CreatedAt), body); err != nil {
		return err
	}
	return t.journal("opened", *i)
}

// SaveIntent journals a step of an intent that was in state was; ErrChanged if
// it is not any more.
func (t *Tx) SaveIntent(i *fleet.Intent, was fleet.IntentState, step string) error {
	i.Fence, t.journaled = t.store.fence, true
	body, err := encode(i)
	if err != nil {
		return err
	}
	res, err := t.tx.ExecContext(t.ctx, `UPDATE intents SET state = $1, outcome = $2, fence = $3, closed_at = $4, body = $5, boot = $6, money = $7,
		first_sent = CASE WHEN first_sent = 0 THEN $8 ELSE first_sent END, batch = $9
		WHERE id = $10 AND state = $11`,
		string(i.State), string(i.Outcome), i.Fence, millis(i.ClosedAt), body, string(i.Boot), flag(i.Money),
		millis(i.StartedAt), i.Batch, i.ID, string(was))
	if err != nil {
		return fmt.Errorf("state: save intent #%d: %w", i.ID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("intent #%d was thought to be %s: %w", i.ID, was, ErrChanged), err)
	}
	if step == Unnoted {
		return nil
	}
	return t.journal(step, *i)
}

func (t *Tx) journal(step string, i fleet.Intent) error {
	t.journaled = true
	id, err := number(t.ctx, t.tx, "journal")
	if err != nil {
		return err
	}
	body, err := encode(i)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO journal (id, intent, at, fence, step, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		id, i.ID, millis(t.Now), t.store.fence, step, body)
}

// Batch counts the intents that were announced together: those that have not ended,
// and of the others those that had their effect.
func (t *Tx) Batch(id int64) (open, done, all int, err error) {
	err = t.tx.QueryRowContext(t.ctx, `SELECT COALESCE(sum(CASE WHEN state <> 'closed' THEN 1 ELSE 0 END), 0),
		COALESCE(sum(CASE WHEN state = 'closed' AND outcome = $1 THEN 1 ELSE 0 END), 0), count(*) FROM intents WHERE batch = $2`,
		string(fleet.OutcomeDone), id).Scan(&open, &done, &all)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("state: %w", err)
	}
	return open, done, all, nil
}

// Intent reads one intent inside the transaction.
func (t *Tx) Intent(id int64) (fleet.Intent, error) { return readIntent(t.ctx, t.tx, id) }

// Intent reads one intent.
func (s *Store) Intent(ctx context.Context, id int64) (fleet.Intent, error) {
	return readIntent(ctx, s.r, id)
}

func readIntent(ctx context.Context, q querier, id int64) (fleet.Intent, error) {
	is, err := bodies[fleet.Intent](ctx, q, `SELECT body FROM intents WHERE id = $1`, id)
	if err != nil {
		return fleet.Intent{}, err
	}
	if len(is) == 0 {
		return fleet.Intent{}, &fleet.ReasonError{
			Reason: fleet.Because(ReasonNoIntent, fleet.Values{"id": fleet.Text(strconv.FormatInt(id, 10))}),
			Err:    fmt.Errorf("there is no intent #%d; %w", id, ErrNoIntent),
		}
	}
	return is[0], nil
}

const selectOpen = `SELECT body FROM intents WHERE state <> 'closed' ORDER BY id`

// OpenIntents reads every intent that has not ended, oldest first.
func (t *Tx) OpenIntents() ([]fleet.Intent, error) {
	return bodies[fleet.Intent](t.ctx, t.tx, selectOpen)
}

// OpenIntents reads every intent that has not ended, oldest first. It is asked at
// every turn, and most answers are the one before: intents that did not change
// are not decoded again, and are for reading only.
func (s *Store) OpenIntents(ctx context.Context) ([]fleet.Intent, error) {
	all, err := texts(ctx, s.r, selectOpen)
	if err != nil {
		return nil, err
	}
	s.decoding.Lock()
	defer s.decoding.Unlock()
	before := s.decoded
	s.decoded = make(map[string]fleet.Intent, len(all))
	var out []fleet.Intent
	for _, text := range all {
		i, known := before[text]
		if !known {
			if i, err = decode[fleet.Intent](text); err != nil {
				return nil, err
			}
		}
		s.decoded[text] = i
		out = append(out, i)
	}
	return out, nil
}

// Intents reads the newest intents, newest first.
func (s *Store) Intents(ctx context.Context, limit int) ([]fleet.Intent, error) {
	return bodies[fleet.Intent](ctx, s.r, `SELECT body FROM intents ORDER BY id DESC LIMIT $1`, limit)
}

// Journal reads every step of one intent, oldest first.
func (s *Store) Journal(ctx context.Context, intent int64) ([]Entry, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT id, at, step, body FROM journal WHERE intent = $1 ORDER BY id`, intent)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Entry
	for rows.Next() {
		e := Entry{Intent: intent}
		var at int64
		var body string
		if err := rows.Scan(&e.ID, &at, &e.Step, &body); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		e.At = moment(at)
		if err := json.Unmarshal([]byte(body), &e.Row); err != nil {
			return nil, fmt.Errorf("state: journal row %d: %w", e.ID, err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// LastClosed reads the newest ended intent of a thing that was sent to the
// provider, for cooldown; ok is false where there is none.
func (t *Tx) LastClosed(ref fleet.Ref) (i fleet.Intent, ok bool, err error) {
	is, err := bodies[fleet.Intent](t.ctx, t.tx, `SELECT body FROM intents
		WHERE ref = $1 AND state = 'closed' AND first_sent > 0 ORDER BY closed_at DESC, id DESC LIMIT 1`, refKey(ref))
	if err != nil || len(is) == 0 {
		return fleet.Intent{}, false, err
	}
	return is[0], true, nil
}

// LastSent reads, for every thing, the newest ended intent that was sent.
func (s *Store) LastSent(ctx context.Context, since time.Time) (map[fleet.Ref]fleet.Intent, error) {
	is, err := bodies[fleet.Intent](ctx, s.r, `SELECT body FROM intents
		WHERE state = 'closed' AND first_sent > 0 AND closed_at >= $1 ORDER BY closed_at, id`, millis(since))
	if err != nil {
		return nil, err
	}
	last := make(map[fleet.Ref]fleet.Intent, len(is))
	for _, i := range is {
		last[i.Ref] = i
	}
	return last, nil
}

// Grounds reads what done stops stood on, by thing. A stop from before a thing was
// first seen speaks of another one under the same reference, or of boots that were
// counted anew since.
func (s *Store) Grounds(ctx context.Context) (map[fleet.Ref][]fleet.Ground, error) {
	is, err := bodies[fleet.Intent](ctx, s.r, `SELECT i.body FROM intents i
		JOIN things t ON t.ref = i.ref AND t.gone_at = 0 AND i.created_at >= t.first_seen
		WHERE i.state = 'closed' AND i.action = 'stop' AND i.outcome IN ('done', 'done-still-billing') ORDER BY i.id`)
	if err != nil {
		return nil, err
	}
	grounds := map[fleet.Ref][]fleet.Ground{}
	for _, i := range is {
		for _, v := range i.Verdicts {
			if v.Ground != nil && v.Terms.Mode == fleet.Enforce {
				grounds[i.Ref] = append(grounds[i.Ref], *v.Ground)
			}
		}
	}
	return grounds, nil
}

// Starts reads the newest start of each thing that had its effect.
func (s *Store) Starts(ctx context.Context) (map[fleet.Ref]fleet.Intent, error) {
	is, err := bodies[fleet.Intent](ctx, s.r, `SELECT i.body FROM intents i
		JOIN things t ON t.ref = i.ref AND t.gone_at = 0 AND i.created_at >= t.first_seen
		WHERE i.state = 'closed' AND i.action = 'start' AND i.outcome = 'done' ORDER BY i.id`)
	if err != nil {
		return nil, err
	}
	starts := map[fleet.Ref]fleet.Intent{}
	for _, i := range is {
		starts[i.Ref] = i
	}
	return starts, nil
}

// Sent counts the intents of one effect first sent to a provider since a time and
// not refused by it,
// money intents apart.
func (t *Tx) Sent(effect fleet.Action, money bool, since time.Time) (int, error) {
	return countSent(t.ctx, t.tx, effect, money, since)
}

// Sent counts as [Tx.Sent] does.
func (s *Store) Sent(ctx context.Context, effect fleet.Action, money bool, since time.Time) (int, error) {
	return countSent(ctx, s.r, effect, money, since)
}

// SentTimes tells when the intents that [Store.Sent] counts were first sent.
func (s *Store) SentTimes(ctx context.Context, effect fleet.Action, money bool, since time.Time) ([]time.Time, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT first_sent FROM intents WHERE effect = $1 AND money = $2 AND first_sent > $3 AND outcome <> 'failed'`,
		effect.String(), flag(money), millis(since))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []time.Time
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out = append(out, moment(at))
	}
	return out, rows.Err()
}

func countSent(ctx context.Context, q querier, effect fleet.Action, money bool, since time.Time) (int, error) {
	var n int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM intents WHERE effect = $1 AND money = $2 AND first_sent > $3 AND outcome <> 'failed'`,
		effect.String(), flag(money), millis(since)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("state: count acts: %w", err)
	}
	return n, nil
}

// AddHold records a hold and gives it its number.
func (t *Tx) AddHold(h *fleet.Hold) error {
	id, err := number(t.ctx, t.tx, "hold")
	if err != nil {
		return err
	}
	h.ID, h.CreatedAt = id, t.Now
	body, err := encode(h)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO holds (id, ref, until, body) VALUES ($1, $2, $3, $4)`, h.ID, refKey(h.Ref), millis(h.Until), body)
}

// EndHolds ends every hold of a thing now.
func (t *Tx) EndHolds(ref fleet.Ref) error {
	hs, err := activeHolds(t.ctx, t.tx, t.Now)
	if err != nil {
		return err
	}
	for _, h := range hs {
		if h.Ref != ref {
			continue
		}
		h.Until = t.Now
		body, err := encode(h)
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE holds SET until = $1, body = $2 WHERE id = $3`, millis(h.Until), body, h.ID); err != nil {
			return err
		}
	}
	return nil
}

// Holds reads the holds in force.
func (t *Tx) Holds() ([]fleet.Hold, error) { return activeHolds(t.ctx, t.tx, t.Now) }

// Holds reads the holds in force at now.
func (s *Store) Holds(ctx context.Context, now time.Time) ([]fleet.Hold, error) {
	return activeHolds(ctx, s.r, now)
}

func activeHolds(ctx context.Context, q querier, now time.Time) ([]fleet.Hold, error) {
	return bodies[fleet.Hold](ctx, q, `SELECT body FROM holds WHERE until > $1 ORDER BY id`, millis(now))
}

// Approval is a recorded human yes.
type Approval struct {
	Intent  int64     `json:"intent"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires"`
}

// Approve records a yes for an intent.
func (t *Tx) Approve(a Approval) error {
	return t.exec(`INSERT INTO approvals (intent, by_whom, at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (intent) DO UPDATE SET by_whom = excluded.by_whom, at = excluded.at, expires_at = excluded.expires_at`,
		a.Intent, a.By, millis(a.At), millis(a.Expires))
}

// Approval reads the yes for an intent, if one is recorded.
func (t *Tx) Approval(intent int64) (a Approval, ok bool, err error) {
	as, err := approvals(t.ctx, t.tx, `SELECT intent, by_whom, at, expires_at FROM approvals WHERE intent = $1`, intent)
	a, ok = as[intent]
	return a, ok, err
}

// Approvals reads the yes for every intent that has not ended, by its number.
func (s *Store) Approvals(ctx context.Context) (map[int64]Approval, error) {
	return approvals(ctx, s.r, `SELECT a.intent, a.by_whom, a.at, a.expires_at FROM approvals a
		JOIN intents i ON i.id = a.intent AND i.state <> 'closed'`)
}

func approvals(ctx context.Context, q querier, query string, args ...any) (map[int64]Approval, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[int64]Approval{}
	for rows.Next() {
		var a Approval
		var at, expires int64
		if err := rows.Scan(&a.Intent, &a.By, &at, &expires); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		a.At, a.Expires = moment(at), moment(expires)
		out[a.Intent] = a
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return out, nil
}
