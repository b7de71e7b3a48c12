package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"curfew/fleet"
	"curfew/policies"
)

// budget decodes a policy about what may be spent in a time.
func (r *reader) budget(m *mapping, p *Policy, matched matcher) {
	t := &policies.Budget{Watches: matched.watches()}
	limit := m.need("limit", "write limit: and how much may be spent, such as 3000 CNY")
	t.Limit = limit.amount("write how much may be spent, such as 3000 CNY")
	p.set("limit", limit, t.Limit.String())
	period := m.need("period", "write period: day, week, month or run")
	t.Period = policies.Period(period.word("", string(policies.Day), string(policies.Week), string(policies.Month), string(policies.PerRun)))
	p.set("period", period, string(t.Period))
	by := m.take("by")
	t.By = policies.By(by.word("", string(policies.ByAccount), string(policies.ByOwner)))
	if by.given() {
		p.set("by", by, string(t.By))
		if t.Period == policies.PerRun {
			by.bad("has no meaning with period: run, which counts each run apart", "leave it out")
		}
	}
	at := m.take("at")
	t.At = r.shares(at, matched)
	p.set("at", at, sharesText(t.At))
	if t.Period == policies.PerRun && slices.ContainsFunc(t.At, func(s policies.BudgetStep) bool { return s.Then == policies.BlockOrders }) {
		at.bad("block-orders has no meaning with period: run: no order is part of a run", "write warn, stop-idle or stop-all")
	}
	var acts []policies.MoneyAct
	for _, s := range t.At {
		acts = append(acts, s.Then)
	}
	r.moneyTerms(m, p, acts)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// mostPercent is the highest share of a limit that can be named.
const mostPercent = 1000

// shares reads what is done when shares of a limit are reached.
func (r *reader) shares(n node, matched matcher) []policies.BudgetStep {
	if !n.given() {
		return []policies.BudgetStep{step(50, policies.MoneyWarn), step(80, policies.MoneyWarn), step(100, policies.MoneyWarn)}
	}
	m := n.mapping()
	if m.given() && len(m.keys) == 0 {
		m.bad("is empty", "write {80%: warn, 100%: stop-idle}, or leave it out for warnings at 50%, 80% and 100%")
	}
	var out []policies.BudgetStep
	all := m.all()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		act := r.moneyAct(all[key], matched)
		percent, err := strconv.Atoi(strings.TrimSuffix(key, "%"))
		if err != nil || percent < 1 || percent > mostPercent || key != strconv.Itoa(percent)+"%" {
			r.report(m.pairs[key].key, m.pathOf(key), fmt.Sprintf("%q is not a share of the limit", key), fmt.Sprintf("write a whole percentage from 1%% to %d%%, such as 80%%", mostPercent))
			continue
		}
		out = append(out, step(percent, act))
	}
	slices.SortFunc(out, func(a, b policies.BudgetStep) int { return cmp.Compare(a.Percent, b.Percent) })
	acts := policies.MoneyActs()
	for i := 1; i < len(out); i++ {
		if less, more := out[i], out[i-1]; slices.Index(acts, less.Then) < slices.Index(acts, more.Then) {
			all[fmt.Sprintf("%d%%", less.Percent)].bad(fmt.Sprintf("does less (%s) than %d%% does (%s)", less.Then, more.Percent, more.Then), "write "+string(more.Then)+", or more")
		}
	}
	return out
}

func step(percent int, act policies.MoneyAct) policies.BudgetStep {
	s := policies.BudgetStep{Percent: percent, Then: act, Severity: fleet.Warning}
	if percent >= 100 {
		s.Severity = fleet.Critical
	}
	return s
}

func sharesText(steps []policies.BudgetStep) string {
	var words []string
	for _, s := range steps {
		words = append(words, fmt.Sprintf("%d%%: %s", s.Percent, s.Then))
	}
	return strings.Join(words, ", ")
}
