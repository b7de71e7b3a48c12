package providertest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/providers"
)

// billed is the begin of the day whose bill the checks ask for. Nothing that Add or
// AddResource gives was there then.
func billed() time.Time { return time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC) }

// billFor is an item of that day.
func billFor(ref fleet.Ref, from, to time.Duration, micros int64) fleet.BillItem {
	return fleet.BillItem{
		Ref: ref, Item: fleet.ItemInstance, Kind: fleet.BillUsage,
		From: billed().Add(from), To: billed().Add(to), Amount: fleet.CNY(micros), SettledAt: billed().Add(to),
	}
}

func bills() []check {
	can := []providers.Capability{providers.CanBills}
	return []check{
		{name: "an account that used nothing has an empty bill, without an error", can: can, test: func(s *session) {
			if items := s.bill(0, 24*time.Hour); len(items) != 0 {
				s.Errorf("the bill holds %d items, want none", len(items))
			}
		}},
		{name: "a bill says of each item what it is for, and keeps cash, vouchers and refunds apart", can: can, test: func(s *session) {
			ref := s.add()
			part := billFor(ref, 0, time.Hour, 1_980_000)
			part.Vouchers = fleet.CNY(500_000)
			back := billFor(ref, time.Hour, 2*time.Hour, -1_230_001)
			back.Kind = fleet.BillRefund
			month := billFor(ref, 2*time.Hour, 24*30*time.Hour, 720_000_000)
			month.Kind, month.SettledAt = fleet.BillPrepaid, month.From
			traffic := billFor(fleet.Ref{}, 3*time.Hour, 4*time.Hour, 120_000)
			traffic.Item = fleet.ItemTraffic
			s.wantBill(0, 24*time.Hour, s.addBills(part, back, month, traffic)...)
		}},
		{name: "bills of times that follow each other hold each item once", can: can, test: func(s *session) {
			ref := s.add()
			first, over, second := billFor(ref, 0, time.Hour, 1), billFor(ref, 11*time.Hour, 13*time.Hour, 2), billFor(ref, 12*time.Hour, 24*time.Hour, 3)
			after := billFor(ref, 24*time.Hour, 25*time.Hour, 4)
			all := s.addBills(first, over, second, after)
			s.wantBill(0, 12*time.Hour, all[:2]...)
			s.wantBill(12*time.Hour, 24*time.Hour, all[2])
			s.wantBill(0, 24*time.Hour, all[:3]...)
			s.wantBill(24*time.Hour, 48*time.Hour, all[3])
		}},
		{name: "a bill longer than a page is whole", needs: []Behaviour{Pages}, can: can, test: func(s *session) {
			s.wantPageSize()
			var all []fleet.BillItem
			for _, n := range []int{s.PageSize, s.PageSize + 1, 2*s.PageSize + 1} {
				for len(all) < n {
					at := time.Duration(len(all)) * time.Minute
					all = append(all, s.addBills(billFor(s.add(), at, at+time.Minute, 1_000_000+int64(n)))...)
				}
				s.wantBill(0, 24*time.Hour, all...)
			}
		}},
		{name: "a bill whose second page fails is an error and no part", needs: []Behaviour{Pages}, can: can, test: func(s *session) {
			s.wantPageSize()
			for n := range s.PageSize + 1 {
				at := time.Duration(n) * time.Minute
				s.addBills(billFor(s.add(), at, at+time.Minute, 1_000_000))
			}
			s.Break(Fault{Kind: ServerError, Op: opBill, After: 1})
			items, err := s.tryBill(0, 24*time.Hour)
			s.wantKind("a bill whose second page fails", err, fleet.Transient)
			if len(items) != 0 {
				s.Errorf("the failed bill gives %d items, want none", len(items))
			}
		}},
		{name: "a bill shorter than the platform's own total is an error", needs: []Behaviour{ShortPages}, can: can, test: func(s *session) {
			ref := s.add()
			s.addBills(billFor(ref, 0, time.Hour, 1_000_000), billFor(ref, time.Hour, 2*time.Hour, 1_000_000))
			s.Break(Fault{Kind: ShortList, Op: opBill})
			items, err := s.tryBill(0, 24*time.Hour)
			if err == nil || len(items) != 0 {
				s.Errorf("one of two items left out: got %d items and error %v, want an error and none", len(items), err)
			}
		}},
		{name: "the kind says how late its bill is", can: can, test: func(s *session) {
			if s.opts.Kind.BillLag <= 0 {
				s.Error("Kind.BillLag is not set: nobody knows when a day's bill is complete")
			}
		}},
	}
}

const opBill = "bill"

func (s *session) wantPageSize() {
	s.Helper()
	if s.PageSize < 1 {
		s.Fatal("the fake gives no PageSize; set it, or name Pages in Lacks")
	}
}

// addBills puts items on the bill, waits until it shows them, and gives them as they
// are to be read.
func (s *session) addBills(items ...fleet.BillItem) []fleet.BillItem {
	s.Helper()
	for _, b := range items {
		s.AddBill(b)
	}
	s.Settle()
	return items
}

func (s *session) tryBill(from, to time.Duration) ([]fleet.BillItem, error) {
	s.Helper()
	var items []fleet.BillItem
	err := within(s, opBill, func(ctx context.Context) (err error) {
		items, err = s.Account.BillItems(ctx, billed().Add(from), billed().Add(to))
		return err
	})
	return items, err
}

// bill reads a bill, and checks what holds for every one.
func (s *session) bill(from, to time.Duration) []fleet.BillItem {
	s.Helper()
	items, err := s.tryBill(from, to)
	if err != nil {
		s.Fatalf("bill from %s to %s: %v", billed().Add(from), billed().Add(to), err)
	}
	for n, b := range items {
		where := fmt.Sprintf("item %d of the bill (%s, %s)", n, b.Ref, b.Item)
		if !b.From.Before(b.To) {
			s.Errorf("%s is from %s to %s, which is no time", where, b.From, b.To)
		}
		if b.From.Before(billed().Add(from)) || !b.From.Before(billed().Add(to)) {
			s.Errorf("%s begins at %s, outside of the time asked for", where, b.From)
		}
		if !slices.Contains(fleet.Items(), b.Item) {
			s.Errorf("%s is for %q, which is none of fleet.Items", where, b.Item)
		}
		if !slices.Contains([]fleet.BillKind{fleet.BillUsage, fleet.BillPrepaid, fleet.BillRefund}, b.Kind) {
			s.Errorf("%s is of kind %q", where, b.Kind)
		}
		if len(b.Amount.Currency) != 3 || b.Amount.Currency != items[0].Amount.Currency {
			s.Errorf("%s is of %s, and the first of %s: a bill has one currency", where, b.Amount, items[0].Amount)
		}
		if !b.Vouchers.IsZero() && b.Vouchers.Currency != b.Amount.Currency {
			s.Errorf("%s is of %s, and %s of it vouchers", where, b.Amount, b.Vouchers)
		}
		if a := b.Ref.Account; a != "" && a != s.Account.Identity {
			s.Errorf("%s holds account %q, want nothing or the identity %q", where, a, s.Account.Identity)
		}
	}
	s.checkValue("the bill", items)
	return items
}

// wantBill checks that a bill holds exactly these items, in any order. Whether a
// reference carries an incarnation, and when an item was settled, is up to the
// platform.
func (s *session) wantBill(from, to time.Duration, want ...fleet.BillItem) {
	s.Helper()
	plain := func(items []fleet.BillItem) []fleet.BillItem {
		out := slices.Clone(items)
		for n := range out {
			out[n].Ref.Account, out[n].Ref.Incarnation, out[n].SettledAt = "", "", time.Time{}
			out[n].From, out[n].To = out[n].From.UTC(), out[n].To.UTC()
			if out[n].Vouchers.IsZero() {
				out[n].Vouchers = fleet.Money{}
			}
		}
		return out
	}
	inOrder := cmpopts.SortSlices(func(a, b fleet.BillItem) bool { return a.From.Before(b.From) })
	if diff := cmp.Diff(plain(want), plain(s.bill(from, to)), inOrder, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("the bill from %s to %s (-want +got):\n%s", billed().Add(from).Format(time.DateTime), billed().Add(to).Format(time.DateTime), diff)
	}
}
