package policies

import "curfew/fleet"

// ofRun answers for an instance under a budget for each run. What a run has cost is the
// time since its begin at the instance's present price.
func (b Budget) ofRun(s *subject) fleet.Verdict {
	if kept, ok := s.nothingToStop(); ok {
		return kept
	}
	// Of several at once the one that began first has cost most, and is told of.
	run := firstOpen(s.ofBoot())
	if run == nil {
		return s.keep(fleet.Because(ReasonBudgetNoRun, nil))
	}
	price := s.instance.Price
	cost, ok := price.For(s.view.Now.Sub(run.StartedAt))
	switch {
	case !ok || run.StartedAt.IsZero():
		why := fleet.Because(ReasonBudgetRunPrice, told(*run))
		s.spend(ConditionRunUnpriced, run.ID, fleet.Warning, why)
		return s.gap(why)
	case cost.Currency != b.Limit.Currency:
		why := fleet.Because(ReasonBudgetRunAbroad, fleet.Values{
			"run": fleet.Text(run.Name()), "currency": fleet.Text(cost.Currency), "limit": fleet.Amount(b.Limit)})
		s.spend(ConditionRunAbroad, run.ID, fleet.Warning, why)
		return s.gap(why)
	}
	values := told(*run)
	values["spent"], values["limit"] = fleet.Amount(cost.Round()), fleet.Amount(b.Limit)
	values["percent"] = fleet.Number(float64(percentOf(cost, b.Limit)))
	why := fleet.Because(ReasonBudgetRun, values)
	reached, act := b.reached(cost)
	period := run.ID + "/" + b.Limit.String()
	if reached == nil {
		return s.keep(why)
	}
	share := percentText(reached.Percent)
	s.spend(ConditionSpent+" "+share, period, reached.severity(),
		fleet.Because(ReasonBudgetTold, fleet.Values{"why": fleet.Nested(why), "does": b.doesToRun(act, s.payers()...)}))
	if !act.Stops() {
		return s.keep(why)
	}
	return s.stopFor(moneyStop{act: act, why: why, period: period + "/" + share})
}

// payers is the account that the instance is in, where that is known.
func (s *subject) payers() []Account {
	if a, ok := s.view.Accounts[s.instance.Ref.Account]; ok {
		return []Account{a}
	}
	return nil
}
