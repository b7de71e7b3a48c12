package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// Address is one channel a notice goes to.
type Address struct {
	Channel string
	// Opens says that this channel's acceptance of an announcement starts the
	// clock of the intent.
	Opens bool
}

// Enqueue puts a notice into the outbox of the given channels, in the same
// transaction as the change it tells of. A notice with a key that was already
// told after since is dropped; a zero since drops it if it was ever told. The
// answer says whether it was queued.
func (t *Tx) Enqueue(n notify.Notice, to []Address, since time.Time) (bool, error) {
	if n.Key != "" {
		told, err := t.Told(n.Key, since)
		if err != nil || told {
			return false, err
		}
	}
	id, err := number(t.ctx, t.tx, "notice")
	if err != nil {
		return false, err
	}
	n.ID = id
	if n.At.IsZero() {
		n.At = t.Now
	}
	body, err := encode(n)
	if err != nil {
		return false, err
	}
	if err := t.exec(`INSERT INTO notices (id, key, at, body) VALUES ($1, $2, $3, $4)`, id, n.Key, millis(n.At), body); err != nil {
		return false, err
	}
	var intent int64
	if n.Intent != nil {
		intent = n.Intent.ID
	}
	t.journaled = true
	sent := map[string]bool{}
	for _, a := range to {
		if sent[a.Channel] {
			continue
		}
		sent[a.Channel] = true
		delivery, err := number(t.ctx, t.tx, "delivery")
		if err != nil {
			return false, err
		}
		opens := n.Event == notify.EventPending && a.Opens
		if err := t.exec(`INSERT INTO outbox (id, notice, channel, intent, opens, attempt, plain, next_at, expires_at, done_at, verdict)
			VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $7, 0, '')`,
			delivery, id, a.Channel, intent, flag(opens), millis(n.At), millis(n.Expires)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Told reports whether a notice with this key was queued after since.
func (t *Tx) Told(key string, since time.Time) (bool, error) {
	var n int
	err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM notices WHERE key = $1 AND at > $2`, key, millis(since)).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("state: %w", err)
	}
	return n > 0, nil
}

// Forget lets a key be told again: what it spoke of is over.
func (t *Tx) Forget(key string) error {
	return t.exec(`UPDATE notices SET key = '' WHERE key = $1`, key)
}

// ToldKeys reads the keys of notices that begin with prefix and when they were
// last told.
func (s *Store) ToldKeys(ctx context.Context, prefix string) (map[string]time.Time, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT key, max(at) FROM notices WHERE key >= $1 AND key < $2 GROUP BY key`, prefix, prefix+"\U0010ffff")
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]time.Time{}
	for rows.Next() {
		var k string
		var at int64
		if err := rows.Scan(&k, &at); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out[k] = moment(at)
	}
	return out, rows.Err()
}

// DueDeliveries reads deliveries that should be sent by now, oldest first, at
// most limit of them. The intents in their notices show the journal's present
// state and deadline, so that a channel that comes late does not promise more time
// than there is, or announce what is over.
func (s *Store) DueDeliveries(ctx context.Context, now time.Time, limit int) ([]notify.Delivery, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT o.id, o.notice, o.channel, o.attempt, o.plain, o.next_at, o.expires_at, n.body, COALESCE(i.body, '')
		FROM outbox o JOIN notices n ON n.id = o.notice 
		LEFT JOIN intents i ON i.id = COALESCE((SELECT min(p.id) FROM intents p WHERE p.batch = o.intent AND p.batch > 0 AND p.state = 'pending'), o.intent)
		WHERE o.done_at = 0 AND o.next_at <= $1 ORDER BY o.next_at, o.id LIMIT $2`, millis(now), limit)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []notify.Delivery
	for rows.Next() {
		var d notify.Delivery
		var plain, next, expires int64
		var body, row string
		if err := rows.Scan(&d.ID, &d.NoticeID, &d.Channel, &d.Attempt, &plain, &next, &expires, &body, &row); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		if err := json.Unmarshal([]byte(body), &d.Notice); err != nil {
			return nil, fmt.Errorf("state: notice %d: %w", d.NoticeID, err)
		}
		if d.Notice.Intent != nil && row != "" {
			var i fleet.Intent
			if err := json.Unmarshal([]byte(row), &i); err != nil {
				return nil, fmt.Errorf("state: intent of notice %d: %w", d.NoticeID, err)
			}
			d.Notice.Intent.State, d.Notice.Intent.AcceptedAt, d.Notice.Intent.Deadline = i.State, i.AcceptedAt, i.Deadline
		}
		d.Plain, d.NextAt, d.ExpiresAt = plain != 0, moment(next), moment(expires)
		out = append(out, d)
	}
	return out, rows.Err()
}

// RecordDelivery journals what became of an attempt to send. A zero next is
// final, and what is final stays so. Acceptance of an announcement starts the
// clock of its intent in the same transaction.
func (s *Store) RecordDelivery(ctx context.Context, d notify.Delivery, v notify.Verdict, next, now time.Time) error {
	verdict, err := encode(v)
	if err != nil {
		return err
	}
	return s.Update(ctx, func(t *Tx) error {
		t.journaled = true
		done := int64(0)
		if next.IsZero() {
			done = millis(now)
		}
		if err := t.exec(`UPDATE outbox SET attempt = $1, plain = $2, next_at = $3, done_at = $4, verdict = $5 WHERE id = $6 AND done_at = 0`,
			d.Attempt, flag(d.Plain), millis(next), done, verdict, d.ID); err != nil {
			return err
		}
		if v.Kind != notify.VerdictOK {
			return nil
		}
		return t.accepted(d, now)
	})
}

// Announcing reports whether an announcement of the intent, alone or with others, is
// still on its way to a channel whose acceptance would start the clock.
func (t *Tx) Announcing(i fleet.Intent) (bool, error) {
	intent := i.ID
	if i.Batch != 0 {
		intent = i.Batch
	}
	var n int
	err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM outbox WHERE intent = $1 AND opens = 1 AND done_at = 0`, intent).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("state: %w", err)
	}
	return n > 0, nil
}

// Delivered reports whether a channel has accepted the notice with this key, and
// whether it is still on its way to one.
func (s *Store) Delivered(ctx context.Context, key string) (accepted, waiting bool, err error) {
	rows, err := s.r.QueryContext(ctx, `SELECT o.done_at, o.verdict FROM outbox o JOIN notices n ON n.id = o.notice WHERE n.key = $1`, key)
	if err != nil {
		return false, false, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var done int64
		var body string
		if err := rows.Scan(&done, &body); err != nil {
			return false, false, fmt.Errorf("state: %w", err)
		}
		var v notify.Verdict
		if done == 0 {
			waiting = true
		} else if json.Unmarshal([]byte(body), &v) == nil && v.Kind == notify.VerdictOK {
			accepted = true
		}
	}
	return accepted, waiting, rows.Err()
}

// accepted moves the deadline of the intent that a delivery announced: it counts
// from the first acceptance and only ever moves later.
func (t *Tx) accepted(d notify.Delivery, now time.Time) error {
	var intent, opens int64
	err := t.tx.QueryRowContext(t.ctx, `SELECT intent, opens FROM outbox WHERE id = $1`, d.ID).Scan(&intent, &opens)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && (intent == 0 || opens == 0)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	for _, one := range append([]int64{intent}, d.Notice.Others()...) {
		if err := t.acceptedFor(one, d, now); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) acceptedFor(intent int64, d notify.Delivery, now time.Time) error {
	i, err := t.Intent(intent)
	if err != nil {
		return err
	}
	if i.State != fleet.IntentPending || !i.AcceptedAt.IsZero() || d.Notice.Intent == nil || d.Notice.Intent.Announced != i.Announced {
		return nil
	}
	i.AcceptedAt, i.AcceptedBy, i.HeldBack = now, d.Channel, fleet.Reason{}
	if deadline := now.Add(i.Warn); deadline.After(i.Deadline) {
		i.Deadline = deadline
	}
	// A platform that asked for peace after a first try gets it.
	if len(i.Attempts) == 0 || i.Deadline.After(i.NextAt) {
		i.NextAt = i.Deadline
	}
	return t.SaveIntent(&i, fleet.IntentPending, "announced")
}
