package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
)

func (p *program) costCommand() *cobra.Command {
	var from, to, by string
	days, check := 0, false
	c := &cobra.Command{
		Use: "cost", Short: "Show what everything has cost",
		Long: `cost adds up what instances, disks, snapshots, images and addresses have cost, from
what curfew saw of them: for how long each was in which state, at which price. What
nobody told the price of is named and not in the total; currencies are kept apart.
--by phase says what went into set-up, work and idling, and what an hour of work
came to. --check compares what left each wallet, day by day, and what each platform
billed, with what is known to have been used. It needs no daemon.`,
		Example: "  curfew cost\n  curfew cost --days 30 --by owner\n  curfew cost --from 2026-11-01 --to 2026-11-30 --by day\n  curfew cost --check",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.configured()
			if err != nil {
				return err
			}
			if from != "" && c.Flags().Changed("days") {
				return usage(fmt.Errorf("--days and --from: give one of them"))
			}
			q := ctl.CostQuery{By: ledger.By(by), Check: check}
			if !slices.Contains(ledger.Groupings(), q.By) {
				return usage(fmt.Errorf("--by %s: it is one of %s", by, groupings()))
			}
			if q.From, q.To, err = costTime(from, to, days, p.now(), cfg.Timezone); err != nil {
				return usage(err)
			}
			var a ctl.CostAnswer
			ctx := c.Context()
			return p.ask(ctx, false, func(api ctl.API) (err error) {
				a, err = api.Cost(ctx, q)
				return err
			}, func() error {
				switch g := p.page(a.Now); {
				case p.asJSON:
					return p.writeJSON(a)
				case check:
					g.checks(a)
					g.bills(a.Bills)
				default:
					g.costs(a)
				}
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "the first day, such as 2026-11-01")
	f.StringVar(&to, "to", "", "the last day (default: today)")
	f.IntVar(&days, "days", 7, "how many days, with the last")
	f.StringVar(&by, "by", string(ledger.ByAccount), "what to add up by: "+groupings())
	f.BoolVar(&check, "check", false, "compare what left each wallet, and each bill, with what is known to have been used")
	return c
}

func groupings() string {
	var words []string
	for _, by := range ledger.Groupings() {
		words = append(words, string(by))
	}
	return strings.Join(words, ", ")
}

// costTime gives the time that is asked for: whole days of the zone.
func costTime(from, to string, days int, now time.Time, zone *time.Location) (begin, end time.Time, err error) {
	day := func(flag, s string) (time.Time, error) {
		t, err := time.ParseInLocation(time.DateOnly, s, zone)
		if err != nil {
			return t, fmt.Errorf("--%s %s: write a day such as 2026-11-01", flag, s)
		}
		return t, nil
	}
	year, month, today := now.In(zone).Date()
	last := time.Date(year, month, today, 0, 0, 0, 0, zone)
	if to != "" {
		if last, err = day("to", to); err != nil {
			return begin, end, err
		}
	}
	if days < 1 {
		return begin, end, fmt.Errorf("--days %d: it is at least 1", days)
	}
	begin = last.AddDate(0, 0, 1-days)
	if from != "" {
		if begin, err = day("from", from); err != nil {
			return begin, end, err
		}
	}
	if end = last.AddDate(0, 0, 1); !end.After(begin) {
		return begin, end, fmt.Errorf("--from %s: it is after %s", from, last.Format(time.DateOnly))
	}
	if begin.After(now) {
		return begin, end, fmt.Errorf("%s is still to come", begin.Format(time.DateOnly))
	}
	return begin, end, nil
}

// costs writes what everything cost, group by group, and what is to be known of the
// sums.
func (g *page) costs(a ctl.CostAnswer) {
	g.line(wordCostPeriod, fleet.Values{"from": moment(a.From), "to": moment(a.To)})
	if !a.Since.IsZero() {
		g.line(wordCostSince, fleet.Values{"since": moment(a.Since)})
	}
	for _, s := range a.Stale {
		g.line(wordCostStale, fleet.Values{"account": fleet.Text(s.Account), "at": moment(s.At)})
	}
	if len(a.Rows) == 0 {
		g.line(wordCostNone, nil)
		return
	}
	g.table(0, g.costRows(a.Costs))
	v := fleet.Values{}
	if len(a.Total) > 0 {
		v["sum"] = fleet.Text(a.Total.String())
	}
	if n := len(a.Unknown); n > 0 {
		v["unknown"] = fleet.Number(float64(n))
	}
	g.line(wordCostSum, v)
	g.partOfSum(wordCostPrepaid, a.Prepaid)
	g.partOfSum(wordCostConfigured, a.Configured)
	if a.Busy > 0 && len(a.BusyHour) > 0 {
		v := fleet.Values{"for": fleet.Span(a.Busy.Round(time.Minute)), "sum": fleet.Text(a.BusyHour.String())}
		if len(a.Unknown) > 0 {
			v["unknown"] = fleet.Text("+")
		}
		g.line(wordCostBusy, v)
	}
	g.saved(a.Saved)
	g.part(partCostUnknown, g.unknownCosts(a.Unknown))
}

func (g *page) partOfSum(code fleet.Code, sums fleet.Sums) {
	if len(sums) > 0 {
		g.line(code, fleet.Values{"sum": fleet.Text(sums.String())})
	}
}

// costRows gives the table: a column for each of the five items, with a dash where
// nothing is known to have been spent, and one for what is none of them where there is
// such a thing.
func (g *page) costRows(c ledger.Costs) [][]string {
	var items []ledger.Item
	if c.By != ledger.ByItem {
		for _, i := range ledger.Items() {
			if _, spent := c.Items[i]; spent || i != fleet.ItemOther {
				items = append(items, i)
			}
		}
	}
	inAccount := c.By == ledger.ByInstance || c.By == ledger.ByRun
	head := []fleet.Code{map[ledger.By]fleet.Code{
		ledger.ByAccount: columnCostAccount, ledger.ByOwner: columnCostOwner, ledger.ByInstance: columnName, ledger.ByRun: columnCostRun,
		ledger.ByItem: columnCostItem, ledger.ByPhase: columnCostPhase, ledger.ByDay: columnCostDay,
	}[c.By]}
	if inAccount {
		head = append(head, columnAccount)
	}
	for _, i := range items {
		head = append(head, itemWords()[i])
	}
	rows := [][]string{g.heads(append(head, columnCostHours, columnCostTotal)...)}
	for _, r := range c.Rows {
		row := []string{g.groupName(c.By, r)}
		if inAccount {
			row = append(row, r.Account)
		}
		for _, i := range items {
			row = append(row, orDash(r.Items[i].String()))
		}
		total := orDash(r.Total.String())
		if r.Unknown > 0 {
			total = strings.TrimPrefix(total+" + ?", "- + ")
		}
		rows = append(rows, append(row, hours(r.Time), total))
	}
	return rows
}

func (g *page) groupName(by ledger.By, r ledger.Row) string {
	switch {
	case by == ledger.ByItem:
		return g.say(itemWords()[ledger.Item(r.Key)], nil)
	case by == ledger.ByPhase:
		return g.say(phaseWords()[r.Key], nil)
	case by == ledger.ByOwner && r.Key == "":
		return g.say(wordCostNoOwner, nil)
	case by == ledger.ByRun && r.Key == "":
		return g.say(wordCostNoRun, nil)
	}
	return r.Name
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// hours gives a time in hours with one decimal.
func hours(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	tenths := int64((d + 3*time.Minute) / (6 * time.Minute))
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// saved says what stops saved, as an estimate, and how it is made.
func (g *page) saved(s ledger.Saved) {
	v := fleet.Values{"stops": fleet.Number(float64(s.Stops)), "sum": fleet.Text(s.Sums.String()), "for": fleet.Span(s.For.Round(time.Minute))}
	if s.Untold > 0 {
		v["unknown"] = fleet.Number(float64(s.Untold))
	}
	switch {
	case s.Stops > 0 && len(s.Sums) > 0:
		g.line(wordCostSaved, v)
	case s.Untold > 0:
		g.line(wordCostSavedUnknown, fleet.Values{"unknown": v["unknown"]})
	}
}

func (g *page) unknownCosts(all []ledger.UnknownCost) [][]string {
	why := map[ledger.Unknown]fleet.Code{
		ledger.UnknownPrice: unknownPrice, ledger.UnknownState: unknownState, ledger.UnknownPeriod: unknownPeriod,
	}
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{
			u.Name, u.Account, g.say(itemWords()[u.Item], nil), g.say(wordSpan, fleet.Values{"for": fleet.Span(u.For.Round(time.Minute))}), g.say(why[u.Why], nil),
		})
	}
	return rows
}

// checks writes what left each wallet, day by day, beside what is known.
func (g *page) checks(a ctl.CostAnswer) {
	if len(a.Checks) == 0 {
		g.line(wordCheckNowhere, nil)
	}
	for _, c := range a.Checks {
		if len(c.Days) == 0 {
			g.line(wordCheckNone, fleet.Values{"account": fleet.Text(c.Account)})
			continue
		}
		g.print(g.bold(g.say(wordCheckOf, fleet.Values{"account": fleet.Text(c.Account)})))
		rows := [][]string{g.heads(columnCostDay, columnCostFell, columnCostVouchers, columnCostRose, columnCostLedger, columnCostGap, columnCostResult)}
		hidden := false
		for _, d := range c.Days {
			hidden = hidden || d.Judgement == ledger.Hidden
			gap, vouchers, rose := "-", "-", "-"
			for cell, m := range map[*string]fleet.Money{&gap: d.Gap, &vouchers: d.Vouchers, &rose: d.Rose} {
				if !m.IsZero() {
					*cell = m.Round().String()
				}
			}
			result := g.say(judgementWords()[d.Judgement], nil)
			if d.Unwatched > 0 {
				result += g.say(wordCheckUnwatched, fleet.Values{"for": fleet.Span(d.Unwatched.Round(time.Minute))})
			}
			rows = append(rows, []string{d.Day, d.Fell.Round().String(), vouchers, rose, d.Ledger.Round().String(), gap, result})
		}
		g.table(2, rows)
		if hidden && len(c.Kept) > 0 {
			const most = 20
			v := fleet.Values{"names": fleet.Text(strings.Join(c.Kept[:min(len(c.Kept), most)], ", "))}
			if more := len(c.Kept) - most; more > 0 {
				v["more"] = fleet.Number(float64(more))
			}
			g.print("  " + g.say(wordCheckKept, v))
		}
	}
}
