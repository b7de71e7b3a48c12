package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
)

// Line is what one thing has cost since it was added, to the millionth.
type Line struct {
	Account string
	Ref     fleet.Ref // without an account
	Cost    fleet.Money
}

// Bill gives a line for everything that was ever in the cloud, and for what was put on
// it by hand. The lines of an account sum up to exactly what its wallet has lost.
func (c *Cloud) Bill() []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	var lines []Line
	for _, m := range c.machines {
		lines = append(lines, Line{Account: m.account.Name, Ref: c.ref(m), Cost: m.cost(now)})
	}
	for _, r := range c.resources {
		lines = append(lines, Line{Account: r.account.Name, Ref: r.ref(), Cost: r.cost(now)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.accounts)) {
		a := c.accounts[name]
		for _, b := range a.extras {
			lines = append(lines, Line{Account: a.Name, Ref: b.Ref, Cost: b.Amount})
		}
	}
	return lines
}

// TopUp adds cash to an account's wallet.
func (c *Cloud) TopUp(account string, amount fleet.Money) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	a := c.accounts[account]
	if a == nil {
		return fmt.Errorf("sim: no account %s to top up", account)
	}
	if amount.Currency != a.Cash.Currency {
		return fmt.Errorf("sim: account %s: %w", account, fleet.ErrCurrency)
	}
	a.topUps = append(a.topUps, topUp{at: now, amount: amount})
	return nil
}

// span is a time in which one price runs without a break.
type span struct {
	from, to time.Time
	perHour  fleet.Money
	billing  fleet.Billing
}

// spans cuts the life of an instance, from when it was added until t, by what it
// was billed. The full price runs from the accepted start until stopped, or
// until released where a stop does not end it; after a stop the rest runs until
// released.
func (m *machine) spans(t time.Time) []span {
	if m.spec.Charge == fleet.ChargePeriod {
		return nil
	}
	var out []span
	full := false // of the state before, for releasing
	for n, mo := range m.moments {
		from, to := mo.at, t
		if n+1 < len(m.moments) && m.moments[n+1].at.Before(t) {
			to = m.moments[n+1].at
		}
		if from.Before(m.added) {
			from = m.added
		}
		switch mo.state {
		case fleet.StateStarting, fleet.StateRunning, fleet.StateStopping:
			full = true
		case fleet.StateStopped:
			full = m.spec.StopEndsBilling == "no"
		case fleet.StateReleasing:
		default: // creating, failed and released cost nothing
			if to.After(from) {
				out = append(out, span{from: from, to: to})
			}
			full = false
			continue
		}
		if !to.After(from) {
			if !full {
				out = append(out, span{from: from, to: from})
			}
			continue
		}
		s := span{from: from, to: to, perHour: m.spec.StillCosts, billing: fleet.BillingPerSecond}
		if full {
			s.perHour, s.billing = m.spec.Price, m.spec.Billing
		}
		if last := len(out) - 1; last >= 0 && out[last].perHour == s.perHour && out[last].billing == s.billing && out[last].to.Equal(s.from) {
			out[last].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

func (m *machine) cost(t time.Time) fleet.Money {
	return m.account.sum(m.spans(t))
}

// spans cuts the life of what is billed beside instances, from when it was added
// and ready until t, by whether it was attached.
func (r *resource) spans(t time.Time) []span {
	ready, _ := r.readyAt()
	if ready.IsZero() || r.spec.Charge == fleet.ChargePeriod {
		return nil
	}
	if gone := r.goneAt(); !gone.IsZero() && gone.Before(t) {
		t = gone
	}
	var out []span
	add := func(from, to time.Time, perHour fleet.Money) {
		if from.Before(r.added) {
			from = r.added
		}
		if from.Before(ready) {
			from = ready
		}
		if to.After(t) {
			to = t
		}
		if !to.After(from) {
			return
		}
		if last := len(out) - 1; last >= 0 && out[last].perHour == perHour && out[last].to.Equal(from) {
			out[last].to = to
			return
		}
		out = append(out, span{from: from, to: to, perHour: perHour, billing: fleet.BillingPerSecond})
	}
	for n, h := range r.hops {
		end := t
		if n+1 < len(r.hops) {
			end = r.hops[n+1].at
		}
		if h.to == nil {
			add(h.at, end, r.spec.Price)
			continue
		}
		left := end
		if released := h.to.released(); !released.IsZero() && released.Before(end) {
			left = released
		}
		add(h.at, left, r.attachedPrice())
		add(left, end, r.spec.Price)
	}
	return out
}

func (r *resource) cost(t time.Time) fleet.Money { return r.account.sum(r.spans(t)) }

func (a *account) sum(spans []span) fleet.Money {
	sum := fleet.Money{Currency: a.Cash.Currency}
	for _, s := range spans {
		sum.Micros += charge(s.perHour, s.billing, s.to.Sub(s.from))
	}
	return sum
}

func charge(perHour fleet.Money, billing fleet.Billing, d time.Duration) int64 {
	amount, _ := fleet.Price{PerHour: perHour, Billing: billing, Source: fleet.PriceProvider}.For(d)
	return amount.Micros
}

// wallet is what an account has left at t: vouchers go first, then cash, which
// may fall below nothing.
func (c *Cloud) wallet(a *account, t time.Time) fleet.Wallet {
	currency := a.Cash.Currency
	var spent int64
	for _, m := range c.machines {
		if m.account == a {
			spent += m.cost(t).Micros
		}
	}
	for _, r := range c.resources {
		if r.account == a {
			spent += r.cost(t).Micros
		}
	}
	for _, b := range a.extras {
		if !b.SettledAt.After(t) {
			spent += b.Amount.Micros
		}
	}
	w := fleet.Wallet{
		Cash:     a.Cash,
		Vouchers: fleet.Money{Micros: max(a.Vouchers.Micros-spent, 0), Currency: currency},
		Credit:   fleet.Money{Micros: a.Credit.Micros, Currency: currency},
		Spent:    fleet.Money{Micros: spent, Currency: currency},
		AsOf:     t,
	}
	for _, up := range a.topUps {
		if !up.at.After(t) {
			w.Cash.Micros += up.amount.Micros
		}
	}
	w.Cash.Micros -= max(spent-a.Vouchers.Micros, 0)
	return w
}

// left is everything an account can still spend.
func (c *Cloud) left(a *account, t time.Time) fleet.Money {
	w := c.wallet(a, t)
	return fleet.Money{Micros: w.Cash.Micros + w.Vouchers.Micros + w.Credit.Micros, Currency: w.Cash.Currency}
}

// forceStops stops everything of each account that ran out of money between the
// last call and now, to the millisecond.
func (c *Cloud) forceStops(now time.Time) {
	for _, a := range c.accounts {
		if c.left(a, now).Micros > 0 {
			continue
		}
		// Nothing was topped up or started since the last call, so money only fell.
		at := c.seen
		if c.left(a, at).Micros > 0 {
			lo, hi := time.Duration(0), now.Sub(c.seen)
			for hi-lo > time.Millisecond {
				mid := (lo + hi) / 2
				if c.left(a, c.seen.Add(mid)).Micros > 0 {
					lo = mid
				} else {
					hi = mid
				}
			}
			at = c.seen.Add(hi)
		}
		for _, m := range c.machines {
			if m.account != a || !m.stateAt(at).Up() {
				continue
			}
			m.forget(at)
			c.stopAt(m, at)
			c.effects = append(c.effects, Effect{At: at, Op: "stop", Account: a.Name, Ref: c.ref(m), By: ByPlatform})
		}
	}
}
