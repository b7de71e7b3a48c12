package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/providers"
)

// walletEvery is how often a wallet is read at most, and shortestWallet the least age
// at which a reading is too old: one that failed makes no wallet unknown.
const (
	walletEvery    = 5 * time.Minute
	shortestWallet = 2 * walletEvery
)

// balance decodes a policy that watches what is left in wallets.
func (r *reader) balance(m *mapping, p *Policy, matched matcher) {
	t := &policies.Balance{Watches: matched.watches()}
	levels := m.take("levels")
	t.Levels = r.levels(levels, matched)
	p.set("levels", levels, levelsText(t.Levels))
	spend := m.take("spend_max")
	t.SpendMax = spend.amount("write what may leave the wallet within a day, such as 500 CNY")
	if spend.given() {
		p.set("spend_max", spend, t.SpendMax.String())
	}
	age := m.take("max_age")
	t.MaxAge = r.walletAge(age, matched)
	p.set("max_age", age, spanText(t.MaxAge))
	r.tellsBalance(m, matched)
	var acts []policies.MoneyAct
	for _, l := range t.Levels {
		acts = append(acts, l.Then)
	}
	r.moneyTerms(m, p, acts)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// watches tells whether a match may be about an account: its other conditions are about
// instances.
func (m matcher) watches() func(account, provider string) bool {
	return func(account, provider string) bool {
		return (len(m.accounts) == 0 || contains(m.accounts, account)) && (len(m.kinds) == 0 || contains(m.kinds, provider))
	}
}

// tellsBalance reports a policy about accounts of which no platform tells what is left.
func (r *reader) tellsBalance(m *mapping, matched matcher) {
	var silent []string
	for name, kind := range r.about(matched) {
		if kind.Can(providers.CanWallet) {
			return
		}
		if name != "" && !contains(silent, kind.Name) {
			silent = append(silent, kind.Name)
		}
	}
	if len(silent) > 0 {
		slices.Sort(silent)
		m.bad(strings.Join(silent, " and ")+" tells no balance, and the policy is about nothing else", "use type: budget, which goes by prices and time")
	}
}

// walletAge reads from what age on a reading says nothing any more. Wallets are read
// with polls.
func (r *reader) walletAge(n node, matched matcher) time.Duration {
	var slowest Account
	for name := range r.about(matched) {
		for _, a := range r.cfg.Accounts {
			if a.Name == name && a.Poll > slowest.Poll {
				slowest = a
			}
		}
	}
	age := n.span(max(3*walletEvery, 2*slowest.Poll))
	switch {
	case age < shortestWallet:
		n.bad(fmt.Sprintf("%s is too short: a wallet is read every %s", spanText(age), spanText(walletEvery)), "write "+spanText(shortestWallet)+" or more")
	case age < 2*slowest.Poll:
		n.bad(fmt.Sprintf("%s is too short: account %s is polled every %s", spanText(age), slowest.Name, spanText(slowest.Poll)), "write "+spanText(2*slowest.Poll)+" or more")
	}
	return age
}

// usualLevels hold where nothing is said. They go by what is spent, so they suit every
// wallet.
func usualLevels() []policies.Level {
	return []policies.Level{
		{Runway: 24 * time.Hour, Then: policies.MoneyWarn, Severity: fleet.Warning},
		{Runway: 6 * time.Hour, Then: policies.MoneyWarn, Severity: fleet.Critical},
	}
}

// levels reads the thresholds of wallets.
func (r *reader) levels(n node, matched matcher) []policies.Level {
	if !n.given() {
		return usualLevels()
	}
	if n.isEmptyList() {
		n.bad("is empty", "write [{below: 100 CNY, then: warn}], or leave it out for 24h and 6h of runway")
	}
	var all []policies.Level
	var places []*mapping
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		l, ok := r.level(m, matched)
		m.done()
		if ok {
			all, places = append(all, l), append(places, m)
		}
	}
	inOrderOfDepth(all, places)
	return all
}

// level reads one threshold, and whether it has one.
func (r *reader) level(m *mapping, matched matcher) (policies.Level, bool) {
	var l policies.Level
	m.asked.needOneOf([]string{"below", "runway"})
	below, runway := m.take("below"), m.take("runway")
	l.Below = below.amount("write what must be left, such as 100 CNY")
	l.Runway = runway.span(0)
	l.Then = r.moneyAct(m.take("then"), matched)
	severity := m.take("severity")
	l.Severity = fleet.Severity(cmp.Or(severity.word("", string(fleet.Info), string(fleet.Warning), string(fleet.Critical)), string(l.Then.Severity())))
	switch {
	case below.given() && runway.given():
		m.bad("has both below and runway", "write two levels")
	case !below.given() && !runway.given():
		m.bad("has no threshold", "write below: 100 CNY, or runway: 6h")
	default:
		return l, l.Runway > 0 || l.Below.Micros > 0
	}
	return l, false
}

// inOrderOfDepth reports levels that are there twice, and deeper ones that do less.
func inOrderOfDepth(all []policies.Level, places []*mapping) {
	acts := policies.MoneyActs()
	for n, l := range all {
		for o, other := range all {
			same := (l.Runway > 0) == (other.Runway > 0) && l.Below.Currency == other.Below.Currency
			switch {
			case !same || n == o:
			case l.Runway == other.Runway && l.Below == other.Below:
				if n > o {
					places[n].bad(fmt.Sprintf("%s is there already", levelText(l)), "give each level its own threshold")
				}
			case (l.Runway < other.Runway || l.Below.Micros < other.Below.Micros) && slices.Index(acts, l.Then) < slices.Index(acts, other.Then):
				places[n].bad(fmt.Sprintf("%s does less (%s) than %s, above it (%s)", levelText(l), l.Then, levelText(other), other.Then),
					"write then: "+string(other.Then)+", or more")
			}
		}
	}
}

// moneyAct reads what is done for the sake of money.
func (r *reader) moneyAct(n node, matched matcher) policies.MoneyAct {
	known := []string{}
	for _, a := range policies.MoneyActs() {
		known = append(known, string(a))
	}
	if s, _ := n.source(); s == fleet.Stop.String() {
		n.bad("stop does not say what is stopped", "write stop-idle, or stop-all for what is at work too")
		return policies.MoneyWarn
	}
	act := policies.MoneyAct(n.word(string(policies.MoneyWarn), known...))
	if act.Stops() {
		r.able(n, fleet.Stop, matched.accounts)
	}
	return act
}

// moneyTerms reads the terms of a policy about money, which stops at most, and keeps
// all data.
func (r *reader) moneyTerms(m *mapping, p *Policy, acts []policies.MoneyAct) {
	if n := m.take("data"); n.given() {
		n.bad("has no meaning here: nothing that loses data is done for the sake of money", "leave it out")
	}
	goal := fleet.Keep
	if slices.ContainsFunc(acts, policies.MoneyAct.Stops) {
		goal = fleet.Stop
	}
	if slices.Contains(acts, policies.StopIdle) {
		r.needsIdle(m)
	}
	r.terms(m, p, goal)
	p.Terms.Money = true
}

// amount reads money above nothing.
func (n node) amount(right string) fleet.Money {
	n = n.as(form{kind: kindMoney})
	s, ok := n.scalar()
	if !ok {
		return fleet.Money{}
	}
	m, err := fleet.ParseMoney(s)
	switch {
	case err != nil:
		n.bad(halves(err, right))
	case m.Micros <= 0:
		n.bad(s+" is not more than nothing", right)
	default:
		return m
	}
	return fleet.Money{}
}

func levelText(l policies.Level) string {
	if l.Runway > 0 {
		return "runway " + spanText(l.Runway)
	}
	return "below " + l.Below.String()
}

func levelsText(levels []policies.Level) string {
	var words []string
	for _, l := range levels {
		word := levelText(l) + ": " + string(l.Then)
		if l.Severity != l.Then.Severity() {
			word += " (" + string(l.Severity) + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
