package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// Untaken is a notice that no channel has taken yet.
type Untaken struct {
	Notice     notify.Notice
	Deliveries []Waiting
}

// Waiting is a delivery of such a notice.
type Waiting struct {
	Channel  string
	Done     bool // it is given up, or Taken
	Taken    bool
	Attempts int
	NextAt   time.Time // zero: it is given up
	Expires  time.Time // zero: never
}

// Expires is until when the notice is worth telling: as long as one of its deliveries
// is. Zero is for ever.
func (u Untaken) Expires() time.Time {
	var last time.Time
	for _, w := range u.Deliveries {
		if w.Expires.IsZero() {
			return time.Time{}
		}
		if w.Expires.After(last) {
			last = w.Expires
		}
	}
	return last
}

// Untaken reads the notices since a moment that were sent to somebody and that no
// channel has taken, oldest first. That one of those named but took it does not count.
func (s *Store) Untaken(ctx context.Context, since time.Time, but ...string) ([]Untaken, error) {
	args, not := []any{millis(since)}, ""
	for n, channel := range but {
		args = append(args, channel)
		not += fmt.Sprintf(" AND p.channel <> $%d", n+2)
	}
	rows, err := s.r.QueryContext(ctx, `SELECT n.id, n.body, o.channel, o.done_at, o.taken, o.attempt, o.next_at, o.expires_at FROM notices n JOIN outbox o ON o.notice = n.id
		WHERE n.at >= $1 AND NOT EXISTS (SELECT 1 FROM outbox p WHERE p.notice = n.id AND p.taken = 1`+not+`) ORDER BY n.id, o.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Untaken
	for rows.Next() {
		var id, done, taken, next, expires int64
		var body string
		var w Waiting
		if err := rows.Scan(&id, &body, &w.Channel, &done, &taken, &w.Attempts, &next, &expires); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		w.Done, w.Taken, w.NextAt, w.Expires = done != 0, taken != 0, moment(next), moment(expires)
		if len(out) == 0 || out[len(out)-1].Notice.ID != id {
			var n notify.Notice
			if err := json.Unmarshal([]byte(body), &n); err != nil {
				return nil, fmt.Errorf("state: notice %d: %w", id, err)
			}
			out = append(out, Untaken{Notice: n})
		}
		last := &out[len(out)-1]
		last.Deliveries = append(last.Deliveries, w)
	}
	return out, rows.Err()
}

// Readdress sends a notice that is kept to one more channel; false where it was sent
// there already.
func (t *Tx) Readdress(n notify.Notice, a Address) (bool, error) {
	var have int
	err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM outbox WHERE notice = $1 AND channel = $2`, n.ID, a.Channel).Scan(&have)
	if err != nil {
		return false, fmt.Errorf("state: %w", err)
	}
	if have > 0 {
		return false, nil
	}
	t.journaled = true
	return true, t.address(n, a)
}

// Notices reads those of a time whose keys begin with a prefix, oldest first.
func (s *Store) Notices(ctx context.Context, since, until time.Time, prefix string) ([]notify.Notice, error) {
	return bodies[notify.Notice](ctx, s.r, `SELECT body FROM notices WHERE at >= $1 AND at <= $2 AND key >= $3 AND key < $4 ORDER BY id`,
		millis(since), millis(until), prefix, prefix+"\U0010ffff")
}

const reachedQuery = `SELECT DISTINCT o.channel FROM outbox o JOIN notices n ON n.id = o.notice
		WHERE n.thread = $1 AND n.thread <> '' AND (o.taken = 1 OR o.done_at = 0)`

// Reached names the channels that took a notice of a thread, or are about to.
func (t *Tx) Reached(thread string) ([]string, error) {
	rows, err := t.tx.QueryContext(t.ctx, reachedQuery, thread)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var channel string
		if err := rows.Scan(&channel); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out = append(out, channel)
	}
	return out, rows.Err()
}

// Answer notes that somebody knows of what was told of a thing: they are not reminded.
func (t *Tx) Answer(ref fleet.Ref, by string) error {
	return t.exec(`INSERT INTO answers (ref, at, by_whom) VALUES ($1, $2, $3)
		ON CONFLICT (ref) DO UPDATE SET at = excluded.at, by_whom = excluded.by_whom`, refKey(ref), millis(t.Now), by)
}

// Answered reports whether somebody said so since.
func (s *Store) Answered(ctx context.Context, ref fleet.Ref, since time.Time) (bool, error) {
	var n int
	err := s.r.QueryRowContext(ctx, `SELECT count(*) FROM answers WHERE ref = $1 AND at >= $2`, refKey(ref), millis(since)).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("state: %w", err)
	}
	return n > 0, nil
}

// LastNotice reads the newest notice with a key; false where it is not kept any more.
func (s *Store) LastNotice(ctx context.Context, key string) (notify.Notice, bool, error) {
	var body string
	err := s.r.QueryRowContext(ctx, `SELECT body FROM notices WHERE key = $1 ORDER BY id DESC LIMIT 1`, key).Scan(&body)
	n, err := decoded[notify.Notice](body, err)
	return n, body != "", err
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
