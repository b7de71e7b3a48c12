package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

const (
	// unheardFor is how far back notices are looked at that nobody took.
	unheardFor = 72 * time.Hour
	// triesEnough is after how many attempts a channel that does not judge a message
	// counts as not taking it, and lateAfter how long one may be due without any.
	triesEnough = 4
	lateAfter   = 15 * time.Minute
)

// otherWays sends what no channel of a route takes to its fallbacks, one after the
// other, and what is critical and nobody answered to those it escalates to.
func (a *App) otherWays(ctx context.Context) error {
	rt := a.runtime()
	return errors.Join(a.fallBack(ctx, rt), a.escalate(ctx, rt))
}

func (a *App) fallBack(ctx context.Context, rt *runtime) error {
	now := a.clock.Now()
	all, err := a.store.Untaken(ctx, now.Add(-unheardFor), rt.unread()...)
	if err != nil {
		return err
	}
	broken := rt.sender.Broken()
	var more []also
	for _, u := range all {
		if name, ok := rt.otherWay(u, broken, now); ok {
			u.Notice.Expires = u.Expires()
			more = append(more, also{u.Notice, []string{name}})
		}
	}
	return a.alsoTo(ctx, rt, more)
}

// otherWay names the channel that is asked next to take a notice: where those it was
// for are not configured any more, those it would be for now, and then the fallbacks.
// What is over is told only where it was told before.
func (rt *runtime) otherWay(u store.Untaken, broken []string, now time.Time) (string, bool) {
	expires := u.Expires()
	if u.Notice.Event == notify.EventResolved || !expires.IsZero() && !now.Before(expires) {
		return "", false
	}
	route, _ := notify.RouteOf(rt.cfg.Notify.Routes, u.Notice)
	unread := rt.unread()
	read := slices.ContainsFunc(route.To, func(name string) bool { return !slices.Contains(unread, name) })
	gone := false
	for _, w := range u.Deliveries {
		if w.Taken && !read {
			return "", false // nobody else was to be told
		}
		_, here := rt.channels[w.Channel]
		gone = gone || !here
		if here && !w.Done && w.Attempts < triesEnough && !slices.Contains(broken, w.Channel) && now.Sub(w.NextAt) < lateAfter {
			return "", false
		}
	}
	ways := route.Fallback
	if gone {
		ways = append(notify.Pick(rt.cfg.Notify.Routes, u.Notice, rt.order), ways...)
	}
	for _, name := range ways {
		asked := slices.ContainsFunc(u.Deliveries, func(w store.Waiting) bool { return w.Channel == name })
		if !asked && len(rt.addressed(u.Notice, []string{name})) > 0 {
			return name, true
		}
	}
	return "", false
}

// unread names the channels that take everything and are no proof that somebody reads
// it.
func (rt *runtime) unread() []string {
	var kinds, names []string
	for _, name := range rt.order {
		kinds = append(kinds, rt.channels[name].Kind.Name)
	}
	for k, name := range rt.order {
		if !notify.Accepts(kinds[k], kinds) {
			names = append(names, name)
		}
	}
	return names
}

// also is a notice and the channels that it goes to as well.
type also struct {
	notice   notify.Notice
	channels []string
}

// alsoTo sends notices to more channels: at once, unless quiet hours hold them back.
func (a *App) alsoTo(ctx context.Context, rt *runtime, more []also) error {
	if len(more) == 0 {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		for _, m := range more {
			n, to := m.notice, rt.addressed(m.notice, m.channels)
			n.At = tx.Now
			rt.hold(&n, to, tx.Now)
			for _, one := range to {
				added, err := tx.Readdress(n, one)
				if err != nil {
					return err
				}
				if added {
					tx.After(func() { nudge(a.mail) })
				}
			}
		}
		return nil
	})
}

// escalate tells more people of what is critical, still so and not answered.
func (a *App) escalate(ctx context.Context, rt *runtime) error {
	now := a.clock.Now()
	for _, route := range rt.cfg.Notify.Routes {
		if route.Escalate.After <= 0 {
			continue
		}
		open, err := a.store.Notices(ctx, now.Add(-unheardFor), now.Add(-route.Escalate.After), standingPrefix)
		if err != nil {
			return err
		}
		for _, n := range open {
			first, ok := notify.RouteOf(rt.cfg.Notify.Routes, n)
			if !ok || n.Severity != fleet.Critical || !slices.Equal(first.Escalate.To, route.Escalate.To) || first.Escalate.After != route.Escalate.After {
				continue
			}
			if a.escalated[n.ID] {
				continue
			}
			switch answered, err := a.store.Answered(ctx, n.Subject.Ref, n.At); {
			case err != nil:
				return err
			case answered:
				continue
			}
			n.Expires = now.Add(expiry(n))
			if err := a.alsoTo(ctx, rt, []also{{n, route.Escalate.To}}); err != nil {
				return err
			}
			a.escalated[n.ID] = true
		}
	}
	return nil
}
