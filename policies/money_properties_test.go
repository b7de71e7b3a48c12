package policies_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// purse is the account that all drawn instances are in.
var purse = fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab"}

// everyLevel are levels of every kind, each of which holds back orders at least.
func everyLevel() []policies.Level {
	return []policies.Level{
		{Below: fleet.CNY(100e6), Then: policies.BlockOrders},
		{Runway: 24 * time.Hour, Then: policies.BlockOrders},
		{Below: fleet.CNY(50e6), Then: policies.StopIdle},
		{Runway: 6 * time.Hour, Then: policies.StopIdle},
		{Below: fleet.CNY(20e6), Then: policies.StopAll},
		{Below: fleet.Money{Micros: 30e6, Currency: "USD"}, Then: policies.StopAll},
	}
}

func keyOf(l policies.Level) string {
	condition := "below " + l.Below.String()
	if l.Runway > 0 {
		condition = "runway " + l.Runway.String()
	}
	return fleet.Finding{Policy: "p", Ref: purse, Condition: condition}.Key()
}

func balanceOf(c policies.Common, levels ...policies.Level) policies.Balance {
	return policies.Balance{
		Common: c, Watches: func(string, string) bool { return true },
		Levels: levels, SpendMax: fleet.CNY(200e6), MaxAge: 15 * time.Minute,
	}
}

func budgetOf(c policies.Common) policies.Budget {
	return policies.Budget{Common: c, Limit: fleet.CNY(100e6), Period: policies.Month, At: []policies.BudgetStep{
		{Percent: 50, Then: policies.MoneyWarn}, {Percent: 80, Then: policies.StopIdle}, {Percent: 120, Then: policies.StopAll},
	}}
}

func enforcing() policies.Common {
	return policies.Common{Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil }, Terms: fleet.Terms{Mode: fleet.Enforce}}
}

func drawAmount(t *rapid.T, label string, most int64) fleet.Money {
	return fleet.Money{Micros: rapid.Int64Range(-most/10, most).Draw(t, label), Currency: mostly(t, label+" in", "CNY", "USD", "EUR")}
}

// drawMoney puts a wallet, what was told of it, and a tally into a view.
func drawMoney(t *rapid.T, v *policies.View) {
	a := policies.Account{Ref: purse, Name: "lab", Tells: mostly(t, "tells", true, false)}
	at := base
	for range rapid.IntRange(0, 4).Draw(t, "readings") {
		at = at.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "apart")) * time.Minute)
		r := policies.Reading{At: at.Add(-time.Minute), SeenAt: at, Cash: drawAmount(t, "cash", 160e6)}
		r.Vouchers = fleet.Money{Micros: mostly[int64](t, "vouchers", 0, 10e6), Currency: r.Cash.Currency}
		a.Wallet = append(a.Wallet, r)
	}
	slices.Reverse(a.Wallet)
	for range rapid.IntRange(0, 2).Draw(t, "burns") {
		b := drawAmount(t, "burn", 20e6)
		b.Micros = max(b.Micros, 0)
		a.Burn.PerHour.Add(b)
	}
	a.Burn.Unpriced = mostly(t, "unpriced", 0, 2)
	v.Accounts, v.Standing = map[string]policies.Account{"lab": a}, map[string]time.Time{}
	if mostly(t, "account known", false, true) {
		delete(v.Accounts, "lab")
	}
	v.Things.Scopes = []policies.ScopeState{{Scope: fleet.Scope{Account: "lab"}, At: base}}
	for n, l := range everyLevel() {
		if rapid.Bool().Draw(t, fmt.Sprint("stood ", n)) {
			v.Standing[keyOf(l)] = base.Add(-time.Hour)
		}
	}
	if mostly(t, "reckoned", true, false) {
		tally := policies.Tally{From: base.Add(-240 * time.Hour), To: mostly(t, "period", base.Add(480*time.Hour), base), At: base}
		g := policies.Group{LatelyFor: 7 * time.Hour}
		for range rapid.IntRange(0, 2).Draw(t, "sums") {
			g.Sum.Add(drawAmount(t, "sum", 160e6))
			g.Lately.Add(drawAmount(t, "lately", 20e6))
		}
		tally.Groups = []policies.Group{g}
		v.Spend = map[string]policies.Tally{"p": tally}
	}
}

// onlyAccounts is a view as a pass asks about the accounts.
func onlyAccounts(v policies.View) policies.View {
	v.Things.Instances, v.Things.Accounts = nil, []string{"lab"}
	return v
}

// level names the level that a block is for.
func level(t *rapid.T, b fleet.Block) string {
	why, ok := b.Reason.Values["level"].Any().(fleet.Reason)
	if !ok {
		t.Fatalf("a block for no level: %+v", b)
	}
	return fmt.Sprint(why)
}

func TestAnUnknownWalletIsNoGroundForAnything(t *testing.T) {
	unknown, stood := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		a, ok := v.Accounts["lab"]
		if n := len(a.Wallet); !ok || !a.Tells || n > 0 && base.Sub(a.Wallet[n-1].SeenAt) < 15*time.Minute {
			return
		}
		unknown++
		p := balanceOf(enforcing(), everyLevel()...)
		for _, d := range p.Decide(v).Verdicts {
			n := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == d.Ref })
			i := v.Things.Instances[n]
			if asks := i.State == fleet.StateRunning && i.Boot != "" && !v.Due.IsZero(); d.Goal != fleet.Keep || asks && !d.Gap {
				t.Fatalf("%+v", d)
			}
		}
		told := p.Decide(onlyAccounts(v))
		found := map[string]bool{}
		for _, f := range told.Findings {
			found[f.Key()] = f.Standing
			if f.Standing && f.Condition != policies.ConditionWalletUnknown && v.Standing[f.Key()].IsZero() {
				t.Fatalf("a level began: %+v", f)
			}
		}
		for key := range v.Standing {
			stood++
			if !found[key] {
				t.Fatalf("%s is over", key)
			}
		}
		if len(told.Blocks) == 0 {
			t.Fatal("orders are not held back")
		}
	})
	if unknown == 0 || stood == 0 {
		t.Fatalf("%d wallets were unknown, and %d levels stood", unknown, stood)
	}
}

// stands asks which levels stand, by what they hold back.
func stands(t *rapid.T, p policies.Balance, v policies.View) []string {
	var out []string
	for _, b := range p.Decide(onlyAccounts(v)).Blocks {
		out = append(out, level(t, b))
	}
	return out
}

func walletOf(v policies.View, left, burn int64) policies.View {
	v.Accounts = map[string]policies.Account{"lab": {
		Ref: purse, Name: "lab", Tells: true, Burn: policies.Burn{PerHour: fleet.Sums{fleet.CNY(burn)}},
		Wallet: []policies.Reading{{At: v.Now, SeenAt: v.Now, Cash: fleet.CNY(left)}},
	}}
	return v
}

func TestAWalletThatMovesWithinTheBandNeverFlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A level in the limits in which ten tenths of it can be told.
		micros := rapid.Int64Range(10, 1e12).Draw(t, "below")
		l := policies.Level{Below: fleet.CNY(micros), Then: policies.BlockOrders}
		from, to, burn := micros, (micros*11-1)/10, int64(0)
		if rapid.Bool().Draw(t, "runway") {
			burn = rapid.Int64Range(1, 1e9).Draw(t, "burn")
			hours := rapid.Int64Range(1, 1000).Draw(t, "hours")
			l = policies.Level{Runway: time.Duration(hours) * time.Hour, Then: policies.BlockOrders}
			from, to = burn*hours, (burn*hours*5-1)/4
		}
		p := balanceOf(enforcing(), l)
		v := policies.View{Now: base, Due: base, Standing: map[string]time.Time{}}
		stood := rapid.Bool().Draw(t, "stood")
		ask := func(left int64) bool {
			there := len(stands(t, p, walletOf(v, left, burn))) > 0
			if delete(v.Standing, keyOf(l)); there {
				v.Standing[keyOf(l)] = base
			}
			return there
		}
		if stood {
			ask(from - 1)
		}
		for range 20 {
			if left := rapid.Int64Range(from, to).Draw(t, "left"); ask(left) != stood {
				t.Fatalf("%s of %s to %s: it stood: %v, and not any more", fleet.CNY(left), fleet.CNY(from), fleet.CNY(to), stood)
			}
		}
		if ask(to+1) || !ask(from-1) {
			t.Fatal("outside the band it is what it was")
		}
	})
}

func TestLessMoneyNeverMeansFewerLevels(t *testing.T) {
	fewer := 0
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		p := balanceOf(enforcing(), everyLevel()...)
		much, burn := rapid.Int64Range(-10e6, 160e6).Draw(t, "much"), rapid.Int64Range(0, 20e6).Draw(t, "burn")
		little := much - rapid.Int64Range(0, 80e6).Draw(t, "less")
		rich, poor := stands(t, p, walletOf(v, much, burn)), stands(t, p, walletOf(v, little, burn))
		for _, l := range rich {
			if !slices.Contains(poor, l) {
				t.Fatalf("%s stands at %s, and not at %s", l, fleet.CNY(much), fleet.CNY(little))
			}
		}
		if len(rich) < len(poor) {
			fewer++
		}
		stops := func(v policies.View) int {
			return len(slices.DeleteFunc(p.Decide(v).Verdicts, func(d fleet.Verdict) bool { return d.Goal != fleet.Stop }))
		}
		if stops(walletOf(v, much, burn)) > stops(walletOf(v, little, burn)) {
			t.Fatalf("less is stopped at %s than at %s", fleet.CNY(little), fleet.CNY(much))
		}
	})
	if fewer == 0 {
		t.Fatal("all wallets were alike")
	}
}

// Of amounts of any size a level stands as exact arithmetic says.
func TestLevelsAreReckonedExactly(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1000), rapid.SampledFrom([]int64{0, 1, math.MaxInt64, math.MinInt64}))
	rapid.Check(t, func(t *rapid.T) {
		left, burn := amount.Draw(t, "left"), max(amount.Draw(t, "burn"), 0)
		below, runway := max(amount.Draw(t, "below"), 1), time.Duration(max(amount.Draw(t, "runway"), 1))
		v := walletOf(policies.View{Now: base, Due: base, Standing: map[string]time.Time{}}, left, burn)
		rat := func(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
		for _, stood := range []bool{false, true} {
			for _, l := range []policies.Level{{Below: fleet.CNY(below), Then: policies.BlockOrders}, {Runway: runway, Then: policies.BlockOrders}} {
				limit, band := rat(below), big.NewRat(11, 10)
				if l.Runway > 0 {
					limit, band = new(big.Rat).Mul(rat(burn), big.NewRat(int64(runway), int64(time.Hour))), big.NewRat(5, 4)
				}
				if stood {
					v.Standing[keyOf(l)] = base
					limit.Mul(limit, band)
				}
				want := rat(left).Cmp(limit) < 0 && (l.Runway == 0 || burn > 0)
				if got := len(stands(t, balanceOf(enforcing(), l), v)) > 0; got != want {
					t.Fatalf("left %d, burn %d, %+v, stood %v: %v", left, burn, l, stood, got)
				}
			}
		}
	})
}

func TestMoneyStopsOnlyWhatItMay(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		act := rapid.SampledFrom(policies.MoneyActs()).Draw(t, "act")
		var p policies.Policy = balanceOf(enforcing(), policies.Level{Below: fleet.CNY(100e6), Then: act}, policies.Level{Runway: 6 * time.Hour, Then: act})
		if rapid.Bool().Draw(t, "budget") {
			b := budgetOf(enforcing())
			b.At = []policies.BudgetStep{{Percent: 50, Then: act}}
			p = b
		}
		for _, d := range p.Decide(v).Verdicts {
			if d.Goal == fleet.Keep {
				continue
			}
			n := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == d.Ref })
			i, j := v.Things.Instances[n], v.Activity[d.Ref]
			idle := j.Activity == fleet.Idle && j.Boot.Same(i.Boot) &&
				!slices.ContainsFunc(v.Runs[i.Ref], func(r fleet.Run) bool { return r.Open() && r.Boot == i.Boot && r.Source != "file" })
			seen[fmt.Sprintf("%s, blind %v", act, d.Blind)]++
			switch {
			case d.Goal != fleet.Stop || i.State != fleet.StateRunning || i.Boot == "" || i.OnStop.KeepsData != fleet.KeepsAll || d.Ground != nil:
				t.Fatalf("%s of what is %s: %+v", d.Goal, i.State, d)
			case !act.Stops() || d.Blind != (act == policies.StopAll):
				t.Fatalf("%s: %+v", act, d)
			case act == policies.StopIdle && !idle:
				t.Fatalf("not idle: %+v", d)
			}
		}
	})
	if len(seen) != 2 {
		t.Fatalf("the views drawn led to too few wishes to prove anything: %v", seen)
	}
}

func TestCurrenciesAreNeverMixed(t *testing.T) {
	goals := func(p policies.Policy, v policies.View) (out []fleet.Action) {
		for _, d := range p.Decide(v).Verdicts {
			out = append(out, d.Goal)
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		v := drawOthers(t)
		more := fleet.Money{Micros: rapid.Int64Range(1, 1e15).Draw(t, "more"), Currency: "JPY"}
		p, b := balanceOf(enforcing(), everyLevel()...), budgetOf(enforcing())
		was, spent := goals(p, v), goals(b, v)
		told := p.Decide(onlyAccounts(v)).Blocks
		if a, ok := v.Accounts["lab"]; ok {
			a.Burn.PerHour = slices.Clone(a.Burn.PerHour)
			a.Burn.PerHour.Add(more)
			v.Accounts["lab"] = a
		}
		p.Levels = append(p.Levels, policies.Level{Below: fleet.Money{Micros: math.MaxInt64, Currency: "JPY"}, Then: policies.StopAll})
		if got := goals(p, v); !slices.Equal(was, got) {
			t.Fatalf("another currency changed %v to %v", was, got)
		}
		if got := p.Decide(onlyAccounts(v)).Blocks; len(got) != len(told) {
			t.Fatalf("another currency changed %v to %v", told, got)
		}
		if tally, ok := v.Spend["p"]; ok {
			g := tally.Groups[0]
			g.Sum = slices.Clone(g.Sum)
			g.Sum.Add(more)
			tally.Groups = []policies.Group{g}
			v.Spend = map[string]policies.Tally{"p": tally}
		}
		if got := goals(b, v); !slices.Equal(spent, got) {
			t.Fatalf("another currency changed %v to %v", spent, got)
		}
	})
}

func TestTheHighestShareThatWasReachedIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := budgetOf(enforcing())
		b.Limit = fleet.CNY(rapid.OneOf(rapid.Int64Range(1, 1e9), rapid.Just[int64](math.MaxInt64)).Draw(t, "limit"))
		spent := rapid.OneOf(rapid.Int64Range(-10, 2e9), rapid.Just[int64](math.MaxInt64)).Draw(t, "spent")
		view := func(spent int64) policies.View {
			return policies.View{
				Now: base, Due: base, Accounts: map[string]policies.Account{"lab": {Ref: purse, Name: "lab"}},
				Spend: map[string]policies.Tally{"p": {
					From: base.Add(-time.Hour), To: base.Add(time.Hour), At: base,
					Groups: []policies.Group{{Sum: fleet.Sums{fleet.CNY(spent)}, Lately: fleet.Sums{fleet.CNY(spent)}, LatelyFor: 7 * time.Hour}},
				}},
			}
		}
		want := -1
		for n, s := range b.At {
			// spent / limit >= percent / 100
			if new(big.Int).Mul(big.NewInt(spent), big.NewInt(100)).Cmp(new(big.Int).Mul(big.NewInt(b.Limit.Micros), big.NewInt(int64(s.Percent)))) >= 0 {
				want = n
			}
		}
		got := -1
		for _, f := range b.Decide(onlyAccounts(view(spent))).Findings {
			for n, s := range b.At {
				if f.Condition == fmt.Sprintf("spent %d%%", s.Percent) {
					got = n
				}
			}
		}
		if got != want {
			t.Fatalf("%d of %d: share %d, want %d", spent, b.Limit.Micros, got, want)
		}
	})
}
