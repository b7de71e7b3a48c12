package providertest_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// offering spoils what the account says is on offer.
func offering(spoil func(os []fleet.Offer, err error) ([]fleet.Offer, error)) providers.Decorator {
	return func(a providers.Account) providers.Account {
		offers := a.Offers
		a.Offers = func(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) { return spoil(offers(ctx, q)) }
		return a
	}
}

func eachOffer(spoil func(o *fleet.Offer)) providers.Decorator {
	return offering(func(os []fleet.Offer, err error) ([]fleet.Offer, error) {
		for n := range os {
			spoil(&os[n])
		}
		return os, err
	})
}

type orderFunc = func(context.Context, fleet.OrderSpec) (fleet.Ref, error)

func ordering(spoil func(order orderFunc) orderFunc) providers.Decorator {
	return func(a providers.Account) providers.Account {
		a.Order = spoil(a.Order)
		return a
	}
}

// respecified spoils what is ordered.
func respecified(spoil func(spec *fleet.OrderSpec)) providers.Decorator {
	return ordering(func(order orderFunc) orderFunc {
		return func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
			spoil(&spec)
			return order(ctx, spec)
		}
	})
}

func stockDefects() map[string]mistake {
	const says = "what is free is on offer, and says what it is"
	emptied := offering(func(os []fleet.Offer, err error) ([]fleet.Offer, error) {
		if err != nil {
			return nil, nil
		}
		return os, nil
	})
	return map[string]mistake{
		"stock: capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			a.Offers = nil
			return a
		}},
		"stock: one from nowhere": {"an empty market offers nothing, without an error", offering(func(os []fleet.Offer, err error) ([]fleet.Offer, error) {
			return append(os, fleet.Offer{Available: 1}), err
		})},
		"stock: sold out is some":       {"what is sold out is not on offer", eachOffer(func(o *fleet.Offer) { o.Available = fleet.SomeAvailable })},
		"stock: fewer than none":        {says, eachOffer(func(o *fleet.Offer) { o.Available = -2 })},
		"stock: another number":         {says, eachOffer(func(o *fleet.Offer) { o.Available++ })},
		"stock: negative memory":        {says, eachOffer(func(o *fleet.Offer) { o.GPU.MemoryGB = -1 })},
		"stock: never seen":             {says, eachOffer(func(o *fleet.Offer) { o.SeenAt = time.Time{} })},
		"stock: a price nobody told":    {says, eachOffer(func(o *fleet.Offer) { o.Price.Source = fleet.PriceUnknown })},
		"stock: a price in nothing":     {says, eachOffer(func(o *fleet.Offer) { o.Price.PerHour.Currency = "" })},
		"stock: an account made up":     {says, eachOffer(func(o *fleet.Offer) { o.Account = "lab" })},
		"stock: a charge of its own":    {says, eachOffer(func(o *fleet.Offer) { o.Charge = "payg" })},
		"stock: nothing to order it by": {says, eachOffer(func(o *fleet.Offer) { o.SKU = "" })},
		"stock: a secret in it":         {says, eachOffer(func(o *fleet.Offer) { o.Zone = secret })},
		"stock: models made canonical": {"a model nobody knows is on offer by the platform's own name", offering(func(os []fleet.Offer, err error) ([]fleet.Offer, error) {
			return slices.DeleteFunc(os, func(o fleet.Offer) bool { return !strings.HasPrefix(o.GPU.Model, "RTX") }), err
		})},
		"stock: only the first want": {"what is wanted is in the answer", func(a providers.Account) providers.Account {
			offers := a.Offers
			a.Offers = func(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) {
				os, err := offers(ctx, q)
				return slices.DeleteFunc(os, func(o fleet.Offer) bool { return len(q.Wants) > 0 && !o.GPU.Is(q.Wants[0].GPUs[0]) }), err
			}
			return a
		}},
		"stock: wrong region is sold out": {"a region nobody knows is an error, and not sold out", emptied},
		"stock: failed answer is empty":   {"a server error fails every read with its kind", emptied},
	}
}

func orderDefects() map[string]mistake {
	const (
		makes = "an order makes one instance, known by its reference and its name"
		twice = "the same order again makes no second instance"
	)
	n := 0
	anew := func(spec *fleet.OrderSpec) {
		n++
		spec.Token += strings.Repeat("x", n)
	}
	under := func(fault string) string {
		return "a " + fault + " fails an order with its kind, sent once, and the same order again is still one"
	}
	return map[string]mistake{
		"order: capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			a.Order = nil
			return a
		}},
		"order: another reference": {makes, ordering(func(order orderFunc) orderFunc {
			return func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
				ref, err := order(ctx, spec)
				ref.Incarnation = "1"
				return ref, err
			}
		})},
		"order: name dropped":  {makes, respecified(func(spec *fleet.OrderSpec) { spec.Name = "gpu" })},
		"order: token dropped": {twice, respecified(anew)},
		"order: one for all":   {"another order makes another instance", respecified(func(spec *fleet.OrderSpec) { spec.Name, spec.Token = "a", "a" })},
		"order: gaps filled":   {"an order that says too little is refused, and nothing is sent", respecified(func(spec *fleet.OrderSpec) { spec.Token += "t" })},
		"order: context ignored": {"an order whose context has ended makes nothing", ordering(func(order orderFunc) orderFunc {
			return func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
				return order(context.WithoutCancel(ctx), spec)
			}
		})},
		"order: in dry-run": {"a read-only account orders nothing", func(a providers.Account) providers.Account {
			order := a.Order
			a.Offers = func(offers func(context.Context, fleet.OfferQuery) ([]fleet.Offer, error)) func(context.Context, fleet.OfferQuery) ([]fleet.Offer, error) {
				return func(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) {
					os, err := offers(ctx, q)
					if len(os) > 0 {
						_, _ = order(ctx, fleet.OrderSpec{Offer: os[0], Name: "x", Token: "x"})
					}
					return os, err
				}
			}(a.Offers)
			return a
		}},
		"order: cut off taken for refused":   {"an order cut off half-way has an unknown outcome", misread(fleet.OutcomeUnknown, fleet.Conflict)},
		"order: sold out taken for trouble":  {under("out of stock"), misread(fleet.OutOfStock, fleet.Transient)},
		"order: lost right taken for stock":  {under("lost rights"), misread(fleet.Unauthorized, fleet.OutOfStock)},
		"order: quota taken for stock":       {under("quota"), misread(fleet.Invalid, fleet.OutOfStock)},
		"order: outcome taken for a failure": {under("drop after effect"), misread(fleet.OutcomeUnknown, fleet.Transient)},
		"order: made again after a loss":     {under("drop after effect"), respecified(anew)},
		"order: sent again": {under("server error"), ordering(func(order orderFunc) orderFunc {
			return func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
				ref, err := order(ctx, spec)
				if fleet.KindOf(err) == fleet.OutcomeUnknown {
					_, _ = order(ctx, spec)
				}
				return ref, err
			}
		})},
	}
}
