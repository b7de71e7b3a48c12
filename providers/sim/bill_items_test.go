package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/providers/sim"
)

func (b *bench) billed(from, to time.Time) []fleet.BillItem {
	b.Helper()
	items, err := b.api.BillItems(b.Context(), from, to)
	b.must(err)
	return items
}

// ever is a time in which everything of a test lies.
func (b *bench) ever() (from, to time.Time) {
	return b.time.AddDate(-1, 0, 0), b.time.AddDate(1, 0, 0)
}

func lines(items []fleet.BillItem) string {
	var out []string
	for _, b := range items {
		line := b.Ref.ID + " " + string(b.Item) + " " + b.From.Format("15:04") + "-" + b.To.Format("15:04") + " " + b.Amount.String()
		if !b.Vouchers.IsZero() {
			line += " of it " + b.Vouchers.String()
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// At 1.80 CNY/h by the second from 20:15 to 22:25: 45 min, an hour, 25 min. At 2 CNY
// for each started hour from 20:15 to 21:25: two. The vouchers of 3 CNY pay what is
// settled first: 1.35, and 1.65 of the 2.00 after it.
func TestUseIsSettledByTheHourAndWhenItEnds(t *testing.T) {
	b := setup(t, sim.Options{
		Timing:   sim.Timing{StopTime: -1},
		Accounts: []sim.Account{{Name: "lab", Vouchers: fleet.CNY(3_000_000)}},
	})
	b.pass(15 * time.Minute)
	b.MustAdd(sim.Spec{ID: "second", Price: fleet.CNY(1_800_000)})
	b.MustAdd(sim.Spec{ID: "hour", Price: fleet.CNY(2_000_000), Billing: fleet.BillingPerHour})
	b.pass(70 * time.Minute)
	b.must(b.UserStops("hour"))
	b.pass(time.Hour)
	b.must(b.UserStops("second"))
	b.pass(time.Minute)
	want := `second instance 20:15-21:00 1.35 CNY of it 1.35 CNY
hour instance 20:15-21:15 2.00 CNY of it 1.65 CNY
hour instance 21:15-21:25 2.00 CNY
second instance 21:00-22:00 1.80 CNY
second instance 22:00-22:25 0.75 CNY`
	if diff := cmp.Diff(want, lines(b.billed(b.ever()))); diff != "" {
		t.Errorf("the bill (-want +got):\n%s", diff)
	}
}

func TestABillLagsBehindAndItemsComeLate(t *testing.T) {
	b := setup(t, sim.Options{Timing: sim.Timing{BillLag: 30 * time.Minute}})
	b.MustAdd(sim.Spec{ID: "a", Price: fleet.CNY(1_000_000)})
	count := func(want int, when string) {
		t.Helper()
		if got := len(b.billed(b.ever())); got != want {
			t.Errorf("%s the bill holds %d items, want %d", when, got, want)
		}
	}
	b.pass(89 * time.Minute)
	count(0, "a minute before the first hour is shown,")
	b.pass(time.Minute)
	count(1, "half an hour after the first hour")
	b.pass(30 * time.Hour)
	count(31, "a day later")
	b.Break(sim.Fault{Kind: sim.LateItems, Op: "bill", Times: 1})
	count(7, "while items come late")
	count(31, "afterwards")
	b.Break(sim.Fault{Kind: sim.ServerError, Op: "bill", Times: 1})
	if items, err := b.api.BillItems(t.Context(), b.time.AddDate(0, 0, -1), b.time); fleet.KindOf(err) != fleet.Transient || items != nil {
		t.Errorf("a bill that cannot be read gives %v, %v", items, err)
	}
}

func TestWhatIsChargedByHandIsBilledAndPaid(t *testing.T) {
	b := setup(t, sim.Options{})
	before := b.wallet().Cash.Micros
	charge := func(micros int64) error {
		return b.Charge("lab", fleet.BillItem{From: b.time.Add(-time.Hour), To: b.time, Amount: fleet.CNY(micros)})
	}
	b.must(charge(5_000_000))
	b.must(charge(-1_000_000))
	if got := before - b.wallet().Cash.Micros; got != 4_000_000 {
		t.Errorf("%d left the wallet, want 4 CNY", got)
	}
	if got := b.billed(b.ever()); len(got) != 2 || got[0].Item != fleet.ItemOther || got[0].Kind != fleet.BillUsage {
		t.Errorf("the bill: %+v", got)
	}
	for name, err := range map[string]error{
		"of nobody":   b.Charge("nobody", fleet.BillItem{From: b.time.Add(-time.Hour), To: b.time, Amount: fleet.CNY(1)}),
		"for no time": b.Charge("lab", fleet.BillItem{From: b.time, To: b.time, Amount: fleet.CNY(1)}),
		"in dollars":  b.Charge("lab", fleet.BillItem{From: b.time.Add(-time.Hour), To: b.time, Amount: fleet.Money{Micros: 1, Currency: "USD"}}),
	} {
		if err == nil {
			t.Errorf("a charge %s was taken", name)
		}
	}
}

// Whatever happens, the items sum up to the lines once all has ended, those of two
// times that follow each other are those of the whole, and cash and vouchers are what
// the wallet lost of each.
func TestItemsAddUpToTheBill(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vouchers := rapid.Int64Range(0, 20_000_000).Draw(rt, "vouchers")
		b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab", Cash: fleet.CNY(1_000_000_000), Vouchers: fleet.CNY(vouchers)}}})
		from := b.time.Add(-time.Hour)
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			b.MustAdd(sim.Spec{
				ID: id, Price: fleet.CNY(rapid.Int64Range(0, 5_000_000).Draw(rt, "price")), ReleasesRunning: true,
				StillCosts:      fleet.CNY(rapid.Int64Range(0, 50_000).Draw(rt, "still")),
				Billing:         rapid.SampledFrom([]fleet.Billing{fleet.BillingPerSecond, fleet.BillingPerHour}).Draw(rt, "billing"),
				StopEndsBilling: rapid.SampledFrom([]sim.Answer{"yes", "no"}).Draw(rt, "ends"),
			})
		}
		disk := b.MustAddResource(fleet.KindDisk, sim.Resource{ID: "d", Price: fleet.CNY(14_583), AttachedTo: "a", PriceAttached: fleet.CNY(3)})
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			b.pass(time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "seconds")) * time.Second)
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			_ = []func(string) error{b.UserStops, b.UserStarts, b.UserReleases}[rapid.IntRange(0, 2).Draw(rt, "what")](id)
		}
		for _, id := range ids {
			_ = b.UserReleases(id)
		}
		b.pass(time.Minute)
		b.must(b.UserDeletes(disk))
		b.pass(time.Hour)
		to := b.time
		cut := from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(rt, "cut")))
		all := b.billed(from, to)
		if n := len(b.billed(from, cut)) + len(b.billed(cut, to)); n != len(all) {
			rt.Errorf("cut at %s there are %d items, in the whole %d", cut, n, len(all))
		}
		sums, paid := map[fleet.Ref]int64{}, int64(0)
		for _, i := range all {
			sums[i.Ref] += i.Amount.Micros
			paid += i.Cash().Micros
			if !i.From.Before(i.To) || i.SettledAt.Before(i.To) || i.Vouchers.Micros < 0 || i.Vouchers.Micros > i.Amount.Micros {
				rt.Errorf("item %+v", i)
			}
		}
		for _, l := range b.Bill() {
			if sums[l.Ref] != l.Cost.Micros {
				rt.Errorf("%s cost %d, its items sum up to %d", l.Ref, l.Cost.Micros, sums[l.Ref])
			}
		}
		if fell := 1_000_000_000 - b.wallet().Cash.Micros; fell != paid {
			rt.Errorf("%d of cash left the wallet, the bill says %d", fell, paid)
		}
	})
}
