package config

import (
	"slices"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/notify"
)

// digest reads when people are told how everything stands, after the channels and
// routes it goes through.
func (r *reader) digest(n node) {
	const right = `write five fields, such as "0 9 * * *", or off`
	expr := n.text("")
	if expr == "" || expr == "off" {
		return
	}
	s, err := sched.ParseSchedule(expr, r.cfg.Timezone)
	switch {
	case err != nil:
		n.bad(halves(err, right))
		return
	case s.Always():
		n.bad("is no time of day", right)
		return
	}
	r.cfg.Notify.Digest = s
	channels := r.cfg.Notify.Channels
	if len(channels) == 0 {
		n.bad("has no channel to go to", "add one under notify.channels, or leave the digest out")
		return
	}
	var names []string
	for _, c := range channels {
		names = append(names, c.Name)
	}
	to := notify.Pick(r.cfg.Notify.Routes, notify.Notice{Category: fleet.CategoryDigest}, names)
	if !slices.ContainsFunc(channels, func(c Channel) bool { return slices.Contains(to, c.Name) && c.MinSeverity == fleet.Info }) {
		n.bad("reaches nobody: no channel it goes to takes info", "lower min_severity of one, or add a route {category: digest, to: CHANNEL}")
	}
}
