package policies

import (
	"time"

	"curfew/fleet"
)

// Account is what is known of the money of one account. A policy about money is asked
// about accounts once a pass, and about instances with their accounts at hand.
type Account struct {
	Ref      fleet.Ref // of kind account; its ID is the name in the configuration
	Name     string
	Provider string
	Mode     fleet.Mode // dry-run: nothing is done there; zero: as the policy says
	// Wallet is what the platform told that is left, oldest first, as far back as a day
	// and a half; none: it was never told. Tells is whether the platform has such a call.
	Wallet []Reading
	Tells  bool
	Burn   Burn
	// AtZero says what the platform does when nothing is left; zero: that is not known.
	AtZero fleet.Reason
}

// Reading is what a wallet held from the first reading that showed it to the last.
type Reading struct {
	At, SeenAt     time.Time
	Cash, Vouchers fleet.Money
}

// Usable is what can be spent: cash, and vouchers that are usable now.
func (r Reading) Usable() fleet.Money {
	m := r.Cash
	m.Micros += r.Vouchers.Micros // of one currency, as the state keeps them
	return m
}

// Burn is what everything costs by the hour now, by prices and states and not by
// bills, which are late. What was paid before by the period is not in it.
type Burn struct {
	PerHour  fleet.Sums
	Running  int // instances
	Unpriced int // of these, and of what is billed beside them, those whose price nobody told
}

// Tally is what the things that a budget is about have cost in its present period.
type Tally struct {
	From, To time.Time // the period
	At       time.Time // when it was reckoned
	Since    time.Time // where what is known begins in the period; zero: it is known from its begin
	Groups   []Group   // in the order of their keys
}

// Group is the part of a tally that is one account's, one owner's, or all.
type Group struct {
	Key  string // the account's identity, the owner, or empty
	Name string // as people call it
	Sum  fleet.Sums
	// Lately is what was spent in the LatelyFor before At, up to a week, also of an
	// earlier period: what a forecast goes by.
	Lately    fleet.Sums
	LatelyFor time.Duration
	Unknown   int // things whose cost in the period is not known, or only in part
}
