package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"curfew/fleet"
)

// BilledDay is what the bill of one day held when it was last read.
type BilledDay struct {
	From   time.Time // the begin of the day
	ReadAt time.Time
	Items  []fleet.BillItem // whose use began on that day
}

// SaveBill remembers the bill of days that follow each other, by the account's
// identity, instead of what was remembered of them.
func (t *Tx) SaveBill(account string, from, to time.Time, days []BilledDay) error {
	if err := t.exec(`DELETE FROM bills WHERE account = $1 AND day_at >= $2 AND day_at < $3`, account, millis(from), millis(to)); err != nil {
		return err
	}
	for _, d := range days {
		body, err := encode(d.Items)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO bills (account, day_at, read_at, body) VALUES ($1, $2, $3, $4)`, account, millis(d.From), millis(d.ReadAt), body); err != nil {
			return err
		}
	}
	return nil
}

// Bills reads the bills of the days that began since a moment, by the account's
// identity, oldest first, as far back as they are kept.
func (s *Store) Bills(ctx context.Context, since time.Time) (map[string][]BilledDay, error) {
	rows, err := s.r.QueryContext(ctx, `SELECT account, day_at, read_at, body FROM bills WHERE day_at >= $1 ORDER BY account, day_at`, millis(since))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string][]BilledDay{}
	for rows.Next() {
		var account, body string
		var day, read int64
		if err := rows.Scan(&account, &day, &read, &body); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		d := BilledDay{From: moment(day), ReadAt: moment(read)}
		if err := json.Unmarshal([]byte(body), &d.Items); err != nil {
			return nil, fmt.Errorf("state: bill of %s: %w", account, err)
		}
		out[account] = append(out[account], d)
	}
	return out, rows.Err()
}

// BillReadAt is when the newest of an account's remembered bills was read; zero where
// none was.
func (s *Store) BillReadAt(ctx context.Context, account string) (time.Time, error) {
	var read int64
	if err := s.r.QueryRowContext(ctx, `SELECT COALESCE(MAX(read_at), 0) FROM bills WHERE account = $1`, account).Scan(&read); err != nil {
		return time.Time{}, fmt.Errorf("state: %w", err)
	}
	return moment(read), nil
}
