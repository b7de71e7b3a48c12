package ledger_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ledger"
)

// purse is a wallet that is read every five minutes.
type purse struct {
	readings       []ledger.Reading
	cash, vouchers int64
}

// read notes a reading, as the state keeps it: only what changed is a new one.
func (p *purse) read(at time.Duration) {
	if n := len(p.readings) - 1; n >= 0 && p.readings[n].Cash.Micros == p.cash && p.readings[n].Vouchers.Micros == p.vouchers {
		p.readings[n].SeenAt = after(at)
		return
	}
	p.readings = append(p.readings, ledger.Reading{At: after(at), SeenAt: after(at), Cash: fleet.CNY(p.cash), Vouchers: fleet.CNY(p.vouchers)})
}

// spend takes vouchers first.
func (p *purse) spend(micros int64) {
	of := min(micros, p.vouchers)
	p.vouchers -= of
	p.cash -= micros - of
}

func TestAWalletIsComparedWithTheLedger(t *testing.T) {
	const yuan = 1_000_000
	// One instance at 12 CNY/h runs from 6 to 18 h every day: 144 CNY.
	known := func() *tale {
		a := of(fleet.KindInstance, "a").at(0, "state", "stopped").at(0, "price", "0.00 CNY").at(0, "billing", "second on-demand provider")
		for d := range 4 {
			from := time.Duration(d)*day + 6*hour
			a.at(from, "price", "12.00 CNY").at(from, "state", "running").at(from+12*hour, "state", "stopped").at(from+12*hour, "price", "0.00 CNY")
		}
		return a
	}
	runs := func(at time.Duration) bool { return at%day > 6*hour && at%day <= 18*hour }
	bySecond := func(p *purse, at time.Duration) {
		if runs(at) {
			p.spend(yuan)
		}
	}
	for _, c := range []struct {
		name   string
		things []*tale
		step   func(p *purse, at time.Duration) // what leaves in the five minutes before
		silent func(at time.Duration) bool      // nobody reads the wallet
		want   ledger.Judgement                 // of the second day
		gap    string
	}{
		{"what left is what was used", []*tale{known()}, bySecond, nil, ledger.Agrees, "0.00 CNY"},
		{"something unknown costs a little every hour", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at%hour == 0 {
				p.spend(yuan)
			}
		}, nil, ledger.Hidden, "24.00 CNY"},
		{"too little to speak of", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at%(2*hour) == 0 {
				p.spend(yuan)
			}
		}, nil, ledger.Agrees, "12.00 CNY"},
		{"the platform settles whole hours, an hour late", []*tale{known()}, func(p *purse, at time.Duration) {
			if at%hour == 0 && runs(at-hour) {
				p.spend(12 * yuan)
			}
		}, nil, ledger.Agrees, "0.00 CNY"},
		{"a top-up is kept apart", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at == day+10*hour {
				p.cash += 500 * yuan
			}
		}, nil, ledger.Agrees, "0.00 CNY"},
		{"a top-up hides nothing of the rest of the day", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at == day+10*hour {
				p.cash += 500 * yuan
			}
			if at%hour == 0 {
				p.spend(2 * yuan)
			}
		}, nil, ledger.Hidden, "45.00 CNY"},
		{"a refund is kept apart as well", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at == day+22*hour {
				p.cash += 30 * yuan
			}
		}, nil, ledger.Agrees, "0.00 CNY"},
		{"vouchers are used first", []*tale{known()}, func(p *purse, at time.Duration) {
			if at == 2*hour {
				p.vouchers += 200 * yuan
			}
			bySecond(p, at)
		}, nil, ledger.Agrees, "0.00 CNY"},
		{"vouchers that expire leave as well", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			switch at {
			case 2 * hour:
				p.vouchers += 500 * yuan
			case day + 20*hour:
				p.vouchers = 0
			}
		}, nil, ledger.Hidden, "212.00 CNY"},
		{"something runs whose price is not known", []*tale{known(), of(fleet.KindInstance, "b").at(0, "state", "running")}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at%hour == 0 {
				p.spend(5 * yuan)
			}
		}, nil, ledger.Unpriced, "120.00 CNY"},
		{"something is stopped and what it costs is not known", []*tale{known(), of(fleet.KindInstance, "b").at(0, "state", "stopped")}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at%hour == 0 {
				p.spend(5 * yuan)
			}
		}, nil, ledger.Hidden, "120.00 CNY"},
		{"a period was bought", []*tale{known(), of(fleet.KindInstance, "b").at(day+9*hour, "state", "running").
			at(day+9*hour, "billing", "- period provider 2026-12-02T00:00:00Z")}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at == day+9*hour {
				p.spend(900 * yuan)
			}
		}, nil, ledger.Bought, "900.00 CNY"},
		{"less left than the ledger says", []*tale{known()}, func(p *purse, at time.Duration) {
			if at%(10*minute) == 0 {
				bySecond(p, at)
			}
		}, nil, ledger.Less, "-72.00 CNY"},
		{"nobody looked for some hours", []*tale{known()}, func(p *purse, at time.Duration) {
			bySecond(p, at)
			if at == day+12*hour {
				p.spend(50 * yuan) // which may have been anything
			}
		}, func(at time.Duration) bool { return at > day+10*hour && at < day+14*hour }, ledger.Agrees, "0.00 CNY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &purse{cash: 10_000 * yuan}
			p.read(0)
			for at := 5 * minute; at <= 3*day; at += 5 * minute {
				c.step(p, at)
				if c.silent == nil || !c.silent(at) {
					p.read(at)
				}
			}
			var hs []ledger.History
			for _, s := range c.things {
				hs = append(hs, s.h)
			}
			q := ledger.CheckQuery{From: begin(), To: after(3 * day), Now: after(3 * day), Zone: time.UTC, Lag: hour}
			days := ledger.Check(p.readings, hs, q)
			if len(days) != 3 {
				t.Fatalf("%d days were compared, want 3: %+v", len(days), days)
			}
			d := days[1]
			if d.Judgement != c.want || d.Gap.String() != c.gap {
				t.Errorf("the second day: %s, gap %s; want %s, %s\n%+v", d.Judgement, d.Gap, c.want, c.gap, d)
			}
			if last := days[2].Judgement; last != ledger.TooEarly {
				t.Errorf("the day that has just ended is judged already: %s", last)
			}
		})
	}
}

func TestNothingIsCalledHiddenOnTheFirstDayForWhatWasUsedBefore(t *testing.T) {
	a := of(fleet.KindInstance, "a").at(20*hour, "state", "running").at(20*hour, "price", "12.00 CNY")
	p := &purse{cash: 1_000_000_000}
	for at := 20 * hour; at <= 26*hour; at += 5 * minute {
		if at%hour == 30*minute {
			p.spend(12_000_000) // the first of them is for an hour that nobody saw
		}
		p.read(at)
	}
	for at := 26 * hour; at <= 60*hour; at += 5 * minute {
		p.read(at)
	}
	days := ledger.Check(p.readings, []ledger.History{a.h}, ledger.CheckQuery{From: begin(), To: after(day), Now: after(60 * hour), Zone: time.UTC, Lag: hour})
	if len(days) != 1 || days[0].Judgement != ledger.Agrees {
		t.Errorf("the first day: %+v", days)
	}
}
