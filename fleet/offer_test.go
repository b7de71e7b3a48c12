package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
)

func priced(m fleet.Money) fleet.Price {
	return fleet.Price{PerHour: m, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
}

func anOffer() fleet.Offer {
	return fleet.Offer{
		Region: "beijingDC2", Zone: "beijingDC2-a", SKU: "4090-p", GPU: fleet.GPU{Model: "RTX 4090", Count: 2, MemoryGB: 24},
		CPUCores: 32, MemoryGB: 120, CUDA: "12.4", Charge: fleet.ChargeOnDemand, Price: priced(fleet.CNY(3_960_000)), Available: 3,
	}
}

func aWant() fleet.Want {
	return fleet.Want{
		GPUs: []string{"A100", "4090"}, Count: 2, MinGPUMemoryGB: 24, MinCPUCores: 32, MinMemoryGB: 120,
		Regions: []string{"west*", "beijing*"}, CUDA: "12.4", MaxPrice: fleet.CNY(3_960_000),
	}
}

func TestAnOfferIsWantedOnlyWhereAllOfItIs(t *testing.T) {
	if ok, why := aWant().Match(anOffer()); !ok || !why.IsZero() {
		t.Fatalf("what just fits does not: %v", why)
	}
	if ok, why := (fleet.Want{GPUs: []string{"4090"}}).Match(fleet.Offer{GPU: fleet.GPU{Model: "4090", Count: 1}, Charge: fleet.ChargeOnDemand, Available: fleet.SomeAvailable}); !ok {
		t.Fatalf("what asks for a card alone does not fit one: %v", why)
	}
	for name, c := range map[string]struct {
		want  func(*fleet.Want)
		offer func(*fleet.Offer)
		code  fleet.Code // empty: it still fits
	}{
		"no model is wanted":             {want: func(w *fleet.Want) { w.GPUs = nil }, code: "offer.no-want"},
		"another card":                   {offer: func(o *fleet.Offer) { o.GPU.Model = "RTX 4090D" }, code: "offer.model"},
		"another memory of it":           {offer: func(o *fleet.Offer) { o.GPU.MemoryGB = 48 }, code: "offer.model"},
		"no card":                        {offer: func(o *fleet.Offer) { o.GPU = fleet.GPU{} }, code: "offer.model"},
		"fewer cards":                    {offer: func(o *fleet.Offer) { o.GPU.Count = 1 }, code: "offer.count"},
		"more cards":                     {offer: func(o *fleet.Offer) { o.GPU.Count = 4 }, code: "offer.count"},
		"one card where no count is":     {want: func(w *fleet.Want) { w.Count = 0 }, code: "offer.count"},
		"a spot":                         {offer: func(o *fleet.Offer) { o.Charge = fleet.ChargeSpot }, code: "offer.charge"},
		"a period":                       {offer: func(o *fleet.Offer) { o.Charge = fleet.ChargePeriod }, code: "offer.charge"},
		"nobody knows how it is charged": {offer: func(o *fleet.Offer) { o.Charge = "" }, code: "offer.charge"},
		"not even where that is wanted": {
			want: func(w *fleet.Want) { w.Charges = []fleet.ChargeType{""} }, offer: func(o *fleet.Offer) { o.Charge = "" }, code: "offer.charge",
		},
		"on demand where spots are wanted": {want: func(w *fleet.Want) { w.Charges = []fleet.ChargeType{fleet.ChargeSpot} }, code: "offer.charge"},
		"a spot where both are wanted": {
			want:  func(w *fleet.Want) { w.Charges = []fleet.ChargeType{fleet.ChargeOnDemand, fleet.ChargeSpot} },
			offer: func(o *fleet.Offer) { o.Charge = fleet.ChargeSpot },
		},
		"another region":          {offer: func(o *fleet.Offer) { o.Region, o.Zone = "foshanDC1", "foshanDC1-a" }, code: "offer.region"},
		"no region":               {offer: func(o *fleet.Offer) { o.Region, o.Zone = "", "" }, code: "offer.region"},
		"a pattern that is none":  {want: func(w *fleet.Want) { w.Regions = []string{"[b"} }, code: "offer.region"},
		"the zone is wanted":      {want: func(w *fleet.Want) { w.Regions = []string{"BEIJINGDC2-A"} }},
		"the memory is not known": {want: func(w *fleet.Want) { w.GPUs = []string{"H20"} }, offer: func(o *fleet.Offer) { o.GPU = fleet.GPU{Model: "H20", Count: 2} }, code: "offer.unsaid"},
		"less memory": {
			want:  func(w *fleet.Want) { w.GPUs, w.MinGPUMemoryGB = []string{"A100"}, 80 },
			offer: func(o *fleet.Offer) { o.GPU.Model, o.GPU.MemoryGB = "A100", 40 }, code: "offer.gpu-memory",
		},
		"fewer cores":            {offer: func(o *fleet.Offer) { o.CPUCores = 31 }, code: "offer.cpu"},
		"cores nobody told":      {offer: func(o *fleet.Offer) { o.CPUCores = 0 }, code: "offer.unsaid"},
		"less memory of a host":  {offer: func(o *fleet.Offer) { o.MemoryGB = 119 }, code: "offer.memory"},
		"memory nobody told":     {offer: func(o *fleet.Offer) { o.MemoryGB = 0 }, code: "offer.unsaid"},
		"an older driver":        {offer: func(o *fleet.Offer) { o.CUDA = "12.3" }, code: "offer.cuda"},
		"a newer driver":         {offer: func(o *fleet.Offer) { o.CUDA = "12.10" }},
		"a newer major":          {offer: func(o *fleet.Offer) { o.CUDA = "13" }},
		"a driver nobody told":   {offer: func(o *fleet.Offer) { o.CUDA = "" }, code: "offer.unsaid"},
		"a version that is none": {offer: func(o *fleet.Offer) { o.CUDA = "12.x" }, code: "offer.cuda"},
		"a want that is none":    {want: func(w *fleet.Want) { w.CUDA = "newest" }, code: "offer.cuda"},
		"a millionth dearer":     {offer: func(o *fleet.Offer) { o.Price.PerHour.Micros++ }, code: "offer.price"},
		"another currency":       {offer: func(o *fleet.Offer) { o.Price.PerHour = fleet.Money{Micros: 1, Currency: "USD"} }, code: "offer.currency"},
		"nothing in another one": {offer: func(o *fleet.Offer) { o.Price.PerHour = fleet.Money{Currency: "USD"} }, code: "offer.currency"},
		"a price nobody told":    {offer: func(o *fleet.Offer) { o.Price = fleet.Price{} }, code: "offer.no-price"},
		"which matters to nobody": {
			want: func(w *fleet.Want) { w.MaxPrice = fleet.Money{} }, offer: func(o *fleet.Offer) { o.Price = fleet.Price{} },
		},
		"free ones alone":                {want: func(w *fleet.Want) { w.MaxPrice = fleet.CNY(0) }, code: "offer.price"},
		"sold out":                       {offer: func(o *fleet.Offer) { o.Available = 0 }, code: "offer.sold-out"},
		"fewer than none":                {offer: func(o *fleet.Offer) { o.Available = -2 }, code: "offer.sold-out"},
		"some, nobody knows how many":    {offer: func(o *fleet.Offer) { o.Available = fleet.SomeAvailable }},
		"it may be false":                {offer: func(o *fleet.Offer) { o.Advisory = true }},
		"sold out, and too dear besides": {offer: func(o *fleet.Offer) { o.Available, o.Price = 0, priced(fleet.CNY(9_000_000)) }, code: "offer.price"},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := aWant(), anOffer()
			if c.want != nil {
				c.want(&w)
			}
			if c.offer != nil {
				c.offer(&o)
			}
			if ok, why := w.Match(o); ok != (c.code == "") || why.Code != c.code {
				t.Errorf("it fits: %t because of %q, want %q", ok, why.Code, c.code)
			}
		})
	}
}

func TestMatchingNeverAcceptsWhatIsLessOrDearer(t *testing.T) {
	models := rapid.SampledFrom([]string{"RTX 4090", "4090D", "RTX 4090D", "vGPU-48GB", "A100", "A100 SXM4 80GB", "H20", "BR100", ""})
	money := rapid.Custom(func(t *rapid.T) fleet.Money {
		return fleet.Money{Micros: rapid.Int64Range(0, 5).Draw(t, "micros"), Currency: rapid.SampledFrom([]string{"CNY", "USD", ""}).Draw(t, "currency")}
	})
	small := rapid.IntRange(-1, 3)
	charges := rapid.SampledFrom([]fleet.ChargeType{"", fleet.ChargeOnDemand, fleet.ChargeSpot, fleet.ChargePeriod})
	regions := rapid.SampledFrom([]string{"", "north-1", "south-1", "north*", "[", "*"})
	cuda := rapid.SampledFrom([]string{"", "11.8", "12.4", "12.10", "x"})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		// What fits, with a few things changed.
		w, o := aWant(), anOffer()
		w.MinGPUMemoryGB = 0
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			switch rapid.IntRange(0, 13).Draw(t, "what") {
			case 0:
				w.GPUs = rapid.SliceOfN(models, 0, 2).Draw(t, "models")
			case 1:
				w.Count = small.Draw(t, "count")
			case 2:
				w.MinCPUCores, w.MinMemoryGB = small.Draw(t, "least cores"), small.Draw(t, "least memory")
			case 3:
				w.Regions = rapid.SliceOfN(regions, 0, 2).Draw(t, "regions")
			case 4:
				w.CUDA = cuda.Draw(t, "least cuda")
			case 5:
				w.MaxPrice = money.Draw(t, "most")
			case 6:
				w.Charges = rapid.SliceOfN(charges, 0, 2).Draw(t, "charges")
			case 7:
				o.GPU.Model, o.GPU.MemoryGB = models.Draw(t, "model"), 0
			case 8:
				o.GPU.Count = small.Draw(t, "cards")
			case 9:
				o.CPUCores, o.MemoryGB = small.Draw(t, "cores"), small.Draw(t, "memory")
			case 10:
				o.Region, o.CUDA = regions.Draw(t, "region"), cuda.Draw(t, "cuda")
			case 11:
				o.Charge = charges.Draw(t, "charge")
			case 12:
				o.Available = rapid.IntRange(-2, 2).Draw(t, "available")
			case 13:
				o.Price = fleet.Price{PerHour: money.Draw(t, "price"), Source: rapid.SampledFrom([]fleet.PriceSource{"", fleet.PriceProvider, fleet.PriceConfig}).Draw(t, "source")}
			}
		}
		ok, why := w.Match(o)
		if ok != why.IsZero() {
			t.Fatalf("it fits: %t, and why it does not is %v", ok, why)
		}
		if !ok {
			return
		}
		accepted++
		limited := w.MaxPrice != fleet.Money{}
		switch {
		case limited && (!o.Price.Known() || o.Price.PerHour.Currency != w.MaxPrice.Currency || o.Price.PerHour.Micros > w.MaxPrice.Micros):
			t.Errorf("%v is taken for no more than %s", o.Price, w.MaxPrice)
		case !slices.ContainsFunc(w.GPUs, func(m string) bool {
			a, _ := fleet.CanonicalGPU(m)
			b, _ := fleet.CanonicalGPU(o.GPU.Model)
			return a == b || strings.HasPrefix(b, a+" ")
		}):
			t.Errorf("a %s is taken for one of %q", o.GPU.Model, w.GPUs)
		case o.GPU.Count < 1 || o.GPU.Count != max(w.Count, 1):
			t.Errorf("%d cards are taken for %d", o.GPU.Count, w.Count)
		case w.MinCPUCores > 0 && o.CPUCores < w.MinCPUCores || w.MinMemoryGB > 0 && o.MemoryGB < w.MinMemoryGB:
			t.Errorf("%+v is taken for %+v", o, w)
		case o.Available == 0 || o.Charge == "" || len(w.Charges) == 0 && o.Charge != fleet.ChargeOnDemand:
			t.Errorf("%+v is taken", o)
		}
	})
	if accepted == 0 {
		t.Error("nothing was accepted: the property was not tried")
	}
}

func TestWhatAQueryAsksAbout(t *testing.T) {
	all := []string{"westDC3", "beijingDC2"}
	for name, c := range map[string]struct {
		q    fleet.OfferQuery
		want []string
		err  string
	}{
		"everything":                {want: all},
		"a region":                  {q: fleet.OfferQuery{Regions: []string{"BeijingDC2"}}, want: []string{"beijingDC2"}},
		"what is wanted":            {q: fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"west*"}}}}, want: []string{"westDC3"}},
		"what two want":             {q: fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"beijing*"}}, {Regions: []string{"west*"}}}}, want: all},
		"one wants it anywhere":     {q: fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"west*"}}, {}}}, want: all},
		"nothing of both":           {q: fleet.OfferQuery{Regions: []string{"beijingDC2"}, Wants: []fleet.Want{{Regions: []string{"west*"}}}}},
		"a region that is none":     {q: fleet.OfferQuery{Regions: []string{"bj-B2"}}, err: `no region "bj-B2"`},
		"a wanted one that is none": {q: fleet.OfferQuery{Wants: []fleet.Want{{Regions: []string{"west*", "eastDC1"}}}}, err: `no region "eastDC1"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.q.RegionsOf(all)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("regions wanted (-) and got (+):\n%s", diff)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got the error %v, want one that says %q", err, c.err)
			}
		})
	}
	want := func(cudas ...string) fleet.OfferQuery {
		q := fleet.OfferQuery{}
		for _, v := range cudas {
			q.Wants = append(q.Wants, fleet.Want{CUDA: v})
		}
		return q
	}
	for name, c := range map[string]struct {
		q    fleet.OfferQuery
		want []string
	}{
		"nobody asks":      {want(), []string{""}},
		"one does not ask": {want("12.10", "", "12.4", "12.10"), []string{"", "12.4", "12.10"}},
		"no such version":  {want("12.4", "newest"), nil},
	} {
		got, err := c.q.CUDAs()
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v, wanted (-) and got (+):\n%s", name, err, diff)
		}
	}
}

func TestPricePerCard(t *testing.T) {
	o := anOffer()
	o.GPU.Count, o.Price.PerHour = 3, fleet.CNY(5_000_000)
	if got, ok := o.PerCard(); !ok || got != fleet.CNY(1_666_667) {
		t.Errorf("a third of 5 CNY is %s, %t", got, ok)
	}
	o.GPU.Count = 0
	if got, ok := o.PerCard(); ok {
		t.Errorf("of no card it is %s", got)
	}
	o = anOffer()
	o.Price.Source = ""
	if got, ok := o.PerCard(); ok {
		t.Errorf("of no known price it is %s", got)
	}
}

func TestAnOrderSaysHowToKnowItAgain(t *testing.T) {
	whole := fleet.OrderSpec{Offer: anOffer(), Name: "curfew-7", Token: "t-7"}
	if err := whole.Check(); err != nil {
		t.Error(err)
	}
	for what, spoil := range map[string]func(*fleet.OrderSpec){
		"to order it by":     func(s *fleet.OrderSpec) { s.Offer.SKU = "" },
		"no name":            func(s *fleet.OrderSpec) { s.Name = "" },
		"no idempotency":     func(s *fleet.OrderSpec) { s.Token = "" },
		"smaller than nothi": func(s *fleet.OrderSpec) { s.DiskGB = -1 },
	} {
		s := whole
		spoil(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("got %v, want an error that says %q and that nothing was sent", err, what)
		}
	}
	if anOffer().Orderable() != true || (fleet.Offer{}).Orderable() {
		t.Error("what can be ordered is not told by its SKU")
	}
}
