package ledger

import (
	"cmp"
	"slices"
	"time"

	"curfew/fleet"
)

// What the comparison of a bill with the ledger can come to, beside [Agrees], [Less],
// [Unpriced] and [Bought].
const (
	// Late: less is billed than was reckoned, and the bill may not be complete yet.
	Late Judgement = "late"
	// Stranger: it is billed, and curfew knows of no such resource.
	Stranger Judgement = "unknown-resource"
	// More: more is billed than was reckoned.
	More Judgement = "more"
	// NeverBilled: it was reckoned, and is not on the bill.
	NeverBilled Judgement = "never-billed"
	// Refund: the platform gave it back; it is not compared.
	Refund Judgement = "refund"
	// Voucher: it agrees, and vouchers paid for some of it or all.
	Voucher Judgement = "voucher"
)

const (
	// billTolerance is the least difference that is one: a hundredth of the currency.
	billTolerance = 10_000
	// billShare is the least share of the amount that is one: a hundredth.
	billShare = 100
)

// BillRead is what the bill of one day held when it was last read.
type BillRead struct {
	From   time.Time // the begin of the day
	ReadAt time.Time
	Items  []fleet.BillItem // whose use began on that day
}

// BillQuery asks for the comparison of the days that begin in [From, To).
type BillQuery struct {
	From, To, Now time.Time
	Zone          *time.Location
	// Lag is how long after the end of a day its bill may be incomplete.
	Lag time.Duration
	// Since is when curfew knew of the account at the latest: a day that began before,
	// and before anything that is known of it, is not compared.
	Since time.Time
}

// BillRow compares what was billed on one day for one resource with the ledger; or for
// an item as far as the bill names no resource.
type BillRow struct {
	Ref  fleet.Ref `json:"ref,omitzero"`
	Name string    `json:"name,omitempty"`
	Item Item      `json:"item"`
	// Billed is all that the platform charged, Vouchers the part of it that was no cash.
	Billed   fleet.Money `json:"billed"`
	Vouchers fleet.Money `json:"vouchers"`
	Reckoned fleet.Money `json:"reckoned"`
	Gap      fleet.Money `json:"gap"` // billed less reckoned
	// Moved is what may belong to the day beside: hours that lie over midnight.
	Moved     fleet.Money `json:"moved,omitzero"`
	Judgement Judgement   `json:"judgement"`
}

// BillDay compares one day's bill with the ledger. Refunds and what was paid for
// periods are kept apart: the other sums are for what was used.
type BillDay struct {
	Day       string      `json:"day"`
	From      time.Time   `json:"from"`
	To        time.Time   `json:"to"`
	ReadAt    time.Time   `json:"read_at"`
	Billed    fleet.Money `json:"billed"`
	Vouchers  fleet.Money `json:"vouchers"`
	Reckoned  fleet.Money `json:"reckoned"`
	Gap       fleet.Money `json:"gap"`
	Refunded  fleet.Money `json:"refunded"` // below nothing
	Bought    fleet.Money `json:"bought"`
	Judgement Judgement   `json:"judgement"`
	// Rows are those of resources, the largest difference first.
	Rows []BillRow `json:"rows,omitempty"`
}

// Excess is by how much a complete day's bill is beyond what can be explained, and the
// rows that it is for, where that is worth telling: more than one unit of the currency
// and more than a tenth of what was reckoned.
func (d BillDay) Excess() (fleet.Money, []BillRow) {
	if d.Judgement != More {
		return fleet.Money{}, nil
	}
	return fleet.Money{Micros: d.excess(), Currency: d.Billed.Currency}, slices.DeleteFunc(slices.Clone(d.Rows), func(r BillRow) bool {
		return r.Judgement != More && r.Judgement != Stranger
	})
}

func (d BillDay) excess() int64 {
	sum := int64(0)
	for _, r := range d.Rows {
		if r.Judgement != Refund && r.Judgement != Bought && r.Judgement != Unpriced {
			sum += r.Gap.Micros - r.Moved.Micros
		}
	}
	return sum
}

// BillSum compares what was billed for one item on several days with the ledger.
type BillSum struct {
	Item     Item        `json:"item"`
	Billed   fleet.Money `json:"billed"`
	Vouchers fleet.Money `json:"vouchers"`
	Reckoned fleet.Money `json:"reckoned"`
	Gap      fleet.Money `json:"gap"`
}

// SumBill adds up days by item, as people see them.
func SumBill(days []BillDay) []BillSum {
	var out []BillSum
	for _, item := range Items() {
		sum, found := BillSum{Item: item}, false
		for _, d := range days {
			for _, r := range d.Rows {
				if r.Item != item || r.Judgement == Refund || r.Judgement == Bought {
					continue
				}
				found = true
				for to, m := range map[*fleet.Money]fleet.Money{&sum.Billed: r.Billed, &sum.Vouchers: r.Vouchers, &sum.Reckoned: r.Reckoned, &sum.Gap: r.Gap} {
					to.Micros, to.Currency = to.Micros+m.Micros, m.Currency
				}
			}
		}
		if found {
			out = append(out, sum)
		}
	}
	return out
}

// judge says what a row came to.
func (r *BillRow) judge(known, unpriced, complete bool) {
	r.Gap = fleet.Money{Micros: r.Billed.Micros - r.Reckoned.Micros, Currency: r.Billed.Currency}
	off := max(size(r.Gap.Micros)-r.Moved.Micros, 0)
	switch {
	case !known && !r.Ref.IsZero() && r.Billed.Micros > 0:
		r.Judgement = Stranger
	case off <= max(billTolerance, max(r.Billed.Micros, r.Reckoned.Micros)/billShare):
		r.Judgement = Agrees
		if !r.Vouchers.IsZero() {
			r.Judgement = Voucher
		}
	case r.Gap.Micros < 0 && !complete:
		r.Judgement = Late
	case r.Gap.Micros < 0 && r.Billed.IsZero():
		r.Judgement = NeverBilled
	case r.Gap.Micros < 0:
		r.Judgement = Less
	case unpriced:
		r.Judgement = Unpriced
	default:
		r.Judgement = More
	}
}

// judge adds up the rows of a day and says what it came to.
func (d *BillDay) judge(complete bool) {
	unpriced, moved := false, int64(0)
	for _, r := range d.Rows {
		switch r.Judgement {
		case Refund:
			d.Refunded.Micros += r.Billed.Micros
			continue
		case Bought:
			d.Bought.Micros += r.Billed.Micros
			continue
		case Unpriced:
			unpriced = true
		}
		moved += r.Moved.Micros
		d.Billed.Micros += r.Billed.Micros
		d.Vouchers.Micros += r.Vouchers.Micros
		d.Reckoned.Micros += r.Reckoned.Micros
	}
	d.Gap.Micros = d.Billed.Micros - d.Reckoned.Micros
	large := func(gap int64) bool { return gap > leastGap && gap > d.Reckoned.Micros/gapShare }
	switch {
	case !complete:
		d.Judgement = Late
	case large(d.excess()):
		d.Judgement = More
	case unpriced:
		d.Judgement = Unpriced
	case large(-d.Gap.Micros - moved):
		d.Judgement = Less
	default:
		d.Judgement = Agrees
	}
	slices.SortStableFunc(d.Rows, func(a, b BillRow) int {
		return cmp.Or(cmp.Compare(size(b.Gap.Micros), size(a.Gap.Micros)), fleet.CompareRefs(a.Ref, b.Ref), cmp.Compare(a.Item, b.Item))
	})
}

func size(n int64) int64 { return max(n, -n) }
