package providertest

import (
	"context"

	"curfew/fleet"
	"curfew/providers"
)

const opOrder = "order"

func orders() []check {
	need := []Behaviour{Writes}
	can := []providers.Capability{providers.CanOrder, providers.CanStock}
	out := []check{
		{name: "an order makes one instance, known by its reference and its name", needs: need, can: can, test: func(s *session) {
			other := s.find(s.add().ID).Ref
			spec := s.spec("conformance-1")
			ref := s.mustOrder(spec)
			if ref.Kind != fleet.KindInstance || ref.ID == "" || ref == other {
				s.Fatalf("the answer names %s, want a new instance", ref)
			}
			s.Settle()
			i := s.find(ref.ID)
			if i.Ref != ref {
				s.Errorf("the list says %s, the answer %s", i.Ref, ref)
			}
			if i.Name != spec.Name {
				s.Errorf("it is called %q, want %q as ordered: where the answer is lost it is found by its name", i.Name, spec.Name)
			}
			if i.State != fleet.StateRunning {
				s.Errorf("settled, it is %s (%q), want running", i.State, i.RawState)
			}
			if !i.GPU.Is(s.Model) || i.GPU.Count != 1 {
				s.Errorf("it has %d cards %q, want one %s", i.GPU.Count, i.GPU.Model, s.Model)
			}
			s.wantCount("after one order beside one instance", 2)
			s.wantState(other, fleet.StateRunning, "after an order of another one")
		}},
		{name: "the same order again makes no second instance", needs: need, can: can, test: func(s *session) {
			spec := s.spec("conformance-1")
			first := s.mustOrder(spec)
			s.Settle()
			if again := s.mustOrder(spec); again != first {
				s.Errorf("the same order answers %s, and before %s", again, first)
			}
			s.Settle()
			s.wantCount("after the same order twice", 1)
		}},
		{name: "another order makes another instance", needs: need, can: can, test: func(s *session) {
			first := s.mustOrder(s.spec("conformance-1"))
			s.Settle()
			if second := s.mustOrder(s.spec("conformance-2")); second == first {
				s.Errorf("both orders answer %s", first)
			}
			s.Settle()
			s.wantCount("after two orders", 2)
		}},
		{name: "an order that says too little is refused, and nothing is sent", needs: need, can: can, test: func(s *session) {
			for what, spoil := range map[string]func(*fleet.OrderSpec){
				"nothing to order it by": func(o *fleet.OrderSpec) { o.Offer.SKU = "" },
				"no name":                func(o *fleet.OrderSpec) { o.Name = "" },
				"no token":               func(o *fleet.OrderSpec) { o.Token = "" },
			} {
				spec := s.spec("conformance-1")
				spoil(&spec)
				_, err := s.order(s.Context(), spec)
				s.wantKind("an order with "+what, err, fleet.Invalid)
			}
			s.Settle()
			s.wantCount("after refused orders", 0)
		}},
		{name: "an order whose context has ended makes nothing", needs: need, can: can, test: func(s *session) {
			spec := s.spec("conformance-1")
			ctx, cancel := context.WithCancel(s.Context())
			cancel()
			_, err := s.order(ctx, spec)
			s.wantKind("an order with an ended context", err, fleet.Transient, fleet.OutcomeUnknown, fleet.Other)
			s.Settle()
			s.wantCount("after an order that was never sent", 0)
		}},
		{name: "a read-only account orders nothing", can: can, test: func(s *session) {
			spec := s.spec("conformance-1")
			s.Account = s.Account.With(providers.ReadOnlyAccount())
			ref, err := s.order(s.Context(), spec)
			s.wantKind("an order by a read-only account", err, fleet.ReadOnly)
			if !ref.IsZero() {
				s.Errorf("refused, it names %s", ref)
			}
			s.Settle()
			s.wantCount("after an order by a read-only account", 0)
		}},
		{name: "an order cut off half-way has an unknown outcome", needs: []Behaviour{Writes, Cancels}, can: can, test: func(s *session) {
			spec := s.spec("conformance-1")
			ctx, cancel := context.WithCancel(s.Context())
			defer cancel()
			s.Break(Fault{Kind: Hang, Op: opOrder, Times: 1, Reached: cancel})
			_, err := s.order(ctx, spec)
			s.wantKind("an order cut off half-way", err, fleet.OutcomeUnknown)
		}},
	}
	for _, e := range append(expectations(), refusals()...) {
		out = append(out, check{
			name:  "a " + string(e.fault) + " fails an order with its kind, sent once, and the same order again is still one",
			needs: append([]Behaviour{Writes}, e.needs...), can: can,
			test: func(s *session) { s.faultyOrder(e) },
		})
	}
	return out
}

// refusals are what only orders meet. What is sold out comes again; what the account
// may not have does not, so the one must never be taken for the other.
func refusals() []expectation {
	return []expectation{
		{fault: SoldOut, write: []fleet.ErrorKind{fleet.OutOfStock}},
		{fault: LostRights, write: []fleet.ErrorKind{fleet.Unauthorized}},
		{fault: Quota, write: []fleet.ErrorKind{fleet.Invalid, fleet.Unauthorized, fleet.Other}},
	}
}

// faultyOrder meets the fault once. Since a repeat would succeed, the list afterwards
// shows whether the order was sent more than once.
func (s *session) faultyOrder(e expectation) {
	s.Helper()
	spec := s.spec("conformance-1")
	s.Break(Fault{Kind: e.fault, Op: opOrder, Times: 1})
	ref, err := s.order(s.Context(), spec)
	s.wantKind(opName(opOrder, e.fault), err, e.write...)
	s.checkRetryAfter(e.fault, opOrder, err)
	if !ref.IsZero() {
		s.Errorf("%s: failed, it names %s", opName(opOrder, e.fault), ref)
	}
	s.Settle()
	made := 0
	if e.effect {
		made = 1
	}
	s.wantCount("after an "+opName(opOrder, e.fault), made)
	ref = s.mustOrder(spec)
	s.Settle()
	s.wantCount("after the same order again", 1)
	if i := s.find(ref.ID); i.Ref != ref || i.Name != spec.Name {
		s.Errorf("the same order answers %s, and the list shows %s called %q", ref, i.Ref, i.Name)
	}
}

// spec orders one of the cards that can be ordered, of which there are then a few.
func (s *session) spec(name string) fleet.OrderSpec {
	s.Helper()
	s.Stock(s.Model, 3)
	return fleet.OrderSpec{Offer: s.offer(), Name: name, Token: "token-" + name, Image: "image-conformance"}
}

func (s *session) order(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
	s.Helper()
	var ref fleet.Ref
	err := withinContext(s, ctx, opOrder, func(ctx context.Context) (err error) {
		ref, err = s.Account.Order(ctx, spec)
		return err
	})
	return ref, err
}

func (s *session) mustOrder(spec fleet.OrderSpec) fleet.Ref {
	s.Helper()
	ref, err := s.order(s.Context(), spec)
	if err != nil {
		s.Fatalf("order %s: %v", spec.Name, err)
	}
	return ref
}

// wantCount checks how many instances there are in all scopes.
func (s *session) wantCount(when string, want int) {
	s.Helper()
	n := 0
	for _, scope := range s.Account.Scopes {
		for _, i := range s.list(scope) {
			if i.State != fleet.StateReleased {
				n++
			}
		}
	}
	if n != want {
		s.Errorf("%s there are %d instances, want %d", when, n, want)
	}
}
