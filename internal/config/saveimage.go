package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers"
	"curfew/signals/probe"
)

// defaultImageName is what an image is called where nothing is said.
const defaultImageName = "{{.Name}}-{{.Boot}}"

// saveImage reads the image that is made of an instance before it is released.
func (r *reader) saveImage(n node, p *Policy, goal fleet.Action, matched matcher) *fleet.SaveImage {
	m := n.mapping()
	s := &fleet.SaveImage{}
	name := m.take("name")
	s.Name = defaultImageName
	if name.given() && name.question(probe.ParseText) != nil {
		s.Name, _ = name.source()
	}
	keep := m.take("keep_last")
	s.KeepLast = keep.whole(0, 1, true)
	timeout := m.take("timeout")
	s.Timeout = timeout.span(30 * time.Minute)
	m.done()
	if !m.given() {
		return nil
	}
	switch {
	case goal != fleet.Release && goal != fleet.Keep:
		n.bad("has no meaning with then: "+goal.String(), "leave it out, or write then: release")
	case p.Terms.Discard:
		n.bad("stands beside data: discard, which lets the data go", "keep one of the two")
	default:
		r.platform(n, matched, "save an image that its list shows", providers.CanSaveImage, providers.CanImages)
	}
	p.set("save_image.name", name, s.Name)
	value := "off"
	if s.KeepLast > 0 {
		value = fmt.Sprint(s.KeepLast)
	}
	p.set("save_image.keep_last", keep, value)
	p.set("save_image.timeout", timeout, spanText(s.Timeout))
	return s
}

// with reads the kinds of things that are deleted after a release.
func (r *reader) with(n node, p *Policy, goal fleet.Action, matched matcher) []fleet.ThingKind {
	can := map[string][]providers.Capability{
		"disks":     {providers.CanDisks, providers.CanDeleteDisk},
		"snapshots": {providers.CanSnapshots, providers.CanDeleteSnapshot},
		"ips":       {providers.CanPublicIPs, providers.CanDeletePublicIP},
	}
	kinds := map[string]fleet.ThingKind{"disks": fleet.KindDisk, "snapshots": fleet.KindSnapshot, "ips": fleet.KindPublicIP}
	var out []fleet.ThingKind
	var words []string
	for _, entry := range n.listed() {
		word := entry.word("", "disks", "snapshots", "ips")
		kind, ok := kinds[word]
		if !ok || slices.Contains(out, kind) {
			continue
		}
		out, words = append(out, kind), append(words, word)
		r.platform(entry, matched, "delete "+word, can[word]...)
	}
	if !n.given() {
		return nil
	}
	if goal != fleet.Release && goal != fleet.Keep {
		n.bad("has no meaning with then: "+goal.String(), "leave it out, or write then: release")
	}
	p.set("with", n, strings.Join(words, ", "))
	return out
}

// platform reports a wish that a platform it is about cannot fulfil: one of an account
// that the match names, or else all.
func (r *reader) platform(n node, matched matcher, what string, needs ...providers.Capability) {
	able, unable := false, false
	for account, k := range r.about(matched) {
		if !slices.ContainsFunc(needs, func(c providers.Capability) bool { return !k.Can(c) }) {
			able = true
			continue
		}
		unable = true
		if account != "" && contains(matched.accounts, account) {
			n.bad(fmt.Sprintf("at %s curfew cannot %s, and account %s is there", k.Name, what, account), "leave it out, or take the account out of the match")
		}
	}
	if unable && !able && len(matched.accounts) == 0 {
		n.bad("at no platform that it is about can curfew "+what, "leave it out")
	}
}
