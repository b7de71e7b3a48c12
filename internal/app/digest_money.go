package app

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/policies"
)

// What a digest says of money, of what is left over, and of what ends.
const (
	digestSpent        fleet.Code = "digest.spent"
	digestSpentAccount fleet.Code = "digest.spent-account"
	digestSaved        fleet.Code = "digest.saved"
	digestLeft         fleet.Code = "digest.left"
	digestLeftOne      fleet.Code = "digest.left-one"
	digestPaid         fleet.Code = "digest.paid"
	digestPaidUntil    fleet.Code = "digest.paid-until"
	digestWallets      fleet.Code = "digest.wallets"
	digestWallet       fleet.Code = "digest.wallet"
	digestBudgets      fleet.Code = "digest.budgets"
	digestBudget       fleet.Code = "digest.budget"
	digestWeek         fleet.Code = "digest.week"
)

const (
	// leftAfter is how long nothing must have used a thing before a digest calls it left
	// over.
	leftAfter = 24 * time.Hour
	// paidSoon and paidThisWeek are how long before what is paid by the period ends
	// people hear of it.
	paidSoon     = 3 * 24 * time.Hour
	paidThisWeek = 8 * 24 * time.Hour
	// walletOld is from what age on a reading of a wallet is told with its time.
	walletOld = time.Hour
)

// digestBudgetOf is how one group of a budget stands.
type digestBudgetOf struct {
	budget policies.Budget
	group  policies.Group
	until  time.Time
}

// budgetsAt gives the groups of all budgets that were reckoned, the fullest first.
func budgetsAt(budgets []policies.Budget, tallies map[string]policies.Tally, now time.Time) []digestBudgetOf {
	var out []digestBudgetOf
	for _, b := range budgets {
		t, ok := tallies[b.Name()]
		if !ok || !now.Before(t.To) {
			continue
		}
		for _, g := range t.Groups {
			out = append(out, digestBudgetOf{b, g, t.To})
		}
	}
	slices.SortStableFunc(out, func(a, b digestBudgetOf) int {
		_, p := a.budget.Spent(a.group)
		_, q := b.budget.Spent(b.group)
		return cmp.Compare(q, p)
	})
	return out
}

// leftOver reports whether a resource is one that the platform itself says belongs to
// nothing, for a day at least.
func leftOver(r *fleet.Resource, now time.Time) bool {
	return (r.Ref.Kind == fleet.KindDisk || r.Ref.Kind == fleet.KindPublicIP) && r.AttachedTo.IsZero() && len(r.UsedBy) == 0 &&
		r.Shared != fleet.Yes && !r.UnusedSince.IsZero() && now.Sub(r.UnusedSince) >= leftAfter && !costsNothing(r.Price)
}

func costsNothing(p fleet.Price) bool { return p.Known() && p.PerHour.IsZero() }

// spentSection says what everything cost since the last digest, account by account; of
// a week also what the one before did.
func spentSection(s digestView) notify.Section {
	m := s.money
	if m == nil || len(m.accounts) == 0 {
		return notify.Section{}
	}
	v := spentValues(m.total, m.past, !m.before.IsZero(), m.unknown)
	if !m.since.IsZero() {
		v["since"] = minute(m.since)
	}
	if change, ok := change(m.total, m.past); ok && !m.before.IsZero() && m.since.IsZero() {
		v["change"] = fleet.Text(change)
	}
	out := notify.Section{Head: fleet.Because(digestSpent, v)}
	for _, one := range m.accounts {
		v := spentValues(one.total, one.past, !m.before.IsZero(), one.unknown)
		v["account"] = short(one.name)
		if one.ran > 0 {
			v["ran"], v["hours"] = fleet.Number(float64(one.ran)), fleet.Span(one.hours.Round(time.Minute))
		}
		out.Add(notify.Item{Text: fleet.Because(digestSpentAccount, v)})
	}
	return out
}

func spentValues(sums, before fleet.Sums, compares bool, unknown int) fleet.Values {
	v := fleet.Values{}
	if !isNothing(sums) {
		v["sum"] = fleet.Text(sums.String())
	}
	if compares {
		v["week"] = fleet.Text("week")
		if !isNothing(before) {
			v["before"] = fleet.Text(before.String())
		}
	}
	if unknown > 0 {
		v["unknown"] = fleet.Number(float64(unknown))
	}
	return v
}

// change is by how much more was spent than before, where both are of one currency.
func change(now, before fleet.Sums) (string, bool) {
	if len(now) != 1 || len(before) != 1 || now[0].Currency != before[0].Currency || before[0].Micros <= 0 {
		return "", false
	}
	percent := int64(math.Round(100 * (float64(now[0].Micros)/float64(before[0].Micros) - 1)))
	if percent > 999 {
		return "", false
	}
	sign := ""
	if percent >= 0 {
		sign = "+"
	}
	return sign + strconv.FormatInt(percent, 10) + "%", true
}

// savedLine says what stops saved, as an estimate; zero where nothing can be told.
func savedLine(s saved) fleet.Reason {
	if isNothing(s.sums) || s.stops == 0 {
		return fleet.Reason{}
	}
	return fleet.Because(digestSaved, fleet.Values{"sum": fleet.Text(s.sums.String()), "stops": fleet.Number(float64(s.stops))})
}

// aDay gives what costs by the hour come to in a day.
func aDay(perHour []fleet.Money) fleet.Sums {
	var out fleet.Sums
	for _, m := range perHour {
		if day, ok := (fleet.Price{PerHour: m, Source: fleet.PriceProvider}).For(24 * time.Hour); ok {
			out.Add(day)
		}
	}
	return out
}

// leftSection says what nothing uses and goes on costing, and what that is a day.
func leftSection(s digestView) notify.Section {
	if len(s.left) == 0 {
		return notify.Section{}
	}
	all := slices.Clone(s.left)
	slices.SortStableFunc(all, func(a, b fleet.Resource) int {
		return byCost(digestThing{Instance: a.Subject()}, digestThing{Instance: b.Subject()})
	})
	var sum notify.Tally
	var out notify.Section
	for _, r := range all {
		sum.Add(&r.Price)
		v := s.naming(digestThing{Instance: r.Subject()})
		v["kind"], v["for"] = fleet.Nested(r.Ref.Kind.Reason()), fleet.Span(s.at.Sub(r.UnusedSince).Truncate(time.Hour))
		if r.Price.Known() {
			v["day"] = fleet.Text(aDay([]fleet.Money{r.Price.PerHour}).String())
		}
		out.Add(notify.Item{Text: fleet.Because(digestLeftOne, v), Cost: new(r.Price)})
	}
	v := fleet.Values{"count": fleet.Number(float64(sum.Count))}
	if day := aDay(sum.PerHour); len(day) > 0 {
		v["day"] = fleet.Text(day.String())
	}
	if sum.Unpriced > 0 {
		v["unpriced"] = fleet.Number(float64(sum.Unpriced))
	}
	out.Head = fleet.Because(digestLeft, v)
	return out
}

// paidSection says what is paid by the period, and until when.
func paidSection(s digestView) notify.Section {
	within := paidSoon
	if s.weekly {
		within = paidThisWeek
	}
	var ends []digestThing
	for _, i := range slices.Concat(s.things, s.beside) {
		if i.Charge.Type == fleet.ChargePeriod && !i.Charge.End.IsZero() && i.Charge.End.Before(s.at.Add(within)) && !i.State.Gone() {
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 {
		return notify.Section{}
	}
	slices.SortStableFunc(ends, func(a, b digestThing) int { return a.Charge.End.Compare(b.Charge.End) })
	out := notify.Section{Head: fleet.Because(digestPaid, nil)}
	for _, i := range ends {
		v := s.naming(i)
		v["at"] = minute(i.Charge.End)
		if !i.Charge.End.After(s.at) {
			v["over"] = fleet.Text("over")
		}
		out.Add(notify.Item{Text: fleet.Because(digestPaidUntil, v)})
	}
	return out
}

// walletsSection says what is left in every wallet and how long it lasts. On a day on
// which nothing costs anything that is no news.
func walletsSection(s digestView) notify.Section {
	news := s.weekly
	for _, a := range s.accounts {
		news = news || a.Burn.Unpriced > 0 || !isNothing(a.Burn.PerHour)
	}
	if !news {
		return notify.Section{}
	}
	out := notify.Section{Head: fleet.Because(digestWallets, nil)}
	for _, identity := range slices.SortedFunc(maps.Keys(s.accounts), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.accounts[a].Name, s.accounts[b].Name), cmp.Compare(a, b))
	}) {
		a := s.accounts[identity]
		what, at, ok := a.Left()
		if !ok {
			continue
		}
		v := fleet.Values{"account": short(a.Name), "what": fleet.Nested(what)}
		if s.at.Sub(at) >= walletOld {
			v["at"] = minute(at)
		}
		out.Add(notify.Item{Text: fleet.Because(digestWallet, v)})
	}
	if len(out.Items) == 0 {
		return notify.Section{}
	}
	return out
}

// budgetsSection says how much is spent of every budget.
func budgetsSection(s digestView) notify.Section {
	out := notify.Section{Head: fleet.Because(digestBudgets, nil)}
	for _, b := range s.budgets {
		spent, percent := b.budget.Spent(b.group)
		if spent.IsZero() && !s.weekly {
			continue // nothing to tell in the morning
		}
		v := fleet.Values{
			"policy": short(b.budget.Name()), "spent": fleet.Amount(spent), "limit": fleet.Amount(b.budget.Limit),
			"percent": fleet.Number(float64(percent)), "until": minute(b.until),
		}
		if b.budget.By != "" {
			v["who"] = b.budget.Whose(b.group)
		}
		if b.group.Unknown > 0 {
			v["unknown"] = fleet.Number(float64(b.group.Unknown))
		}
		out.Add(notify.Item{Text: fleet.Because(digestBudget, v)})
	}
	if len(out.Items) == 0 {
		return notify.Section{}
	}
	return out
}
