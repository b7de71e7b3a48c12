package sim

import (
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// change does something to the instance of that id, now.
func (c *Cloud) change(id string, do func(m *machine, now time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	m := c.find(id)
	if m == nil || m.removed {
		return fmt.Errorf("sim: there is no instance %s", id)
	}
	return do(m, now)
}

func (c *Cloud) userWrites(op, id string, apply func(*machine, time.Time) (fleet.ErrorKind, string)) error {
	return c.change(id, func(m *machine, now time.Time) error {
		if kind, why := apply(m, now); kind != "" {
			return fmt.Errorf("sim: the user cannot %s %s: %s", op, id, why)
		}
		c.effects = append(c.effects, Effect{At: now, Account: m.account.Name, Op: op, Ref: c.ref(m), By: ByUser})
		return nil
	})
}

// UserStarts starts an instance at the console.
func (c *Cloud) UserStarts(id string) error { return c.userWrites("start", id, c.start) }

// UserStops stops an instance at the console.
func (c *Cloud) UserStops(id string) error { return c.userWrites("stop", id, c.stop) }

// UserReleases releases an instance at the console; its disks stay, but for those
// that always go with it.
func (c *Cloud) UserReleases(id string) error {
	return c.userWrites("release", id, func(m *machine, now time.Time) (fleet.ErrorKind, string) {
		return c.release(m, now, providers.ReleaseOptions{})
	})
}

// Remove makes an instance vanish without a trace but its bill.
func (c *Cloud) Remove(id string) error {
	return c.change(id, func(m *machine, now time.Time) error {
		m.forget(now)
		m.moments = append(m.moments, moment{now, fleet.StateReleased})
		m.removed = true
		return nil
	})
}

// SetLabel gives an instance a label; an empty value takes it away.
func (c *Cloud) SetLabel(id, key, value string) error {
	return c.change(id, func(m *machine, _ time.Time) error {
		if value == "" {
			delete(m.spec.Labels, key)
			return nil
		}
		if m.spec.Labels == nil {
			m.spec.Labels = map[string]string{}
		}
		m.spec.Labels[key] = value
		return nil
	})
}

// SetName renames an instance.
func (c *Cloud) SetName(id, name string) error {
	return c.change(id, func(m *machine, _ time.Time) error {
		m.spec.Name = name
		return nil
	})
}

// SetProtected switches the platform's termination protection.
func (c *Cloud) SetProtected(id string, on bool) error {
	return c.change(id, func(m *machine, _ time.Time) error {
		m.spec.Protected = on
		return nil
	})
}

// SetUnread says what reads of an instance leave out from now on.
func (c *Cloud) SetUnread(id string, fields ...string) error {
	return c.change(id, func(m *machine, _ time.Time) error {
		m.spec.Unread = fields
		return nil
	})
}

// SetRawState makes the platform say this status word; an empty one ends that.
func (c *Cloud) SetRawState(id, raw string) error {
	return c.change(id, func(m *machine, _ time.Time) error {
		m.raw = raw
		return nil
	})
}

// SetBox changes what happens inside an instance. Offsets count as before, from
// when it was added, so what lies in the past has happened.
func (c *Cloud) SetBox(id string, b Box) error {
	return c.change(id, func(m *machine, now time.Time) error {
		if err := b.check(m.spec.Age); err != nil {
			return fmt.Errorf("sim: instance %s: box: %w", id, err)
		}
		m.spec.Box = b
		return nil
	})
}

// SetSettleLag changes how far lists and reads lag behind.
func (c *Cloud) SetSettleLag(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timing.SettleLag = d
}

// State is the true state of an instance, whatever reads show; released where
// there is none.
func (c *Cloud) State(id string) fleet.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	if m := c.find(id); m != nil {
		return m.stateAt(now)
	}
	return fleet.StateReleased
}
