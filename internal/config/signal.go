package config

import (
	"fmt"
	"time"

	"curfew/signals"
)

// Signal is one entry of signals.
type Signal struct {
	Pos
	Type    string // ssh or sim
	Key     Secret // of ssh; zero: the platform's password
	User    string // of ssh; empty: the platform's
	Every   time.Duration
	Timeout time.Duration
	signals.Limits
}

func (r *reader) signals(n node) {
	seen := map[string]string{}
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		s := Signal{Pos: m.pos}
		kind := m.need("type", "write type: ssh")
		s.Type = kind.text("")
		switch s.Type {
		case "ssh":
			s.Key = m.take("key").secret()
			s.User = m.take("user").name()
		case "sim":
		case "":
			m.free = true
		default:
			m.free = true
			if contains([]string{"local", "ping", "prometheus", "metrics", "probe"}, s.Type) {
				kind.bad(fmt.Sprintf("%q is not in this version", s.Type), "write ssh")
			} else {
				kind.bad(fmt.Sprintf("%q is not a source of signals", s.Type), suggest(s.Type, []string{"ssh", "sim"}))
			}
		}
		if first, twice := seen[s.Type]; twice && !m.free {
			kind.bad(fmt.Sprintf("%s looks by %s already", first, s.Type), "keep one of the two")
		}
		seen[s.Type] = m.path
		s.Every = m.take("every").span(30 * time.Second)
		s.Timeout = m.take("timeout").span(10 * time.Second)
		s.BusyAbove = m.take("busy_above").percent(5, false)
		s.SessionIdleMax = m.take("session_idle_max").span(30 * time.Minute)
		m.done()
		r.cfg.Signals = append(r.cfg.Signals, s)
	}
}
