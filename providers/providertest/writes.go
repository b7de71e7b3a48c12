package providertest

import (
	"context"

	"curfew/fleet"
	"curfew/providers"
)

func writes() []check {
	stops := []providers.Capability{providers.CanStop}
	starts := []providers.Capability{providers.CanStop, providers.CanStart}
	releases := []providers.Capability{providers.CanRelease}
	need := []Behaviour{Writes, StopsByAPI}
	return []check{
		{name: "a stop ends in stopped, in list and read", needs: need, can: stops, test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			s.stopped(ref)
			if i := s.find(ref.ID); i.State != fleet.StateStopped {
				s.Errorf("the list says it is %s (%q), want stopped", i.State, i.RawState)
			}
		}},
		{name: "a stop touches no other instance", needs: need, can: stops, test: func(s *session) {
			ref, other := s.find(s.add().ID).Ref, s.find(s.add().ID).Ref
			s.stopped(ref)
			s.wantState(other, fleet.StateRunning, "after another one's stop")
		}},
		{name: "a second stop is nil or a conflict", needs: need, can: stops, test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			i := s.read(ref)
			if err := s.stop(i); err != nil {
				s.Fatalf("stop: %v", err)
			}
			if err := s.stop(i); err != nil {
				s.wantKind("a second stop at once", err, fleet.Conflict)
			}
			s.Settle()
			s.wantState(ref, fleet.StateStopped, "after two stops")
			if err := s.stop(i); err != nil {
				s.wantKind("a stop of what is stopped", err, fleet.Conflict)
			}
		}},
		{name: "a stop and a start make another boot", needs: []Behaviour{Writes, StopsByAPI, TellsBoot}, can: starts, test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			before := bootOf(s.read(ref))
			stopped := s.stopped(ref)
			if err := s.start(stopped); err != nil {
				s.Fatalf("start: %v", err)
			}
			s.Settle()
			s.wantState(ref, fleet.StateRunning, "settled after a start")
			after := s.read(ref)
			if after.Ref != ref {
				s.Errorf("the restart changed the reference from %s to %s", ref, after.Ref)
			}
			if b := bootOf(after); b == "" || b.Same(before) {
				s.Errorf("the boot was %q and is %q after stop and start, want another known one", before, b)
			}
		}},
		{name: "a second start is nil or a conflict", needs: need, can: starts, test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			if err := s.start(s.read(ref)); err != nil {
				s.wantKind("a start of what runs", err, fleet.Conflict)
			}
			s.Settle()
			s.wantState(ref, fleet.StateRunning, "after a start of what ran")
		}},
		{name: "a release ends in gone", needs: []Behaviour{Writes}, can: releases, test: func(s *session) {
			other := s.find(s.add().ID).Ref
			ref := s.releasable()
			if err := s.release(s.read(ref)); err != nil {
				s.Fatalf("release: %v", err)
			}
			s.Settle()
			if i, ok := byID(s.list(s.first()), ref.ID); ok && i.State != fleet.StateReleased {
				s.Errorf("the list still shows it as %s (%q)", i.State, i.RawState)
			}
			s.wantState(other, fleet.StateRunning, "after another one's release")
			if why := s.opts.Lacks[ReadsGone]; why != "" {
				s.Logf("not read again: %s", why)
				return
			}
			if i, err := s.tryRead(ref); err == nil && i.State != fleet.StateReleased {
				s.Errorf("a read still shows it as %s (%q), want NotFound or released", i.State, i.RawState)
			} else if err != nil {
				s.wantKind("read of what was released", err, fleet.NotFound)
			}
		}},
		{name: "a write to an id nobody has is not found", needs: []Behaviour{Writes}, test: func(s *session) {
			i := s.read(s.find(s.add().ID).Ref)
			i.Ref.ID = s.UnknownID
			for op, write := range s.writeOps() {
				s.wantKind(op+" of an id nobody has", write(i), fleet.NotFound, fleet.Conflict)
			}
		}},
		{name: "a write whose context has ended has no effect", needs: []Behaviour{Writes}, test: func(s *session) {
			for op, write := range s.contextWrites() {
				ref := s.find(s.add().ID).Ref
				i := s.read(ref)
				ctx, cancel := context.WithCancel(s.Context())
				cancel()
				err := withinContext(s, ctx, op, func(ctx context.Context) error { return write(ctx, i) })
				s.wantKind(op+" with an ended context", err, fleet.Transient, fleet.OutcomeUnknown, fleet.Other)
				s.Settle()
				s.wantState(ref, fleet.StateRunning, "after a "+op+" that was never sent")
			}
		}},
		{name: "a read whose context has ended is an error", test: func(s *session) {
			i := s.find(s.add().ID)
			ctx, cancel := context.WithCancel(s.Context())
			cancel()
			for op, call := range s.readOps(i) {
				err := withinContext(s, ctx, op, call)
				s.wantKind(op+" with an ended context", err, fleet.Transient, fleet.Other)
			}
		}},
	}
}

// releasable adds an instance and brings it to where it can be released.
func (s *session) releasable() fleet.Ref {
	s.Helper()
	ref := s.find(s.add().ID).Ref
	if s.Account.Stop != nil && s.opts.Lacks[StopsByAPI] == "" {
		s.stopped(ref)
	}
	return ref
}

// writeOps gives the writes the account has, by name.
func (s *session) writeOps() map[string]func(fleet.Instance) error {
	out := map[string]func(fleet.Instance) error{}
	if s.Account.Stop != nil {
		out["stop"] = s.stop
	}
	if s.Account.Start != nil {
		out["start"] = s.start
	}
	if s.Account.Release != nil {
		out["release"] = s.release
	}
	if s.Account.SaveImage != nil {
		out[opSaveImage] = func(i fleet.Instance) error {
			_, err := s.save(i)
			return err
		}
	}
	return out
}

// contextWrites gives the writes the account has, by name, to be called with a
// context.
func (s *session) contextWrites() map[string]func(context.Context, fleet.Instance) error {
	out := map[string]func(context.Context, fleet.Instance) error{}
	if s.Account.Stop != nil {
		out["stop"] = func(ctx context.Context, i fleet.Instance) error {
			return s.Account.Stop(ctx, i, providers.StopOptions{Token: "conformance"})
		}
	}
	if s.Account.Start != nil {
		out["start"] = func(ctx context.Context, i fleet.Instance) error {
			return s.Account.Start(ctx, i, providers.StartOptions{Token: "conformance"})
		}
	}
	if s.Account.Release != nil {
		out["release"] = func(ctx context.Context, i fleet.Instance) error {
			return s.Account.Release(ctx, i, providers.ReleaseOptions{Token: "conformance", WithDisks: true, WithPublicIPs: true})
		}
	}
	if s.Account.SaveImage != nil {
		out[opSaveImage] = func(ctx context.Context, i fleet.Instance) error {
			_, err := s.Account.SaveImage(ctx, i, providers.ImageSpec{Name: imageName, Token: "conformance"})
			return err
		}
	}
	return out
}

// readOps gives the reads the account has, by name.
func (s *session) readOps(i fleet.Instance) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{
		"instances": func(ctx context.Context) error {
			is, err := s.Account.Instances(ctx, s.first())
			if err != nil && len(is) > 0 {
				s.Errorf("a list that fails gives %d instances, want none", len(is))
			}
			return err
		},
		"instance": func(ctx context.Context) error {
			_, err := s.Account.Instance(ctx, i.Ref)
			return err
		},
	}
	if s.Account.Balance != nil {
		out["balance"] = func(ctx context.Context) error {
			_, err := s.Account.Balance(ctx)
			return err
		}
	}
	if s.Account.BillItems != nil {
		out[opBill] = func(ctx context.Context) error {
			items, err := s.Account.BillItems(ctx, billed(), billed().AddDate(0, 0, 1))
			if err != nil && len(items) > 0 {
				s.Errorf("a bill that fails gives %d items, want none", len(items))
			}
			return err
		}
	}
	if s.Account.Offers != nil {
		out[opOffers] = func(ctx context.Context) error {
			offers, err := s.Account.Offers(ctx, fleet.OfferQuery{})
			if err != nil && len(offers) > 0 {
				s.Errorf("a question for stock that fails gives %d offers, want none", len(offers))
			}
			return err
		}
	}
	if s.Account.Access != nil {
		out["access"] = func(ctx context.Context) error {
			_, err := s.Account.Access(ctx, i)
			return err
		}
	}
	for kind, list := range s.Account.Resources {
		out[listOp(kind)] = func(ctx context.Context) error {
			rs, err := list(ctx, s.first())
			if err != nil && len(rs) > 0 {
				s.Errorf("a list of %ss that fails gives %d, want none", kind, len(rs))
			}
			return err
		}
	}
	return out
}
