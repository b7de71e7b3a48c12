package providers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/providertest"
	"curfew/providers/sim"
)

// open gives an account in a simulated cloud, and the cloud.
func open(t *testing.T, now func() time.Time) (providers.Account, *sim.Cloud) {
	t.Helper()
	cloud := sim.New(sim.Options{Now: now, Accounts: []sim.Account{{Name: "lab"}}})
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: cloud})
	if err != nil {
		t.Fatal(err)
	}
	return providers.Collect("lab", sim.Kind(), p), cloud
}

func evening() time.Time { return time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC) }

func asItIs(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
	return next(ctx)
}

func TestEveryStackOfDecoratorsConforms(t *testing.T) {
	const readOnly = "the stack is read-only"
	stamp, timeout, around := providers.Stamp("sim:u-lab"), providers.Timeout(time.Minute, time.Minute), providers.Around(asItIs)
	for _, stack := range []struct {
		name  string
		ds    []providers.Decorator
		lacks map[providertest.Behaviour]string
	}{
		{name: "none"},
		{name: "stamp", ds: []providers.Decorator{stamp}},
		{name: "timeout", ds: []providers.Decorator{timeout}},
		{name: "around", ds: []providers.Decorator{around}},
		{name: "read only", ds: []providers.Decorator{providers.ReadOnlyAccount()}, lacks: map[providertest.Behaviour]string{providertest.Writes: readOnly}},
		{name: "all that write", ds: []providers.Decorator{around, timeout, stamp, around}},
		{name: "all", ds: []providers.Decorator{around, timeout, stamp, providers.ReadOnlyAccount()}, lacks: map[providertest.Behaviour]string{providertest.Writes: readOnly}},
	} {
		t.Run(stack.name, func(t *testing.T) {
			lacks := map[providertest.Behaviour]string{
				providertest.Pages:      "a list is one answer",
				providertest.ShortPages: "no total is told beside a list",
			}
			for b, why := range stack.lacks {
				lacks[b] = why
			}
			providertest.Run(t, providertest.Opts{
				Kind:  sim.Kind(),
				Lacks: lacks,
				Open: func(t *testing.T) providertest.Fake {
					now := evening()
					a, cloud := open(t, func() time.Time { return now })
					return providertest.Fake{
						Account: a.With(stack.ds...),
						Add:     func(s fleet.Scope) fleet.Ref { return cloud.MustAdd(sim.Spec{Region: s.Region}) },
						SetRawState: func(ref fleet.Ref, raw string) {
							if err := cloud.SetRawState(ref.ID, raw); err != nil {
								t.Fatal(err)
							}
						},
						Settle: func() { now = now.Add(5 * time.Minute) },
						Break: func(f providertest.Fault) {
							cloud.Break(sim.Fault{
								Kind: sim.FaultKind(f.Kind), Op: f.Op, After: f.After, Times: f.Times,
								RetryAfter: providertest.RetryIn, Reached: f.Reached,
							})
						},
						UnknownID: "sim-9999",
					}
				},
			})
		})
	}
}

// bare can do nothing but be read.
type bare struct{ providers.Provider }

func (bare) Scopes() []fleet.Scope { return []fleet.Scope{{Account: "lab"}} }

func TestDecoratorsNeitherHideNorInventACapability(t *testing.T) {
	full, _ := open(t, evening)
	accounts := map[string]providers.Account{
		"that can do everything": full,
		"that can only be read":  providers.Collect("lab", providers.Kind{Name: "bare"}, bare{}),
	}
	decorators := map[string]providers.Decorator{
		"stamp":     providers.Stamp("sim:u-lab"),
		"timeout":   providers.Timeout(time.Minute, time.Minute),
		"around":    providers.Around(asItIs),
		"read only": providers.ReadOnlyAccount(),
	}
	for which, a := range accounts {
		for name, d := range decorators {
			t.Run(name+" over an account "+which, func(t *testing.T) {
				if diff := cmp.Diff(a.Capabilities(), a.With(d).Capabilities()); diff != "" {
					t.Errorf("capabilities before (-) and after (+) differ:\n%s", diff)
				}
				for _, action := range []fleet.Action{fleet.Keep, fleet.Start, fleet.Stop, fleet.Release, fleet.Delete, fleet.Order} {
					if got, want := a.With(d).Can(action), a.Can(action); got != want {
						t.Errorf("Can(%s) is %v, want %v", action, got, want)
					}
				}
			})
		}
	}
}

func TestCanFollowsTheFunctions(t *testing.T) {
	full, _ := open(t, evening)
	none := providers.Collect("lab", providers.Kind{Name: "bare"}, bare{})
	for _, c := range []struct {
		action     fleet.Action
		full, none bool
	}{
		{fleet.Keep, true, true},
		{fleet.Start, true, false},
		{fleet.Stop, true, false},
		{fleet.Release, true, false},
		{fleet.Delete, false, false},
		{fleet.Order, false, false},
		{fleet.Action(99), false, false},
	} {
		if got := full.Can(c.action); got != c.full {
			t.Errorf("an account with every function: Can(%s) is %v, want %v", c.action, got, c.full)
		}
		if got := none.Can(c.action); got != c.none {
			t.Errorf("an account without functions: Can(%s) is %v, want %v", c.action, got, c.none)
		}
	}
	if cs := none.Capabilities(); len(cs) != 0 {
		t.Errorf("an account without functions has the capabilities %v", cs)
	}
}

func TestReadOnlyAnswersEveryWriteWithReadOnlyAndSendsNothing(t *testing.T) {
	a, cloud := open(t, evening)
	ref := cloud.MustAdd(sim.Spec{})
	dry := a.With(providers.ReadOnlyAccount())
	i, err := dry.Instance(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for op, err := range map[string]error{
		"stop":    dry.Stop(t.Context(), i, providers.StopOptions{}),
		"start":   dry.Start(t.Context(), i, providers.StartOptions{}),
		"release": dry.Release(t.Context(), i, providers.ReleaseOptions{}),
	} {
		if !errors.Is(err, fleet.ReadOnly) {
			t.Errorf("%s answers %v, want read-only", op, err)
		}
	}
	if n := len(cloud.Effects()); n != 0 {
		t.Errorf("%d writes took effect, want none", n)
	}
	for _, c := range cloud.Calls() {
		if c.Op != "instance" {
			t.Errorf("the cloud was called for %s", c.Op)
		}
	}
}

func TestStampPutsIdentityOnEverythingThatComesOut(t *testing.T) {
	a, cloud := open(t, evening)
	cloud.MustAdd(sim.Spec{ID: "sim-a", Parent: "task-7"})
	if err := cloud.AddDisk(sim.Disk{ID: "d-1", AttachedTo: "sim-a"}); err != nil {
		t.Fatal(err)
	}
	if err := cloud.AddDisk(sim.Disk{ID: "d-2"}); err != nil {
		t.Fatal(err)
	}
	a = a.With(providers.Stamp("sim:u-lab"))
	if a.Identity != "sim:u-lab" {
		t.Errorf("the account's identity is %q", a.Identity)
	}
	want := fleet.Ref{Account: "sim:u-lab", Kind: fleet.KindInstance, ID: "sim-a"}
	list, err := a.Instances(t.Context(), a.Scopes[0])
	if err != nil {
		t.Fatal(err)
	}
	read, err := a.Instance(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	for where, i := range map[string]fleet.Instance{"list": list[0], "read": read} {
		if i.Ref != want || i.Parent.Account != "sim:u-lab" || i.AccountName != "lab" || i.Provider != "sim" {
			t.Errorf("in the %s: ref %s, parent %s, account %q, provider %q", where, i.Ref, i.Parent, i.AccountName, i.Provider)
		}
	}
	ds, err := a.Disks(t.Context(), a.Scopes[0])
	if err != nil {
		t.Fatal(err)
	}
	if ds[0].Ref.Account != "sim:u-lab" || ds[0].AttachedTo != want {
		t.Errorf("the disk is %s at %s", ds[0].Ref, ds[0].AttachedTo)
	}
	if !ds[1].AttachedTo.IsZero() {
		t.Errorf("a disk that belongs to nothing is said to belong to %s", ds[1].AttachedTo)
	}
}

func TestStampLeavesTheListBelowItAlone(t *testing.T) {
	below := []fleet.Instance{{Ref: fleet.Ref{Kind: fleet.KindInstance, ID: "a"}}}
	a := providers.Account{
		Name: "lab", Kind: providers.Kind{Name: "x"},
		Instances: func(context.Context, fleet.Scope) ([]fleet.Instance, error) { return below, nil },
	}.With(providers.Stamp("x:1"))
	if _, err := a.Instances(t.Context(), fleet.Scope{}); err != nil {
		t.Fatal(err)
	}
	if below[0].Ref.Account != "" {
		t.Error("the adapter's own slice was written to")
	}
}

func TestTimeoutBoundsEveryCall(t *testing.T) {
	const read, write = 10 * time.Second, 30 * time.Second
	for _, c := range []struct {
		op   string
		took time.Duration
		kind fleet.ErrorKind
	}{
		{"instances", read, fleet.Transient},
		{"instance", read, fleet.Transient},
		{"identity", read, fleet.Transient},
		{"access", read, fleet.Transient},
		{"disks", read, fleet.Transient},
		{"balance", read, fleet.Transient},
		{"stop", write, fleet.OutcomeUnknown},
		{"start", write, fleet.OutcomeUnknown},
		{"release", write, fleet.OutcomeUnknown},
	} {
		t.Run(c.op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, cloud := open(t, time.Now)
				cloud.MustAdd(sim.Spec{ID: "sim-a"})
				cloud.Break(sim.Fault{Kind: sim.Hang})
				began := time.Now()
				err := calls(a.With(providers.Timeout(read, write)), fleet.Instance{Ref: fleet.Ref{ID: "sim-a"}})[c.op](t.Context())
				if took := time.Since(began); took != c.took {
					t.Errorf("came back after %s, want %s", took, c.took)
				}
				if fleet.KindOf(err) != c.kind {
					t.Errorf("error of kind %q, want %q: %v", fleet.KindOf(err), c.kind, err)
				}
			})
		})
	}
}

func TestTimeoutMakesACutOffWriteUnknownWhateverTheAdapterSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := providers.Account{
			Stop: func(ctx context.Context, _ fleet.Instance, _ providers.StopOptions) error {
				<-ctx.Done()
				return ctx.Err()
			},
		}.With(providers.Timeout(time.Second, time.Second))
		err := a.Stop(t.Context(), fleet.Instance{}, providers.StopOptions{})
		if !errors.Is(err, fleet.OutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the write answers %v, want an unknown outcome that wraps the expired deadline", err)
		}
	})
}

func TestTimeoutLeavesARefusalAsItIs(t *testing.T) {
	a, cloud := open(t, evening)
	cloud.MustAdd(sim.Spec{ID: "sim-a", State: fleet.StateStopped})
	err := a.With(providers.Timeout(time.Minute, time.Minute)).
		Stop(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "sim-a"}}, providers.StopOptions{})
	if fleet.KindOf(err) != fleet.Conflict {
		t.Errorf("a stop of what is stopped answers %v, want a conflict", err)
	}
}

func TestAroundSeesEveryCallOnce(t *testing.T) {
	a, cloud := open(t, evening)
	cloud.MustAdd(sim.Spec{ID: "sim-a", ReleasesRunning: true})
	var seen []providers.Call
	a = a.With(providers.Around(func(ctx context.Context, c providers.Call, next func(context.Context) error) error {
		seen = append(seen, c)
		return next(ctx)
	}))
	ref := fleet.Ref{Kind: fleet.KindInstance, ID: "sim-a"}
	for _, c := range []providers.Call{
		{Op: "instances"},
		{Op: "instance", Ref: ref},
		{Op: "identity"},
		{Op: "access", Ref: ref},
		{Op: "disks"},
		{Op: "balance"},
		{Op: "stop", Write: true, Ref: ref},
		{Op: "start", Write: true, Ref: ref},
		{Op: "release", Write: true, Ref: ref},
	} {
		t.Run(c.Op, func(t *testing.T) {
			seen = nil
			_ = calls(a, fleet.Instance{Ref: ref})[c.Op](t.Context())
			if diff := cmp.Diff([]providers.Call{c}, seen); diff != "" {
				t.Errorf("calls seen, wanted (-) and got (+):\n%s", diff)
			}
		})
	}
}

func TestAroundGivesNothingBesideAnError(t *testing.T) {
	a, cloud := open(t, evening)
	cloud.MustAdd(sim.Spec{})
	late := errors.New("too late")
	a = a.With(providers.Around(func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
		return errors.Join(next(ctx), late)
	}))
	is, err := a.Instances(t.Context(), a.Scopes[0])
	if !errors.Is(err, late) || is != nil {
		t.Errorf("got %d instances and error %v, want none and the decorator's error", len(is), err)
	}
}

func TestDecoratorsAreAskedFromTheOutsideIn(t *testing.T) {
	a, _ := open(t, evening)
	var order []string
	named := func(name string) providers.Decorator {
		return providers.Around(func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
			order = append(order, name)
			return next(ctx)
		})
	}
	if _, err := a.With(named("inner"), named("outer")).Balance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"outer", "inner"}, order); diff != "" {
		t.Errorf("order wanted (-) and got (+):\n%s", diff)
	}
}

// calls gives every function of an account by its name.
func calls(a providers.Account, i fleet.Instance) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"instances": func(ctx context.Context) error { _, err := a.Instances(ctx, a.Scopes[0]); return err },
		"instance":  func(ctx context.Context) error { _, err := a.Instance(ctx, i.Ref); return err },
		"identity":  func(ctx context.Context) error { _, err := a.Whoami(ctx); return err },
		"access":    func(ctx context.Context) error { _, err := a.Access(ctx, i); return err },
		"disks":     func(ctx context.Context) error { _, err := a.Disks(ctx, a.Scopes[0]); return err },
		"balance":   func(ctx context.Context) error { _, err := a.Balance(ctx); return err },
		"stop":      func(ctx context.Context) error { return a.Stop(ctx, i, providers.StopOptions{}) },
		"start":     func(ctx context.Context) error { return a.Start(ctx, i, providers.StartOptions{}) },
		"release":   func(ctx context.Context) error { return a.Release(ctx, i, providers.ReleaseOptions{}) },
	}
}
