package policies_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// A reading of later than now is of before the clock was put back, and says nothing of
// how old it is.
func TestAWalletReadLaterThanNowIsNotKnown(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	b := policies.Balance{
		Common:  policies.Common{Name: "purse", Match: func(fleet.Instance) (bool, error) { return true, nil }, Terms: fleet.Terms{Mode: fleet.Enforce}},
		Watches: func(string, string) bool { return true }, MaxAge: 15 * time.Minute,
		Levels: []policies.Level{{Below: fleet.CNY(20_000_000), Then: policies.StopAll}},
	}
	i := fleet.Instance{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}, State: fleet.StateRunning, Boot: "1",
		OnStop: fleet.OnStop{KeepsData: fleet.KeepsAll},
	}
	for _, c := range []struct {
		off  time.Duration
		goal fleet.Action
	}{{0, fleet.Stop}, {time.Second, fleet.Stop}, {-14 * time.Minute, fleet.Stop}, {-15 * time.Minute, fleet.Keep}, {72 * time.Hour, fleet.Keep}} {
		at := now.Add(c.off)
		account := policies.Account{
			Ref: fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab"}, Name: "lab", Tells: true,
			Wallet: []policies.Reading{{At: at, SeenAt: at, Cash: fleet.CNY(10_000_000), Vouchers: fleet.CNY(0)}},
		}
		v := policies.View{Now: now, Due: now, Things: policies.Things{Instances: []fleet.Instance{i}}, Accounts: map[string]policies.Account{"lab": account}}
		got := b.Decide(v).Verdicts
		if len(got) != 1 || got[0].Goal != c.goal || got[0].Gap != (c.goal == fleet.Keep) {
			t.Errorf("read %s from now: %+v", c.off, got)
		}
	}
}
