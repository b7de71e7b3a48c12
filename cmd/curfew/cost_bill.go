package main

import (
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
)

// The words of what platforms billed.
const (
	columnBillWhat   fleet.Code = "cli.cost.bill.what"
	columnBillBilled fleet.Code = "cli.cost.bill.billed"

	wordBillOf       fleet.Code = "cli.cost.bill"
	wordBillNone     fleet.Code = "cli.cost.bill-none"
	wordBillLate     fleet.Code = "cli.cost.bill-late"
	wordBillApart    fleet.Code = "cli.cost.bill-apart"
	wordBillAgrees   fleet.Code = "cli.cost.bill-agrees"
	wordBillDiffers  fleet.Code = "cli.cost.bill-differs"
	wordBillNameless fleet.Code = "cli.cost.bill-nameless"
	wordBillAll      fleet.Code = "cli.cost.bill-all"

	billedStranger fleet.Code = "cli.cost.bill.unknown-resource"
	billedMore     fleet.Code = "cli.cost.bill.more"
	billedLess     fleet.Code = "cli.cost.bill.less"
	billedNever    fleet.Code = "cli.cost.bill.never-billed"
	billedUnpriced fleet.Code = "cli.cost.bill.unpriced"
)

// billWords are the words of what is not explained; all else needs none.
func billWords() map[ledger.Judgement]fleet.Code {
	return map[ledger.Judgement]fleet.Code{
		ledger.Stranger: billedStranger, ledger.More: billedMore, ledger.Less: billedLess,
		ledger.NeverBilled: billedNever, ledger.Unpriced: billedUnpriced,
	}
}

// bills writes what each platform billed beside what was reckoned, and what is not
// explained.
func (g *page) bills(all []ctl.BillCheck) {
	for _, c := range all {
		if len(c.Days) == 0 {
			g.line(wordBillNone, fleet.Values{"account": fleet.Text(c.Account)})
			continue
		}
		g.print(g.bold(g.say(wordBillOf, fleet.Values{
			"account": fleet.Text(c.Account),
			"from":    fleet.Text(c.Days[0].Day), "to": fleet.Text(c.Days[len(c.Days)-1].Day),
		})))
		g.table(2, g.billSums(c.Items))
		g.billApart(c.Days)
		rows := g.unexplained(c.Days)
		if len(rows) == 1 {
			g.print("  " + g.say(wordBillAgrees, nil))
			continue
		}
		g.print("  " + g.say(wordBillDiffers, nil))
		g.table(4, rows)
	}
}

// billSums gives the table by item, with a last line for all of them.
func (g *page) billSums(items []ledger.BillSum) [][]string {
	rows := [][]string{g.heads(columnCostItem, columnCostLedger, columnBillBilled, columnCostVouchers, columnCostGap)}
	var reckoned, billed, vouchers, gap fleet.Sums
	row := func(name string, s ledger.BillSum) {
		rows = append(rows, []string{name, s.Reckoned.Round().String(), s.Billed.Round().String(), some(s.Vouchers), some(s.Gap)})
	}
	for _, s := range items {
		row(g.say(itemWords()[s.Item], nil), s)
		reckoned.Add(s.Reckoned)
		billed.Add(s.Billed)
		vouchers.Add(s.Vouchers)
		gap.Add(s.Gap)
	}
	if len(items) > 1 {
		currency := items[0].Billed.Currency
		row(g.say(wordBillAll, nil), ledger.BillSum{
			Billed: billed.In(currency), Reckoned: reckoned.In(currency), Vouchers: vouchers.In(currency), Gap: gap.In(currency),
		})
	}
	return rows
}

// some gives an amount, or a dash where it rounds to nothing.
func some(m fleet.Money) string {
	if m.Round().IsZero() {
		return "-"
	}
	return m.Round().String()
}

// billApart says what is not compared: refunds, periods, and days whose bill may not be
// complete.
func (g *page) billApart(days []ledger.BillDay) {
	var refunded, bought fleet.Sums
	late := ""
	for _, d := range days {
		refunded.Add(d.Refunded)
		bought.Add(d.Bought)
		if d.Judgement == ledger.Late && late == "" {
			late = d.Day
		}
	}
	v := fleet.Values{}
	for key, sums := range map[string]fleet.Sums{"refunded": refunded, "bought": bought} {
		if slices.ContainsFunc(sums, func(m fleet.Money) bool { return !m.IsZero() }) {
			v[key] = fleet.Text(sums.String())
		}
	}
	if len(v) > 0 {
		g.print("  " + g.say(wordBillApart, v))
	}
	if late != "" {
		g.print("  " + g.say(wordBillLate, fleet.Values{"day": fleet.Text(late)}))
	}
}

// unexplained gives the table of what differs: each resource once for all days, with
// the first and the last of them, the largest difference first.
func (g *page) unexplained(days []ledger.BillDay) [][]string {
	type key struct {
		ref  fleet.Ref
		item fleet.Item
		is   ledger.Judgement
	}
	type differs struct {
		ledger.BillRow
		from, to string
	}
	at := map[key]int{}
	var all []differs
	for _, d := range days {
		for _, r := range d.Rows {
			if billWords()[r.Judgement] == "" {
				continue
			}
			k := key{r.Ref, r.Item, r.Judgement}
			n, found := at[k]
			if !found {
				at[k] = len(all)
				all = append(all, differs{r, d.Day, d.Day})
				continue
			}
			one := &all[n]
			one.to = d.Day
			one.Billed.Micros += r.Billed.Micros
			one.Reckoned.Micros += r.Reckoned.Micros
			one.Gap.Micros += r.Gap.Micros
		}
	}
	slices.SortStableFunc(all, func(a, b differs) int {
		return int(max(b.Gap.Micros, -b.Gap.Micros) - max(a.Gap.Micros, -a.Gap.Micros))
	})
	rows := [][]string{g.heads(columnCostDay, columnBillWhat, columnCostItem, columnCostLedger, columnBillBilled, columnCostResult)}
	for _, r := range all {
		day := r.from
		if r.to != r.from {
			day += " – " + r.to[len(time.DateOnly)-len("01-02"):]
		}
		name := r.Name
		switch {
		case r.Ref.IsZero():
			name = g.say(wordBillNameless, nil)
		case name == "":
			name = r.Ref.ID
		}
		rows = append(rows, []string{
			day, name, g.say(itemWords()[r.Item], nil), r.Reckoned.Round().String(), r.Billed.Round().String(), g.say(billWords()[r.Judgement], nil),
		})
	}
	return rows
}
