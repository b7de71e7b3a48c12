package sim

import (
	"fmt"
	"time"

	"curfew/fleet"
)

// changeResource does something to the thing of that kind and id, now.
func (c *Cloud) changeResource(ref fleet.Ref, do func(r *resource, now time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	r := c.findResource(ref.Kind, ref.ID)
	if r == nil || !r.there(now) {
		return fmt.Errorf("sim: there is no %s %s", ref.Kind, ref.ID)
	}
	return do(r, now)
}

// UserDeletes deletes a disk, a snapshot, an image or an address at the console.
func (c *Cloud) UserDeletes(ref fleet.Ref) error {
	return c.changeResource(ref, func(r *resource, now time.Time) error {
		if kind, why := c.deleteResource(r, now); kind != "" {
			return fmt.Errorf("sim: the user cannot delete %s %s: %s", ref.Kind, ref.ID, why)
		}
		c.effects = append(c.effects, Effect{At: now, Account: r.account.Name, Op: "delete-" + string(r.kind), Ref: r.ref(), By: ByUser})
		return nil
	})
}

// Attach makes a disk or an address belong to the instance of that id.
func (c *Cloud) Attach(ref fleet.Ref, instance string) error {
	return c.changeResource(ref, func(r *resource, now time.Time) error {
		m := c.find(instance)
		switch {
		case r.kind != fleet.KindDisk && r.kind != fleet.KindPublicIP:
			return fmt.Errorf("sim: %s cannot be attached", article(r.kind))
		case m == nil || m.account != r.account || m.stateAt(now) == fleet.StateReleased:
			return fmt.Errorf("sim: attach %s %s: there is no instance %s", r.kind, r.spec.ID, instance)
		case r.hop(now).to != nil || !r.deleting.IsZero():
			return fmt.Errorf("sim: attach %s %s: it is attached or being deleted", r.kind, r.spec.ID)
		}
		r.hops = append(r.hops, hop{at: now, to: m})
		return nil
	})
}

// Detach makes a disk or an address belong to nothing.
func (c *Cloud) Detach(ref fleet.Ref) error {
	return c.changeResource(ref, func(r *resource, now time.Time) error {
		if r.hop(now).to == nil {
			return fmt.Errorf("sim: detach %s %s: it belongs to nothing", r.kind, r.spec.ID)
		}
		r.hops = append(r.hops, hop{at: now, told: true})
		return nil
	})
}

// MustUse makes a disk, a snapshot, an image or an address be used as its kind is,
// and gives what uses it: a new running instance that it is attached to or that is
// made of it, or a new image of a snapshot. It panics where there is no such
// thing.
func (c *Cloud) MustUse(ref fleet.Ref) fleet.Ref {
	c.mu.Lock()
	r := c.findResource(ref.Kind, ref.ID)
	c.mu.Unlock()
	if r == nil {
		panic(fmt.Errorf("sim: there is no %s %s", ref.Kind, ref.ID))
	}
	switch r.kind {
	case fleet.KindSnapshot:
		return c.MustAddResource(fleet.KindImage, Resource{ID: "of-" + ref.ID, Account: r.account.Name, Region: r.spec.Region, OfSnapshot: ref.ID})
	case fleet.KindImage:
		return c.MustAdd(Spec{Account: r.account.Name, Region: r.spec.Region, Image: ref.ID})
	}
	instance := c.MustAdd(Spec{Account: r.account.Name, Region: r.spec.Region})
	if err := c.Attach(ref, instance.ID); err != nil {
		panic(err)
	}
	return instance
}

// SetResourceLabel gives a disk, a snapshot, an image or an address a label; an
// empty value takes it away.
func (c *Cloud) SetResourceLabel(ref fleet.Ref, key, value string) error {
	return c.changeResource(ref, func(r *resource, _ time.Time) error {
		if value == "" {
			delete(r.spec.Labels, key)
			return nil
		}
		if r.spec.Labels == nil {
			r.spec.Labels = map[string]string{}
		}
		r.spec.Labels[key] = value
		return nil
	})
}

// SetResourceProtected switches the platform's protection from deletion.
func (c *Cloud) SetResourceProtected(ref fleet.Ref, on bool) error {
	return c.changeResource(ref, func(r *resource, _ time.Time) error {
		r.spec.Protected = on
		return nil
	})
}

// SetResourceUnread says what lists leave out of it from now on.
func (c *Cloud) SetResourceUnread(ref fleet.Ref, fields ...string) error {
	return c.changeResource(ref, func(r *resource, _ time.Time) error {
		r.spec.Unread = fields
		return nil
	})
}

// Exists reports whether a disk, a snapshot, an image or an address is there in
// truth, whatever lists show.
func (c *Cloud) Exists(ref fleet.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	r := c.findResource(ref.Kind, ref.ID)
	return r != nil && r.there(now)
}
