package ledger

import (
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// Reading is what a wallet held from the first reading that showed it to the last.
type Reading struct {
	At, SeenAt     time.Time
	Cash, Vouchers fleet.Money
}

// Judgement says what the comparison of a wallet with the ledger came to.
type Judgement string

// What a comparison can come to.
const (
	// Agrees: what left the wallet is what the ledger says, or close to it.
	Agrees Judgement = "agrees"
	// Hidden: more left the wallet than anything known explains.
	Hidden Judgement = "hidden"
	// Less: less left the wallet than the ledger says.
	Less Judgement = "less"
	// Unpriced: more left the wallet, and things ran whose price is not known.
	Unpriced Judgement = "unpriced"
	// Bought: more left the wallet, and a period was bought or renewed.
	Bought Judgement = "bought"
	// TooEarly: the day is not over, or not settled yet.
	TooEarly Judgement = "too-early"
)

// DayCheck compares what left one wallet on one day with the ledger.
type DayCheck struct {
	Day  string    `json:"day"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Fell is what left the wallet, Vouchers the part of it that was no cash: these are
	// used first, and those that expire leave as well. Rose is kept apart: top-ups,
	// refunds, new vouchers.
	Fell     fleet.Money `json:"fell"`
	Vouchers fleet.Money `json:"vouchers"`
	Rose     fleet.Money `json:"rose"`
	// Ledger is what was used that day, and Most what the platform may have settled in
	// it, with what it was behind.
	Ledger fleet.Money `json:"ledger"`
	Most   fleet.Money `json:"most"`
	// Gap is by how much what left is beyond what can be explained; below nothing:
	// less left.
	Gap fleet.Money `json:"gap"`
	// Unwatched is for how long nobody read the wallet.
	Unwatched time.Duration `json:"unwatched_ns,omitempty"`
	Judgement Judgement     `json:"judgement"`
}

// CheckQuery asks for the comparison of the days that begin in [From, To).
type CheckQuery struct {
	From, To, Now time.Time
	Zone          *time.Location
	// Lag is by how much a platform may be late in settling what was used: one that
	// settles whole hours is an hour late.
	Lag time.Duration
}

const (
	// readingsApart is how far apart two readings may lie for what changed between
	// them to be compared.
	readingsApart = 30 * time.Minute
	// leastGap is the least gap that is told: one unit of the currency.
	leastGap = 1_000_000
	// gapShare is the least share of the ledger that is told: a tenth.
	gapShare = 10
)

// step is what changed between two readings of a wallet.
type step struct {
	from, to       time.Time
	fell, vouchers int64
	rose           int64
	apart          bool // it is left out of the comparison
}

// Check compares what left an account's wallet with what is known of the account.
// It is careful in one direction: nothing is called hidden that late settlement, a
// top-up in between, or a time in which nobody looked could explain.
func Check(readings []Reading, hs []History, q CheckQuery) []DayCheck {
	if len(readings) == 0 {
		return nil
	}
	currency := readings[0].Cash.Currency
	var charges []Charge
	for _, h := range hs {
		charges = append(charges, h.Charges(q.Now)...)
	}
	steps := stepsOf(readings, q.Lag)
	last := readings[len(readings)-1].SeenAt
	var out []DayCheck
	for from := midnight(q.From, q.Zone); from.Before(q.To); from = nextDay(from, q.Zone) {
		to := nextDay(from, q.Zone)
		if !to.After(readings[0].At) || !from.Before(last) {
			continue
		}
		d := DayCheck{Day: from.In(q.Zone).Format(time.DateOnly), From: from, To: to}
		d.Fell.Currency, d.Vouchers.Currency, d.Rose.Currency = currency, currency, currency
		d.compare(steps, charges, readings[0].At, q.Lag)
		d.judge(hs, charges, q, last)
		out = append(out, d)
	}
	return out
}

func midnight(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// stepsOf gives the changes between readings. Of the first while what left may have
// been used before anybody looked.
func stepsOf(readings []Reading, lag time.Duration) []step {
	var out []step
	for n := 1; n < len(readings); n++ {
		a, b := readings[n-1], readings[n]
		s := step{from: a.SeenAt, to: b.At}
		cash, vouchers := a.Cash.Micros-b.Cash.Micros, a.Vouchers.Micros-b.Vouchers.Micros
		s.rose = max(-cash, 0) + max(-vouchers, 0)
		s.fell, s.vouchers = max(cash, 0)+max(vouchers, 0), max(vouchers, 0)
		s.apart = s.rose > 0 || s.to.Sub(s.from) > readingsApart || s.to.Before(readings[0].At.Add(lag)) ||
			a.Cash.Currency != b.Cash.Currency
		out = append(out, s)
	}
	return out
}

// compare adds up a day: what left in the steps that can be compared, and at least
// and at most what may have been settled in them.
func (d *DayCheck) compare(steps []step, charges []Charge, first time.Time, lag time.Duration) {
	currency := d.Fell.Currency
	from := later(d.From, first)
	least := used(charges, currency, from, d.To.Add(-lag), false)
	d.Ledger = used(charges, currency, from, d.To, false)
	d.Most = used(charges, currency, from.Add(-lag), d.To, true)
	for _, s := range steps {
		if s.to.Before(d.From) || !s.to.Before(d.To) {
			continue
		}
		d.Rose.Micros += s.rose
		if !s.apart {
			d.Fell.Micros += s.fell
			d.Vouchers.Micros += s.vouchers
			continue
		}
		least.Micros -= used(charges, currency, s.from.Add(-lag), s.to, true).Micros
		if gap := s.to.Sub(s.from); gap > readingsApart {
			d.Unwatched += gap
			d.Most.Micros -= used(charges, currency, later(s.from, d.From), s.to.Add(-lag), false).Micros
		}
	}
	switch {
	case d.Fell.Micros > d.Most.Micros:
		d.Gap = fleet.Money{Micros: d.Fell.Micros - d.Most.Micros, Currency: currency}
	case d.Fell.Micros < least.Micros:
		d.Gap = fleet.Money{Micros: d.Fell.Micros - least.Micros, Currency: currency}
	default:
		d.Gap = fleet.Money{Currency: currency}
	}
}

// used is what the ledger knows to have been used in [from, to), without what was
// paid before. Started hours count by the time that was used of them, or whole.
func used(charges []Charge, currency string, from, to time.Time, whole bool) fleet.Money {
	sum := fleet.Money{Currency: currency}
	for _, c := range charges {
		if c.Prepaid || c.Amount.Currency != currency {
			continue
		}
		part, ok := c.Within(from, to)
		if !ok {
			continue
		}
		if whole && c.Hour {
			part = c
		}
		sum.Micros += part.Amount.Micros
	}
	return sum
}

func (d *DayCheck) judge(hs []History, charges []Charge, q CheckQuery, last time.Time) {
	large := func(gap int64) bool { return gap > leastGap && gap > d.Ledger.Micros/gapShare }
	switch {
	case q.Now.Before(d.To.Add(q.Lag)) || last.Before(d.To.Add(-readingsApart)):
		d.Judgement, d.Gap.Micros = TooEarly, 0
	case large(-d.Gap.Micros):
		d.Judgement = Less
	case !large(d.Gap.Micros):
		d.Judgement = Agrees
	case slices.ContainsFunc(hs, func(h History) bool { return h.bought(d.From.Add(-q.Lag), d.To) }):
		d.Judgement = Bought
	case slices.ContainsFunc(charges, func(c Charge) bool {
		_, within := c.Within(d.From.Add(-q.Lag), d.To)
		return within && c.Up && (c.Unknown == UnknownPrice || c.Unknown == UnknownState)
	}):
		d.Judgement = Unpriced
	default:
		d.Judgement = Hidden
	}
}

// bought reports whether a period of the thing was bought or renewed in a time.
func (h History) bought(from, to time.Time) bool {
	return slices.ContainsFunc(h.Segments, func(g Segment) bool {
		return g.What == "billing" && strings.Contains(g.Value, " "+string(fleet.ChargePeriod)+" ") && covers(from, to, g.From)
	})
}
