package main

import (
	"curfew/fleet"
	"curfew/internal/ledger"
)

// The words of what things cost.
const (
	columnCostAccount  fleet.Code = "cli.cost.account"
	columnCostOwner    fleet.Code = "cli.cost.owner"
	columnCostRun      fleet.Code = "cli.cost.run"
	columnCostItem     fleet.Code = "cli.cost.item"
	columnCostPhase    fleet.Code = "cli.cost.phase"
	columnCostDay      fleet.Code = "cli.cost.on-day"
	columnCostTotal    fleet.Code = "cli.cost.total"
	columnCostHours    fleet.Code = "cli.cost.hours"
	columnCostFell     fleet.Code = "cli.cost.fell"
	columnCostVouchers fleet.Code = "cli.cost.vouchers"
	columnCostRose     fleet.Code = "cli.cost.rose"
	columnCostLedger   fleet.Code = "cli.cost.ledger"
	columnCostGap      fleet.Code = "cli.cost.gap"
	columnCostResult   fleet.Code = "cli.cost.result"

	itemInstance fleet.Code = "cli.cost.item.instance"
	itemDisk     fleet.Code = "cli.cost.item.disk"
	itemSnapshot fleet.Code = "cli.cost.item.snapshot"
	itemIP       fleet.Code = "cli.cost.item.ip"
	itemTraffic  fleet.Code = "cli.cost.item.traffic"
	itemOther    fleet.Code = "cli.cost.item.other"

	phaseSetup   fleet.Code = "cli.cost.phase.setup"
	phaseRun     fleet.Code = "cli.cost.phase.run"
	phaseIdle    fleet.Code = "cli.cost.phase.idle"
	phaseUnknown fleet.Code = "cli.cost.phase.unknown"
	phaseStopped fleet.Code = "cli.cost.phase.stopped"
	phaseKept    fleet.Code = "cli.cost.phase.kept"

	wordCostNoOwner      fleet.Code = "cli.cost.no-owner"
	wordCostNoRun        fleet.Code = "cli.cost.no-run"
	wordCostPeriod       fleet.Code = "cli.cost.period"
	wordCostSince        fleet.Code = "cli.cost.since"
	wordCostStale        fleet.Code = "cli.cost.stale"
	wordCostNone         fleet.Code = "cli.cost.none"
	wordCostSum          fleet.Code = "cli.cost.sum"
	wordCostPrepaid      fleet.Code = "cli.cost.prepaid"
	wordCostConfigured   fleet.Code = "cli.cost.configured"
	wordCostBusy         fleet.Code = "cli.cost.busy"
	wordCostSaved        fleet.Code = "cli.cost.saved"
	wordCostSavedUnknown fleet.Code = "cli.cost.saved-unknown"

	partCostUnknown fleet.Code = "cli.cost.unknown"
	unknownPrice    fleet.Code = "cli.cost.unknown.price"
	unknownState    fleet.Code = "cli.cost.unknown.state"
	unknownPeriod   fleet.Code = "cli.cost.unknown.period"

	wordCheckOf        fleet.Code = "cli.cost.check"
	wordCheckNone      fleet.Code = "cli.cost.check-none"
	wordCheckNowhere   fleet.Code = "cli.cost.check-nowhere"
	wordCheckKept      fleet.Code = "cli.cost.check-kept"
	wordCheckUnwatched fleet.Code = "cli.cost.check-unwatched"
	checkAgrees        fleet.Code = "cli.cost.check.agrees"
	checkHidden        fleet.Code = "cli.cost.check.hidden"
	checkLess          fleet.Code = "cli.cost.check.less"
	checkUnpriced      fleet.Code = "cli.cost.check.unpriced"
	checkBought        fleet.Code = "cli.cost.check.bought"
	checkTooEarly      fleet.Code = "cli.cost.check.too-early"
)

func itemWords() map[ledger.Item]fleet.Code {
	return map[ledger.Item]fleet.Code{
		ledger.ItemInstance: itemInstance, ledger.ItemDisk: itemDisk, ledger.ItemSnapshot: itemSnapshot,
		ledger.ItemIP: itemIP, ledger.ItemTraffic: itemTraffic, fleet.ItemOther: itemOther,
	}
}

func phaseWords() map[string]fleet.Code {
	return map[string]fleet.Code{
		ledger.PhaseSetup: phaseSetup, ledger.PhaseRun: phaseRun, ledger.PhaseIdle: phaseIdle,
		ledger.PhaseUnknown: phaseUnknown, ledger.PhaseStopped: phaseStopped, ledger.PhaseKept: phaseKept,
	}
}

func judgementWords() map[ledger.Judgement]fleet.Code {
	return map[ledger.Judgement]fleet.Code{
		ledger.Agrees: checkAgrees, ledger.Hidden: checkHidden, ledger.Less: checkLess,
		ledger.Unpriced: checkUnpriced, ledger.Bought: checkBought, ledger.TooEarly: checkTooEarly,
	}
}
