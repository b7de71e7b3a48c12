package sim_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

func (b *bench) offers() map[string]fleet.Offer {
	b.Helper()
	os, err := b.api.Offers(b.Context(), fleet.OfferQuery{})
	b.must(err)
	out := map[string]fleet.Offer{}
	for _, o := range os {
		out[o.SKU] = o
	}
	return out
}

func spec(sku, name string) fleet.OrderSpec {
	return fleet.OrderSpec{Offer: fleet.Offer{SKU: sku}, Name: name, Token: "t-" + name, Labels: map[string]string{"team": "vision"}}
}

func (b *bench) order(sku, name string) (fleet.Ref, error) {
	return b.api.Order(b.Context(), spec(sku, name))
}

// market loads the world in testdata.
func market(t *testing.T) *bench {
	t.Helper()
	w, err := sim.LoadWorld(filepath.Join("testdata", "market.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, time: time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)}
	b.Cloud = sim.New(sim.Options{Now: func() time.Time { return b.time }})
	b.must(b.Load(w))
	b.api = b.account("lab")
	return b
}

func TestAMarketOpensAndCloses(t *testing.T) {
	b := market(t)
	begin := b.time
	for _, c := range []struct {
		at        time.Duration
		available int
		price     int64
	}{
		{0, 0, 1_980_000},
		{10*time.Minute - 1, 0, 1_980_000},
		{10 * time.Minute, 2, 1_980_000},
		{25*time.Minute - 1, 2, 1_980_000},
		{25 * time.Minute, 0, 1_980_000},
		{70 * time.Minute, 2, 1_980_000},
		{85 * time.Minute, 0, 1_980_000},
		{130*time.Minute - 1, 0, 1_980_000},
		{130 * time.Minute, 2, 2_500_000},
	} {
		b.pass(begin.Add(c.at).Sub(b.time))
		api := market(t)
		api.pass(c.at)
		want := fleet.Offer{
			Region: "north", Zone: "north-a", SKU: "4090-1", GPU: fleet.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
			CPUCores: 16, MemoryGB: 60, CUDA: "12.4", Charge: fleet.ChargeOnDemand, Available: c.available, SeenAt: b.time,
			Price: fleet.Price{PerHour: fleet.CNY(c.price), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider, AsOf: b.time},
		}
		if diff := cmp.Diff(want, api.offers()["4090-1"]); diff != "" {
			t.Errorf("after %s, wanted (-) and got (+):\n%s", c.at, diff)
		}
	}
	want := fleet.Offer{
		Region: "south", SKU: "h800-8", GPU: fleet.GPU{Model: "H800", Count: 8}, Charge: fleet.ChargeSpot,
		Available: fleet.SomeAvailable, Advisory: true, SeenAt: b.time,
	}
	if diff := cmp.Diff(want, b.offers()["h800-8"]); diff != "" {
		t.Errorf("what tells little, wanted (-) and got (+):\n%s", diff)
	}
}

func TestAnOrderBootsAndCosts(t *testing.T) {
	b := market(t)
	b.pass(10 * time.Minute)
	ref, err := b.order("4090-1", "exp-1")
	b.must(err)
	effect := sim.Effect{At: b.time, Account: "lab", Op: "order", Ref: ref, Made: ref, By: sim.ByAPI, Token: "t-exp-1"}
	if diff := cmp.Diff([]sim.Effect{effect}, b.Effects()); diff != "" {
		t.Errorf("effects wanted (-) and got (+):\n%s", diff)
	}
	if i := b.read(ref.ID); i.State != fleet.StateCreating || i.Name != "exp-1" || i.Labels["team"] != "vision" || i.Region != "north" {
		t.Errorf("at once it is %+v", i)
	}
	b.pass(40*time.Second - 1)
	if i := b.read(ref.ID); i.State != fleet.StateCreating {
		t.Errorf("before its boot time it is %s", i.State)
	}
	b.pass(1)
	if i := b.read(ref.ID); i.State != fleet.StateRunning || i.Boot == "" || i.Price.PerHour != fleet.CNY(1_980_000) || i.Charge.Type != fleet.ChargeOnDemand {
		t.Errorf("after its boot time it is %+v", i)
	}
	b.pass(time.Hour)
	if got := b.cost(ref.ID); got != 1_980_000 {
		t.Errorf("an hour cost %d micros", got)
	}
	b.must(b.stop(ref.ID))
	b.pass(time.Minute)
	if got := b.State(ref.ID); got != fleet.StateStopped {
		t.Errorf("stopped, it is %s", got)
	}
}

func TestOrdersUseAWindowUp(t *testing.T) {
	b := market(t)
	b.pass(10 * time.Minute)
	for _, name := range []string{"a", "b"} {
		_, err := b.order("4090-1", name)
		b.must(err)
	}
	if _, err := b.order("4090-1", "c"); fleet.KindOf(err) != fleet.OutOfStock {
		t.Errorf("the third of two answers %v, want out of stock", err)
	}
	if got := b.offers()["4090-1"].Available; got != 0 {
		t.Errorf("%d are still on offer", got)
	}
	b.pass(time.Hour)
	if got := b.offers()["4090-1"].Available; got != 2 {
		t.Errorf("in the next window there are %d, want 2", got)
	}
	b.must(b.SetStock("4090-1", 1))
	if got := b.offersAfter(time.Minute)["4090-1"].Available; got != 1 {
		t.Errorf("set to one there are %d", got)
	}
	if err := b.SetStock("none", 1); err == nil {
		t.Error("what is not there has a stock")
	}
}

func (b *bench) offersAfter(d time.Duration) map[string]fleet.Offer {
	b.Helper()
	b.pass(d)
	return b.offers()
}

func TestWhatIsShownMayBeSoldOut(t *testing.T) {
	b := market(t)
	if b.offers()["h800-8"].Available == 0 {
		t.Fatal("it is not shown")
	}
	if _, err := b.order("h800-8", "a"); fleet.KindOf(err) != fleet.OutOfStock {
		t.Errorf("got %v, want out of stock", err)
	}
}

func TestWhoAsksForStockTooOftenIsBanned(t *testing.T) {
	b := market(t)
	ask := func(after time.Duration) error {
		b.pass(after)
		_, err := b.api.Offers(b.Context(), fleet.OfferQuery{})
		return err
	}
	b.must(ask(0))
	b.must(ask(10 * time.Second))
	banned := func(err error, left time.Duration) {
		t.Helper()
		e, ok := errors.AsType[*fleet.Error](err)
		if !ok || e.Kind != fleet.Banned || e.RetryAfter != left {
			t.Errorf("got %v, want banned for %s", err, left)
		}
	}
	banned(ask(10*time.Second-1), 30*time.Minute)
	banned(ask(10*time.Minute), 20*time.Minute)
	b.must(ask(20 * time.Minute))
	// Only asking for stock is banned.
	banned(ask(time.Second), 30*time.Minute)
	if _, err := b.api.Instances(b.Context(), b.api.Scopes[0]); err != nil {
		t.Error(err)
	}
}

func TestATokenStandsForOneOrder(t *testing.T) {
	b := setup(t, sim.Options{})
	b.must(b.Offer(sim.Good{ID: "g", Available: 9}))
	first, err := b.order("g", "a")
	b.must(err)
	again, err := b.order("g", "a")
	b.must(err)
	if again != first || len(b.list()) != 1 {
		t.Errorf("twice the same made %s and %s", first, again)
	}
	for what, change := range map[string]func(*fleet.OrderSpec){
		"disk":    func(o *fleet.OrderSpec) { o.DiskGB = 5 },
		"key":     func(o *fleet.OrderSpec) { o.SSHKey = "mine" },
		"command": func(o *fleet.OrderSpec) { o.Command = "true" },
	} {
		other := spec("g", "a")
		change(&other)
		if _, err := b.api.Order(b.Context(), other); fleet.KindOf(err) != fleet.Invalid {
			t.Errorf("the token with another %s answers %v, want invalid", what, err)
		}
	}
	b.must(b.Remove(first.ID))
	if again, err := b.order("g", "a"); err != nil || again != first {
		t.Errorf("after it is gone the same order answers %s and %v", again, err)
	}
}

func TestWithoutTokensTheNameIsLookedForAmongWhatIsShown(t *testing.T) {
	b := setup(t, sim.Options{Ways: sim.Ways{IgnoresTokens: true}, Timing: sim.Timing{SettleLag: 15 * time.Second}})
	b.must(b.Offer(sim.Good{ID: "g", Available: 9}))
	first, err := b.order("g", "a")
	b.must(err)
	if n := len(b.list()); n != 0 {
		t.Errorf("a list that lags shows %d", n)
	}
	// The trap for whoever does not wait.
	second, err := b.order("g", "a")
	b.must(err)
	if second == first {
		t.Error("a read that lags showed the first")
	}
	b.pass(15 * time.Second)
	if n := len(b.list()); n != 2 {
		t.Errorf("the list shows %d, want both", n)
	}
	third, err := b.order("g", "a")
	b.must(err)
	if third != first || len(b.list()) != 2 {
		t.Errorf("with the first shown, the same order made %s", third)
	}
}

func (b *bench) list() []fleet.Instance {
	b.Helper()
	is, err := b.api.Instances(b.Context(), b.api.Scopes[0])
	b.must(err)
	return is
}

func TestAnAccountMayHoldNoMoreThanItsQuota(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab", Quota: 1}}})
	b.must(b.Offer(sim.Good{ID: "g", Available: 9}))
	ref, err := b.order("g", "a")
	b.must(err)
	if _, err := b.order("g", "b"); fleet.KindOf(err) != fleet.Invalid {
		t.Errorf("one too many answers %v, want invalid", err)
	}
	b.must(b.Remove(ref.ID))
	if _, err := b.order("g", "b"); err != nil {
		t.Error(err)
	}
}

func TestWithoutMoneyNothingIsSold(t *testing.T) {
	b := setup(t, sim.Options{Ways: sim.Ways{ForceStop: true}, Accounts: []sim.Account{{Name: "lab", Cash: fleet.CNY(0)}}})
	b.must(b.Offer(sim.Good{ID: "g"}))
	if _, err := b.order("g", "a"); fleet.KindOf(err) != fleet.Invalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestNobodyOrdersWhatIsNotTheirs(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab"}, {Name: "other"}}})
	b.must(b.Offer(sim.Good{ID: "g", Account: "other"}))
	if os := b.offers(); len(os) != 0 {
		t.Errorf("it sees %v", os)
	}
	for _, sku := range []string{"g", "none"} {
		if _, err := b.order(sku, "a"); fleet.KindOf(err) != fleet.Invalid {
			t.Errorf("an order of %s answers %v, want invalid", sku, err)
		}
	}
}

func TestFaultsOfOrders(t *testing.T) {
	b := setup(t, sim.Options{})
	b.must(b.Offer(sim.Good{ID: "g", Available: 9, Price: fleet.CNY(1_000_000)}))
	b.Break(sim.Fault{Kind: sim.PriceRise, Times: 1})
	ref, err := b.order("g", "dear")
	b.must(err)
	if got := b.read(ref.ID).Price.PerHour; got != fleet.CNY(2_000_000) {
		t.Errorf("after a price rise it costs %s, want twice as much", got)
	}
	if got := b.offers()["g"].Price.PerHour; got != fleet.CNY(1_000_000) {
		t.Errorf("it is on offer for %s", got)
	}
	b.Break(sim.Fault{Kind: sim.Ignored, Op: "order", Times: 1})
	if ref, err := b.order("g", "never"); err != nil || ref.IsZero() || b.State(ref.ID) != fleet.StateReleased {
		t.Errorf("accepted and forgotten, it answers %s and %v", ref, err)
	}
	for kind, made := range map[sim.FaultKind]bool{sim.TimeoutBefore: false, sim.TimeoutAfter: true} {
		b.Break(sim.Fault{Kind: kind, Op: "order", Times: 1})
		before := len(b.list())
		if _, err := b.order("g", string(kind)); fleet.KindOf(err) != fleet.OutcomeUnknown {
			t.Errorf("%s answers %v", kind, err)
		}
		if got := len(b.list()) > before; got != made {
			t.Errorf("after a %s there is one more: %t, want %t", kind, got, made)
		}
	}
}

func TestOffersOfARegion(t *testing.T) {
	b := market(t)
	for name, c := range map[string]struct {
		q    fleet.OfferQuery
		want []string
	}{
		"one region":           {fleet.OfferQuery{Regions: []string{"north"}}, []string{"4090-1"}},
		"a wanted one":         {fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"s*"}}}}, []string{"h800-8"}},
		"nothing of both":      {fleet.OfferQuery{Regions: []string{"north"}, Wants: []fleet.Want{{Regions: []string{"s*"}}}}, nil},
		"everywhere, by stars": {fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"*"}}}}, []string{"4090-1", "h800-8"}},
	} {
		b.pass(time.Minute)
		os, err := b.api.Offers(b.Context(), c.q)
		b.must(err)
		var got []string
		for _, o := range os {
			got = append(got, o.SKU)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: wanted (-) and got (+):\n%s", name, diff)
		}
	}
}

func TestAHiddenPriceIsTheConfigured(t *testing.T) {
	b := setup(t, sim.Options{})
	b.must(b.Offer(sim.Good{ID: "g", GPU: sim.GPU{Model: "H800", Count: 2}, HidesPrice: true, Price: fleet.CNY(9_000_000)}))
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: b.Cloud, Prices: map[string]fleet.Money{"H800": fleet.CNY(10_000_000)}})
	b.must(err)
	b.api = providers.Collect("lab", sim.Kind(), p)
	want := fleet.Price{PerHour: fleet.CNY(20_000_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceConfig}
	if got := b.offers()["g"].Price; got != want {
		t.Errorf("it costs %+v, want %+v", got, want)
	}
}

// Windows are where the seed puts them: each begins within its jitter, is as long as
// it is said to be, and is the same whenever somebody looks.
func TestJitterMovesWindowsByTheSeedAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		nth := rapid.IntRange(0, 5).Draw(t, "window")
		opens := func() (time.Duration, time.Duration) {
			now := time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)
			began := now
			c := sim.New(sim.Options{Now: func() time.Time { return now }, Seed: seed, Accounts: []sim.Account{{Name: "lab"}}})
			if err := c.Offer(sim.Good{ID: "g", From: time.Minute, To: 11 * time.Minute, Every: time.Hour, Jitter: 20 * time.Minute}); err != nil {
				t.Fatal(err)
			}
			p, err := sim.Kind().Open(providers.Options{Account: "lab", World: c})
			if err != nil {
				t.Fatal(err)
			}
			api := providers.Collect("lab", sim.Kind(), p)
			first, last := time.Duration(-1), time.Duration(-1)
			for d := time.Duration(0); d < time.Hour; d += 30 * time.Second {
				now = began.Add(time.Minute + time.Duration(nth)*time.Hour + d)
				os, err := api.Offers(t.Context(), fleet.OfferQuery{})
				if err != nil {
					t.Fatal(err)
				}
				if os[0].Available > 0 {
					last = d
					if first < 0 {
						first = d
					}
				}
			}
			return first, last
		}
		first, last := opens()
		again, _ := opens()
		if first < 0 || first > 20*time.Minute+30*time.Second || (last-first-10*time.Minute).Abs() > 30*time.Second {
			t.Errorf("window %d is open from %s to %s", nth, first, last)
		}
		if again != first {
			t.Errorf("with one seed it opens at %s and at %s", first, again)
		}
	})
}
