package estimate

import (
	"cmp"
	"math/big"
	"strings"
	"time"

	"curfew/fleet"
)

// OfInstance gives an instance that runs as an offer: what it costs by the hour, as
// it is billed. Its disks and its traffic have no price in it.
func OfInstance(i fleet.Instance) Offer {
	return Offer{
		Name: i.AccountName, Platform: i.Provider, GPU: i.GPU.Model, Price: i.Price.PerHour, Per: PerMachineHour,
		Charge: charge(i.Charge.Type), Billing: i.Price.Billing, Cards: max(i.GPU.Count, 1), Kind: FromSeen,
		Told: Told{Source: i.DisplayName()},
	}
}

// Duration gives a number of hours as a time, rounded to the nanosecond; false: it is
// beyond counting.
func (n Number) Duration() (time.Duration, bool) {
	ns := new(big.Rat).Mul(n.rat(), new(big.Rat).SetInt64(int64(time.Hour)))
	m, ok := Number{ns}.money("")
	return time.Duration(m.Micros), ok
}

// Percent gives a share as a percentage, with at most six decimals: 0.2 is 20.
func (n Number) Percent() string { return n.times(Whole(100)).String() }

// BreakEven is how many hours at a price by the hour cost as much as a sum that was
// paid before; false: the two are not of one currency, or the hour costs nothing.
func BreakEven(paid, hour fleet.Money) (Number, bool) {
	if paid.Currency != hour.Currency || hour.Micros <= 0 {
		return Number{}, false
	}
	return Whole(paid.Micros).over(Whole(hour.Micros)), true
}

// OnDemandOf reports whether an offer is one of an account on demand, of such cards and
// as many: it is called as the account or as its platform is.
func (o Offer) OnDemandOf(account, platform string, gpu fleet.GPU) bool {
	same := func(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
	cards := max(gpu.Count, 1)
	if o.perMachine() && o.machine() != cards || o.MinCards > cards || cmp.Or(o.Charge, OnDemand) != OnDemand {
		return false
	}
	return same(o.GPU, gpu.Model) && (same(o.Name, account) || same(o.Platform, account) || same(o.Platform, platform))
}
