package app

import (
	"testing"
	"time"

	"curfew/fleet"
)

// What a wallet holds in one currency may leave the other part without any.
func TestAWalletIsReadInOneCurrency(t *testing.T) {
	yuan, none, usd := fleet.CNY(5_000_000), fleet.Money{}, fleet.Money{Micros: 1, Currency: "USD"}
	for _, c := range []struct {
		w      fleet.Wallet
		usable fleet.Money
		ok     bool
	}{
		{fleet.Wallet{Cash: yuan}, yuan, true},
		{fleet.Wallet{Vouchers: yuan}, yuan, true},
		{fleet.Wallet{Cash: fleet.CNY(0), Vouchers: fleet.Money{Currency: "USD"}}, fleet.CNY(0), true},
		{fleet.Wallet{Cash: yuan, Vouchers: yuan}, fleet.CNY(10_000_000), true},
		{fleet.Wallet{Cash: yuan, Vouchers: usd}, none, false},
	} {
		r, ok := readingOf(c.w, time.Now())
		if ok != c.ok || ok && r.Usable() != c.usable {
			t.Errorf("%+v: %v %v", c.w, r.Usable(), ok)
		}
	}
}
