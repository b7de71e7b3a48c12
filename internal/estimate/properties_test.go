package estimate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

func drawMoney(t *rapid.T, currency, name string) fleet.Money {
	return fleet.Money{Micros: rapid.Int64Range(1, 1e12).Draw(t, name), Currency: currency}
}

func drawOffer(t *rapid.T, n int) Offer {
	currency := rapid.SampledFrom([]string{"CNY", "USD", "EUR"}).Draw(t, "currency")
	storage := func(name string) Storage {
		if rapid.Bool().Draw(t, name+" told") {
			return Storage{
				Price: drawMoney(t, currency, name), Per: rapid.SampledFrom([]Per{PerGBDay, PerGBMonth}).Draw(t, name+" per"),
				FreeGB: Whole(rapid.Int64Range(0, 100).Draw(t, name+" free")), NotStopped: rapid.Bool().Draw(t, name+" stopped"),
			}
		}
		return Storage{}
	}
	o := Offer{
		Name: fmt.Sprintf("o%d", rapid.IntRange(0, n).Draw(t, "name")), GPU: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "gpu"),
		Price: drawMoney(t, currency, "price"), Per: rapid.SampledFrom([]Per{PerCardHour, PerMachineHour}).Draw(t, "per"),
		Charge:   rapid.SampledFrom([]Charge{OnDemand, Spot, Month, Year, ""}).Draw(t, "charge"),
		Billing:  rapid.SampledFrom([]fleet.Billing{fleet.BillingPerSecond, fleet.BillingPerHour}).Draw(t, "billing"),
		MinCards: rapid.IntRange(0, 4).Draw(t, "min"), Cards: rapid.IntRange(0, 8).Draw(t, "cards"), Kind: FromQuotes,
		Disk: storage("disk"), Snapshot: storage("snapshot"), Image: storage("image"),
	}
	if rapid.Bool().Draw(t, "traffic") {
		o.Traffic = Traffic{Price: drawMoney(t, currency, "traffic price"), Per: rapid.SampledFrom([]Per{PerGB, PerMbpsMonth}).Draw(t, "traffic per"), Mbps: Whole(7)}
	}
	if rapid.Bool().Draw(t, "address") {
		o.PublicIP = Address{Price: drawMoney(t, currency, "address price"), Per: rapid.SampledFrom([]Per{PerHour, PerDay, PerMonth}).Draw(t, "address per")}
	}
	if rapid.Bool().Draw(t, "bands") {
		o.TimeOfDay = []Band{{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(1, 1440).Draw(t, "to"), Price: drawMoney(t, currency, "band")}}
	}
	return o
}

func drawQuestion(t *rapid.T) Question {
	q := Question{Margin: share(rapid.Int64Range(0, 50).Draw(t, "margin"))}
	for n := range rapid.IntRange(1, 6).Draw(t, "offers") {
		q.Offers = append(q.Offers, drawOffer(t, n))
	}
	for n := range rapid.IntRange(1, 3).Draw(t, "jobs") {
		j := Job{
			Name: fmt.Sprintf("j%d", n), Hours: Whole(rapid.Int64Range(1, 1e5).Draw(t, "work")).over(Whole(97)),
			Cards: rapid.SliceOfN(rapid.IntRange(1, 16), 0, 3).Draw(t, "counts"), Setup: time.Duration(rapid.Int64Range(0, 1e13).Draw(t, "setup")),
			DiskGB: Whole(rapid.Int64Range(0, 200).Draw(t, "gb")), ImageGB: Whole(rapid.Int64Range(0, 200).Draw(t, "image gb")), Keep: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "keep")),
			Download: Transfer{GB: Whole(rapid.Int64Range(0, 100).Draw(t, "download"))}, Times: rapid.IntRange(0, 3).Draw(t, "times"),
		}
		if rapid.Bool().Draw(t, "scaled") {
			j.Efficiency = map[string]map[int]Number{"": {4: share(79)}, "o1": {2: share(50)}}
		}
		q.Jobs = append(q.Jobs, j)
	}
	if rapid.Bool().Draw(t, "fx") {
		q.FX = FX{"USD": fleet.CNY(7_123_457)}
	}
	return q
}

func TestATotalIsTheSumOfItsItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		sum := func(i Items, total fleet.Money, what string) {
			got := i.Instance.Micros + i.Disk.Micros + i.Images.Micros + i.PublicIP.Micros + i.Traffic.Micros
			if got != total.Micros {
				t.Fatalf("%s: the items are %d, the total is %d", what, got, total.Micros)
			}
			for _, m := range i.each() {
				if m.Currency != total.Currency || m.Micros < 0 {
					t.Fatalf("%s: %s beside %s", what, m, total)
				}
			}
		}
		for _, table := range Rank(q).Tables {
			for n, c := range table.Costs {
				sum(c.Items, c.Total, c.Offer.Name)
				if n > 0 && byCost(table.Costs[n-1], c) > 0 {
					t.Fatal("not in order")
				}
			}
			for _, s := range table.Sums {
				sum(s.Items, s.Total, s.Offer.Name)
			}
			if table.Mix != nil {
				parts := int64(0)
				for _, p := range table.Mix.Parts {
					parts += p.Total.Micros
				}
				if parts != table.Mix.Total.Micros {
					t.Fatalf("the parts of the mix are %d, its total is %s", parts, table.Mix.Total)
				}
			}
		}
	})
}

func TestTheOrderOfOffersMakesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		first, err := json.Marshal(Rank(q))
		if err != nil {
			t.Fatal(err)
		}
		q.Offers = rapid.Permutation(q.Offers).Draw(t, "another order")
		again, err := json.Marshal(Rank(q))
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(again) {
			t.Fatalf("in another order:\n%s\n%s", first, again)
		}
	})
}

func TestCurrenciesAreNeverAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		for _, table := range Rank(q).Tables {
			all := []fleet.Money{}
			for _, c := range table.Costs {
				all = append(all, c.Total, c.WithMargin, c.PerUnit, c.Items.Disk, c.Items.Traffic)
				if to := q.FX.target(c.Offer.Price.Currency); to != table.Currency {
					t.Fatalf("an offer in %s is among those in %s", to, table.Currency)
				}
			}
			for _, s := range table.Sums {
				all = append(all, s.Total, s.WithMargin)
			}
			if slices.ContainsFunc(all, func(m fleet.Money) bool { return m.Currency != table.Currency }) {
				t.Fatalf("%s among: %v", table.Currency, all)
			}
		}
	})
}

// An item is rounded once, half up, from the exact sum.
func TestAnInstanceIsRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price, part, whole := rapid.Int64Range(1, 1e9).Draw(t, "price"), rapid.Int64Range(1, 1e6).Draw(t, "part"), rapid.Int64Range(1, 1e6).Draw(t, "whole")
		j := Job{Hours: Whole(part).over(Whole(whole))}
		c, why := Reckon(j, Offer{Price: fleet.CNY(price), Per: PerCardHour}, 1, nil, Number{})
		if !why.IsZero() {
			t.Fatal(why)
		}
		exact := new(big.Rat).Mul(big.NewRat(part, whole), big.NewRat(price, 1))
		off := new(big.Rat).Sub(big.NewRat(c.Items.Instance.Micros, 1), exact)
		if off.Cmp(big.NewRat(-1, 2)) <= 0 || off.Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%s for %s", c.Items.Instance, exact)
		}
	})
}

func TestNoFileOfFiguresEndsInAPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOffer(t, 1)
		o.Price.Micros = rapid.Int64().Draw(t, "any price")
		o.MinCards = rapid.IntRange(-1, 1<<31).Draw(t, "any min")
		j := Job{Hours: Whole(rapid.Int64().Draw(t, "any work")), Epochs: rapid.IntRange(-1, 1<<31).Draw(t, "epochs"), Upload: Transfer{GB: Whole(1)}}
		_, _ = Reckon(j, o, rapid.IntRange(-3, 1<<31).Draw(t, "cards"), FX{"USD": {}}, Number{})
	})
}
