package observe

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/policies"
)

// fill gives every field of a value something of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 3, 1, 0, 0, *n, *n, time.UTC)
		return
	case *fleet.Reason:
		*x = fleet.Because("a.reason", fleet.Values{"n": fleet.Number(float64(*n))})
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for k := range v.NumField() {
			fill(v.Field(k), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		one := reflect.New(v.Type().Elem()).Elem()
		fill(one, n)
		v.Set(reflect.Append(v, one))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"key": fmt.Sprintf("value-%d", *n)}))
	}
}

// whole compares what is private, too.
var whole = cmp.Exporter(func(reflect.Type) bool { return true })

func TestNothingOfAThingIsLostInARecord(t *testing.T) {
	var full, odd store.Thing
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	odd.Instance.ReleasesAt = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	odd.Instance.StartedAt = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)
	for name, want := range map[string]store.Thing{"all of it": full, "nothing": {}, "times far away": odd} {
		t.Run(name, func(t *testing.T) {
			s := newShapes()
			p := s.instance(want, nil)
			if diff := cmp.Diff(want, p.thing(), whole); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
			if p.ref() != want.Instance.Ref {
				t.Errorf("its reference is %s", p.ref())
			}
			again := s.instance(p.thing(), p)
			if !again.same(p) || again.shape != p.shape {
				t.Error("the same again is another")
			}
		})
	}
}

func TestNothingOfAResourceIsLostInARecord(t *testing.T) {
	var full store.Resource
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for name, want := range map[string]store.Resource{"all of it": full, "nothing": {}} {
		t.Run(name, func(t *testing.T) {
			s := newShapes()
			p := s.resource(want, nil)
			if diff := cmp.Diff(want, p.record(), whole); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
			if p.ref() != want.Resource.Ref || p.sourceRef() != want.Resource.Source {
				t.Errorf("its reference is %s, its source %s", p.ref(), p.sourceRef())
			}
			if again := s.resource(p.record(), p); !again.same(p) || again.shape != p.shape {
				t.Error("the same again is another")
			}
		})
	}
}

func TestTwoThatDifferOnlyInWhatIsTheirOwnShareTheRest(t *testing.T) {
	s := newShapes()
	record := func(id, state string, labels map[string]string) *instance {
		return s.instance(store.Thing{Instance: fleet.Instance{
			Ref: ref(id), Name: "exp-" + id, State: fleet.State(state), Labels: labels, StartedAt: noon.Add(time.Duration(len(id)) * time.Hour),
		}}, nil)
	}
	a, b, c := record("a", "running", map[string]string{"team": "x"}), record("bb", "running", map[string]string{"team": "x"}), record("c", "stopped", nil)
	if a.shape != b.shape || a.shape == c.shape {
		t.Errorf("shapes: %p %p %p", a.shape, b.shape, c.shape)
	}
	if reflect.ValueOf(a.labels).Pointer() != reflect.ValueOf(b.labels).Pointer() {
		t.Error("labels that are alike are kept twice")
	}
	var i fleet.Instance
	b.fill(&i)
	if i.Ref.ID != "bb" || i.Name != "exp-bb" || !i.StartedAt.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("written out: %+v", i)
	}
}

func TestShapesThatAreTooManyAreForgotten(t *testing.T) {
	s := newShapes()
	for n := range shapesAtMost + 10 {
		s.instance(store.Thing{Instance: fleet.Instance{Ref: ref("a"), Owner: fmt.Sprint(n), Labels: map[string]string{"n": fmt.Sprint(n)}}}, nil)
	}
	if len(s.instances) > shapesAtMost || len(s.labels) > shapesAtMost {
		t.Errorf("%d shapes and %d labels are remembered", len(s.instances), len(s.labels))
	}
}

func TestASnapshotShowsInPartsWhatTheInventoryShows(t *testing.T) {
	w := newWatch(t)
	is := running("c", "a", "b", "e", "d")
	is[1].State = fleet.StateStopped
	w.poll(is)
	if err := w.shows(fleet.KindSnapshot, snapshots("b2", "a1", "b1", "c1", "a2", "a3"), nil); err != nil {
		t.Fatal(err)
	}
	image := fleet.Resource{Ref: thingRef(fleet.KindImage, "m"), Ready: true, Source: thingRef(fleet.KindSnapshot, "a2")}
	if err := w.shows(fleet.KindImage, []fleet.Resource{image}, nil); err != nil {
		t.Fatal(err)
	}
	s := w.Snapshot()
	w.poll(running("z")) // which changes nothing of it
	things, resources := w.Things(), w.Resources()
	for least := 1; least < 8; least++ {
		t.Run(fmt.Sprintf("in parts of %d", least), func(t *testing.T) {
			var b Buffer
			var got []string
			var written []fleet.Resource
			for _, p := range s.Parts(least) {
				part := b.Write(s, p)
				if len(part.Instances) > 0 && len(part.Resources) > 0 {
					t.Error("a part holds both")
				}
				for _, i := range part.Instances {
					got = append(got, i.Ref.ID+" "+string(i.State))
				}
				for _, r := range part.Resources {
					written = append(written, *r)
				}
				if len(part.Resources) > 0 && len(part.Lists) == 0 {
					t.Error("the lists are missing")
				}
				// A group is in one part.
				for _, r := range part.Resources {
					for _, o := range s.Group(r.Ref) {
						if !has(part, o.Ref) {
							t.Errorf("%s is in another part than %s", o.Ref, r.Ref)
						}
					}
				}
			}
			if diff := cmp.Diff([]string{"a stopped", "b running", "c running", "d running", "e running"}, got); diff != "" {
				t.Errorf("instances (-want +got):\n%s", diff)
			}
			var want []fleet.Resource
			for _, r := range resources.Resources {
				want = append(want, *r)
			}
			if diff := cmp.Diff(want, written); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
	up := 0
	for i := range s.Up() {
		if i.State != fleet.StateRunning {
			t.Errorf("%s is up", i.Ref)
		}
		up++
	}
	if instances, rs := s.Size(); instances != 5 || rs != 7 || up != 4 {
		t.Errorf("%d instances, %d of them up, and %d resources", instances, up, rs)
	}
	if !s.Has(thingRef(fleet.KindSnapshot, "a3")) || s.Has(thingRef(fleet.KindDisk, "a3")) || s.Group(thingRef(fleet.KindDisk, "a3")) != nil {
		t.Error("it does not know what is there")
	}
	for one := range s.Instances() {
		if !s.Has(one) {
			t.Errorf("%s is named, and not there", one)
		}
	}
	if s.Has(ref("z")) {
		t.Error("what came later is there")
	}
	if len(things.Instances) != 6 {
		t.Errorf("the inventory has %d", len(things.Instances))
	}
}

func has(part policies.Things, ref fleet.Ref) bool {
	for _, r := range part.Resources {
		if r.Ref == ref {
			return true
		}
	}
	return false
}
