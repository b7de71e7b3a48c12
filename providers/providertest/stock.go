package providertest

import (
	"context"
	"slices"

	"curfew/fleet"
	"curfew/providers"
)

const (
	opOffers = "offers"
	// unknownModel is one that no table has.
	unknownModel = "BR 9000 Omega"
	unknownWhere = "region-of-nowhere-9"
)

func stock() []check {
	can := []providers.Capability{providers.CanStock}
	return []check{
		{name: "an empty market offers nothing, without an error", can: can, test: func(s *session) {
			for _, o := range s.offers(fleet.OfferQuery{}) {
				if o.Available != 0 {
					s.Errorf("%d of %s are on offer, want none", o.Available, o.GPU.Model)
				}
			}
		}},
		{name: "what is free is on offer, and says what it is", can: can, test: func(s *session) {
			s.Stock(s.Model, 3)
			o := s.offer()
			if o.Available != 3 && o.Available != fleet.SomeAvailable {
				s.Errorf("%d are on offer, want 3, or %d where the platform tells no number", o.Available, fleet.SomeAvailable)
			}
			if o.GPU.Count != 1 || o.Charge != fleet.ChargeOnDemand {
				s.Errorf("it is of %d cards and paid for as %q, want one on demand", o.GPU.Count, o.Charge)
			}
			if s.Account.Order != nil && !o.Orderable() {
				s.Error("it names nothing to order it by")
			}
		}},
		{name: "what is sold out is not on offer", can: can, test: func(s *session) {
			s.Stock(s.Model, 0)
			for _, o := range s.offers(fleet.OfferQuery{}) {
				if o.Available != 0 {
					s.Errorf("%d of %s are on offer, want none", o.Available, o.GPU.Model)
				}
			}
		}},
		{name: "a model nobody knows is on offer by the platform's own name", can: can, test: func(s *session) {
			s.Stock(unknownModel, 1)
			offers := s.offers(fleet.OfferQuery{})
			if !slices.ContainsFunc(offers, func(o fleet.Offer) bool { return o.GPU.Model == unknownModel && o.Available != 0 }) {
				s.Errorf("of %d offers none is of a %s", len(offers), unknownModel)
			}
		}},
		{name: "what is wanted is in the answer", can: can, test: func(s *session) {
			s.Stock(s.Model, 1)
			s.Stock(unknownModel, 1)
			// One question for both.
			wants := []fleet.Want{{GPUs: []string{s.Model}}, {GPUs: []string{unknownModel}}}
			offers := s.offers(fleet.OfferQuery{Wants: wants})
			for _, w := range wants {
				if !slices.ContainsFunc(offers, func(o fleet.Offer) bool { ok, _ := w.Match(o); return ok }) {
					s.Errorf("none of the offers is what is wanted: %+v of %+v", w, offers)
				}
			}
		}},
		{name: "a region nobody knows is an error, and not sold out", can: can, test: func(s *session) {
			s.Stock(s.Model, 1)
			for name, q := range map[string]fleet.OfferQuery{
				"asked for":  {Regions: []string{unknownWhere}},
				"wanted":     {Wants: []fleet.Want{{GPUs: []string{s.Model}, Regions: []string{unknownWhere}}}},
				"as pattern": {Wants: []fleet.Want{{GPUs: []string{s.Model}, Regions: []string{"nowhere-*"}}}},
			} {
				offers, err := s.tryOffers(q)
				s.wantKind("offers of a region nobody knows, "+name, err, fleet.Invalid)
				if len(offers) > 0 {
					s.Errorf("%s it has %d offers", name, len(offers))
				}
			}
		}},
		{name: "the kind says how often it may be asked for stock", can: can, test: func(s *session) {
			if s.opts.Kind.StockFloor <= 0 {
				s.Error("Kind.StockFloor is not set: nobody knows how often stock may be asked for")
			}
		}},
	}
}

// offer gives the offer of the model that can be ordered.
func (s *session) offer() fleet.Offer {
	s.Helper()
	offers := s.offers(fleet.OfferQuery{})
	n := slices.IndexFunc(offers, func(o fleet.Offer) bool { return o.GPU.Model == s.Model && o.GPU.Count == 1 && o.Available != 0 })
	if n < 0 {
		s.Fatalf("no %s is on offer: %+v", s.Model, offers)
	}
	return offers[n]
}

func (s *session) tryOffers(q fleet.OfferQuery) ([]fleet.Offer, error) {
	s.Helper()
	var out []fleet.Offer
	err := within(s, opOffers, func(ctx context.Context) (err error) {
		out, err = s.Account.Offers(ctx, q)
		return err
	})
	return out, err
}

// offers asks for stock, and checks what holds for every answer.
func (s *session) offers(q fleet.OfferQuery) []fleet.Offer {
	s.Helper()
	offers, err := s.tryOffers(q)
	if err != nil {
		s.Fatalf("offers: %v", err)
	}
	charges := []fleet.ChargeType{fleet.ChargeUnknown, fleet.ChargeOnDemand, fleet.ChargeSpot, fleet.ChargePeriod}
	currency := ""
	for n, o := range offers {
		switch {
		case o.Available < fleet.SomeAvailable || o.GPU.Count < 0 || o.GPU.MemoryGB < 0 || o.CPUCores < 0 || o.MemoryGB < 0:
			s.Errorf("offer %d has fewer than none of something: %+v", n, o)
		case o.SeenAt.IsZero():
			s.Errorf("offer %d does not tell when it was seen", n)
		case !slices.Contains(charges, o.Charge):
			s.Errorf("offer %d is paid for as %q", n, o.Charge)
		case o.Account != "" && o.Account != s.Account.Identity:
			s.Errorf("offer %d is of account %q, want nothing or the identity %q", n, o.Account, s.Account.Identity)
		case s.opts.Kind.StockAdvisory && !o.Advisory:
			s.Errorf("offer %d is not advisory, and Kind.StockAdvisory says all are", n)
		}
		s.checkOfferPrice(n, o, &currency)
	}
	s.checkValue("the offers", offers)
	return offers
}

// checkOfferPrice checks that a price is unknown, or of the one currency there is.
func (s *session) checkOfferPrice(n int, o fleet.Offer, currency *string) {
	s.Helper()
	m := o.Price.PerHour
	switch {
	case !o.Price.Known() && m != fleet.Money{}:
		s.Errorf("offer %d costs %s, and nobody told it", n, m)
	case !o.Price.Known():
	case m.Micros < 0 || len(m.Currency) != 3:
		s.Errorf("offer %d costs %s", n, m)
	case *currency != "" && *currency != m.Currency:
		s.Errorf("offer %d costs %s, and one before it %s: an account has one currency", n, m, *currency)
	default:
		*currency = m.Currency
	}
}
