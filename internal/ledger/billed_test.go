package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/ledger"
)

// compared is the bill of one account beside what is known of the account.
func compared(reads []ledger.BillRead, hs []ledger.History, q ledger.BillQuery) []ledger.BillDay {
	c := ledger.NewBillChecker(reads, q)
	for _, h := range hs {
		c.Add(h)
	}
	return c.Days()
}

func refOf(kind fleet.ThingKind, id string) fleet.Ref {
	return fleet.Ref{Account: "acc", Kind: kind, ID: id}
}

// used is an item of the bill for what a thing used.
func used(kind fleet.ThingKind, id string, from, to time.Duration, micros int64) fleet.BillItem {
	return fleet.BillItem{
		Ref: refOf(kind, id), Item: ledger.ItemOf(kind), Kind: fleet.BillUsage, From: after(from), To: after(to), Amount: fleet.CNY(micros),
	}
}

func with(b fleet.BillItem, change func(*fleet.BillItem)) fleet.BillItem {
	change(&b)
	return b
}

// nameless is an item that names no resource.
func nameless(item fleet.Item, from, to time.Duration, micros int64) fleet.BillItem {
	return fleet.BillItem{Item: item, Kind: fleet.BillUsage, From: after(from), To: after(to), Amount: fleet.CNY(micros)}
}

const (
	billLag = 2 * hour
	// complete is when the bills of both days of a story are.
	complete = 2*day + billLag
)

// readOf gives the bills of the first days, read at one moment.
func readOf(days int, at time.Duration, items ...fleet.BillItem) []ledger.BillRead {
	var out []ledger.BillRead
	for n := range days {
		r := ledger.BillRead{From: after(time.Duration(n) * day), ReadAt: after(at)}
		for _, b := range items {
			if !b.From.Before(r.From) && b.From.Before(r.From.Add(day)) {
				r.Items = append(r.Items, b)
			}
		}
		out = append(out, r)
	}
	return out
}

func checkBill(at time.Duration, tales []*tale, items ...fleet.BillItem) []ledger.BillDay {
	var hs []ledger.History
	for _, s := range tales {
		hs = append(hs, s.h)
	}
	return compared(readOf(2, at, items...), hs, ledger.BillQuery{
		From: begin(), To: after(2 * day), Now: after(at), Zone: time.UTC, Lag: billLag,
	})
}

// said writes days as one line each, with a line for every row that does not agree.
func said(days []ledger.BillDay) string {
	var out []string
	for _, d := range days {
		line := fmt.Sprintf("%s %s: billed %s, reckoned %s", d.Day[8:], d.Judgement, d.Billed, d.Reckoned)
		for what, m := range map[string]fleet.Money{" vouchers ": d.Vouchers, " refunded ": d.Refunded, " bought ": d.Bought} {
			if !m.IsZero() {
				line += what + m.String()
			}
		}
		if m, _ := d.Excess(); !m.IsZero() {
			line += " excess " + m.String()
		}
		out = append(out, line)
		for _, r := range d.Rows {
			if r.Judgement != ledger.Agrees {
				out = append(out, fmt.Sprintf("  %s %s %s: %s of %s", strings.TrimSpace(r.Ref.ID+" "+r.Name), r.Item, r.Judgement, r.Billed, r.Reckoned))
			}
		}
	}
	return strings.Join(out, "\n")
}

// Each way in which a bill and the ledger can differ has one day that was added up by
// hand.
func TestBillsComparedByHand(t *testing.T) {
	// 1.98 CNY/h by the second for 9030 s: 4.9665.
	a := func() *tale {
		return of(fleet.KindInstance, "a").
			at(0, "state", "running").at(0, "price", "1.98 CNY").at(0, "billing", "second on-demand provider").
			at(9030*time.Second, "state", "stopped").at(9030*time.Second, "price", "0.00 CNY")
	}
	inHours := []fleet.BillItem{
		used(fleet.KindInstance, "a", 0, hour, 1_980_000), used(fleet.KindInstance, "a", hour, 2*hour, 1_980_000),
		used(fleet.KindInstance, "a", 2*hour, 9030*time.Second, 1_006_500),
	}
	nothing := "\n02 agrees: billed 0.00 CNY, reckoned 0.00 CNY"
	for _, c := range []struct {
		name  string
		tales []*tale
		items []fleet.BillItem
		at    time.Duration // zero: when the bill is complete
		want  string
	}{
		{"the same, in other pieces", []*tale{a()}, inHours, 0, "01 agrees: billed 4.9665 CNY, reckoned 4.9665 CNY" + nothing},
		{
			// Rounded up to cents, 4.97 is 0.0035 more.
			"rounded to cents",
			[]*tale{a()},
			[]fleet.BillItem{used(fleet.KindInstance, "a", 0, 9030*time.Second, 4_970_000)},
			0, "01 agrees: billed 4.97 CNY, reckoned 4.9665 CNY" + nothing,
		},
		{
			// A hundredth of 4.9665 + 0.06 = 5.0265 is 0.050265: 0.06 is more than that.
			"more than a hundredth more",
			[]*tale{a()},
			append(slices.Clone(inHours), used(fleet.KindInstance, "a", 9030*time.Second, 9031*time.Second, 60_000)),
			0, "01 agrees: billed 5.0265 CNY, reckoned 4.9665 CNY\n  a a instance more: 5.0265 CNY of 4.9665 CNY" + nothing,
		},
		{
			// 40 minutes over midnight, one started hour of 2 CNY: reckoned 30/40 and 10/40
			// of it, billed for the whole hour half and half.
			"a started hour that lies over midnight",
			[]*tale{of(fleet.KindInstance, "h").
				at(23*hour+30*minute, "state", "running").at(23*hour+30*minute, "price", "2.00 CNY").at(23*hour+30*minute, "billing", "hour on-demand provider").
				at(24*hour+10*minute, "state", "gone")},
			[]fleet.BillItem{used(fleet.KindInstance, "h", 23*hour+30*minute, 24*hour+30*minute, 2_000_000)},
			0, "01 agrees: billed 1.00 CNY, reckoned 1.50 CNY\n02 agrees: billed 1.00 CNY, reckoned 0.50 CNY",
		},
		{
			// Of the same hour nothing is billed: 1.50 and 0.50 are within the 2 CNY that lie
			// over midnight, so this alone proves nothing.
			"a started hour over midnight that is billed on the next day",
			[]*tale{of(fleet.KindInstance, "h").
				at(23*hour+30*minute, "state", "running").at(23*hour+30*minute, "price", "2.00 CNY").at(23*hour+30*minute, "billing", "hour on-demand provider").
				at(24*hour+10*minute, "state", "gone")},
			[]fleet.BillItem{used(fleet.KindInstance, "h", 24*hour, 25*hour, 2_000_000)},
			0, "01 agrees: billed 0.00 CNY, reckoned 1.50 CNY\n02 agrees: billed 2.00 CNY, reckoned 0.50 CNY",
		},
		{
			"partly paid with vouchers",
			[]*tale{a()},
			[]fleet.BillItem{with(used(fleet.KindInstance, "a", 0, 9030*time.Second, 4_966_500), func(b *fleet.BillItem) { b.Vouchers = fleet.CNY(4_000_000) })},
			0, "01 agrees: billed 4.9665 CNY, reckoned 4.9665 CNY vouchers 4.00 CNY\n  a a instance voucher: 4.9665 CNY of 4.9665 CNY" + nothing,
		},
		{
			"a refund is kept apart",
			[]*tale{a()},
			append(slices.Clone(inHours), with(used(fleet.KindInstance, "a", 0, hour, -1_980_000), func(b *fleet.BillItem) { b.Kind = fleet.BillRefund })),
			0, "01 agrees: billed 4.9665 CNY, reckoned 4.9665 CNY refunded -1.98 CNY\n  a a instance refund: -1.98 CNY of 0.00" + nothing,
		},
		{
			// The ledger spreads 720 CNY over the month; bill and comparison do not.
			"a month that was bought is kept apart",
			[]*tale{of(fleet.KindInstance, "m").at(0, "state", "running").at(0, "price", "1.00 CNY").at(0, "billing", "prepaid period config 2026-12-01T00:00:00Z")},
			[]fleet.BillItem{with(used(fleet.KindInstance, "m", hour, 30*day, 720_000_000), func(b *fleet.BillItem) { b.Kind = fleet.BillPrepaid })},
			0, "01 agrees: billed 0.00 CNY, reckoned 0.00 CNY bought 720.00 CNY\n  m m instance bought: 720.00 CNY of 0.00" + nothing,
		},
		{
			// 0.50 × 24 = 12 a day, of a disk in a region that nobody reads.
			"a resource that curfew does not know",
			[]*tale{a()},
			append(slices.Clone(inHours), used(fleet.KindDisk, "lost", 0, 2*day, 24_000_000)),
			0, "01 more: billed 16.9665 CNY, reckoned 4.9665 CNY excess 12.00 CNY\n  lost disk unknown-resource: 12.00 CNY of 0.00 CNY\n" +
				"02 more: billed 12.00 CNY, reckoned 0.00 CNY excess 12.00 CNY\n  lost disk unknown-resource: 12.00 CNY of 0.00 CNY",
		},
		{
			"an unknown resource of cents is named and not told of",
			[]*tale{a()},
			append(slices.Clone(inHours), used(fleet.KindDisk, "lost", 0, hour, 900_000)),
			0, "01 agrees: billed 5.8665 CNY, reckoned 4.9665 CNY\n  lost disk unknown-resource: 0.90 CNY of 0.00 CNY" + nothing,
		},
		{
			"what may still come",
			[]*tale{a()}, inHours[:1], 25 * hour,
			"01 late: billed 1.98 CNY, reckoned 4.9665 CNY\n  a a instance late: 1.98 CNY of 4.9665 CNY\n02 late: billed 0.00 CNY, reckoned 0.00 CNY",
		},
		{
			"what did not come in time",
			[]*tale{a()}, inHours[:1], 0,
			"01 less: billed 1.98 CNY, reckoned 4.9665 CNY\n  a a instance less: 1.98 CNY of 4.9665 CNY" + nothing,
		},
		{
			"what was never billed",
			[]*tale{a()}, nil, 0,
			"01 less: billed 0.00 CNY, reckoned 4.9665 CNY\n  a a instance never-billed: 0.00 CNY of 4.9665 CNY" + nothing,
		},
		{
			"what has no price",
			[]*tale{of(fleet.KindInstance, "dark").at(0, "state", "running").at(hour, "state", "gone")},
			[]fleet.BillItem{used(fleet.KindInstance, "dark", 0, hour, 5_000_000)},
			0, "01 unpriced: billed 5.00 CNY, reckoned 0.00 CNY\n  dark dark instance unpriced: 5.00 CNY of 0.00 CNY" + nothing,
		},
		{
			// Two disks of 0.10 CNY/h: 4.80 a day together.
			"a bill that names no resource is compared by item",
			[]*tale{of(fleet.KindDisk, "d1").at(0, "state", "there").at(0, "price", "0.10 CNY").at(day, "state", "gone"), of(fleet.KindDisk, "d2").at(0, "state", "there").at(0, "price", "0.10 CNY").at(day, "state", "gone")},
			[]fleet.BillItem{nameless(fleet.ItemDisk, 0, day, 4_800_000)},
			0, "01 agrees: billed 4.80 CNY, reckoned 4.80 CNY" + nothing,
		},
		{
			"what the bill names is not counted again with what it does not",
			[]*tale{of(fleet.KindDisk, "d1").at(0, "state", "there").at(0, "price", "0.10 CNY").at(day, "state", "gone"), of(fleet.KindDisk, "d2").at(0, "state", "there").at(0, "price", "0.10 CNY").at(day, "state", "gone")},
			[]fleet.BillItem{used(fleet.KindDisk, "d1", 0, day, 2_400_000), nameless(fleet.ItemDisk, 0, day, 5_400_000)},
			0, "01 more: billed 7.80 CNY, reckoned 4.80 CNY excess 3.00 CNY\n   disk more: 5.40 CNY of 2.40 CNY" + nothing,
		},
		{
			"traffic, which nothing reckons",
			[]*tale{a()},
			append(slices.Clone(inHours), nameless(fleet.ItemTraffic, 0, hour, 2_500_000)),
			0, "01 more: billed 7.4665 CNY, reckoned 4.9665 CNY excess 2.50 CNY\n   traffic more: 2.50 CNY of 0.00 CNY" + nothing,
		},
		{
			// 4 CNY/h for two hours, then its disk: 8 + 22 × 0.05 = 9.10. The second day the
			// disk alone: 1.20.
			"a disk that is billed as part of its instance",
			[]*tale{of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "4.00 CNY").at(2*hour, "state", "stopped").at(2*hour, "price", "0.05 CNY")},
			[]fleet.BillItem{
				used(fleet.KindInstance, "a", 0, 2*hour, 8_000_000),
				with(used(fleet.KindInstance, "a", 2*hour, 2*day, 2_300_000), func(b *fleet.BillItem) { b.Item = fleet.ItemDisk }),
			},
			0, "01 agrees: billed 9.10 CNY, reckoned 9.10 CNY\n02 agrees: billed 1.20 CNY, reckoned 1.20 CNY",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := c.at
			if at == 0 {
				at = complete
			}
			if diff := cmp.Diff(c.want, said(checkBill(at, c.tales, c.items...))); diff != "" {
				t.Errorf("days (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABillThatTellsNoIncarnationMeansTheOneThatWasThere(t *testing.T) {
	a := of(fleet.KindInstance, "a").at(0, "state", "running").at(0, "price", "1.00 CNY").at(2*hour, "state", "gone")
	a.h.Ref.Incarnation = "i1"
	for _, incarnation := range []string{"", "i1"} {
		item := used(fleet.KindInstance, "a", 0, 2*hour, 2_000_000)
		item.Ref.Incarnation = incarnation
		if got := checkBill(complete, []*tale{a}, item)[0]; got.Judgement != ledger.Agrees || len(got.Rows) != 1 || got.Rows[0].Judgement != ledger.Agrees {
			t.Errorf("incarnation %q: %s", incarnation, said([]ledger.BillDay{got}))
		}
	}
	item := used(fleet.KindInstance, "a", 0, 2*hour, 2_000_000)
	item.Ref.Incarnation = "i2"
	if got := checkBill(complete, []*tale{a}, item)[0]; len(got.Rows) != 2 {
		t.Errorf("another incarnation: %s", said([]ledger.BillDay{got}))
	}
}

func TestDaysThatWereNotReadOrNotKnownAreNotCompared(t *testing.T) {
	item := used(fleet.KindDisk, "lost", 0, 3*day, 36_000_000)
	q := ledger.BillQuery{From: begin(), To: after(3 * day), Now: after(4 * day), Zone: time.UTC, Lag: billLag}
	days := func(reads []ledger.BillRead, q ledger.BillQuery) string {
		var out []string
		for _, d := range compared(reads, nil, q) {
			out = append(out, d.Day[8:]+" "+d.Billed.String())
		}
		return strings.Join(out, ", ")
	}
	all := readOf(3, 4*day, item)
	if got := days(all, q); got != "01 12.00 CNY, 02 12.00 CNY, 03 12.00 CNY" {
		t.Errorf("all days: %s", got)
	}
	if got := days(all[:2], q); got != "01 12.00 CNY, 02 12.00 CNY" {
		t.Errorf("two were read: %s", got)
	}
	q.Since = after(hour)
	if got := days(all, q); got != "02 12.00 CNY, 03 12.00 CNY" {
		t.Errorf("known since one in the morning: %s", got)
	}
	q.From = after(2 * day)
	if got := days(all, q); got != "03 12.00 CNY" {
		t.Errorf("asked for the last day alone: %s", got)
	}
}

// Whatever is billed is on the days of its use, to the millionth; by row, by day and by
// item the sums are the same; and no row agrees that is off by more than the tolerance
// and the hours over midnight.
func TestNothingOfABillIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []fleet.BillItem
		var whole, vouchers, apart int64
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			from := time.Duration(rapid.Int64Range(0, int64(4*day/time.Second)-1).Draw(t, "from")) * time.Second
			to := from + time.Duration(rapid.Int64Range(1, int64((5*day-from)/time.Second)).Draw(t, "for"))*time.Second
			b := used(rapid.SampledFrom(fleet.ResourceKinds()).Draw(t, "kind"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id"), from, to, rapid.Int64Range(-1_000_000, 90_000_000).Draw(t, "micros"))
			b.Item = rapid.SampledFrom(fleet.Items()).Draw(t, "item")
			b.Kind = rapid.SampledFrom([]fleet.BillKind{fleet.BillUsage, fleet.BillUsage, fleet.BillPrepaid, fleet.BillRefund}).Draw(t, "what")
			if rapid.Bool().Draw(t, "nameless") {
				b.Ref = fleet.Ref{}
			}
			b.Vouchers = fleet.CNY(rapid.Int64Range(0, max(b.Amount.Micros, 0)).Draw(t, "vouchers"))
			if b.Kind == fleet.BillUsage {
				whole, vouchers = whole+b.Amount.Micros, vouchers+b.Vouchers.Micros
			} else {
				apart += b.Amount.Micros
			}
			items = append(items, b)
		}
		known := of(fleet.KindDisk, "x").at(0, "state", "there").at(0, "price", "1.234567 CNY")
		days := compared(readOf(5, 6*day, items...), []ledger.History{known.h}, ledger.BillQuery{
			From: begin(), To: after(5 * day), Now: after(5 * day), Zone: time.UTC, Lag: billLag,
		})
		var billed, paid, kept, rows, reckoned int64
		for _, d := range days {
			billed, paid, reckoned = billed+d.Billed.Micros, paid+d.Vouchers.Micros, reckoned+d.Reckoned.Micros
			kept += d.Refunded.Micros + d.Bought.Micros
			for _, r := range d.Rows {
				if r.Judgement != ledger.Refund && r.Judgement != ledger.Bought {
					rows += r.Billed.Micros
				}
			}
		}
		if billed != whole || rows != whole || paid != vouchers || kept != apart {
			t.Errorf("billed %d, rows %d, want %d; vouchers %d, want %d; apart %d, want %d", billed, rows, whole, paid, vouchers, kept, apart)
		}
		if want := int64(5 * 24 * 1_234_567); reckoned != want {
			t.Errorf("reckoned %d, want %d", reckoned, want)
		}
		var byItem int64
		for _, s := range ledger.SumBill(days) {
			byItem += s.Billed.Micros
			if s.Gap.Micros != s.Billed.Micros-s.Reckoned.Micros {
				t.Errorf("%s: %+v", s.Item, s)
			}
		}
		if byItem != whole {
			t.Errorf("by item %d, want %d", byItem, whole)
		}
	})
}
