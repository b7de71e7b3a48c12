package providertest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

// pageSize is how many things the fake's account reads at a time.
const pageSize = 2

// open gives an account in a simulated cloud, read in pages, seen through the
// decorators.
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
	added := tally{cloud: cloud}
	return providertest.Fake{
		Account: added.paged(providers.Collect("lab", sim.Kind(), p)).With(ds...),
		Add: func(s fleet.Scope) fleet.Ref {
			return added.note(s, cloud.MustAdd(sim.Spec{Region: s.Region, Price: fleet.CNY(1_980_000)}))
		},
		AddResource: func(s fleet.Scope, kind fleet.ThingKind) fleet.Ref {
			id := fmt.Sprintf("%s-%d", kind, len(added.all))
			return added.note(s, cloud.MustAddResource(kind, sim.Resource{ID: id, Region: s.Region, Price: fleet.CNY(20_000)}))
		},
		Use: cloud.MustUse,
		AddBill: func(b fleet.BillItem) {
			added.bill = append(added.bill, b)
			if err := cloud.Charge("lab", b); err != nil {
				t.Fatal(err)
			}
		},
		Stock: func(model string, n int) {
			_ = cloud.Offer(sim.Good{ID: model, Region: "north", GPU: sim.GPU{Model: model}, Price: fleet.CNY(1_980_000)}) // it may be there by now
			if err := cloud.SetStock(model, n); err != nil {
				t.Fatal(err)
			}
		},
		Model: "RTX 4090",
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
		PageSize:  pageSize,
		UnknownID: "sim-9999",
		Secrets:   []string{secret},
	}
}

// tally remembers what was added where, so that a list has a total.
type tally struct {
	cloud *sim.Cloud
	all   []addition
	bill  []fleet.BillItem
}

type addition struct {
	scope fleet.Scope
	ref   fleet.Ref
}

func (y *tally) note(s fleet.Scope, ref fleet.Ref) fleet.Ref {
	y.all = append(y.all, addition{s, ref})
	return ref
}

func (y *tally) total(s fleet.Scope, kind fleet.ThingKind) int {
	n := 0
	for _, a := range y.all {
		there := kind == fleet.KindInstance && y.cloud.State(a.ref.ID) != fleet.StateReleased || y.cloud.Exists(a.ref)
		if a.ref.Kind == kind && a.scope == s && there {
			n++
		}
	}
	return n
}

// paged makes the account read every list in pages and hold it against its total.
func (y *tally) paged(a providers.Account) providers.Account {
	a.Instances = inPages(a.Instances, func(s fleet.Scope) int { return y.total(s, fleet.KindInstance) })
	for kind, list := range a.Resources {
		a.Resources[kind] = inPages(list, func(s fleet.Scope) int { return y.total(s, kind) })
	}
	bill := a.BillItems
	a.BillItems = func(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error) {
		list := func(ctx context.Context, _ fleet.Scope) ([]fleet.BillItem, error) { return bill(ctx, from, to) }
		return inPages(list, func(fleet.Scope) int {
			n := 0
			for _, b := range y.bill {
				if !b.From.Before(from) && b.From.Before(to) {
					n++
				}
			}
			return n
		})(ctx, fleet.Scope{})
	}
	return a
}

func inPages[T any](list func(context.Context, fleet.Scope) ([]T, error), total func(fleet.Scope) int) func(context.Context, fleet.Scope) ([]T, error) {
	return func(ctx context.Context, s fleet.Scope) ([]T, error) {
		var out []T
		for {
			all, err := list(ctx, s) // each page is a request of its own
			if err != nil {
				return nil, err
			}
			if len(all) < total(s) {
				return nil, &fleet.Error{Op: "list " + s.String(), Kind: fleet.Transient, Err: errors.New("the list ends before its total")}
			}
			if len(all)-len(out) <= pageSize {
				return append(out, all[len(out):]...), nil
			}
			out = append(out, all[len(out):][:pageSize]...)
		}
	}
}

func TestTheSuitePassesOverAnAccountReadInPages(t *testing.T) {
	providertest.Run(t, providertest.Opts{Kind: sim.Kind(), Open: func(t *testing.T) providertest.Fake { return open(t) }})
}

// mistake is one that an adapter could make, with the check that must find it.
type mistake struct {
	check string
	spoil providers.Decorator
}

func defects() map[string]mistake {
	write := func(a providers.Account, change func(stop func(context.Context, fleet.Instance, providers.StopOptions) error) func(context.Context, fleet.Instance, providers.StopOptions) error) providers.Account {
		a.Stop = change(a.Stop)
		return a
	}
	kind := misread
	all := map[string]mistake{
		"capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			delete(a.Resources, fleet.KindDisk)
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
		"renewal of what has no period": {"only a period is told to be renewed", func(a providers.Account) providers.Account {
			read := a.Instance
			a.Instance = func(ctx context.Context, r fleet.Ref) (fleet.Instance, error) {
				i, err := read(ctx, r)
				i.Charge.AutoRenew = fleet.No
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
	maps.Copy(all, resourceDefects())
	maps.Copy(all, deletionDefects())
	maps.Copy(all, savingDefects())
	maps.Copy(all, billDefects())
	maps.Copy(all, stockDefects())
	maps.Copy(all, orderDefects())
	return all
}

// misread takes errors of one kind for another.
func misread(from, to fleet.ErrorKind) providers.Decorator {
	return providers.Around(func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
		err := next(ctx)
		if fleet.KindOf(err) == from {
			return &fleet.Error{Op: "spoilt", Kind: to, Err: err}
		}
		return err
	})
}

func TestSuiteOverOneDefect(t *testing.T) {
	if *defect == "" {
		t.Skip("run by TestSuiteFindsDefects")
	}
	providertest.Run(t, providertest.Opts{
		Kind: sim.Kind(),
		Open: func(t *testing.T) providertest.Fake { return open(t, defects()[*defect].spoil) },
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
