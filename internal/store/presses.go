package store

import (
	"context"
	"fmt"
	"time"

	"curfew/fleet"
)

// Press is an answer that somebody gave to an announcement by a button or a link.
type Press struct {
	Intent int64
	// Turn says which announcement of the intent was answered.
	Turn    int
	What    string
	At      time.Time
	By      string // what the channel calls the person
	Channel string
	Came    fleet.Reason // what came of it
}

// SavePress records an answer, at the time of the transaction. One that is recorded
// already is an error.
func (t *Tx) SavePress(p Press) error {
	body, err := encode(p.Came)
	if err != nil {
		return err
	}
	t.journaled = true
	return t.exec(`INSERT INTO presses (intent, turn, what, at, by_whom, channel, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		p.Intent, p.Turn, p.What, millis(t.Now), p.By, p.Channel, body)
}

// Presses reads the answers to one announcement, oldest first.
func (t *Tx) Presses(intent int64, turn int) ([]Press, error) {
	return presses(t.ctx, t.tx, intent, turn)
}

// Presses reads the answers to one announcement, oldest first.
func (s *Store) Presses(ctx context.Context, intent int64, turn int) ([]Press, error) {
	return presses(ctx, s.r, intent, turn)
}

func presses(ctx context.Context, q querier, intent int64, turn int) ([]Press, error) {
	rows, err := q.QueryContext(ctx, `SELECT what, at, by_whom, channel, body FROM presses WHERE intent = $1 AND turn = $2 ORDER BY at, what`, intent, turn)
	if err != nil {
		return nil, fmt.Errorf("state: read presses: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Press
	for rows.Next() {
		p := Press{Intent: intent, Turn: turn}
		var at int64
		var body string
		if err := rows.Scan(&p.What, &at, &p.By, &p.Channel, &body); err != nil {
			return nil, fmt.Errorf("state: read presses: %w", err)
		}
		p.At = moment(at)
		if p.Came, err = decode[fleet.Reason](body); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("state: read presses: %w", err)
	}
	return out, nil
}
