package main

import (
	"strings"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/store"
)

// How far curfew goes, and who set a value.
const (
	modeDryRun  fleet.Code = "cli.mode.dry-run"
	modeEnforce fleet.Code = "cli.mode.enforce"

	fromDefault fleet.Code = "cli.from.default"
	fromFile    fleet.Code = "cli.from.file"
	fromAccount fleet.Code = "cli.from.account"
	fromPolicy  fleet.Code = "cli.from.policy"
)

// What an act goes through.
const (
	stepOpened    fleet.Code = "cli.step.opened"
	stepAnnounced fleet.Code = "cli.step.announced"
	stepAnew      fleet.Code = "cli.step.announced-anew"
	stepJoined    fleet.Code = "cli.step.joined"
	stepHurried   fleet.Code = "cli.step.hurried"
	stepApproved  fleet.Code = "cli.step.approved"
	stepPutOff    fleet.Code = "cli.step.put-off"
	stepStarted   fleet.Code = "cli.step.started"
	stepWritten   fleet.Code = "cli.step.written"
	stepAgain     fleet.Code = "cli.step.again"
	stepRead      fleet.Code = "cli.step.read"
	stepClosed    fleet.Code = "cli.step.closed"
)

// What a history is of.
const (
	historyState    fleet.Code = "cli.history.state"
	historyPrice    fleet.Code = "cli.history.price"
	historyBilling  fleet.Code = "cli.history.billing"
	historyActivity fleet.Code = "cli.history.activity"
	historyBoot     fleet.Code = "cli.history.boot"

	historyGone    fleet.Code = "cli.history.gone"
	historyThere   fleet.Code = "cli.history.there"
	historyMaking  fleet.Code = "cli.history.making"
	historyUnknown fleet.Code = "cli.history.unknown"

	billedSecond   fleet.Code = "cli.billed.second"
	billedHour     fleet.Code = "cli.billed.hour"
	billedPrepaid  fleet.Code = "cli.billed.prepaid"
	billedOnDemand fleet.Code = "cli.billed.on-demand"
	billedSpot     fleet.Code = "cli.billed.spot"
	billedPeriod   fleet.Code = "cli.billed.period"
	pricedPlatform fleet.Code = "cli.billed.by-platform"
	pricedConfig   fleet.Code = "cli.billed.by-config"
)

// What a policy is about.
const (
	matchAll      fleet.Code = "cli.match.all"
	matchOr       fleet.Code = "cli.match.or"
	matchAnd      fleet.Code = "cli.match.and"
	matchAccount  fleet.Code = "cli.match.account"
	matchProvider fleet.Code = "cli.match.provider"
	matchName     fleet.Code = "cli.match.name"
	matchOwner    fleet.Code = "cli.match.owner"
	matchGPU      fleet.Code = "cli.match.gpu"
	matchRegion   fleet.Code = "cli.match.region"
	matchState    fleet.Code = "cli.match.state"
	matchLabel    fleet.Code = "cli.match.label"
	matchExpr     fleet.Code = "cli.match.expr"
)

// mode names how far curfew goes.
func (g *page) mode(m fleet.Mode) string {
	return g.word(map[string]fleet.Code{string(fleet.DryRun): modeDryRun, string(fleet.Enforce): modeEnforce}, string(m))
}

// from names who set a value.
func (g *page) from(from string) string {
	return g.word(map[string]fleet.Code{
		string(config.FromDefault): fromDefault, string(config.FromFile): fromFile,
		string(config.FromAccount): fromAccount, string(config.FromPolicy): fromPolicy,
	}, from)
}

// step names what an act went through.
func (g *page) step(step string) string {
	return g.word(map[string]fleet.Code{
		"opened": stepOpened, "announced": stepAnnounced, "announced anew": stepAnew, "joined": stepJoined,
		"hurried": stepHurried, "approved": stepApproved, "put-off": stepPutOff, "started": stepStarted,
		"written": stepWritten, "again": stepAgain, "read": stepRead, "closed": stepClosed,
	}, step)
}

// stretch names what a stretch of a history is of, and its value.
func (g *page) stretch(s store.Segment) (what, value string) {
	what = g.word(map[string]fleet.Code{
		"state": historyState, "price": historyPrice, "billing": historyBilling, "activity": historyActivity, "boot": historyBoot,
	}, s.What)
	switch s.What {
	case "state":
		return what, g.word(historyStates(), s.Value)
	case "activity":
		return what, g.word(historyActivities(), s.Value)
	case "price":
		return what, g.word(map[string]fleet.Code{"unknown": historyUnknown}, s.Value)
	case "billing":
		words := strings.Fields(s.Value)
		for n, w := range words {
			words[n] = g.word(billedWords(), w)
		}
		return what, strings.Join(words, " ")
	}
	return what, s.Value
}

func historyStates() map[string]fleet.Code {
	codes := map[string]fleet.Code{
		"gone": historyGone, "there": historyThere, "making": historyMaking, fleet.StateUnknown.String(): historyUnknown,
	}
	for _, s := range []fleet.State{
		fleet.StateCreating, fleet.StateStarting, fleet.StateRunning, fleet.StateStopping,
		fleet.StateStopped, fleet.StateReleasing, fleet.StateReleased, fleet.StateFailed,
	} {
		codes[s.String()] = fleet.Code("notify.state." + s.String())
	}
	return codes
}

func historyActivities() map[string]fleet.Code {
	codes := map[string]fleet.Code{}
	for _, a := range []fleet.Activity{fleet.Unknown, fleet.Busy, fleet.Idle} {
		codes[a.String()] = fleet.Code("notify.activity." + a.String())
	}
	return codes
}

func billedWords() map[string]fleet.Code {
	return map[string]fleet.Code{
		string(fleet.BillingPerSecond): billedSecond, string(fleet.BillingPerHour): billedHour, string(fleet.BillingPrepaid): billedPrepaid,
		string(fleet.ChargeOnDemand): billedOnDemand, string(fleet.ChargeSpot): billedSpot, string(fleet.ChargePeriod): billedPeriod,
		string(fleet.PriceProvider): pricedPlatform, string(fleet.PriceConfig): pricedConfig,
	}
}

// match says what a policy is about, without one key everything.
func (g *page) match(on []config.Matched) string {
	keys := map[string]fleet.Code{
		"account": matchAccount, "provider": matchProvider, "name": matchName, "owner": matchOwner, "gpu": matchGPU,
		"region": matchRegion, "state": matchState, "label": matchLabel, "expr": matchExpr,
	}
	said := ""
	for _, m := range on {
		words := ""
		for _, w := range m.Words {
			words = g.join(matchOr, words, w)
		}
		said = g.join(matchAnd, said, g.word(keys, m.Key)+" "+words)
	}
	if said == "" {
		return g.say(matchAll, nil)
	}
	return said
}

// join puts the next after the first, where there is one.
func (g *page) join(code fleet.Code, first, next string) string {
	if first == "" {
		return next
	}
	return g.say(code, fleet.Values{"first": fleet.Text(first), "next": fleet.Text(next)})
}
