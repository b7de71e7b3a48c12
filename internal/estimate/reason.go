package estimate

import (
	"fmt"
	"strconv"

	"curfew/fleet"
)

// The five items of a total, and their parts.
const (
	ItemInstance fleet.Code = "estimate.item.instance"
	ItemDisk     fleet.Code = "estimate.item.disk"
	ItemImages   fleet.Code = "estimate.item.images"
	ItemPublicIP fleet.Code = "estimate.item.public-ip"
	ItemTraffic  fleet.Code = "estimate.item.traffic"
	ItemSnapshot fleet.Code = "estimate.item.snapshot"
	ItemImage    fleet.Code = "estimate.item.image"
)

// What a sum was made of.
const (
	WhyMachines fleet.Code = "estimate.why.machines"
	WhyPaid     fleet.Code = "estimate.why.paid-cards"
	WhyRounded  fleet.Code = "estimate.why.started-hours"
	WhyWaiting  fleet.Code = "estimate.why.waiting"
	WhyRework   fleet.Code = "estimate.why.rework"
	WhyPeriods  fleet.Code = "estimate.why.periods"
	WhyDay      fleet.Code = "estimate.why.time-of-day"
	WhyStored   fleet.Code = "estimate.why.stored"
	WhyMoved    fleet.Code = "estimate.why.moved"
	WhyLine     fleet.Code = "estimate.why.bandwidth"
	WhyAddress  fleet.Code = "estimate.why.public-ip"
	WhyTogether fleet.Code = "estimate.why.together"
)

// What to look at before believing a sum.
const (
	WarnMissing    fleet.Code = "estimate.warn.missing"
	WarnNoRework   fleet.Code = "estimate.warn.no-rework"
	WarnEfficiency fleet.Code = "estimate.warn.efficiency"
	WarnMachine    fleet.Code = "estimate.warn.machine-size"
	WarnFar        fleet.Code = "estimate.warn.far"
)

// Why an offer has no sum.
const (
	LeftNoEpoch    fleet.Code = "estimate.left.no-epoch-time"
	LeftCurrencies fleet.Code = "estimate.left.two-currencies"
	LeftBeyond     fleet.Code = "estimate.left.beyond-counting"
	LeftNoPrice    fleet.Code = "estimate.left.no-price"
)

func item(code fleet.Code) fleet.Value { return fleet.Nested(fleet.Because(code, nil)) }

func count(n int) fleet.Value { return fleet.Text(strconv.Itoa(n)) }

// exact shows money with all its decimals: a price of little is not rounded away.
func exact(m fleet.Money) fleet.Value { return fleet.Text(m.String()) }

func clock(minute int) fleet.Value {
	return fleet.Text(fmt.Sprintf("%02d:%02d", minute/60, minute%60))
}
