package notify

import (
	"slices"
	"time"

	"curfew/fleet"
)

// ConsoleKind is the channel type that writes to the daemon's own output.
const ConsoleKind = "console"

// Escalation says who else is told of what is critical and nobody answered.
type Escalation struct {
	After time.Duration // zero: nobody
	To    []string
}

// Pick says to which channels a notice goes, by name: to those of the first route that
// takes its category, or to all of them where no route does.
func Pick(routes []Route, n Notice, channels []string) []string {
	if r, ok := RouteOf(routes, n); ok {
		return slices.Clone(r.To)
	}
	return slices.Clone(channels)
}

// RouteOf gives the first route that takes a notice's category.
func RouteOf(routes []Route, n Notice) (Route, bool) {
	for _, r := range routes {
		if len(r.Categories) == 0 || slices.Contains(r.Categories, n.Category) {
			return r, true
		}
	}
	return Route{}, false
}

// Accepts reports whether a message taken by a channel of this kind counts as a
// warning that reached people. allKinds are the kinds of all configured
// channels: a line on the daemon's own output counts only where there is
// nothing else.
func Accepts(kindName string, allKinds []string) bool {
	return kindName != ConsoleKind ||
		!slices.ContainsFunc(allKinds, func(k string) bool { return k != ConsoleKind })
}

// Urgent reports whether the notice goes before others and may use the part of
// a channel's quota that is kept back: announcements of an act, since their
// acceptance starts its clock, and what is critical or about money.
func (n Notice) Urgent() bool { return n.rank() < rankOther }

const (
	rankPending = iota
	rankCritical
	rankMoney
	rankOther
)

func (n Notice) rank() int {
	switch {
	case n.Event == EventPending, n.Event == EventAsked:
		return rankPending
	case n.Severity == fleet.Critical:
		return rankCritical
	case n.Category == fleet.CategoryMoney:
		return rankMoney
	}
	return rankOther
}
