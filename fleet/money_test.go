package fleet_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

func TestMoneyIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := fleet.Money{
			Micros:   rapid.Int64().Draw(t, "micros"),
			Currency: rapid.StringMatching(`[A-Z]{3}`).Draw(t, "currency"),
		}
		got, err := fleet.ParseMoney(m.String())
		if err != nil || got != m {
			t.Fatalf("ParseMoney(%q) = %+v, %v; want %+v", m, got, err, m)
		}
	})
}

func TestMoneyReads(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		micros int64
		shown  string
	}{
		"two decimals":               {"1.98 CNY", 1_980_000, "1.98 CNY"},
		"no decimals":                {"100 CNY", 100_000_000, "100.00 CNY"},
		"six decimals":               {"0.000001 CNY", 1, "0.000001 CNY"},
		"no whole part":              {".5 CNY", 500_000, "0.50 CNY"},
		"less than nothing":          {"-0.5 CNY", -500_000, "-0.50 CNY"},
		"space around it":            {"  2   CNY ", 2_000_000, "2.00 CNY"},
		"the largest amount":         {"9223372036854.775807 CNY", math.MaxInt64, "9223372036854.775807 CNY"},
		"the smallest amount":        {"-9223372036854.775808 CNY", math.MinInt64, "-9223372036854.775808 CNY"},
		"minus nothing":              {"-0 CNY", 0, "0.00 CNY"},
		"zeros at the end are cut":   {"1.100000 CNY", 1_100_000, "1.10 CNY"},
		"zeros in front are allowed": {"007.10 CNY", 7_100_000, "7.10 CNY"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fleet.ParseMoney(c.text)
			if err != nil || got != fleet.CNY(c.micros) {
				t.Fatalf("ParseMoney(%q) = %+v, %v; want %d CNY", c.text, got, err, c.micros)
			}
			if got.String() != c.shown {
				t.Errorf("%q is shown as %q, want %q", c.text, got, c.shown)
			}
		})
	}
}

func TestMoneyRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                      "",
		"an amount without a currency": "1.98",
		"a currency without an amount": " CNY",
		"a currency in small letters":  "1.98 cny",
		"a currency of digits":         "1 123",
		"a currency sign":              "1 ¥X",
		"a long currency":              "1 YUAN",
		"seven decimals":               "0.0000001 CNY",
		"a lone point":                 ". CNY",
		"a lone sign":                  "- CNY",
		"two signs":                    "--5 CNY",
		"a sign inside":                "1.-5 CNY",
		"a plus":                       "+5 CNY",
		"an exponent":                  "1e3 CNY",
		"thousands":                    "1,000 CNY",
		"words":                        "five CNY",
		"more than can be counted":     "9223372036854.775808 CNY",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := fleet.ParseMoney(text); err == nil {
				t.Fatalf("ParseMoney(%q) = %s, want an error", text, got)
			}
		})
	}
}

func TestMoneyAdds(t *testing.T) {
	usd := fleet.Money{Micros: 5, Currency: "USD"}
	if got, err := fleet.CNY(3).Add(fleet.CNY(4)); err != nil || got != fleet.CNY(7) {
		t.Errorf("3 + 4 = %v, %v", got, err)
	}
	if _, err := fleet.CNY(3).Add(usd); !errors.Is(err, fleet.ErrCurrency) {
		t.Errorf("CNY + USD: got %v, want ErrCurrency", err)
	}
	if _, err := fleet.CNY(0).Add(usd); !errors.Is(err, fleet.ErrCurrency) {
		t.Errorf("0 CNY + USD: got %v, want ErrCurrency: an account in yuan stays one when it is empty", err)
	}
	for _, got := range [...]func() (fleet.Money, error){
		func() (fleet.Money, error) { return usd.Add(fleet.Money{}) },
		func() (fleet.Money, error) { return fleet.Money{}.Add(usd) },
	} {
		if sum, err := got(); err != nil || sum != usd {
			t.Errorf("the zero value changes a sum: %v, %v", sum, err)
		}
	}
}

func TestMoneyCompares(t *testing.T) {
	usd := fleet.Money{Micros: 5, Currency: "USD"}
	for name, c := range map[string]struct {
		a, b fleet.Money
		want bool
	}{
		"less":                         {fleet.CNY(1), fleet.CNY(2), true},
		"equal is not less":            {fleet.CNY(2), fleet.CNY(2), false},
		"more":                         {fleet.CNY(3), fleet.CNY(2), false},
		"nothing, of another currency": {fleet.CNY(0), usd, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := c.a.Less(c.b); err != nil || got != c.want {
				t.Fatalf("%s < %s = %v, %v; want %v", c.a, c.b, got, err, c.want)
			}
		})
	}
	if _, err := fleet.CNY(1).Less(usd); !errors.Is(err, fleet.ErrCurrency) {
		t.Errorf("CNY < USD: got %v, want ErrCurrency", err)
	}
}

func TestMoneyRoundsHalfAwayFromZero(t *testing.T) {
	for micros, want := range map[int64]int64{
		0: 0, 4_999: 0, 5_000: 10_000, 14_999: 10_000, 15_000: 20_000,
		-4_999: 0, -5_000: -10_000, -15_000: -20_000, 1_980_000: 1_980_000,
	} {
		if got := fleet.CNY(micros).Round(); got != fleet.CNY(want) {
			t.Errorf("%d rounds to %d, want %d", micros, got.Micros, want)
		}
	}
}

// exact is the cost reckoned in fractions, rounded half up.
func exact(perHour int64, d time.Duration) *big.Int {
	cost := new(big.Rat).Mul(new(big.Rat).SetInt64(perHour), big.NewRat(int64(d), int64(time.Hour)))
	cost.Add(cost, big.NewRat(1, 2))
	// Div of big.Int is Euclidean, which for a positive divisor is the floor.
	return new(big.Int).Div(cost.Num(), cost.Denom())
}

func drawPrice(t *rapid.T, billing fleet.Billing) fleet.Price {
	return fleet.Price{
		PerHour: fleet.CNY(rapid.Int64Range(0, 1e6*1e6).Draw(t, "per hour")),
		Billing: billing, Source: fleet.PriceProvider,
	}
}

const tenYears = 10 * 366 * 24 * time.Hour

func TestPriceForIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPrice(t, rapid.SampledFrom([]fleet.Billing{fleet.BillingUnknown, fleet.BillingPerSecond}).Draw(t, "billing"))
		d := time.Duration(rapid.Int64Range(0, int64(tenYears)).Draw(t, "for"))
		got, ok := p.For(d)
		if want := exact(p.PerHour.Micros, d); !ok || !want.IsInt64() || got != fleet.CNY(want.Int64()) {
			t.Fatalf("%s an hour for %s = %v, %v; want %v millionths", p.PerHour, d, got, ok, want)
		}
	})
}

func TestPriceForBillsEveryStartedHourWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPrice(t, fleet.BillingPerHour)
		hours := rapid.Int64Range(0, int64(tenYears/time.Hour)).Draw(t, "whole hours")
		more := rapid.Int64Range(1, int64(time.Hour)).Draw(t, "and")
		got, ok := p.For(time.Duration(hours)*time.Hour + time.Duration(more))
		if want := fleet.CNY(p.PerHour.Micros * (hours + 1)); !ok || got != want {
			t.Fatalf("%d h and a bit at %s = %v, %v; want %v", hours, p.PerHour, got, ok, want)
		}
	})
}

func TestPriceForAtItsEdges(t *testing.T) {
	million := fleet.Price{PerHour: fleet.CNY(1e6 * 1e6), Billing: fleet.BillingPerHour, Source: fleet.PriceConfig}
	for name, c := range map[string]struct {
		price fleet.Price
		d     time.Duration
		want  fleet.Money
		ok    bool
	}{
		"an unknown price is not zero":       {fleet.Price{PerHour: fleet.CNY(5)}, time.Hour, fleet.Money{}, false},
		"no time costs nothing":              {million, 0, fleet.CNY(0), true},
		"a negative time costs nothing":      {million, -time.Hour, fleet.CNY(0), true},
		"a nanosecond is a started hour":     {million, 1, fleet.CNY(1e12), true},
		"an hour is one hour":                {million, time.Hour, fleet.CNY(1e12), true},
		"ten years at a million an hour":     {million, 87_600 * time.Hour, fleet.CNY(87_600 * 1e12), true},
		"the longest time rounds up as well": {fleet.Price{PerHour: fleet.CNY(1), Billing: fleet.BillingPerHour, Source: fleet.PriceConfig}, math.MaxInt64, fleet.CNY(2_562_048), true},
		"beyond counting is not told":        {fleet.Price{PerHour: fleet.CNY(math.MaxInt64), Source: fleet.PriceConfig}, 2 * time.Hour, fleet.Money{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := c.price.For(c.d); got != c.want || ok != c.ok {
				t.Fatalf("For(%s) = %+v, %v; want %+v, %v", c.d, got, ok, c.want, c.ok)
			}
		})
	}
}
