package config

import (
	"curfew/fleet"
	"curfew/notify"
)

// mute reads what is noted when it is found, and not told.
func (r *reader) mute(n node) {
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		var mute notify.Mute
		policy, match, category := m.take("policy"), m.take("match"), m.take("category")
		mute.Policies = r.references(policy, r.policyNames(), "a policy")
		if about := r.matching(match); match.given() {
			mute.Match = about.match
		}
		for _, c := range words(category,
			string(fleet.CategoryMoney), string(fleet.CategoryAct), string(fleet.CategoryHealth), string(fleet.CategoryStock)) {
			mute.Categories = append(mute.Categories, fleet.Category(c))
		}
		mute.Until = dayEnd(m.take("until"), r.cfg.Timezone)
		if m.done(); !policy.given() && !match.given() && !category.given() {
			m.bad("says nothing of what is muted", "write policy:, match: or category:, or match: all for everything that may be")
		}
		r.cfg.Notify.Mute = append(r.cfg.Notify.Mute, mute)
	}
}

func (r *reader) policyNames() []string {
	var names []string
	for _, p := range r.cfg.Policies {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	return names
}
