package app

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/store"
)

// ReasonTickMissed says that a policy's window opened and closed while no daemon
// was there.
const ReasonTickMissed fleet.Code = "app.tick-missed"

// ticks gives the newest tick of every policy with a schedule that is newer than
// the one remembered. One whose whole window went by since was missed: that is to
// be told, and is not made up for, since catching up is starting inside an open
// window.
func (a *App) ticks(ctx context.Context, rt *runtime, now time.Time) (fresh map[string]time.Time, missed []fleet.Finding, err error) {
	known, err := a.store.Ticks(ctx)
	if err != nil {
		return nil, nil, err
	}
	fresh = map[string]time.Time{}
	for _, p := range rt.cfg.Policies {
		tick, open := newestTick(p, now)
		last, seen := known[p.Name]
		if tick.IsZero() || (seen && !tick.After(last)) {
			continue
		}
		fresh[p.Name] = tick
		if seen && !open {
			missed = append(missed, fleet.Finding{
				Policy: p.Name, Ref: fleet.Ref{Account: "curfew", Kind: fleet.KindAccount, ID: p.Name},
				Severity: fleet.Warning, Category: fleet.CategoryHealth, Condition: "tick-missed", Period: tick.Format(time.RFC3339),
				Reason: fleet.Because(ReasonTickMissed, fleet.Values{"policy": fleet.Text(p.Name), "tick": fleet.Moment(tick)}),
			})
		}
	}
	return fresh, missed, nil
}

// noteTicks remembers ticks, after what was missed has been told.
func (a *App) noteTicks(ctx context.Context, fresh map[string]time.Time) error {
	if len(fresh) == 0 {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		for name, tick := range fresh {
			if err := tx.Tick(name, tick); err != nil {
				return err
			}
		}
		return nil
	})
}

// newestTick gives a policy's newest tick, and whether the window it opened is
// still open; a zero tick for a policy that is always open.
func newestTick(p config.Policy, now time.Time) (tick time.Time, open bool) {
	if p.Window == nil || p.Window.Schedule == nil || p.Window.Schedule.Always() {
		return time.Time{}, true
	}
	tick = p.Window.Schedule.Prev(now)
	return tick, now.Before(tick.Add(p.Window.Length))
}
