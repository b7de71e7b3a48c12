package store

import (
	"context"

	"curfew/fleet"
)

// SaveAcceptance remembers what came of examining a machine, under a new number.
func (t *Tx) SaveAcceptance(a *fleet.Acceptance) (err error) {
	if a.ID, err = number(t.ctx, t.tx, "accepted"); err != nil {
		return err
	}
	body, err := encode(*a)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO accepted (id, ref, boot, at, provider, region, gpu, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		a.ID, refKey(a.Ref), string(a.Boot), millis(a.At), a.Provider, a.Region, a.GPU, body)
}

// Acceptances reads the newest results of one machine, newest first, at most limit of
// them.
func (s *Store) Acceptances(ctx context.Context, ref fleet.Ref, limit int) ([]fleet.Acceptance, error) {
	return bodies[fleet.Acceptance](ctx, s.r, `SELECT body FROM accepted WHERE ref = $1 ORDER BY id DESC LIMIT $2`, refKey(ref), limit)
}

// AcceptancesIn reads the results of one machine in one Boot, newest first.
func (s *Store) AcceptancesIn(ctx context.Context, ref fleet.Ref, boot fleet.Boot) ([]fleet.Acceptance, error) {
	return bodies[fleet.Acceptance](ctx, s.r, `SELECT body FROM accepted WHERE ref = $1 AND boot = $2 ORDER BY id DESC`, refKey(ref), string(boot))
}

// AcceptancesOf reads the newest results of a platform's machines, newest first, at
// most limit of them; an empty region is every one.
func (s *Store) AcceptancesOf(ctx context.Context, provider, region string, limit int) ([]fleet.Acceptance, error) {
	return bodies[fleet.Acceptance](ctx, s.r, `SELECT body FROM accepted WHERE provider = $1 AND ($2 = '' OR region = $2) ORDER BY id DESC LIMIT $3`,
		provider, region, limit)
}
