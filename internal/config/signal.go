package config

import (
	"fmt"
	"time"

	"curfew/signals"
)

// Signal is one entry of signals.
type Signal struct {
	Pos
	Type    string // ssh, local or sim
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
		case "local":
			if r.here == "" {
				kind.bad("looks at the machine curfew runs in, and none is declared", "declare it: provider: machines with host: local")
			}
		case "sim":
		case "":
			m.free = true
		default:
			m.free = true
			if s.Type == "ping" {
				kind.bad("pings are no look", `write ping: {listen: "0.0.0.0:8421"} as a key of its own, beside signals`)
			} else if contains([]string{"prometheus", "metrics", "probe"}, s.Type) {
				kind.bad(fmt.Sprintf("%q is not in this version", s.Type), "write ssh or local")
			} else {
				kind.bad(fmt.Sprintf("%q is not a source of signals", s.Type), suggest(s.Type, []string{"ssh", "local", "sim"}))
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
