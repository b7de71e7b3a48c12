package observe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/policies"
	"curfew/providers"
)

func thingRef(kind fleet.ThingKind, id string) fleet.Ref {
	return fleet.Ref{Account: "sim:lab", Kind: kind, ID: id}
}

func snapshots(ids ...string) []fleet.Resource {
	var out []fleet.Resource
	for _, id := range ids {
		out = append(out, fleet.Resource{Ref: thingRef(fleet.KindSnapshot, id), Ready: true, Source: thingRef(fleet.KindDisk, "d-"+id[:1])})
	}
	return out
}

// shown makes the platform show these resources of a kind.
func (w *watch) shows(kind fleet.ThingKind, rs []fleet.Resource, err error) error {
	w.t.Helper()
	a := w.account()
	a.Resources = map[fleet.ThingKind]providers.Lister{
		kind: func(_ context.Context, s fleet.Scope) ([]fleet.Resource, error) {
			if s.Account != "lab" {
				w.t.Errorf("the list of %s was asked for", s)
			}
			return rs, err
		},
	}
	return w.PollResources(w.t.Context(), a, "", kind)
}

func (w *watch) resourceIDs() []string {
	var out []string
	for _, r := range w.Resources().Resources {
		out = append(out, r.Ref.ID)
	}
	return out
}

func TestResourcesAreRememberedAndGoneAfterTwoLists(t *testing.T) {
	w := newWatch(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.shows(fleet.KindSnapshot, snapshots("b2", "a1", "b1"), nil))
	want := []string{"a1", "b1", "b2"} // by source
	if diff := cmp.Diff(want, w.resourceIDs()); diff != "" {
		t.Fatalf("listed (-want +got):\n%s", diff)
	}
	w.load()
	if diff := cmp.Diff(want, w.resourceIDs()); diff != "" {
		t.Fatalf("after a restart (-want +got):\n%s", diff)
	}
	w.now = w.now.Add(time.Minute)
	must(w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil))
	if !slices.Contains(w.resourceIDs(), "b2") {
		t.Error("one list that lacks it is no end")
	}
	w.now = w.now.Add(settle - time.Second)
	must(w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil))
	if !slices.Contains(w.resourceIDs(), "b2") {
		t.Error("a second one within the settle time is none either")
	}
	w.now = w.now.Add(time.Second)
	must(w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil))
	if slices.Contains(w.resourceIDs(), "b2") {
		t.Error("it is there for ever")
	}
	w.load()
	if diff := cmp.Diff([]string{"a1", "b1"}, w.resourceIDs()); diff != "" {
		t.Errorf("after another restart (-want +got):\n%s", diff)
	}
	t.Run("and comes back as another", func(t *testing.T) {
		w.now = w.now.Add(time.Hour)
		must(w.shows(fleet.KindSnapshot, snapshots("a1", "b1", "b2"), nil))
		r, ok := w.Resource(thingRef(fleet.KindSnapshot, "b2"))
		if !ok || !r.FirstSeen.Equal(w.now) {
			t.Errorf("there %v, first seen %s", ok, r.FirstSeen)
		}
	})
}

func TestAListThatShowsNothingIsDoubted(t *testing.T) {
	w := newWatch(t)
	if err := w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil); err != nil {
		t.Fatal(err)
	}
	began := w.now
	for w.now.Sub(began) < emptyPatience {
		w.now = w.now.Add(5 * time.Minute)
		if err := w.shows(fleet.KindSnapshot, nil, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(w.resourceIDs()); n != 2 {
			t.Fatalf("%d are left after %s", n, w.now.Sub(began))
		}
	}
	w.now = w.now.Add(5 * time.Minute)
	if err := w.shows(fleet.KindSnapshot, nil, nil); err != nil || len(w.resourceIDs()) != 0 {
		t.Errorf("%v are left, %v", w.resourceIDs(), err)
	}
	t.Run("but the last one of all ends as others do", func(t *testing.T) {
		w := newWatch(t)
		for _, shown := range [][]fleet.Resource{snapshots("a1"), nil, nil} {
			if err := w.shows(fleet.KindSnapshot, shown, nil); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(settle)
		}
		if len(w.resourceIDs()) != 0 {
			t.Errorf("%v are left", w.resourceIDs())
		}
	})
}

func TestABadListChangesNothing(t *testing.T) {
	two := snapshots("a1", "b1")
	other, nameless, foreign := two[1], two[1], two[1]
	other.Ref.Kind, nameless.Ref.ID, foreign.Ref.Account = fleet.KindDisk, "", "sim:other"
	for _, c := range []struct {
		name string
		list []fleet.Resource
		err  error
	}{
		{"an error", nil, &fleet.Error{Op: "list", Kind: fleet.Transient, Err: errors.New("no")}},
		{"twice the same", append(two, two[0]), nil},
		{"a thing of another kind", append(two[:1:1], other), nil},
		{"one without an id", append(two[:1:1], nameless), nil},
		{"one of another account", append(two[:1:1], foreign), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatch(t)
			if err := w.shows(fleet.KindSnapshot, two, nil); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Minute)
			if err := w.shows(fleet.KindSnapshot, c.list, c.err); err == nil {
				t.Error("it was taken")
			}
			w.load()
			things := w.Resources()
			if len(things.Resources) != 2 || len(things.Lists) != 1 || things.Lists[0].Failing.Code != ReasonPollFailed || !things.Lists[0].Since.Equal(w.now) {
				t.Errorf("%d things, lists %+v", len(things.Resources), things.Lists)
			}
			w.now = w.now.Add(time.Minute)
			if err := w.shows(fleet.KindSnapshot, two, nil); err != nil {
				t.Fatal(err)
			}
			if l := w.Resources().Lists[0]; !l.Failing.IsZero() || !l.At.Equal(w.now) {
				t.Errorf("after a good one: %+v", l)
			}
		})
	}
}

func TestUseIsRemembered(t *testing.T) {
	w := newWatch(t)
	disk := fleet.Resource{Ref: thingRef(fleet.KindDisk, "d"), Ready: true}
	see := func(change func(*fleet.Resource)) time.Time {
		t.Helper()
		now := disk
		change(&now)
		if err := w.shows(fleet.KindDisk, []fleet.Resource{now}, nil); err != nil {
			t.Fatal(err)
		}
		r, _ := w.Resource(disk.Ref)
		return r.Resource.UnusedSince
	}
	alone := func(*fleet.Resource) {}
	used := func(r *fleet.Resource) { r.AttachedTo = ref("a") }
	first := w.now
	if at := see(alone); !at.Equal(first) {
		t.Errorf("one that was never seen in use is unused since %s, want the first sight", at)
	}
	w.now = w.now.Add(time.Hour)
	w.load()
	if at := see(alone); !at.Equal(first) {
		t.Errorf("an hour later since %s", at)
	}
	if at := see(used); !at.IsZero() {
		t.Errorf("in use, and unused since %s", at)
	}
	w.now = w.now.Add(time.Hour)
	if at := see(alone); !at.Equal(w.now) {
		t.Errorf("after that since %s, want now", at)
	}
	told := noon.Add(-48 * time.Hour)
	if at := see(func(r *fleet.Resource) { r.DetachedAt = told }); !at.Equal(told) {
		t.Errorf("since %s, and the platform says %s", at, told)
	}
	if at := see(func(r *fleet.Resource) { r.Unread = []string{"attached_to"} }); !at.IsZero() {
		t.Errorf("nobody could tell, and it is unused since %s", at)
	}
}

func TestASnapshotIsUsedByTheImagesMadeOfIt(t *testing.T) {
	w := newWatch(t)
	if err := w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil); err != nil {
		t.Fatal(err)
	}
	image := fleet.Resource{Ref: thingRef(fleet.KindImage, "m"), Ready: true, Source: thingRef(fleet.KindSnapshot, "a1")}
	if err := w.shows(fleet.KindImage, []fleet.Resource{image}, nil); err != nil {
		t.Fatal(err)
	}
	of := func(id string) *fleet.Resource {
		for _, r := range w.Resources().Resources {
			if r.Ref == thingRef(fleet.KindSnapshot, id) {
				return r
			}
		}
		t.Fatalf("%s is not there", id)
		return nil
	}
	if r := of("a1"); !slices.Equal(r.UsedBy, []fleet.Ref{image.Ref}) || !r.UnusedSince.IsZero() {
		t.Errorf("used by %v, unused since %s", r.UsedBy, r.UnusedSince)
	}
	if r := of("b1"); len(r.UsedBy) != 0 || len(r.Unread) != 0 {
		t.Errorf("used by %v, unread %v", r.UsedBy, r.Unread)
	}
	if err := w.shows(fleet.KindImage, nil, &fleet.Error{Op: "images", Kind: fleet.Unauthorized}); err == nil {
		t.Fatal("no error")
	}
	for _, id := range []string{"a1", "b1"} {
		if r := of(id); !slices.Equal(r.Unread, []string{"used_by"}) {
			t.Errorf("nobody can list images, and of %s is unread only %v", id, r.Unread)
		}
	}
}

func TestReadingOneReadsItsList(t *testing.T) {
	w := newWatch(t)
	if err := w.shows(fleet.KindSnapshot, snapshots("a1", "b1"), nil); err != nil {
		t.Fatal(err)
	}
	asked := 0
	show := snapshots("a1", "b1")
	a := w.account()
	a.Resources = map[fleet.ThingKind]providers.Lister{fleet.KindSnapshot: func(context.Context, fleet.Scope) ([]fleet.Resource, error) {
		asked++
		return show, nil
	}}
	read := func() (fleet.Resource, bool, error) {
		return w.ReadResource(t.Context(), a, thingRef(fleet.KindSnapshot, "a1"), 2*time.Second)
	}
	w.now = w.now.Add(2 * time.Second)
	if r, gone, err := read(); err != nil || gone || r.Ref.ID != "a1" || asked != 0 {
		t.Errorf("a list that is fresh enough: %s, gone %v, %v, asked %d times", r.Ref, gone, err, asked)
	}
	w.now = w.now.Add(time.Second)
	if _, _, err := read(); err != nil || asked != 1 {
		t.Errorf("an older one: %v, asked %d times", err, asked)
	}
	show = snapshots("b1")
	w.now = w.now.Add(time.Minute)
	if _, gone, err := read(); !errors.Is(err, fleet.NotFound) || gone {
		t.Errorf("missing once: gone %v, %v", gone, err)
	}
	w.now = w.now.Add(settle)
	if _, gone, err := read(); !errors.Is(err, fleet.NotFound) || !gone {
		t.Errorf("missing twice: gone %v, %v", gone, err)
	}
	if _, _, err := w.ReadResource(t.Context(), a, thingRef(fleet.KindSnapshot, "never"), 0); !errors.Is(err, fleet.NotFound) {
		t.Errorf("one that was never seen: %v", err)
	}
}

func TestGroupsAreNeverCut(t *testing.T) {
	w := newWatch(t)
	if err := w.shows(fleet.KindSnapshot, snapshots("a1", "a2", "a3", "b1", "c1", "c2"), nil); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for some := range policies.Groups(w.Resources().Resources, 2) {
		sizes = append(sizes, len(some))
	}
	if diff := cmp.Diff([]int{3, 3}, sizes); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
