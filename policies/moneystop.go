package policies

import (
	"slices"

	"curfew/fleet"
)

// The reasons of all policies about money.
const (
	ReasonMoneyWarns     fleet.Code = "policy.money-warns"
	ReasonMoneyBlocks    fleet.Code = "policy.money-blocks"
	ReasonMoneyStopsIdle fleet.Code = "policy.money-stops-idle"
	ReasonMoneyStopsAll  fleet.Code = "policy.money-stops-all"
	ReasonRunStopsIdle   fleet.Code = "policy.run-stops-idle"
	ReasonRunStopsAll    fleet.Code = "policy.run-stops-all"
	ReasonMoneyDry       fleet.Code = "policy.money-dry"
	ReasonMoneyStop      fleet.Code = "policy.money-stop"

	// Why an instance is left running.
	ReasonLeftRunning fleet.Code = "policy.left-running"
	ReasonLeftRun     fleet.Code = "policy.left-run"
	ReasonLeftBusy    fleet.Code = "policy.left-busy"
	ReasonLeftUnknown fleet.Code = "policy.left-unknown"
	ReasonLeftData    fleet.Code = "policy.left-data"
)

// ConditionLeftAtLevel is that of findings about what a policy about money leaves
// running.
const ConditionLeftAtLevel = "left-at-level"

// MoneyAct is what a policy about money does.
type MoneyAct string

// What policies about money do. Each does also what those before it do, but for
// stopping: StopIdle stops only what a fresh look shows idle, StopAll everything.
const (
	MoneyWarn   MoneyAct = "warn"
	BlockOrders MoneyAct = "block-orders"
	StopIdle    MoneyAct = "stop-idle"
	StopAll     MoneyAct = "stop-all"
)

// MoneyActs are all of them, the mildest first.
func MoneyActs() []MoneyAct { return []MoneyAct{MoneyWarn, BlockOrders, StopIdle, StopAll} }

// further reports whether an act does more than another; anything does more than none.
func (a MoneyAct) further(than MoneyAct) bool {
	return slices.Index(MoneyActs(), a) > slices.Index(MoneyActs(), than)
}

// Blocks reports whether it holds back orders.
func (a MoneyAct) Blocks() bool { return a.further(MoneyWarn) }

// Stops reports whether it stops anything.
func (a MoneyAct) Stops() bool { return a.further(BlockOrders) }

// Severity is how loudly people are told where nothing else is said.
func (a MoneyAct) Severity() fleet.Severity {
	if a.Stops() {
		return fleet.Critical
	}
	return fleet.Warning
}

// enforces reports whether a policy may do anything for the sake of money in any of some
// accounts: it is no dry run, and not all of them are of one.
func (c *Common) enforces(in ...Account) bool {
	acts := func(a Account) bool { return a.Mode != fleet.DryRun }
	return c.Terms.Mode == fleet.Enforce && (len(in) == 0 || slices.ContainsFunc(in, acts))
}

// does says what a policy does in some accounts now, or would if it were no dry run.
func (c *Common) does(a MoneyAct, in ...Account) fleet.Value {
	code := ReasonMoneyWarns
	switch a {
	case BlockOrders:
		code = ReasonMoneyBlocks
	case StopIdle:
		code = ReasonMoneyStopsIdle
	case StopAll:
		code = ReasonMoneyStopsAll
	}
	return c.inMode(a, code, in)
}

// doesToRun is does where only the instance of a run is meant.
func (c *Common) doesToRun(a MoneyAct, in ...Account) fleet.Value {
	code := ReasonMoneyWarns
	switch a {
	case StopIdle:
		code = ReasonRunStopsIdle
	case StopAll:
		code = ReasonRunStopsAll
	}
	return c.inMode(a, code, in)
}

func (c *Common) inMode(a MoneyAct, code fleet.Code, in []Account) fleet.Value {
	why := fleet.Because(code, nil)
	if a.Blocks() && !c.enforces(in...) {
		why = fleet.Because(ReasonMoneyDry, fleet.Values{"what": fleet.Nested(why)})
	}
	return fleet.Nested(why)
}

// holdsBack reports whether an act of this policy holds back orders in any of some
// accounts: no dry run does.
func (c *Common) holdsBack(a MoneyAct, in ...Account) bool { return a.Blocks() && c.enforces(in...) }

// moneyStop is a stop for the sake of money.
type moneyStop struct {
	act MoneyAct
	why fleet.Reason // the level that asks for it
	// period is the time in which what is left running is told of once; empty: it is not
	// told of yet.
	period string
}

// nothingToStop keeps an instance of which nothing can be asked, or that is stopped
// already.
func (s *subject) nothingToStop() (fleet.Verdict, bool) {
	if kept, ok := s.notNow(); ok {
		return kept, true
	}
	if s.instance.State == fleet.StateStopped {
		return s.keep(fleet.Because(ReasonStoppedDone, nil)), true
	}
	return fleet.Verdict{}, false
}

// stopFor answers for a running instance that is to be stopped for the sake of money:
// by StopIdle only where it is known to be idle, by StopAll in any case, and never
// where a stop loses data. What is left running is told.
func (s *subject) stopFor(m moneyStop) fleet.Verdict {
	if Effect(*s.instance, fleet.Stop) != fleet.Stop {
		return s.keep(s.leave(m, fleet.Because(ReasonLeftData, nil)))
	}
	if m.act == StopAll {
		v := s.stopNow(m)
		v.Blind = true
		return v
	}
	activity, why := s.doing()
	switch {
	case activity == fleet.Idle:
		return s.stopNow(m)
	case activity == fleet.Busy && why.Code == ReasonRunOpen:
		return s.keep(s.leave(m, fleet.Because(ReasonLeftRun, fleet.Values{"why": fleet.Nested(why)})))
	case activity == fleet.Busy:
		return s.keep(s.leave(m, fleet.Because(ReasonLeftBusy, fleet.Values{"why": fleet.Nested(why)})))
	}
	return s.gap(s.leave(m, fleet.Because(ReasonLeftUnknown, fleet.Values{"why": fleet.Nested(why)})))
}

// stopNow wishes for a stop. It stands on no run that ended.
func (s *subject) stopNow(m moneyStop) fleet.Verdict {
	v := s.wish(fleet.Stop, fleet.Ground{}, fleet.Because(ReasonMoneyStop, fleet.Values{"why": fleet.Nested(m.why)}))
	v.Ground = nil
	return v
}

// leave tells that an instance is left running, and gives the reason.
func (s *subject) leave(m moneyStop, why fleet.Reason) fleet.Reason {
	values := fleet.Values{"why": fleet.Nested(why), "level": fleet.Nested(m.why)}
	if p := s.instance.Price; p.Known() {
		values["price"] = fleet.Amount(p.PerHour)
	}
	kept := fleet.Because(ReasonLeftRunning, values)
	if m.period != "" {
		s.spend(ConditionLeftAtLevel, m.period, fleet.Warning, kept)
	}
	return kept
}

// spend adds a finding about money that is told once in a period.
func (s *subject) spend(condition, period string, severity fleet.Severity, why fleet.Reason) {
	f := s.finding(s.instance.Ref, condition, period, why)
	f.Category, f.Severity = fleet.CategoryMoney, severity
	s.findings = append(s.findings, f)
}
