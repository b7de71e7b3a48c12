package ctl_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
)

func (f *fake) Cost(_ context.Context, q ctl.CostQuery) (ctl.CostAnswer, error) {
	f.asked = q
	return costAnswer(), f.err
}

func costAnswer() ctl.CostAnswer {
	sums := fleet.Sums{fleet.CNY(1_980_000), {Micros: 5, Currency: "USD"}}
	return ctl.CostAnswer{
		Now: at(30),
		Costs: ledger.Costs{
			From: at(0), To: at(30), By: ledger.ByOwner, Since: at(1), Total: sums, Prepaid: sums, Configured: sums,
			Items:   map[ledger.Item]fleet.Sums{ledger.ItemDisk: sums},
			Rows:    []ledger.Row{{Key: "王", Name: "王", Items: map[ledger.Item]fleet.Sums{ledger.ItemDisk: sums}, Total: sums, Time: time.Hour, Unknown: time.Minute}},
			Unknown: []ledger.UnknownCost{{Ref: ref(), Name: "exp-1", Account: "lab", Item: ledger.ItemInstance, Why: ledger.UnknownPrice, For: time.Minute}},
			Busy:    time.Hour, BusyHour: sums,
		},
		Saved:  ledger.Saved{Sums: sums, Stops: 2, For: time.Hour, Untold: 1},
		Stale:  []ctl.StaleAccount{{Account: "lab", At: at(2)}},
		Checks: []ctl.WalletCheck{{Account: "lab", Identity: "sim:u-lab", Kept: []string{"d"}, Days: []ledger.DayCheck{{Day: "2026-11-30", From: at(0), To: at(9), Judgement: ledger.Hidden}}}},
		Bills: []ctl.BillCheck{{
			Account: "lab", Identity: "sim:u-lab", Lag: time.Hour,
			Items: []ledger.BillSum{{Item: ledger.ItemDisk, Billed: fleet.CNY(3), Vouchers: fleet.CNY(1), Reckoned: fleet.CNY(2), Gap: fleet.CNY(1)}},
			Days: []ledger.BillDay{{
				Day: "2026-11-30", From: at(0), To: at(9), ReadAt: at(20), Billed: fleet.CNY(3), Refunded: fleet.CNY(-1), Judgement: ledger.More,
				Rows: []ledger.BillRow{{Ref: ref(), Name: "exp-1", Item: ledger.ItemDisk, Billed: fleet.CNY(3), Moved: fleet.CNY(2), Judgement: ledger.Stranger}},
			}},
		}},
	}
}

func TestWhatThingsCostArrivesAsItWasReckoned(t *testing.T) {
	asked := ctl.CostQuery{From: at(0), To: at(30), By: ledger.ByOwner, Check: true}
	f := &fake{}
	got, err := serve(t, f).Cost(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(costAnswer(), got); diff != "" {
		t.Errorf("answer (-given +arrived):\n%s", diff)
	}
	if diff := cmp.Diff(any(asked), f.asked); diff != "" {
		t.Errorf("question (-asked +arrived):\n%s", diff)
	}
	if _, err := serve(t, &fake{err: errors.New("no")}).Cost(t.Context(), asked); err == nil || err.Error() != "no" {
		t.Errorf("the daemon said no, and %v arrived", err)
	}
	asked.By = "weather"
	if _, err := serve(t, &fake{}).Cost(t.Context(), asked); err == nil || err.Error() != `by: costs are not grouped by "weather"` {
		t.Errorf("grouped by weather: %v", err)
	}
}
