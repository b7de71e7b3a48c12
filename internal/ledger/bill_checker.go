package ledger

import (
	"cmp"
	"slices"
	"time"

	"curfew/fleet"
)

// BillChecker compares an account's bill with what is known of the account, of which
// it is told one thing after the other and keeps only sums. All amounts of the bill are
// of one currency; what was reckoned in another is left out.
type BillChecker struct {
	q        BillQuery
	since    time.Time // when curfew began to know of the account
	currency string
	days     []billedDay
	named    map[fleet.Ref]bool // that are on the bill
	known    map[fleet.Ref]bool // of those, the ones that curfew knows
}

// billedDay is one day, by what is compared.
type billedDay struct {
	BillDay
	cells map[cell]*line
	apart []BillRow // refunds, and periods that were bought
}

// line is a row that is still being added up, with what lies over midnight of it on the
// bill and as reckoned, and whether anything of it has no price.
type line struct {
	BillRow
	movedBilled, movedReckoned int64
	unpriced                   bool
}

// cell is what is compared by itself: a resource, or an item without one.
type cell struct {
	ref  fleet.Ref
	item Item
}

// NewBillChecker begins a comparison of the days that were read.
func NewBillChecker(reads []BillRead, q BillQuery) *BillChecker {
	c := &BillChecker{q: q, since: q.Since, named: map[fleet.Ref]bool{}, known: map[fleet.Ref]bool{}}
	for _, r := range reads {
		for _, b := range r.Items {
			c.currency = b.Amount.Currency
			c.named[b.Ref] = true
		}
	}
	for _, r := range reads {
		if r.From.Before(q.From) || !r.From.Before(q.To) {
			continue
		}
		c.days = append(c.days, billedDay{
			BillDay: BillDay{Day: r.From.In(q.Zone).Format(time.DateOnly), From: r.From, To: nextDay(r.From, q.Zone), ReadAt: r.ReadAt},
			cells:   map[cell]*line{},
		})
	}
	slices.SortFunc(c.days, func(a, b billedDay) int { return a.From.Compare(b.From) })
	for _, r := range reads {
		for _, b := range r.Items {
			c.bill(b)
		}
	}
	return c
}

// bill adds an item of the bill: use to the days in which it was, all else to the day
// on which it begins.
func (c *BillChecker) bill(b fleet.BillItem) {
	whole := Charge{From: b.From, To: b.To, Amount: b.Amount}
	vouchers := Charge{From: b.From, To: b.To, Amount: b.Vouchers}
	for n := range c.days {
		d := &c.days[n]
		part, ok := whole.Within(d.From, d.To)
		if !ok {
			continue
		}
		if b.Kind != fleet.BillUsage {
			if covers(d.From, d.To, b.From) {
				row := BillRow{Ref: b.Ref, Item: b.Item, Billed: b.Amount, Vouchers: b.Vouchers, Judgement: Bought}
				if b.Kind == fleet.BillRefund {
					row.Judgement = Refund
				}
				d.apart = append(d.apart, row)
			}
			continue
		}
		r := d.row(cell{b.Ref, billedItem(b)})
		r.Billed.Micros += part.Amount.Micros
		paid, _ := vouchers.Within(d.From, d.To)
		r.Vouchers.Micros += paid.Amount.Micros
		if part.For() != whole.For() && whole.For() <= time.Hour {
			r.movedBilled += size(b.Amount.Micros)
		}
	}
}

// billedItem is what an item counts as beside the ledger, which knows one price of a
// resource: a disk that is billed as part of an instance is the instance's.
func billedItem(b fleet.BillItem) Item {
	if b.Ref.IsZero() || b.Item == fleet.ItemTraffic || b.Item == fleet.ItemOther {
		return b.Item
	}
	return ItemOf(b.Ref.Kind)
}

func (d *billedDay) row(at cell) *line {
	r := d.cells[at]
	if r == nil {
		r = &line{BillRow: BillRow{Ref: at.ref, Item: at.item}}
		d.cells[at] = r
	}
	return r
}

// Add tells of one thing of the account. Its history is not kept.
func (c *BillChecker) Add(h History) {
	if len(c.days) == 0 {
		return
	}
	ref := h.Ref
	if !c.named[ref] {
		if ref.Incarnation = ""; !c.named[ref] {
			ref = h.Ref
		}
	}
	c.known[ref] = true
	for _, g := range h.Segments {
		c.since = earlier(c.since, g.From)
	}
	at := cell{ref, ItemOf(ref.Kind)}
	for _, charge := range h.Charges(c.q.Now) {
		if charge.Prepaid || charge.Unknown == UnknownPeriod {
			continue
		}
		for n := range c.days {
			d := &c.days[n]
			part, ok := charge.Within(d.From, d.To)
			if !ok {
				continue
			}
			if charge.Unknown != "" {
				d.row(at).unpriced = true
				continue
			}
			if c.currency = cmp.Or(c.currency, charge.Amount.Currency); charge.Amount.Currency != c.currency {
				continue
			}
			r := d.row(at)
			r.Reckoned.Micros += part.Amount.Micros
			if charge.Hour && part.For() != charge.For() {
				r.movedReckoned += charge.Amount.Micros
			}
		}
	}
	for n := range c.days {
		c.days[n].call(ref, h.Name)
	}
}

// call gives the rows of a resource its name.
func (d *billedDay) call(ref fleet.Ref, name string) {
	for _, item := range Items() {
		if r := d.cells[cell{ref, item}]; r != nil {
			r.Name = name
		}
	}
	for n := range d.apart {
		if d.apart[n].Ref == ref {
			d.apart[n].Name = name
		}
	}
}

// Days gives what the comparison came to.
func (c *BillChecker) Days() []BillDay {
	var out []BillDay
	for n := range c.days {
		d := &c.days[n]
		if d.From.Before(c.since) {
			continue
		}
		d.pool()
		complete := !d.ReadAt.Before(d.To.Add(c.q.Lag))
		day := d.BillDay
		day.Rows = slices.Clone(d.apart)
		for _, r := range d.cells {
			if r.Billed.IsZero() && r.Reckoned.IsZero() && r.Vouchers.IsZero() {
				continue
			}
			if moved := max(r.movedBilled, r.movedReckoned); moved > 0 {
				r.Moved = fleet.Money{Micros: moved, Currency: c.currency}
			}
			c.inCurrency(&r.Billed, &r.Vouchers, &r.Reckoned)
			r.judge(c.known[r.Ref], r.unpriced, complete)
			day.Rows = append(day.Rows, r.BillRow)
		}
		c.inCurrency(&day.Billed, &day.Vouchers, &day.Reckoned, &day.Gap, &day.Refunded, &day.Bought)
		day.judge(complete)
		out = append(out, day)
	}
	return out
}

// inCurrency gives amounts the bill's currency; all that were added up are of it.
func (c *BillChecker) inCurrency(all ...*fleet.Money) {
	for _, m := range all {
		m.Currency = c.currency
	}
}

// pool compares what the bill names no resource for with all of its kind that the bill
// does not name.
func (d *billedDay) pool() {
	for _, item := range Items() {
		all := d.cells[cell{item: item}]
		if all == nil {
			continue
		}
		for at, r := range d.cells {
			if at.item != item || at.ref.IsZero() || !r.Billed.IsZero() {
				continue
			}
			all.Reckoned.Micros += r.Reckoned.Micros
			all.movedReckoned += r.movedReckoned
			all.unpriced = all.unpriced || r.unpriced
			delete(d.cells, at)
		}
	}
}
