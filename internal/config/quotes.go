package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"curfew/fleet"
	"curfew/internal/estimate"
)

// Rates is what is known of the prices of offers that no account tells.
type Rates struct {
	File   string // a file of quotes; empty: they stand in the configuration, or there are none
	Quotes []estimate.Offer
	FX     estimate.FX
}

const quoteRight = "write such as {name: a, gpu: RTX 4090, price: 1.98 CNY, per: card-hour, as_of: 2026-10-01, source: PAGE}"

// Quotes reads a file of quotes: a list of them, or a block of quotes, rates of
// currencies and what holds for all. name is told in messages. An error is
// *[Problems].
func Quotes(name string, data []byte) (Rates, error) {
	r := &reader{file: name, cfg: &Config{}, instead: quoteRight}
	out := Rates{}
	if root, ok := r.parse(data); ok {
		r.quotes(root, &out, estimate.FromQuotes)
	}
	return out, r.wrong()
}

// wrong gives all problems found, in their order, or nil.
func (r *reader) wrong() error {
	if len(r.problems) == 0 {
		return nil
	}
	r.problems.sort()
	return &r.problems
}

// rates reads the quotes of the configuration, or the name of their file.
func (r *reader) rates(n node) {
	if _, single := n.source(); single {
		r.cfg.Rates.File = r.beside(n.text(""))
		return
	}
	r.quotes(n, &r.cfg.Rates, estimate.FromRates)
}

// common is what holds for every quote of a file that does not say it itself.
type common struct {
	offer        estimate.Offer
	asOf, source bool // stand there, whatever is wrong with them
}

// quotes reads a list of quotes, or a block that holds one.
func (r *reader) quotes(n node, into *Rates, kind estimate.Kind) {
	list, common := n, common{offer: estimate.Offer{Kind: kind}}
	if !n.given() {
		n.asked.list() // either may stand there
	}
	if _, plain := n.ast.(*ast.SequenceNode); !plain {
		m := n.mapping()
		common.offer.Platform, common.offer.Told = m.take("platform").text(""), told(m)
		common.asOf, common.source = m.tried("as_of"), m.tried("source")
		into.FX = fx(m.take("fx"))
		list = m.need("quotes", "write quotes: and a list of them")
		m.done()
	}
	names := map[string]string{}
	for _, entry := range list.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		q, name := r.quote(m, common)
		unique(name, q.Name, names)
		into.Quotes = append(into.Quotes, q)
	}
	if list.isEmptyList() {
		list.bad("names no quote", quoteRight)
	}
}

// fx reads what one unit of a currency is worth in another.
func fx(n node) estimate.FX {
	m := n.mapping()
	out := estimate.FX{}
	for currency, v := range m.all() {
		rate := v.money()
		switch {
		case currency != anyKey && (len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
			v.bad(fmt.Sprintf("%q is not a currency", currency), "write three capital letters, such as USD: 7.2 CNY")
		case rate.IsZero():
		case rate.Currency == currency:
			v.bad("gives a currency in itself", "write another, such as USD: 7.2 CNY")
		default:
			out[currency] = rate
		}
	}
	for _, currency := range m.keys {
		if to, ok := out[currency]; ok && out[to.Currency].Currency != "" {
			m.take(currency).bad(fmt.Sprintf("gives it in %s, which is converted in turn", to.Currency), "write "+currency+" in "+out[to.Currency].Currency)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func told(m *mapping) estimate.Told {
	return estimate.Told{AsOf: m.take("as_of").date(), Source: m.take("source").text("")}
}

func (r *reader) quote(m *mapping, common common) (estimate.Offer, node) {
	q := common.offer
	name := m.need("name", "write name: and what you call it")
	q.Name = name.name()
	q.Platform = m.take("platform").text(q.Platform)
	q.GPU = m.take("gpu").text("")
	q.Price = m.need("price", "write price: 1.98 CNY").money()
	r.charged(m, &q)
	q.Billing = fleet.Billing(m.take("billing").word(string(fleet.BillingPerSecond), string(fleet.BillingPerSecond), string(fleet.BillingPerHour)))
	cards := m.take("cards")
	q.Cards = cards.whole(0, 1, false)
	q.MinCards = m.take("min_cards").whole(0, 1, false)
	if cards.given() && q.Per != "" && !strings.HasPrefix(string(q.Per), "machine-") {
		cards.bad(fmt.Sprintf("is how many a machine has, and the price is per %s", q.Per), "write per: machine-hour, or min_cards where fewer cannot be rented")
	}
	r.bands(m.take("time_of_day"), &q)
	q.Disk, q.Snapshot, q.Image = storage(m.take("disk")), storage(m.take("snapshot")), storage(m.take("image"))
	q.Traffic = traffic(m.take("traffic"))
	q.PublicIP = address(m.take("public_ip"))
	own := told(m)
	q.AsOf, q.Source = cmp.Or(own.AsOf, q.AsOf), cmp.Or(own.Source, q.Source)
	if !common.asOf && !m.tried("as_of") {
		m.bad("as_of is missing", "write as_of: and the day on which you read the price, such as 2026-10-01")
	}
	if !common.source && !m.tried("source") {
		m.bad("source is missing", "write source: and where you read the price")
	}
	r.oneCurrency(m, q)
	m.done()
	return q, name
}

// charged reads what a price is for and how it is paid: a price of a month is paid
// by the month, unless a year of them is.
func (r *reader) charged(m *mapping, q *estimate.Offer) {
	per := m.need("per", "write per: card-hour, or per: machine-hour")
	q.Per = estimate.Per(per.word("", string(estimate.PerCardHour), string(estimate.PerMachineHour),
		string(estimate.PerCardMonth), string(estimate.PerMachineMonth), string(estimate.PerCardYear), string(estimate.PerMachineYear)))
	usual := estimate.OnDemand
	switch q.Per {
	case estimate.PerCardMonth, estimate.PerMachineMonth:
		usual = estimate.Month
	case estimate.PerCardYear, estimate.PerMachineYear:
		usual = estimate.Year
	}
	charge := m.take("charge")
	q.Charge = estimate.Charge(charge.word(string(usual), string(estimate.OnDemand), string(estimate.Spot), string(estimate.Month), string(estimate.Year)))
	if usual.Prepaid() && q.Charge != usual && q.Charge != estimate.Year {
		charge.bad(fmt.Sprintf("%s does not go with a price per %s", q.Charge, q.Per), fmt.Sprintf("write charge: %s, or leave it out", usual))
	}
	included := m.take("hours_included")
	q.HoursIncluded = included.hours()
	if included.given() && q.Per != "" && !q.Charge.Prepaid() {
		included.bad("is of what is paid for by the month or year", "write charge: month or charge: year beside it, or leave it out")
	}
}

// bands reads the times of day that have a price of their own.
func (r *reader) bands(n node, q *estimate.Offer) {
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		from, to := m.need("from", `write from: "23:00"`), m.need("to", `write to: "07:00"`)
		b := estimate.Band{From: from.clock(), To: to.clock(), Price: m.need("price", "write price: 1.98 CNY").money()}
		m.done()
		begin, _ := from.source()
		if end, _ := to.source(); begin == end && from.given() {
			m.bad("ends when it begins", `write two times, such as from: "23:00" and to: "07:00"`)
		}
		if b.From != b.To {
			q.TimeOfDay = append(q.TimeOfDay, b)
		}
	}
	switch {
	case n.isEmptyList():
		n.bad("is empty", "write a value, or leave the key out")
	case n.given() && q.Charge.Prepaid():
		n.bad("has no meaning for what is paid for by the "+string(q.Charge), "leave it out")
	case n.given() && len(q.TimeOfDay) > 0 && overlap(q.TimeOfDay):
		n.bad("has two prices for one time", "let each begin where the one before it ends")
	}
}

// overlap reports whether two bands hold one minute.
func overlap(bands []estimate.Band) bool {
	const day = 24 * 60
	var taken [day]bool
	for _, b := range bands {
		for at := b.From % day; ; {
			if taken[at] {
				return true
			}
			taken[at] = true
			if at = (at + 1) % day; at == b.To%day {
				break
			}
		}
	}
	return false
}

// storage reads what kept data costs.
func storage(n node) estimate.Storage {
	m := n.mapping()
	price, per := m.take("price"), m.take("per")
	s := estimate.Storage{Price: price.money(), Per: estimate.Per(per.word("", string(estimate.PerGBDay), string(estimate.PerGBMonth)))}
	s.FreeGB, s.AllFree = m.take("free").free()
	s.NotStopped = m.take("when_stopped").word("yes", "yes", "no") == "no"
	s.Told = told(m)
	m.priced(price, per, s.AllFree, "GB-day or per: GB-month")
	m.done()
	return s
}

// traffic reads what data costs that leaves.
func traffic(n node) estimate.Traffic {
	m := n.mapping()
	price, per := m.take("price"), m.take("per")
	t := estimate.Traffic{Price: price.money(), Per: estimate.Per(per.word("", string(estimate.PerGB), string(estimate.PerMbpsMonth)))}
	t.FreeGB, t.AllFree = m.take("free").free()
	line := m.take("mbps")
	t.Mbps = line.number()
	t.Told = told(m)
	m.priced(price, per, t.AllFree, "GB or per: Mbps-month")
	switch {
	case t.Per == estimate.PerMbpsMonth && !line.given():
		m.bad("mbps is missing", "write mbps: and how much bandwidth is rented, such as 100")
	case t.Per == estimate.PerGB && line.given():
		line.bad("is of rented bandwidth, and the price is per GB", "write per: Mbps-month, or leave it out")
	}
	m.done()
	return t
}

// address reads what a public IP costs.
func address(n node) estimate.Address {
	m := n.mapping()
	price, per := m.take("price"), m.take("per")
	a := estimate.Address{Price: price.money(), Per: estimate.Per(per.word("", string(estimate.PerHour), string(estimate.PerDay), string(estimate.PerMonth)))}
	a.NotStopped = m.take("when_stopped").word("yes", "yes", "no") == "no"
	a.Told = told(m)
	m.priced(price, per, false, "hour, per: day or per: month")
	m.done()
	return a
}

// priced reports a price without what it is for, and the other way round.
func (m *mapping) priced(price, per node, free bool, units string) {
	switch {
	case !m.given():
	case free && price.given():
		price.bad("stands beside free: all", "keep one of the two")
	case free:
	case !price.given() && !m.tried("price", "free"):
		m.bad("price is missing", "write price: 0.01 CNY")
	case price.given() && !m.tried("per"):
		m.bad("per is missing", "write per: "+units)
	case per.given() && !m.tried("price"):
		per.bad("is what a price is for, and there is none", "write price: 0.01 CNY beside it, or leave it out")
	}
}

// oneCurrency reports prices of one quote that do not add.
func (r *reader) oneCurrency(m *mapping, q estimate.Offer) {
	prices := map[string]fleet.Money{
		"disk": q.Disk.Price, "snapshot": q.Snapshot.Price, "image": q.Image.Price, "traffic": q.Traffic.Price, "public_ip": q.PublicIP.Price,
	}
	for _, b := range q.TimeOfDay {
		if b.Price.Currency != "" && b.Price.Currency != q.Price.Currency {
			prices["time_of_day"] = b.Price
		}
	}
	for _, key := range m.keys {
		if c := prices[key].Currency; c != "" && q.Price.Currency != "" && c != q.Price.Currency {
			m.take(key).bad(fmt.Sprintf("is in %s, and the price in %s; they do not add", c, q.Price.Currency), "write both in one currency")
		}
	}
}

// number reads a decimal number above 0, exactly.
func (n node) number() estimate.Number {
	n = n.as(form{kind: kindFigure})
	v := read(n, estimate.ParseNumber, "write one, such as 1.5")
	if n.given() && v.IsZero() {
		n.bad("is nothing", "write a number above 0, such as 1.5")
	}
	return v
}

// hours reads an amount of hours, more than none.
func (n node) hours() estimate.Number {
	n.as(form{kind: kindFigure})
	n = n.as(form{kind: kindText})
	return read(n, estimate.ParseHours, "write such as 30, 0.5 or 1h30m")
}

// size reads an amount of data.
func (n node) size() estimate.Number {
	n = n.as(form{kind: kindSize})
	return read(n, estimate.ParseSize, "write such as 80GB")
}

// free reads how much data costs nothing; all is every amount.
func (n node) free() (estimate.Number, bool) {
	n.as(oneOf(kindWord, "", []string{"all"}))
	if s, _ := n.source(); s == "all" {
		return estimate.Number{}, true
	}
	return n.size(), false
}

// clock reads a time of day.
func (n node) clock() int {
	n = n.as(form{kind: kindClock})
	return read(n, estimate.ParseClock, `write such as "23:00"`)
}

// read reads a single value that is written in a way of its own.
func read[V any](n node, parse func(string) (V, error), right string) V {
	var none V
	s, ok := n.scalar()
	if !ok {
		return none
	}
	v, err := parse(s)
	if err != nil {
		n.bad(halves(err, right))
		return none
	}
	return v
}
