package estimate

import (
	"cmp"
	"slices"

	"curfew/fleet"
)

// Sum is what all jobs come to at one offer, each with the number of cards that is
// cheapest there.
type Sum struct {
	Offer      Offer       `json:"offer"`
	Hours      Number      `json:"hours"`
	Items      Items       `json:"items"`
	Total      fleet.Money `json:"total"`
	WithMargin fleet.Money `json:"with_margin"`
	// Lacks are jobs that cannot be reckoned here and are not in the sum.
	Lacks   []string       `json:"lacks,omitempty"`
	Missing []fleet.Code   `json:"missing,omitempty"`
	Why     []fleet.Reason `json:"why,omitempty"`
	offer   int
}

// Mix is every job where it is cheapest.
type Mix struct {
	Parts      []Part      `json:"parts"`
	Total      fleet.Money `json:"total"`
	WithMargin fleet.Money `json:"with_margin"`
	Lacks      []string    `json:"lacks,omitempty"`
	Incomplete bool        `json:"incomplete,omitempty"` // a price is missing: it is at least this
}

// Part is one job of a mix, all its repetitions together.
type Part struct {
	Job   string      `json:"job"`
	Times int         `json:"times"`
	Offer Offer       `json:"offer"`
	Cards int         `json:"cards"`
	Total fleet.Money `json:"total"`
}

// best gives the cheapest cost of each job among those that are asked for. The costs
// are sorted, so it is the first.
func best(costs []Cost, jobs int, of func(Cost) bool) map[int]Cost {
	out := map[int]Cost{}
	for n := range jobs {
		if i := slices.IndexFunc(costs, func(c Cost) bool { return c.job == n && of(c) }); i >= 0 {
			out[n] = costs[i]
		}
	}
	return out
}

// sums adds up all jobs at each offer, cheapest first; what lacks a job or a price
// comes last.
func sums(costs []Cost, q Question) []Sum {
	var offers []int
	for _, c := range costs {
		offers = append(offers, c.offer)
	}
	slices.Sort(offers)
	var out []Sum
	for _, o := range slices.Compact(offers) {
		if s, ok := sumAt(o, best(costs, len(q.Jobs), func(c Cost) bool { return c.offer == o }), q); ok {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Sum) int {
		return cmp.Or(
			cmp.Compare(len(a.Lacks), len(b.Lacks)), compareFalse(len(a.Missing) == 0, len(b.Missing) == 0),
			cmp.Compare(a.Total.Micros, b.Total.Micros), cmp.Compare(a.offer, b.offer),
		)
	})
	return out
}

func sumAt(offer int, of map[int]Cost, q Question) (Sum, bool) {
	s := Sum{offer: offer}
	var items [5]Number
	var together []Cost
	currency := ""
	for n, j := range q.Jobs {
		c, ok := of[n]
		if !ok {
			s.Lacks = append(s.Lacks, j.Name)
			continue
		}
		s.Offer, currency = c.Offer, c.Total.Currency
		s.Hours = s.Hours.plus(c.hours())
		for i, m := range c.Items.each() {
			items[i] = items[i].plus(Whole(m.Micros).times(j.times()))
		}
		for _, what := range c.Missing {
			if !slices.Contains(s.Missing, what) {
				s.Missing = append(s.Missing, what)
			}
		}
		together = append(together, c)
	}
	if s.Offer.Charge.Prepaid() {
		items[0] = s.shared(together, currency)
	}
	ok := true
	for i, m := range s.Items.each() {
		one, known := items[i].money(currency)
		*m, ok = one, ok && known
	}
	return s, ok && s.total(q.Margin)
}

// shared is what a prepaid offer costs that all jobs use one after the other: the
// periods that hold all their hours, of as much as the largest needs.
func (s *Sum) shared(jobs []Cost, currency string) Number {
	var rate, base Number
	for _, c := range jobs {
		rate, base = rate.max(c.rate), c.Base
	}
	periods := s.Hours.over(base).ceil().max(Whole(1))
	if each, ok := rate.money(currency); ok {
		s.Why = append(s.Why, fleet.Because(WhyTogether, fleet.Values{
			"count": fleet.Text(periods.Short(0)), "price": exact(each.Round()), "hours": fleet.Text(s.Hours.Short(3)), "base": fleet.Text(base.Short(3)),
		}))
	}
	return rate.times(periods)
}

func (s *Sum) total(margin Number) (ok bool) {
	if s.Total, ok = s.Items.sum(); !ok {
		return false
	}
	s.WithMargin, ok = Whole(s.Total.Micros).times(Whole(1).plus(margin)).money(s.Total.Currency)
	return ok
}

// mix takes each job where it is cheapest; nil: the sum is beyond counting.
func mix(costs []Cost, q Question) *Mix {
	m := &Mix{}
	var sum Number
	currency := ""
	of := best(costs, len(q.Jobs), func(Cost) bool { return true })
	for n, j := range q.Jobs {
		c, ok := of[n]
		if !ok {
			m.Lacks = append(m.Lacks, j.Name)
			continue
		}
		currency = c.Total.Currency
		total := Whole(c.Total.Micros).times(j.times())
		one, known := total.money(currency)
		if !known {
			return nil
		}
		sum = sum.plus(total)
		m.Incomplete = m.Incomplete || !c.complete()
		m.Parts = append(m.Parts, Part{Job: j.Name, Times: max(j.Times, 1), Offer: c.Offer, Cards: c.Cards, Total: one})
	}
	var ok, known bool
	m.Total, ok = sum.money(currency)
	m.WithMargin, known = sum.times(Whole(1).plus(q.Margin)).money(currency)
	if !ok || !known {
		return nil
	}
	return m
}
