package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// Resource is a thing billed beside instances as it was last seen, and how its
// presence stands.
type Resource struct {
	Resource     fleet.Resource `json:"resource"`
	Region       string         `json:"-"`                      // of the scope that lists it
	FirstSeen    time.Time      `json:"first_seen"`             // when a list first showed it
	SeenAt       time.Time      `json:"seen_at"`                // when a list last showed it
	MissingSince time.Time      `json:"missing_since,omitzero"` // first good list that lacked it
	GoneAt       time.Time      `json:"gone_at,omitzero"`       // when it was certain
}

// SaveResource remembers a resource, and notes changes of presence, price and use
// in its history.
func (t *Tx) SaveResource(r Resource) error {
	body, err := encode(r)
	if err != nil {
		return err
	}
	ref := r.Resource.Ref
	if err := t.exec(`INSERT INTO resources (ref, account, region, kind, gone_at, body) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (ref) DO UPDATE SET region = excluded.region, gone_at = excluded.gone_at, body = excluded.body`,
		refKey(ref), ref.Account, r.Region, string(ref.Kind), millis(r.GoneAt), body); err != nil {
		return err
	}
	return t.noteResource(r)
}

// Resources reads every resource ever seen, those that are gone as long as the
// history is kept.
func (s *Store) Resources(ctx context.Context) (out []Resource, err error) {
	err = s.EachResource(ctx, func(r Resource) error {
		out = append(out, r)
		return nil
	})
	return out, err
}

// EachResource reads what [Store.Resources] reads, one after the other.
func (s *Store) EachResource(ctx context.Context, each func(Resource) error) error {
	rows, err := s.r.QueryContext(ctx, `SELECT region, body FROM resources ORDER BY ref`)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var region, body sql.RawBytes
	for rows.Next() {
		var r Resource
		if err := rows.Scan(&region, &body); err != nil {
			return fmt.Errorf("state: %w", err)
		}
		if err := json.Unmarshal(body, &r); err != nil {
			return fmt.Errorf("state: a resource cannot be read: %w", err)
		}
		r.Region = string(region)
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// SaveList remembers how the last lists of a kind went in a scope.
func (t *Tx) SaveList(l policies.ListState) error {
	body, err := encode(l)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO resource_lists (account, region, kind, body) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account, region, kind) DO UPDATE SET body = excluded.body`, l.Scope.Account, l.Scope.Region, string(l.Kind), body)
}

// Lists reads the state of the lists of every kind and scope.
func (s *Store) Lists(ctx context.Context) ([]policies.ListState, error) {
	return bodies[policies.ListState](ctx, s.r, `SELECT body FROM resource_lists ORDER BY account, region, kind`)
}
