package app

import (
	"context"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/observe"
	"curfew/internal/store"
	"curfew/policies"
)

// desk is what was read from the state for one round of deciding, all of one
// moment.
type desk struct {
	now       time.Time
	holds     []fleet.Hold
	open      map[fleet.Ref]fleet.Intent
	last      map[fleet.Ref]fleet.Intent // newest ended act
	grounds   map[fleet.Ref][]fleet.Ground
	starts    map[fleet.Ref]fleet.Intent
	approvals map[int64]store.Approval
	secured   map[fleet.Ref][]fleet.Secured
	left      map[fleet.Ref]fleet.Left
	belongs   func(fleet.Instance) fleet.Belongings
	accounts  map[string]policies.Account
	spend     map[string]policies.Tally
	standing  map[string]time.Time
	sent      map[capKey]int
	running   int // instances a percentage is of
	there     int // resources a percentage is of
}

// readDesk reads what a pass needs of the state.
func (a *App) readDesk(ctx context.Context, rt *runtime, all observe.Snapshot, now time.Time) (*desk, error) {
	d := &desk{now: now, open: map[fleet.Ref]fleet.Intent{}, sent: map[capKey]int{}, belongs: a.belongs()}
	var err error
	if d.holds, err = a.store.Holds(ctx, now); err != nil {
		return nil, err
	}
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range open {
		d.open[i.Ref] = i
	}
	if d.approvals, err = a.store.Approvals(ctx); err != nil {
		return nil, err
	}
	if d.last, err = a.store.LastSent(ctx, now.Add(-24*time.Hour)); err != nil {
		return nil, err
	}
	if d.grounds, err = a.store.Grounds(ctx); err != nil {
		return nil, err
	}
	if d.starts, err = a.store.Starts(ctx); err != nil {
		return nil, err
	}
	if d.secured, err = a.store.Secured(ctx); err != nil {
		return nil, err
	}
	if d.left, err = a.store.Left(ctx); err != nil {
		return nil, err
	}
	for _, effect := range []fleet.Action{fleet.Start, fleet.Stop, fleet.Release, fleet.Delete} {
		for _, money := range []bool{false, true} {
			if d.sent[capKey{effect, money}], err = a.store.Sent(ctx, effect, money, now.Add(-capWindow)); err != nil {
				return nil, err
			}
		}
	}
	d.running, d.there = countRunning(rt, all, d.open), countThere(all, d.open)
	d.spend = a.tally(ctx, rt, now)
	return d, a.readMoney(ctx, rt, all, d)
}

// readMoney reads what policies see of accounts, and what was told of them.
func (a *App) readMoney(ctx context.Context, rt *runtime, all observe.Snapshot, d *desk) error {
	d.accounts = a.accounts(rt, all)
	told, err := a.store.ToldKeys(ctx, standingPrefix)
	if err != nil {
		return err
	}
	d.standing = make(map[string]time.Time, len(told))
	for key, at := range told {
		d.standing[strings.TrimPrefix(key, standingPrefix)] = at
	}
	return nil
}

// countRunning counts what a share is of, without what is being acted on: that is
// counted as used already, and lists may show it running for a while.
func countRunning(rt *runtime, all observe.Snapshot, open map[fleet.Ref]fleet.Intent) int {
	n := 0
	for i := range all.Up() {
		if len(open[i.Ref].Attempts) == 0 && rt.watches(*i) {
			n++
		}
	}
	return n
}

func deskIn(tx *store.Tx, in fleet.Intent) (*desk, error) {
	d := &desk{
		now: tx.Now, open: map[fleet.Ref]fleet.Intent{}, last: map[fleet.Ref]fleet.Intent{},
		approvals: map[int64]store.Approval{}, sent: map[capKey]int{},
	}
	open, err := tx.OpenIntents()
	if err != nil {
		return nil, err
	}
	for _, i := range open {
		d.open[i.Ref] = i
	}
	if d.holds, err = tx.Holds(); err != nil {
		return nil, err
	}
	if d.secured, err = tx.Secured(); err != nil {
		return nil, err
	}
	if d.left, err = tx.Left(); err != nil {
		return nil, err
	}
	if last, ok, err := tx.LastClosed(in.Ref); err != nil {
		return nil, err
	} else if ok {
		d.last[in.Ref] = last
	}
	if y, ok, err := tx.Approval(in.ID); err != nil {
		return nil, err
	} else if ok {
		d.approvals[in.ID] = y
	}
	for _, effect := range []fleet.Action{fleet.Start, fleet.Stop, fleet.Release, fleet.Delete} {
		for _, money := range []bool{false, true} {
			if d.sent[capKey{effect, money}], err = tx.Sent(effect, money, tx.Now.Add(-capWindow)); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}
