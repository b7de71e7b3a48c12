package config

import (
	"fmt"
	"time"

	"curfew/internal/advice"
)

// advice reads from when on a run could do better. What is off is zero.
func (r *reader) advice(n node) {
	l := advice.Defaults()
	if n.offOr() {
		r.cfg.Advice = advice.Limits{}
		return
	}
	m := n.mapping()
	if u := m.take("underused"); u.offOr() {
		l.Underused = advice.Underused{}
	} else {
		underused(u.mapping(), &l.Underused)
	}
	l.Stalled = m.take("stalled").spanOrOff(l.Stalled)
	m.done()
	r.cfg.Advice = l
}

func underused(m *mapping, l *advice.Underused) {
	l.Below = m.take("below").percent(l.Below, false)
	length := m.take("for")
	l.For = length.span(l.For)
	remembered(length, l.For)
	swing := m.take("swing")
	l.Swing = float64(swing.whole(int(l.Swing), 1, true))
	if l.Swing >= 100 {
		swing.bad(fmt.Sprintf("no mean differs by more than %s points from another", number(l.Swing)), "write less than 100, or off")
	}
	cpu := m.take("cpu_for")
	l.CPUFor = cpu.spanOrOff(l.CPUFor)
	if l.CPUFor > 0 {
		remembered(cpu, l.CPUFor)
	}
	m.done()
}

// remembered reports a time over which no mean is taken.
func remembered(n node, d time.Duration) {
	switch {
	case d < advice.Slot:
		n.bad(spanText(d)+" is shorter than the time a mean is taken over, "+spanText(advice.Slot), "write "+spanText(advice.Slot)+" or more")
	case d > advice.History:
		n.bad(spanText(d)+" is longer than what is remembered of cards, "+spanText(advice.History), "write 24h or less")
	}
}

// offOr reports whether off stands where a block may stand.
func (n node) offOr() bool {
	n.as(oneOf(kindWord, "", []string{"off"}))
	if _, single := n.source(); !single {
		return false
	}
	n.word("", "off")
	return true
}
