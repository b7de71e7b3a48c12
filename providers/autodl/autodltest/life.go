package autodltest

import (
	"slices"
	"time"
)

// An instance's life:
//
//	creating ──► running ──► shutting_down ──► shutdown ──► releasing ──► (gone)
//	                ▲                             │
//	                └───────── starting ◄─────────┘
//
// An instance that is shut down for 15 days is gone by itself.
const keptFor = 15 * 24 * time.Hour

// word is the status the cloud says.
func (m *machine) word() string {
	if m.raw != "" {
		return m.raw
	}
	return m.Status
}

// advance makes everything happen that has come due.
func (c *Cloud) advance() {
	now := c.o.Now()
	for _, m := range c.machines {
		if m.next == "" || now.Before(m.nextAt) {
			continue
		}
		m.Status, m.statusAt, m.next = m.next, m.nextAt, ""
		switch m.Status {
		case "running":
			if !c.o.StartedOnAccept || m.StartedAt.IsZero() {
				m.StartedAt = m.statusAt
			}
		case "shutdown":
			m.StoppedAt = m.statusAt
		}
	}
	c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool {
		return m.Status == "gone" || (m.Status == "shutdown" && m.Charge == "payg" && !now.Before(m.StoppedAt.Add(keptFor)))
	})
}

func (m *machine) become(status, next string, now time.Time, after time.Duration) {
	m.Status, m.statusAt, m.next, m.nextAt = status, now, next, now.Add(after)
}

func (c *Cloud) powerOff(m *machine) {
	m.become("shutting_down", "shutdown", c.o.Now(), c.o.Stop)
}

func (c *Cloud) powerOn(m *machine) {
	now := c.o.Now()
	m.become("starting", "running", now, c.o.Start)
	m.boots++
	if m.pinned != nil {
		m.SSH = *m.pinned
	} else {
		m.SSH = c.o.Boot(m.UUID, m.boots)
	}
	if c.o.StartedOnAccept {
		m.StartedAt = now
	}
}

func (c *Cloud) release(m *machine) {
	m.become("releasing", "gone", c.o.Now(), c.o.Release)
}
