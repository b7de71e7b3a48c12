package estimate

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"curfew/fleet"
)

// Question is what is to be reckoned: every job at every offer.
type Question struct {
	Jobs   []Job
	Offers []Offer
	FX     FX
	Margin Number // a share: 0.2 is 20 %
}

// Answer is what it comes to. It is the same whatever the order of the offers.
type Answer struct {
	Margin Number `json:"margin_percent"`
	Jobs   []Job  `json:"jobs"`
	// FX are the rates that were used.
	FX FX `json:"fx,omitempty"`
	// Tables hold the offers of one currency each.
	Tables []Table `json:"tables"`
	// LeftOut are offers without a sum, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// Table is what can be compared with each other, since it is in one currency.
type Table struct {
	Currency string `json:"currency"`
	// Costs are of every job at every offer, job by job, cheapest first; what lacks a
	// price comes after what is known whole.
	Costs []Cost `json:"costs"`
	// Even says from which use on a prepaid offer is the cheaper one.
	Even []Even `json:"break_even,omitempty"`
	// Sums are of all jobs at one offer, cheapest first; Mix takes each job where it
	// is cheapest. Both are of several jobs, or of one that runs several times.
	Sums []Sum `json:"sums,omitempty"`
	Mix  *Mix  `json:"mix,omitempty"`
}

// LeftOut is an offer that a job cannot be reckoned at.
type LeftOut struct {
	Job   string       `json:"job,omitempty"`
	Offer Offer        `json:"offer"`
	Why   fleet.Reason `json:"why"`
}

// Rank answers a question.
func Rank(q Question) Answer {
	a := Answer{Margin: q.Margin.times(Whole(100)), Jobs: q.Jobs}
	offers := slices.SortedStableFunc(slices.Values(q.Offers), byOffer)
	warned := far(offers, q.FX)
	tables := map[string]*Table{}
	for nj, j := range q.Jobs {
		for no, o := range offers {
			for _, cards := range j.counts() {
				c, why := Reckon(j, o, cards, q.FX, q.Margin)
				if !why.IsZero() {
					a.LeftOut = append(a.LeftOut, LeftOut{Job: j.Name, Offer: o, Why: why})
					break
				}
				c.job, c.offer = nj, no
				if w, ok := warned[no]; ok {
					c.Warnings = append(c.Warnings, w)
				}
				a.use(q.FX, o)
				t := tables[c.Total.Currency]
				if t == nil {
					t = &Table{Currency: c.Total.Currency}
					tables[t.Currency] = t
				}
				t.Costs = append(t.Costs, c)
			}
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(tables)) {
		t := tables[currency]
		slices.SortStableFunc(t.Costs, byCost)
		t.Even = even(t.Costs)
		if len(q.Jobs) > 1 || len(q.Jobs) == 1 && q.Jobs[0].Times > 1 {
			t.Sums = sums(t.Costs, q)
			t.Mix = mix(t.Costs, q)
		}
		a.Tables = append(a.Tables, *t)
	}
	return a
}

// use notes the rates that an offer was converted by.
func (a *Answer) use(fx FX, o Offer) {
	for _, c := range o.currencies() {
		if to, ok := fx[c]; ok {
			if a.FX == nil {
				a.FX = FX{}
			}
			a.FX[c] = to
		}
	}
}

// byOffer is an order of offers that does not depend on where they stood.
func byOffer(a, b Offer) int {
	if order := cmp.Or(
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.GPU, b.GPU),
		cmp.Compare(a.Charge, b.Charge), cmp.Compare(a.Per, b.Per), cmp.Compare(a.Price.Currency, b.Price.Currency),
		cmp.Compare(a.Price.Micros, b.Price.Micros), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Cards, b.Cards),
		cmp.Compare(a.AsOf, b.AsOf), cmp.Compare(a.Source, b.Source),
	); order != 0 {
		return order
	}
	return cmp.Compare(written(a), written(b)) // they differ in what lies beside the instance
}

func written(o Offer) string {
	text, err := json.Marshal(o)
	if err != nil {
		return "" // strings and numbers only
	}
	return string(text)
}

// byCost puts the cheapest first within its job. What is at least something may be
// anything, and comes last.
func byCost(a, b Cost) int {
	return cmp.Or(
		cmp.Compare(a.job, b.job), compareFalse(a.complete(), b.complete()), cmp.Compare(a.Total.Micros, b.Total.Micros),
		cmp.Compare(a.offer, b.offer), cmp.Compare(a.Cards, b.Cards),
	)
}

// compareFalse puts what holds first.
func compareFalse(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// farFactor is how many times the middle of the table a price may be, or how small
// a part of it, before somebody should look at it again: a machine's price taken
// for a card's, a point in the wrong place.
const farFactor = 2

// far finds the prices that are far from those the table has of the same cards, paid
// for in the same way.
func far(offers []Offer, fx FX) map[int]fleet.Reason {
	type priced struct {
		of       int
		key      string
		table    bool
		rate     Number
		currency string
	}
	var all []priced
	for n, o := range offers {
		if rate, ok := o.cardHour(fx); ok && o.GPU != "" {
			currency := fx.target(o.Price.Currency)
			key := strings.Join([]string{strings.ToLower(o.GPU), string(cmp.Or(o.Charge, OnDemand)), currency}, "\n")
			all = append(all, priced{n, key, o.Kind == FromQuotes || o.Kind == FromRates, rate, currency})
		}
	}
	out := map[int]fleet.Reason{}
	for _, p := range all {
		var others []Number
		for _, other := range all {
			if other.of != p.of && other.key == p.key && other.table {
				others = append(others, other.rate)
			}
		}
		if len(others) == 0 {
			continue
		}
		middle := median(others)
		if p.rate.Cmp(middle.times(Whole(farFactor))) <= 0 && middle.Cmp(p.rate.times(Whole(farFactor))) <= 0 {
			continue
		}
		own, ok := p.rate.money(p.currency)
		theirs, known := middle.money(p.currency)
		if ok && known {
			out[p.of] = fleet.Because(WarnFar, fleet.Values{"price": exact(own), "middle": exact(theirs), "count": count(len(others))})
		}
	}
	return out
}

// cardHour is what one card costs for an hour; false: it is not told how many cards
// the price is for.
func (o Offer) cardHour(fx FX) (Number, bool) {
	rate := fx.micros(o.Price)
	if d := dayOf(o, fx); d != nil {
		rate = d.mean()
	}
	if o.perMachine() {
		if o.machine() == 0 {
			return Number{}, false
		}
		rate = rate.over(Whole(int64(o.machine())))
	}
	switch o.Per {
	case PerCardMonth, PerMachineMonth:
		rate = rate.over(Whole(HoursOfMonth))
	case PerCardYear, PerMachineYear:
		rate = rate.over(Whole(HoursOfYear))
	}
	return rate, true
}

// median is the middle one, or the mean of the two.
func median(of []Number) Number {
	sorted := slices.SortedFunc(slices.Values(of), Number.Cmp)
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return sorted[half-1].plus(sorted[half]).over(Whole(2))
}
