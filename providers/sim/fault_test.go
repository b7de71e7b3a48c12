package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers/sim"
)

func TestFaultsAreCountedAndTold(t *testing.T) {
	b := setup(t, sim.Options{Seed: 7, Accounts: []sim.Account{{Name: "lab"}, {Name: "home"}}})
	b.MustAdd(sim.Spec{ID: "a"})
	b.MustAdd(sim.Spec{ID: "b"})
	list := func() ([]fleet.Instance, error) { return b.api.Instances(t.Context(), b.api.Scopes[0]) }

	t.Run("so many calls pass first, and so many fail", func(t *testing.T) {
		b.Break(sim.Fault{Kind: sim.RateLimit, Op: "instances", After: 1, Times: 2, RetryAfter: 9 * time.Second})
		var kinds []fleet.ErrorKind
		for range 4 {
			_, err := list()
			kinds = append(kinds, fleet.KindOf(err))
			if e, ok := errors.AsType[*fleet.Error](err); ok && e.RetryAfter != 9*time.Second {
				t.Errorf("the error says to come back in %s", e.RetryAfter)
			}
		}
		if diff := cmp.Diff([]fleet.ErrorKind{"", fleet.RateLimited, fleet.RateLimited, ""}, kinds); diff != "" {
			t.Errorf("kinds wanted (-) and got (+):\n%s", diff)
		}
	})
	t.Run("a fault of one account leaves the other alone", func(t *testing.T) {
		defer b.Mend()
		b.Break(sim.Fault{Kind: sim.Banned, Account: "lab"})
		if _, err := b.account("home").Balance(t.Context()); err != nil {
			t.Errorf("home fails with %v", err)
		}
		if _, err := b.api.Balance(t.Context()); !errors.Is(err, fleet.Banned) {
			t.Errorf("lab answers %v, want banned", err)
		}
	})
	t.Run("a fault may choose its calls", func(t *testing.T) {
		defer b.Mend()
		b.Break(sim.Fault{Kind: sim.Gone, When: func(op string, ref fleet.Ref) bool { return op == "instance" && ref.ID == "a" }})
		if _, err := b.api.Instance(t.Context(), fleet.Ref{ID: "a"}); !errors.Is(err, fleet.NotFound) {
			t.Errorf("a answers %v, want not found", err)
		}
		b.shows("b", fleet.StateRunning)
	})
	t.Run("lists may be empty or short without an error", func(t *testing.T) {
		defer b.Mend()
		b.Break(sim.Fault{Kind: sim.EmptyList, Times: 1})
		b.Break(sim.Fault{Kind: sim.ShortList, Times: 1})
		for _, want := range []int{0, 1, 2} {
			is, err := list()
			b.must(err)
			if len(is) != want {
				t.Errorf("the list has %d, want %d", len(is), want)
			}
		}
	})
	t.Run("chance comes from the seed", func(t *testing.T) {
		run := func() (out []bool) {
			b := setup(t, sim.Options{Seed: 42})
			b.Break(sim.Fault{Kind: sim.ServerError, Chance: 0.5})
			for range 40 {
				_, err := b.api.Balance(t.Context())
				out = append(out, err != nil)
			}
			return out
		}
		first := run()
		if diff := cmp.Diff(first, run()); diff != "" {
			t.Errorf("two clouds of one seed differ:\n%s", diff)
		}
		failed := 0
		for _, f := range first {
			if f {
				failed++
			}
		}
		if failed == 0 || failed == len(first) {
			t.Errorf("%d of %d calls failed at a chance of a half", failed, len(first))
		}
	})
	t.Run("an ignored write is accepted and does nothing", func(t *testing.T) {
		defer b.Mend()
		b.Break(sim.Fault{Kind: sim.Ignored, Op: "stop"})
		before := len(b.Effects())
		b.must(b.stop("a"))
		b.pass(time.Hour)
		b.shows("a", fleet.StateRunning)
		if len(b.Effects()) != before {
			t.Error("the write took effect")
		}
	})
}

func TestTheRecordTellsWhatWasCalledAndWhatTookEffect(t *testing.T) {
	b := setup(t, sim.Options{})
	ref := b.MustAdd(sim.Spec{ID: "a"})
	began := b.time
	b.Break(sim.Fault{Kind: sim.TimeoutAfter, Op: "stop", Times: 1})
	lost := b.stop("a")
	b.pass(time.Minute)
	b.must(b.UserStarts("a"))

	calls := b.Calls()
	if len(calls) != 1 || calls[0].Op != "stop" || calls[0].ID != "a" || calls[0].Account != "lab" ||
		!calls[0].At.Equal(began) || !errors.Is(calls[0].Err, fleet.OutcomeUnknown) || !errors.Is(lost, fleet.OutcomeUnknown) {
		t.Errorf("calls are %+v, want one stop of an unknown outcome", calls)
	}
	want := []sim.Effect{
		{At: began, Account: "lab", Op: "stop", Ref: ref, By: sim.ByAPI, Token: "t1"},
		{At: b.time, Account: "lab", Op: "start", Ref: ref, By: sim.ByUser},
	}
	if diff := cmp.Diff(want, b.Effects()); diff != "" {
		t.Errorf("effects wanted (-) and got (+):\n%s", diff)
	}
}

func TestTheHookMayCutAWriteBeforeAndAfterItsEffect(t *testing.T) {
	killed := errors.New("killed")
	for name, c := range map[string]struct {
		at      sim.Phase
		effects int
	}{
		"before it is sent nothing has happened": {sim.BeforeSend, 0},
		"after its effect all has happened":      {sim.AfterEffect, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, sim.Options{})
			b.MustAdd(sim.Spec{ID: "a"})
			var asked []sim.Phase
			b.OnWrite(func(op string, ref fleet.Ref, phase sim.Phase) error {
				_ = b.Calls() // the hook may call the cloud
				if op != "stop" || ref.ID != "a" {
					t.Errorf("asked about %s of %s", op, ref.ID)
				}
				asked = append(asked, phase)
				if phase == c.at {
					return killed
				}
				return nil
			})
			if err := b.stop("a"); err != killed { //nolint:errorlint // it is to come back as it is
				t.Errorf("the write answers %v, want the hook's own error", err)
			}
			if got := len(b.Effects()); got != c.effects {
				t.Errorf("%d writes took effect, want %d", got, c.effects)
			}
			if asked[len(asked)-1] != c.at {
				t.Errorf("asked at %v", asked)
			}
			b.OnWrite(nil)
			if c.effects == 0 {
				b.must(b.stop("a"))
			}
		})
	}
}
