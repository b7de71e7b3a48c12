package app

import (
	"context"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/store"
	"curfew/providers"
)

const (
	// billAgain is how long after a bill could not be read it is tried again.
	billAgain = time.Hour
	// billDays is how many days are read again with the newest: items come late.
	billDays = 3
	// billMost is how many days are read at most, after a time in which nobody did.
	billMost = 31
)

// readBill reads the platform's bill once a day, when that of another day is
// complete, with those of the days before. One that cannot be read holds back nothing.
func (a *App) readBill(ctx context.Context, acc *account, p providers.Account) {
	now, zone := a.clock.Now(), a.runtime().cfg.Timezone
	if p.BillItems == nil || now.Sub(acc.billTried).Abs() < billAgain {
		return
	}
	if acc.billAt.IsZero() { // since this daemon began
		read, err := a.store.BillReadAt(ctx, p.Identity)
		if err != nil {
			a.billUnread(ctx, acc, err)
			return
		}
		acc.billAt = read
	}
	complete := midnight(now.Add(-p.Kind.BillLag), zone) // the end of the last day whose bill is complete
	if !acc.billAt.Before(complete.Add(p.Kind.BillLag)) {
		return
	}
	acc.billTried = now
	from, to := complete.AddDate(0, 0, -billDays), midnight(now, zone)
	if last := midnight(acc.billAt, zone).AddDate(0, 0, -1); !acc.billAt.IsZero() && last.Before(from) {
		from = last
	}
	if most := to.AddDate(0, 0, -billMost); from.Before(most) {
		from = most
	}
	items, err := p.BillItems(ctx, from, to)
	if err != nil {
		a.billUnread(ctx, acc, err)
		return
	}
	days, err := byDay(items, from, to, now, zone)
	if err == nil {
		err = a.store.Update(ctx, func(tx *store.Tx) error { return tx.SaveBill(p.Identity, from, to, days) })
	}
	if err != nil {
		a.billUnread(ctx, acc, err)
		return
	}
	acc.billAt = now
	a.billed.mu.Lock()
	defer a.billed.mu.Unlock()
	a.billed.at = time.Time{}
}

func (a *App) billUnread(ctx context.Context, acc *account, err error) {
	if ctx.Err() == nil {
		a.log.Warn().Err(err).Str("account", acc.cfg.Name).Msg("bill cannot be read, will be tried again")
	}
}

// byDay sorts the items of a bill by the day on which their use began.
func byDay(items []fleet.BillItem, from, to, now time.Time, zone *time.Location) ([]store.BilledDay, error) {
	var out []store.BilledDay
	at := map[time.Time]int{}
	for day := from; day.Before(to); day = midnight(day.AddDate(0, 0, 1), zone) {
		at[day] = len(out)
		out = append(out, store.BilledDay{From: day, ReadAt: now, Items: []fleet.BillItem{}})
	}
	for _, b := range items {
		if b.Amount.Currency != items[0].Amount.Currency {
			return nil, fmt.Errorf("bill from %s to %s: %s and %s: %w", from.Format(time.DateOnly), to.Format(time.DateOnly), items[0].Amount, b.Amount, fleet.ErrCurrency)
		}
		n, ok := at[midnight(b.From, zone)]
		if !ok || !b.From.Before(b.To) {
			return nil, fmt.Errorf("bill from %s to %s: it holds an item from %s to %s", from.Format(time.DateOnly), to.Format(time.DateOnly), b.From, b.To)
		}
		out[n].Items = append(out[n].Items, b)
	}
	return out, nil
}

func midnight(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// billCheckers compare the bills of accounts with what they are told of, one thing
// after the other.
type billCheckers struct {
	out []ctl.BillCheck
	of  map[string]*ledger.BillChecker // by the account's identity
}

// newBillCheckers begins the comparison for every configured account whose bill can be
// read. Days of another time zone are left out: they are read again in time.
func newBillCheckers(rt *runtime, bills map[string][]store.BilledDay, wallets map[string][]store.WalletReading, from, to, now time.Time) billCheckers {
	c := billCheckers{of: map[string]*ledger.BillChecker{}}
	for _, acc := range rt.accounts {
		p, ok := acc.opened()
		if !ok || p.BillItems == nil {
			continue
		}
		q := ledger.BillQuery{From: from, To: to, Now: now, Zone: rt.cfg.Timezone, Lag: p.Kind.BillLag, Since: now}
		if all := wallets[p.Identity]; len(all) > 0 {
			q.Since = all[0].At
		}
		var reads []ledger.BillRead
		for _, d := range bills[p.Identity] {
			if d.ReadAt.Before(q.Since) {
				q.Since = d.ReadAt
			}
			if midnight(d.From, rt.cfg.Timezone).Equal(d.From) {
				reads = append(reads, ledger.BillRead(d))
			}
		}
		c.out = append(c.out, ctl.BillCheck{Account: acc.cfg.Name, Identity: p.Identity, Lag: p.Kind.BillLag})
		c.of[p.Identity] = ledger.NewBillChecker(reads, q)
	}
	return c
}

func (c billCheckers) add(h ledger.History) {
	if one, ok := c.of[h.Ref.Account]; ok {
		one.Add(h)
	}
}

func (c billCheckers) done() []ctl.BillCheck {
	for n := range c.out {
		b := &c.out[n]
		b.Days = c.of[b.Identity].Days()
		b.Items = ledger.SumBill(b.Days)
	}
	return c.out
}

// checkBills compares the bill of every configured account that has one with the
// ledger, as far as it was read.
func (a *App) checkBills(ctx context.Context, rt *runtime, b books, from, to, now time.Time) ([]ctl.BillCheck, error) {
	bills, err := a.store.Bills(ctx, from.Add(-billSpill))
	if err != nil {
		return nil, err
	}
	checkers := newBillCheckers(rt, bills, b.wallets, from, to, now)
	for _, h := range b.all {
		checkers.add(h)
	}
	return checkers.done(), nil
}
