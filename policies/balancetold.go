package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// finding makes one about the wallet's account.
func (p *purse) finding(condition string) fleet.Finding {
	f := p.policy.finding(p.account.Ref, condition, "", fleet.Reason{})
	f.Category = fleet.CategoryMoney
	return f
}

// findings tells of the wallet.
func (p *purse) findings() []fleet.Finding {
	var out []fleet.Finding
	if f, ok := p.unknown(); ok {
		out = append(out, f)
	}
	for _, s := range p.told() {
		f := p.finding(s.condition())
		f.Severity, f.Standing, f.Quiet = s.severity(), true, !s.worst
		f.Reason = fleet.Because(ReasonLevelTold, fleet.Values{
			"why": fleet.Nested(p.because(s.Level)), "does": p.policy.does(s.Then, p.account), "zero": fleet.Nested(p.atZero()),
		})
		f.Over = fleet.Because(ReasonLevelOver, fleet.Values{"level": fleet.Nested(s.reason())})
		out = append(out, f)
	}
	return slices.Concat(out, p.blindTo(), p.flows())
}

// blindTo tells of a wallet in another currency than everything that it is compared with,
// and of one of which no runway can be told, since nothing that runs has a known price:
// an unknown burn is not none.
func (p *purse) blindTo() []fleet.Finding {
	if !p.known {
		return nil
	}
	var out []fleet.Finding
	if all := p.policy.Levels; len(all) > 0 && !slices.ContainsFunc(all, p.applies) {
		f := p.finding(ConditionNoLevel)
		f.Reason = fleet.Because(ReasonWalletNoLevel, fleet.Values{"wallet": fleet.Nested(p.why)})
		out = append(out, f)
	}
	if limit := p.policy.SpendMax; !limit.IsZero() && !in(p.last.Usable(), limit.Currency) {
		f := p.finding(ConditionNoSpendMax)
		f.Reason = fleet.Because(ReasonWalletNoMax, fleet.Values{"wallet": fleet.Nested(p.why), "limit": fleet.Amount(limit)})
		out = append(out, f)
	}
	if slices.ContainsFunc(p.policy.Levels, p.untold) {
		f := p.finding(ConditionNoRunway)
		f.Reason = fleet.Because(ReasonWalletNoRunway, fleet.Values{"wallet": fleet.Nested(p.why)})
		out = append(out, f)
	}
	return out
}

// told gives the standing levels that people are told of: those they were told of
// already, the deepest of each kind, and the one that does most. Of the others they are
// not reminded: what counts is the deeper one.
func (p *purse) told() []standing {
	var out []standing
	furthest := p.furthest(func(standing) bool { return true })
	for n, s := range p.standing { // the deepest of a kind is its last
		deepest := n+1 == len(p.standing) || p.standing[n+1].kind() != s.kind()
		s.worst = deepest || s.key == furthest.key
		if s.worst || !s.told.IsZero() {
			out = append(out, s)
		}
	}
	return out
}

func (p *purse) atZero() fleet.Reason {
	if p.account.AtZero.IsZero() {
		return fleet.Because(ReasonZeroUnknown, nil)
	}
	return p.account.AtZero
}

// unknown tells that nobody can read the wallet any more, once that was tried: after a
// pause of the daemon what it knows is old until it has read the account again. One
// that was never read is told of by nobody here.
func (p *purse) unknown() (fleet.Finding, bool) {
	f := p.finding(ConditionWalletUnknown)
	if p.known || !p.read || p.view.Standing[f.Key()].IsZero() && !p.tried() {
		return f, false
	}
	f.Standing, f.Reason = true, p.why
	f.Over = fleet.Because(ReasonWalletKnown, nil)
	return f, true
}

// tried reports whether the account was asked since the last reading became too old.
func (p *purse) tried() bool {
	old := p.last.SeenAt.Add(p.policy.MaxAge)
	return slices.ContainsFunc(p.view.Things.Scopes, func(s ScopeState) bool {
		return s.Scope.Account == p.identity && (!s.At.Before(old) || !s.Failing.IsZero())
	})
}

// flows tells of a wallet that is filled up again and again, which no level shows, and
// of one that too much left within a day.
func (p *purse) flows() []fleet.Finding {
	var out []fleet.Finding
	now, limit := p.view.Now, p.policy.SpendMax
	f := flowOf(p.account.Wallet, now.Add(-flowTime))
	if f.rises >= manyTopUps {
		up := p.finding(ConditionToppedUp)
		up.Period = f.last.UTC().Format(time.DateOnly)
		up.Reason = fleet.Because(ReasonWalletToppedUp, fleet.Values{
			"times": fleet.Number(float64(f.rises)), "rose": fleet.Amount(f.rose), "fell": fleet.Amount(f.fell), "wallet": fleet.Nested(p.why),
		})
		out = append(out, up)
	}
	if limit.Micros > 0 && f.fell.Currency == limit.Currency && f.fell.Micros > limit.Micros {
		spent := p.finding(ConditionSpendMax)
		spent.Period, spent.Severity = now.UTC().Format(time.DateOnly), fleet.Critical
		spent.Reason = fleet.Because(ReasonWalletSpent, fleet.Values{
			"fell": fleet.Amount(f.fell), "limit": fleet.Amount(limit), "wallet": fleet.Nested(p.why),
		})
		out = append(out, spent)
	}
	return out
}

// blocks hold back orders: for each level that stands and says so, and for a wallet
// that is not known where any level might. A dry run holds back nothing.
func (p *purse) blocks() []fleet.Block {
	var out []fleet.Block
	block := func(why fleet.Reason) {
		out = append(out, fleet.Block{Policy: p.policy.Name(), Ref: p.account.Ref, Reason: why})
	}
	for _, s := range p.standing {
		if p.policy.holdsBack(s.Then, p.account) {
			block(p.because(s.Level))
		}
	}
	if !p.known && len(out) == 0 && slices.ContainsFunc(p.policy.Levels, func(l Level) bool { return p.policy.holdsBack(l.Then, p.account) }) {
		block(p.why)
	}
	return out
}
