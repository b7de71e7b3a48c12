package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/ledger"
)

// anyTale draws a history in which anything follows anything.
func anyTale(t *rapid.T, n int) *tale {
	kind := rapid.SampledFrom([]fleet.ThingKind{fleet.KindInstance, fleet.KindInstance, fleet.KindDisk, fleet.KindSnapshot, fleet.KindImage, fleet.KindPublicIP}).Draw(t, "kind")
	s := of(kind, fmt.Sprintf("%s-%d", kind, n))
	s.h.Owner = rapid.SampledFrom([]string{"", "wang", "li"}).Draw(t, "owner")
	values := map[string][]string{
		"state":    {"running", "stopped", "starting", "unknown", "gone", "there", "creating", "releasing", "failed"},
		"price":    {"1.98 CNY", "0.333333 CNY", "0.00 CNY", "7.77 USD", "unknown", "0.000001 CNY"},
		"billing":  {"second on-demand provider", "hour spot provider", "prepaid period config", "- - config", "hour period provider"},
		"boot":     {"n1", "n2"},
		"activity": {"idle", "busy", "unknown"},
	}
	at := time.Duration(0)
	for range rapid.IntRange(1, 12).Draw(t, "changes") {
		at += time.Duration(rapid.Int64Range(1, int64(5*hour)).Draw(t, "later"))
		what := rapid.SampledFrom([]string{"state", "state", "price", "price", "billing", "boot", "activity"}).Draw(t, "what")
		s.at(at, what, rapid.SampledFrom(values[what]).Draw(t, "value"))
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "runs") {
		from := time.Duration(rapid.Int64Range(0, int64(40*hour)).Draw(t, "run from"))
		s.run(fmt.Sprint(n), from, from+time.Duration(rapid.Int64Range(0, int64(10*hour)).Draw(t, "run for")))
	}
	return s
}

// However costs are grouped and cut, the parts add up to the whole, to the
// millionth and to the nanosecond of what is unknown, in each currency by itself.
func TestPartsAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tales []*tale
		for n := range rapid.IntRange(1, 4).Draw(t, "things") {
			tales = append(tales, anyTale(t, n))
		}
		now := 80 * hour
		from := time.Duration(rapid.Int64Range(0, int64(40*hour)).Draw(t, "from"))
		to := from + time.Duration(rapid.Int64Range(1, int64(60*hour)).Draw(t, "for"))
		whole := reckon(ledger.ByAccount, from, to, now, tales...)
		var unknown time.Duration
		for _, u := range whole.Unknown {
			unknown += u.For
		}
		for _, by := range ledger.Groupings() {
			c := reckon(by, from, to, now, tales...)
			equal(t, string(by)+": total", whole.Total, c.Total)
			var sum, items fleet.Sums
			var lost time.Duration
			for _, r := range c.Rows {
				var row fleet.Sums
				for _, i := range ledger.Items() {
					add(&row, r.Items[i])
				}
				equal(t, string(by)+": items of "+r.Key, r.Total, row)
				add(&sum, r.Total)
				lost += r.Unknown
			}
			equal(t, string(by)+": rows", c.Total, sum)
			for _, i := range ledger.Items() {
				add(&items, c.Items[i])
			}
			equal(t, string(by)+": items", c.Total, items)
			if by != ledger.ByRun && lost != unknown { // runs at the same time are each as long as they are
				t.Errorf("%s: %s are unknown, the rows say %s", by, unknown, lost)
			}
		}
		cut := from + time.Duration(rapid.Int64Range(0, int64(to-from)).Draw(t, "cut"))
		var halves fleet.Sums
		if cut > from {
			add(&halves, reckon(ledger.ByItem, from, cut, now, tales...).Total)
		}
		if to > cut {
			add(&halves, reckon(ledger.ByItem, cut, to, now, tales...).Total)
		}
		equal(t, "cut in two", whole.Total, halves)
	})
}

func add(sum *fleet.Sums, more fleet.Sums) {
	for _, m := range more {
		sum.Add(m)
	}
}

// equal compares sums; nothing in a currency is nothing.
func equal(t *rapid.T, what string, want, got fleet.Sums) {
	t.Helper()
	for _, currency := range []string{"CNY", "USD"} {
		if want.In(currency) != got.In(currency) {
			t.Errorf("%s: %s, want %s", what, got.In(currency), want.In(currency))
		}
	}
	for _, s := range []fleet.Sums{want, got} {
		if !slices.IsSortedFunc(s, func(a, b fleet.Money) int { return strings.Compare(a.Currency, b.Currency) }) {
			t.Errorf("%s: %v has a currency twice or out of order", what, s)
		}
	}
}

// By the second a charge never differs from the exact sum by more than a millionth
// for each stretch; by the started hour never less than by the second.
func TestRoundingUpAnHourNeverCostsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seconds []time.Duration
		for range rapid.IntRange(1, 6).Draw(t, "sessions") {
			seconds = append(seconds, time.Duration(rapid.Int64Range(1, 4*3600).Draw(t, "seconds"))*time.Second)
		}
		bill := func(rule string) int64 {
			s := of(fleet.KindInstance, "a").at(0, "price", "3.60 CNY").at(0, "billing", rule+" on-demand provider")
			at := time.Duration(0)
			for _, d := range seconds {
				s.at(at, "state", "running").at(at+d, "state", "gone")
				at += d + hour
			}
			return reckon(ledger.ByAccount, 0, at, at, s).Total.In("CNY").Micros
		}
		var exact, whole int64
		for _, d := range seconds {
			exact += int64(d/time.Second) * 1000
			whole += (int64(d/time.Second) + 3599) / 3600 * 3_600_000
		}
		if got := bill("second"); got != exact {
			t.Errorf("by the second %d, want %d", got, exact)
		}
		if got := bill("hour"); got != whole {
			t.Errorf("by the hour %d, want %d", got, whole)
		}
	})
}

func TestASplitIsWholeAndFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64().Draw(t, "amount")
		weights := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 8).Draw(t, "weights")
		parts := ledger.Split(amount, weights)
		var sum int64
		for _, p := range parts {
			sum += p
		}
		if sum != amount || len(parts) != len(weights) {
			t.Fatalf("%v add up to %d, want %d", parts, sum, amount)
		}
		for n := range parts {
			for m := range parts {
				if weights[n] == weights[m] && weights[n] > 0 && max(parts[n]-parts[m], parts[m]-parts[n]) > 1 {
					t.Errorf("equal weights got %d and %d", parts[n], parts[m])
				}
			}
		}
	})
}
