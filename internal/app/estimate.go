package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/estimate"
	"curfew/internal/store"
)

// The reasons of findings about estimates that were kept.
const (
	ReasonEstimateOver   fleet.Code = "app.estimate-over"
	ReasonEstimateWallet fleet.Code = "app.estimate-wallet"
)

const (
	// estimatesShown is how many estimates of an instance people are shown.
	estimatesShown = 3
	// walletStale is how old a wallet's reading may be before nothing is said of how
	// long it lasts.
	walletStale = 6 * WalletEvery
)

// Estimate reckons a job at the price of the instance it runs on, and keeps that. It
// refuses where there is no price by the hour, or nothing runs.
func (a *App) Estimate(ctx context.Context, r ctl.EstimateRequest) (ctl.EstimateAnswer, error) {
	i, err := a.findInstance(r.Name)
	if err != nil {
		return ctl.EstimateAnswer{}, err
	}
	if r.Forget {
		return a.forgetEstimate(ctx, i)
	}
	c, err := reckonOn(i, r.Job, r.Margin)
	if err != nil {
		return ctl.EstimateAnswer{}, err
	}
	length, ok := c.Hours.Duration()
	if !ok {
		return ctl.EstimateAnswer{}, fmt.Errorf("%s h are beyond counting", c.Hours)
	}
	out := ctl.EstimateAnswer{Instance: i, Why: c.Why, Warnings: c.Warnings}
	err = a.store.Update(ctx, func(tx *store.Tx) (err error) {
		out.Now = tx.Now
		out.Estimate = fleet.Estimate{
			Ref: i.Ref, Boot: i.Boot, By: r.By, At: tx.Now, For: length, Total: c.Total, Limit: c.WithMargin,
			Margin: r.Margin.Percent(), Least: len(c.Missing) > 0, Price: i.Price, Since: tx.Now, Started: i.StartedAt,
		}
		out.Before, err = tx.OpenEstimate(&out.Estimate)
		return err
	})
	if err != nil {
		return ctl.EstimateAnswer{}, err
	}
	a.log.Info().Str("instance", i.Ref.String()).Str("by", r.By).Str("total", c.Total.String()).Dur("for", length).Msg("estimate kept")
	nudge(a.kick)
	return out, nil
}

func (a *App) forgetEstimate(ctx context.Context, i fleet.Instance) (ctl.EstimateAnswer, error) {
	out := ctl.EstimateAnswer{Now: a.clock.Now(), Instance: i}
	err := a.store.Update(ctx, func(tx *store.Tx) error {
		dropped, err := tx.DropEstimate(i.Ref)
		switch {
		case err != nil:
			return err
		case dropped == nil:
			return fmt.Errorf("no estimate of %s is kept that is not closed; curfew explain %s shows those that are", i.DisplayName(), i.DisplayName())
		}
		out.Estimate = *dropped
		return nil
	})
	return out, err
}

// reckonOn reckons a job at the price of one instance.
func reckonOn(i fleet.Instance, j estimate.Job, margin estimate.Number) (estimate.Cost, error) {
	name := i.DisplayName()
	switch {
	case i.State != fleet.StateRunning || i.Boot == "":
		return estimate.Cost{}, fmt.Errorf("%s is %s; an estimate is kept for what runs, so start it first", name, i.State)
	case i.Charge.Type == fleet.ChargePeriod || i.Price.Billing == fleet.BillingPrepaid:
		return estimate.Cost{}, fmt.Errorf("%s is paid for by the period: a job on it costs nothing more, so there is nothing to keep", name)
	case !i.Price.Known() || i.Price.PerHour.Micros <= 0:
		if i.GPU.Model == "" {
			return estimate.Cost{}, fmt.Errorf("the price of %s is not known, so nothing on it can be reckoned", name)
		}
		return estimate.Cost{}, fmt.Errorf("the price of %s is not known; write prices: {%s: PRICE} of one card an hour into its account %s",
			name, i.GPU.Model, i.AccountName)
	}
	o := estimate.OfInstance(i)
	if len(j.Cards) == 0 {
		j.Cards = []int{o.Cards}
	}
	if len(j.Cards) > 1 || j.Cards[0] > o.Cards {
		return estimate.Cost{}, fmt.Errorf("%s has %d cards; write one number of at most that many", name, o.Cards)
	}
	if unused := estimate.Unused([]estimate.Job{j}, []estimate.Offer{o}); len(unused) > 0 {
		return estimate.Cost{}, fmt.Errorf("%s is not called %s; it goes by its account %s, its platform %s and its GPU %s",
			name, unused[0], o.Name, o.Platform, o.GPU)
	}
	c, why := estimate.Reckon(j, o, j.Cards[0], nil, margin)
	switch why.Code {
	case "":
		return c, nil
	case estimate.LeftNoEpoch:
		return c, fmt.Errorf("how long an epoch takes on %s is not said; write such as --epoch-time 48s", name)
	}
	return c, errors.New("the sum is beyond counting")
}

// followEstimates closes the estimates of what does not run any more, and counts on
// where a price has changed.
func (a *App) followEstimates(ctx context.Context, now time.Time) error {
	open, err := a.store.OpenEstimates(ctx)
	if err != nil {
		return err
	}
	var changed []fleet.Estimate
	for _, e := range open {
		t, there := a.inv.Get(e.Ref)
		switch i := t.Instance; {
		case !there || outlived(e, i):
			at, err := a.stoppedAfter(ctx, e)
			if err != nil {
				return err
			}
			switch {
			case at.IsZero() && !there:
				continue // nobody can tell that it is gone
			case at.IsZero() && i.State.Up() && i.StartedAt.After(e.At):
				at = i.StartedAt // and nobody saw it stop
			case at.IsZero():
				at = now
			}
			e.Close(at, fleet.EstimateStopped)
		case i.State != fleet.StateRunning || !e.Reprice(i.Price, now):
			continue
		}
		changed = append(changed, e)
	}
	if len(changed) == 0 {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		for _, e := range changed {
			if err := tx.SaveEstimate(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// outlived reports whether the Boot that an estimate is of is over.
func outlived(e fleet.Estimate, i fleet.Instance) bool {
	return i.State == fleet.StateStopped || i.State.Gone() || i.State.Up() && i.Boot != "" && i.Boot != e.Boot
}

// stoppedAfter gives when the instance was first stopped, or gone, after its estimate
// was stored, by its history; zero where that tells of no such moment.
func (a *App) stoppedAfter(ctx context.Context, e fleet.Estimate) (time.Time, error) {
	history, err := a.store.Segments(ctx, e.Ref)
	if err != nil {
		return time.Time{}, err
	}
	for _, g := range history {
		if g.What != "state" || !g.From.After(e.At) {
			continue
		}
		switch g.Value {
		case fleet.StateStopped.String(), fleet.StateReleased.String(), "gone":
			return g.From, nil
		}
	}
	return time.Time{}, nil
}

// soFar sets an estimate beside what became of it.
func soFar(e fleet.Estimate, now time.Time) ctl.EstimateSoFar {
	out := ctl.EstimateSoFar{Estimate: e, Took: e.Until(now).Sub(e.At), Left: e.Left(now)}
	var ok bool
	out.Spent, ok = e.Spent(now)
	out.Over = ok && out.Spent.Micros > e.Limit.Micros
	return out
}

// estimatesOf gives the newest estimates of an instance beside what became of them.
func (a *App) estimatesOf(ctx context.Context, ref fleet.Ref, now time.Time) ([]ctl.EstimateSoFar, error) {
	all, err := a.store.Estimates(ctx, ref, estimatesShown)
	if err != nil {
		return nil, err
	}
	var out []ctl.EstimateSoFar
	for _, e := range all {
		out = append(out, soFar(e, now))
	}
	return out, nil
}

// estimateFindings says which instances cost more than was reckoned, and for which
// the wallet will not last. It reads no ledger: it goes by price and time.
func (a *App) estimateFindings(ctx context.Context, d *desk) []fleet.Finding {
	open, err := a.store.OpenEstimates(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("estimates cannot be compared with what happens, will be tried again")
		}
		return nil
	}
	var found []fleet.Finding
	for _, e := range open {
		t, there := a.inv.Get(e.Ref)
		if !there || outlived(e, t.Instance) {
			continue
		}
		seen := later(e.Since, t.SeenAt) // since then it may have been stopped
		if seen.After(d.now) {
			seen = d.now
		}
		s := soFar(e, seen)
		v := fleet.Values{
			"at": minute(e.At), "total": fleet.Amount(e.Total), "limit": fleet.Amount(e.Limit), "margin": fleet.Text(e.Margin),
			"hours": fleet.Text(estimate.Hours(e.For).Short(1)), "cost": fleet.Amount(s.Spent), "took": fleet.Span(s.Took),
		}
		if s.Left > 0 {
			v["left"] = fleet.Span(s.Left)
		}
		if s.Over {
			found = append(found, estimateFinding(e, "estimate-over", ReasonEstimateOver, v))
		}
		acc := d.accounts[e.Ref.Account]
		if p, ok := lasting(acc.Wallet, acc.Burn.PerHour, d.now); ok && s.Left > p.runway {
			v["account"], v["usable"], v["burn"] = fleet.Text(acc.Name), fleet.Amount(p.usable), fleet.Amount(p.burn)
			v["runway"] = fleet.Span(p.runway)
			v["rest"] = fleet.Amount(fleet.Money{Micros: max(e.Total.Micros-s.Spent.Micros, 0), Currency: e.Total.Currency})
			found = append(found, estimateFinding(e, "estimate-wallet", ReasonEstimateWallet, v))
		}
	}
	return found
}

func estimateFinding(e fleet.Estimate, condition string, code fleet.Code, v fleet.Values) fleet.Finding {
	return fleet.Finding{
		Ref: e.Ref, Severity: fleet.Warning, Category: fleet.CategoryMoney, Condition: condition,
		Period: strconv.FormatInt(e.ID, 10), Reason: fleet.Because(code, v),
	}
}
