package ledger

import (
	"time"

	"curfew/fleet"
)

// Stop is a stop or a release that curfew carried out.
type Stop struct {
	Ref fleet.Ref
	At  time.Time // when it was seen to have ended
}

// Saved is an estimate of what stops saved: had nobody stopped it, each instance
// would have run on at its last price, until it was next started or until now; what
// it went on costing is taken off. Nobody knows how long it would have run.
type Saved struct {
	Sums   fleet.Sums    `json:"sums"`
	Stops  int           `json:"stops"`   // that the sums rest on
	For    time.Duration `json:"for_ns"`  // for how long those instances were off
	Untold int           `json:"unknown"` // stops whose saving cannot be told, as a price is not known
}

// stopSlack is how much later than the stop itself it may have been seen to end.
const stopSlack = 2 * time.Minute

// Save estimates what stops saved in the time asked for.
func Save(hs []History, stops []Stop, q Query) Saved {
	if q.To.After(q.Now) {
		q.To = q.Now
	}
	asked := map[fleet.Ref][]time.Time{}
	for _, s := range stops {
		asked[s.Ref] = append(asked[s.Ref], s.At)
	}
	var out Saved
	for _, h := range hs {
		if len(asked[h.Ref]) == 0 {
			continue
		}
		charges := h.Charges(q.Now)
		for _, o := range h.offs(q.Now) {
			if !o.asked(asked[h.Ref]) {
				continue
			}
			from, to := later(o.from, q.From), earlier(o.to, q.To)
			if !to.After(from) || o.before.charge == fleet.ChargePeriod {
				continue
			}
			running := fleet.Price{PerHour: o.before.price}
			if o.before.priced {
				running.Source = o.before.source
			}
			saved, ok := running.For(to.Sub(from))
			for _, c := range charges {
				if still, within := c.Within(from, to); within {
					ok = ok && still.Unknown == "" && (still.Amount.IsZero() || still.Amount.Currency == saved.Currency)
					saved.Micros -= still.Amount.Micros
				}
			}
			if !ok {
				out.Untold++
				continue
			}
			out.Stops++
			out.For += to.Sub(from)
			out.Sums.Add(saved)
		}
	}
	return out
}

// off is a time in which an instance was off after it had been up.
type off struct {
	from, to time.Time
	before   span
}

// asked reports whether one of the stops is the one that began it.
func (o off) asked(stops []time.Time) bool {
	for _, at := range stops {
		if !at.Before(o.from) && at.Before(o.to.Add(stopSlack)) {
			return true
		}
	}
	return false
}

func (h History) offs(now time.Time) []off {
	var out []off
	var before *span
	isOff := false
	for _, s := range h.spans(now) {
		down := s.state == "stopped" || s.state == "released" || s.state == stateGone
		switch {
		case up(s.state) && s.state != "releasing":
			before, isOff = &s, false
		case down && before != nil && !isOff:
			out, isOff = append(out, off{s.from, s.to, *before}), true
		case down && isOff:
			out[len(out)-1].to = s.to
		}
	}
	return out
}
