package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/sim"
)

// bench is a cloud whose clock the test moves, with one account opened on it.
type bench struct {
	*testing.T
	*sim.Cloud
	api  providers.Account
	time time.Time
}

func setup(t *testing.T, o sim.Options) *bench {
	t.Helper()
	b := &bench{T: t, time: time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)}
	o.Now = func() time.Time { return b.time }
	if o.Accounts == nil {
		o.Accounts = []sim.Account{{Name: "lab"}}
	}
	b.Cloud = sim.New(o)
	b.api = b.account("lab")
	return b
}

func (b *bench) account(name string) providers.Account {
	b.Helper()
	p, err := sim.Kind().Open(providers.Options{Account: name, World: b.Cloud})
	if err != nil {
		b.Fatal(err)
	}
	return providers.Collect(name, sim.Kind(), p)
}

func (b *bench) pass(d time.Duration) { b.time = b.time.Add(d) }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(id string) fleet.Instance {
	b.Helper()
	i, err := b.api.Instance(b.Context(), fleet.Ref{Kind: fleet.KindInstance, ID: id})
	b.must(err)
	return i
}

func (b *bench) shows(id string, want fleet.State) {
	b.Helper()
	if got := b.read(id).State; got != want {
		b.Errorf("%s is shown as %s, want %s", id, got, want)
	}
}

func (b *bench) stop(id string) error {
	return b.api.Stop(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: id}}, providers.StopOptions{Token: "t1"})
}

func TestStateChangesTakeTheirTime(t *testing.T) {
	b := setup(t, sim.Options{Timing: sim.Timing{BootTime: 30 * time.Second, StopTime: 12 * time.Second, ReleaseTime: 4 * time.Second}})
	b.MustAdd(sim.Spec{ID: "a"})
	b.must(b.stop("a"))
	b.shows("a", fleet.StateStopping)
	b.pass(12*time.Second - 1)
	b.shows("a", fleet.StateStopping)
	b.pass(1)
	b.shows("a", fleet.StateStopped)
	stopped := b.read("a")
	if !stopped.StoppedAt.Equal(b.time) {
		t.Errorf("stopped at %s, want %s", stopped.StoppedAt, b.time)
	}
	b.must(b.UserStarts("a"))
	b.shows("a", fleet.StateStarting)
	b.pass(30 * time.Second)
	b.shows("a", fleet.StateRunning)
	if again := b.read("a"); again.Boot.Same(stopped.Boot) || !again.StoppedAt.IsZero() {
		t.Errorf("started again it has boot %q (before: %q) and was stopped at %s", again.Boot, stopped.Boot, again.StoppedAt)
	}
	b.must(b.UserStops("a"))
	b.pass(12 * time.Second)
	b.must(b.UserReleases("a"))
	b.shows("a", fleet.StateReleasing)
	b.pass(4 * time.Second)
	if _, err := b.api.Instance(t.Context(), fleet.Ref{ID: "a"}); !errors.Is(err, fleet.NotFound) {
		t.Errorf("a read of what was released answers %v, want not found", err)
	}
}

func TestAStopWhileStartingIsTaken(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", State: fleet.StateStopped})
	b.must(b.UserStarts("a"))
	b.pass(5 * time.Second)
	b.must(b.stop("a"))
	b.pass(time.Hour)
	b.shows("a", fleet.StateStopped)
}

func TestReadsLagBehindWrites(t *testing.T) {
	b := setup(t, sim.Options{Timing: sim.Timing{SettleLag: 15 * time.Second}})
	b.MustAdd(sim.Spec{ID: "a"})
	b.must(b.stop("a"))
	b.pass(15*time.Second - 1)
	b.shows("a", fleet.StateRunning)
	if got := b.State("a"); got != fleet.StateStopped {
		t.Errorf("in truth it is %s, want stopped", got)
	}
	list, err := b.api.Instances(t.Context(), b.api.Scopes[0])
	b.must(err)
	if list[0].State != fleet.StateRunning {
		t.Errorf("the list shows %s, want it to lag as the read does", list[0].State)
	}
	b.pass(1)
	b.shows("a", fleet.StateStopping)
	b.pass(10 * time.Second)
	b.shows("a", fleet.StateStopped)
}

func TestWritesAreRefusedAsThePlatformWould(t *testing.T) {
	stop := func(b *bench) error { return b.stop("a") }
	start := func(b *bench) error {
		return b.api.Start(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: "a"}}, providers.StartOptions{})
	}
	release := func(b *bench) error {
		return b.api.Release(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: "a"}}, providers.ReleaseOptions{})
	}
	for _, c := range []struct {
		name  string
		spec  sim.Spec
		first func(b *bench) error
		do    func(b *bench) error
		want  fleet.ErrorKind
	}{
		{name: "a second stop while stopping is a conflict", first: stop, do: stop, want: fleet.Conflict},
		{name: "a stop of what is stopped is a conflict", spec: sim.Spec{State: fleet.StateStopped}, do: stop, want: fleet.Conflict},
		{name: "a stop of what failed is a conflict", spec: sim.Spec{State: fleet.StateFailed}, do: stop, want: fleet.Conflict},
		{name: "a start of what runs is a conflict", do: start, want: fleet.Conflict},
		{name: "a start while stopping is a conflict", first: stop, do: start, want: fleet.Conflict},
		{name: "a release of what runs is a conflict", do: release, want: fleet.Conflict},
		{name: "a release while stopping is a conflict", first: stop, do: release, want: fleet.Conflict},
		{name: "a release of what runs is taken where the platform does", spec: sim.Spec{ReleasesRunning: true}, do: release},
		{name: "a release of what is stopped is taken", spec: sim.Spec{State: fleet.StateStopped}, do: release},
		{name: "a release of what failed is taken", spec: sim.Spec{State: fleet.StateFailed}, do: release},
		{name: "a second release is a conflict", spec: sim.Spec{State: fleet.StateStopped}, first: release, do: release, want: fleet.Conflict},
		{name: "a release of what is protected is a conflict", spec: sim.Spec{State: fleet.StateStopped, Protected: true}, do: release, want: fleet.Conflict},
		{name: "a boot without cards is not supported", spec: sim.Spec{State: fleet.StateStopped}, want: fleet.Unsupported, do: func(b *bench) error {
			return b.api.Start(b.Context(), fleet.Instance{Ref: fleet.Ref{ID: "a"}}, providers.StartOptions{NoGPU: true})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, sim.Options{})
			c.spec.ID = "a"
			b.MustAdd(c.spec)
			if c.first != nil {
				b.must(c.first(b))
			}
			before := len(b.Effects())
			err := c.do(b)
			if fleet.KindOf(err) != c.want {
				t.Errorf("got %v, want kind %q", err, c.want)
			}
			if took := len(b.Effects()) - before; took != 1 && c.want == "" || took != 0 && c.want != "" {
				t.Errorf("%d writes took effect", took)
			}
		})
	}
}

func TestThePlatformActsByItself(t *testing.T) {
	t.Run("what is stopped is released after its time, unless it was started", func(t *testing.T) {
		b := setup(t, sim.Options{Timing: sim.Timing{AutoRelease: 48 * time.Hour, StopTime: time.Second}})
		b.MustAdd(sim.Spec{ID: "a"})
		b.MustAdd(sim.Spec{ID: "b", State: fleet.StateStopped, Age: 47 * time.Hour})
		b.must(b.UserStops("a"))
		b.pass(time.Second)
		if at := b.read("a").ReleasesAt; !at.Equal(b.time.Add(48 * time.Hour)) {
			t.Errorf("it says it will be released at %s", at)
		}
		b.must(b.UserStarts("a"))
		b.pass(time.Hour)
		if got := b.State("b"); got != fleet.StateReleased {
			t.Errorf("stopped for 48 h it is %s, want released", got)
		}
		b.pass(100 * time.Hour)
		b.shows("a", fleet.StateRunning)
	})
	t.Run("a timer stops it, and is told", func(t *testing.T) {
		b := setup(t, sim.Options{})
		b.MustAdd(sim.Spec{ID: "a", StopsIn: time.Hour})
		if at := b.read("a").StopsAt; !at.Equal(b.time.Add(time.Hour)) {
			t.Errorf("it says it will be stopped at %s", at)
		}
		b.pass(time.Hour)
		b.shows("a", fleet.StateStopping)
	})
}

func TestInstancesAreToldAsTheirSpecSays(t *testing.T) {
	b := setup(t, sim.Options{})
	price := fleet.CNY(1_980_000)
	b.MustAdd(sim.Spec{
		ID: "a", Name: "exp-a", Labels: map[string]string{"curfew": "keep"}, Owner: "wang", Parent: "task-1",
		GPU: sim.GPU{Model: "RTX 4090"}, Price: price, Billing: fleet.BillingPerHour,
		StopEndsBilling: "no", StopKeeps: fleet.KeepsNone, Protected: true, Unread: []string{"owner"},
	})
	on := b.time.Add(-time.Hour)
	want := fleet.Instance{
		Ref: fleet.Ref{Kind: fleet.KindInstance, ID: "a"}, Boot: fleet.BootAt(on),
		Name: "exp-a", Labels: map[string]string{"curfew": "keep"}, Owner: "wang",
		Parent: fleet.Ref{Kind: fleet.KindInstance, ID: "task-1"},
		State:  fleet.StateRunning, RawState: "running",
		Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
		GPU:    fleet.GPU{Model: "RTX 4090", Count: 1},
		Price:  fleet.Price{PerHour: price, Billing: fleet.BillingPerHour, Source: fleet.PriceProvider},
		OnStop: fleet.OnStop{
			EndsBilling: fleet.No, KeepsData: fleet.KeepsNone,
			StillCosts: fleet.Price{PerHour: fleet.CNY(0), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		},
		OnRelease: fleet.OnRelease{KeepsData: fleet.KeepsNone},
		Protected: true, CreatedAt: on, StartedAt: on, Unread: []string{"owner"},
	}
	if diff := cmp.Diff(want, b.read("a")); diff != "" {
		t.Errorf("wanted (-) and got (+):\n%s", diff)
	}
	b.read("a").Labels["curfew"] = "changed by a reader"
	if got := b.read("a").Labels["curfew"]; got != "keep" {
		t.Errorf("a reader changed the cloud's own label to %q", got)
	}
}

func TestAPriceThePlatformHidesComesFromTheConfiguration(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", GPU: sim.GPU{Model: "RTX 4090"}, HidesPrice: true, Price: fleet.CNY(2_000_000)})
	b.MustAdd(sim.Spec{ID: "b", GPU: sim.GPU{Model: "H800"}, HidesPrice: true, Price: fleet.CNY(9_000_000)})
	p, err := sim.Kind().Open(providers.Options{
		Account: "lab", World: b.Cloud, Prices: map[string]fleet.Money{"RTX 4090": fleet.CNY(1_980_000)},
	})
	b.must(err)
	list, err := p.Instances(t.Context(), p.Scopes()[0])
	b.must(err)
	if got := list[0].Price; got.Source != fleet.PriceConfig || got.PerHour != fleet.CNY(1_980_000) {
		t.Errorf("the configured model costs %+v", got)
	}
	if list[1].Price.Known() {
		t.Errorf("a model nobody priced costs %+v, want unknown", list[1].Price)
	}
}

func TestAnOddStatusWordPasses(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", Odd: []sim.Odd{{From: time.Minute, To: 2 * time.Minute, Raw: "migrating"}}})
	b.shows("a", fleet.StateRunning)
	b.pass(time.Minute)
	if i := b.read("a"); i.State != fleet.StateUnknown || i.RawState != "migrating" {
		t.Errorf("it is %s (%q), want unknown (migrating)", i.State, i.RawState)
	}
	b.pass(time.Minute)
	b.shows("a", fleet.StateRunning)
}

func TestAccountsSeeOnlyTheirOwn(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "lab"}, {Name: "home", Identity: "u-9"}}})
	b.MustAdd(sim.Spec{ID: "a", Account: "lab"})
	b.MustAdd(sim.Spec{ID: "b", Account: "home"})
	home := b.account("home")
	list, err := home.Instances(t.Context(), home.Scopes[0])
	b.must(err)
	if len(list) != 1 || list[0].Ref.ID != "b" {
		t.Errorf("home lists %v", list)
	}
	if _, err := home.Instance(t.Context(), fleet.Ref{ID: "a"}); !errors.Is(err, fleet.NotFound) {
		t.Errorf("home reads the lab's instance: %v", err)
	}
	if err := home.Stop(t.Context(), fleet.Instance{Ref: fleet.Ref{ID: "a"}}, providers.StopOptions{}); !errors.Is(err, fleet.NotFound) {
		t.Errorf("home stops the lab's instance: %v", err)
	}
	if id, err := home.Whoami(t.Context()); err != nil || id != "u-9" {
		t.Errorf("home is %q, %v", id, err)
	}
}

func TestOpeningWhatIsNotThereSaysWhatIs(t *testing.T) {
	b := setup(t, sim.Options{Accounts: []sim.Account{{Name: "home"}, {Name: "lab", Regions: []string{"north", "south"}}}})
	for name, c := range map[string]struct {
		o    providers.Options
		want string
	}{
		"no cloud":           {providers.Options{Account: "lab"}, "give a world file"},
		"an unknown account": {providers.Options{Account: "labb", World: b.Cloud}, "it has home, lab"},
		"an unknown region":  {providers.Options{Account: "lab", World: b.Cloud, Regions: []string{"west"}}, "it has north, south"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := sim.Kind().Open(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: b.Cloud, Regions: []string{"south"}})
	b.must(err)
	if diff := cmp.Diff([]fleet.Scope{{Account: "lab", Region: "south"}}, p.Scopes()); diff != "" {
		t.Errorf("scopes wanted (-) and got (+):\n%s", diff)
	}
}

func TestAReusedIDIsAnotherIncarnation(t *testing.T) {
	b := setup(t, sim.Options{Ways: sim.Ways{Incarnations: true}})
	old := b.MustAdd(sim.Spec{ID: "a", ReleasesRunning: true})
	if _, err := b.Add(sim.Spec{ID: "a"}); err == nil {
		t.Error("the id was given to a second instance while the first is there")
	}
	b.must(b.UserReleases("a"))
	b.pass(time.Minute)
	young := b.MustAdd(sim.Spec{ID: "a"})
	if old == young || old.Incarnation == "" {
		t.Fatalf("the references are %s and %s, want two incarnations", old, young)
	}
	if err := b.api.Stop(t.Context(), fleet.Instance{Ref: old}, providers.StopOptions{}); !errors.Is(err, fleet.NotFound) {
		t.Errorf("a stop of the old incarnation answers %v, want not found", err)
	}
	list, err := b.api.Instances(t.Context(), b.api.Scopes[0])
	b.must(err)
	if len(list) != 1 || list[0].Ref != young || list[0].State != fleet.StateRunning {
		t.Errorf("the list shows %v, want the young one running", list)
	}
}

func TestTheUsersHandShows(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", Labels: map[string]string{"old": "1"}})
	b.must(b.SetLabel("a", "curfew", "keep"))
	b.must(b.SetLabel("a", "old", ""))
	b.must(b.SetName("a", "renamed"))
	b.must(b.SetProtected("a", true))
	b.must(b.SetUnread("a", "labels"))
	i := b.read("a")
	if i.Labels["curfew"] != "keep" || len(i.Labels) != 1 || i.Name != "renamed" || !i.Protected || len(i.Unread) != 1 {
		t.Errorf("it is shown as %+v", i)
	}
	b.must(b.Remove("a"))
	if _, err := b.api.Instance(t.Context(), i.Ref); !errors.Is(err, fleet.NotFound) {
		t.Errorf("what vanished is still read: %v", err)
	}
	for name, err := range map[string]error{
		"start": b.UserStarts("none"), "label": b.SetLabel("none", "a", "b"), "remove a second time": b.Remove("a"),
	} {
		if err == nil {
			t.Errorf("%s of what is not there gives no error", name)
		}
	}
}

func TestManyHandsAtOnce(t *testing.T) {
	b := setup(t, sim.Options{Ways: sim.Ways{ForceStop: true}})
	for range 4 {
		b.MustAdd(sim.Spec{Price: fleet.CNY(1_000_000), Box: sim.Box{Logs: []sim.LogLine{{Path: "/log", Line: "x"}}}})
	}
	source := b.Source(time.Second, time.Second)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 20 {
				is, err := b.api.Instances(t.Context(), b.api.Scopes[0])
				if err != nil {
					t.Errorf("list: %v", err)
					return
				}
				if n == 0 {
					if _, err := source.Look(t.Context(), is); err != nil {
						t.Errorf("look: %v", err)
					}
				}
				_ = b.api.Stop(t.Context(), is[n%4], providers.StopOptions{})
				_ = b.SetLabel("sim-0001", "n", "1")
				_, _ = b.Bill(), b.Effects()
				_, _ = b.api.Balance(t.Context())
			}
		})
	}
	wg.Wait()
	if got := len(b.Effects()); got != 4 {
		t.Errorf("%d stops took effect, want each of four once", got)
	}
}

func TestACloudLivesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := sim.New(sim.Options{Now: time.Now, Accounts: []sim.Account{{Name: "lab"}}})
		cloud.MustAdd(sim.Spec{ID: "a"})
		p, err := sim.Kind().Open(providers.Options{Account: "lab", World: cloud})
		if err != nil {
			t.Fatal(err)
		}
		cloud.Break(sim.Fault{Kind: sim.Hang, Op: "balance"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = providers.Collect("lab", sim.Kind(), p).Balance(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a hanging call answers %v, want its deadline", err)
		}
		if err := cloud.UserStops("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if got := cloud.State("a"); got != fleet.StateStopped {
			t.Errorf("after the stop time it is %s", got)
		}
	})
}
