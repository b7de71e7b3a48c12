package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/policies"
)

// Account is what is remembered of an account's identity.
type Account struct {
	Identity       string
	Provider       string
	Name           string
	CredentialHash string
}

// Accounts reads every account ever seen.
func (s *Store) Accounts(ctx context.Context) ([]Account, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT identity, provider, name, credential_hash FROM accounts ORDER BY first_seen, identity`)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Account
	for rows.Next() {
		var a Account
		if err := rows.Scan(&a.Identity, &a.Provider, &a.Name, &a.CredentialHash); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// SaveAccount remembers an account under its identity.
func (t *Tx) SaveAccount(a Account) error {
	return t.exec(`INSERT INTO accounts (identity, provider, name, credential_hash, first_seen) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (identity) DO UPDATE SET name = excluded.name, credential_hash = excluded.credential_hash`,
		a.Identity, a.Provider, a.Name, a.CredentialHash, millis(t.Now))
}

// ForgetAccount drops an account and all that was remembered of its things; the
// journal stays. It refuses while an intent or a hold is open.
func (t *Tx) ForgetAccount(identity string) error {
	var n int
	if err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM intents WHERE account = $1 AND state <> 'closed'`, identity).Scan(&n); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if n > 0 {
		return fmt.Errorf("account %s has %d open intents; wait for them, or hold the instances", identity, n)
	}
	holds, err := t.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		if h.Ref.Account == identity {
			return fmt.Errorf("account %s has a hold on %s until %s; end it first", identity, h.Ref, h.Until.Format(time.RFC3339))
		}
	}
	for _, table := range append(ofThings(), "accepted") {
		if err := t.exec(`DELETE FROM `+table+` WHERE ref IN (SELECT ref FROM things WHERE account = $1)`, identity); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM `+table+` WHERE ref IN (SELECT ref FROM resources WHERE account = $1)`, identity); err != nil {
			return err
		}
	}
	for _, q := range []string{
		`DELETE FROM resources WHERE account = $1`, `DELETE FROM resource_lists WHERE account = $1`,
		`DELETE FROM wallets WHERE account = $1`, `DELETE FROM bills WHERE account = $1`, `DELETE FROM things WHERE account = $1`, `DELETE FROM scopes WHERE account = $1`, `DELETE FROM accounts WHERE identity = $1`,
	} {
		if err := t.exec(q, identity); err != nil {
			return err
		}
	}
	return nil
}

// ofThings are the tables that tell of things and are of no use without them. A
// run that outlived its thing would speak of the next one under its reference.
func ofThings() []string {
	return []string{"segments", "runs", "pins", "box_holds", "secured", "things_left", "estimates"}
}

// SaveScope remembers how the last polls of a scope went.
func (t *Tx) SaveScope(s policies.ScopeState) error {
	body, err := encode(s)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO scopes (account, region, body) VALUES ($1, $2, $3)
		ON CONFLICT (account, region) DO UPDATE SET body = excluded.body`, s.Scope.Account, s.Scope.Region, body)
}

// Scopes reads the state of every scope.
func (s *Store) Scopes(ctx context.Context) ([]policies.ScopeState, error) {
	return bodies[policies.ScopeState](ctx, s.r, `SELECT body FROM scopes ORDER BY account, region`)
}

// Thing is an instance as it was last seen, and how its presence stands.
type Thing struct {
	Instance     fleet.Instance `json:"instance"`
	Region       string         `json:"-"`                      // of the scope that lists it
	Boots        int            `json:"boots"`                  // power cycles seen
	Down         bool           `json:"down,omitempty"`         // by the last state that could be told
	SeenAt       time.Time      `json:"seen_at"`                // when the platform last showed it
	MissingSince time.Time      `json:"missing_since,omitzero"` // first good list that lacked it
	NotFoundAt   time.Time      `json:"not_found_at,omitzero"`  // first read that said not found
	GoneAt       time.Time      `json:"gone_at,omitzero"`       // when it was certain
	FirstSeen    time.Time      `json:"first_seen,omitzero"`    // when the platform first showed it
}

// SaveThing remembers an instance, and notes changes of state, price and billing in
// its history. before is what was remembered until now, nil for a new one.
func (t *Tx) SaveThing(before *Thing, now Thing) error {
	body, err := encode(now)
	if err != nil {
		return err
	}
	i := now.Instance
	if err := t.exec(`INSERT INTO things (ref, account, region, body, boots, first_seen, seen_at, missing_since, gone_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (ref) DO UPDATE SET region = excluded.region, body = excluded.body, boots = excluded.boots,
		seen_at = excluded.seen_at, missing_since = excluded.missing_since, gone_at = excluded.gone_at`,
		refKey(i.Ref), i.Ref.Account, now.Region, body, now.Boots, millis(now.FirstSeen), millis(now.SeenAt),
		millis(now.MissingSince), millis(now.GoneAt)); err != nil {
		return err
	}
	return t.noteCost(before, now)
}

// Things reads every instance ever seen, those that are gone as long as the
// history is kept.
func (s *Store) Things(ctx context.Context) (out []Thing, err error) {
	err = s.EachThing(ctx, func(t Thing) error {
		out = append(out, t)
		return nil
	})
	return out, err
}

// EachThing reads what [Store.Things] reads, one after the other.
func (s *Store) EachThing(ctx context.Context, each func(Thing) error) error {
	rows, err := s.r.QueryContext(ctx, `SELECT region, body FROM things ORDER BY ref`)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var region, body sql.RawBytes
	for rows.Next() {
		var th Thing
		if err := rows.Scan(&region, &body); err != nil {
			return fmt.Errorf("state: %w", err)
		}
		if err := json.Unmarshal(body, &th); err != nil {
			return fmt.Errorf("state: an instance cannot be read: %w", err)
		}
		th.Region = string(region)
		if err := each(th); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Segment notes in a thing's history that from at on, what has the value. It
// writes only on a change. The stretches of one thing follow each other, whatever
// the clock did meanwhile: none begins before, or with, the one it follows.
func (t *Tx) Segment(ref fleet.Ref, what, value string, at time.Time) error {
	var have string
	var from int64
	err := t.tx.QueryRowContext(t.ctx, `SELECT value, from_at FROM segments WHERE ref = $1 AND what = $2 AND to_at = 0`, refKey(ref), what).Scan(&have, &from)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return fmt.Errorf("state: %w", err)
	case have == value:
		return nil
	default:
		if next := moment(from + 1); at.Before(next) {
			at = next
		}
		if err := t.exec(`UPDATE segments SET to_at = $1 WHERE ref = $2 AND what = $3 AND to_at = 0`, millis(at), refKey(ref), what); err != nil {
			return err
		}
	}
	return t.exec(`INSERT INTO segments (ref, what, from_at, to_at, value) VALUES ($1, $2, $3, 0, $4)`, refKey(ref), what, millis(at), value)
}

// Segment is a stretch of a thing's history.
type Segment struct {
	What  string    `json:"what"` // state, price, billing, activity, or boot
	Value string    `json:"value"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to,omitzero"` // zero while it lasts
}

// Segments reads a thing's history, oldest first.
func (s *Store) Segments(ctx context.Context, ref fleet.Ref) ([]Segment, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT what, value, from_at, to_at FROM segments WHERE ref = $1 ORDER BY from_at, what`, refKey(ref))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Segment
	for rows.Next() {
		var g Segment
		var from, to int64
		if err := rows.Scan(&g.What, &g.Value, &from, &to); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		g.From, g.To = moment(from), moment(to)
		out = append(out, g)
	}
	return out, rows.Err()
}

// SaveRuns remembers the runs of one instance.
func (t *Tx) SaveRuns(runs []fleet.Run) error {
	for _, r := range runs {
		body, err := encode(r)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO runs (ref, boot, id, ended_at, body) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (ref, boot, id) DO UPDATE SET ended_at = excluded.ended_at, body = excluded.body`,
			refKey(r.Ref), string(r.Boot), r.ID, millis(r.EndedAt), body); err != nil {
			return err
		}
	}
	return nil
}

// Runs reads the runs of every instance that is not gone, oldest first.
func (s *Store) Runs(ctx context.Context) (map[fleet.Ref][]fleet.Run, error) {
	rs, err := bodies[fleet.Run](ctx, s.r, `SELECT r.body FROM runs r JOIN things t ON t.ref = r.ref AND t.gone_at = 0 ORDER BY r.ref, r.ended_at, r.id`)
	if err != nil {
		return nil, err
	}
	out := map[fleet.Ref][]fleet.Run{}
	for _, r := range rs {
		out[r.Ref] = append(out[r.Ref], r)
	}
	return out, nil
}

// Tick remembers the last tick of a policy whose window was opened.
func (t *Tx) Tick(policy string, due time.Time) error {
	return t.exec(`INSERT INTO ticks (policy, due) VALUES ($1, $2) ON CONFLICT (policy) DO UPDATE SET due = excluded.due`, policy, millis(due))
}

// Ticks reads the last tick of every policy.
func (s *Store) Ticks(ctx context.Context) (map[string]time.Time, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT policy, due FROM ticks`)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]time.Time{}
	for rows.Next() {
		var p string
		var due int64
		if err := rows.Scan(&p, &due); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		out[p] = moment(due)
	}
	return out, rows.Err()
}

// Pin keeps the first host key fingerprint seen in a boot of an instance, and
// gives the one that is kept. Keys of earlier boots are forgotten.
func (t *Tx) Pin(ref fleet.Ref, boot fleet.Boot, fingerprint string) (string, error) {
	var kept string
	err := t.tx.QueryRowContext(t.ctx, `SELECT key FROM pins WHERE ref = $1 AND boot = $2`, refKey(ref), string(boot)).Scan(&kept)
	if !errors.Is(err, sql.ErrNoRows) {
		return kept, err
	}
	if err := t.exec(`DELETE FROM pins WHERE ref = $1`, refKey(ref)); err != nil {
		return "", err
	}
	return fingerprint, t.exec(`INSERT INTO pins (ref, boot, key) VALUES ($1, $2, $3)`, refKey(ref), string(boot), fingerprint)
}

// Counter counts the provider requests of one account over restarts.
type Counter struct {
	store   *Store
	account string
}

// Counter gives the counter of an account, by the entry's name.
func (s *Store) Counter(account string) Counter { return Counter{s, account} }

// Add adds to what is counted.
func (c Counter) Add(ctx context.Context, slot httpx.Slot) error {
	return c.store.Update(ctx, func(t *Tx) error {
		return t.exec(`INSERT INTO requests (account, class, span, since, n) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (account, class, span, since) DO UPDATE SET n = requests.n + excluded.n`,
			c.account, string(slot.Class), slot.Length.Milliseconds(), millis(slot.Start), slot.N)
	})
}

// Load reads what was counted in slots of a length that start at since or later.
func (c Counter) Load(ctx context.Context, length time.Duration, since time.Time) ([]httpx.Slot, error) {
	rows, err := c.store.r.QueryContext(ctx, `SELECT class, since, n FROM requests
		WHERE account = $1 AND span = $2 AND since >= $3 ORDER BY since, class`, c.account, length.Milliseconds(), millis(since))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []httpx.Slot
	for rows.Next() {
		s := httpx.Slot{Length: length}
		var class string
		var start int64
		if err := rows.Scan(&class, &start, &s.N); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		s.Class, s.Start = httpx.Class(class), moment(start)
		out = append(out, s)
	}
	return out, rows.Err()
}

// Times for which something is kept in any case: requestsKept is longer than the
// longest window of a request budget, leastKept longer than caps and cooldowns
// look back.
const (
	requestsKept = 48 * time.Hour
	leastKept    = 48 * time.Hour
	sendsKept    = 32 * 24 * time.Hour // the longest quota is a month's
)

// Prune forgets history, ended runs, sent notices and request counts older than
// keep. The journal of intents is kept as long as the history; what is open, and
// what tells of a thing that is still there, is kept.
func (t *Tx) Prune(keep time.Duration) error {
	before := millis(t.Now.Add(-max(keep, leastKept)))
	for _, q := range []string{
		`DELETE FROM segments WHERE to_at > 0 AND to_at < $1`,
		`DELETE FROM runs WHERE ended_at > 0 AND ended_at < $1`,
		`DELETE FROM wallets WHERE seen_at < $1`,
		`DELETE FROM bills WHERE day_at < $1`,
		`DELETE FROM estimates WHERE closed_at > 0 AND closed_at < $1`,
		`DELETE FROM accepted WHERE at < $1`,
		`DELETE FROM outbox WHERE done_at > 0 AND done_at < $1`,
		`DELETE FROM notices WHERE at < $1 AND id NOT IN (SELECT notice FROM outbox)`,
		`DELETE FROM answers WHERE at < $1`,
		`DELETE FROM presses WHERE at < $1`,
		`DELETE FROM holds WHERE until < $1`,
		`DELETE FROM box_holds WHERE until < $1`,
		`DELETE FROM journal WHERE at < $1 AND intent NOT IN (SELECT id FROM intents WHERE state <> 'closed')`,
		`DELETE FROM things WHERE gone_at > 0 AND gone_at < $1
			AND ref NOT IN (SELECT ref FROM intents WHERE state <> 'closed')`,
		`DELETE FROM resources WHERE gone_at > 0 AND gone_at < $1
			AND ref NOT IN (SELECT ref FROM intents WHERE state <> 'closed')`,
		`DELETE FROM intents WHERE state = 'closed' AND closed_at < $1
			AND ref NOT IN (SELECT ref FROM things WHERE gone_at = 0)`,
	} {
		if err := t.exec(q, before); err != nil {
			return err
		}
	}
	for _, table := range ofThings() {
		if err := t.exec(`DELETE FROM ` + table + ` WHERE ref NOT IN (SELECT ref FROM things) AND ref NOT IN (SELECT ref FROM resources)`); err != nil {
			return err
		}
	}
	if err := t.exec(`DELETE FROM approvals WHERE intent NOT IN (SELECT id FROM intents)`); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM sends WHERE at < $1`, millis(t.Now.Add(-sendsKept))); err != nil {
		return err
	}
	return t.exec(`DELETE FROM requests WHERE since < $1`, millis(t.Now.Add(-requestsKept)))
}
