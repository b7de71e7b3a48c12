package providertest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/providers"
)

// Run runs the suite, one subtest for each behaviour. It must not run in parallel
// with other tests of the package, since it counts goroutines.
func Run(t *testing.T, o Opts) {
	t.Helper()
	if o.Kind.Name == "" || o.Open == nil {
		t.Fatal("providertest: Opts needs a Kind with a name, and Open")
	}
	for b, why := range o.Lacks {
		if !slices.Contains(behaviours(), b) {
			t.Fatalf("providertest: Lacks names %q, which is no behaviour", b)
		}
		if why == "" {
			t.Fatalf("providertest: Lacks[%q] gives no reason", b)
		}
	}
	for _, c := range slices.Concat(describes(), reads(), resourceReads(), bills(), writes(), deletions(), savings(), stock(), orders(), faults()) {
		t.Run(c.name, func(t *testing.T) { c.run(t, o) })
	}
}

func behaviours() []Behaviour {
	return []Behaviour{Writes, Pages, ShortPages, TellsBoot, ReadsGone, RetryAfter, StopsByAPI, RateLimits, Cancels, TellsUse, SavesRunning, Speaks, API, Lists, Words, ReadsFail, StartsByAPI, AccessByAPI}
}

// check is one behaviour and what it takes.
type check struct {
	name  string
	needs []Behaviour
	lacks []Behaviour // it is asked for where these are missing
	can   []providers.Capability
	test  func(s *session)
}

func (c check) run(t *testing.T, o Opts) {
	for _, b := range c.needs {
		if why := o.Lacks[b]; why != "" {
			t.Skipf("not asked for: %s has no %q: %s", o.Kind.Name, b, why)
		}
	}
	for _, b := range c.lacks {
		if o.Lacks[b] == "" {
			t.Skipf("not asked for: %s has %q", o.Kind.Name, b)
		}
	}
	for _, capability := range c.can {
		if !o.Kind.Can(capability) {
			t.Skipf("not asked for: %s does not declare the capability %q", o.Kind.Name, capability)
		}
	}
	// Registered before Open, so it looks after everything Open started has ended.
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if !t.Failed() {
			goleak.VerifyNone(t, before)
		}
	})
	s := &session{T: t, Fake: o.Open(t), opts: o}
	s.complete()
	c.test(s)
}

// session is one fresh fake under one check.
type session struct {
	*testing.T
	Fake
	opts Opts
}

func (s *session) complete() {
	s.Helper()
	if len(s.Account.Scopes) == 0 {
		s.Fatal("the account has no scope: nothing could ever be listed")
	}
	for handle, missing := range map[string]bool{
		"Add": s.Add == nil, "SetRawState": s.SetRawState == nil && s.opts.Lacks[Words] == "", "Settle": s.Settle == nil,
		"Break": s.Break == nil, "UnknownID": s.UnknownID == "",
	} {
		if missing {
			s.Fatalf("the fake gives no %s, which every check relies on", handle)
		}
	}
	if len(s.Account.Resources) > 0 && (s.AddResource == nil || s.Use == nil) {
		s.Fatal("the fake gives no AddResource or no Use, which the checks of disks, snapshots, images and addresses rely on")
	}
	if s.Account.Offers != nil && (s.Stock == nil || s.Model == "") {
		s.Fatal("the fake gives no Stock or no Model, which the checks of offers and orders rely on")
	}
	if s.Account.BillItems != nil && s.AddBill == nil {
		s.Fatal("the fake gives no AddBill, which the checks of the bill rely on")
	}
}

// patience bounds one call of the account. No fake is slow, so what takes longer
// hangs.
const patience = 30 * time.Second

// within runs one call of the account. It fails the test where the call does not
// come back, and where its error is badly made or tells a secret.
func within(s *session, what string, call func(ctx context.Context) error) error {
	s.Helper()
	return withinContext(s, s.Context(), what, call)
}

func withinContext(s *session, ctx context.Context, what string, call func(ctx context.Context) error) error {
	s.Helper()
	answered := make(chan error, 1)
	go func() { answered <- call(ctx) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-answered:
		s.checkError(what, err)
		return err
	case <-timer.C:
		s.Fatalf("%s has not come back after %s", what, patience)
		return nil
	}
}

func (s *session) checkError(what string, err error) {
	s.Helper()
	if err == nil {
		return
	}
	if !slices.Contains(fleet.ErrorKinds(), fleet.KindOf(err)) {
		s.Errorf("%s: error %q is of kind %q, which is none of fleet.ErrorKinds", what, err, fleet.KindOf(err))
	}
	s.checkSecrets("the error of "+what, err.Error())
}

func (s *session) checkSecrets(where, text string) {
	s.Helper()
	for n, secret := range s.Secrets {
		if secret != "" && strings.Contains(text, secret) {
			s.Errorf("%s holds Secrets[%d]: %s", where, n, strings.ReplaceAll(text, secret, "<the secret>"))
		}
	}
}

func (s *session) checkValue(where string, v any) {
	s.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.Errorf("%s cannot be written as JSON: %v", where, err)
		return
	}
	s.checkSecrets(where, string(data))
}

// wantKind checks an error's kind against those allowed.
func (s *session) wantKind(what string, err error, kinds ...fleet.ErrorKind) {
	s.Helper()
	if err == nil {
		s.Errorf("%s: no error, want one of kind %v", what, kinds)
		return
	}
	if !slices.Contains(kinds, fleet.KindOf(err)) {
		s.Errorf("%s: error of kind %q, want %v: %v", what, fleet.KindOf(err), kinds, err)
	}
}

func (s *session) first() fleet.Scope { return s.Account.Scopes[0] }

// add puts one running instance into the first scope.
func (s *session) add() fleet.Ref {
	s.Helper()
	ref := s.Add(s.first())
	if ref.ID == "" {
		s.Fatal("Add gave a reference without an id")
	}
	return ref
}

func (s *session) list(scope fleet.Scope) []fleet.Instance {
	s.Helper()
	is, err := s.tryList(scope)
	if err != nil {
		s.Fatalf("list %s: %v", scope, err)
	}
	return is
}

func (s *session) tryList(scope fleet.Scope) ([]fleet.Instance, error) {
	s.Helper()
	var is []fleet.Instance
	err := within(s, "instances", func(ctx context.Context) (err error) {
		is, err = s.Account.Instances(ctx, scope)
		return err
	})
	return is, err
}

// find gives the instance of that id as the list of the first scope shows it.
func (s *session) find(id string) fleet.Instance {
	s.Helper()
	i, ok := byID(s.list(s.first()), id)
	if !ok {
		s.Fatalf("the list does not show %s", id)
	}
	return i
}

func byID(is []fleet.Instance, id string) (fleet.Instance, bool) {
	n := slices.IndexFunc(is, func(i fleet.Instance) bool { return i.Ref.ID == id })
	if n < 0 {
		return fleet.Instance{}, false
	}
	return is[n], true
}

func (s *session) read(ref fleet.Ref) fleet.Instance {
	s.Helper()
	i, err := s.tryRead(ref)
	if err != nil {
		s.Fatalf("read %s: %v", ref.ID, err)
	}
	return i
}

func (s *session) tryRead(ref fleet.Ref) (fleet.Instance, error) {
	s.Helper()
	var i fleet.Instance
	err := within(s, "instance", func(ctx context.Context) (err error) {
		i, err = s.Account.Instance(ctx, ref)
		return err
	})
	return i, err
}

// wantState checks the state that a single read shows.
func (s *session) wantState(ref fleet.Ref, want fleet.State, when string) {
	s.Helper()
	if i := s.read(ref); i.State != want {
		s.Errorf("%s the instance is %s (%q), want %s", when, i.State, i.RawState, want)
	}
}

func (s *session) stop(i fleet.Instance) error {
	s.Helper()
	return within(s, "stop", func(ctx context.Context) error {
		return s.Account.Stop(ctx, i, providers.StopOptions{Token: "conformance-stop"})
	})
}

func (s *session) start(i fleet.Instance) error {
	s.Helper()
	return within(s, "start", func(ctx context.Context) error {
		return s.Account.Start(ctx, i, providers.StartOptions{Token: "conformance-start"})
	})
}

func (s *session) release(i fleet.Instance) error {
	s.Helper()
	return within(s, "release", func(ctx context.Context) error {
		return s.Account.Release(ctx, i, providers.ReleaseOptions{Token: "conformance-release", WithDisks: true, WithPublicIPs: true})
	})
}

// stopped stops the instance and waits until a read shows it.
func (s *session) stopped(ref fleet.Ref) fleet.Instance {
	s.Helper()
	if err := s.stop(s.read(ref)); err != nil {
		s.Fatalf("stop %s: %v", ref.ID, err)
	}
	s.Settle()
	i := s.read(ref)
	if i.State != fleet.StateStopped {
		s.Fatalf("settled after a stop, the instance is %s (%q), want stopped", i.State, i.RawState)
	}
	return i
}
