package app

import (
	"time"

	"curfew/fleet"
	"curfew/internal/estimate"
	"curfew/policies"
)

// purse is for how long a wallet lasts.
type purse struct {
	usable, burn fleet.Money
	runway       time.Duration
}

// lasting reckons for how long a wallet lasts at what everything in its account costs
// now; false: that cannot be told, or it does not run out.
func lasting(readings []policies.Reading, burn fleet.Sums, now time.Time) (purse, bool) {
	if len(readings) == 0 {
		return purse{}, false
	}
	last := readings[len(readings)-1]
	p := purse{usable: last.Usable()}
	p.burn = burn.In(p.usable.Currency)
	age := now.Sub(last.SeenAt)
	hours, ok := estimate.BreakEven(p.usable, p.burn)
	if !ok || age > walletStale || age < -walletStale {
		return purse{}, false
	}
	if p.runway, ok = hours.Duration(); !ok {
		return purse{}, false
	}
	p.runway = max(p.runway-max(age, 0), 0)
	return p, true
}
