package policies

import (
	"time"

	"curfew/fleet"
)

// Left says what is left of an account's money and for how long that lasts, as it was
// last told, and when that was. False where it never was.
func (a Account) Left() (what fleet.Reason, at time.Time, ok bool) {
	if !a.Tells || len(a.Wallet) == 0 {
		return fleet.Reason{}, time.Time{}, false
	}
	last := a.Wallet[len(a.Wallet)-1]
	p := purse{account: a, read: true, known: true, last: last}
	return p.say(), last.SeenAt, true
}

// Spent is how much of the budget a group has spent: in the limit's currency, and in
// whole percents of it, rounded down.
func (b Budget) Spent(g Group) (spent fleet.Money, percent int64) {
	spent = g.Sum.In(b.Limit.Currency)
	return spent, percentOf(spent, b.Limit)
}

// Whose names a group of the budget; zero where it is everything.
func (b Budget) Whose(g Group) fleet.Value {
	if b.By == "" {
		return fleet.Value{}
	}
	return b.whose(g)
}
