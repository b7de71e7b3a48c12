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
func Check(readings []Reading, hs []History, q CheckQuery) []DayCheck {
	c := NewChecker(readings, q)
	for _, h := range hs {
		c.Add(h)
	}
	return c.Days()
}

// Checker compares what left an account's wallet with what is known of the account,
// of which it is told one thing after the other and keeps only sums. It is careful in
// one direction: nothing is called hidden that late settlement, a top-up in between, or
// a time in which nobody looked could explain.
type Checker struct {
	q        CheckQuery
	readings []Reading
	steps    []step
	days     []DayCheck
	asked    []sum // in the order in which the days ask for them
	bought   []bool
	unpriced []bool // of each day
}

// sum is what was used in a time, without what was paid before. Started hours count by
// the time that was used of them, or whole.
type sum struct {
	from, to time.Time
	whole    bool
	micros   int64
}

// NewChecker begins a comparison.
func NewChecker(readings []Reading, q CheckQuery) *Checker {
	c := &Checker{q: q, readings: readings}
	if len(readings) == 0 {
		return c
	}
	c.steps = stepsOf(readings, q.Lag)
	currency, last := readings[0].Cash.Currency, readings[len(readings)-1].SeenAt
	for from := midnight(q.From, q.Zone); from.Before(q.To); from = nextDay(from, q.Zone) {
		to := nextDay(from, q.Zone)
		if !to.After(readings[0].At) || !from.Before(last) {
			continue
		}
		d := DayCheck{Day: from.In(q.Zone).Format(time.DateOnly), From: from, To: to}
		d.Fell.Currency, d.Vouchers.Currency, d.Rose.Currency = currency, currency, currency
		c.days = append(c.days, d)
		d.compare(c.steps, readings[0].At, q.Lag, func(from, to time.Time, whole bool) fleet.Money {
			c.asked = append(c.asked, sum{from: from, to: to, whole: whole})
			return fleet.Money{Currency: currency}
		})
	}
	c.bought, c.unpriced = make([]bool, len(c.days)), make([]bool, len(c.days))
	return c
}

// Add tells of one thing of the account. Its history is not kept.
func (c *Checker) Add(h History) {
	if len(c.days) == 0 {
		return
	}
	currency := c.readings[0].Cash.Currency
	for _, charge := range h.Charges(c.q.Now) {
		for n := range c.asked {
			if s := &c.asked[n]; !charge.Prepaid && charge.Amount.Currency == currency {
				s.add(charge)
			}
		}
		for n, d := range c.days {
			if charge.Up && (charge.Unknown == UnknownPrice || charge.Unknown == UnknownState) && !c.unpriced[n] {
				_, c.unpriced[n] = charge.Within(d.From.Add(-c.q.Lag), d.To)
			}
		}
	}
	for n, d := range c.days {
		c.bought[n] = c.bought[n] || h.bought(d.From.Add(-c.q.Lag), d.To)
	}
}

func (s *sum) add(c Charge) {
	part, ok := c.Within(s.from, s.to)
	if !ok {
		return
	}
	if s.whole && c.Hour {
		part = c
	}
	s.micros += part.Amount.Micros
}

// Days gives what the comparison came to.
func (c *Checker) Days() []DayCheck {
	if len(c.days) == 0 {
		return nil
	}
	out := slices.Clone(c.days)
	asked := c.asked
	for n := range out {
		d := &out[n]
		d.compare(c.steps, c.readings[0].At, c.q.Lag, func(time.Time, time.Time, bool) fleet.Money {
			used := fleet.Money{Micros: asked[0].micros, Currency: d.Fell.Currency}
			asked = asked[1:]
			return used
		})
		d.judge(c.bought[n], c.unpriced[n], c.q, c.readings[len(c.readings)-1].SeenAt)
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
func (d *DayCheck) compare(steps []step, first time.Time, lag time.Duration, used func(from, to time.Time, whole bool) fleet.Money) {
	currency := d.Fell.Currency
	from := later(d.From, first)
	least := used(from, d.To.Add(-lag), false)
	d.Ledger = used(from, d.To, false)
	d.Most = used(from.Add(-lag), d.To, true)
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
		least.Micros -= used(s.from.Add(-lag), s.to, true).Micros
		if gap := s.to.Sub(s.from); gap > readingsApart {
			d.Unwatched += gap
			d.Most.Micros -= used(later(s.from, d.From), s.to.Add(-lag), false).Micros
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

func (d *DayCheck) judge(bought, unpriced bool, q CheckQuery, last time.Time) {
	large := func(gap int64) bool { return gap > leastGap && gap > d.Ledger.Micros/gapShare }
	switch {
	case q.Now.Before(d.To.Add(q.Lag)) || last.Before(d.To.Add(-readingsApart)):
		d.Judgement, d.Gap.Micros = TooEarly, 0
	case large(-d.Gap.Micros):
		d.Judgement = Less
	case !large(d.Gap.Micros):
		d.Judgement = Agrees
	case bought:
		d.Judgement = Bought
	case unpriced:
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
