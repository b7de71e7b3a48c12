package config

import (
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// lifetime decodes a policy that stops what has been up for too long.
func (r *reader) lifetime(m *mapping, p *Policy, matched matcher) {
	t := &policies.Lifetime{}
	r.onlyStop(m, p, &t.Then, matched)
	limit := m.need("max", "write max: and how long it may be up, such as 8h")
	t.Max = limit.span(time.Hour)
	p.set("max", limit, spanText(t.Max))
	if n := m.take("data"); n.given() {
		n.bad("has no meaning here: what looks at no activity does nothing that loses data", "leave it out")
	}
	r.terms(m, p, fleet.Stop)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}
