package ledger

import (
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// span is a time in which nothing that the cost follows from changed.
type span struct {
	from, to time.Time
	state    string
	boot     string
	price    fleet.Money
	priced   bool
	billing  fleet.Billing
	charge   fleet.ChargeType
	source   fleet.PriceSource
}

// The states that are no instance's: of what is billed beside them, and of what is
// gone.
const (
	stateThere  = "there"
	stateMaking = "making"
	stateGone   = "gone"
)

// up reports whether a thing in the state is on, or simply there.
func up(state string) bool {
	switch state {
	case "starting", "running", "stopping", "releasing", stateThere:
		return true
	}
	return false
}

// free reports whether a thing in the state costs nothing: it is not there yet, or
// not any more.
func free(state string) bool {
	switch state {
	case "", "creating", stateMaking, "released", stateGone:
		return true
	}
	return false
}

// spans cuts a history into spans up to now.
func (h History) spans(now time.Time) []span {
	var cuts []time.Time
	first := time.Time{}
	for _, g := range h.Segments {
		if g.What == "activity" {
			continue
		}
		cuts = append(cuts, g.From)
		if !g.To.IsZero() {
			cuts = append(cuts, g.To)
		}
		if g.What == "state" && (first.IsZero() || g.From.Before(first)) {
			first = g.From
		}
	}
	if first.IsZero() {
		return nil
	}
	cuts = append(cuts, now)
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	read := map[string]*reader{}
	for _, what := range []string{"state", "price", "billing", "boot"} {
		read[what] = newReader(h.Segments, what)
	}
	var out []span
	for n := 0; n+1 < len(cuts) && cuts[n].Before(now); n++ {
		if cuts[n].Before(first) {
			continue
		}
		s := span{from: cuts[n], to: cuts[n+1]}
		s.state, s.boot = read["state"].at(s.from), read["boot"].at(s.from)
		s.setPrice(read["price"].at(s.from), read["billing"].at(s.from))
		out = append(out, s)
	}
	return bridged(out)
}

// setPrice reads a price and how it is billed, in the words of the state.
func (s *span) setPrice(price, billing string) {
	m, err := fleet.ParseMoney(price)
	s.priced, s.price = err == nil, m
	s.source = fleet.PriceProvider
	words := strings.Fields(billing)
	word := func(n int) string {
		if n >= len(words) || words[n] == "-" {
			return ""
		}
		return words[n]
	}
	s.billing, s.charge = fleet.Billing(word(0)), fleet.ChargeType(word(1))
	if source := word(2); source != "" {
		s.source = fleet.PriceSource(source)
	}
}

// bridged takes a time in which nobody could tell the state for what it was before
// and is after, where the two are the same.
func bridged(spans []span) []span {
	for n := range spans {
		if n == 0 || spans[n].state != "unknown" {
			continue
		}
		next := n + 1
		for next < len(spans) && spans[next].state == "unknown" {
			next++
		}
		if next == len(spans) {
			break
		}
		before, after := spans[n-1], spans[next]
		if before.state == after.state && before.boot == after.boot && before.price == after.price && before.priced == after.priced {
			before.from, before.to = spans[n].from, spans[n].to
			spans[n] = before
		}
	}
	return spans
}

// reader gives the value of one thing at moments that only grow.
type reader struct {
	segments []Segment
	next     int
}

func newReader(all []Segment, what string) *reader {
	r := &reader{}
	for _, g := range all {
		if g.What == what {
			r.segments = append(r.segments, g)
		}
	}
	slices.SortStableFunc(r.segments, func(a, b Segment) int { return a.From.Compare(b.From) })
	return r
}

func (r *reader) at(t time.Time) string {
	for r.next < len(r.segments) && !r.segments[r.next].From.After(t) {
		r.next++
	}
	if r.next == 0 {
		return ""
	}
	g := r.segments[r.next-1]
	if !g.To.IsZero() && !g.To.After(t) {
		return ""
	}
	return g.Value
}
