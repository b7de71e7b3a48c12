package sim

import (
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
)

// A resource's life is when it is ready, where it belongs from when on, and when
// it is gone:
//
//	delete:  deleting ──DeleteTime──► gone
//	release of its instance:  gone with it, or belonging to nothing from then on
//
// What follows from an instance's release is read off that instance's own life,
// since a release to come may be called off by a start.
type resource struct {
	kind     fleet.ThingKind
	spec     Resource
	account  *account
	added    time.Time // into the cloud
	created  time.Time // as told
	saved    *machine  // the instance that a call is making this image of
	ready    time.Time // zero: never
	deleting time.Time // a deletion was accepted; zero: none
	gone     time.Time // by deletion, or by a fault; zero: not
	hops     []hop     // where it belonged, in order
}

// hop is where it belongs from a moment on; a nil machine is nowhere.
type hop struct {
	at   time.Time
	to   *machine
	told bool // the platform knows since when it belongs nowhere
}

func (r *resource) ref() fleet.Ref { return fleet.Ref{Kind: r.kind, ID: r.spec.ID} }

// hop gives the one that holds at t. Before the first it is already as it was
// added.
func (r *resource) hop(t time.Time) hop {
	h := r.hops[0]
	for _, next := range r.hops[1:] {
		if next.at.After(t) {
			break
		}
		h = next
	}
	if h.to == nil {
		return h
	}
	if released := h.to.released(); !released.IsZero() && !released.After(t) {
		return hop{at: released, told: true}
	}
	return h
}

// withInstance says whether a release destroys it that does not ask for it.
func (r *resource) withInstance() fleet.Tri {
	switch {
	case r.kind != fleet.KindDisk:
		return fleet.Unsure
	case r.spec.System:
		return r.spec.WithInstance.tri(fleet.Yes)
	}
	return r.spec.WithInstance.tri(fleet.No)
}

// goneAt is when it ceased or will cease to exist, as far as that is settled; zero
// where it is not.
func (r *resource) goneAt() time.Time {
	if !r.gone.IsZero() {
		return r.gone
	}
	last := r.hops[len(r.hops)-1].to
	if last != nil && (r.withInstance() == fleet.Yes ||
		r.kind == fleet.KindDisk && last.takesDisks || r.kind == fleet.KindPublicIP && last.takesIPs) {
		return last.released()
	}
	return time.Time{}
}

// there reports whether it exists at t.
func (r *resource) there(t time.Time) bool {
	gone := r.goneAt()
	return gone.IsZero() || gone.After(t)
}

// readyAt is when it was or will be ready; ok is false where it never will be. An
// image comes to nothing where its instance is released first.
func (r *resource) readyAt() (at time.Time, ok bool) {
	if r.saved != nil {
		if released := r.saved.released(); !released.IsZero() && released.Before(r.ready) {
			return time.Time{}, false
		}
	}
	return r.ready, !r.ready.IsZero()
}

func (r *resource) readyBy(t time.Time) bool {
	at, ok := r.readyAt()
	return ok && !at.After(t)
}

// attachedPrice is the price while it belongs to an instance.
func (r *resource) attachedPrice() fleet.Money {
	if r.spec.PriceAttached.Currency == "" {
		return r.spec.Price
	}
	return r.spec.PriceAttached
}

// source is what it was made of, whether that is still there or not.
func (c *Cloud) source(r *resource) fleet.Ref {
	switch s := r.spec; {
	case r.saved != nil:
		return c.ref(r.saved)
	case s.OfDisk != "":
		return fleet.Ref{Kind: fleet.KindDisk, ID: s.OfDisk}
	case s.OfSnapshot != "":
		return fleet.Ref{Kind: fleet.KindSnapshot, ID: s.OfSnapshot}
	case s.OfInstance != "":
		if m := c.find(s.OfInstance); m != nil && m.account == r.account {
			return c.ref(m)
		}
		return fleet.Ref{Kind: fleet.KindInstance, ID: s.OfInstance}
	}
	return fleet.Ref{}
}

// usedBy gives the images made of a snapshot, and the instances made of an image,
// that are there at t.
func (c *Cloud) usedBy(r *resource, t time.Time) []fleet.Ref {
	var out []fleet.Ref
	switch r.kind {
	case fleet.KindSnapshot:
		for _, other := range c.resources {
			if other.account == r.account && c.source(other) == r.ref() && other.there(t) {
				out = append(out, other.ref())
			}
		}
	case fleet.KindImage:
		for _, m := range c.machines {
			if m.account == r.account && m.spec.Image == r.spec.ID && !m.removed && m.stateAt(t) != fleet.StateReleased {
				out = append(out, c.ref(m))
			}
		}
	}
	return out
}

// findResource gives the youngest thing of that kind and id, gone or not, or nil.
func (c *Cloud) findResource(kind fleet.ThingKind, id string) *resource {
	for _, r := range slices.Backward(c.resources) {
		if r.kind == kind && r.spec.ID == id {
			return r
		}
	}
	return nil
}

// deleteResource takes a deletion, or refuses it as the platform would.
func (c *Cloud) deleteResource(r *resource, now time.Time) (fleet.ErrorKind, string) {
	at := r.hop(now).to
	users := c.usedBy(r, now)
	switch {
	case !r.there(now):
		return fleet.NotFound, fmt.Sprintf("there is no such %s", r.kind)
	case !r.deleting.IsZero():
		return fleet.Conflict, "it is being deleted already"
	case !r.readyBy(now):
		return fleet.Conflict, "it is still being made"
	case r.spec.Protected:
		return fleet.Conflict, "its deletion protection is on"
	case at != nil:
		return fleet.Conflict, "it is attached to " + at.spec.ID
	case len(users) > 0:
		return fleet.Conflict, fmt.Sprintf("%s %s is made of it", users[0].Kind, users[0].ID)
	}
	r.deleting, r.gone = now, now.Add(or(c.timing.DeleteTime, 5*time.Second))
	return "", ""
}
