package config

import (
	"fmt"
	"strings"
	"time"

	"curfew/signals/probe"
)

// longestProbe bounds the time-out of what is asked from outside: it is asked once
// more before an act, which does not wait for ever.
const longestProbe = 30 * time.Second

// probe decodes a source that asks a URL or a command.
func (r *reader) probe(m *mapping, s *Signal, named map[string]string) {
	header := r.outside(m, s, named)
	address, command := m.take("url"), m.take("command")
	s.URL, s.Command = address.question(probe.ParseURL), command.question(probe.ParseCommand)
	switch {
	case address.given() && command.given():
		command.bad("stands beside a url", "keep one of the two")
	case !address.given() && !command.given():
		m.bad("asks nobody", `write url: "http://HOST/PATH?id={{.ID}}", or command:`)
	case command.given() && header.given():
		header.bad("is sent with a url, and there is none", "leave it out")
	}
}

// outside decodes what all sources have that do not look inside, and gives the
// headers as they are written.
func (r *reader) outside(m *mapping, s *Signal, named map[string]string) (header node) {
	name := m.need("name", "write name: and what you call it")
	s.Name = name.name()
	unique(name, s.Name, named)
	matched := r.match(m)
	s.Match, s.MatchText = matched.match, matched.text
	s.Required = m.take("required").flag()
	header = m.take("header")
	s.Header = header.headers()
	return header
}

// question reads what is asked about an instance.
func (n node) question(parse func(string) (*probe.Question, error)) *probe.Question {
	text := n.text("")
	if text == "" {
		return nil
	}
	q, err := parse(text)
	if err != nil {
		n.bad(halves(err, "write {{.ID}}, {{.Name}} or the like"))
	}
	return q
}

// headers reads the headers of a request: each value is a secret.
func (n node) headers() map[string]Secret {
	m := n.mapping()
	if m.given() && len(m.keys) == 0 {
		n.bad("is empty", "write {Authorization: {env: NAME}}, or leave it out")
	}
	out := map[string]Secret{}
	for name, v := range m.all() {
		value := v.secret()
		switch {
		case !isHeaderName(name):
			v.bad(fmt.Sprintf("%q is not the name of a header", name), "write one such as Authorization")
		case strings.EqualFold(name, "host"):
			v.bad("a request goes to the host that its url names", "leave it out")
		default:
			out[name] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}
