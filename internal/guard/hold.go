package guard

import (
	"math"
	"slices"
	"time"

	"curfew/fleet"
)

// Why no more is held at once than people asked for.
const (
	ReasonHoldMax   fleet.Code = "guard.hold-max"
	ReasonHoldTotal fleet.Code = "guard.hold-total"
)

// HoldLimits are how long people may forbid acting on a thing without anybody else's
// yes. Zero is no limit of that sort.
type HoldLimits struct {
	Max   time.Duration // of one hold, from when it is asked for
	Total time.Duration // of all holds of one run, or of one boot where there is no run
}

// Held is a time in which acting on a thing is forbidden, or was.
type Held struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Allowed gives until when a hold that is asked for at now may last at once, and why
// not as long as asked; now itself: nothing of it is allowed. held is what was and is
// held already, in any order; what lies before since does not count, and what is held
// twice counts once.
func (l HoldLimits) Allowed(now, until, since time.Time, held []Held) (time.Time, fleet.Reason) {
	var why fleet.Reason
	if most := now.Add(l.Max); l.Max > 0 && until.After(most) {
		until, why = most, fleet.Because(ReasonHoldMax, fleet.Values{"max": fleet.Span(l.Max)})
	}
	if l.Total <= 0 {
		return until, why
	}
	all := Joined(since, held)
	used := HeldFor(all)
	left, at := max(l.Total-used, 0), now
	for _, h := range append(all, Held{From: until, To: until}) {
		if !h.To.After(at) || at.After(until) {
			continue
		}
		if free := h.From.Sub(at); free > left {
			break
		} else if free > 0 {
			left -= free
		}
		at = h.To
	}
	if most := at.Add(left); most.Before(until) {
		values := fleet.Values{"total": fleet.Span(l.Total), "held": fleet.Span(used)}
		if !since.IsZero() {
			values["since"] = fleet.Moment(since)
		}
		until, why = most, fleet.Because(ReasonHoldTotal, values)
	}
	return until, why
}

// Joined gives the times after since in their order, those that touch as one.
func Joined(since time.Time, held []Held) []Held {
	held = slices.Clone(held)
	slices.SortFunc(held, func(a, b Held) int { return a.From.Compare(b.From) })
	var out []Held
	for _, h := range held {
		if h.From.Before(since) {
			h.From = since
		}
		last := len(out) - 1
		switch {
		case !h.To.After(h.From):
		case last >= 0 && !h.From.After(out[last].To):
			if h.To.After(out[last].To) {
				out[last].To = h.To
			}
		default:
			out = append(out, h)
		}
	}
	return out
}

// HeldFor is how long times that were joined are together.
func HeldFor(joined []Held) time.Duration {
	var sum time.Duration
	for _, h := range joined {
		d := h.To.Sub(h.From)
		if d > math.MaxInt64-sum { // one without an end
			return math.MaxInt64
		}
		sum += d
	}
	return sum
}
