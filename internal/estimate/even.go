package estimate

import (
	"cmp"
	"slices"
	"strings"

	"curfew/fleet"
)

// Even is how many hours of use a prepaid offer must have within its period to cost
// less than one that is paid for by the hour, both with the same number of cards.
type Even struct {
	Prepaid string      `json:"prepaid"`
	GPU     string      `json:"gpu,omitempty"`
	Cards   int         `json:"cards"`
	Price   fleet.Money `json:"price"`         // of a whole period
	Base    Number      `json:"base_hours"`    // that it holds
	Each    fleet.Money `json:"per_hour_base"` // the price spread over these
	Against string      `json:"against"`
	Charge  Charge      `json:"against_charge,omitempty"`
	PerHour fleet.Money `json:"against_per_hour"`
	Hours   Number      `json:"hours"`
	// Never says that it is more than the period holds; Whole is what all its hours
	// cost by the hour.
	Never bool        `json:"never"`
	Whole fleet.Money `json:"whole_by_the_hour"`
}

// even compares every prepaid cost with every one by the hour that is of the same
// cards, as far as is told. Of several jobs with as many cards one is enough.
func even(costs []Cost) []Even {
	var out []Even
	seen := map[[3]int]bool{}
	for _, p := range costs {
		for _, h := range costs {
			key := [3]int{p.offer, h.offer, p.Cards}
			apart := p.Offer.GPU != "" && h.Offer.GPU != "" && !strings.EqualFold(p.Offer.GPU, h.Offer.GPU)
			if !p.Offer.Charge.Prepaid() || h.Offer.Charge.Prepaid() || p.Cards != h.Cards || apart || seen[key] {
				continue
			}
			seen[key] = true
			e := Even{
				Prepaid: p.Offer.Name, GPU: cmp.Or(p.Offer.GPU, h.Offer.GPU), Cards: p.Cards, Base: p.Base, Each: p.PerHour,
				Against: h.Offer.Name, Charge: h.Offer.Charge, Hours: p.rate.over(h.rate),
			}
			e.Never = e.Hours.Cmp(e.Base) > 0
			var ok [3]bool
			e.Price, ok[0] = p.rate.money(p.Total.Currency)
			e.PerHour, ok[1] = h.rate.money(p.Total.Currency)
			e.Whole, ok[2] = h.rate.times(e.Base).money(p.Total.Currency)
			if ok == [3]bool{true, true, true} {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Even) int {
		return cmp.Or(cmp.Compare(a.Cards, b.Cards), cmp.Compare(a.Prepaid, b.Prepaid), a.Hours.Cmp(b.Hours), cmp.Compare(a.Against, b.Against))
	})
	return out
}
