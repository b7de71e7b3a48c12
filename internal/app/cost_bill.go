package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/store"
)

// The reasons of findings about what a platform billed.
const (
	ReasonBilledMore fleet.Code = "app.billed-more"

	reasonBilledInstance fleet.Code = "app.billed.instance"
	reasonBilledDisk     fleet.Code = "app.billed.disk"
	reasonBilledSnapshot fleet.Code = "app.billed.snapshot"
	reasonBilledIP       fleet.Code = "app.billed.ip"
	reasonBilledTraffic  fleet.Code = "app.billed.traffic"
	reasonBilledOther    fleet.Code = "app.billed.other"
)

const (
	// billTold is for how long after its bill was complete a day is still told of.
	billTold = 48 * time.Hour
	// billSpill is how long before a day a use may have begun that is billed in it.
	billSpill = 31 * 24 * time.Hour
)

// billed is what was last found when bills were compared with the ledger.
type billed struct {
	mu    sync.Mutex
	at    time.Time
	found []fleet.Finding
}

// billFindings says of which accounts more was billed for a day than curfew reckoned.
// It keeps what it found until another bill is read, or for a while.
func (a *App) billFindings(ctx context.Context, rt *runtime, now time.Time) []fleet.Finding {
	a.billed.mu.Lock()
	defer a.billed.mu.Unlock()
	if !a.billed.at.IsZero() && now.Sub(a.billed.at).Abs() < hiddenEvery {
		return a.billed.found
	}
	found, err := a.compareBills(ctx, rt, now)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("bills are not compared with the ledger, will be tried again")
		}
		return a.billed.found
	}
	a.billed.at, a.billed.found = now, found
	return found
}

// compareBills reads the history of everything, a thing at a time: there may be much
// of it.
func (a *App) compareBills(ctx context.Context, rt *runtime, now time.Time) ([]fleet.Finding, error) {
	from := now
	for _, acc := range rt.accounts {
		if p, ok := acc.opened(); ok && p.BillItems != nil {
			from = earlier(from, midnight(now.Add(-p.Kind.BillLag-billTold), rt.cfg.Timezone).AddDate(0, 0, -1))
		}
	}
	bills, err := a.store.Bills(ctx, from.Add(-billSpill))
	if err != nil || len(bills) == 0 { // then there is nothing to compare
		return nil, err
	}
	wallets, err := a.store.Wallets(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	checkers := newBillCheckers(rt, bills, wallets, from, now, now)
	named := map[fleet.Ref]string{}
	if err := a.store.EachThing(ctx, func(t store.Thing) error {
		named[t.Instance.Ref] = t.Instance.DisplayName()
		return nil
	}); err != nil {
		return nil, err
	}
	if err := a.store.EachResource(ctx, func(r store.Resource) error {
		named[r.Resource.Ref] = r.Resource.DisplayName()
		return nil
	}); err != nil {
		return nil, err
	}
	if err := a.eachHistory(ctx, func(h ledger.History) error {
		h.Name = named[h.Ref]
		checkers.add(h)
		return nil
	}); err != nil {
		return nil, err
	}
	var found []fleet.Finding
	for _, c := range checkers.done() {
		for _, d := range c.Days {
			if gap, rows := d.Excess(); !gap.IsZero() && len(rows) > 0 && now.Before(d.To.Add(c.Lag+billTold)) {
				found = append(found, billFinding(c, d, rows))
			}
		}
	}
	return found, nil
}

func billFinding(c ctl.BillCheck, d ledger.BillDay, rows []ledger.BillRow) fleet.Finding {
	slices.SortStableFunc(rows, func(a, b ledger.BillRow) int { return cmp.Compare(b.Gap.Micros, a.Gap.Micros) })
	first := rows[0]
	v := fleet.Values{
		"account": fleet.Text(c.Account), "day": fleet.Text(d.Day),
		"billed": fleet.Amount(first.Billed.Round()), "ledger": fleet.Amount(first.Reckoned.Round()),
		"all": fleet.Amount(d.Billed.Round()), "known": fleet.Amount(d.Reckoned.Round()), "item": fleet.Nested(itemReason(first.Item)),
	}
	if !first.Ref.IsZero() {
		v["name"] = fleet.Text(billedName(first))
	}
	if first.Judgement == ledger.Stranger {
		v["unknown"] = fleet.Text("yes")
	}
	if !d.Vouchers.IsZero() {
		v["vouchers"] = fleet.Amount(d.Vouchers.Round())
	}
	var others []string
	for _, r := range rows[1:] {
		if !r.Ref.IsZero() {
			others = append(others, billedName(r)+" "+r.Gap.Round().String())
		}
	}
	if len(others) > 0 {
		v["others"] = fleet.Text(strings.Join(others[:min(len(others), keptNamed)], ", "))
	}
	return fleet.Finding{
		Ref:      fleet.Ref{Account: c.Identity, Kind: fleet.KindAccount, ID: c.Account},
		Severity: fleet.Warning, Category: fleet.CategoryMoney, Condition: "billed-more", Period: d.Day,
		Reason: fleet.Because(ReasonBilledMore, v),
	}
}

// billedName names a resource by its name, where curfew knows it, and by its id.
func billedName(r ledger.BillRow) string {
	if r.Name == "" || r.Name == r.Ref.ID {
		return r.Ref.ID
	}
	return r.Name + " (" + r.Ref.ID + ")"
}

func itemReason(i fleet.Item) fleet.Reason {
	switch i {
	case fleet.ItemInstance:
		return fleet.Because(reasonBilledInstance, nil)
	case fleet.ItemDisk:
		return fleet.Because(reasonBilledDisk, nil)
	case fleet.ItemSnapshot:
		return fleet.Because(reasonBilledSnapshot, nil)
	case fleet.ItemIP:
		return fleet.Because(reasonBilledIP, nil)
	case fleet.ItemTraffic:
		return fleet.Because(reasonBilledTraffic, nil)
	}
	return fleet.Because(reasonBilledOther, nil)
}
