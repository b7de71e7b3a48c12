package config

import (
	"fmt"
	"slices"
	"time"

	"curfew/notify"
)

// namedChannels reads one name of a channel or several.
func namedChannels(n node, channels []string) []string {
	var out []string
	for _, v := range n.oneOrMany() {
		switch name := v.text(""); {
		case name == "":
		case !slices.Contains(channels, name):
			v.bad(fmt.Sprintf("%q is not the name of a channel", name), suggest(name, channels))
		default:
			out = append(out, name)
		}
	}
	return out
}

// pace reads how what is found is gathered before it is told.
func (r *reader) pace(n node) {
	p := notify.Pace{Wait: 30 * time.Second, Interval: 5 * time.Minute}
	if s, single := n.source(); single && s == "off" {
		r.cfg.Notify.Pace = notify.Pace{}
		return
	}
	m := n.mapping()
	p.Wait, p.Interval = m.take("wait").spanOrOff(p.Wait), m.take("interval").spanOrOff(p.Interval)
	m.done()
	r.cfg.Notify.Pace = p
}

// quiet reads the hours of the day in which only what cannot wait is told.
func (r *reader) quiet(n node) {
	m := n.mapping()
	if !m.given() {
		return
	}
	q := notify.QuietHours{Zone: r.cfg.Timezone}
	q.From = clock(m.need("from", `write from: and a time of day, such as "23:00"`))
	to := m.need("to", `write to: and a time of day, such as "08:00"`)
	q.To = clock(to)
	m.done()
	if q.From == q.To {
		to.bad("is when they begin: that would be no hour or all of them", "write another time of day, or leave quiet_hours out")
	}
	r.cfg.Notify.Quiet = q
}

// clock reads a time of day.
func clock(n node) time.Duration {
	s := n.text("")
	if s == "" {
		return 0
	}
	t, err := time.Parse("15:04", s)
	if err != nil {
		n.bad(fmt.Sprintf("%q is not a time of day", s), `write hours and minutes, such as "23:00"`)
		return 0
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}
