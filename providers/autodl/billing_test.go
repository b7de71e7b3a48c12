package autodl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
)

func TestWhatAStopDoesToTheBill(t *testing.T) {
	end := noon.Add(100 * time.Hour)
	for _, tc := range []struct {
		charge string
		want   fleet.Charge
		ends   fleet.Tri
	}{
		{"payg", fleet.Charge{Type: fleet.ChargeOnDemand}, fleet.Yes},
		{"daily", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"day", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"weekly", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"week", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"monthly", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"month", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"yearly", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"year", fleet.Charge{Type: fleet.ChargePeriod, End: end}, fleet.No},
		{"tidal", fleet.Charge{}, fleet.Unsure},
	} {
		t.Run(tc.charge, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, func(o *providers.Options, _ *httpx.Options) {
				o.Prices = map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_980_000)}
			})
			i := b.must(t, b.cloud.Add(autodltest.Machine{Charge: tc.charge, ExpiredAt: end}))
			if diff := cmp.Diff(tc.want, i.Charge); diff != "" {
				t.Errorf("charge (-want +got):\n%s", diff)
			}
			if i.OnStop.EndsBilling != tc.ends || i.OnStop.KeepsData != fleet.KeepsAll {
				t.Errorf("a stop ends billing %q and keeps %q, want %q and all", i.OnStop.EndsBilling, i.OnStop.KeepsData, tc.ends)
			}
			if i.Price.Known() != (tc.charge == "payg") {
				t.Errorf("price is %+v; an hourly price is that of pay as you go alone", i.Price)
			}
		})
	}
}

func TestAPeriodIsNotReleasedAfterFifteenDaysOff(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	i := b.must(t, b.cloud.Add(autodltest.Machine{Charge: "monthly", Status: "shutdown"}))
	if !i.ReleasesAt.IsZero() {
		t.Errorf("released at %s, which nobody has told", i.ReleasesAt)
	}
}

func TestPrice(t *testing.T) {
	perSecond := func(micros int64, s fleet.PriceSource) fleet.Price {
		return fleet.Price{PerHour: fleet.CNY(micros), Billing: fleet.BillingPerSecond, Source: s}
	}
	for _, tc := range []struct {
		name   string
		prices map[string]fleet.Money
		m      autodltest.Machine
		want   fleet.Price
		reads  int // requests of a single read
	}{
		{"the configuration counts, and saves a request", map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_500_000)}, autodltest.Machine{Price: 1980}, perSecond(1_500_000, fleet.PriceConfig), 1},
		{"the configuration names one card's price", map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_500_000)}, autodltest.Machine{GPUs: 4}, perSecond(6_000_000, fleet.PriceConfig), 1},
		{"the configuration may name the spec", map[string]fleet.Money{"v-48g": fleet.CNY(2_000_000)}, autodltest.Machine{Spec: "v-48g"}, perSecond(2_000_000, fleet.PriceConfig), 1},
		{"else the platform's price of a running instance", nil, autodltest.Machine{Price: 1980}, perSecond(1_980_000, fleet.PriceProvider), 2},
		{"the platform's price of several cards is unclear, so unknown", nil, autodltest.Machine{Price: 1980, GPUs: 2}, fleet.Price{}, 2},
		{"the platform's price of a stopped instance is nonsense and not asked for", nil, autodltest.Machine{Price: 1980, Status: "shutdown"}, fleet.Price{}, 1},
		{"a boot without its card does not cost the card's price", map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_500_000)}, autodltest.Machine{StartMode: "non_gpu"}, fleet.Price{}, 1},
		{"another model's price is not guessed from", map[string]fleet.Money{"RTX 4090": fleet.CNY(1_500_000)}, autodltest.Machine{Spec: "new-spec", Status: "shutdown"}, fleet.Price{}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, func(o *providers.Options, _ *httpx.Options) { o.Prices = tc.prices })
			i := b.must(t, b.cloud.Add(tc.m))
			if diff := cmp.Diff(tc.want, i.Price); diff != "" {
				t.Errorf("price (-want +got):\n%s", diff)
			}
			if got := len(b.sent(0)); got != tc.reads {
				t.Errorf("the read cost %d requests %q, want %d", got, b.sent(0), tc.reads)
			}
		})
	}
	t.Run("a price that cannot be read fails nothing", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		id := b.cloud.Add(autodltest.Machine{})
		b.cloud.Fail(autodltest.Fault{Kind: autodltest.HTML, Paths: []string{"snapshot"}})
		if i := b.must(t, id); i.State != fleet.StateRunning || i.Price.Known() {
			t.Errorf("got %s at %+v, want running at an unknown price", i.State, i.Price)
		}
	})
}

func TestAnEnlargedDiskGoesOnCosting(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	plain, large := b.cloud.Add(autodltest.Machine{}), b.cloud.Add(autodltest.Machine{DiskExtra: 50 << 30})
	if p := b.must(t, plain).OnStop.StillCosts; !p.Known() || !p.PerHour.IsZero() {
		t.Errorf("without extra disk a stopped instance costs %+v, want a known nothing", p)
	}
	if p := b.must(t, large).OnStop.StillCosts; p.Known() {
		t.Errorf("with extra disk it costs %+v, want unknown: no call tells the price", p)
	}
	is, err := b.Instances(t.Context(), b.Scopes()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range is {
		if i.OnStop.StillCosts.Known() {
			t.Errorf("the list tells nothing of disks, but says %+v", i.OnStop.StillCosts)
		}
	}
}

func TestAStrangeTimeIsUnreadAndHidesNothingElse(t *testing.T) {
	a := openAt(t, recorded(t, exchange{want: listPage1, body: envelopeOf(t, "Success", "", map[string]any{
		"max_page": 1, "result_total": 2, "list": []map[string]any{
			{"uuid": "pro-1", "status": "running", "charge_type": "payg", "started_at": 5},
			{"uuid": "pro-2", "status": "shutdown", "charge_type": "payg", "stopped_at": "soon"},
		},
	})}), nil)
	is, err := a.Instances(t.Context(), a.Scopes()[0])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, i := range is {
		got[i.Ref.ID] = i.Unread
		if i.Boot != "" || !i.ReleasesAt.IsZero() {
			t.Errorf("%s has boot %q and is released at %s, from a time nobody can read", i.Ref.ID, i.Boot, i.ReleasesAt)
		}
	}
	want := map[string][]string{"pro-1": {"started_at"}, "pro-2": {"stopped_at"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
}

func TestStatusWords(t *testing.T) {
	for word, want := range map[string]fleet.State{
		"creating": fleet.StateCreating, "starting": fleet.StateStarting, "running": fleet.StateRunning,
		"shutting_down": fleet.StateStopping, "shutdown": fleet.StateStopped, "releasing": fleet.StateReleasing,
		"released": fleet.StateReleased, "failed": fleet.StateFailed,
		"": fleet.StateUnknown, "Shutdown": fleet.StateUnknown, "re_initializing": fleet.StateUnknown, "oss_merged": fleet.StateUnknown,
	} {
		if got := state(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}

func TestSpecsOfTheAppendix(t *testing.T) {
	for spec, want := range map[string]fleet.GPU{
		"h800":       {Model: "H800", MemoryGB: 80},
		"v-48g":      {Model: "vGPU-48GB", MemoryGB: 48},
		"pro6000-p":  {Model: "RTX PRO 6000", MemoryGB: 96},
		"v-32g-p":    {Model: "vGPU-32GB", MemoryGB: 32},
		"v-48g-350w": {Model: "vGPU-48GB-350W", MemoryGB: 48},
		"5090-p":     {Model: "RTX 5090", MemoryGB: 32},
		"4090D":      {Model: "RTX 4090D", MemoryGB: 24},
		"tomorrow-1": {Model: "tomorrow-1"},
		"":           {},
	} {
		model, memory := gpus(spec)
		if got := (fleet.GPU{Model: model, MemoryGB: memory}); got != want {
			t.Errorf("%q is %+v, want %+v", spec, got, want)
		}
	}
}
