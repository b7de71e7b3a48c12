package estimate

import (
	"maps"
	"slices"
	"time"

	"curfew/fleet"
)

// Seen gives what running instances cost as offers, each price of an account once.
// A price that the configuration told is no news, and one that is paid for already
// is none for a new job.
func Seen(instances []fleet.Instance, now time.Time) []Offer {
	var out []Offer
	known := map[sameOffer]bool{}
	for _, i := range instances {
		p := i.Price
		if i.State != fleet.StateRunning || p.Source != fleet.PriceProvider || p.PerHour.Micros <= 0 || i.GPU.Model == "" ||
			i.Charge.Type == fleet.ChargePeriod || p.Billing == fleet.BillingPrepaid {
			continue
		}
		o := Offer{Name: i.AccountName, Platform: i.Provider, GPU: i.GPU.Model, Price: p.PerHour, Billing: p.Billing, Kind: FromSeen, Charge: charge(i.Charge.Type)}
		o.Told = Told{AsOf: now.Format(time.DateOnly), Source: i.DisplayName()}
		if !p.AsOf.IsZero() {
			o.AsOf = p.AsOf.Format(time.DateOnly)
		}
		o.Per = PerCardHour
		if n := int64(max(i.GPU.Count, 1)); p.PerHour.Micros%n == 0 {
			o.Price.Micros /= n
		} else { // what does not divide is not rounded
			o.Per, o.Cards = PerMachineHour, i.GPU.Count
		}
		key := sameOffer{o.Name, o.GPU, o.Price, o.Per, o.Cards, o.Charge}
		if !known[key] {
			known[key] = true
			out = append(out, o)
		}
	}
	return out
}

// sameOffer is what makes two prices one offer.
type sameOffer struct {
	account, gpu string
	price        fleet.Money
	per          Per
	cards        int
	charge       Charge
}

// Priced gives the prices that the configuration has of an account, each of one card
// for an hour.
func Priced(account, platform string, prices map[string]fleet.Money) []Offer {
	var out []Offer
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		out = append(out, Offer{
			Name: account, Platform: platform, GPU: model, Price: prices[model], Per: PerCardHour, Charge: OnDemand, Kind: FromConfig,
		})
	}
	return out
}

func charge(t fleet.ChargeType) Charge {
	switch t {
	case fleet.ChargeOnDemand:
		return OnDemand
	case fleet.ChargeSpot:
		return Spot
	}
	return ""
}
