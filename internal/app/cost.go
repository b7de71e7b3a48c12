package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/store"
)

// staleAfter is how old the last list of an account may be before people are told
// that its costs are reckoned as if nothing had changed since.
const staleAfter = 10 * time.Minute

// Cost tells what everything cost in a time.
func (a *App) Cost(ctx context.Context, q ctl.CostQuery) (ctl.CostAnswer, error) {
	rt, now := a.runtime(), a.clock.Now()
	if !slices.Contains(ledger.Groupings(), q.By) {
		return ctl.CostAnswer{}, fmt.Errorf("costs are not grouped by %q", q.By)
	}
	if !q.To.After(q.From) || !q.From.Before(now) {
		return ctl.CostAnswer{}, fmt.Errorf("from %s to %s is no time that has been", q.From.Format(time.DateTime), q.To.Format(time.DateTime))
	}
	b, err := a.readBooks(ctx, rt)
	if err != nil {
		return ctl.CostAnswer{}, err
	}
	asked := ledger.Query{From: q.From, To: q.To, Now: now, By: q.By, Zone: rt.cfg.Timezone}
	out := ctl.CostAnswer{Now: now, Costs: ledger.Reckon(b.all, asked), Stale: a.stale(rt, now)}
	stops, err := a.store.Stops(ctx)
	if err != nil {
		return ctl.CostAnswer{}, err
	}
	done := make([]ledger.Stop, 0, len(stops))
	for _, s := range stops {
		done = append(done, ledger.Stop{Ref: s.Ref, At: s.ClosedAt})
	}
	out.Saved = ledger.Save(b.all, done, asked)
	if q.Check {
		out.Checks = b.check(rt, q.From, q.To, now)
		if out.Bills, err = a.checkBills(ctx, rt, b, q.From, q.To, now); err != nil {
			return ctl.CostAnswer{}, err
		}
	}
	return out, nil
}

// stale gives the accounts whose newest list is old.
func (a *App) stale(rt *runtime, now time.Time) []ctl.StaleAccount {
	var out []ctl.StaleAccount
	for _, s := range a.inv.Scopes() {
		if name, ok := rt.accountName(s.Scope.Account); ok && !s.At.IsZero() && now.Sub(s.At) > staleAfter {
			out = append(out, ctl.StaleAccount{Account: name, At: s.At})
		}
	}
	return out
}

// books are what the ledger works on.
type books struct {
	all     []ledger.History
	kept    map[string][]string // names of what is stopped or kept, by account
	wallets map[string][]store.WalletReading
}

// readBooks reads the history of everything that was ever seen and is still
// remembered.
func (a *App) readBooks(ctx context.Context, rt *runtime) (books, error) {
	b := books{kept: map[string][]string{}}
	segments, err := a.store.AllSegments(ctx)
	if err != nil {
		return b, err
	}
	runs, err := a.store.AllRuns(ctx)
	if err != nil {
		return b, err
	}
	if b.wallets, err = a.store.Wallets(ctx, time.Time{}); err != nil {
		return b, err
	}
	add := func(i fleet.Instance, kept bool) {
		h := ledger.History{Ref: i.Ref, Name: i.DisplayName(), Account: i.AccountName, Owner: i.Owner, Runs: runs[i.Ref]}
		if name, ok := rt.accountName(i.Ref.Account); ok {
			h.Account = name
		}
		h.Segments = withHistory(nil, segments[i.Ref])
		b.all = append(b.all, h)
		if kept {
			b.kept[i.Ref.Account] = append(b.kept[i.Ref.Account], h.Name)
		}
	}
	if err := a.store.EachThing(ctx, func(t store.Thing) error {
		add(t.Instance, t.GoneAt.IsZero() && t.Instance.State == fleet.StateStopped)
		return nil
	}); err != nil {
		return b, err
	}
	return b, a.store.EachResource(ctx, func(r store.Resource) error {
		add(r.Resource.Subject(), r.GoneAt.IsZero())
		return nil
	})
}

// eachHistory reads the history of everything that is remembered, a thing at a time: there
// may be much of it. What is handed over knows no more than its history, and is the next
// one's afterwards.
func (a *App) eachHistory(ctx context.Context, each func(h ledger.History) error) error {
	var h ledger.History
	return a.store.EachHistory(ctx, func(ref fleet.Ref, history []store.Segment) error {
		h.Ref, h.Segments = ref, withHistory(h.Segments[:0], history)
		return each(h)
	})
}

// withHistory adds what the state keeps of a thing as the ledger reads it.
func withHistory(to []ledger.Segment, history []store.Segment) []ledger.Segment {
	for _, g := range history {
		to = append(to, ledger.Segment(g))
	}
	return to
}

// check compares the wallet of every configured account that has one with the
// ledger.
func (b books) check(rt *runtime, from, to, now time.Time) []ctl.WalletCheck {
	checkers := newCheckers(rt, b.wallets, from, to, now)
	for _, h := range b.all {
		checkers.add(h)
	}
	out := checkers.done()
	for n := range out {
		out[n].Kept = b.kept[out[n].Identity]
	}
	return out
}

// checkers compare the wallets of accounts with what they are told of, one thing after
// the other.
type checkers struct {
	out []ctl.WalletCheck
	of  map[string]*ledger.Checker // by the account's identity
}

func newCheckers(rt *runtime, wallets map[string][]store.WalletReading, from, to, now time.Time) checkers {
	c := checkers{of: map[string]*ledger.Checker{}}
	for _, acc := range rt.accounts {
		p, ok := acc.opened()
		if !ok || p.Balance == nil {
			continue
		}
		var readings []ledger.Reading
		for _, w := range wallets[p.Identity] {
			readings = append(readings, ledger.Reading{At: w.At, SeenAt: w.SeenAt, Cash: w.Cash, Vouchers: w.Vouchers})
		}
		c.out = append(c.out, ctl.WalletCheck{Account: acc.cfg.Name, Identity: p.Identity})
		c.of[p.Identity] = ledger.NewChecker(readings, ledger.CheckQuery{
			From: from, To: to, Now: now, Zone: rt.cfg.Timezone, Lag: settlesWithin + p.Kind.SettleTime,
		})
	}
	return c
}

func (c checkers) add(h ledger.History) {
	if one, ok := c.of[h.Ref.Account]; ok {
		one.Add(h)
	}
}

func (c checkers) done() []ctl.WalletCheck {
	for n := range c.out {
		c.out[n].Days = c.of[c.out[n].Identity].Days()
	}
	return c.out
}

// settlesWithin is by how much a platform may be late in taking the money for what
// was used: those that settle whole hours take it an hour later.
const settlesWithin = time.Hour

// names gives the first names of a list, and how many more there are.
func names(all []string, most int) fleet.Values {
	v := fleet.Values{"names": fleet.Text(strings.Join(all[:min(len(all), most)], ", "))}
	if more := len(all) - most; more > 0 {
		v["more"] = fleet.Number(float64(more))
	}
	return v
}
