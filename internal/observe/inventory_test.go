package observe

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

const settle = 20 * time.Second

// watch is an inventory over a platform that answers what the test says.
type watch struct {
	*Inventory
	t     *testing.T
	store *store.Store
	path  string
	now   time.Time
	full  bool // the state cannot be written

	list   func() ([]fleet.Instance, error)
	single func(fleet.Ref) (fleet.Instance, error)
}

func newWatch(t *testing.T) *watch {
	t.Helper()
	w := &watch{t: t, path: filepath.Join(t.TempDir(), "curfew.db"), now: noon}
	w.load()
	t.Cleanup(func() { _ = w.store.Close() })
	return w
}

// load starts the observer over what the state remembers.
func (w *watch) load() {
	w.t.Helper()
	var err error
	if w.store != nil {
		if err := w.store.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	clock := func() time.Time { return w.now }
	full := func(p store.Phase, _ bool) error {
		if w.full && p == store.BeforeCommit {
			return errFull
		}
		return nil
	}
	if w.store, err = store.Open(w.t.Context(), store.Options{DSN: "sqlite:" + w.path, Now: clock, OnCommit: full}); err != nil {
		w.t.Fatal(err)
	}
	if w.Inventory, err = Load(w.t.Context(), w.store, clock); err != nil {
		w.t.Fatal(err)
	}
}

var errFull = errors.New("database or disk is full")

func (w *watch) account() providers.Account {
	return providers.Account{
		Name: "lab", Identity: "sim:lab", Kind: providers.Kind{Name: "sim", SettleTime: settle},
		Instances: func(_ context.Context, s fleet.Scope) ([]fleet.Instance, error) {
			if s.Account != "lab" {
				w.t.Errorf("the list of %s was asked for", s)
			}
			return w.list()
		},
		Instance: func(_ context.Context, r fleet.Ref) (fleet.Instance, error) { return w.single(r) },
	}
}

func running(ids ...string) []fleet.Instance {
	var out []fleet.Instance
	for _, id := range ids {
		out = append(out, fleet.Instance{Ref: ref(id), State: fleet.StateRunning})
	}
	return out
}

func notFound(r fleet.Ref) (fleet.Instance, error) {
	return fleet.Instance{}, &fleet.Error{Op: "read " + r.ID, Kind: fleet.NotFound}
}

// poll lets the platform list these instances.
func (w *watch) poll(is []fleet.Instance) {
	w.t.Helper()
	w.list = func() ([]fleet.Instance, error) { return is, nil }
	if err := w.Poll(w.t.Context(), w.account(), ""); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watch) ids() string {
	var ids []string
	for _, i := range w.Things().Instances {
		ids = append(ids, i.Ref.ID)
	}
	return strings.Join(ids, " ")
}

// read asks the platform about one instance and gives whether it is gone.
func (w *watch) read(id string) (bool, error) {
	w.t.Helper()
	_, gone, err := w.Read(w.t.Context(), w.account(), ref(id))
	return gone, err
}

func TestAPollTakesTheWholeListOrNothing(t *testing.T) {
	other := running("b")
	other[0].Ref.Account = "sim:other"
	for _, c := range []struct {
		name string
		list []fleet.Instance
		err  error
		kind fleet.ErrorKind
		says string
	}{
		{"an error", nil, &fleet.Error{Op: "list", Kind: fleet.Transient}, fleet.Transient, "transient"},
		{"an error with a part of the list", running("c"), &fleet.Error{Op: "list", Kind: fleet.Transient}, fleet.Transient, "transient"},
		{"lost rights", nil, &fleet.Error{Op: "list", Kind: fleet.Unauthorized}, fleet.Unauthorized, "unauthorized"},
		{"a list that names one twice", running("c", "a", "c"), nil, fleet.Other, "twice"},
		{"a list that names one without an id", append(running("c"), fleet.Instance{Ref: fleet.Ref{Account: "sim:lab"}, Name: "exp"}), nil, fleet.Other, "without an id"},
		{"a list of another account", append(running("c"), other...), nil, fleet.Other, "another account"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatch(t)
			w.poll(running("a", "b"))
			w.now = noon.Add(time.Minute)
			w.list = func() ([]fleet.Instance, error) { return c.list, c.err }
			for range 2 {
				err := w.Poll(t.Context(), w.account(), "")
				if fleet.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v", err)
				}
				w.now = w.now.Add(time.Minute)
			}
			if got := w.ids(); got != "a b" {
				t.Errorf("known are %q", got)
			}
			scope := w.Things().Scopes[0]
			if !scope.At.Equal(noon) || scope.Failing.Code != ReasonPollFailed || !scope.Since.Equal(noon.Add(time.Minute)) {
				t.Errorf("the scope says %+v", scope)
			}
			if n := len(w.Missing("sim:lab", w.now)); n != 0 {
				t.Errorf("%d are missing after a list that failed", n)
			}
			w.poll(running("a", "b"))
			want := policies.ScopeState{Scope: fleet.Scope{Account: "sim:lab"}, At: w.now}
			if diff := cmp.Diff([]policies.ScopeState{want}, w.Things().Scopes); diff != "" {
				t.Errorf("after a good list (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPollThatIsBrokenOffSaysNothingOfTheScope(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a"))
	ctx, cancel := context.WithCancel(t.Context())
	w.list = func() ([]fleet.Instance, error) { cancel(); return nil, context.Canceled }
	if err := w.Poll(ctx, w.account(), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if s := w.Things().Scopes[0]; !s.Failing.IsZero() {
		t.Errorf("the scope says %+v", s)
	}
}

func TestWhatCannotBeRememberedIsNotKnown(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a"))
	w.full = true
	w.list = func() ([]fleet.Instance, error) { return running("a", "b"), nil }
	if err := w.Poll(t.Context(), w.account(), ""); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	w.single = func(r fleet.Ref) (fleet.Instance, error) {
		return fleet.Instance{Ref: r, State: fleet.StateStopped}, nil
	}
	if _, err := w.read("a"); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if got, _ := w.Get(ref("a")); got.Instance.State != fleet.StateRunning || w.ids() != "a" {
		t.Errorf("known are %q, a is %s", w.ids(), got.Instance.State)
	}
	w.full = false
	w.poll(running("a", "b"))
	if got := w.ids(); got != "a b" {
		t.Errorf("after space came back known are %q", got)
	}
}

func TestMissingIsNotGone(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a", "b"))
	for n := range 100 {
		w.now = noon.Add(time.Duration(n+1) * time.Minute)
		w.poll(running("a"))
	}
	if got := w.ids(); got != "a b" {
		t.Fatalf("after a hundred lists without it known are %q", got)
	}
	missing := w.Missing("sim:lab", w.now)
	if len(missing) != 1 || missing[0].Instance.Ref != ref("b") || !missing[0].MissingSince.Equal(noon.Add(time.Minute)) {
		t.Errorf("missing: %+v", missing)
	}
	if n := len(w.Missing("sim:lab", noon)); n != 0 {
		t.Errorf("%d were missing before they were", n)
	}
	if n := len(w.Missing("sim:other", w.now)); n != 0 {
		t.Errorf("%d are missing in another account", n)
	}
	w.load()
	if n := len(w.Missing("sim:lab", w.now)); n != 1 {
		t.Errorf("after a restart %d are missing", n)
	}
	w.poll(running("a", "b"))
	if n := len(w.Missing("sim:lab", w.now)); n != 0 {
		t.Errorf("%d are missing though they are listed", n)
	}
}

func TestRegionsAreListedApart(t *testing.T) {
	w := newWatch(t)
	in := func(region string, is []fleet.Instance) {
		w.list = func() ([]fleet.Instance, error) { return is, nil }
		if err := w.Poll(t.Context(), w.account(), region); err != nil {
			t.Fatal(err)
		}
	}
	in("cn-1", running("a"))
	in("cn-2", running("b"))
	w.now = noon.Add(time.Minute)
	in("cn-2", nil)
	missing := w.Missing("sim:lab", w.now)
	if len(missing) != 1 || missing[0].Instance.Ref != ref("b") {
		t.Errorf("missing: %+v", missing)
	}
	w.list = func() ([]fleet.Instance, error) { return nil, &fleet.Error{Kind: fleet.Transient} }
	if err := w.Poll(t.Context(), w.account(), "cn-1"); err == nil {
		t.Fatal("no error")
	}
	for _, s := range w.Things().Scopes {
		if failing := !s.Failing.IsZero(); failing != (s.Scope.Region == "cn-1") {
			t.Errorf("%s failing: %v", s.Scope, failing)
		}
	}
}

// TestGone says step by step what makes a thing gone.
func TestGone(t *testing.T) {
	type step struct {
		after time.Duration
		do    string // read, list, list with it, find, fail
		gone  bool
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"two not-founds, settle time apart, with a good list between", []step{{0, "list", false}, {0, "read", false}, {10 * time.Second, "list", false}, {10 * time.Second, "read", true}}},
		{"one not-found is not enough, however late", []step{{0, "list", false}, {time.Hour, "read", false}}},
		{"nor are two too soon", []step{{0, "read", false}, {10 * time.Second, "list", false}, {9 * time.Second, "read", false}, {time.Second, "read", true}}},
		{"nor two without a list between", []step{{0, "list", false}, {0, "read", false}, {time.Hour, "read", false}, {time.Second, "list", false}, {time.Second, "read", true}}},
		{"a list that fails is none", []step{{0, "read", false}, {10 * time.Second, "fail", false}, {time.Hour, "read", false}}},
		{"a list that shows it begins anew", []step{{0, "read", false}, {30 * time.Second, "list with it", false}, {time.Second, "read", false}, {30 * time.Second, "list", false}, {time.Second, "read", true}}},
		{"a read that finds it begins anew", []step{{0, "read", false}, {10 * time.Second, "find", false}, {30 * time.Second, "list", false}, {time.Second, "read", false}, {30 * time.Second, "list", false}, {time.Second, "read", true}}},
		{"a clock that was set back begins anew", []step{{0, "read", false}, {10 * time.Second, "list", false}, {-5 * time.Hour, "read", false}, {30 * time.Second, "read", false}, {time.Second, "list", false}, {time.Second, "read", true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatch(t)
			w.poll(running("a", "b"))
			w.now = w.now.Add(time.Hour)
			for n, s := range c.steps {
				w.now = w.now.Add(s.after)
				gone := false
				switch s.do {
				case "list":
					w.poll(running("a"))
				case "list with it":
					w.poll(running("a", "b"))
				case "fail":
					w.list = func() ([]fleet.Instance, error) { return nil, errors.New("down") }
					if w.Poll(t.Context(), w.account(), "") == nil {
						t.Fatal("no error")
					}
				case "find":
					w.single = func(r fleet.Ref) (fleet.Instance, error) {
						return fleet.Instance{Ref: r, State: fleet.StateRunning}, nil
					}
					if _, err := w.read("b"); err != nil {
						t.Fatal(err)
					}
				case "read":
					w.single = notFound
					var err error
					if gone, err = w.read("b"); fleet.KindOf(err) != fleet.NotFound {
						t.Fatalf("step %d: %v", n+1, err)
					}
				}
				if gone != s.gone {
					t.Fatalf("step %d (%s): gone %v, want %v", n+1, s.do, gone, s.gone)
				}
				if _, known := w.Get(ref("b")); known == s.gone {
					t.Errorf("step %d (%s): known %v", n+1, s.do, known)
				}
			}
		})
	}
}

func TestWhatIsGoneStaysGoneUntilItIsShownAgain(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a"))
	w.single = notFound
	for range 2 {
		w.now = w.now.Add(time.Minute)
		if _, err := w.read("a"); fleet.KindOf(err) != fleet.NotFound {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Minute)
		w.poll(nil)
	}
	w.load()
	if gone, _ := w.read("a"); !gone || w.ids() != "" {
		t.Fatalf("after a restart: gone %v, known are %q", gone, w.ids())
	}
	stopped := running("a")
	stopped[0].State = fleet.StateStopped
	w.now = w.now.Add(time.Minute)
	w.poll(stopped)
	got, ok := w.Get(ref("a"))
	if !ok || got.Instance.Boot != "n2" || !got.FirstSeen.Equal(w.now) || !got.GoneAt.IsZero() || !got.NotFoundAt.IsZero() {
		t.Errorf("shown again: %+v, %v", got, ok)
	}
	w.single = func(r fleet.Ref) (fleet.Instance, error) {
		return fleet.Instance{Ref: r, State: fleet.StateStopped}, nil
	}
	if gone, err := w.read("a"); gone || err != nil {
		t.Errorf("read again: gone %v (%v)", gone, err)
	}
}

func TestAnAnswerAboutAnotherThingIsNone(t *testing.T) {
	w := newWatch(t)
	one := running("a")
	one[0].Ref.Incarnation = "1"
	w.poll(one)
	for _, c := range []struct {
		name string
		got  fleet.Ref
		kind fleet.ErrorKind
	}{
		{"another id", fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: "b", Incarnation: "1"}, fleet.Other},
		{"nothing", fleet.Ref{}, fleet.Other},
		{"the same id given to another", fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: "a", Incarnation: "2"}, fleet.NotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.single = func(fleet.Ref) (fleet.Instance, error) {
				return fleet.Instance{Ref: c.got, State: fleet.StateStopped}, nil
			}
			i, gone, err := w.Read(t.Context(), w.account(), one[0].Ref)
			if fleet.KindOf(err) != c.kind || gone {
				t.Errorf("gone %v, %v", gone, err)
			}
			if c.kind == fleet.Other && !i.Ref.IsZero() {
				t.Errorf("it gave %+v", i)
			}
			if got, _ := w.Get(one[0].Ref); got.Instance.State != fleet.StateRunning {
				t.Errorf("it is taken for %s", got.Instance.State)
			}
		})
	}
}

func TestAReadOfWhatWasNeverSeen(t *testing.T) {
	w := newWatch(t)
	w.single = notFound
	if gone, err := w.read("a"); gone || fleet.KindOf(err) != fleet.NotFound {
		t.Errorf("gone %v (%v)", gone, err)
	}
	w.single = func(r fleet.Ref) (fleet.Instance, error) {
		return fleet.Instance{Ref: r, State: fleet.StateReleased}, nil
	}
	if gone, err := w.read("a"); !gone || err != nil {
		t.Errorf("shown as released: gone %v (%v)", gone, err)
	}
}

// TestAnAnswerThatComesLateIsOlderNews lets a read overtake a list and another
// read, on a platform that does not tell its boots: taken in the wrong order, the
// older answer would look like a start.
func TestAnAnswerThatComesLateIsOlderNews(t *testing.T) {
	stopped := func(r fleet.Ref) (fleet.Instance, error) {
		return fleet.Instance{Ref: r, State: fleet.StateStopped}, nil
	}
	state := func(w *watch) string {
		got, _ := w.Get(ref("a"))
		return string(got.Instance.Boot) + " " + got.Instance.State.String()
	}
	t.Run("a list", func(t *testing.T) {
		w := newWatch(t)
		w.poll(running("a", "b"))
		w.list = func() ([]fleet.Instance, error) {
			old := running("a") // as it was when the list was made; b is not in it
			w.single = stopped
			for _, id := range []string{"a", "b"} {
				if _, err := w.read(id); err != nil {
					t.Error(err)
				}
			}
			return old, nil
		}
		if err := w.Poll(t.Context(), w.account(), ""); err != nil {
			t.Fatal(err)
		}
		if got := state(w); got != "n1 stopped" {
			t.Errorf("it is %s", got)
		}
		if n := len(w.Missing("sim:lab", w.now)); n != 0 {
			t.Error("one that a newer read has shown is missing")
		}
		w.poll(running("a"))
		if got := state(w); got != "n2 running" {
			t.Errorf("after the next list it is %s", got)
		}
	})
	t.Run("a read", func(t *testing.T) {
		w := newWatch(t)
		w.poll(running("a"))
		w.single = func(r fleet.Ref) (fleet.Instance, error) {
			w.single = stopped
			if _, err := w.read("a"); err != nil {
				t.Error(err)
			}
			return fleet.Instance{Ref: r, State: fleet.StateRunning}, nil
		}
		i, gone, err := w.Read(t.Context(), w.account(), ref("a"))
		if err != nil || gone || i.State != fleet.StateStopped || i.Boot != "n1" {
			t.Errorf("the late one gives %s %s, gone %v (%v)", i.Boot, i.State, gone, err)
		}
		if got := state(w); got != "n1 stopped" {
			t.Errorf("it is %s", got)
		}
	})
	t.Run("a not-found", func(t *testing.T) {
		w := newWatch(t)
		w.poll(running("a"))
		w.single = func(r fleet.Ref) (fleet.Instance, error) {
			w.single = stopped
			if _, err := w.read("a"); err != nil {
				t.Error(err)
			}
			return notFound(r)
		}
		if gone, err := w.read("a"); gone || fleet.KindOf(err) != fleet.NotFound {
			t.Errorf("gone %v (%v)", gone, err)
		}
		if got, _ := w.Get(ref("a")); !got.NotFoundAt.IsZero() {
			t.Error("the late not-found is remembered")
		}
	})
	t.Run("whatever the clock does", func(t *testing.T) {
		w := newWatch(t)
		w.poll(running("a"))
		w.now = noon.Add(-5 * time.Hour)
		off := running("a")
		off[0].State = fleet.StateStopped
		w.poll(off)
		if got := state(w); got != "n1 stopped" {
			t.Errorf("it is %s", got)
		}
	})
}

// TestTheInventoryIsReadInsideATransaction lets policies be asked in a
// transaction while polls wait to write: none may wait for the other for ever.
func TestTheInventoryIsReadInsideATransaction(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a"))
	w.list = func() ([]fleet.Instance, error) { return running("a", "b"), nil }
	w.single = func(r fleet.Ref) (fleet.Instance, error) {
		return fleet.Instance{Ref: r, State: fleet.StateStopped}, nil
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := w.Poll(t.Context(), w.account(), ""); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, _, err := w.Read(t.Context(), w.account(), ref("a")); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			err := w.store.Update(t.Context(), func(*store.Tx) error {
				if len(w.Things().Instances) == 0 {
					t.Error("nothing is known")
				}
				w.Get(ref("a"))
				w.Missing("sim:lab", noon)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	w := newWatch(t)
	w.poll(running("a", "b"))
	segments := func() int {
		ss, err := w.store.Segments(t.Context(), ref("a"))
		if err != nil {
			t.Fatal(err)
		}
		return len(ss)
	}
	before := segments()
	w.now = noon.Add(time.Minute)
	w.poll(running("a", "b"))
	if got := segments(); got != before {
		t.Errorf("history grew from %d to %d", before, got)
	}
	if got, _ := w.Get(ref("a")); !got.SeenAt.Equal(w.now) {
		t.Errorf("it was last seen at %s", got.SeenAt)
	}
	stored, err := w.store.Things(t.Context())
	if err != nil || !stored[0].SeenAt.Equal(noon) {
		t.Errorf("it was written though nothing changed: %s (%v)", stored[0].SeenAt, err)
	}
}

func TestThingsComeInOrderAndAreThoseOfTheMoment(t *testing.T) {
	w := newWatch(t)
	w.poll(running("c", "a", "b"))
	first := w.Things().Instances
	w.poll(running("c", "a", "b", "aa"))
	if got := w.ids(); got != "a aa b c" {
		t.Errorf("order %q", got)
	}
	if len(first) != 3 {
		t.Errorf("a list that was given away has grown to %d", len(first))
	}
}

func TestOnlyScopesOfInterestAreShown(t *testing.T) {
	w := newWatch(t)
	for region, id := range map[string]string{"one": "a", "two": "b"} {
		w.list = func() ([]fleet.Instance, error) { return running(id), nil }
		if err := w.Poll(t.Context(), w.account(), region); err != nil {
			t.Fatal(err)
		}
	}
	w.Limit(func(s fleet.Scope) bool { return s == fleet.Scope{Account: "sim:lab", Region: "one"} })
	if got := w.ids(); got != "a" {
		t.Errorf("shown are %q", got)
	}
	if _, ok := w.Get(ref("b")); !ok {
		t.Error("what is not shown is forgotten")
	}
	w.Limit(nil)
	if got := w.ids(); got != "a b" {
		t.Errorf("without a limit shown are %q", got)
	}
}
