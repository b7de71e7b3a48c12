package config

import "time"

// HoldLimits are how long people may hold a thing without somebody else's yes. Zero is
// no limit of that sort.
type HoldLimits struct {
	Max   time.Duration // of one hold
	Total time.Duration // of all holds of one run, or of one boot without a run
}

// hold reads the limits of holds; where the file says nothing there are none.
func (r *reader) hold(n node) {
	m := n.mapping()
	h := &r.cfg.Hold
	h.Max = m.take("max").spanOrOff(0)
	total := m.take("total")
	if h.Total = total.spanOrOff(0); h.Total > 0 && h.Total < h.Max {
		total.bad(spanText(h.Total)+" is less than max ("+spanText(h.Max)+")", "write "+spanText(h.Max)+" or more")
	}
	m.done()
}
