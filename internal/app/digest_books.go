package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/ledger"
	"curfew/internal/store"
)

// bookEntry is one thing of the ledger, with the stops that curfew carried out of it.
type bookEntry struct {
	ledger.History
	stops []ledger.Stop
}

// nameplate is what is known of a thing beside its history.
type nameplate struct{ name, account, owner string }

// eachEntry reads the history of everything that is remembered, a thing at a time:
// there may be much of it. What is handed over is the next one's afterwards. With runs
// the runs of each are there as well.
func (a *App) eachEntry(ctx context.Context, rt *runtime, runs bool, each func(bookEntry) error) error {
	plates := map[fleet.Ref]nameplate{}
	note := func(i fleet.Instance) {
		p := nameplate{i.DisplayName(), i.AccountName, i.Owner}
		if name, ok := rt.accountName(i.Ref.Account); ok {
			p.account = name
		}
		plates[i.Ref] = p
	}
	if err := a.store.EachThing(ctx, func(t store.Thing) error { note(t.Instance); return nil }); err != nil {
		return err
	}
	if err := a.store.EachResource(ctx, func(r store.Resource) error { note(r.Resource.Subject()); return nil }); err != nil {
		return err
	}
	ended, err := a.store.Stops(ctx)
	if err != nil {
		return err
	}
	stops := map[fleet.Ref][]ledger.Stop{}
	for _, s := range ended {
		stops[s.Ref] = append(stops[s.Ref], ledger.Stop{Ref: s.Ref, At: s.ClosedAt})
	}
	var ran map[fleet.Ref][]fleet.Run
	if runs {
		if ran, err = a.store.AllRuns(ctx); err != nil {
			return err
		}
	}
	return a.eachHistory(ctx, func(h ledger.History) error {
		p, ok := plates[h.Ref]
		if !ok {
			return nil
		}
		h.Name, h.Account, h.Owner, h.Runs = p.name, cmp.Or(p.account, h.Ref.Account), p.owner, ran[h.Ref]
		return each(bookEntry{h, stops[h.Ref]})
	})
}

// saved is what stops saved, as the ledger estimates it.
type saved struct {
	sums  fleet.Sums
	stops int
}

func (s *saved) add(e bookEntry, q ledger.Query) {
	if len(e.stops) == 0 {
		return
	}
	one := ledger.Save([]ledger.History{e.History}, e.stops, q)
	addAll(&s.sums, one.Sums)
	s.stops += one.Stops
}

// addAll adds sums to others.
func addAll(to *fleet.Sums, more fleet.Sums) {
	for _, m := range more {
		to.Add(m)
	}
}

// isNothing reports whether there is no amount in sums.
func isNothing(s fleet.Sums) bool {
	return !slices.ContainsFunc(s, func(m fleet.Money) bool { return m.Micros != 0 })
}

// spending is what was spent in a time, and in the one before.
type spending struct {
	from, before time.Time // zero before: that is not asked for
	since        time.Time // where what is known begins, later than asked for; zero: it is known
	accounts     []accountSpending
	total, past  fleet.Sums
	unknown      int // things whose cost is not known, or only in part
	saved        saved
}

// accountSpending is the part of one account.
type accountSpending struct {
	name        string
	total, past fleet.Sums
	ran         int           // instances
	hours       time.Duration // that they ran, together
	unknown     int
}

// spent adds up what everything cost from a moment until now, and from before until
// that moment.
func (a *App) spent(ctx context.Context, rt *runtime, before, from, now time.Time) (*spending, error) {
	s := &spending{from: from, before: before}
	of := map[string]*accountSpending{}
	first := time.Time{}
	q := ledger.Query{From: from, To: now, Now: now, Zone: rt.cfg.Timezone}
	err := a.eachEntry(ctx, rt, false, func(e bookEntry) error {
		if of[e.Account] == nil {
			of[e.Account] = &accountSpending{name: e.Account}
		}
		if begins := of[e.Account].add(e, s, now); !begins.IsZero() {
			first = earlier(first, begins)
		}
		s.saved.add(e, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if begin := earlier(before, from); first.After(begin) {
		s.since = first
	}
	for _, one := range of {
		addAll(&s.total, one.total)
		addAll(&s.past, one.past)
		s.unknown += one.unknown
		if !isNothing(one.total) || !isNothing(one.past) || one.unknown > 0 {
			s.accounts = append(s.accounts, *one)
		}
	}
	slices.SortFunc(s.accounts, func(a, b accountSpending) int { return cmp.Compare(a.name, b.name) })
	return s, nil
}

// add adds what one thing cost, and says where what is known of it begins.
func (one *accountSpending) add(e bookEntry, s *spending, now time.Time) (begins time.Time) {
	unknown, ran := false, time.Duration(0)
	for _, c := range e.Charges(now) {
		begins = earlier(begins, c.From)
		if part, ok := c.Within(s.from, now); ok {
			one.total.Add(part.Amount)
			unknown = unknown || part.Unknown != ""
			if c.Up && c.Item == ledger.ItemInstance {
				ran += part.For()
			}
		}
		if s.before.IsZero() {
			continue
		}
		if part, ok := c.Within(s.before, s.from); ok {
			one.past.Add(part.Amount)
		}
	}
	if unknown {
		one.unknown++
	}
	if ran > 0 {
		one.ran, one.hours = one.ran+1, one.hours+ran
	}
	return begins
}
