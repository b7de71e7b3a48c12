package sim_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/providers/sim"
)

func (b *bench) wallet() fleet.Wallet {
	b.Helper()
	w, err := b.api.Balance(b.Context())
	b.must(err)
	return w
}

func (b *bench) cost(id string) int64 {
	b.Helper()
	var sum int64
	for _, l := range b.Bill() {
		if l.Ref.ID == id {
			sum += l.Cost.Micros
		}
	}
	return sum
}

func TestTheMeterRunsAsTheContractSays(t *testing.T) {
	const hour = 3_600_000 // micros an hour: 1000 a second
	instant := sim.Timing{BootTime: 60 * time.Second, StopTime: 10 * time.Second, ReleaseTime: 5 * time.Second}
	for _, c := range []struct {
		name string
		spec sim.Spec
		do   func(b *bench)
		want int64
	}{
		{"by the second while it runs", sim.Spec{Price: fleet.CNY(hour)}, func(b *bench) {
			b.pass(90 * time.Second)
		}, 90_000},
		{"until it is stopped, not only asked to", sim.Spec{Price: fleet.CNY(hour)}, func(b *bench) {
			b.pass(90 * time.Second)
			b.must(b.UserStops("a"))
			b.pass(time.Hour)
		}, 100_000},
		{"from the accepted start on", sim.Spec{Price: fleet.CNY(hour), State: fleet.StateStopped}, func(b *bench) {
			b.pass(time.Hour)
			b.must(b.UserStarts("a"))
			b.pass(90 * time.Second)
		}, 90_000},
		{"each started hour whole", sim.Spec{Price: fleet.CNY(hour), Billing: fleet.BillingPerHour}, func(b *bench) {
			b.pass(time.Hour + time.Second)
		}, 2 * hour},
		{"another hour after a restart", sim.Spec{Price: fleet.CNY(hour), Billing: fleet.BillingPerHour}, func(b *bench) {
			b.pass(10 * time.Minute)
			b.must(b.UserStops("a"))
			b.pass(10 * time.Second)
			b.must(b.UserStarts("a"))
			b.pass(10 * time.Minute)
		}, 2 * hour},
		{"what is left after a stop", sim.Spec{Price: fleet.CNY(hour), StillCosts: fleet.CNY(hour / 10)}, func(b *bench) {
			b.must(b.UserStops("a"))
			b.pass(110 * time.Second)
		}, 10_000 + 10_000},
		{"full after a stop that ends nothing", sim.Spec{Price: fleet.CNY(hour), StopEndsBilling: "no"}, func(b *bench) {
			b.must(b.UserStops("a"))
			b.pass(110 * time.Second)
		}, 110_000},
		{"until a stopped one is released, not only asked to", sim.Spec{State: fleet.StateStopped, StillCosts: fleet.CNY(hour)}, func(b *bench) {
			b.must(b.UserReleases("a"))
			b.pass(time.Hour)
		}, 5_000},
		{"full until a running one is released", sim.Spec{Price: fleet.CNY(hour), ReleasesRunning: true}, func(b *bench) {
			b.must(b.UserReleases("a"))
			b.pass(time.Hour)
		}, 5_000},
		{"nothing for a period, which is paid", sim.Spec{Price: fleet.CNY(hour), Charge: fleet.ChargePeriod, EndsIn: time.Hour}, func(b *bench) {
			b.pass(time.Hour)
		}, 0},
		{"nothing for what failed", sim.Spec{Price: fleet.CNY(hour), State: fleet.StateFailed}, func(b *bench) {
			b.pass(time.Hour)
		}, 0},
		{"until the platform releases it", sim.Spec{State: fleet.StateStopped, Age: time.Minute, StillCosts: fleet.CNY(hour)}, func(b *bench) {
			b.pass(100 * time.Hour)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			timing := instant
			if c.name == "until the platform releases it" {
				timing.AutoRelease = time.Minute + 30*time.Second
				c.want = 30_000
			}
			b := setup(t, sim.Options{Timing: timing})
			c.spec.ID = "a"
			b.MustAdd(c.spec)
			c.do(b)
			if got := b.cost("a"); got != c.want {
				t.Errorf("it cost %d micros, want %d", got, c.want)
			}
		})
	}
}

func TestVouchersGoBeforeCash(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{
		Name: "lab", Cash: fleet.CNY(5_000_000), Vouchers: fleet.CNY(1_000_000), Credit: fleet.CNY(7),
	}}})
	b.MustAdd(sim.Spec{Price: fleet.CNY(1_500_000)})
	for _, want := range []fleet.Wallet{
		{Cash: fleet.CNY(5_000_000), Vouchers: fleet.CNY(1_000_000), Credit: fleet.CNY(7), Spent: fleet.CNY(0), AsOf: b.time},
		{Cash: fleet.CNY(4_500_000), Vouchers: fleet.CNY(0), Credit: fleet.CNY(7), Spent: fleet.CNY(1_500_000), AsOf: b.time.Add(time.Hour)},
		{Cash: fleet.CNY(3_000_000), Vouchers: fleet.CNY(0), Credit: fleet.CNY(7), Spent: fleet.CNY(3_000_000), AsOf: b.time.Add(2 * time.Hour)},
	} {
		if got := b.wallet(); got != want {
			t.Errorf("the wallet is %+v, want %+v", got, want)
		}
		b.pass(time.Hour)
	}
	b.must(b.TopUp("lab", fleet.CNY(10_000_000)))
	if got := b.wallet().Cash; got != fleet.CNY(11_500_000) {
		t.Errorf("after the top-up there is %s", got)
	}
	if err := b.TopUp("lab", fleet.Money{Micros: 1, Currency: "USD"}); err == nil {
		t.Error("dollars were added to yuan")
	}
}

func TestWithoutMoneyEverythingIsStopped(t *testing.T) {
	b := setup(t, sim.Options{
		Ways:     sim.Ways{ForceStop: true},
		Timing:   sim.Timing{StopTime: 10 * time.Second},
		Accounts: []sim.Account{{Name: "lab", Cash: fleet.CNY(100_000)}, {Name: "home"}},
	})
	began := b.time
	b.MustAdd(sim.Spec{ID: "a", Price: fleet.CNY(3_600_000)}) // 1000 a second: 100 s
	b.MustAdd(sim.Spec{ID: "b", Account: "home", Price: fleet.CNY(3_600_000)})
	b.pass(99 * time.Second)
	b.shows("a", fleet.StateRunning)
	b.pass(time.Hour)
	b.shows("a", fleet.StateStopped)
	if got := b.State("b"); got != fleet.StateRunning {
		t.Errorf("another account's instance is %s", got)
	}
	effects := b.Effects()
	if len(effects) != 1 || effects[0].By != sim.ByPlatform || effects[0].At.Sub(began).Round(time.Second) != 100*time.Second {
		t.Errorf("effects are %+v, want one stop by the platform after 100 s", effects)
	}
	if err := b.UserStarts("a"); err == nil {
		t.Error("it could be started without money")
	}
	b.must(b.TopUp("lab", fleet.CNY(1_000_000)))
	b.must(b.UserStarts("a"))
}

// The wallet falls by exactly the sum of the lines, no line ever falls, and each
// is what a plain clock that ticks once a second makes of the states it sees.
func TestTheBillAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := setup(t, sim.Options{Timing: sim.Timing{
			BootTime:    time.Duration(rapid.IntRange(1, 40).Draw(rt, "boot")) * time.Second,
			StopTime:    time.Duration(rapid.IntRange(1, 40).Draw(rt, "stop")) * time.Second,
			ReleaseTime: time.Duration(rapid.IntRange(1, 40).Draw(rt, "release")) * time.Second,
			AutoRelease: time.Duration(rapid.IntRange(0, 200).Draw(rt, "auto")) * time.Second,
		}})
		specs := map[string]sim.Spec{}
		full := map[string]bool{} // of the state before, for releasing
		for n := range rapid.IntRange(1, 3).Draw(rt, "instances") {
			s := sim.Spec{
				ID:              string(rune('a' + n)),
				Price:           fleet.CNY(3600 * rapid.Int64Range(0, 5000).Draw(rt, "price")),
				StillCosts:      fleet.CNY(3600 * rapid.Int64Range(0, 50).Draw(rt, "still")),
				StopEndsBilling: rapid.SampledFrom([]sim.Answer{"yes", "no", "unknown"}).Draw(rt, "ends"),
				State:           rapid.SampledFrom([]fleet.State{fleet.StateRunning, fleet.StateStopped}).Draw(rt, "state"),
				ReleasesRunning: rapid.Bool().Draw(rt, "releases running"),
				Age:             time.Second,
			}
			specs[s.ID] = s
			full[s.ID] = s.State == fleet.StateRunning || s.StopEndsBilling == "no"
			b.MustAdd(s)
		}
		// note remembers what each costs in its state, for while it is released.
		note := func() {
			for id, s := range specs {
				switch b.State(id) {
				case fleet.StateStarting, fleet.StateRunning, fleet.StateStopping:
					full[id] = true
				case fleet.StateStopped:
					full[id] = s.StopEndsBilling == "no"
				}
			}
		}
		model := map[string]int64{}
		before := b.wallet()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			note()
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				_ = b.UserStops(id)
			case 1:
				_ = b.UserStarts(id)
			case 2:
				_ = b.UserReleases(id)
			}
			for range rapid.IntRange(1, 90).Draw(rt, "seconds") {
				note()
				for id, s := range specs {
					if b.State(id) == fleet.StateReleased {
						continue
					}
					if full[id] {
						model[id] += s.Price.Micros / 3600
					} else {
						model[id] += s.StillCosts.Micros / 3600
					}
				}
				last := b.Bill()
				b.pass(time.Second)
				for n, l := range b.Bill() {
					if l.Cost.Micros < last[n].Cost.Micros {
						rt.Fatalf("the cost of %s fell from %s to %s", l.Ref, last[n].Cost, l.Cost)
					}
				}
			}
		}
		var sum int64
		for _, l := range b.Bill() {
			sum += l.Cost.Micros
			if l.Cost.Micros != model[l.Ref.ID] {
				rt.Errorf("%s cost %d micros, the clock says %d", l.Ref, l.Cost.Micros, model[l.Ref.ID])
			}
		}
		after := b.wallet()
		if fell := before.Cash.Micros - after.Cash.Micros; fell != sum || after.Spent.Micros != sum {
			rt.Errorf("the wallet fell by %d and says %d were spent; the lines sum up to %d", fell, after.Spent.Micros, sum)
		}
	})
}
