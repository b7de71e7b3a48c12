package providertest

import (
	"context"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/providers"
)

// lists is what it takes to be asked about the list of a kind.
func lists(kind fleet.ThingKind) []providers.Capability {
	switch kind {
	case fleet.KindDisk:
		return []providers.Capability{providers.CanDisks}
	case fleet.KindSnapshot:
		return []providers.Capability{providers.CanSnapshots}
	case fleet.KindImage:
		return []providers.Capability{providers.CanImages}
	}
	return []providers.Capability{providers.CanPublicIPs}
}

func listOp(kind fleet.ThingKind) string { return string(kind) + "s" }

// a names one thing of the kind in a check's name.
func a(kind fleet.ThingKind) string {
	if kind == fleet.KindImage || kind == fleet.KindPublicIP {
		return "an " + string(kind)
	}
	return "a " + string(kind)
}

func resourceReads() []check {
	var out []check
	for _, kind := range fleet.ResourceKinds() {
		out = append(out, readsOf(kind)...)
	}
	return out
}

func readsOf(kind fleet.ThingKind) []check {
	many, can := listOp(kind), lists(kind)
	return []check{
		{name: "an account without " + many + " lists none, without an error", can: can, test: func(s *session) {
			for _, scope := range s.Account.Scopes {
				if rs := s.listResources(kind, scope); len(rs) != 0 {
					s.Errorf("scope %s lists %v, want none", scope, resourceIDs(rs))
				}
			}
		}},
		{name: "each scope lists its own " + many + " and no others", can: can, test: func(s *session) {
			want := map[fleet.Scope][]string{}
			for _, scope := range s.Account.Scopes {
				want[scope] = []string{s.AddResource(scope, kind).ID, s.AddResource(scope, kind).ID}
				slices.Sort(want[scope])
			}
			for _, scope := range s.Account.Scopes {
				rs := s.listResources(kind, scope)
				if got := resourceIDs(rs); !slices.Equal(got, want[scope]) {
					s.Errorf("scope %s lists %v, want only %v", scope, got, want[scope])
				}
				for _, r := range rs {
					if r.Ref.Kind != kind {
						s.Errorf("the reference of %s is of kind %q, want %s", r.Ref.ID, r.Ref.Kind, kind)
					}
					if a := r.Ref.Account; a != "" && a != s.Account.Identity {
						s.Errorf("the reference holds account %q, want nothing or the identity %q", a, s.Account.Identity)
					}
				}
			}
		}},
		{name: "a list of " + many + " holds none of the other kinds", can: can, test: func(s *session) {
			own := s.addResource(kind).Ref.ID
			others := []string{s.add().ID}
			for other := range s.Account.Resources {
				if other != kind {
					others = append(others, s.AddResource(s.first(), other).ID)
				}
			}
			s.findResource(fleet.Ref{Kind: kind, ID: own})
			for _, id := range resourceIDs(s.listResources(kind, s.first())) {
				if slices.Contains(others, id) {
					s.Errorf("the list shows %s, which is of another kind", id)
				}
			}
		}},
		{name: "a list of " + many + " longer than a page is whole", needs: []Behaviour{Pages}, can: can, test: func(s *session) {
			var want []string
			for _, n := range []int{s.PageSize, s.PageSize + 1, 2*s.PageSize + 1} {
				for len(want) < n {
					want = append(want, s.AddResource(s.first(), kind).ID)
				}
				slices.Sort(want)
				if got := resourceIDs(s.listResources(kind, s.first())); !slices.Equal(got, want) {
					s.Errorf("with %d on pages of %d the list is %v, want %v", n, s.PageSize, got, want)
				}
			}
		}},
		{name: "a list of " + many + " whose second page fails is an error and no part", needs: []Behaviour{Pages}, can: can, test: func(s *session) {
			for range s.PageSize + 1 {
				s.AddResource(s.first(), kind)
			}
			s.Break(Fault{Kind: ServerError, Op: many, After: 1})
			rs, err := s.tryListResources(kind, s.first())
			s.wantKind("a list whose second page fails", err, fleet.Transient)
			if len(rs) != 0 {
				s.Errorf("the failed list gives %d, want none", len(rs))
			}
		}},
		{name: "a list of " + many + " shorter than the platform's own total is an error", needs: []Behaviour{ShortPages}, can: can, test: func(s *session) {
			s.AddResource(s.first(), kind)
			s.AddResource(s.first(), kind)
			s.Break(Fault{Kind: ShortList, Op: many})
			rs, err := s.tryListResources(kind, s.first())
			if err == nil || len(rs) != 0 {
				s.Errorf("one of two left out: got %d and error %v, want an error and none", len(rs), err)
			}
		}},
		{name: a(kind) + " that is free is told so, with its price's source", can: can, test: func(s *session) {
			r := s.addResource(kind)
			if !r.Ready || r.Protected {
				s.Errorf("it is told as ready: %v (%q), protected: %v; want ready and unprotected", r.Ready, r.RawState, r.Protected)
			}
			if !r.AttachedTo.IsZero() || len(r.UsedBy) != 0 {
				s.Errorf("it is told to belong to %s and to be used by %v, want nothing", r.AttachedTo, r.UsedBy)
			}
			if r.Price.PerHour.Micros != 0 && (!r.Price.Known() || r.Price.PerHour.Currency == "") {
				s.Errorf("price %+v names no source or no currency", r.Price)
			}
			if r.Charge.Type == fleet.ChargePeriod {
				s.Error("AddResource is to make what is paid as you go; this one is told as a period")
			}
		}},
		{name: a(kind) + " in use is told so", needs: useBehaviours(kind), can: can, test: func(s *session) {
			free, used := s.addResource(kind), s.addResource(kind)
			by := s.Use(used.Ref)
			s.Settle()
			if got := users(s.findResource(used.Ref)); !slices.Contains(got, by.ID) {
				s.Errorf("used by %s, it is told to be used by %v", by.ID, got)
			}
			if got := users(s.findResource(free.Ref)); len(got) != 0 {
				s.Errorf("the other one, which is free, is told to be used by %v", got)
			}
		}},
		{name: "two reads of " + many + " say the same", can: can, test: func(s *session) {
			for range 2 {
				s.addResource(kind)
			}
			if useBehaviours(kind) == nil || s.opts.Lacks[TellsUse] == "" {
				s.Use(s.addResource(kind).Ref)
			}
			s.Settle()
			sorted := cmpopts.SortSlices(func(a, b fleet.Resource) bool { return fleet.CompareRefs(a.Ref, b.Ref) < 0 })
			first, second := s.listResources(kind, s.first()), s.listResources(kind, s.first())
			if diff := cmp.Diff(first, second, sorted, cmpopts.IgnoreFields(fleet.Price{}, "AsOf")); diff != "" {
				s.Errorf("the first read (-) and the second (+) differ:\n%s", diff)
			}
		}},
	}
}

// useBehaviours is what it takes to be asked about use: disks and addresses must
// always tell what they are attached to.
func useBehaviours(kind fleet.ThingKind) []Behaviour {
	if kind == fleet.KindDisk || kind == fleet.KindPublicIP {
		return nil
	}
	return []Behaviour{TellsUse}
}

// users names whatever the resource is told to be used by.
func users(r fleet.Resource) []string {
	var out []string
	if !r.AttachedTo.IsZero() {
		out = append(out, r.AttachedTo.ID)
	}
	for _, u := range r.UsedBy {
		out = append(out, u.ID)
	}
	return out
}

func resourceIDs(rs []fleet.Resource) []string {
	out := []string{}
	for _, r := range rs {
		out = append(out, r.Ref.ID)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

// addResource puts one into the first scope, and gives it as the list shows it.
func (s *session) addResource(kind fleet.ThingKind) fleet.Resource {
	s.Helper()
	ref := s.AddResource(s.first(), kind)
	if ref.ID == "" {
		s.Fatal("AddResource gave a reference without an id")
	}
	ref.Kind = kind
	return s.findResource(ref)
}

func (s *session) findResource(ref fleet.Ref) fleet.Resource {
	s.Helper()
	r, ok := s.tryFindResource(ref)
	if !ok {
		s.Fatalf("the list of %ss does not show %s", ref.Kind, ref.ID)
	}
	return r
}

func (s *session) tryFindResource(ref fleet.Ref) (fleet.Resource, bool) {
	s.Helper()
	rs := s.listResources(ref.Kind, s.first())
	n := slices.IndexFunc(rs, func(r fleet.Resource) bool { return r.Ref.ID == ref.ID })
	if n < 0 {
		return fleet.Resource{}, false
	}
	return rs[n], true
}

func (s *session) listResources(kind fleet.ThingKind, scope fleet.Scope) []fleet.Resource {
	s.Helper()
	rs, err := s.tryListResources(kind, scope)
	if err != nil {
		s.Fatalf("list the %ss of %s: %v", kind, scope, err)
	}
	return rs
}

func (s *session) tryListResources(kind fleet.ThingKind, scope fleet.Scope) ([]fleet.Resource, error) {
	s.Helper()
	var rs []fleet.Resource
	err := within(s, listOp(kind), func(ctx context.Context) (err error) {
		rs, err = s.Account.Resources[kind](ctx, scope)
		return err
	})
	s.checkValue("the list of "+listOp(kind), rs)
	return rs, err
}
