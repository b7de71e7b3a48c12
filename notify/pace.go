package notify

import (
	"time"

	"curfew/fleet"
)

// Pace says when notices of one group are told: the first after Wait, so that others
// can join it, and more not before Interval after the last. Zero is at once.
type Pace struct {
	Wait     time.Duration
	Interval time.Duration
}

// critical news wait for a part of the time.
const (
	criticalWait     = 3
	criticalInterval = 5
)

// Of gives the pace of one notice. What an act of curfew's own is told by does not
// wait.
func (p Pace) Of(n Notice) Pace {
	switch {
	case n.Event != EventFinding && n.Event != EventResolved && n.Event != EventWould:
		return Pace{}
	case n.Severity == fleet.Critical:
		return Pace{Wait: p.Wait / criticalWait, Interval: p.Interval / criticalInterval}
	}
	return p
}

// Due is when a notice is told: after its own wait, not too soon after the last message
// of the group, and sooner where others of the group are. Zero times are none. A last
// message in the future was sent before the clock was put back, and counts for none.
func (p Pace) Due(now, waiting, last time.Time) time.Time {
	due := now.Add(p.Wait)
	if !last.IsZero() && !last.After(now) && last.Add(p.Interval).After(due) {
		due = last.Add(p.Interval)
	}
	if waiting.After(now) && waiting.Before(due) {
		return waiting
	}
	return due
}

// QuietHours are the hours of the day in which only what cannot wait is told. From
// after To is over midnight; both the same are none.
type QuietHours struct {
	From, To time.Duration // since midnight
	Zone     *time.Location
}

// Until gives the end of the quiet hours that a moment lies in; false where it lies in
// none. It goes by the clock on the wall, also on the days on which that is put.
func (q QuietHours) Until(t time.Time) (time.Time, bool) {
	if q.From == q.To || q.Zone == nil {
		return time.Time{}, false
	}
	year, month, day := t.In(q.Zone).Date()
	at := func(n int, of time.Duration) time.Time {
		return time.Date(year, month, n, 0, int(of/time.Minute), 0, 0, q.Zone)
	}
	for n := day - 1; n <= day; n++ {
		from, to := at(n, q.From), at(n, q.To)
		if q.To < q.From {
			to = at(n+1, q.To)
		}
		if !t.Before(from) && t.Before(to) {
			return to, true
		}
	}
	return time.Time{}, false
}

// Announces reports whether the notice says that an act is coming: it starts a clock
// or is the last word, so nothing ever holds it back.
func (n Notice) Announces() bool { return n.Event == EventPending || n.Event == EventAsked }

// Holds reports whether quiet hours hold a notice back: not what announces an act, is
// critical or about money, and not what somebody asked for at this time.
func Holds(n Notice) bool {
	switch n.Event {
	case EventPending, EventAsked, EventDigest, EventReload, EventTest:
		return false
	}
	return n.Severity != fleet.Critical && n.Category != fleet.CategoryMoney
}

// Reminded counts the reminders that are due of what was told at opened and is not
// over: they come less and less often.
func Reminded(s fleet.Severity, opened, now time.Time) int {
	first := []time.Duration{time.Hour, 4 * time.Hour, 24 * time.Hour}
	if s == fleet.Critical {
		first = []time.Duration{15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour}
	}
	age := now.Sub(opened)
	n := 0
	for _, after := range first {
		if age >= after {
			n++
		}
	}
	if n == len(first) {
		n += int(age/(24*time.Hour)) - 1
	}
	return n
}
