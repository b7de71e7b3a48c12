package providers_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

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
				for _, kind := range append(fleet.ResourceKinds(), fleet.KindInstance, fleet.KindWant) {
					for _, action := range []fleet.Action{fleet.Keep, fleet.Start, fleet.Stop, fleet.Release, fleet.Delete, fleet.Order} {
						if got, want := a.With(d).Can(kind, action), a.Can(kind, action); got != want {
							t.Errorf("Can(%s, %s) is %v, want %v", kind, action, got, want)
						}
					}
				}
			})
		}
	}
}

func TestCanFollowsTheFunctions(t *testing.T) {
	full, _ := open(t, evening)
	none := providers.Collect("lab", providers.Kind{Name: "bare"}, bare{})
	type row struct {
		kind       fleet.ThingKind
		action     fleet.Action
		full, none bool
	}
	rows := []row{
		{fleet.KindInstance, fleet.Keep, true, true},
		{fleet.KindInstance, fleet.Start, true, false},
		{fleet.KindInstance, fleet.Stop, true, false},
		{fleet.KindInstance, fleet.Release, true, false},
		{fleet.KindInstance, fleet.Delete, false, false},
		{fleet.KindInstance, fleet.Order, false, false},
		{fleet.KindInstance, fleet.Action(99), false, false},
		{fleet.KindWant, fleet.Order, true, false},
		{fleet.KindWant, fleet.Stop, false, false},
		{fleet.KindWant, fleet.Delete, false, false},
	}
	for _, kind := range fleet.ResourceKinds() {
		rows = append(rows,
			row{kind, fleet.Keep, true, true},
			row{kind, fleet.Delete, true, false},
			row{kind, fleet.Stop, false, false},
			row{kind, fleet.Release, false, false},
			row{kind, fleet.Order, false, false},
			row{kind, fleet.Action(99), false, false},
		)
	}
	for _, c := range rows {
		if got := full.Can(c.kind, c.action); got != c.full {
			t.Errorf("an account with every function: Can(%s, %s) is %v, want %v", c.kind, c.action, got, c.full)
		}
		if got := none.Can(c.kind, c.action); got != c.none {
			t.Errorf("an account without functions: Can(%s, %s) is %v, want %v", c.kind, c.action, got, c.none)
		}
	}
	if cs := none.Capabilities(); len(cs) != 0 {
		t.Errorf("an account without functions has the capabilities %v", cs)
	}
	sorted := cmpopts.SortSlices(func(a, b providers.Capability) bool { return a < b })
	if diff := cmp.Diff(sim.Kind().Capabilities, full.Capabilities(), sorted); diff != "" {
		t.Errorf("capabilities of the kind (-) and of an account with every function (+) differ:\n%s", diff)
	}
	// One kind that can be listed and not deleted says so of itself alone.
	delete(full.Delete, fleet.KindDisk)
	if full.Can(fleet.KindDisk, fleet.Delete) || !full.Can(fleet.KindImage, fleet.Delete) {
		t.Error("what one kind lacks is not told apart from what another has")
	}
}

func TestReadOnlyAnswersEveryWriteWithReadOnlyAndSendsNothing(t *testing.T) {
	a, cloud := open(t, evening)
	ref := cloud.MustAdd(sim.Spec{})
	for _, kind := range fleet.ResourceKinds() {
		cloud.MustAddResource(kind, sim.Resource{ID: thing})
	}
	dry := a.With(providers.ReadOnlyAccount())
	i, err := dry.Instance(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for op, call := range writes(dry, i) {
		if err := call(t.Context()); !errors.Is(err, fleet.ReadOnly) {
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
		{"balance", read, fleet.Transient},
		{"bill", read, fleet.Transient},
		{"offers", read, fleet.Transient},
		{"disks", read, fleet.Transient},
		{"snapshots", read, fleet.Transient},
		{"images", read, fleet.Transient},
		{"ips", read, fleet.Transient},
		{"stop", write, fleet.OutcomeUnknown},
		{"start", write, fleet.OutcomeUnknown},
		{"release", write, fleet.OutcomeUnknown},
		{"save-image", write, fleet.OutcomeUnknown},
		{"order", write, fleet.OutcomeUnknown},
		{"delete-disk", write, fleet.OutcomeUnknown},
		{"delete-snapshot", write, fleet.OutcomeUnknown},
		{"delete-image", write, fleet.OutcomeUnknown},
		{"delete-ip", write, fleet.OutcomeUnknown},
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
	below := a
	a = a.With(providers.Around(func(ctx context.Context, c providers.Call, next func(context.Context) error) error {
		seen = append(seen, c)
		return next(ctx)
	}))
	ref := fleet.Ref{Kind: fleet.KindInstance, ID: "sim-a"}
	every := []providers.Call{
		{Op: "instances"},
		{Op: "instance", Ref: ref},
		{Op: "identity"},
		{Op: "access", Ref: ref},
		{Op: "balance"},
		{Op: "bill"},
		{Op: "offers"},
		{Op: "order", Write: true},
		{Op: "disks"},
		{Op: "snapshots"},
		{Op: "images"},
		{Op: "ips"},
		{Op: "save-image", Write: true, Ref: ref},
		{Op: "stop", Write: true, Ref: ref},
		{Op: "start", Write: true, Ref: ref},
		{Op: "release", Write: true, Ref: ref},
		{Op: "delete-disk", Write: true, Ref: fleet.Ref{Kind: fleet.KindDisk, ID: thing}},
		{Op: "delete-snapshot", Write: true, Ref: fleet.Ref{Kind: fleet.KindSnapshot, ID: thing}},
		{Op: "delete-image", Write: true, Ref: fleet.Ref{Kind: fleet.KindImage, ID: thing}},
		{Op: "delete-ip", Write: true, Ref: fleet.Ref{Kind: fleet.KindPublicIP, ID: thing}},
	}
	if n := len(calls(a, fleet.Instance{Ref: ref})); n != len(every) {
		t.Errorf("%d calls are looked at, the account has %d", len(every), n)
	}
	for _, c := range every {
		t.Run(c.Op, func(t *testing.T) {
			seen = nil
			_ = calls(a, fleet.Instance{Ref: ref})[c.Op](t.Context())
			if diff := cmp.Diff([]providers.Call{c}, seen); diff != "" {
				t.Errorf("calls seen, wanted (-) and got (+):\n%s", diff)
			}
			seen = nil
			_ = calls(below, fleet.Instance{Ref: ref})[c.Op](t.Context())
			if len(seen) != 0 {
				t.Error("the account below is decorated as well")
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
	cloud.MustAddResource(fleet.KindDisk, sim.Resource{ID: thing})
	ds, err := a.Resources[fleet.KindDisk](t.Context(), a.Scopes[0])
	if !errors.Is(err, late) || ds != nil {
		t.Errorf("got %d disks and error %v, want none and the decorator's error", len(ds), err)
	}
	if err := cloud.Offer(sim.Good{ID: "g"}); err != nil {
		t.Fatal(err)
	}
	if os, err := a.Offers(t.Context(), fleet.OfferQuery{}); !errors.Is(err, late) || os != nil {
		t.Errorf("got %d offers and error %v, want none and the decorator's error", len(os), err)
	}
	if ref, err := a.Order(t.Context(), anOrder()); !errors.Is(err, late) || !ref.IsZero() {
		t.Errorf("got the instance %s and error %v, want none and the decorator's error", ref, err)
	}
	image, err := a.SaveImage(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "sim-0001"}}, providers.ImageSpec{})
	if !errors.Is(err, late) || !image.IsZero() {
		t.Errorf("got the image %s and error %v, want none and the decorator's error", image, err)
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

// thing is the id of what the calls delete, of every kind.
const thing = "thing-1"

func anOrder() fleet.OrderSpec {
	return fleet.OrderSpec{Offer: fleet.Offer{SKU: "g"}, Name: "n", Token: "t"}
}

// calls gives every function of an account by its name.
func calls(a providers.Account, i fleet.Instance) map[string]func(context.Context) error {
	out := writes(a, i)
	maps.Copy(out, map[string]func(context.Context) error{
		"instances": func(ctx context.Context) error { _, err := a.Instances(ctx, a.Scopes[0]); return err },
		"instance":  func(ctx context.Context) error { _, err := a.Instance(ctx, i.Ref); return err },
		"identity":  func(ctx context.Context) error { _, err := a.Whoami(ctx); return err },
		"access":    func(ctx context.Context) error { _, err := a.Access(ctx, i); return err },
		"balance":   func(ctx context.Context) error { _, err := a.Balance(ctx); return err },
		"offers":    func(ctx context.Context) error { _, err := a.Offers(ctx, fleet.OfferQuery{}); return err },
		"bill": func(ctx context.Context) error {
			_, err := a.BillItems(ctx, evening(), evening().Add(time.Hour))
			return err
		},
	})
	for kind, list := range a.Resources {
		out[string(kind)+"s"] = func(ctx context.Context) error { _, err := list(ctx, a.Scopes[0]); return err }
	}
	return out
}

// writes gives those that write.
func writes(a providers.Account, i fleet.Instance) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{
		"order":      func(ctx context.Context) error { _, err := a.Order(ctx, anOrder()); return err },
		"stop":       func(ctx context.Context) error { return a.Stop(ctx, i, providers.StopOptions{}) },
		"start":      func(ctx context.Context) error { return a.Start(ctx, i, providers.StartOptions{}) },
		"release":    func(ctx context.Context) error { return a.Release(ctx, i, providers.ReleaseOptions{}) },
		"save-image": func(ctx context.Context) error { _, err := a.SaveImage(ctx, i, providers.ImageSpec{}); return err },
	}
	for kind, remove := range a.Delete {
		out["delete-"+string(kind)] = func(ctx context.Context) error {
			return remove(ctx, fleet.Resource{Ref: fleet.Ref{Kind: kind, ID: thing}}, providers.DeleteOptions{})
		}
	}
	return out
}
