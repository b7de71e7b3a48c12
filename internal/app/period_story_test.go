package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers/sim"
)

const expiryPolicy = "  - {name: ends, type: expiry, match: all}\n"

// paidFor is an instance of a period that ends in a week and five hours; somebody works
// on it for the first two and a half.
func paidFor(id string, renews sim.Answer) sim.Spec {
	s := trained(id, 150*time.Minute, 0)
	s.Box.Processes[0].From = 0
	s.Age, s.Price, s.Charge, s.EndsIn, s.AutoRenew = time.Millisecond, fleet.CNY(500_000), fleet.ChargePeriod, 7*24*time.Hour+5*time.Hour, renews
	return s
}

func TestAReminderOfAPaidPeriodSaysWhetherItWasWorthIt(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", expiryPolicy)
		l.yaml = strings.Replace(l.yaml, "poll: 1m", "poll: 1m, prices: {RTX 4090: 2 CNY}", 1)
		l.cloud.MustAdd(paidFor("a", "yes"))
		l.restart()
		l.run(5*time.Hour - 2*time.Minute)
		l.wantTold("the paid period ends", 0)
		l.run(4 * time.Minute)
		l.wantTold("the paid period ends at 8 Jan 13:00 (in 7d)", 1)
		l.wantTold("\n  at work for 2h 31m since 08:00", 1) // as the looks after its end show
		// 173 h at 0.50 CNY are 86.50 CNY, which are 43.25 h at 2 CNY.
		l.wantTold("on demand it is 2.00 CNY an hour (prices of the account): 2h 31m would have cost 5.0", 1)
		l.wantTold("; the period (86.50 CNY until 8 Jan 13:00) is the cheaper way from 43.3 h of use on", 1)
		l.wantTold("the platform renews it by itself", 1)
		l.run(time.Hour)
		l.stop()
		l.restart()
		l.run(time.Hour)
		l.wantTold("the platform renews it by itself", 1)
	})
}

func TestOnDemandIsReckonedAsTheAccountsOwnInstancesAreBilled(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", expiryPolicy)
		other := trained("b", 100*time.Hour, 0)
		other.Billing = fleet.BillingPerHour
		l.cloud.MustAdd(paidFor("a", ""))
		l.cloud.MustAdd(other)
		l.restart()
		l.run(5*time.Hour + 2*time.Minute)
		l.wantTold("on demand it is 1.98 CNY an hour (as exp-b is paid for): 2h 31m would have cost 5.94 CNY, each started hour whole; the period (", 1)
		l.wantTold("whether it is renewed by itself is not known", 1)
	})
}

// Where many end together there is one message, with a line for each.
func TestManyPeriodsThatEndTogetherAreToldInOneMessage(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", expiryPolicy)
		for n := range 4 {
			s := paidFor(fmt.Sprint(n), "no")
			s.HidesPrice, s.GPU = true, sim.GPU{}
			l.cloud.MustAdd(s)
		}
		l.restart()
		l.run(5*time.Hour + 2*time.Minute)
		l.wantTold("Warning: ", 1)
		for n := range 4 {
			l.wantTold(fmt.Sprintf("exp-%d: at work for 2h 31m since 08:00; what it would have cost on demand is not known: "+
				"no price by the hour is told (prices of the account, or rates); it is not renewed by itself", n), 1)
		}
	})
}
