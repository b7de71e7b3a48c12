package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
)

// BillItems reads the account's bill. By the second, what is used is settled at each
// full hour of the clock and when it ends; by the hour, each started hour when it is
// over. What still goes on is not on it. The items of everything that has come to its
// end sum up to exactly its lines in [Cloud.Bill].
func (p *provider) BillItems(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error) {
	var out []fleet.BillItem
	err := p.read(ctx, "bill", fleet.Ref{}, func(f *Fault, now time.Time) error {
		shown := now.Add(-max(p.cloud.timing.BillLag, 0))
		if f != nil && f.Kind == LateItems {
			shown = shown.Add(-24 * time.Hour)
		}
		for _, b := range p.cloud.items(p.account, now) {
			if !b.From.Before(from) && b.From.Before(to) && !b.SettledAt.After(shown) {
				out = append(out, b)
			}
		}
		out = shorten(f, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Charge puts an item on an account's bill that follows from nothing in the cloud: a
// refund, a period that was bought, traffic, what no list shows. It is settled now
// unless it says when, and its money leaves the wallet, or comes back, at that moment.
func (c *Cloud) Charge(account string, b fleet.BillItem) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	a := c.accounts[account]
	switch {
	case a == nil:
		return fmt.Errorf("sim: no account %s to charge", account)
	case b.Amount.Currency != a.Cash.Currency || !b.Vouchers.IsZero() && b.Vouchers.Currency != a.Cash.Currency:
		return fmt.Errorf("sim: account %s: %w", account, fleet.ErrCurrency)
	case !b.From.Before(b.To):
		return fmt.Errorf("sim: account %s: an item from %s to %s is for no time", account, b.From, b.To)
	}
	b.Item, b.Kind = cmp.Or(b.Item, fleet.ItemOther), cmp.Or(b.Kind, fleet.BillUsage)
	if b.SettledAt.IsZero() {
		b.SettledAt = now
	}
	a.extras = append(a.extras, b)
	return nil
}

// items gives everything that was settled for an account until now, in that order.
func (c *Cloud) items(a *account, now time.Time) []fleet.BillItem {
	out := slices.Clone(a.extras)
	for _, m := range c.machines {
		if m.account == a {
			out = append(out, settled(c.ref(m), fleet.ItemInstance, m.spans(now), now)...)
		}
	}
	for _, r := range c.resources {
		if r.account == a {
			out = append(out, settled(r.ref(), itemOf(r.kind), r.spans(now), now)...)
		}
	}
	out = slices.DeleteFunc(out, func(b fleet.BillItem) bool { return b.SettledAt.After(now) })
	slices.SortStableFunc(out, func(x, y fleet.BillItem) int {
		return cmp.Or(x.SettledAt.Compare(y.SettledAt), x.From.Compare(y.From), fleet.CompareRefs(x.Ref, y.Ref))
	})
	left := a.Vouchers.Micros
	for n := range out {
		b := &out[n]
		b.Amount.Currency = a.Cash.Currency
		if b.Vouchers.IsZero() && b.Amount.Micros > 0 {
			b.Vouchers = fleet.Money{Micros: min(b.Amount.Micros, max(left, 0)), Currency: a.Cash.Currency}
		}
		left -= b.Vouchers.Micros
	}
	return out
}

func itemOf(k fleet.ThingKind) fleet.Item {
	switch k {
	case fleet.KindDisk:
		return fleet.ItemDisk
	case fleet.KindPublicIP:
		return fleet.ItemIP
	}
	return fleet.ItemSnapshot
}

// settled cuts spans into what was settled until now. Each piece by the second is the
// difference of two sums from the begin of its span, so that the pieces add up to what
// the span cost, to the millionth.
func settled(ref fleet.Ref, item fleet.Item, spans []span, now time.Time) []fleet.BillItem {
	var out []fleet.BillItem
	for _, s := range spans {
		var before int64
		for from := s.from; from.Before(s.to); {
			to := from.Truncate(time.Hour).Add(time.Hour)
			if s.billing == fleet.BillingPerHour {
				to = from.Add(time.Hour)
			}
			if !to.Before(s.to) {
				to = s.to
			}
			if !to.Before(now) {
				break // it may still go on
			}
			sum := charge(s.perHour, s.billing, to.Sub(s.from))
			if sum != before {
				out = append(out, fleet.BillItem{
					Ref: ref, Item: item, Kind: fleet.BillUsage, From: from, To: to,
					Amount: fleet.Money{Micros: sum - before}, SettledAt: to,
				})
			}
			before, from = sum, to
		}
	}
	return out
}
