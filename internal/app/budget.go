package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ledger"
	"curfew/policies"
)

const (
	// tallyEvery is how often it is reckoned what budgets were spent of, and tallyShare
	// the part of the time that may take: of a hundred thousand things it is seconds.
	tallyEvery = 5 * time.Minute
	tallyShare = 100
	// tallyLately is what a forecast goes by.
	tallyLately = 7 * 24 * time.Hour
)

// tallies is what was last reckoned.
type tallies struct {
	mu   sync.Mutex
	of   *runtime
	at   time.Time
	took time.Duration
	by   map[string]policies.Tally // by the policy's name
}

// tally says what is spent of every budget. It is reckoned anew from time to time;
// where that fails the last stands, which says of when it is.
func (a *App) tally(ctx context.Context, rt *runtime, now time.Time) map[string]policies.Tally {
	budgets := budgetsOf(rt)
	if len(budgets) == 0 {
		return nil
	}
	t := &a.tallies
	t.mu.Lock()
	defer t.mu.Unlock()
	over := func(one policies.Tally) bool { return !now.Before(one.To) }
	fresh := t.of == rt && now.Sub(t.at).Abs() < max(tallyEvery, tallyShare*t.took)
	if fresh && !slices.ContainsFunc(slices.Collect(maps.Values(t.by)), over) {
		return t.by
	}
	by, err := a.reckonBudgets(ctx, rt, budgets, now)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("what budgets were spent of cannot be reckoned, will be tried again")
		}
		if t.of != rt {
			return nil
		}
		return t.by
	}
	t.of, t.at, t.took, t.by = rt, now, a.clock.Now().Sub(now), by
	return by
}

// lastTally is what was last reckoned.
func (a *App) lastTally(rt *runtime) map[string]policies.Tally {
	a.tallies.mu.Lock()
	defer a.tallies.mu.Unlock()
	if a.tallies.of != rt {
		return nil
	}
	return a.tallies.by
}

func budgetsOf(rt *runtime) []policies.Budget {
	var out []policies.Budget
	for _, p := range rt.cfg.Policies {
		if b, ok := p.Policy.(policies.Budget); ok && b.Period != policies.PerRun {
			out = append(out, b)
		}
	}
	return out
}

// books of one budget that are being kept.
type budgetBook struct {
	budget policies.Budget
	tally  policies.Tally
	from   time.Time // what is spent lately is counted from here
	groups map[string]*policies.Group
	first  time.Time // charge that is known of anything
}

// budgetPage is where what a thing costs is noted.
type budgetPage struct {
	book  *budgetBook
	group *policies.Group
}

// reckonBudgets reads the history of everything, a thing at a time.
func (a *App) reckonBudgets(ctx context.Context, rt *runtime, budgets []policies.Budget, now time.Time) (map[string]policies.Tally, error) {
	var books []*budgetBook
	for _, b := range budgets {
		from, to := b.Period.Around(now.In(rt.cfg.Timezone))
		books = append(books, &budgetBook{
			budget: b, tally: policies.Tally{From: from, To: to, At: now}, from: now.Add(-tallyLately), groups: map[string]*policies.Group{},
		})
	}
	pages, err := a.budgetPages(ctx, rt, books)
	if err != nil {
		return nil, err
	}
	if err := a.eachHistory(ctx, func(h ledger.History) error {
		of := pages.of(h.Ref)
		if len(of) == 0 {
			return nil
		}
		charges := h.Charges(now)
		for _, p := range of {
			p.add(charges, now)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	out := map[string]policies.Tally{}
	for _, b := range books {
		out[b.budget.Name()] = b.done(now)
	}
	return out, nil
}

// group gives the group that a thing belongs to.
func (b *budgetBook) group(i fleet.Instance) *policies.Group {
	key, name := b.budget.Key(i)
	g := b.groups[key]
	if g == nil {
		g = &policies.Group{Key: key, Name: name}
		b.groups[key] = g
	}
	return g
}

// add notes what a thing cost.
func (p budgetPage) add(charges []ledger.Charge, now time.Time) {
	unknown := false
	for _, c := range charges {
		if p.book.first.IsZero() || c.From.Before(p.book.first) {
			p.book.first = c.From
		}
		if part, ok := c.Within(p.book.tally.From, now); ok {
			unknown = unknown || part.Unknown != ""
			p.group.Sum.Add(part.Amount)
		}
		if part, ok := c.Within(p.book.from, now); ok {
			p.group.Lately.Add(part.Amount)
		}
	}
	if unknown {
		p.group.Unknown++
	}
}

func (b *budgetBook) done(now time.Time) policies.Tally {
	t := b.tally
	if b.first.After(t.From) {
		t.Since = b.first
	}
	for _, g := range b.groups {
		g.LatelyFor = now.Sub(later(b.from, b.first))
		t.Groups = append(t.Groups, *g)
	}
	slices.SortFunc(t.Groups, func(a, b policies.Group) int { return cmp.Compare(a.Key, b.Key) })
	return t
}
