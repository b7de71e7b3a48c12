package policies

import (
	"time"

	"curfew/fleet"
)

// The reasons of a budget.
const (
	ReasonBudgetShare     fleet.Code = "policy.budget-share"
	ReasonBudgetForecast  fleet.Code = "policy.budget-forecast"
	ReasonBudgetTold      fleet.Code = "policy.budget-told"
	ReasonBudgetUnread    fleet.Code = "policy.budget-unread"
	ReasonBudgetNoOwner   fleet.Code = "policy.budget-no-owner"
	ReasonBudgetNoRun     fleet.Code = "policy.budget-no-run"
	ReasonBudgetRun       fleet.Code = "policy.budget-run"
	ReasonBudgetRunPrice  fleet.Code = "policy.budget-run-price"
	ReasonBudgetRunAbroad fleet.Code = "policy.budget-run-currency"
)

// The conditions of a budget's findings. To the first is added the share.
const (
	ConditionSpent        = "spent"
	ConditionOverForecast = "over-forecast"
	ConditionRunUnpriced  = "run-cost-unknown"
	ConditionRunAbroad    = "run-cost-currency"
)

// forecastAfter is how much must be known of what was spent lately before it says
// anything of what will be.
const forecastAfter = 6 * time.Hour

// Budget is a limit on what may be spent in a time.
type Budget struct {
	Common
	// Watches tells whether it may be about an account: what holds back orders for the
	// sake of everything holds them back there.
	Watches func(account, provider string) bool
	Limit   fleet.Money
	Period  Period
	By      By // what is counted apart; zero: everything together
	At      []BudgetStep
}

// BudgetStep is what happens when a share of the limit is reached.
type BudgetStep struct {
	Percent  int
	Then     MoneyAct
	Severity fleet.Severity
}

// Name is the rule's name in the configuration.
func (b Budget) Name() string { return b.Common.Name }

// Key is the group that a thing's cost is counted in, and its name.
func (b Budget) Key(i fleet.Instance) (key, name string) {
	switch b.By {
	case ByAccount:
		return i.Ref.Account, i.AccountName
	case ByOwner:
		return i.Owner, i.Owner
	}
	return "", ""
}

// Decide answers for every instance the policy matches, and, asked about the accounts,
// tells of every group that reached a share of the limit.
//
// What was spent is what the tally of the present period says. Until there is one
// nothing can be told; an older one of the same period says too little at most. Only
// the limit's currency counts.
func (b Budget) Decide(v View) Result {
	if b.Period == PerRun {
		return b.each(&v, b.ofRun)
	}
	tally, ok := v.Spend[b.Name()]
	ok = ok && v.Now.Before(tally.To)
	shares := map[string]*share{}
	out := b.each(&v, func(s *subject) fleet.Verdict {
		if kept, ok := s.nothingToStop(); ok {
			return kept
		}
		if !ok {
			return s.gap(fleet.Because(ReasonBudgetUnread, nil))
		}
		key, name := b.Key(*s.instance)
		if shares[key] == nil {
			shares[key] = b.share(tally, groupOf(tally, key, name))
		}
		of := shares[key]
		if of.stop == nil {
			return s.keep(of.why)
		}
		return s.stopFor(*of.stop)
	})
	if ok && len(v.Things.Accounts) > 0 && b.Match != nil {
		for _, g := range tally.Groups {
			b.tellOf(b.share(tally, g), &v, &out)
		}
	}
	return out
}

// groupOf gives a group of a tally; one that it does not hold has spent nothing.
func groupOf(t Tally, key, name string) Group {
	for _, g := range t.Groups {
		if g.Key == key {
			return g
		}
	}
	return Group{Key: key, Name: name}
}

// share is how much of the limit a group has spent.
type share struct {
	group    Group
	spent    fleet.Money
	period   string      // names the period, the limit and the group: another limit is told of anew
	reached  *BudgetStep // the highest; nil: none
	act      MoneyAct    // the furthest of all that were reached
	why      fleet.Reason
	stop     *moneyStop // nil: nothing is stopped
	forecast fleet.Money
	foretold bool
}

func (b *Budget) share(t Tally, g Group) *share {
	s := &share{group: g, spent: g.Sum.In(b.Limit.Currency)}
	s.period = t.From.Format(time.DateOnly) + "/" + b.Limit.String() + "/" + g.Key
	s.reached, s.act = b.reached(s.spent)
	s.forecast, s.foretold = b.foretell(t, g, s.spent)
	values := fleet.Values{
		"spent": fleet.Amount(s.spent.Round()), "limit": fleet.Amount(b.Limit), "percent": fleet.Number(float64(percentOf(s.spent, b.Limit))),
		"from": fleet.Moment(t.From), "to": fleet.Moment(t.To),
	}
	if b.By != "" {
		values["who"] = b.whose(g)
	}
	if s.foretold {
		values["forecast"] = fleet.Amount(s.forecast.Round())
	}
	if g.Unknown > 0 {
		values["unknown"] = fleet.Number(float64(g.Unknown))
	}
	if other := without(g.Sum, b.Limit.Currency); len(other) > 0 {
		values["other"] = fleet.Text(other.String())
	}
	if !t.Since.IsZero() {
		values["since"] = fleet.Moment(t.Since)
	}
	s.why = fleet.Because(ReasonBudgetShare, values)
	if s.act.Stops() {
		s.stop = &moneyStop{act: s.act, why: s.why, period: s.period + "/" + percentText(s.reached.Percent)}
	}
	return s
}

// whose names a group.
func (b *Budget) whose(g Group) fleet.Value {
	switch {
	case g.Name != "":
		return fleet.Text(g.Name)
	case g.Key == "":
		return fleet.Nested(fleet.Because(ReasonBudgetNoOwner, nil))
	}
	return fleet.Text(g.Key)
}

// reached gives the highest share of the limit that was reached, and the furthest that
// any of those reached asks for.
func (b *Budget) reached(spent fleet.Money) (highest *BudgetStep, act MoneyAct) {
	for n := range b.At {
		step := &b.At[n]
		if times(spent.Micros, 100).Cmp(times(b.Limit.Micros, int64(step.Percent))) < 0 {
			continue
		}
		if highest == nil || step.Percent > highest.Percent {
			highest = step
		}
		if step.Then.further(act) {
			act = step.Then
		}
	}
	return highest, act
}

// foretell says what will have been spent at the end of the period if it goes on as
// lately.
func (b *Budget) foretell(t Tally, g Group, spent fleet.Money) (fleet.Money, bool) {
	rest := t.To.Sub(t.At)
	if g.LatelyFor < forecastAfter || rest < 0 {
		return fleet.Money{}, false
	}
	more, ok := ratio(g.Lately.In(b.Limit.Currency).Micros, int64(rest), int64(g.LatelyFor))
	if !ok || more > maxMicros-max(spent.Micros, 0) {
		return fleet.Money{}, false
	}
	return fleet.Money{Micros: spent.Micros + more, Currency: b.Limit.Currency}, true
}

// tellOf tells of a group, and holds back orders for its sake.
func (b *Budget) tellOf(s *share, v *View, out *Result) {
	ref, in := b.ref(s.group, v), b.accounts(s.group, v)
	if s.reached != nil {
		f := b.finding(ref, ConditionSpent+" "+percentText(s.reached.Percent), s.period,
			fleet.Because(ReasonBudgetTold, fleet.Values{"why": fleet.Nested(s.why), "does": b.does(s.act, in...)}))
		f.Category, f.Severity = fleet.CategoryMoney, s.reached.severity()
		out.Findings = append(out.Findings, f)
	}
	if s.foretold && s.spent.Micros < b.Limit.Micros && s.forecast.Micros > b.Limit.Micros {
		f := b.finding(ref, ConditionOverForecast, s.period, fleet.Because(ReasonBudgetForecast, fleet.Values{"why": fleet.Nested(s.why)}))
		f.Category = fleet.CategoryMoney
		out.Findings = append(out.Findings, f)
	}
	if b.holdsBack(s.act, in...) {
		for _, ref := range b.blocked(ref, in) {
			out.Blocks = append(out.Blocks, fleet.Block{Policy: b.Name(), Ref: ref, Reason: s.why})
		}
	}
}

// ref is what people are told of where a group is meant.
func (b *Budget) ref(g Group, v *View) fleet.Ref {
	switch b.By {
	case ByAccount:
		if a, ok := v.Accounts[g.Key]; ok {
			return a.Ref
		}
		return fleet.Ref{Account: g.Key, Kind: fleet.KindAccount, ID: g.Key}
	case ByOwner:
		return fleet.Ref{Kind: fleet.KindOwner, ID: g.Key}
	}
	return fleet.Ref{Kind: fleet.KindBudget, ID: b.Name()}
}

// accounts are those that a group's things may be in, as far as they are known.
func (b *Budget) accounts(g Group, v *View) []Account {
	var out []Account
	for _, identity := range inOrderOf(v.Things.Accounts) {
		a, ok := v.Accounts[identity]
		if ok && (b.By != ByAccount || identity == g.Key) && (b.Watches == nil || b.Watches(a.Name, a.Provider)) {
			out = append(out, a)
		}
	}
	return out
}

// blocked is where orders are held back: for the group's sake, or, where everything is
// counted together, in every account that the budget may be about and that is no dry run.
func (b *Budget) blocked(ref fleet.Ref, in []Account) []fleet.Ref {
	if b.By != "" || b.Watches == nil {
		return []fleet.Ref{ref}
	}
	var out []fleet.Ref
	for _, a := range in {
		if b.enforces(a) {
			out = append(out, a.Ref)
		}
	}
	return out
}

func (s BudgetStep) severity() fleet.Severity {
	switch {
	case s.Severity != "":
		return s.Severity
	case s.Percent >= 100:
		return fleet.Critical
	}
	return fleet.Warning
}
