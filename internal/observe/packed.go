package observe

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unique"

	"curfew/fleet"
	"curfew/internal/store"
)

// A hundred thousand instances are mostly alike. Of each only what is its own is kept;
// the rest is a shape that it shares with others, which is an instance without what is
// its own. Records are replaced and never changed, so that whoever reads may keep them.
type instance struct {
	shape           *fleet.Instance
	id, incarnation string
	name            string
	boot            fleet.Boot
	labels          map[string]string
	created         moment
	started         moment
	stopped         moment
	stops           moment
	releases        moment

	region                             unique.Handle[string] // of the scope that lists it
	first, seen, missing, absent, gone moment
	boots                              int32
	down                               bool
	question                           uint64 // the one that it was last seen by
}

// resource is what is known of a thing billed beside instances, kept in the same way.
type resource struct {
	shape            *fleet.Resource
	id, incarnation  string
	name             string
	attached, source string // the ids
	usedBy           []fleet.Ref
	labels           map[string]string
	size             int
	created          moment
	detached         moment
	unused           moment

	region                     unique.Handle[string]
	first, seen, missing, gone moment
}

// moment is a time in nanoseconds since 1970.
type moment int64

// never is no time, or one that is too far away to be put like this.
const never moment = math.MinInt64

// take moves a time out of a shape; one that does not fit stays there.
func take(t *time.Time) moment {
	if t.IsZero() || t.Year() < 1700 || t.Year() > 2200 {
		return never
	}
	m := moment(t.UnixNano())
	*t = time.Time{}
	return m
}

// at puts a time that is not too far away.
func at(t time.Time) moment { return take(&t) }

// put gives a shape its time back.
func put(m moment, t *time.Time) {
	if m != never {
		*t = time.Unix(0, int64(m)).UTC()
	}
}

func (m moment) time() time.Time {
	var t time.Time
	put(m, &t)
	return t
}

// shapes finds shapes and labels that are there already. One that no record has any
// more is forgotten when there are too many.
type shapes struct {
	instances map[string]*fleet.Instance
	resources map[string]*fleet.Resource
	labels    map[string]map[string]string
}

func newShapes() *shapes {
	return &shapes{instances: map[string]*fleet.Instance{}, resources: map[string]*fleet.Resource{}, labels: map[string]map[string]string{}}
}

// shapesAtMost is how many shapes are remembered for being found again.
const shapesAtMost = 50_000

// shared gives the shape that is like this one; known may be it.
func shared[T any](all map[string]*T, like T, known *T) *T {
	if known != nil && reflect.DeepEqual(like, *known) {
		return known
	}
	key, err := json.Marshal(like)
	if err != nil {
		return &like // which is then its own
	}
	if s, ok := all[string(key)]; ok {
		return s
	}
	if len(all) >= shapesAtMost {
		clear(all)
	}
	all[string(key)] = &like
	return &like
}

func (s *shapes) sharedLabels(labels, known map[string]string) map[string]string {
	switch {
	case len(labels) == 0:
		return labels
	case len(known) > 0 && maps.Equal(labels, known):
		return known
	}
	var key strings.Builder
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		key.WriteString(k + "\x00" + labels[k] + "\x00")
	}
	if have, ok := s.labels[key.String()]; ok && maps.Equal(labels, have) {
		return have
	}
	if len(s.labels) >= shapesAtMost {
		clear(s.labels)
	}
	s.labels[key.String()] = labels
	return labels
}

// instance keeps a thing; was is the record before, or nil.
func (s *shapes) instance(t store.Thing, was *instance) *instance {
	i := t.Instance
	p := &instance{
		id: i.Ref.ID, incarnation: i.Ref.Incarnation, name: i.Name, boot: i.Boot,
		created: take(&i.CreatedAt), started: take(&i.StartedAt), stopped: take(&i.StoppedAt), stops: take(&i.StopsAt), releases: take(&i.ReleasesAt),
		region: unique.Make(t.Region), boots: int32(t.Boots), down: t.Down, //nolint:gosec // nobody starts it two billion times
		first: take(&t.FirstSeen), seen: take(&t.SeenAt), missing: take(&t.MissingSince), absent: take(&t.NotFoundAt), gone: take(&t.GoneAt),
	}
	var shape *fleet.Instance
	var labels map[string]string
	if was != nil {
		shape, labels = was.shape, was.labels
	}
	p.labels = s.sharedLabels(i.Labels, labels)
	i.Ref.ID, i.Ref.Incarnation, i.Name, i.Boot, i.Labels = "", "", "", "", nil
	p.shape = shared(s.instances, i, shape)
	return p
}

// fill writes the instance out.
func (p *instance) fill(i *fleet.Instance) {
	*i = *p.shape
	i.Ref.ID, i.Ref.Incarnation, i.Name, i.Boot, i.Labels = p.id, p.incarnation, p.name, p.boot, p.labels
	put(p.created, &i.CreatedAt)
	put(p.started, &i.StartedAt)
	put(p.stopped, &i.StoppedAt)
	put(p.stops, &i.StopsAt)
	put(p.releases, &i.ReleasesAt)
}

func (p *instance) ref() fleet.Ref {
	ref := p.shape.Ref
	ref.ID, ref.Incarnation = p.id, p.incarnation
	return ref
}

// thing writes out all that is known of it.
func (p *instance) thing() store.Thing {
	t := store.Thing{
		Region: p.region.Value(), Boots: int(p.boots), Down: p.down,
		FirstSeen: p.first.time(), SeenAt: p.seen.time(), MissingSince: p.missing.time(), NotFoundAt: p.absent.time(), GoneAt: p.gone.time(),
	}
	p.fill(&t.Instance)
	return t
}

// there reports whether the thing is not gone.
func (p *instance) there() bool { return p.gone == never }

// scope is the one that lists it.
func (p *instance) scope() fleet.Scope {
	return fleet.Scope{Account: p.shape.Ref.Account, Region: p.region.Value()}
}

// same reports whether two records differ in nothing but when they were seen.
func (p *instance) same(o *instance) bool {
	a, b := *p, *o
	a.seen, b.seen, a.question, b.question = 0, 0, 0, 0
	return reflect.DeepEqual(a, b)
}

// resource keeps a resource; was is the record before, or nil.
func (s *shapes) resource(t store.Resource, was *resource) *resource {
	r := t.Resource
	p := &resource{
		id: r.Ref.ID, incarnation: r.Ref.Incarnation, name: r.Name, attached: r.AttachedTo.ID, source: r.Source.ID, usedBy: r.UsedBy, size: r.SizeGB,
		created: take(&r.CreatedAt), detached: take(&r.DetachedAt), unused: take(&r.UnusedSince),
		region: unique.Make(t.Region), first: take(&t.FirstSeen), seen: take(&t.SeenAt), missing: take(&t.MissingSince), gone: take(&t.GoneAt),
	}
	var shape *fleet.Resource
	var labels map[string]string
	if was != nil {
		shape, labels = was.shape, was.labels
	}
	p.labels = s.sharedLabels(r.Labels, labels)
	r.Ref.ID, r.Ref.Incarnation, r.Name, r.AttachedTo.ID, r.Source.ID, r.UsedBy, r.SizeGB, r.Labels = "", "", "", "", "", nil, 0, nil
	p.shape = shared(s.resources, r, shape)
	return p
}

// fill writes the resource out.
func (p *resource) fill(r *fleet.Resource) {
	*r = *p.shape
	r.Ref.ID, r.Ref.Incarnation, r.Name, r.SizeGB, r.Labels = p.id, p.incarnation, p.name, p.size, p.labels
	r.AttachedTo.ID, r.Source.ID, r.UsedBy = p.attached, p.source, p.usedBy
	put(p.created, &r.CreatedAt)
	put(p.detached, &r.DetachedAt)
	put(p.unused, &r.UnusedSince)
}

func (p *resource) ref() fleet.Ref {
	ref := p.shape.Ref
	ref.ID, ref.Incarnation = p.id, p.incarnation
	return ref
}

func (p *resource) sourceRef() fleet.Ref {
	ref := p.shape.Source
	ref.ID = p.source
	return ref
}

// known writes out all that is known of it.
func (p *resource) record() store.Resource {
	r := store.Resource{
		Region: p.region.Value(), FirstSeen: p.first.time(), SeenAt: p.seen.time(), MissingSince: p.missing.time(), GoneAt: p.gone.time(),
	}
	p.fill(&r.Resource)
	return r
}

func (p *resource) there() bool { return p.gone == never }

func (p *resource) scope() fleet.Scope {
	return fleet.Scope{Account: p.shape.Ref.Account, Region: p.region.Value()}
}

// same reports whether two records differ in nothing but when they were seen.
func (p *resource) same(o *resource) bool {
	a, b := *p, *o
	a.seen, b.seen = 0, 0
	return reflect.DeepEqual(a, b)
}

// record is something with a reference.
type record interface{ ref() fleet.Ref }

// compareTo orders a record and a reference as [fleet.CompareRefs] does.
func compareTo[R record](r R, ref fleet.Ref) int { return fleet.CompareRefs(r.ref(), ref) }

// lookup finds a record in those that are in the order of references.
func lookup[R record](in []R, ref fleet.Ref) (r R, ok bool) {
	at, ok := slices.BinarySearchFunc(in, ref, compareTo[R])
	if !ok {
		return r, false
	}
	return in[at], true
}

// replaced gives the records with some of them new, in order; those that were handed
// out before stay as they were.
func replaced[R record](in, changed []R) []R {
	byRef := func(a, b R) int { return fleet.CompareRefs(a.ref(), b.ref()) }
	slices.SortFunc(changed, byRef)
	out := make([]R, 0, len(in)+len(changed))
	for len(in) > 0 && len(changed) > 0 {
		switch c := byRef(in[0], changed[0]); {
		case c < 0:
			out, in = append(out, in[0]), in[1:]
		case c > 0:
			out, changed = append(out, changed[0]), changed[1:]
		default:
			out, in, changed = append(out, changed[0]), in[1:], changed[1:]
		}
	}
	return append(append(out, in...), changed...)
}

// inGroups orders resources as [policies.CompareGroups] does.
func inGroups(a, b *resource) int {
	if a.shape == b.shape { // nearly always
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.id, b.id), cmp.Compare(a.incarnation, b.incarnation))
	}
	return cmp.Or(
		cmp.Compare(a.shape.Ref.Account, b.shape.Ref.Account), cmp.Compare(a.shape.Ref.Kind, b.shape.Ref.Kind),
		fleet.CompareRefs(a.sourceRef(), b.sourceRef()),
		fleet.CompareRefs(a.ref(), b.ref()),
	)
}
