package ledger

import (
	"time"

	"curfew/fleet"
)

// Charges reckons everything that a thing has cost until now, in the order of time.
//
// By the second, or where nobody told the rule: each stretch at one price, rounded
// once. By the hour: each hour that was started is paid whole, at the price of its
// beginning; the hours are counted from the start, and a stop and a start begin a
// new one. What is paid for an hour is spread over the part of it that was used. By
// the period: the period's price by the time, and marked as prepaid; a price by the
// hour is not that of a period, which is then unknown.
func (h History) Charges(now time.Time) []Charge {
	var out []Charge
	var hours []span // in a row, of one start
	pay := func() {
		out = append(out, h.hours(hours)...)
		hours = nil
	}
	for _, s := range merged(h.spans(now)) {
		if s.byHour() {
			if last := len(hours) - 1; last >= 0 && (hours[last].boot != s.boot || !hours[last].to.Equal(s.from)) {
				pay()
			}
			hours = append(hours, s)
			continue
		}
		pay()
		if !free(s.state) {
			out = append(out, h.charge(s))
		}
	}
	pay()
	return out
}

// merged joins spans that cost the same by the same rule, so that they are rounded
// together.
func merged(spans []span) []span {
	var out []span
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && out[last].to.Equal(s.from) && alike(out[last], s) {
			out[last].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

func alike(a, b span) bool {
	if up(a.state) && up(b.state) {
		b.state = a.state
	}
	a.from, a.to, b.from, b.to = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return a == b
}

func (s span) byHour() bool {
	return up(s.state) && s.priced && s.billing == fleet.BillingPerHour && s.charge != fleet.ChargePeriod
}

func (h History) charge(s span) Charge {
	c := Charge{Ref: h.Ref, Item: ItemOf(h.Ref.Kind), From: s.from, To: s.to, Up: up(s.state), Source: s.source}
	switch {
	case s.charge == fleet.ChargePeriod && (!s.priced || s.billing != fleet.BillingPrepaid):
		c.Unknown = UnknownPeriod
	case s.charge == fleet.ChargePeriod || s.billing == fleet.BillingPrepaid:
		c.Prepaid = true
	case s.state == "unknown" || s.state == "failed":
		c.Unknown = UnknownState
	}
	if c.Unknown == "" && !s.priced {
		c.Unknown = UnknownPrice
	}
	if c.Unknown == "" {
		amount, ok := fleet.Price{PerHour: s.price, Source: s.source}.For(c.For())
		if c.Amount = amount; !ok {
			c.Unknown = UnknownPrice
		}
	}
	return c
}

// hours gives a charge for each started hour of spans that follow each other
// without a break.
func (h History) hours(spans []span) []Charge {
	if len(spans) == 0 {
		return nil
	}
	var out []Charge
	end := spans[len(spans)-1].to
	n := 0
	for from := spans[0].from; from.Before(end); from = from.Add(time.Hour) {
		for !spans[n].to.After(from) {
			n++
		}
		to := from.Add(time.Hour)
		if to.After(end) {
			to = end
		}
		out = append(out, Charge{
			Ref: h.Ref, Item: ItemOf(h.Ref.Kind), From: from, To: to, Amount: spans[n].price, Up: true, Hour: true, Source: spans[n].source,
		})
	}
	return out
}
