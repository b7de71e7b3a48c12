package autodl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
)

// The double is made both ways round: nobody has said whether started_at moves
// when a power-on is accepted or when the instance runs.
func TestALifeInBoots(t *testing.T) {
	for _, accepted := range []bool{false, true} {
		name := "started_at moves when it runs"
		if accepted {
			name = "started_at moves when the power-on is accepted"
		}
		t.Run(name, func(t *testing.T) {
			b := setup(t, autodltest.Options{StartedOnAccept: accepted}, nil)
			id := b.cloud.Add(autodltest.Machine{Status: "creating"})
			if i := b.must(t, id); i.State != fleet.StateCreating || i.Boot != "" {
				t.Errorf("creating: %s in boot %q, want creating in none", i.State, i.Boot)
			}
			b.clock.pass(time.Minute)
			first := b.must(t, id)
			if first.State != fleet.StateRunning || first.Boot == "" || !first.StoppedAt.IsZero() {
				t.Fatalf("running: %+v", first)
			}
			b.clock.pass(time.Hour)
			if err := b.Stop(t.Context(), first, providers.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			if i := b.must(t, id); i.State != fleet.StateStopping || i.Boot != first.Boot {
				t.Errorf("shutting down: %s in boot %q, want stopping in %q", i.State, i.Boot, first.Boot)
			}
			b.clock.pass(time.Minute)
			off := b.must(t, id)
			if off.State != fleet.StateStopped || off.Boot != first.Boot {
				t.Errorf("shut down: %s in boot %q, want stopped in the boot that ended, %q", off.State, off.Boot, first.Boot)
			}
			if off.StoppedAt.IsZero() || !off.ReleasesAt.Equal(off.StoppedAt.Add(15*24*time.Hour)) {
				t.Errorf("shut down at %s, released at %s; want 15 days later", off.StoppedAt, off.ReleasesAt)
			}
			b.clock.pass(3 * time.Hour)
			if err := b.Start(t.Context(), off, providers.StartOptions{}); err != nil {
				t.Fatal(err)
			}
			if i := b.must(t, id); i.State != fleet.StateStarting || i.Boot == first.Boot || !i.StoppedAt.IsZero() || !i.ReleasesAt.IsZero() {
				t.Errorf("starting: %s in boot %q, stopped %s, released %s; want no trace of boot %q", i.State, i.Boot, i.StoppedAt, i.ReleasesAt, first.Boot)
			}
			b.clock.pass(time.Minute)
			second := b.must(t, id)
			if second.State != fleet.StateRunning || second.Boot == "" || second.Boot.Same(first.Boot) {
				t.Errorf("running again: %s in boot %q, want another than %q", second.State, second.Boot, first.Boot)
			}
			if !second.StoppedAt.IsZero() || !second.ReleasesAt.IsZero() {
				t.Errorf("running again, but stopped %s and released %s", second.StoppedAt, second.ReleasesAt)
			}
		})
	}
}

func TestListAndReadAgree(t *testing.T) {
	b := setup(t, autodltest.Options{}, func(o *providers.Options, _ *httpx.Options) {
		o.Prices = map[string]fleet.Money{"RTX 4090D": fleet.CNY(1_880_000)}
	})
	for _, status := range []string{"creating", "starting", "running", "shutting_down", "shutdown", "releasing", "failed", "???"} {
		b.cloud.Add(autodltest.Machine{Status: status, StoppedAt: noon.Add(-2 * time.Hour)})
	}
	is, err := b.Instances(t.Context(), b.Scopes()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range is {
		if diff := cmp.Diff(listed, b.must(t, listed.Ref.ID)); diff != "" {
			t.Errorf("%s: list (-) and read (+) differ:\n%s", listed.RawState, diff)
		}
	}
}

// Three instances polled each minute, a login read for each new boot, a wallet
// read every five minutes: what it costs, and that a modest budget never
// refuses any of it.
func TestADayOfPollingStaysFarBelowTheBudget(t *testing.T) {
	var counted *httpx.Budget
	var b bundle
	b = setup(t, autodltest.Options{}, func(_ *providers.Options, h *httpx.Options) {
		counted = httpx.NewBudget(httpx.Limits{PerMinute: 20, PerDay: 10000}, httpx.NewMemoryCounter(), func() time.Time { return b.clock.Now() })
		h.Budget = counted
	})
	for range 3 {
		b.cloud.Add(autodltest.Machine{})
	}
	known := map[fleet.Boot]bool{}
	for minute := range 24 * 60 {
		is, err := b.Instances(t.Context(), b.Scopes()[0])
		if err != nil || len(is) != 3 {
			t.Fatalf("minute %d: %d instances and %v", minute, len(is), err)
		}
		for _, i := range is {
			if boot := i.Boot + fleet.Boot(i.Ref.ID); !known[boot] {
				known[boot] = true
				if _, err := b.Access(t.Context(), i); err != nil {
					t.Fatalf("minute %d: %v", minute, err)
				}
			}
		}
		if minute%5 == 0 {
			if _, err := b.Balance(t.Context()); err != nil {
				t.Fatalf("minute %d: %v", minute, err)
			}
		}
		b.clock.pass(time.Minute)
	}
	if got, want := len(b.sent(0)), 24*60+3+24*12; got != want {
		t.Errorf("a day cost %d requests, want %d", got, want)
	}
	if _, day, err := counted.Used(t.Context()); err != nil || day > 2000 {
		t.Errorf("the budget counts %d a day (%v), want fewer than 2000 of 10000", day, err)
	}
}

func TestAccessFollowsEachBoot(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	id := b.cloud.Add(autodltest.Machine{})
	login := func() fleet.Access {
		t.Helper()
		a, err := b.Access(t.Context(), fleet.Instance{Ref: b.ref(id)})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := login()
	b.cloud.ShutdownInside(id)
	b.clock.pass(time.Minute)
	if _, err := b.Access(t.Context(), fleet.Instance{Ref: b.ref(id)}); fleet.KindOf(err) != fleet.Transient {
		t.Errorf("access to what is off: %v, want Transient", err)
	}
	if err := b.Start(t.Context(), b.must(t, id), providers.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(time.Minute)
	if second := login(); second.Port == first.Port || second.Password == first.Password {
		t.Errorf("port and password are %d, as before, though the double changed both", second.Port)
	}
}

func TestSingleReadsWorkWhicheverWayTheyAreWanted(t *testing.T) {
	for _, body := range []bool{false, true} {
		b := setup(t, autodltest.Options{BodyGET: body}, nil)
		id := b.cloud.Add(autodltest.Machine{})
		if got, err := b.status(t.Context(), id); err != nil || got != "running" {
			t.Errorf("body GET %t: status %q and %v", body, got, err)
		}
		if _, err := b.Access(t.Context(), fleet.Instance{Ref: b.ref(id)}); err != nil {
			t.Errorf("body GET %t: access: %v", body, err)
		}
		if _, err := b.status(t.Context(), "pro-none"); fleet.KindOf(err) != fleet.NotFound {
			t.Errorf("body GET %t: unknown instance: %v, want NotFound", body, err)
		}
	}
}
