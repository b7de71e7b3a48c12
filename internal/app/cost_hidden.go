package app

import (
	"context"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/store"
)

// The reasons of findings about what left a wallet.
const (
	ReasonHiddenCharge fleet.Code = "app.hidden-charge"
	reasonKeptNames    fleet.Code = "app.kept-names"
)

const (
	// hiddenEvery is how often wallets are compared with the ledger: a day is judged
	// once, some time after its end.
	hiddenEvery = time.Hour
	// hiddenDays is how far back a day is still told of.
	hiddenDays = 48 * time.Hour
	// keptNamed is how many of the things that are stopped or kept are named.
	keptNamed = 8
)

// cost is what was last found when wallets were compared with the ledger.
type cost struct {
	mu    sync.Mutex
	at    time.Time
	found []fleet.Finding
}

// hiddenFindings says of which accounts more left the wallet on a day than anything
// known explains. It keeps what it found for a while.
func (a *App) hiddenFindings(ctx context.Context, rt *runtime, now time.Time) []fleet.Finding {
	a.cost.mu.Lock()
	defer a.cost.mu.Unlock()
	if !a.cost.at.IsZero() && now.Sub(a.cost.at).Abs() < hiddenEvery {
		return a.cost.found
	}
	found, err := a.compareWallets(ctx, rt, now)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("wallets are not compared with the ledger, will be tried again")
		}
		return a.cost.found
	}
	a.cost.at, a.cost.found = now, found
	return found
}

// compareWallets reads the history of everything, a thing at a time: there may be much
// of it.
func (a *App) compareWallets(ctx context.Context, rt *runtime, now time.Time) ([]fleet.Finding, error) {
	wallets, err := a.store.Wallets(ctx, time.Time{})
	if err != nil || len(wallets) == 0 { // then there is nothing to compare
		return nil, err
	}
	checkers := newCheckers(rt, wallets, now.Add(-hiddenDays), now, now)
	if err := a.eachHistory(ctx, func(h ledger.History) error {
		checkers.add(h)
		return nil
	}); err != nil {
		return nil, err
	}
	var found []fleet.Finding
	var kept map[string][]string
	for _, c := range checkers.done() {
		for _, d := range c.Days {
			if d.Judgement != ledger.Hidden {
				continue
			}
			if kept == nil {
				if kept, err = a.keptNames(ctx); err != nil {
					return nil, err
				}
			}
			c.Kept = kept[c.Identity]
			found = append(found, hiddenFinding(c, d))
		}
	}
	return found, nil
}

// keptNames names what is stopped or kept, by account.
func (a *App) keptNames(ctx context.Context) (map[string][]string, error) {
	kept := map[string][]string{}
	err := a.store.EachThing(ctx, func(t store.Thing) error {
		if i := t.Instance; t.GoneAt.IsZero() && i.State == fleet.StateStopped {
			kept[i.Ref.Account] = append(kept[i.Ref.Account], i.DisplayName())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return kept, a.store.EachResource(ctx, func(r store.Resource) error {
		if ref := r.Resource.Ref; r.GoneAt.IsZero() {
			kept[ref.Account] = append(kept[ref.Account], r.Resource.DisplayName())
		}
		return nil
	})
}

func hiddenFinding(c ctl.WalletCheck, d ledger.DayCheck) fleet.Finding {
	v := fleet.Values{
		"account": fleet.Text(c.Account), "day": fleet.Text(d.Day), "gap": fleet.Amount(d.Gap.Round()),
		"fell": fleet.Amount(d.Fell.Round()), "ledger": fleet.Amount(d.Ledger.Round()),
	}
	if !d.Vouchers.IsZero() {
		v["vouchers"] = fleet.Amount(d.Vouchers.Round())
	}
	if len(c.Kept) > 0 {
		v["kept"] = fleet.Nested(fleet.Because(reasonKeptNames, names(c.Kept, keptNamed)))
	}
	return fleet.Finding{
		Ref:      fleet.Ref{Account: c.Identity, Kind: fleet.KindAccount, ID: c.Account},
		Severity: fleet.Warning, Category: fleet.CategoryMoney, Condition: "hidden-charge", Period: d.Day,
		Reason: fleet.Because(ReasonHiddenCharge, v),
	}
}
