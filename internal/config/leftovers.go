package config

import (
	"cmp"
	"fmt"
	"iter"
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
	kinds := m.take("kinds")
	t.Kinds = r.kinds(kinds, p, []fleet.ThingKind{fleet.KindSnapshot}, fleet.KindSnapshot, fleet.KindImage)
	older := m.need("older_than", "write older_than: and an age, such as 14d")
	t.OlderThan = older.span(14 * 24 * time.Hour)
	p.set("older_than", older, spanText(t.OlderThan))
	keep := m.take("keep_last")
	t.KeepLast = keep.whole(1, 0, false)
	p.set("keep_last", keep, fmt.Sprint(t.KeepLast))
	then := m.need("then", "write then: delete")
	goal := action(then, fleet.Delete)
	r.deletes(then, kinds, t.Kinds, matched)
	p.set("then", then, goal.String())
	noData(m)
	r.terms(m, p, goal)
	r.window(m, p)
	p.Terms.Discard = true // what is old by the policy's own measure may go
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// orphans decodes a policy about what nothing uses.
func (r *reader) orphans(m *mapping, p *Policy, matched matcher) {
	t := &policies.Orphans{}
	usual := []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP, fleet.KindInstance}
	kinds := m.take("kinds")
	t.Kinds = r.kinds(kinds, p, usual, fleet.KindDisk, fleet.KindPublicIP, fleet.KindImage, fleet.KindInstance)
	unused := m.take("unused_for")
	t.UnusedFor = unused.span(24 * time.Hour)
	p.set("unused_for", unused, spanText(t.UnusedFor))
	then := m.take("then")
	word := then.word("warn", "warn", "delete")
	if word == "delete" {
		t.Then = fleet.Delete
		told := func(k fleet.ThingKind) bool { return k != fleet.KindDisk && k != fleet.KindPublicIP }
		if deleted := slices.DeleteFunc(slices.Clone(t.Kinds), told); len(deleted) > 0 {
			r.deletes(then, kinds, deleted, matched)
		} else {
			then.bad("images and stopped instances are told of and never deleted", "write then: warn, or add disks or ips to kinds")
		}
	}
	p.set("then", then, word)
	noData(m)
	r.terms(m, p, t.Then)
	r.window(m, p)
	p.Terms.Discard = t.Then == fleet.Delete
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// noData reports a word on data where the policy's own measure says what may go.
func noData(m *mapping) {
	if n := m.take("data"); n.given() {
		n.bad("has no meaning here", "leave it out")
	}
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
	slices.SortFunc(t.Remind, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	t.Remind = slices.Compact(t.Remind)
	var words []string
	for _, d := range t.Remind {
		words = append(words, spanText(d))
	}
	p.set("remind", remind, strings.Join(words, ", "))
	goal := fleet.Keep
	keep := m.take("keepalive").mapping()
	before := keep.take("before")
	if keep.given() {
		goal = fleet.Stop
		t.KeepAlive = r.keepAlive(keep, before, p, matched)
	}
	keep.done()
	noData(m)
	r.terms(m, p, goal)
	schedule := m.take("schedule")
	r.windowOf(schedule, m.take("window"), p)
	if t.KeepAlive != nil {
		r.inTime(before, schedule, p, *t.KeepAlive)
		p.Samples = t.KeepAlive.Memory(p.Terms.WarnStop) + r.slowest()
	}
	t.Common = policies.Common{Name: p.Name, Match: p.Match, Terms: p.Terms}
	p.Policy = *t
}

// keepAlive decodes a short boot before the platform's own deletion.
func (r *reader) keepAlive(m *mapping, before node, p *Policy, matched matcher) *policies.KeepAlive {
	up, withGPU := m.take("for"), m.take("with_gpu")
	k := &policies.KeepAlive{Before: before.span(48 * time.Hour), For: up.span(3 * time.Minute)}
	p.Terms.NoGPU = !withGPU.flag()
	p.set("keepalive.before", before, spanText(k.Before))
	p.set("keepalive.for", up, spanText(k.For))
	p.set("keepalive.with_gpu", withGPU, fmt.Sprint(!p.Terms.NoGPU))
	able := false
	for name, kind := range r.about(matched) {
		can := kind.Can(providers.CanStart) && kind.Can(providers.CanStop)
		able = able || can
		switch {
		case !can && len(matched.accounts) > 0:
			m.bad(fmt.Sprintf("%s cannot start and stop, and account %s is there", kind.Name, name), "take the account out of the match, or leave keepalive out")
			able = true // it is reported
		case kind.AutoRelease > 0 && k.Before >= kind.AutoRelease:
			before.bad(fmt.Sprintf("%s reaches back to the stop itself: %s deletes after %s", spanText(k.Before), kind.Name, spanText(kind.AutoRelease)), "write less")
		}
	}
	if !able && len(r.cfg.Accounts) > 0 {
		m.bad("no platform that it is about can start and stop", "leave it out")
	}
	return k
}

// inTime reports a boot for which there may be no time: that is announced too late, or
// by a schedule whose ticks are too far apart.
func (r *reader) inTime(before, schedule node, p *Policy, k policies.KeepAlive) {
	if least := p.Terms.WarnStop + time.Hour; k.Before < least {
		before.bad(fmt.Sprintf("%s leaves too little time for a boot that is announced %s before", spanText(k.Before), spanText(p.Terms.WarnStop)),
			"write "+spanText(least)+" or more")
	}
	if p.Window == nil || p.Window.Schedule.Always() {
		return
	}
	tick := p.Window.Schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	for range ticksAsked {
		next := p.Window.Schedule.Next(tick)
		if next.IsZero() || next.Sub(tick) >= k.Before {
			schedule.bad(fmt.Sprintf("its ticks lie further apart than keepalive.before, %s, and a deletion between them is missed", spanText(k.Before)),
				"write more ticks, a longer before, or leave the schedule out")
			return
		}
		tick = next
	}
}

// about gives the accounts that a policy may be about, by name, with their platforms.
// Platforms that it names are given without an account where the file has none there.
func (r *reader) about(matched matcher) iter.Seq2[string, providers.Kind] {
	return func(yield func(string, providers.Kind) bool) {
		for _, k := range r.reg.Providers {
			if len(matched.kinds) > 0 && !slices.Contains(matched.kinds, k.Name) {
				continue
			}
			there := false
			for _, a := range r.cfg.Accounts {
				if a.Provider != k.Name {
					continue
				}
				there = true
				if (len(matched.accounts) == 0 || slices.Contains(matched.accounts, a.Name)) && !yield(a.Name, k) {
					return
				}
			}
			if !there && len(matched.kinds) > 0 && !yield("", k) {
				return
			}
		}
	}
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

// deletes reports kinds of things that no platform the policy is about can delete: of
// those that it is about where nothing is said, one is enough.
func (r *reader) deletes(then, named node, kinds []fleet.ThingKind, matched matcher) {
	if len(r.cfg.Accounts) == 0 || !then.given() {
		return
	}
	can := map[fleet.ThingKind]providers.Capability{
		fleet.KindDisk: providers.CanDeleteDisk, fleet.KindSnapshot: providers.CanDeleteSnapshot,
		fleet.KindImage: providers.CanDeleteImage, fleet.KindPublicIP: providers.CanDeletePublicIP,
	}
	able := map[fleet.ThingKind]bool{}
	for _, k := range r.about(matched) {
		for _, kind := range kinds {
			able[kind] = able[kind] || k.Can(can[kind])
		}
	}
	var not []string
	for _, kind := range kinds {
		if !able[kind] {
			not = append(not, kindWords()[kind])
		}
	}
	switch {
	case len(not) == len(kinds):
		then.bad("no platform that it is about can delete "+strings.Join(not, " or "), "leave the policy out, or name other kinds")
	case len(not) > 0 && named.given():
		named.bad("no platform that it is about can delete "+strings.Join(not, " or "), "leave them out")
	}
}
