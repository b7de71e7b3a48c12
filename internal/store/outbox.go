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
	// At is the earliest moment to send it; zero is at once. Silent asks for no sound.
	At     time.Time
	Silent bool
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
	if err := t.exec(`INSERT INTO notices (id, key, at, thread, body) VALUES ($1, $2, $3, $4, $5)`, id, n.Key, millis(n.At), n.Thread, body); err != nil {
		return false, err
	}
	t.journaled = true
	sent := map[string]bool{}
	for _, a := range to {
		if sent[a.Channel] {
			continue
		}
		sent[a.Channel] = true
		if err := t.address(n, a); err != nil {
			return false, err
		}
	}
	return true, nil
}

// address puts a notice that is kept into the outbox of a channel.
func (t *Tx) address(n notify.Notice, a Address) error {
	var intent int64
	if n.Intent != nil {
		intent = n.Intent.ID
	}
	delivery, err := number(t.ctx, t.tx, "delivery")
	if err != nil {
		return err
	}
	opens := n.Event == notify.EventPending && a.Opens
	due, expires := n.At, n.Expires
	if a.At.After(due) {
		due = a.At
		if !expires.IsZero() {
			expires = expires.Add(a.At.Sub(n.At)) // it is worth as much time from then on
		}
	}
	return t.exec(`INSERT INTO outbox (id, notice, channel, intent, opens, attempt, plain, silent, grp, ref, taken, next_at, expires_at, done_at, verdict)
		VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $7, '', 0, $8, $9, 0, '')`,
		delivery, n.ID, a.Channel, intent, flag(opens), flag(a.Silent), n.Group, millis(due), millis(expires))
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

const groupTimesQuery = `SELECT
			COALESCE((SELECT MIN(next_at) FROM outbox WHERE channel = $1 AND grp = $2 AND grp <> '' AND done_at = 0 AND next_at > $3), 0),
			COALESCE((SELECT MAX(done_at) FROM outbox WHERE channel = $1 AND grp = $2 AND grp <> '' AND taken = 1), 0)`

// GroupTimes gives when the next message of a group goes to a channel, where that is
// still to come, and when the last one was taken; zero: none.
func (t *Tx) GroupTimes(channel, group string) (waiting, last time.Time, err error) {
	if group == "" {
		return time.Time{}, time.Time{}, nil
	}
	var next, done int64
	err = t.tx.QueryRowContext(t.ctx, groupTimesQuery,
		channel, group, millis(t.Now)).Scan(&next, &done)
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("state: %w", err)
	}
	return moment(next), moment(done), nil
}

const dueQuery = `WITH first AS (SELECT id, channel, grp FROM outbox WHERE done_at = 0 AND next_at <= $1 ORDER BY next_at, id LIMIT $2)
		SELECT o.id, o.notice, o.channel, o.attempt, o.plain, o.silent, o.alone, o.letter, o.grp, o.next_at, o.expires_at, n.body, COALESCE(i.body, ''),
			COALESCE((SELECT p.ref FROM outbox p JOIN notices m ON m.id = p.notice
				WHERE m.thread = n.thread AND m.thread <> '' AND p.channel = o.channel AND p.ref <> '' ORDER BY p.id LIMIT 1), '')
		FROM outbox o JOIN notices n ON n.id = o.notice 
		LEFT JOIN intents i ON i.id = COALESCE((SELECT min(p.id) FROM intents p WHERE p.batch = o.intent AND p.batch > 0 AND p.state = 'pending'), o.intent)
		WHERE o.id IN (SELECT id FROM first UNION
			SELECT g.id FROM (SELECT DISTINCT channel, grp FROM first WHERE grp <> '') f
				JOIN outbox g ON g.channel = f.channel AND g.grp = f.grp AND g.grp <> '' AND g.done_at = 0 AND g.next_at <= $1)
		ORDER BY o.next_at, o.id`

// DueDeliveries reads deliveries that should be sent by now, oldest first, at
// most limit of them and behind them the others of their groups. The intents in their notices show the journal's present
// state and deadline, so that a channel that comes late does not promise more time
// than there is, or announce what is over.
func (s *Store) DueDeliveries(ctx context.Context, now time.Time, limit int) ([]notify.Delivery, error) {
	rows, err := s.r.QueryContext(ctx, dueQuery, millis(now), limit)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []notify.Delivery
	for rows.Next() {
		var d notify.Delivery
		var plain, silent, alone, next, expires int64
		var body, row, group string
		if err := rows.Scan(&d.ID, &d.NoticeID, &d.Channel, &d.Attempt, &plain, &silent, &alone, &d.Letter, &group, &next, &expires, &body, &row, &d.ReplyTo); err != nil {
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
		d.Notice.Group = group // that of this channel
		d.Plain, d.Silent, d.Alone, d.NextAt, d.ExpiresAt = plain != 0, silent != 0, alone != 0, moment(next), moment(expires)
		out = append(out, d)
	}
	return out, rows.Err()
}

// RecordDeliveries journals what became of an attempt to send, all of it or nothing.
// A zero Next is final, and what is final stays so. Acceptance of an announcement
// starts the clock of its intent in the same transaction.
func (s *Store) RecordDeliveries(ctx context.Context, channel string, outs []notify.Outcome, spent bool, now time.Time) error {
	return s.Update(ctx, func(t *Tx) error {
		t.journaled = true
		if spent {
			if err := t.exec(`INSERT INTO sends (channel, at) VALUES ($1, $2)`, channel, millis(now)); err != nil {
				return err
			}
		}
		for _, o := range outs {
			if err := t.recordDelivery(o, now); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *Tx) recordDelivery(o notify.Outcome, now time.Time) error {
	verdict, err := encode(o.Verdict)
	if err != nil {
		return err
	}
	done := int64(0)
	if o.Next.IsZero() {
		done = millis(now)
	}
	if err := t.exec(`UPDATE outbox SET attempt = $1, plain = $2, alone = $3, letter = $4, next_at = $5, done_at = $6, verdict = $7, ref = $8, taken = $9
			WHERE id = $10 AND done_at = 0`,
		o.Delivery.Attempt, flag(o.Delivery.Plain), flag(o.Delivery.Alone), o.Delivery.Letter, millis(o.Next), done, verdict, o.Verdict.Ref,
		flag(o.Verdict.Kind == notify.VerdictOK || o.Verdict.Code == notify.CodeOvertaken), o.Delivery.ID); err != nil {
		return err
	}
	if o.Verdict.Kind != notify.VerdictOK {
		return nil
	}
	return t.accepted(o.Delivery, now)
}

// NextDelivery says when the next delivery after now is due; zero: none is.
func (s *Store) NextDelivery(ctx context.Context, now time.Time) (time.Time, error) {
	var next int64
	err := s.r.QueryRowContext(ctx, `SELECT COALESCE(MIN(next_at), 0) FROM outbox WHERE done_at = 0 AND next_at > $1`, millis(now)).Scan(&next)
	if err != nil {
		return time.Time{}, fmt.Errorf("state: %w", err)
	}
	return moment(next), nil
}

// Seal notes, before they are sent, which deliveries are in one message.
func (s *Store) Seal(ctx context.Context, letter string, deliveries []int64) error {
	return s.Update(ctx, func(t *Tx) error {
		t.journaled = true
		for _, id := range deliveries {
			if err := t.exec(`UPDATE outbox SET letter = $1 WHERE id = $2 AND done_at = 0`, letter, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sends reads when messages were counted against a channel's quota, oldest first.
func (s *Store) Sends(ctx context.Context, channel string, since time.Time) ([]time.Time, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT at FROM sends WHERE channel = $1 AND at >= $2 ORDER BY at`, channel, millis(since))
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
