package estimate

import (
	"cmp"
	"strings"

	"curfew/fleet"
)

// Per says what a price is for.
type Per string

// What a price can be for. A price per hour of something paid for by the month is
// paid for every hour of the month.
const (
	PerCardHour     Per = "card-hour"
	PerMachineHour  Per = "machine-hour"
	PerCardMonth    Per = "card-month"
	PerMachineMonth Per = "machine-month"
	PerCardYear     Per = "card-year"
	PerMachineYear  Per = "machine-year"

	PerGBDay     Per = "GB-day"
	PerGBMonth   Per = "GB-month"
	PerGB        Per = "GB"
	PerMbpsMonth Per = "Mbps-month"
	PerHour      Per = "hour"
	PerDay       Per = "day"
	PerMonth     Per = "month"
)

// Charge says how an offer is paid for.
type Charge string

// The ways to pay for an instance. The zero value is not known; it is reckoned like
// on-demand.
const (
	OnDemand Charge = "on-demand"
	Spot     Charge = "spot"
	Month    Charge = "month"
	Year     Charge = "year"
)

// Prepaid reports whether a whole period is paid for, used or not.
func (c Charge) Prepaid() bool { return c == Month || c == Year }

// The hours of a month and of a year, over which their prices are spread.
const (
	HoursOfMonth = 30 * 24
	HoursOfYear  = 365 * 24
)

// hours is the length of the period that is paid for.
func (c Charge) hours() Number {
	if c == Year {
		return Whole(HoursOfYear)
	}
	return Whole(HoursOfMonth)
}

// Kind says where an offer was found.
type Kind string

// Where offers come from.
const (
	FromQuotes Kind = "quotes" // a price list given to the command
	FromRates  Kind = "rates"  // the configuration's own
	FromConfig Kind = "config" // prices of an account in the configuration
	FromSeen   Kind = "seen"   // an instance that runs
)

// Told says since when something is known, and from where.
type Told struct {
	AsOf   string `json:"as_of,omitempty"` // a date
	Source string `json:"source,omitempty"`
}

// Offer is what can be rented, and what it costs.
type Offer struct {
	Name     string        `json:"name"`
	Platform string        `json:"platform,omitempty"`
	GPU      string        `json:"gpu,omitempty"`
	Price    fleet.Money   `json:"price"`
	Per      Per           `json:"per"`
	Charge   Charge        `json:"charge,omitempty"`
	Billing  fleet.Billing `json:"billing,omitempty"` // each started hour, or by the second
	// Cards is how many a machine has; 0: not told, and one machine does.
	Cards    int `json:"cards,omitempty"`
	MinCards int `json:"min_cards,omitempty"`
	// HoursIncluded is how many hours a prepaid period holds; zero: all of them.
	HoursIncluded Number  `json:"hours_included,omitzero"`
	TimeOfDay     []Band  `json:"time_of_day,omitempty"`
	Disk          Storage `json:"disk,omitzero"`
	Snapshot      Storage `json:"snapshot,omitzero"`
	Image         Storage `json:"image,omitzero"`
	Traffic       Traffic `json:"traffic,omitzero"`
	PublicIP      Address `json:"public_ip,omitzero"`
	Kind          Kind    `json:"kind"`
	Told
}

// Band is a time of day with a price of its own; one that ends before it begins
// goes over midnight.
type Band struct {
	From  int         `json:"from"` // minutes since midnight
	To    int         `json:"to"`
	Price fleet.Money `json:"price"`
}

// Storage is what kept data costs. The zero value is not told.
type Storage struct {
	Price   fleet.Money `json:"price,omitzero"`
	Per     Per         `json:"per,omitempty"`
	FreeGB  Number      `json:"free_gb,omitzero"`
	AllFree bool        `json:"all_free,omitempty"`
	// NotStopped says that it costs nothing while the instance is stopped.
	NotStopped bool `json:"not_when_stopped,omitempty"`
	Told
}

// Traffic is what data that leaves costs. The zero value is not told.
type Traffic struct {
	Price   fleet.Money `json:"price,omitzero"`
	Per     Per         `json:"per,omitempty"`
	FreeGB  Number      `json:"free_gb,omitzero"`
	AllFree bool        `json:"all_free,omitempty"`
	Mbps    Number      `json:"mbps,omitzero"` // the bandwidth that is rented
	Told
}

// Address is what a public IP costs. The zero value is that there is none to pay.
type Address struct {
	Price fleet.Money `json:"price,omitzero"`
	Per   Per         `json:"per,omitempty"`
	// NotStopped says that it costs nothing while the instance is stopped.
	NotStopped bool `json:"not_when_stopped,omitempty"`
	Told
}

// perMachine reports whether the price is of a whole machine.
func (o Offer) perMachine() bool { return strings.HasPrefix(string(o.Per), "machine-") }

// units is how many times the price is paid for so many cards: the cards or the
// machines, and the cards that come with them; 0 cards: not known how many.
func (o Offer) units(cards int) (units, paid int) {
	need := max(cards, o.MinCards)
	if !o.perMachine() {
		return need, need
	}
	size := o.machine()
	if size == 0 {
		return 1, 0
	}
	units = (need + size - 1) / size
	return units, units * size
}

// machine is how many cards a machine has, as far as is told.
func (o Offer) machine() int { return cmp.Or(o.Cards, o.MinCards) }

// included is how many hours of use a prepaid period holds.
func (o Offer) included() Number {
	if o.HoursIncluded.IsZero() {
		return o.Charge.hours()
	}
	return o.HoursIncluded
}

// currencies lists the currencies of all prices that are told.
func (o Offer) currencies() []string {
	all := []fleet.Money{o.Price, o.Disk.Price, o.Snapshot.Price, o.Image.Price, o.Traffic.Price, o.PublicIP.Price}
	for _, b := range o.TimeOfDay {
		all = append(all, b.Price)
	}
	var out []string
	for _, m := range all {
		if m.Currency != "" {
			out = append(out, m.Currency)
		}
	}
	return out
}

// called reports whether people may mean the offer by a word: its name, its
// platform or its cards.
func (o Offer) called() []string { return []string{o.Name, o.Platform, o.GPU} }

// FX is what one unit of a currency is worth in another.
type FX map[string]fleet.Money

// target is the currency that amounts are given in.
func (fx FX) target(currency string) string {
	if to, ok := fx[currency]; ok {
		return to.Currency
	}
	return currency
}

// micros gives an amount in millionths of its target currency, not rounded.
func (fx FX) micros(m fleet.Money) Number {
	n := Whole(m.Micros)
	if to, ok := fx[m.Currency]; ok {
		return n.times(Whole(to.Micros)).over(Whole(1_000_000))
	}
	return n
}
