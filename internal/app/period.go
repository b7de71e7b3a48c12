package app

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/estimate"
	"curfew/internal/ledger"
	"curfew/policies"
)

// What people are told beside the reminder that a paid period ends.
const (
	ReasonPeriodBusy     fleet.Code = "app.period-busy"
	ReasonPeriodEven     fleet.Code = "app.period-even"
	ReasonPeriodUnpriced fleet.Code = "app.period-unpriced"
	ReasonPeriodRenews   fleet.Code = "app.period-renews"
	ReasonPeriodLapses   fleet.Code = "app.period-lapses"
	ReasonPeriodUnsure   fleet.Code = "app.period-unsure"
	reasonPeriodOne      fleet.Code = "app.period-one"

	reasonPriceConfig fleet.Code = "app.price-config"
	reasonPriceQuotes fleet.Code = "app.price-quotes"
	reasonPriceSeen   fleet.Code = "app.price-seen"
)

// periodAdvice is what helps to decide whether a period that ends is worth buying
// again: how long the instance was at work, from how many hours on the period is the
// cheaper way to pay, what those hours would have cost on demand, and whether the
// platform renews it by itself. It is reckoned only when people are reminded, since it
// reads the history.
func (a *App) periodAdvice(ctx context.Context, rt *runtime, f fleet.Finding) []fleet.Reason {
	t, ok := a.inv.Get(f.Ref)
	if !ok || f.Reason.Code != policies.ReasonEndsPeriod {
		return nil
	}
	i := t.Instance
	u, err := a.periodUse(ctx, rt, i, a.clock.Now())
	if err != nil {
		if ctx.Err() == nil {
			a.log.Warn().Err(err).Str("instance", i.Ref.String()).Msg("how a paid period was used cannot be told")
		}
		return []fleet.Reason{renewal(i)}
	}
	return u.reasons(i, a.onDemand(rt, i))
}

// adviceTogether is what is told beside a notice of several findings: of each in a
// line.
func (a *App) adviceTogether(ctx context.Context, rt *runtime, fs []fleet.Finding) []fleet.Reason {
	var out []fleet.Reason
	for _, f := range fs {
		advice := a.periodAdvice(ctx, rt, f)
		if len(advice) == 0 {
			continue
		}
		all := advice[len(advice)-1]
		for _, r := range slices.Backward(advice[:len(advice)-1]) {
			all = fleet.Because(reasonPeriodOne, fleet.Values{"first": fleet.Nested(r), "then": fleet.Nested(all)})
		}
		name := a.findingNotice(rt, f).Subject.DisplayName()
		out = append(out, fleet.Because(digestAbout, fleet.Values{"name": short(name), "what": fleet.Nested(all)}))
	}
	return out
}

// use is how a paid period was used so far, as far as is known.
type use struct {
	since, end    time.Time // the part of the period that is known
	busy, unknown time.Duration
}

// periodUse reckons how the present period of an instance was used. It begins where
// the history first shows the period's end: when it was bought or renewed, or first
// seen.
func (a *App) periodUse(ctx context.Context, rt *runtime, i fleet.Instance, now time.Time) (use, error) {
	history, err := a.store.Segments(ctx, i.Ref)
	if err != nil {
		return use{}, err
	}
	runs, err := a.store.RunsOf(ctx, i.Ref)
	if err != nil {
		return use{}, err
	}
	u := use{since: now, end: i.Charge.End}
	h := ledger.History{Ref: i.Ref, Name: i.DisplayName(), Runs: runs, Segments: withHistory(nil, history)}
	for _, g := range history {
		if g.What == "state" && g.From.Before(u.since) {
			u.since = g.From
		}
	}
	ends := " " + i.Charge.End.UTC().Format(time.RFC3339)
	if at := slices.IndexFunc(h.Segments, func(g ledger.Segment) bool { return g.What == "billing" && strings.HasSuffix(g.Value, ends) }); at >= 0 {
		u.since = h.Segments[at].From
	}
	c := ledger.Reckon([]ledger.History{h}, ledger.Query{From: u.since, To: now, Now: now, By: ledger.ByPhase, Zone: rt.cfg.Timezone})
	u.busy = c.Busy
	for _, r := range c.Rows {
		if r.Key == ledger.PhaseUnknown {
			u.unknown = r.Time
		}
	}
	return u, nil
}

// reasons puts the advice in words.
func (u use) reasons(i fleet.Instance, o estimate.Offer) []fleet.Reason {
	v := fleet.Values{"since": minute(u.since), "busy": fleet.Span(u.busy)}
	if u.unknown >= time.Minute {
		v["unknown"] = fleet.Span(u.unknown)
	}
	out := []fleet.Reason{fleet.Because(ReasonPeriodBusy, v)}
	hour, priced := onDemandFor(o, i, time.Hour)
	if !priced {
		return append(out, fleet.Because(ReasonPeriodUnpriced, fleet.Values{"gpu": fleet.Text(i.GPU.Model)}), renewal(i))
	}
	from := fleet.Nested(fleet.Because(map[estimate.Kind]fleet.Code{
		estimate.FromConfig: reasonPriceConfig, estimate.FromRates: reasonPriceQuotes,
	}[o.Kind], nil))
	if o.Kind == estimate.FromSeen {
		from = fleet.Nested(fleet.Because(reasonPriceSeen, fleet.Values{"name": short(o.Source)}))
	}
	v = fleet.Values{"hour": fleet.Amount(hour), "from": from, "busy": fleet.Span(u.busy)}
	if cost, ok := onDemandFor(o, i, u.busy); ok {
		v["cost"] = fleet.Amount(cost)
	}
	if o.Billing == fleet.BillingPerHour {
		v["rounded"] = fleet.Text("hour")
	}
	if paid, ok := u.paid(i); ok {
		if even, ok := estimate.BreakEven(paid, hour); ok {
			v["paid"], v["hours"], v["end"] = fleet.Amount(paid), fleet.Text(even.Short(1)), minute(u.end)
		}
	}
	out = append(out, fleet.Because(ReasonPeriodEven, v))
	return append(out, renewal(i))
}

// paid is the period's price, for the part of it that is known; false: nobody told
// it. A price by the hour of a period is that price spread over its hours.
func (u use) paid(i fleet.Instance) (fleet.Money, bool) {
	p := i.Price
	if p.Billing != fleet.BillingPrepaid || p.PerHour.Micros <= 0 {
		return fleet.Money{}, false
	}
	return p.For(u.end.Sub(u.since))
}

// onDemandFor is what a time on as many cards costs at an offer, by its own rule.
func onDemandFor(o estimate.Offer, i fleet.Instance, d time.Duration) (fleet.Money, bool) {
	if o.Kind == "" {
		return fleet.Money{}, false
	}
	c, why := estimate.Reckon(estimate.Job{Hours: estimate.Hours(d)}, o, max(i.GPU.Count, 1), nil, estimate.Number{})
	return c.Items.Instance, why.IsZero()
}

func renewal(i fleet.Instance) fleet.Reason {
	switch i.Charge.AutoRenew {
	case fleet.Yes:
		return fleet.Because(ReasonPeriodRenews, nil)
	case fleet.No:
		return fleet.Because(ReasonPeriodLapses, nil)
	}
	return fleet.Because(ReasonPeriodUnsure, nil)
}

// onDemand gives what the cards of an instance cost on demand in its account: by the
// configuration's prices, else by its quotes, else by an instance there that is paid
// for so; of several the cheapest. An offer of no kind: nobody told.
func (a *App) onDemand(rt *runtime, i fleet.Instance) estimate.Offer {
	name, _ := rt.accountName(i.Ref.Account)
	acc, ok := find(rt.accounts, func(c *account) bool { return c.cfg.Name == name })
	if !ok || i.GPU.Model == "" {
		return estimate.Offer{}
	}
	var there []fleet.Instance
	for _, other := range a.inv.Things().Instances {
		if other.Ref.Account == i.Ref.Account {
			there = append(there, other)
		}
	}
	seen := estimate.Seen(there, a.clock.Now())
	configured := estimate.Priced(name, acc.cfg.Provider, acc.cfg.Prices)
	if known, ok := find(seen, func(o estimate.Offer) bool { return o.Billing != "" }); ok {
		for n := range configured { // a platform bills all alike
			configured[n].Billing = known.Billing
		}
	}
	for _, offers := range [][]estimate.Offer{configured, a.quotes(rt.cfg.Rates), seen} {
		var best estimate.Offer
		for _, o := range offers {
			cost, ok := onDemandFor(o, i, time.Hour)
			if least, known := onDemandFor(best, i, time.Hour); ok && o.OnDemandOf(name, acc.cfg.Provider, i.GPU) &&
				(!known || cost.Currency == least.Currency && cost.Micros < least.Micros) {
				best = o
			}
		}
		if best.Kind != "" {
			return best
		}
	}
	return estimate.Offer{}
}

// quotes are the quotes of the configuration, also where they stand in a file of their
// own. One that cannot be read is as if there was none.
func (a *App) quotes(r config.Rates) []estimate.Offer {
	if r.File == "" {
		return r.Quotes
	}
	data, err := os.ReadFile(r.File)
	if err == nil {
		r, err = config.Quotes(r.File, data)
	}
	if err != nil {
		a.log.Warn().Err(err).Msg("the quotes of the configuration cannot be read")
		return nil
	}
	for n := range r.Quotes {
		r.Quotes[n].Kind = estimate.FromRates
	}
	return r.Quotes
}
