package providertest

import (
	"context"
	"errors"

	"curfew/fleet"
)

// expectation is what a fault must become.
type expectation struct {
	fault FaultKind
	needs []Behaviour
	read  []fleet.ErrorKind
	write []fleet.ErrorKind
	// effect says that a write has taken effect nevertheless.
	effect bool
}

func expectations() []expectation {
	unknown := []fleet.ErrorKind{fleet.OutcomeUnknown}
	// A login page may well be told apart from a broken gateway; what no garbled
	// answer may become is a thing that is not there, or a refusal.
	garbled := []fleet.ErrorKind{fleet.Transient, fleet.Other, fleet.Unauthorized}
	return []expectation{
		{fault: RateLimit, needs: []Behaviour{RateLimits}, read: []fleet.ErrorKind{fleet.RateLimited}, write: []fleet.ErrorKind{fleet.RateLimited}},
		{fault: BadCredential, read: []fleet.ErrorKind{fleet.Unauthorized}, write: []fleet.ErrorKind{fleet.Unauthorized}},
		{fault: ServerError, read: []fleet.ErrorKind{fleet.Transient}, write: unknown},
		{fault: HTML, needs: []Behaviour{Speaks}, read: garbled, write: unknown},
		{fault: Truncated, needs: []Behaviour{Speaks}, read: garbled, write: unknown, effect: true},
		{fault: DropBefore, read: []fleet.ErrorKind{fleet.Transient}, write: unknown},
		{fault: DropAfter, read: []fleet.ErrorKind{fleet.Transient}, write: unknown, effect: true},
	}
}

func faults() []check {
	var out []check
	for _, e := range expectations() {
		out = append(out,
			check{name: "a " + string(e.fault) + " fails every read with its kind", needs: append([]Behaviour{ReadsFail}, e.needs...), test: func(s *session) {
				i := s.find(s.add().ID)
				s.Break(Fault{Kind: e.fault})
				for op, call := range s.readOps(i) {
					err := within(s, op, call)
					s.wantKind(opName(op, e.fault), err, e.read...)
					s.checkRetryAfter(e.fault, op, err)
				}
			}},
			check{name: "a " + string(e.fault) + " makes what is read unknown, and nothing else", needs: e.needs, lacks: []Behaviour{ReadsFail}, test: func(s *session) {
				ref := s.find(s.add().ID).Ref
				s.Break(Fault{Kind: e.fault})
				for where, i := range map[string]fleet.Instance{"list": s.find(ref.ID), "read": s.read(ref)} {
					if i.State != fleet.StateUnknown || i.Unclear.IsZero() {
						s.Errorf("in the %s it is %s (%q) because of %v, want unknown and the reason", where, i.State, i.RawState, i.Unclear)
					}
				}
			}},
			check{name: "a " + string(e.fault) + " fails every write with its kind, sent once", needs: append([]Behaviour{Writes}, e.needs...), test: func(s *session) {
				for _, op := range s.writesInOrder() {
					s.faultyWrite(op, e)
				}
			}},
		)
		for _, kind := range fleet.ResourceKinds() {
			out = append(out, check{
				name:  "a " + string(e.fault) + " fails the deletion of " + a(kind) + " with its kind, sent once",
				needs: append([]Behaviour{Writes}, e.needs...), can: deletes(kind),
				test: func(s *session) { s.faultyDelete(kind, e) },
			})
		}
	}
	for _, kind := range fleet.ResourceKinds() {
		out = append(out, check{
			name:  "a deletion of " + a(kind) + " cut off half-way has an unknown outcome",
			needs: []Behaviour{Cancels, Writes}, can: deletes(kind),
			test: func(s *session) {
				r := s.addResource(kind)
				ctx, cancel := context.WithCancel(s.Context())
				defer cancel()
				s.Break(Fault{Kind: Hang, Op: deleteOp(kind), Times: 1, Reached: cancel})
				s.wantKind(deleteOp(kind)+" cut off half-way", s.removeWith(ctx, r), fleet.OutcomeUnknown)
			},
		})
	}
	return append(out,
		check{name: "a read cut off half-way comes back with an error", needs: []Behaviour{Cancels}, test: func(s *session) {
			i := s.find(s.add().ID)
			for op, call := range s.readOps(i) {
				if op == "access" && s.opts.Lacks[AccessByAPI] != "" {
					continue
				}
				ctx, cancel := context.WithCancel(s.Context())
				s.Break(Fault{Kind: Hang, Op: op, Times: 1, Reached: cancel})
				err := withinContext(s, ctx, op, call)
				s.wantKind(op+" cut off half-way", err, fleet.Transient, fleet.Other)
				if err != nil && !errors.Is(err, context.Canceled) {
					s.Errorf("%s cut off half-way: the error does not wrap context.Canceled: %v", op, err)
				}
				cancel()
			}
		}},
		check{name: "a write cut off half-way has an unknown outcome", needs: []Behaviour{Cancels, Writes}, test: func(s *session) {
			for op, write := range s.contextWrites() {
				i := s.subject(op)
				ctx, cancel := context.WithCancel(s.Context())
				s.Break(Fault{Kind: Hang, Op: op, Times: 1, Reached: cancel})
				err := withinContext(s, ctx, op, func(ctx context.Context) error { return write(ctx, i) })
				s.wantKind(op+" cut off half-way", err, fleet.OutcomeUnknown)
				cancel()
			}
		}},
		check{name: "a fault that has passed leaves nothing behind", needs: []Behaviour{ReadsFail}, test: func(s *session) {
			ref := s.find(s.add().ID).Ref
			s.Break(Fault{Kind: BadCredential, Op: "instance", Times: 1})
			_, err := s.tryRead(ref)
			s.wantKind("read with a refused credential", err, fleet.Unauthorized)
			s.wantState(ref, fleet.StateRunning, "after the fault")
		}},
	)
}

func (s *session) checkRetryAfter(f FaultKind, op string, err error) {
	s.Helper()
	if f != RateLimit || err == nil || s.opts.Lacks[RetryAfter] != "" {
		return
	}
	if e, ok := errors.AsType[*fleet.Error](err); !ok || e.RetryAfter != RetryIn {
		s.Errorf("%s: the error does not say to come back in %s: %#v", opName(op, f), RetryIn, err)
	}
}

// writesInOrder names the writes that can be tried.
func (s *session) writesInOrder() []string {
	var out []string
	stops := s.Account.Stop != nil && s.opts.Lacks[StopsByAPI] == ""
	if stops {
		out = append(out, "stop")
	}
	if stops && s.Account.Start != nil && s.opts.Lacks[StartsByAPI] == "" {
		out = append(out, "start")
	}
	if s.Account.Release != nil {
		out = append(out, "release")
	}
	if s.Account.SaveImage != nil {
		out = append(out, opSaveImage)
	}
	return out
}

// subject adds an instance and brings it to where the write makes sense.
func (s *session) subject(op string) fleet.Instance {
	s.Helper()
	switch {
	case op == "release":
		return s.read(s.releasable())
	case op == opSaveImage:
		return s.savable()
	case op == "start" && s.Account.Stop != nil && s.opts.Lacks[StopsByAPI] == "":
		return s.stopped(s.find(s.add().ID).Ref)
	}
	return s.read(s.find(s.add().ID).Ref)
}

// faultyWrite meets the fault once. Since a repeat would succeed, the state
// afterwards shows whether the write was sent more than once.
func (s *session) faultyWrite(op string, e expectation) {
	s.Helper()
	i := s.subject(op)
	s.Break(Fault{Kind: e.fault, Op: op, Times: 1})
	err := s.writeOps()[op](i)
	s.wantKind(opName(op, e.fault), err, e.write...)
	s.checkRetryAfter(e.fault, op, err)
	s.Settle()
	if op == opSaveImage {
		s.wantImages(op, e)
	}
	switch {
	case !e.effect:
		s.wantState(i.Ref, i.State, "after a "+opName(op, e.fault)+", which had no effect unless it was sent again,")
	case op == "stop":
		s.wantState(i.Ref, fleet.StateStopped, "after a "+opName(op, e.fault)+", which had its effect,")
	case op == "start":
		s.wantState(i.Ref, fleet.StateRunning, "after a "+opName(op, e.fault)+", which had its effect,")
	case op == "release":
		if left, ok := byID(s.list(s.first()), i.Ref.ID); ok && left.State != fleet.StateReleased {
			s.Errorf("after a %s, which had its effect, it is %s, want gone", opName(op, e.fault), left.State)
		}
	}
}

// faultyDelete meets the fault once; since a repeat would succeed, the list
// afterwards shows whether the deletion was sent more than once.
func (s *session) faultyDelete(kind fleet.ThingKind, e expectation) {
	s.Helper()
	op := deleteOp(kind)
	r := s.addResource(kind)
	s.Break(Fault{Kind: e.fault, Op: op, Times: 1})
	err := s.remove(r)
	s.wantKind(opName(op, e.fault), err, e.write...)
	s.checkRetryAfter(e.fault, op, err)
	s.Settle()
	if _, there := s.tryFindResource(r.Ref); there == e.effect {
		s.Errorf("after a %s it is listed: %v, want %v", opName(op, e.fault), there, !e.effect)
	}
}

// wantImages checks that a saving that met a fault made one image, or none.
func (s *session) wantImages(op string, e expectation) {
	s.Helper()
	if s.Account.Resources[fleet.KindImage] == nil {
		return
	}
	want := 0
	if e.effect {
		want = 1
	}
	if got := s.listResources(fleet.KindImage, s.first()); len(got) != want {
		s.Errorf("after a %s there are %d images, want %d", opName(op, e.fault), len(got), want)
	}
}
