package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/notify"
)

// digest reads when people are told how everything stands, after the channels and
// routes it goes through: daily where one schedule is written.
func (r *reader) digest(n node) {
	d := &r.cfg.Notify
	if !n.isBlock() {
		if d.Digest = r.told(n, "0 9 * * *"); n.given() {
			return
		}
	}
	m := n.mapping()
	d.Digest = r.told(m.take("daily"), "0 9 * * *")
	d.Weekly = r.told(m.take("weekly"), "0 9 * * 1")
	d.Sheet = r.told(m.take("sheet"), "0 9 1 * *")
	m.done()
}

// isBlock reports whether a block of keys stands there.
func (n node) isBlock() bool {
	switch n.ast.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// told reads when something is told that goes the way of digests; nil is never.
func (r *reader) told(n node, such string) *sched.Schedule {
	right := `write five fields, such as "` + such + `", or off`
	expr := n.text("")
	if expr == "" || expr == "off" {
		return nil
	}
	s, err := sched.ParseSchedule(expr, r.cfg.Timezone)
	switch {
	case err != nil:
		n.bad(halves(err, right))
		return nil
	case s.Always():
		n.bad("is no time of day", right)
		return nil
	}
	channels := r.cfg.Notify.Channels
	if len(channels) == 0 {
		n.bad("has no channel to go to", "add one under notify.channels, or leave the digest out")
		return s
	}
	var names []string
	for _, c := range channels {
		names = append(names, c.Name)
	}
	to := notify.Pick(r.cfg.Notify.Routes, notify.Notice{Category: fleet.CategoryDigest}, names)
	if !slices.ContainsFunc(channels, func(c Channel) bool { return slices.Contains(to, c.Name) && c.MinSeverity == fleet.Info }) {
		n.bad("reaches nobody: no channel it goes to takes info", "lower min_severity of one, or add a route {category: digest, to: CHANNEL}")
	}
	return s
}
