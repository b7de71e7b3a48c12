package providertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/providers"
)

func describes() []check {
	return []check{
		{name: "the account has exactly the capabilities its kind declares", test: func(s *session) {
			sorted := cmpopts.SortSlices(strings.Compare)
			text := func(cs []providers.Capability) (out []string) {
				for _, c := range cs {
					out = append(out, string(c))
				}
				return out
			}
			if diff := cmp.Diff(text(s.opts.Kind.Capabilities), text(s.Account.Capabilities()), sorted, cmpopts.EquateEmpty()); diff != "" {
				s.Errorf("Kind.Capabilities (-) and the account (+) differ:\n%s", diff)
			}
			if s.Account.Kind.Name != s.opts.Kind.Name {
				s.Errorf("the account says its kind is %q, want %q", s.Account.Kind.Name, s.opts.Kind.Name)
			}
		}},
		{name: "the kind says what validation and docs need", test: func(s *session) {
			k := s.opts.Kind
			for field, missing := range map[string]bool{
				"Title": k.Title == "", "DefaultURL": k.DefaultURL == "" && s.opts.Lacks[API] == "", "BillingProof": k.BillingProof == "",
				"SettleTime": k.SettleTime <= 0, "Floor": k.Floor <= 0 && s.opts.Lacks[API] == "", "Open": k.Open == nil,
			} {
				if missing {
					s.Errorf("Kind.%s is not set", field)
				}
			}
		}},
		{name: "scopes are distinct and stay the same", test: func(s *session) {
			seen := map[fleet.Scope]bool{}
			for _, scope := range s.Account.Scopes {
				if seen[scope] {
					s.Errorf("scope %s is given twice", scope)
				}
				seen[scope] = true
			}
		}},
	}
}

func reads() []check {
	return []check{
		{name: "an empty account lists nothing, without an error", needs: []Behaviour{Lists}, test: func(s *session) {
			for _, scope := range s.Account.Scopes {
				if is := s.list(scope); len(is) != 0 {
					s.Errorf("scope %s lists %d instances, want none", scope, len(is))
				}
			}
		}},
		{name: "each scope lists its own instances and no others", needs: []Behaviour{Lists}, test: func(s *session) {
			want := map[fleet.Scope]string{}
			for _, scope := range s.Account.Scopes {
				want[scope] = s.Add(scope).ID
			}
			for _, scope := range s.Account.Scopes {
				is := s.list(scope)
				if len(is) != 1 || is[0].Ref.ID != want[scope] {
					s.Errorf("scope %s lists %v, want only %s", scope, ids(is), want[scope])
				}
			}
		}},
		{name: "a list longer than a page is whole", needs: []Behaviour{Pages}, test: func(s *session) {
			if s.PageSize < 1 {
				s.Fatal("the fake gives no PageSize; set it, or name Pages in Lacks")
			}
			for _, n := range []int{s.PageSize, s.PageSize + 1, 2*s.PageSize + 1} {
				var want []string
				for _, i := range s.list(s.first()) {
					want = append(want, i.Ref.ID)
				}
				for len(want) < n {
					want = append(want, s.add().ID)
				}
				slices.Sort(want)
				if got := ids(s.list(s.first())); !slices.Equal(got, want) {
					s.Errorf("with %d instances on pages of %d the list is %v, want %v", n, s.PageSize, got, want)
				}
			}
		}},
		{name: "a list whose second page fails is an error and no part", needs: []Behaviour{Pages}, test: func(s *session) {
			for range s.PageSize + 1 {
				s.add()
			}
			s.Break(Fault{Kind: ServerError, Op: "instances", After: 1})
			is, err := s.tryList(s.first())
			s.wantKind("a list whose second page fails", err, fleet.Transient)
			if len(is) != 0 {
				s.Errorf("the failed list gives %d instances, want none", len(is))
			}
		}},
		{name: "a list shorter than the platform's own total is an error", needs: []Behaviour{ShortPages}, test: func(s *session) {
			s.add()
			s.add()
			s.Break(Fault{Kind: ShortList, Op: "instances"})
			is, err := s.tryList(s.first())
			if err == nil || len(is) != 0 {
				s.Errorf("one of two instances left out: got %d instances and error %v, want an error and none", len(is), err)
			}
		}},
		{name: "a list and a single read name the same thing", test: func(s *session) {
			id := s.add().ID
			listed := s.find(id)
			read := s.read(listed.Ref)
			if listed.Ref != read.Ref {
				s.Errorf("the list says %s, the read %s", listed.Ref, read.Ref)
			}
			if listed.Ref.Kind != fleet.KindInstance {
				s.Errorf("the reference is of kind %q, want instance", listed.Ref.Kind)
			}
			if a := listed.Ref.Account; a != "" && a != s.Account.Identity {
				s.Errorf("the reference holds account %q, want nothing or the identity %q", a, s.Account.Identity)
			}
			if listed.State != read.State {
				s.Errorf("the list says it is %s, the read %s", listed.State, read.State)
			}
		}},
		{name: "only a period is told to be renewed", test: func(s *session) {
			listed := s.find(s.add().ID)
			for where, i := range map[string]fleet.Instance{"list": listed, "read": s.read(listed.Ref)} {
				switch c := i.Charge; {
				case c.AutoRenew != fleet.Unsure && c.AutoRenew != fleet.Yes && c.AutoRenew != fleet.No:
					s.Errorf("in the %s AutoRenew is %q, want yes, no or nothing where it is not told", where, c.AutoRenew)
				case c.AutoRenew != fleet.Unsure && c.Type != fleet.ChargePeriod:
					s.Errorf("in the %s AutoRenew is %q of something that is paid for as %q", where, c.AutoRenew, c.Type)
				}
			}
		}},
		{name: "a running instance is told as running, with its price's source", test: func(s *session) {
			i := s.read(s.find(s.add().ID).Ref)
			if i.State != fleet.StateRunning {
				s.Errorf("state is %s (%q), want running", i.State, i.RawState)
			}
			if i.RawState == "" {
				s.Error("RawState is empty, want the platform's own word")
			}
			if i.Price.PerHour.Micros != 0 && (!i.Price.Known() || i.Price.PerHour.Currency == "") {
				s.Errorf("price %+v names no source or no currency", i.Price)
			}
			if i.Charge.Type == fleet.ChargePeriod {
				s.Error("Add is to make pay-as-you-go instances; this one is told as a period")
			}
		}},
		{name: "a status word nobody knows is unknown in list and read", needs: []Behaviour{Words}, test: func(s *session) {
			ref := s.add()
			s.SetRawState(ref, "hibernating_v2")
			listed := s.find(ref.ID)
			for where, i := range map[string]fleet.Instance{"list": listed, "read": s.read(listed.Ref)} {
				if i.State != fleet.StateUnknown || i.RawState != "hibernating_v2" {
					s.Errorf("in the %s it is %s with the word %q, want unknown with the platform's own word", where, i.State, i.RawState)
				}
			}
		}},
		{name: "an id nobody has is not found", test: func(s *session) {
			known := s.add()
			ref := s.find(known.ID).Ref
			ref.ID = s.UnknownID
			_, err := s.tryRead(ref)
			s.wantKind("read of an id nobody has", err, fleet.NotFound)
		}},
		{name: "the boot is told and stays while the power cycle lasts", needs: []Behaviour{TellsBoot}, test: func(s *session) {
			listed := s.find(s.add().ID)
			first := s.read(listed.Ref)
			s.Settle()
			second := s.read(listed.Ref)
			if !bootOf(first).Same(bootOf(second)) || !bootOf(listed).Same(bootOf(first)) {
				s.Errorf("list says boot %q, the first read %q, a later one %q; want the same, known one", bootOf(listed), bootOf(first), bootOf(second))
			}
		}},
		{name: "the identity is told and stays", test: func(s *session) {
			var got [2]string
			for n := range got {
				if err := within(s, "identity", func(ctx context.Context) (err error) {
					got[n], err = s.Account.Whoami(ctx)
					return err
				}); err != nil {
					s.Fatalf("identity: %v", err)
				}
			}
			if got[0] != got[1] {
				s.Errorf("the identity is %q, then %q", got[0], got[1])
			}
			s.checkSecrets("the identity", got[0])
		}},
		{name: "the wallet holds money of a currency", can: []providers.Capability{providers.CanWallet}, test: func(s *session) {
			var w fleet.Wallet
			if err := within(s, "balance", func(ctx context.Context) (err error) {
				w, err = s.Account.Balance(ctx)
				return err
			}); err != nil {
				s.Fatalf("balance: %v", err)
			}
			for name, m := range map[string]fleet.Money{"cash": w.Cash, "vouchers": w.Vouchers, "credit": w.Credit, "spent": w.Spent} {
				if m.Micros != 0 && len(m.Currency) != 3 {
					s.Errorf("%s is %s, which has no currency", name, m)
				}
			}
		}},
		{name: "access tells where to log in", can: []providers.Capability{providers.CanAccess}, test: func(s *session) {
			i := s.read(s.find(s.add().ID).Ref)
			var a fleet.Access
			if err := within(s, "access", func(ctx context.Context) (err error) {
				a, err = s.Account.Access(ctx, i)
				return err
			}); err != nil {
				s.Fatalf("access: %v", err)
			}
			if a.Host == "" || a.Port < 1 || a.Port > 65535 || a.User == "" {
				s.Errorf("access is host %q, port %d, user %q; want all three", a.Host, a.Port, a.User)
			}
		}},
		{name: "no secret is in what is read", test: func(s *session) {
			listed := s.find(s.add().ID)
			s.checkValue("the list", listed)
			s.checkValue("the read", s.read(listed.Ref))
		}},
		{name: "reads may come from several goroutines", test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			var wg sync.WaitGroup
			errs := make(chan error, 16)
			for n := range cap(errs) {
				wg.Go(func() {
					var err error
					if n%2 == 0 {
						_, err = s.Account.Instances(s.Context(), s.first())
					} else {
						_, err = s.Account.Instance(s.Context(), ref)
					}
					errs <- err
				})
			}
			wg.Wait()
			close(errs)
			for err := range errs {
				if err != nil {
					s.Errorf("one of several reads at a time: %v", err)
				}
			}
		}},
	}
}

func ids(is []fleet.Instance) []string {
	out := []string{}
	for _, i := range is {
		out = append(out, i.Ref.ID)
	}
	slices.Sort(out)
	return out
}

// bootOf is the boot as the adapter tells it, or as the observer will reckon it.
func bootOf(i fleet.Instance) fleet.Boot {
	if i.Boot != "" {
		return i.Boot
	}
	return fleet.BootAt(i.StartedAt)
}

func opName(op string, f FaultKind) string { return fmt.Sprintf("%s under the fault %q", op, f) }
