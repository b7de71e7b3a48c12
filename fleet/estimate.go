package fleet

import "time"

// Estimate is what somebody reckoned, before the work was done, that it costs on one
// instance in one Boot. It is kept to be compared with what it does cost.
type Estimate struct {
	ID   int64  `json:"id"`
	Ref  Ref    `json:"ref"`
	Boot Boot   `json:"boot"`
	By   string `json:"by,omitempty"`
	// At is when it was stored: from then on the cost and the time are counted.
	At time.Time `json:"at"`
	// For is how long the instance is up by it, with set-up and transfers.
	For    time.Duration `json:"for_ns"`
	Total  Money         `json:"total"`
	Margin string        `json:"margin_percent"` // a decimal: 20 is 20 %
	Limit  Money         `json:"with_margin"`    // the total with its margin
	// Least says that the job needs something whose price nobody told: the total is
	// without it.
	Least bool `json:"least,omitempty"`

	// Price is what the instance has cost since Since, by the platform's own rule from
	// Started on; Before is what it cost from At until Since, at other prices.
	Price   Price     `json:"price"`
	Since   time.Time `json:"since"`
	Started time.Time `json:"started,omitzero"`
	Before  Money     `json:"before,omitzero"`

	ClosedAt time.Time   `json:"closed_at,omitzero"` // zero while it is open
	Closed   EstimateEnd `json:"closed,omitempty"`
	Cost     Money       `json:"cost,omitzero"` // until ClosedAt
}

// EstimateEnd says why an estimate was closed.
type EstimateEnd string

// The ends of an estimate.
const (
	EstimateStopped  EstimateEnd = "stopped"  // the instance was stopped, or is gone
	EstimateReplaced EstimateEnd = "replaced" // by a newer one
)

// Open reports whether the estimate is still compared with what happens.
func (e Estimate) Open() bool { return e.ClosedAt.IsZero() }

// Ends is when the work is done by the estimate.
func (e Estimate) Ends() time.Time { return e.At.Add(e.For) }

// Until is the moment up to which cost and time are counted.
func (e Estimate) Until(now time.Time) time.Time {
	if e.Open() {
		return now
	}
	return e.ClosedAt
}

// Left is how much of the time of the estimate remains; nothing once it is over.
func (e Estimate) Left(now time.Time) time.Duration { return max(e.Ends().Sub(e.Until(now)), 0) }

// Spent is what the instance itself has cost since the estimate was stored, as price
// times time; false: it is beyond counting. Where each started hour is paid whole, the
// hours are those since the start of the instance, and one that had begun before the
// estimate was stored is not part of it.
func (e Estimate) Spent(now time.Time) (Money, bool) {
	if !e.Open() {
		return e.Cost, true
	}
	begin := e.Started
	if begin.IsZero() || begin.After(e.Since) {
		begin = e.Since
	}
	until, ok := e.Price.For(now.Sub(begin))
	before, known := e.Price.For(e.Since.Sub(begin))
	sum := until.Micros - before.Micros + e.Before.Micros
	return Money{Micros: sum, Currency: e.Price.PerHour.Currency}, ok && known && sum >= 0
}

// Reprice counts on at another price from a moment on. It gives false where nothing
// changes, or where the two prices are of different currencies and do not add.
func (e *Estimate) Reprice(p Price, at time.Time) bool {
	if !e.Open() || !p.Known() || p.PerHour.Currency != e.Price.PerHour.Currency || !at.After(e.Since) ||
		p.PerHour == e.Price.PerHour && p.Billing == e.Price.Billing {
		return false
	}
	spent, ok := e.Spent(at)
	if !ok {
		return false
	}
	e.Before, e.Since, e.Price = spent, at, p
	return true
}

// Close ends the estimate at a moment, which is not before it was stored.
func (e *Estimate) Close(at time.Time, why EstimateEnd) {
	if at.Before(e.Since) {
		at = e.Since
	}
	e.Cost, _ = e.Spent(at)
	e.ClosedAt, e.Closed = at, why
}
