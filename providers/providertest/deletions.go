package providertest

import (
	"context"

	"curfew/fleet"
	"curfew/providers"
)

// deletes is what it takes to be asked about the deletion of a kind.
func deletes(kind fleet.ThingKind) []providers.Capability {
	can := lists(kind)
	switch kind {
	case fleet.KindDisk:
		return append(can, providers.CanDeleteDisk)
	case fleet.KindSnapshot:
		return append(can, providers.CanDeleteSnapshot)
	case fleet.KindImage:
		return append(can, providers.CanDeleteImage)
	}
	return append(can, providers.CanDeletePublicIP)
}

func deleteOp(kind fleet.ThingKind) string { return "delete-" + string(kind) }

func deletions() []check {
	var out []check
	for _, kind := range fleet.ResourceKinds() {
		out = append(out, deletionsOf(kind)...)
	}
	return out
}

func deletionsOf(kind fleet.ThingKind) []check {
	need, can := []Behaviour{Writes}, deletes(kind)
	return []check{
		{name: "a deletion takes " + a(kind) + " and no other from the list", needs: need, can: can, test: func(s *session) {
			r, other := s.addResource(kind), s.addResource(kind)
			if err := s.remove(r); err != nil {
				s.Fatalf("delete %s: %v", r.Ref, err)
			}
			s.Settle()
			if _, there := s.tryFindResource(r.Ref); there {
				s.Errorf("settled after its deletion, the list still shows %s", r.Ref.ID)
			}
			if _, there := s.tryFindResource(other.Ref); !there {
				s.Errorf("after the deletion of %s, the list does not show %s", r.Ref.ID, other.Ref.ID)
			}
		}},
		{name: "a second deletion of " + a(kind) + " is nil, a conflict or not found", needs: need, can: can, test: func(s *session) {
			r := s.addResource(kind)
			if err := s.remove(r); err != nil {
				s.Fatalf("delete %s: %v", r.Ref, err)
			}
			if err := s.remove(r); err != nil {
				s.wantKind("a second deletion at once", err, fleet.Conflict, fleet.NotFound)
			}
			s.Settle()
			if err := s.remove(r); err != nil {
				s.wantKind("a deletion of what is gone", err, fleet.NotFound)
			}
		}},
		{name: "a deletion of " + a(kind) + " in use is refused", needs: append(useBehaviours(kind), need...), can: can, test: func(s *session) {
			r := s.addResource(kind)
			s.Use(r.Ref)
			s.Settle()
			r = s.findResource(r.Ref)
			s.wantKind("a deletion of what is in use", s.remove(r), fleet.Conflict)
			s.Settle()
			s.findResource(r.Ref)
		}},
		{name: "a deletion of " + a(kind) + " whose context has ended has no effect", needs: need, can: can, test: func(s *session) {
			r := s.addResource(kind)
			ctx, cancel := context.WithCancel(s.Context())
			cancel()
			s.wantKind(deleteOp(kind)+" with an ended context", s.removeWith(ctx, r), fleet.Transient, fleet.OutcomeUnknown, fleet.Other)
			s.Settle()
			s.findResource(r.Ref)
		}},
		{name: "a read-only account deletes no " + string(kind), can: can, test: func(s *session) {
			r := s.addResource(kind)
			s.Account = s.Account.With(providers.ReadOnlyAccount())
			s.wantKind("a deletion by a read-only account", s.remove(r), fleet.ReadOnly)
			s.Settle()
			s.findResource(r.Ref)
		}},
	}
}

func (s *session) remove(r fleet.Resource) error {
	s.Helper()
	return s.removeWith(s.Context(), r)
}

func (s *session) removeWith(ctx context.Context, r fleet.Resource) error {
	s.Helper()
	return withinContext(s, ctx, deleteOp(r.Ref.Kind), func(ctx context.Context) error {
		return s.Account.Delete[r.Ref.Kind](ctx, r, providers.DeleteOptions{Token: "conformance-delete"})
	})
}
