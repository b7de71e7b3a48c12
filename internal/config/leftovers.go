package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/providers"
)

// snapshots decodes a policy that deletes old snapshots and images.
func (r *reader) snapshots(m *mapping, p *Policy, matched matcher) {
	t := &policies.Snapshots{}
	t.Kinds = r.kinds(m.take("kinds"), p, []fleet.ThingKind{fleet.KindSnapshot}, fleet.KindSnapshot, fleet.KindImage)
	older := m.need("older_than", "write older_than: and an age, such as 14d")
	t.OlderThan = older.span(14 * 24 * time.Hour)
	p.set("older_than", older, spanText(t.OlderThan))
	keep := m.take("keep_last")
	t.KeepLast = keep.whole(1, 0, false)
	p.set("keep_last", keep, fmt.Sprint(t.KeepLast))
	then := m.need("then", "write then: delete")
	goal := action(then, fleet.Delete)
	r.deletes(then, t.Kinds, matched)
	p.set("then", then, goal.String())
	r.windowOf(m.take("schedule"), m.take("window"), p)
	r.terms(m, p, goal)
	p.Terms.Discard = true // what is old by the policy's own measure may go
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// orphans decodes a policy about what nothing uses.
func (r *reader) orphans(m *mapping, p *Policy, matched matcher) {
	t := &policies.Orphans{}
	all := []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP, fleet.KindInstance}
	t.Kinds = r.kinds(m.take("kinds"), p, all, fleet.KindDisk, fleet.KindPublicIP, fleet.KindImage, fleet.KindInstance)
	unused := m.take("unused_for")
	t.UnusedFor = unused.span(24 * time.Hour)
	p.set("unused_for", unused, spanText(t.UnusedFor))
	then := m.take("then")
	if then.word("warn", "warn", "delete") == "delete" {
		t.Then = fleet.Delete
		r.deletes(then, []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP}, matched)
	}
	p.set("then", then, map[fleet.Action]string{fleet.Keep: "warn", fleet.Delete: "delete"}[t.Then])
	r.windowOf(m.take("schedule"), m.take("window"), p)
	r.terms(m, p, t.Then)
	p.Terms.Discard = t.Then == fleet.Delete
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// expiry decodes a policy about what ends by itself.
func (r *reader) expiry(m *mapping, p *Policy, matched matcher) {
	t := &policies.Expiry{}
	remind := m.take("remind")
	for _, n := range remind.listed() {
		if d := n.span(0); d > 0 {
			t.Remind = append(t.Remind, d)
		}
	}
	if !remind.given() {
		t.Remind = []time.Duration{7 * 24 * time.Hour, 3 * 24 * time.Hour, 24 * time.Hour, 3 * time.Hour}
	}
	slices.SortFunc(t.Remind, func(a, b time.Duration) int { return int(b - a) })
	t.Remind = slices.Compact(t.Remind)
	var words []string
	for _, d := range t.Remind {
		words = append(words, spanText(d))
	}
	p.set("remind", remind, strings.Join(words, ", "))
	goal := fleet.Keep
	keep := m.take("keepalive")
	if k := keep.mapping(); k.given() {
		goal = fleet.Stop
		t.KeepAlive = &policies.KeepAlive{Before: k.take("before").span(48 * time.Hour), For: k.take("for").span(3 * time.Minute)}
		p.set("keepalive.before", keep, spanText(t.KeepAlive.Before))
		p.set("keepalive.for", keep, spanText(t.KeepAlive.For))
		noGPU := k.take("no_gpu")
		p.Terms.NoGPU = noGPU.flag()
		p.set("keepalive.no_gpu", noGPU, fmt.Sprint(p.Terms.NoGPU))
		k.done()
		r.able(keep, fleet.Start, matched.accounts)
		r.able(keep, fleet.Stop, matched.accounts)
	}
	r.windowOf(m.take("schedule"), m.take("window"), p)
	r.terms(m, p, goal)
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// kindWords are the kinds of things by the words for several of them.
func kindWords() map[fleet.ThingKind]string {
	return map[fleet.ThingKind]string{
		fleet.KindDisk: "disks", fleet.KindSnapshot: "snapshots", fleet.KindImage: "images", fleet.KindPublicIP: "ips", fleet.KindInstance: "stopped",
	}
}

// kinds reads a list of kinds, or one.
func (r *reader) kinds(n node, p *Policy, def []fleet.ThingKind, allowed ...fleet.ThingKind) []fleet.ThingKind {
	words, byWord := []string{}, map[string]fleet.ThingKind{}
	for _, k := range allowed {
		words = append(words, kindWords()[k])
		byWord[kindWords()[k]] = k
	}
	var out []fleet.ThingKind
	for _, entry := range n.listed() {
		if k, ok := byWord[entry.word("", words...)]; ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		out = def
	}
	text := ""
	for _, k := range out {
		text += ", " + kindWords()[k]
	}
	p.set("kinds", n, text[min(2, len(text)):])
	return out
}

// deletes reads a wish to delete, which one of the accounts' platforms must be able
// to carry out.
func (r *reader) deletes(then node, kinds []fleet.ThingKind, matched matcher) {
	can := map[fleet.ThingKind]providers.Capability{
		fleet.KindDisk: providers.CanDeleteDisk, fleet.KindSnapshot: providers.CanDeleteSnapshot,
		fleet.KindImage: providers.CanDeleteImage, fleet.KindPublicIP: providers.CanDeletePublicIP,
	}
	if len(r.cfg.Accounts) == 0 || !then.given() {
		return
	}
	for _, a := range r.cfg.Accounts {
		if len(matched.accounts) > 0 && !contains(matched.accounts, a.Name) {
			continue
		}
		for _, k := range r.reg.Providers {
			for _, kind := range kinds {
				if k.Name == a.Provider && k.Can(can[kind]) {
					return
				}
			}
		}
	}
	then.bad("no platform that it is about can delete what it is about", "leave the policy out, or name other kinds")
}
