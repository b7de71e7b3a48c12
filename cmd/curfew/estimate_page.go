package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"curfew/fleet"
	"curfew/internal/estimate"
)

// What an estimate says beside its reasons.
const (
	wordEstimateHoursOne  fleet.Code = "cli.estimate.hours-one"
	wordEstimateHours     fleet.Code = "cli.estimate.hours"
	wordEstimateEpochsOne fleet.Code = "cli.estimate.epochs-one"
	wordEstimateEpochs    fleet.Code = "cli.estimate.epochs"
	wordEstimateWeek      fleet.Code = "cli.estimate.week"
	wordEstimateCurrency  fleet.Code = "cli.estimate.currency"
	wordEstimateWhy       fleet.Code = "cli.estimate.why"
	wordEstimateEven      fleet.Code = "cli.estimate.even"
	wordEstimateMix       fleet.Code = "cli.estimate.mix"
	wordEstimateMixLeast  fleet.Code = "cli.estimate.mix-least"
	wordEstimateLacks     fleet.Code = "cli.estimate.lacks"
	wordEstimateFX        fleet.Code = "cli.estimate.fx"
	wordEstimateLeftOut   fleet.Code = "cli.estimate.left-out"
	wordEstimateLeftJob   fleet.Code = "cli.estimate.left-job"
	wordEstimateWarning   fleet.Code = "cli.estimate.warning"
	wordEstimateNoDaemon  fleet.Code = "cli.estimate.no-daemon"
	wordEstimateBusier    fleet.Code = "cli.estimate.utilisation"
	wordEstimateNever     fleet.Code = "cli.estimate.never"
	wordEstimateEvenWhy   fleet.Code = "cli.estimate.even-why"
	wordEstimateEvenNever fleet.Code = "cli.estimate.even-never"
	wordEstimateLeast     fleet.Code = "cli.estimate.least"
	wordEstimateSeen      fleet.Code = "cli.estimate.source.seen"
	wordEstimateConfig    fleet.Code = "cli.estimate.source.config"

	perCardHour     fleet.Code = "cli.estimate.per.card-hour"
	perMachineHour  fleet.Code = "cli.estimate.per.machine-hour"
	perCardMonth    fleet.Code = "cli.estimate.per.card-month"
	perMachineMonth fleet.Code = "cli.estimate.per.machine-month"
	perCardYear     fleet.Code = "cli.estimate.per.card-year"
	perMachineYear  fleet.Code = "cli.estimate.per.machine-year"
	chargeOnDemand  fleet.Code = "cli.estimate.charge.on-demand"
	chargeSpot      fleet.Code = "cli.estimate.charge.spot"
	chargeMonth     fleet.Code = "cli.estimate.charge.month"
	chargeYear      fleet.Code = "cli.estimate.charge.year"
	billingSecond   fleet.Code = "cli.estimate.billing.second"
	billingHour     fleet.Code = "cli.estimate.billing.hour"

	columnRank      fleet.Code = "cli.column.rank"
	columnOffer     fleet.Code = "cli.column.offer"
	columnHours     fleet.Code = "cli.column.hours"
	columnInstance  fleet.Code = "cli.column.instance"
	columnDisk      fleet.Code = "cli.column.disk"
	columnImages    fleet.Code = "cli.column.images"
	columnPublicIP  fleet.Code = "cli.column.public-ip"
	columnTraffic   fleet.Code = "cli.column.traffic"
	columnTotal     fleet.Code = "cli.column.total"
	columnMargin    fleet.Code = "cli.column.margin"
	columnPerEpoch  fleet.Code = "cli.column.per-epoch"
	columnPerHour   fleet.Code = "cli.column.per-hour"
	columnBesideGPU fleet.Code = "cli.column.beside-gpu"
	columnAsked     fleet.Code = "cli.column.asked"
	columnPaid      fleet.Code = "cli.column.paid"
	columnAsOf      fleet.Code = "cli.column.as-of"
	columnSource    fleet.Code = "cli.column.source"
	columnPrepaid   fleet.Code = "cli.column.prepaid"
	columnAgainst   fleet.Code = "cli.column.against"
	columnEven      fleet.Code = "cli.column.even"
	columnJob       fleet.Code = "cli.column.job"
	columnTimes     fleet.Code = "cli.column.times"
)

// busy is the utilisation that a well-fed card can reach.
func busy() estimate.Number {
	n, err := estimate.ParsePercent("95%")
	if err != nil {
		return estimate.Number{}
	}
	return n
}

// estimate writes what jobs cost: a table for each currency, what its sums are made
// of, and what to look at again.
func (g *page) estimate(a estimate.Answer, k known, utilisation string) {
	several := len(a.Jobs) > 1 || len(a.Jobs) == 1 && a.Jobs[0].Times > 1
	if several {
		g.line(wordEstimateWeek, fleet.Values{"jobs": fleet.Number(float64(len(a.Jobs)))})
	} else {
		g.print(g.work(a.Jobs[0]))
	}
	for _, t := range a.Tables {
		g.print("")
		g.print(g.bold(g.say(wordEstimateCurrency, fleet.Values{"currency": fleet.Text(t.Currency)})))
		if several {
			g.wide(g.sums(a, t), itemColumns, true)
			g.mix(t)
		} else {
			g.wide(g.estimated(a, t), itemColumns, false)
			g.print("")
			g.print(g.bold(g.say(wordEstimateWhy, nil)))
			g.wide(g.whys(t), 0, true)
			g.busier(t, utilisation)
		}
		if len(t.Even) > 0 {
			g.print("")
			g.print(g.bold(g.say(wordEstimateEven, nil)))
			g.table(0, g.even(t))
		}
	}
	g.print("")
	g.looks(a, k)
}

// itemColumns are the columns up to the total.
const itemColumns = 10

// wide writes a table where the terminal is wide enough for it. Elsewhere the first
// columns are one, and the others a paragraph for each row; the last cell may be long,
// and then says by itself what it is.
func (g *page) wide(rows [][]string, keep int, long bool) {
	const readable = 24
	need := 0
	for n := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, columns(row[n])+2)
		}
		if long && n == len(rows[0])-1 {
			widest = min(widest, readable)
		}
		need += widest
	}
	if g.width == 0 || need <= g.width {
		g.table(0, rows)
		return
	}
	if keep > 0 {
		var first [][]string
		for _, row := range rows {
			first = append(first, row[:keep])
		}
		g.table(0, first)
	}
	var others [][]string
	for _, row := range rows[1:] {
		var rest []string
		for n := max(keep, 2); n < len(row); n++ {
			cell := row[n]
			if !long || n < len(row)-1 {
				cell = rows[0][n] + " " + cell
			}
			rest = append(rest, cell)
		}
		others = append(others, []string{row[0], row[1], strings.Join(rest, "; ")})
	}
	g.table(0, others)
}

// work says what is to be done.
func (g *page) work(j estimate.Job) string {
	hours, epochs := fleet.Text(j.Units().Short(3)), fleet.Number(float64(j.Epochs))
	gpu := "GPU ×1"
	if len(j.Cards) > 0 {
		gpu = cards(fleet.GPU{Count: j.Cards[0]})
	}
	switch {
	case j.Scaled() && j.Epochs > 0:
		return g.say(wordEstimateEpochsOne, fleet.Values{"epochs": epochs})
	case j.Scaled():
		return g.say(wordEstimateHoursOne, fleet.Values{"hours": hours})
	case j.Epochs > 0:
		return g.say(wordEstimateEpochs, fleet.Values{"epochs": epochs, "gpu": fleet.Text(gpu)})
	}
	return g.say(wordEstimateHours, fleet.Values{"hours": hours, "gpu": fleet.Text(gpu)})
}

// estimated gives the table of one job: the five items and their sum.
func (g *page) estimated(a estimate.Answer, t estimate.Table) [][]string {
	unit := columnPerHour
	if a.Jobs[0].Epochs > 0 {
		unit = columnPerEpoch
	}
	heads := g.heads(columnRank, columnOffer, columnGPU, columnHours, columnInstance, columnDisk, columnImages, columnPublicIP, columnTraffic, columnTotal)
	rows := [][]string{append(heads, g.marginHead(a), g.say(unit, nil), g.say(columnBesideGPU, nil))}
	for n, c := range t.Costs {
		row := append([]string{strconv.Itoa(n + 1), c.Offer.Name, offered(c.Offer, c.Cards), c.Hours.Short(3)}, items(c.Items, c.Missing)...)
		least, beside := len(c.Missing) > 0, c.BesideGPU.Decimal(1)+"%"
		if least {
			beside = "?"
		}
		rows = append(rows, append(row, g.sum(c.Total, least), g.sum(c.WithMargin, least), g.sum(c.PerUnit, least), beside))
	}
	return rows
}

func (g *page) marginHead(a estimate.Answer) string {
	return g.say(columnMargin, fleet.Values{"margin": fleet.Text(a.Margin.Short(2))})
}

func offered(o estimate.Offer, count int) string { return cards(fleet.GPU{Model: o.GPU, Count: count}) }

// bare is money without its currency, which the table's head says. What is less than
// a cent is shown with the decimals it has.
func bare(m fleet.Money) string {
	shown := m.Round()
	if shown.IsZero() {
		shown = m
	}
	return strings.TrimSuffix(shown.String(), " "+m.Currency)
}

// sum is a total; where a price is missing it is the least it can be.
func (g *page) sum(m fleet.Money, least bool) string {
	if least {
		return g.say(wordEstimateLeast, fleet.Values{"sum": fleet.Text(bare(m))})
	}
	return bare(m)
}

// items gives the cells of the five items: a question mark where a price is missing.
func items(i estimate.Items, missing []fleet.Code) []string {
	cell := func(m fleet.Money, codes ...fleet.Code) string {
		for _, code := range codes {
			if slices.Contains(missing, code) {
				return "?"
			}
		}
		if m.IsZero() {
			return "-"
		}
		return bare(m)
	}
	return []string{
		cell(i.Instance), cell(i.Disk, estimate.ItemDisk), cell(i.Images, estimate.ItemSnapshot, estimate.ItemImage),
		cell(i.PublicIP), cell(i.Traffic, estimate.ItemTraffic),
	}
}

// whys says of each sum what price it was made with, as of when, from where, and what
// else was reckoned.
func (g *page) whys(t estimate.Table) [][]string {
	rows := [][]string{g.heads(columnRank, columnOffer, columnAsked, columnPaid, columnAsOf, columnSource)}
	for n, c := range t.Costs {
		rows = append(rows, []string{
			strconv.Itoa(n + 1), c.Offer.Name, g.asked(c.Offer), g.paid(c.Offer), cmp.Or(c.Offer.AsOf, "-"),
			strings.Join(append([]string{g.source(c.Offer)}, g.reasons(c.Why)...), "; "),
		})
	}
	return rows
}

func (g *page) reasons(rs []fleet.Reason) []string {
	var out []string
	for _, r := range rs {
		out = append(out, g.reason(r))
	}
	return out
}

// asked is a price, and what for.
func (g *page) asked(o estimate.Offer) string {
	code, ok := map[estimate.Per]fleet.Code{
		estimate.PerCardHour: perCardHour, estimate.PerMachineHour: perMachineHour, estimate.PerCardMonth: perCardMonth,
		estimate.PerMachineMonth: perMachineMonth, estimate.PerCardYear: perCardYear, estimate.PerMachineYear: perMachineYear,
	}[o.Per]
	if !ok {
		return o.Price.String()
	}
	return g.say(code, fleet.Values{"price": fleet.Text(o.Price.String())})
}

// paid is how an offer is paid for.
func (g *page) paid(o estimate.Offer) string {
	how := g.charge(o.Charge)
	if o.Charge.Prepaid() {
		return how
	}
	billing := g.word(map[string]fleet.Code{
		string(fleet.BillingPerSecond): billingSecond, string(fleet.BillingPerHour): billingHour,
	}, string(o.Billing))
	if billing == "" {
		return how
	}
	return how + " · " + billing
}

func (g *page) charge(c estimate.Charge) string {
	return cmp.Or(g.word(map[string]fleet.Code{
		string(estimate.OnDemand): chargeOnDemand, string(estimate.Spot): chargeSpot, string(estimate.Month): chargeMonth, string(estimate.Year): chargeYear,
	}, string(c)), "?")
}

// source says where an offer was found; what was read elsewhere for an item of its
// own is told with it.
func (g *page) source(o estimate.Offer) string {
	switch o.Kind {
	case estimate.FromSeen:
		return g.say(wordEstimateSeen, fleet.Values{"of": fleet.Text(o.Source)})
	case estimate.FromConfig:
		return g.say(wordEstimateConfig, nil)
	}
	out := []string{o.Source}
	for _, one := range []struct {
		code fleet.Code
		told estimate.Told
	}{
		{estimate.ItemDisk, o.Disk.Told}, {estimate.ItemSnapshot, o.Snapshot.Told}, {estimate.ItemImage, o.Image.Told},
		{estimate.ItemPublicIP, o.PublicIP.Told}, {estimate.ItemTraffic, o.Traffic.Told},
	} {
		if one.told != (estimate.Told{}) {
			out = append(out, g.say(one.code, nil)+": "+strings.TrimSpace(one.told.AsOf+" "+one.told.Source))
		}
	}
	return strings.Join(out, "; ")
}

// busier says what better fed cards would save.
func (g *page) busier(t estimate.Table, utilisation string) {
	if utilisation == "" || len(t.Costs) == 0 {
		return
	}
	now, err := estimate.ParsePercent(utilisation)
	if err != nil {
		return // was refused before
	}
	c := t.Costs[0]
	less, ok := estimate.Less(c.Items.Instance, now, busy())
	if !ok {
		return
	}
	g.print("")
	g.line(wordEstimateBusier, fleet.Values{
		"now": fleet.Text(strings.TrimSuffix(utilisation, "%")), "then": fleet.Text("95"),
		"times": fleet.Text(estimate.Utilisation(now, busy()).Decimal(3)), "total": fleet.Text(less.Round().String()), "offer": fleet.Text(c.Offer.Name),
	})
}

// even gives from which use on prepaid offers are cheaper.
func (g *page) even(t estimate.Table) [][]string {
	rows := [][]string{g.heads(columnPrepaid, columnGPU, columnAgainst, columnEven, columnWhy)}
	for _, e := range t.Even {
		code, hours := wordEstimateEvenWhy, e.Hours.Decimal(1)
		if e.Never {
			code, hours = wordEstimateEvenNever, g.say(wordEstimateNever, nil)+" ("+hours+")"
		}
		rows = append(rows, []string{
			e.Prepaid, cards(fleet.GPU{Model: e.GPU, Count: e.Cards}), e.Against + " (" + g.charge(e.Charge) + ")", hours,
			g.say(code, fleet.Values{
				"price": fleet.Text(e.Price.Round().String()), "base": fleet.Text(e.Base.Short(3)), "each": fleet.Text(e.Each.Round().String()),
				"hour": fleet.Text(e.PerHour.Round().String()), "whole": fleet.Text(e.Whole.Round().String()),
			}),
		})
	}
	return rows
}

// sums gives what all jobs come to at each offer.
func (g *page) sums(a estimate.Answer, t estimate.Table) [][]string {
	heads := g.heads(columnRank, columnOffer, columnGPU, columnHours, columnInstance, columnDisk, columnImages, columnPublicIP, columnTraffic, columnTotal)
	rows := [][]string{append(heads, g.marginHead(a), g.say(columnWhy, nil))}
	for n, s := range t.Sums {
		least := len(s.Missing) > 0
		why := []string{g.asked(s.Offer), g.paid(s.Offer)}
		if s.Offer.AsOf != "" {
			why = append(why, s.Offer.AsOf)
		}
		why = append(append(why, g.source(s.Offer)), g.reasons(s.Why)...)
		if len(s.Lacks) > 0 {
			why = append(why, g.say(wordEstimateLacks, fleet.Values{"jobs": fleet.Text(strings.Join(s.Lacks, ", "))}))
		}
		row := append([]string{strconv.Itoa(n + 1), s.Offer.Name, cmp.Or(s.Offer.GPU, "-"), s.Hours.Short(3)}, items(s.Items, s.Missing)...)
		rows = append(rows, append(row, g.sum(s.Total, least), g.sum(s.WithMargin, least), strings.Join(why, "; ")))
	}
	return rows
}

// mix says what it comes to if each job runs where it is cheapest.
func (g *page) mix(t estimate.Table) {
	if t.Mix == nil {
		return
	}
	code := wordEstimateMix
	if t.Mix.Incomplete {
		code = wordEstimateMixLeast
	}
	g.print("")
	g.print(g.bold(g.say(code, fleet.Values{
		"total": fleet.Text(t.Mix.Total.Round().String()), "margin": fleet.Text(t.Mix.WithMargin.Round().String()),
	})))
	rows := [][]string{g.heads(columnJob, columnTimes, columnOffer, columnGPU, columnTotal)}
	for _, p := range t.Mix.Parts {
		rows = append(rows, []string{p.Job, strconv.Itoa(p.Times), p.Offer.Name, offered(p.Offer, p.Cards), bare(p.Total)})
	}
	g.table(0, rows)
	if len(t.Mix.Lacks) > 0 {
		g.line(wordEstimateLacks, fleet.Values{"jobs": fleet.Text(strings.Join(t.Mix.Lacks, ", "))})
	}
}

// looks says what to look at before believing the sums, each thing once.
func (g *page) looks(a estimate.Answer, k known) {
	for _, currency := range slices.Sorted(maps.Keys(a.FX)) {
		g.line(wordEstimateFX, fleet.Values{
			"currency": fleet.Text(currency), "rate": fleet.Text(a.FX[currency].String()), "from": fleet.Text(k.from[currency]),
		})
	}
	var warnings []string // each once, with everything it is about
	of := map[string][]string{}
	for _, t := range a.Tables {
		for _, c := range t.Costs {
			for _, w := range g.reasons(c.Warnings) {
				if of[w] == nil {
					warnings = append(warnings, w)
				}
				if name := full(c.Offer); !slices.Contains(of[w], name) {
					of[w] = append(of[w], name)
				}
			}
		}
	}
	for _, w := range warnings {
		g.line(wordEstimateWarning, fleet.Values{"offer": fleet.Text(strings.Join(of[w], ", ")), "why": fleet.Text(w)})
	}
	for _, l := range a.LeftOut {
		v := fleet.Values{"offer": fleet.Text(full(l.Offer)), "why": fleet.Nested(l.Why)}
		if l.Job == "" {
			g.line(wordEstimateLeftOut, v)
			continue
		}
		v["job"] = fleet.Text(l.Job)
		g.line(wordEstimateLeftJob, v)
	}
}

// full names an offer so that it is not taken for another of the same account.
func full(o estimate.Offer) string {
	if o.GPU == "" {
		return o.Name
	}
	return o.Name + " (" + o.GPU + ")"
}
