// Package ledger reckons what everything has cost, from what the state keeps: for
// how long each thing was in which state, at which price, billed by which rule. It
// is pure: the same facts give the same sums. Amounts are whole millionths, each
// charge is rounded once, and parts of a charge add up to it exactly. What nobody
// told the price of is said to be unknown, never nothing, and two currencies are
// never added.
package ledger

import (
	"time"

	"curfew/fleet"
)

// Item is what money was spent on.
type Item = fleet.Item

// The items that can be reckoned. All others stand on bills alone.
const (
	ItemInstance = fleet.ItemInstance
	ItemDisk     = fleet.ItemDisk
	ItemSnapshot = fleet.ItemSnapshot // and images
	ItemIP       = fleet.ItemIP
	ItemTraffic  = fleet.ItemTraffic
)

// Items are all items, in the order in which people see them.
func Items() []Item { return fleet.Items() }

// ItemOf is the item that things of a kind belong to.
func ItemOf(k fleet.ThingKind) Item {
	switch k {
	case fleet.KindDisk:
		return ItemDisk
	case fleet.KindSnapshot, fleet.KindImage:
		return ItemSnapshot
	case fleet.KindPublicIP:
		return ItemIP
	}
	return ItemInstance
}

// Segment is a stretch of a thing's history, as the state keeps it.
type Segment struct {
	What  string // state, price, billing, boot or activity
	Value string
	From  time.Time
	To    time.Time // zero while it lasts
}

// History is what is known of one thing over time.
type History struct {
	Ref      fleet.Ref
	Name     string
	Account  string // its name in the configuration
	Owner    string
	Segments []Segment
	Runs     []fleet.Run
}

// Unknown says why a cost cannot be told.
type Unknown string

// Why a cost is unknown.
const (
	UnknownPrice  Unknown = "price"  // nobody told the price
	UnknownState  Unknown = "state"  // nobody could tell whether it runs
	UnknownPeriod Unknown = "period" // it is paid by the period, and nobody told what for
)

// Charge is what one thing cost in one stretch of time.
type Charge struct {
	Ref     fleet.Ref
	Item    Item
	From    time.Time
	To      time.Time
	Amount  fleet.Money
	Unknown Unknown // why there is no amount; empty where there is
	Up      bool    // it ran, or was there
	Prepaid bool    // its share of a period that was paid before
	Hour    bool    // a started hour that is paid whole
	Source  fleet.PriceSource
}

// For is how long the stretch is.
func (c Charge) For() time.Duration { return c.To.Sub(c.From) }

// Within gives the part of the charge that falls into [from, to). Parts that
// follow each other without a gap add up to the charge, to the millionth.
func (c Charge) Within(from, to time.Time) (Charge, bool) {
	if from.Before(c.From) {
		from = c.From
	}
	if to.After(c.To) {
		to = c.To
	}
	if !to.After(from) {
		return Charge{}, false
	}
	part := c
	part.From, part.To = from, to
	part.Amount.Micros = c.until(to) - c.until(from)
	return part, true
}

// until is the part of the amount that has been reached at t, rounded down: it only
// ever grows, and at the end it is the whole.
func (c Charge) until(t time.Time) int64 {
	return share(c.Amount.Micros, int64(t.Sub(c.From)), int64(c.For()))
}
