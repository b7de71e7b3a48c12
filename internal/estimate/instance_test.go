package estimate

import (
	"testing"
	"time"

	"curfew/fleet"
)

func TestAnInstanceIsAnOfferAtItsOwnPrice(t *testing.T) {
	i := fleet.Instance{
		Ref: fleet.Ref{ID: "a"}, Name: "exp", AccountName: "lab", Provider: "sim", GPU: fleet.GPU{Model: "RTX 4090", Count: 4},
		Charge: fleet.Charge{Type: fleet.ChargeSpot}, Price: fleet.Price{PerHour: money(t, "8"), Billing: fleet.BillingPerHour, Source: fleet.PriceProvider},
	}
	c := reckon(t, Job{Hours: number(t, "2.5"), Rework: share(10)}, OfInstance(i), 4)
	same(t, "two and three quarters are three hours", cents(c.Total), "24.00")
	same(t, "with the margin", cents(c.WithMargin), "28.80")
	c = reckon(t, Job{Hours: Whole(10), Cards: []int{4}, Efficiency: map[string]map[int]Number{"lab": {4: number(t, "0.5")}}, Rework: share(0)}, OfInstance(i), 4)
	same(t, "on four cards half as good", c.Hours.String(), "5")
	i.GPU = fleet.GPU{}
	same(t, "without a card", cents(reckon(t, Job{Hours: Whole(1)}, OfInstance(i), 1).Total), "8.00")
}

func TestHoursAsATime(t *testing.T) {
	for want, n := range map[time.Duration]Number{
		90 * time.Minute: number(t, "1.5"), 20 * time.Minute: Whole(1).over(Whole(3)), 0: {},
	} {
		if got, ok := n.Duration(); !ok || got != want {
			t.Errorf("%s h are %s (%v), want %s", n, got, ok, want)
		}
	}
	if _, ok := Whole(1 << 60).Duration(); ok {
		t.Error("a thousand times the age of the world is a time")
	}
	same(t, "a percentage", share(12).Percent(), "12")
}

func TestFromHowManyHoursAPeriodPays(t *testing.T) {
	n, ok := BreakEven(money(t, "86.5"), money(t, "2"))
	same(t, "hours", n.String(), "43.25")
	if !ok {
		t.Error("they are of one currency")
	}
	for _, hour := range []fleet.Money{{Micros: 1, Currency: "USD"}, money(t, "0"), {}} {
		if _, ok := BreakEven(money(t, "86.5"), hour); ok {
			t.Errorf("compared with %v", hour)
		}
	}
}

func TestWhichOfferIsAnAccountsOnDemand(t *testing.T) {
	four := fleet.GPU{Model: "rtx 4090", Count: 4}
	of := func(change func(*Offer)) Offer {
		o := Offer{Name: "Lab", GPU: "RTX 4090", Per: PerCardHour}
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		offer Offer
		want  bool
	}{
		"its own name":        {of(func(*Offer) {}), true},
		"its platform":        {of(func(o *Offer) { o.Name, o.Platform = "x", "sim" }), true},
		"another's":           {of(func(o *Offer) { o.Name, o.Platform = "x", "y" }), false},
		"other cards":         {of(func(o *Offer) { o.GPU = "H800" }), false},
		"spot":                {of(func(o *Offer) { o.Charge = Spot }), false},
		"by the month":        {of(func(o *Offer) { o.Charge, o.Per = Month, PerCardMonth }), false},
		"a machine of four":   {of(func(o *Offer) { o.Per, o.Cards = PerMachineHour, 4 }), true},
		"a machine of eight":  {of(func(o *Offer) { o.Per, o.Cards = PerMachineHour, 8 }), false},
		"eight at least":      {of(func(o *Offer) { o.MinCards = 8 }), false},
		"of no cards is told": {of(func(o *Offer) { o.GPU = "" }), false},
	} {
		if got := c.offer.OnDemandOf("lab", "sim", four); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
