package providertest_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/providertest"
	"curfew/providers/sim"
)

var defect = flag.String("defect", "", "run the suite over an account with this defect")

const secret = "sk-canary-5f1e"

// open gives an account in a simulated cloud, seen through the decorators.
func open(t *testing.T, ds ...providers.Decorator) providertest.Fake {
	t.Helper()
	now := time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)
	cloud := sim.New(sim.Options{
		Now:      func() time.Time { return now },
		Accounts: []sim.Account{{Name: "lab", Regions: []string{"north", "south"}}},
	})
	p, err := sim.Kind().Open(providers.Options{Account: "lab", World: cloud})
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Fake{
		Account: providers.Collect("lab", sim.Kind(), p).With(ds...),
		Add: func(s fleet.Scope) fleet.Ref {
			return cloud.MustAdd(sim.Spec{Region: s.Region, Price: fleet.CNY(1_980_000)})
		},
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
		Secrets:   []string{secret},
	}
}

func lacks() map[providertest.Behaviour]string {
	return map[providertest.Behaviour]string{
		providertest.Pages:      "a list is one answer",
		providertest.ShortPages: "no total is told beside a list",
	}
}

// defects are mistakes an adapter could make, each with the check that must find
// it.
func defects() map[string]struct {
	check string
	spoil providers.Decorator
} {
	type d = struct {
		check string
		spoil providers.Decorator
	}
	write := func(a providers.Account, change func(stop func(context.Context, fleet.Instance, providers.StopOptions) error) func(context.Context, fleet.Instance, providers.StopOptions) error) providers.Account {
		a.Stop = change(a.Stop)
		return a
	}
	kind := func(from, to fleet.ErrorKind) providers.Decorator {
		return providers.Around(func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
			err := next(ctx)
			if fleet.KindOf(err) == from {
				return &fleet.Error{Op: "spoilt", Kind: to, Err: err}
			}
			return err
		})
	}
	return map[string]d{
		"capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			a.Disks = nil
			return a
		}},
		"scope ignored": {"each scope lists its own instances and no others", func(a providers.Account) providers.Account {
			list := a.Instances
			a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
				return list(ctx, fleet.Scope{Account: s.Account})
			}
			return a
		}},
		"read by another identity": {"a list and a single read name the same thing", func(a providers.Account) providers.Account {
			read := a.Instance
			a.Instance = func(ctx context.Context, r fleet.Ref) (fleet.Instance, error) {
				i, err := read(ctx, r)
				i.Ref.Incarnation = "2026"
				return i, err
			}
			return a
		}},
		"unknown word taken for stopped": {"a status word nobody knows is unknown in list and read", func(a providers.Account) providers.Account {
			read := a.Instance
			a.Instance = func(ctx context.Context, r fleet.Ref) (fleet.Instance, error) {
				i, err := read(ctx, r)
				if i.State == fleet.StateUnknown {
					i.State = fleet.StateStopped
				}
				return i, err
			}
			return a
		}},
		"not found is transient":    {"an id nobody has is not found", kind(fleet.NotFound, fleet.Transient)},
		"rate limit is transient":   {"a rate limit fails every read with its kind", kind(fleet.RateLimited, fleet.Transient)},
		"refusal is transient":      {"a bad credential fails every read with its kind", kind(fleet.Unauthorized, fleet.Transient)},
		"outcome taken for failure": {"a drop after effect fails every write with its kind, sent once", kind(fleet.OutcomeUnknown, fleet.Transient)},
		"garbled list is empty": {"a html fails every read with its kind", func(a providers.Account) providers.Account {
			list := a.Instances
			a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
				is, err := list(ctx, s)
				if fleet.KindOf(err) == fleet.Transient {
					return nil, nil
				}
				return is, err
			}
			return a
		}},
		"write sent again": {"a server error fails every write with its kind, sent once", func(a providers.Account) providers.Account {
			return write(a, func(stop func(context.Context, fleet.Instance, providers.StopOptions) error) func(context.Context, fleet.Instance, providers.StopOptions) error {
				return func(ctx context.Context, i fleet.Instance, o providers.StopOptions) error {
					err := stop(ctx, i, o)
					if fleet.KindOf(err) == fleet.OutcomeUnknown {
						_ = stop(ctx, i, o)
					}
					return err
				}
			})
		}},
		"stop does nothing": {"a stop ends in stopped, in list and read", func(a providers.Account) providers.Account {
			return write(a, func(func(context.Context, fleet.Instance, providers.StopOptions) error) func(context.Context, fleet.Instance, providers.StopOptions) error {
				return func(context.Context, fleet.Instance, providers.StopOptions) error { return nil }
			})
		}},
		"boot moves": {"the boot is told and stays while the power cycle lasts", func(a providers.Account) providers.Account {
			read := a.Instance
			n := 0
			a.Instance = func(ctx context.Context, r fleet.Ref) (fleet.Instance, error) {
				n++
				i, err := read(ctx, r)
				i.Boot = fleet.BootNumber(n)
				return i, err
			}
			return a
		}},
		"boot never moves": {"a stop and a start make another boot", func(a providers.Account) providers.Account {
			read := a.Instance
			a.Instance = func(ctx context.Context, r fleet.Ref) (fleet.Instance, error) {
				i, err := read(ctx, r)
				i.Boot = "n1"
				return i, err
			}
			return a
		}},
		"context ignored": {"a write whose context has ended has no effect", providers.Around(
			func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
				return next(context.WithoutCancel(ctx))
			})},
		"cut-off write taken for refused": {"a write cut off half-way has an unknown outcome", kind(fleet.OutcomeUnknown, fleet.Conflict)},
		"secret in an error": {"an id nobody has is not found", providers.Around(
			func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
				if err := next(ctx); err != nil {
					return &fleet.Error{Op: "spoilt", Kind: fleet.KindOf(err), Err: errors.Join(err, errors.New("sent "+secret))}
				}
				return nil
			})},
		"secret in an instance": {"no secret is in what is read", func(a providers.Account) providers.Account {
			list := a.Instances
			a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
				is, err := list(ctx, s)
				for n := range is {
					is[n].Labels = map[string]string{"password": secret}
				}
				return is, err
			}
			return a
		}},
		"goroutine left": {"an empty account lists nothing, without an error", providers.Around(
			func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
				go func() { select {} }()
				return next(ctx)
			})},
	}
}

func TestSuiteOverOneDefect(t *testing.T) {
	if *defect == "" {
		t.Skip("run by TestSuiteFindsDefects")
	}
	providertest.Run(t, providertest.Opts{
		Kind:  sim.Kind(),
		Open:  func(t *testing.T) providertest.Fake { return open(t, defects()[*defect].spoil) },
		Lacks: lacks(),
	})
}

// The suite is run over each defect in a process of its own, where it may fail.
func TestSuiteFindsDefects(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(defects())) {
		t.Run(name, func(t *testing.T) {
			check := strings.ReplaceAll(defects()[name].check, " ", "_")
			cmd := exec.CommandContext(t.Context(), self, "-defect="+name,
				"-test.run=^TestSuiteOverOneDefect$/^"+check+"$", "-test.count=1")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuiteOverOneDefect/"+check) {
				t.Errorf("the suite did not find it in %q (%v):\n%s", defects()[name].check, err, out)
			}
		})
	}
}
