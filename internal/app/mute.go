package app

import (
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

// mutes reports whether the configuration mutes a finding. An account has no name that
// patterns of instances are about.
func (a *App) mutes(rt *runtime, f fleet.Finding) bool {
	if len(rt.cfg.Notify.Mute) == 0 {
		return false
	}
	about := a.findingNotice(rt, f).Subject
	if f.Ref.Kind == fleet.KindAccount {
		about.Name = ""
	}
	if name, ok := rt.accountName(f.Ref.Account); ok {
		about.AccountName = name
		if acc, ok := find(rt.accounts, func(c *account) bool { return c.cfg.Name == name }); ok {
			about.Provider = acc.cfg.Provider
		}
	}
	now := a.clock.Now()
	return slices.ContainsFunc(rt.cfg.Notify.Mute, func(m notify.Mute) bool { return m.Mutes(f, about, now) })
}

// note writes down what is found and muted, as if it had been told.
func (a *App) note(ctx context.Context, rt *runtime, fs []fleet.Finding) error {
	if len(fs) == 0 {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		for _, f := range fs {
			if err := a.noteOne(tx, rt, f); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *App) noteOne(tx *store.Tx, rt *runtime, f fleet.Finding) error {
	n := a.findingNotice(rt, f)
	n.At, n.Muted = tx.Now, true
	_, err := tx.Enqueue(n, nil, time.Time{})
	return err
}

// tellFinding queues one finding, or notes it where it is muted.
func (a *App) tellFinding(tx *store.Tx, f fleet.Finding) error {
	rt := a.runtime()
	if a.mutes(rt, f) {
		return a.noteOne(tx, rt, f)
	}
	return a.tell(tx, a.findingNotice(rt, f), 0)
}

// opened reports whether a finding was told already. One that was muted and lasts is
// forgotten once it is critical, so that it is told after all.
func (a *App) opened(ctx context.Context, f fleet.Finding, told map[string]time.Time) (bool, error) {
	key := keyOf(f)
	if told[key].IsZero() || !f.Standing || f.Severity != fleet.Critical {
		return !told[key].IsZero(), nil
	}
	n, ok, err := a.store.LastNotice(ctx, key)
	if err != nil || !ok || !n.Muted {
		return true, err
	}
	return false, a.store.Update(ctx, func(tx *store.Tx) error { return tx.Forget(key) })
}
