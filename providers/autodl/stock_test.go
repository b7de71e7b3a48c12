package autodl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
)

const stockPath = "POST /api/v1/dev/machine/region/gpu_stock "

func TestStockIsAskedForByRegionAndVersion(t *testing.T) {
	west := envelopeOf(t, "Success", "", []map[string]map[string]any{
		{"RTX 4090D": {"idle_gpu_num": 5, "total_gpu_num": 200, "chip_corp": "nvidia", "cpu_arch": "x86"}},
		{"RTX 4090": {"idle_gpu_num": 2, "total_gpu_num": 8}},
		{"vGPU-48GB": {"idle_gpu_num": 0, "total_gpu_num": 8}},
	})
	none := envelopeOf(t, "Success", "", []int{})
	a := openAt(t, recorded(t,
		exchange{want: stockPath + `{"region_sign":"westDC3"}`, body: west},
		exchange{want: stockPath + `{"region_sign":"westDC3","cuda_v_from":124}`, body: none},
		exchange{want: stockPath + `{"region_sign":"beijingDC2"}`, body: none},
		exchange{want: stockPath + `{"region_sign":"beijingDC2","cuda_v_from":124}`, body: none},
	), func(o *providers.Options, _ *httpx.Options) {
		o.Prices = map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_980_000)}
	})
	got, err := a.Offers(t.Context(), fleet.OfferQuery{Wants: []fleet.Want{
		{GPUs: []string{"4090D"}, Count: 2},
		{GPUs: []string{"RTX 4090", "RTX 4090D"}, Count: 8}, // more than an order can have
		{GPUs: []string{"A100"}, CUDA: "12.4"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	offer := func(sku, model string, cards, memory, available int, price int64) fleet.Offer {
		o := fleet.Offer{
			Region: "westDC3", SKU: sku, GPU: fleet.GPU{Model: model, Count: cards, MemoryGB: memory}, Charge: fleet.ChargeOnDemand,
			Available: available, Advisory: true, SeenAt: noon,
		}
		if price > 0 {
			o.Price = fleet.Price{PerHour: fleet.CNY(price), Billing: fleet.BillingPerSecond, Source: fleet.PriceConfig}
		}
		return o
	}
	want := []fleet.Offer{
		offer("4090D", "RTX 4090D", 1, 24, 5, 1_980_000),
		offer("4090D", "RTX 4090D", 2, 24, 2, 3_960_000), // two of five pairs at the most
		offer("", "RTX 4090", 1, 0, 2, 0),                // no Pro instance has it
		offer("v-48g", "vGPU-48GB", 1, 48, 0, 0),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("offers wanted (-) and got (+):\n%s", diff)
	}
}

func TestStockOfAVersionIsForWhoeverWantsIt(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	b.cloud.SetStock(autodltest.Stock{Region: "beijingDC2", Model: "RTX 5090", Idle: 1, CUDA: 128})
	b.cloud.SetStock(autodltest.Stock{Region: "beijingDC2", Model: "RTX 4090D", Idle: 1, CUDA: 122})
	w := fleet.Want{GPUs: []string{"5090", "4090D"}, CUDA: "12.8", Regions: []string{"beijing*"}}
	offers, err := b.Offers(t.Context(), fleet.OfferQuery{Wants: []fleet.Want{w}})
	if err != nil || len(offers) != 1 || offers[0].CUDA != "12.8" || offers[0].GPU.Model != "RTX 5090" {
		t.Fatalf("got %+v and %v, want the one whose driver is new enough", offers, err)
	}
	if ok, why := w.Match(offers[0]); !ok {
		t.Errorf("it is not what is wanted: %v", why)
	}
	if got := b.sent(0); len(got) != 1 {
		t.Errorf("sent %q, want one request for the one region and version", got)
	}
}

func TestRegionsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	for name, q := range map[string]fleet.OfferQuery{
		"what instances are shown in": {Regions: []string{"bj-B2"}},
		"one of elastic deployment":   {Regions: []string{"foshanDC1"}},
		"a wanted one":                {Wants: []fleet.Want{{Regions: []string{"west-*"}}}},
		"a version that is none":      {Wants: []fleet.Want{{CUDA: "newest"}}},
		"a version beyond writing":    {Wants: []fleet.Want{{CUDA: "12.10"}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, nil)
			offers, err := b.Offers(t.Context(), q)
			if fleet.KindOf(err) != fleet.Invalid || offers != nil || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("got %v and %v, want invalid", offers, err)
			}
			if got := b.sent(0); len(got) != 0 {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestStockThatIsNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind fleet.ErrorKind
		says string
	}{
		"no number":            {envelopeOf(t, "Success", "", []any{map[string]any{"RTX 4090D": map[string]any{"total_gpu_num": 3}}}), fleet.Transient, "RTX 4090D"},
		"fewer than none":      {envelopeOf(t, "Success", "", []any{map[string]any{"RTX 4090D": map[string]any{"idle_gpu_num": -1}}}), fleet.Transient, "RTX 4090D"},
		"a model without name": {envelopeOf(t, "Success", "", []any{map[string]any{"": map[string]any{"idle_gpu_num": 1}}}), fleet.Transient, "not told"},
		"another form":         {envelopeOf(t, "Success", "", map[string]int{"RTX 4090D": 3}), fleet.Transient, "not as expected"},
		"nothing at all":       {envelopeOf(t, "Success", "", nil), fleet.Transient, "no data"},
		"not permitted":        {envelopeOf(t, "BadRequest", "无当前资源访问权限", nil), fleet.Unauthorized, "verified as a company"},
		"not permitted either": {envelopeOf(t, "PermissionDenied", "", nil), fleet.Unauthorized, "verified as a company"},
		"no such record":       {envelopeOf(t, "RecordNotFoundError", "", nil), fleet.Other, "RecordNotFoundError"},
	} {
		t.Run(name, func(t *testing.T) {
			a := openAt(t, recorded(t, exchange{want: stockPath + `{"region_sign":"westDC3"}`, body: c.body}), nil)
			offers, err := a.Offers(t.Context(), fleet.OfferQuery{})
			if fleet.KindOf(err) != c.kind || offers != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v and %v, want %s that says %q", offers, err, c.kind, c.says)
			}
		})
	}
	t.Run("a bad token says nothing of companies", func(t *testing.T) {
		a := openAt(t, recorded(t, exchange{want: stockPath + `{"region_sign":"westDC3"}`, body: envelopeOf(t, "AuthorizeFailed", "登录超时，请重新登录", nil)}), nil)
		if _, err := a.Offers(t.Context(), fleet.OfferQuery{}); fleet.KindOf(err) != fleet.Unauthorized || strings.Contains(err.Error(), "company") {
			t.Errorf("got %v", err)
		}
	})
}

// What asks for stock is paid for as hunting; what surrounds an order is not.
func TestStockIsPaidForAsHunting(t *testing.T) {
	counter := httpx.NewMemoryCounter()
	b := setup(t, autodltest.Options{}, func(_ *providers.Options, h *httpx.Options) {
		h.Budget = httpx.NewBudget(httpx.Limits{PerDay: 1000}, counter, func() time.Time { return noon })
	})
	spent := func() map[httpx.Class]int {
		slots, err := counter.Load(t.Context(), time.Hour, noon.Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		out := map[httpx.Class]int{}
		for _, s := range slots {
			out[s.Class] += s.N
		}
		return out
	}
	if _, err := b.Offers(t.Context(), fleet.OfferQuery{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[httpx.Class]int{httpx.Hunt: 2}, spent()); diff != "" {
		t.Errorf("after a look at the stock, wanted (-) and got (+):\n%s", diff)
	}
	if _, err := b.Order(t.Context(), anOrder()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[httpx.Class]int{httpx.Hunt: 2, httpx.Act: 2}, spent()); diff != "" {
		t.Errorf("after an order, wanted (-) and got (+):\n%s", diff)
	}
}
