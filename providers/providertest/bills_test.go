package providertest_test

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// billing spoils what the account's bill gives.
func billing(spoil func(items []fleet.BillItem, err error) ([]fleet.BillItem, error)) providers.Decorator {
	return func(a providers.Account) providers.Account {
		bill := a.BillItems
		a.BillItems = func(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error) {
			return spoil(bill(ctx, from, to))
		}
		return a
	}
}

// eachItem spoils every item of the bill.
func eachItem(spoil func(b *fleet.BillItem)) providers.Decorator {
	return billing(func(items []fleet.BillItem, err error) ([]fleet.BillItem, error) {
		for n := range items {
			spoil(&items[n])
		}
		return items, err
	})
}

func billDefects() map[string]mistake {
	const says = "a bill says of each item what it is for, and keeps cash, vouchers and refunds apart"
	emptied := billing(func(items []fleet.BillItem, err error) ([]fleet.BillItem, error) {
		if err != nil {
			return nil, nil
		}
		return items, nil
	})
	return map[string]mistake{
		"bill: capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			a.BillItems = nil
			return a
		}},
		"bill: one from nowhere": {"an account that used nothing has an empty bill, without an error", billing(func(items []fleet.BillItem, err error) ([]fleet.BillItem, error) {
			return append(items, fleet.BillItem{}), err
		})},
		"bill: failed one is empty": {"a server error fails every read with its kind", emptied},
		"bill: failed page ends it": {"a bill whose second page fails is an error and no part", emptied},
		"bill: total not looked at": {"a bill shorter than the platform's own total is an error", emptied},
		"bill: only the first page": {"a bill longer than a page is whole", billing(func(items []fleet.BillItem, err error) ([]fleet.BillItem, error) {
			return items[:min(len(items), pageSize)], err
		})},
		"bill: time ignored": {"bills of times that follow each other hold each item once", func(a providers.Account) providers.Account {
			bill := a.BillItems
			a.BillItems = func(ctx context.Context, from, _ time.Time) ([]fleet.BillItem, error) {
				return bill(ctx, from, from.AddDate(1, 0, 0))
			}
			return a
		}},
		"bill: refund taken for use":  {says, eachItem(func(b *fleet.BillItem) { b.Kind = fleet.BillUsage })},
		"bill: refund without a sign": {says, eachItem(func(b *fleet.BillItem) { b.Amount.Micros = max(b.Amount.Micros, -b.Amount.Micros) })},
		"bill: cents cut off":         {says, eachItem(func(b *fleet.BillItem) { b.Amount = b.Amount.Round() })},
		"bill: vouchers lost":         {says, eachItem(func(b *fleet.BillItem) { b.Vouchers = fleet.Money{} })},
		"bill: two currencies":        {says, eachItem(func(b *fleet.BillItem) { b.Amount.Currency = string(b.Kind[:3]) })},
		"bill: a moment, not a time":  {says, eachItem(func(b *fleet.BillItem) { b.From = b.To })},
		"bill: account made up":       {says, eachItem(func(b *fleet.BillItem) { b.Ref.Account = "lab" })},
		"bill: item of no name":       {says, eachItem(func(b *fleet.BillItem) { b.Item = "vm" })},
	}
}
