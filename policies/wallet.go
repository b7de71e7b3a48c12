package policies

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
)

// The reasons of how long money lasts.
const (
	ReasonPace        fleet.Code = "policy.pace"
	ReasonPaceNone    fleet.Code = "policy.pace-none"
	ReasonPaceUnknown fleet.Code = "policy.pace-unknown"
)

const maxMicros = math.MaxInt64

// times multiplies without a limit.
func times(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// ratio gives a × b / c, rounded down, and whether it can be counted; c is above zero.
func ratio(a, b, c int64) (int64, bool) {
	n := new(big.Int).Div(times(a, b), big.NewInt(c))
	return n.Int64(), n.IsInt64()
}

// percentOf is the share of a limit of the same currency, rounded down.
func percentOf(m, limit fleet.Money) int64 {
	if limit.Micros <= 0 {
		return 0
	}
	share, ok := ratio(m.Micros, 100, limit.Micros)
	if !ok {
		return math.MaxInt64
	}
	return share
}

func percentText(percent int) string { return strconv.Itoa(percent) + "%" }

// without gives the sums of all other currencies.
func without(sums fleet.Sums, currency string) fleet.Sums {
	return slices.DeleteFunc(slices.Clone(sums), func(m fleet.Money) bool { return m.Currency == currency || m.IsZero() })
}

// inOrderOf gives identities in their order.
func inOrderOf(identities []string) []string {
	return slices.Sorted(slices.Values(identities))
}

// in reports whether an amount may be compared with those of a currency: nothing of no
// currency may with any.
func in(m fleet.Money, currency string) bool {
	return m.Currency == currency || m.Currency == "" && m.Micros == 0
}

// lasts is for how long money lasts at a price by the hour; false: for ever, as far as
// prices are known.
func lasts(left, perHour fleet.Money) (time.Duration, bool) {
	if perHour.Micros <= 0 {
		return 0, false
	}
	d, ok := ratio(max(left.Micros, 0), int64(time.Hour), perHour.Micros)
	if !ok {
		d = math.MaxInt64
	}
	return time.Duration(d), true
}

// Runway is for how long what was left at the last reading of the wallet lasts from then
// on at what everything costs by the hour now; false: nobody told what is left, or by the
// known prices in its currency it lasts for ever. What has no known price makes it less.
func (a Account) Runway() (time.Duration, bool) {
	if len(a.Wallet) == 0 {
		return 0, false
	}
	left := a.Wallet[len(a.Wallet)-1].Usable()
	return lasts(left, a.Burn.PerHour.In(left.Currency))
}

// pace says how long a wallet lasts. What runs without a known price, or in another
// currency, makes it less.
func (b Burn) pace(left fleet.Money) fleet.Reason {
	perHour := b.PerHour.In(left.Currency)
	values := fleet.Values{}
	if b.Unpriced > 0 {
		values["unpriced"] = fleet.Number(float64(b.Unpriced))
	}
	if other := without(b.PerHour, left.Currency); len(other) > 0 {
		values["other"] = fleet.Text(other.String())
	}
	runway, ends := lasts(left, perHour)
	switch {
	case ends:
		values["burn"], values["runway"] = fleet.Amount(perHour), fleet.Span(runway)
		return fleet.Because(ReasonPace, values)
	case len(values) > 0:
		return fleet.Because(ReasonPaceUnknown, values)
	}
	return fleet.Because(ReasonPaceNone, nil)
}

// flow is what came into a wallet and what left it.
type flow struct {
	rises      int
	rose, fell fleet.Money
	last       time.Time // when it rose last
}

// flowOf adds up the changes of what can be spent that were seen after a moment, of
// readings in the newest's currency. What rose and fell between two readings is not
// told apart. Of what fell between a reading before the moment and one after it, as
// after a pause of the daemon, only the part counts that the time since the moment has
// in the time between the two.
func flowOf(readings []Reading, after time.Time) flow {
	var f flow
	if len(readings) == 0 {
		return f
	}
	currency := readings[len(readings)-1].Usable().Currency
	f.rose.Currency, f.fell.Currency = currency, currency
	for n := 1; n < len(readings); n++ {
		was, is := readings[n-1].Usable(), readings[n].Usable()
		if !readings[n].At.After(after) || was.Currency != currency || is.Currency != currency {
			continue
		}
		switch d := is.Micros - was.Micros; {
		case d > 0:
			f.rises, f.rose.Micros, f.last = f.rises+1, f.rose.Micros+d, readings[n].At
		case d < 0:
			f.fell.Micros += fellAfter(-d, readings[n-1].SeenAt, readings[n].At, after)
		}
	}
	return f
}

// fellAfter is the part of what fell from one moment to another that fell after a third,
// if it fell evenly.
func fellAfter(fell int64, from, to, after time.Time) int64 {
	if !from.Before(after) || !to.After(from) {
		return fell
	}
	part, _ := ratio(fell, int64(to.Sub(after)), int64(to.Sub(from)))
	return part
}
