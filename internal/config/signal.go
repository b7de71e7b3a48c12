package config

import (
	"fmt"
	"time"

	"curfew/policies"
	"curfew/signals"
	"curfew/signals/probe"
	"curfew/signals/prometheus"
)

// Signal is one entry of signals.
type Signal struct {
	Pos
	Type           string // ssh, local, probe, prometheus or sim
	Key            Secret // of ssh; zero: the platform's password
	User           string // of ssh; empty: the platform's
	Every          time.Duration
	Timeout        time.Duration
	signals.Limits // of those that look inside

	// Of probe and prometheus:
	Name      string
	Match     policies.Match
	MatchText string // for people
	Header    map[string]Secret
	Required  bool

	URL, Command *probe.Question // of probe: one of them

	// Of prometheus:
	Server   string // without a slash at its end
	Query    *prometheus.Query
	Label    string  // empty: the query is asked for each instance
	BusyOver float64 // the figure above which one is busy
}

// Source is the name of the source, as in Evidence.Source.
func (s Signal) Source() string {
	switch s.Type {
	case "probe":
		return probe.SourceName(s.Name)
	case "prometheus":
		return prometheus.SourceName(s.Name)
	}
	return s.Type
}

// inside reports whether the signal looks inside instances.
func (s Signal) inside() bool { return s.Type != "probe" && s.Type != "prometheus" }

// proves reports whether an instance can be idle by the signal's word alone.
func (s Signal) proves() bool { return s.inside() || s.Required }

// signalTypes are the types that can be written.
func signalTypes() []string { return []string{"ssh", "local", "probe", "prometheus", "sim"} }

func (r *reader) signals(n node) {
	seen, named := map[string]string{}, map[string]string{}
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		s := Signal{Pos: m.pos}
		kind := m.need("type", "write type: ssh")
		s.Type = kind.as(oneOf(kindChoice, "", signalTypes())).text("")
		every := 30 * time.Second
		switch s.Type {
		case "ssh":
			s.Key = m.take("key").secret()
			s.User = m.take("user").name()
		case "local":
			if r.here == "" {
				kind.bad("looks at the machine curfew runs in, and none is declared", "declare it: provider: machines with host: local")
			}
		case "probe":
			every = time.Minute
			r.probe(m, &s, named)
		case "prometheus":
			every = time.Minute
			r.prometheus(m, &s, named)
		case "sim":
		case "":
			m.free = true
		case "ping":
			m.free = true
			kind.bad("pings are no look", `write ping: {listen: "0.0.0.0:8421"} as a key of its own, beside signals`)
		case "metrics":
			m.free = true
			kind.bad(fmt.Sprintf("%q is not in this version", s.Type), "write ssh or local")
		default:
			m.free = true
			kind.bad(fmt.Sprintf("%q is not a source of signals", s.Type), suggest(s.Type, signalTypes()))
		}
		if first, twice := seen[s.Type]; twice && !m.free && s.inside() {
			kind.bad(fmt.Sprintf("%s looks by %s already", first, s.Type), "keep one of the two")
		}
		seen[s.Type] = m.path
		s.Every = m.take("every").span(every)
		timeout := m.take("timeout")
		s.Timeout = timeout.span(10 * time.Second)
		if !s.inside() && s.Timeout > longestProbe {
			timeout.bad(spanText(s.Timeout)+" is longer than an act can wait for an answer", "write "+spanText(longestProbe)+" or less")
		}
		if s.inside() {
			s.BusyAbove = m.take("busy_above").percent(5, false)
			s.SessionIdleMax = m.take("session_idle_max").span(30 * time.Minute)
		}
		m.done()
		r.cfg.Signals = append(r.cfg.Signals, s)
	}
}
