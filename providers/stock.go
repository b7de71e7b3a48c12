package providers

import (
	"context"
	"slices"

	"curfew/fleet"
)

// stampStock puts the account on offers, and its identity on what was ordered.
func stampStock(a Account) Account {
	if offers := a.Offers; offers != nil {
		a.Offers = func(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) {
			all, err := offers(ctx, q)
			if err != nil {
				return nil, err
			}
			all = slices.Clone(all)
			for n := range all {
				all[n].Account, all[n].AccountName, all[n].Provider = a.Identity, a.Name, a.Kind.Name
			}
			return all, nil
		}
	}
	if order := a.Order; order != nil {
		a.Order = func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
			ref, err := order(ctx, spec)
			if !ref.IsZero() {
				ref.Account = a.Identity
			}
			return ref, err
		}
	}
	return a
}
