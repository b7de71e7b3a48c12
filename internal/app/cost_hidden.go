package app

import (
	"context"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
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
	var b books
	wallets, err := a.store.Wallets(ctx)
	if err == nil && len(wallets) > 0 { // else there is nothing to compare, and much to read
		b, err = a.readBooks(ctx, rt)
	}
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("wallets are not compared with the ledger, will be tried again")
		}
		return a.cost.found
	}
	a.cost.at, a.cost.found = now, nil
	for _, c := range b.check(rt, now.Add(-hiddenDays), now, now) {
		for _, d := range c.Days {
			if d.Judgement == ledger.Hidden {
				a.cost.found = append(a.cost.found, hiddenFinding(c, d))
			}
		}
	}
	return a.cost.found
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
