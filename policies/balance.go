package policies

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// The reasons of a balance policy.
const (
	ReasonWalletLeft      fleet.Code = "policy.wallet-left"
	ReasonWalletElsewhere fleet.Code = "policy.wallet-elsewhere"
	ReasonWalletUnread    fleet.Code = "policy.wallet-unread"
	ReasonWalletUnknown   fleet.Code = "policy.wallet-unknown"
	ReasonWalletKnown     fleet.Code = "policy.wallet-known"
	ReasonWalletNoLevel   fleet.Code = "policy.wallet-no-level"
	ReasonWalletNoMax     fleet.Code = "policy.wallet-no-max"
	ReasonWalletNoRunway  fleet.Code = "policy.wallet-no-runway"
	ReasonWalletToppedUp  fleet.Code = "policy.wallet-topped-up"
	ReasonWalletSpent     fleet.Code = "policy.wallet-spent"
	ReasonLevel           fleet.Code = "policy.level"
	ReasonLevelBelow      fleet.Code = "policy.level-below"
	ReasonLevelRunway     fleet.Code = "policy.level-runway"
	ReasonLevelTold       fleet.Code = "policy.level-told"
	ReasonLevelOver       fleet.Code = "policy.level-over"
	ReasonZeroUnknown     fleet.Code = "policy.zero-unknown"
)

// The conditions of a balance policy's findings. Those of levels are the levels.
const (
	ConditionWalletUnknown = "wallet-unknown"
	ConditionNoLevel       = "no-level"
	ConditionNoSpendMax    = "no-spend-max"
	ConditionNoRunway      = "no-runway"
	ConditionToppedUp      = "topped-up"
	ConditionSpendMax      = "spend-max"
)

// flowTime is how far back it is looked at what came into a wallet and left it.
const flowTime = 24 * time.Hour

// manyTopUps is how often a wallet must rise in that time before people are told that
// it is filled up behind the back of its levels.
const manyTopUps = 2

// Balance watches what is left in wallets.
type Balance struct {
	Common
	// Watches tells whether it is about an account.
	Watches  func(account, provider string) bool
	Levels   []Level
	SpendMax fleet.Money   // per day; zero: no limit
	MaxAge   time.Duration // of a reading
}

// Level is one threshold of a wallet: an amount, or the hours left.
//
// It begins to stand when less than that is left, and stands until a tenth more than
// the amount is there, or a quarter more than the time: a wallet that moves around a
// level does not come and go with it. That it stands is known by its finding, which was
// told and is not over.
type Level struct {
	Below    fleet.Money
	Runway   time.Duration // zero: it is an amount
	Then     MoneyAct
	Severity fleet.Severity
}

// Name is the rule's name in the configuration.
func (b Balance) Name() string { return b.Common.Name }

// Decide answers for every instance the policy matches, by the wallet that it is paid
// from; asked about the accounts it tells of their wallets. A wallet that nobody read
// for MaxAge is unknown: then no level begins, none ends, and nothing is stopped.
func (b Balance) Decide(v View) Result {
	var p *purse // of the account that the last instance was in
	out := b.each(&v, func(s *subject) fleet.Verdict {
		if account := s.instance.Ref.Account; p == nil || p.identity != account {
			p = b.purse(&v, account)
		}
		return p.answer(s)
	})
	if b.Match == nil {
		return out
	}
	for _, identity := range inOrderOf(v.Things.Accounts) {
		if p := b.purse(&v, identity); p.watched {
			out.Findings = append(out.Findings, p.findings()...)
			out.Blocks = append(out.Blocks, p.blocks()...)
		}
	}
	return out
}

// purse is one account's wallet under one policy.
type purse struct {
	policy   *Balance
	view     *View
	identity string
	account  Account
	there    bool // it is known which account that is
	watched  bool // the policy is about it, and the platform tells what is in it
	last     Reading
	read     bool // there is a last reading
	known    bool // and it is new enough
	standing []standing
	stop     *moneyStop   // nil: no level that stands stops anything
	unsure   bool         // one does that nobody can tell of now: it stops nothing, and calls nothing off
	why      fleet.Reason // what is left, or why that is not known
}

// standing is a level that stands.
type standing struct {
	Level
	told  time.Time // zero: not yet
	key   string
	worst bool // none of its kind that stands is deeper, or none at all does more
}

func (b *Balance) purse(v *View, identity string) *purse {
	p := &purse{policy: b, view: v, identity: identity}
	p.account, p.there = v.Accounts[identity]
	p.watched = p.there && p.account.Tells && b.Watches != nil && b.Watches(p.account.Name, p.account.Provider)
	if !p.watched {
		return p
	}
	if n := len(p.account.Wallet); n > 0 {
		p.last, p.read = p.account.Wallet[n-1], true
		p.known = v.Now.Sub(p.last.SeenAt).Abs() < b.MaxAge // of later than now: the clock was put back
	}
	p.why = p.say()
	for _, l := range slices.SortedFunc(slices.Values(b.Levels), Level.compare) {
		s := standing{Level: l, key: p.finding(l.condition()).Key()}
		s.told = v.Standing[s.key]
		if p.stands(l, !s.told.IsZero()) {
			p.standing = append(p.standing, s)
		}
	}
	told := func(s standing) bool { return !p.untold(s.Level) }
	if at := p.furthest(told); at != nil && p.known && at.Then.Stops() {
		p.stop = &moneyStop{act: at.Then, why: p.because(at.Level)}
		if !at.told.IsZero() {
			p.stop.period = at.condition() + "/" + at.told.UTC().Format(time.RFC3339)
		}
	}
	p.unsure = slices.ContainsFunc(p.standing, func(s standing) bool { return s.Then.Stops() && !told(s) })
	return p
}

// compare orders levels: amounts before times, and the mildest first.
func (l Level) compare(o Level) int {
	return cmp.Or(strings.Compare(l.kind(), o.kind()), cmp.Compare(o.Below.Micros, l.Below.Micros), cmp.Compare(o.Runway, l.Runway))
}

// kind is that of the levels of which one is deeper than another.
func (l Level) kind() string {
	if l.Runway > 0 {
		return "runway"
	}
	return "below " + l.Below.Currency
}

// condition names a level in its findings.
func (l Level) condition() string {
	if l.Runway > 0 {
		return "runway " + l.Runway.String()
	}
	return "below " + l.Below.String()
}

func (l Level) reason() fleet.Reason {
	if l.Runway > 0 {
		return fleet.Because(ReasonLevelRunway, fleet.Values{"runway": fleet.Span(l.Runway)})
	}
	return fleet.Because(ReasonLevelBelow, fleet.Values{"below": fleet.Amount(l.Below)})
}

func (l Level) severity() fleet.Severity { return cmp.Or(l.Severity, l.Then.Severity()) }

// applies reports whether the level is of the wallet's currency.
func (p *purse) applies(l Level) bool { return l.Runway > 0 || in(p.last.Usable(), l.Below.Currency) }

// untold reports whether nobody can tell if a level is reached: what runs has no known
// price, and an unknown burn is not none.
func (p *purse) untold(l Level) bool {
	burn := p.account.Burn
	return l.Runway > 0 && burn.Unpriced > 0 && burn.PerHour.In(p.last.Usable().Currency).Micros <= 0
}

// stands reports whether a level stands, which depends on whether it did.
func (p *purse) stands(l Level, did bool) bool {
	if !p.known || !p.applies(l) {
		return did && !p.known // nobody can tell that it is over
	}
	left := p.last.Usable()
	limit, part := l.Below.Micros, int64(1)
	over, parts := int64(11), int64(10)
	if l.Runway > 0 {
		limit, part = p.account.Burn.PerHour.In(left.Currency).Micros, int64(time.Hour)
		over, parts = 5, 4
		if limit <= 0 { // at no cost it lasts for ever
			return did && p.untold(l)
		}
	}
	begin, have := times(limit, max(int64(l.Runway), 1)), times(left.Micros, part)
	if did {
		begin.Mul(begin, big.NewInt(over))
		have.Mul(have, big.NewInt(parts))
	}
	return have.Cmp(begin) < 0
}

// furthest gives the standing level that does most, of those that count; of two that do
// the same the first of the deepest.
func (p *purse) furthest(counts func(standing) bool) *standing {
	var at *standing
	for n := range p.standing {
		s := &p.standing[n]
		if counts(*s) && (at == nil || !at.Then.further(s.Then) && (s.Then.further(at.Then) || s.kind() == at.kind())) {
			at = s
		}
	}
	return at
}

// answer is about an instance that is paid from the wallet.
func (p *purse) answer(s *subject) fleet.Verdict {
	if kept, ok := s.nothingToStop(); ok {
		return kept
	}
	switch {
	case !p.there:
		return s.gap(fleet.Because(ReasonWalletUnread, nil))
	case !p.watched:
		return s.keep(fleet.Because(ReasonWalletElsewhere, nil))
	case !p.known || p.stop == nil && p.unsure:
		return s.gap(p.why)
	case p.stop == nil:
		return s.keep(p.why)
	}
	return s.stopFor(*p.stop)
}

// say is what is left, or since when that is not known.
func (p *purse) say() fleet.Reason {
	if !p.read {
		return fleet.Because(ReasonWalletUnread, nil)
	}
	left := p.last.Usable()
	if !p.known {
		values := fleet.Values{
			"since": fleet.Moment(p.last.SeenAt), "left": fleet.Amount(left), "running": fleet.Number(float64(p.account.Burn.Running)),
		}
		if burn := p.account.Burn.PerHour; len(burn) > 0 {
			values["burn"] = fleet.Text(burn.String())
		}
		if n := p.account.Burn.Unpriced; n > 0 {
			values["unpriced"] = fleet.Number(float64(n))
		}
		return fleet.Because(ReasonWalletUnknown, values)
	}
	values := fleet.Values{"left": fleet.Amount(left), "pace": fleet.Nested(p.account.Burn.pace(left))}
	if !p.last.Vouchers.IsZero() {
		values["cash"], values["vouchers"] = fleet.Amount(p.last.Cash), fleet.Amount(p.last.Vouchers)
	}
	return fleet.Because(ReasonWalletLeft, values)
}

// because says that a level stands.
func (p *purse) because(l Level) fleet.Reason {
	return fleet.Because(ReasonLevel, fleet.Values{"wallet": fleet.Nested(p.why), "level": fleet.Nested(l.reason())})
}
