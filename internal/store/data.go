package store

import (
	"context"

	"curfew/fleet"
)

// SaveSecured remembers what became of securing an instance's data; it replaces what
// was said of the same Boot, policy and way.
func (t *Tx) SaveSecured(s fleet.Secured) error {
	body, err := encode(s)
	if err != nil {
		return err
	}
	t.journaled = true
	return t.exec(`INSERT INTO secured (ref, boot, policy, by_way, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (ref, boot, policy, by_way) DO UPDATE SET body = excluded.body`,
		refKey(s.Ref), string(s.Boot), s.Policy, string(s.By), body)
}

// Secured reads what became of securing data, by instance.
func (s *Store) Secured(ctx context.Context) (map[fleet.Ref][]fleet.Secured, error) {
	return securedBy(ctx, s.r)
}

// Secured reads what became of securing data, inside the transaction.
func (t *Tx) Secured() (map[fleet.Ref][]fleet.Secured, error) { return securedBy(t.ctx, t.tx) }

func securedBy(ctx context.Context, q querier) (map[fleet.Ref][]fleet.Secured, error) {
	all, err := bodies[fleet.Secured](ctx, q, `SELECT body FROM secured ORDER BY ref, boot, policy, by_way`)
	if err != nil {
		return nil, err
	}
	out := map[fleet.Ref][]fleet.Secured{}
	for _, s := range all {
		out[s.Ref] = append(out[s.Ref], s)
	}
	return out, nil
}

// SaveLeft remembers a thing that outlived the instance it belonged to.
func (t *Tx) SaveLeft(l fleet.Left) error {
	body, err := encode(l)
	if err != nil {
		return err
	}
	t.journaled = true
	return t.exec(`INSERT INTO things_left (ref, body) VALUES ($1, $2) ON CONFLICT (ref) DO UPDATE SET body = excluded.body`, refKey(l.Ref), body)
}

// Left reads what outlived the instances it belonged to.
func (s *Store) Left(ctx context.Context) (map[fleet.Ref]fleet.Left, error) { return leftBy(ctx, s.r) }

// Left reads what outlived the instances it belonged to, inside the transaction.
func (t *Tx) Left() (map[fleet.Ref]fleet.Left, error) { return leftBy(t.ctx, t.tx) }

func leftBy(ctx context.Context, q querier) (map[fleet.Ref]fleet.Left, error) {
	all, err := bodies[fleet.Left](ctx, q, `SELECT body FROM things_left ORDER BY ref`)
	if err != nil {
		return nil, err
	}
	out := make(map[fleet.Ref]fleet.Left, len(all))
	for _, l := range all {
		out[l.Ref] = l
	}
	return out, nil
}
