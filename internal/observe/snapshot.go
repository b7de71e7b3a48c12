package observe

import (
	"iter"

	"curfew/fleet"
	"curfew/policies"
)

// Snapshot is the inventory at one moment, to be looked at one after the other: nothing
// of it is written out before somebody looks, and what comes later does not change it.
type Snapshot struct {
	Scopes []policies.ScopeState
	Lists  []policies.ListState

	instances []*instance // in the order of references
	resources []listed    // in groups
}

// Snapshot gives the inventory as it is now.
func (v *Inventory) Snapshot() Snapshot {
	s := Snapshot{Scopes: v.Scopes(), Lists: v.Lists()}
	v.mu.Lock()
	defer v.mu.Unlock()
	s.instances, s.resources = v.shown(), v.shownResources()
	return s
}

// Size is how many instances and how many resources there are.
func (s Snapshot) Size() (instances, resources int) { return len(s.instances), len(s.resources) }

// Up gives the instances that run or are on the way to it. What it points to is the
// next one's at the next turn.
func (s Snapshot) Up() iter.Seq[*fleet.Instance] {
	return func(yield func(*fleet.Instance) bool) {
		var i fleet.Instance
		for _, p := range s.instances {
			if !p.shape.State.Up() {
				continue
			}
			p.fill(&i)
			if !yield(&i) {
				return
			}
		}
	}
}

// Instances gives the references of all instances, in order.
func (s Snapshot) Instances() iter.Seq[fleet.Ref] {
	return func(yield func(fleet.Ref) bool) {
		for _, p := range s.instances {
			if !yield(p.ref()) {
				return
			}
		}
	}
}

// Has reports whether an instance or a resource is there.
func (s Snapshot) Has(ref fleet.Ref) bool {
	if ref.Kind == fleet.KindInstance {
		_, ok := lookup(s.instances, ref)
		return ok
	}
	_, ok := s.has(ref)
	return ok
}

func (s Snapshot) has(ref fleet.Ref) (at int, ok bool) {
	for n, l := range s.resources {
		if l.id == ref.ID && l.ref() == ref {
			return n, true
		}
	}
	return 0, false
}

// Group writes out the resources on which the answer about one of them may depend; none
// where it is not there.
func (s Snapshot) Group(ref fleet.Ref) []*fleet.Resource {
	at, ok := s.has(ref)
	if !ok {
		return nil
	}
	from, to := at, at+1
	for from > 0 && together(s.resources[from-1], s.resources[at]) {
		from--
	}
	for to < len(s.resources) && together(s.resources[at], s.resources[to]) {
		to++
	}
	var b Buffer
	return b.write(s.resources[from:to])
}

// together reports whether what is said of the one may depend on the other, as
// [policies.Groups] has it.
func together(a, b listed) bool {
	source := a.sourceRef()
	return a.shape.Ref.Account == b.shape.Ref.Account && a.shape.Ref.Kind == b.shape.Ref.Kind && !source.IsZero() && source == b.sourceRef()
}

// Part is some of a snapshot: instances, or whole groups of resources.
type Part struct {
	instances []*instance
	resources []listed
}

// Parts cuts the snapshot into parts of at least so many: instances first, in order.
func (s Snapshot) Parts(least int) []Part {
	parts := make([]Part, 0, (len(s.instances)+len(s.resources))/least+2)
	for from := 0; from < len(s.instances); from += least {
		parts = append(parts, Part{instances: s.instances[from:min(from+least, len(s.instances))]})
	}
	for rest := s.resources; len(rest) > 0; {
		n := min(least, len(rest))
		for n < len(rest) && together(rest[n-1], rest[n]) {
			n++
		}
		parts = append(parts, Part{resources: rest[:n]})
		rest = rest[n:]
	}
	return parts
}

// Buffer is where parts are written out, one after the other.
type Buffer struct {
	instances []fleet.Instance
	resources []fleet.Resource
	pointers  []*fleet.Resource
}

// Write writes out a part. What it gives is good until the next one is written.
func (b *Buffer) Write(s Snapshot, p Part) policies.Things {
	out := policies.Things{Scopes: s.Scopes}
	if len(p.instances) > 0 {
		for len(b.instances) < len(p.instances) {
			b.instances = append(b.instances, fleet.Instance{})
		}
		for n, i := range p.instances {
			i.fill(&b.instances[n])
		}
		out.Instances = b.instances[:len(p.instances)]
	}
	if len(p.resources) > 0 {
		out.Lists, out.Resources = s.Lists, b.write(p.resources)
	}
	return out
}

func (b *Buffer) write(all []listed) []*fleet.Resource {
	if len(b.resources) < len(all) {
		b.resources = make([]fleet.Resource, max(len(all), 2*len(b.resources)))
	}
	b.pointers = b.pointers[:0]
	for n, l := range all {
		l.fill(&b.resources[n])
		b.pointers = append(b.pointers, &b.resources[n])
	}
	return b.pointers
}
