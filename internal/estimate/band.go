package estimate

import "slices"

const minutesOfDay = 24 * 60

// day is how a price goes up and down within a day.
type day struct {
	edges []int    // minutes since midnight, from 0
	rates []Number // of an hour, from each edge to the next
}

// dayOf gives the day of an offer; nil: its price is the same at all times.
func dayOf(o Offer, fx FX) *day {
	if len(o.TimeOfDay) == 0 {
		return nil
	}
	d := &day{edges: []int{0}}
	for _, b := range o.TimeOfDay {
		d.edges = append(d.edges, b.From%minutesOfDay, b.To%minutesOfDay)
	}
	slices.Sort(d.edges)
	d.edges = slices.Compact(d.edges)
	for _, at := range d.edges {
		rate := fx.micros(o.Price)
		for _, b := range o.TimeOfDay {
			if b.holds(at) {
				rate = fx.micros(b.Price)
				break
			}
		}
		d.rates = append(d.rates, rate)
	}
	return d
}

// holds reports whether a minute is within the band.
func (b Band) holds(minute int) bool {
	if b.From < b.To {
		return b.From <= minute && minute < b.To
	}
	return b.From <= minute || minute < b.To
}

// until is what the time from midnight to so many minutes later costs.
func (d *day) until(minutes Number) Number {
	whole := minutes.over(Whole(minutesOfDay)).floor()
	rest := minutes.minus(whole.times(Whole(minutesOfDay)))
	sum := d.sum(Whole(minutesOfDay)).times(whole)
	return sum.plus(d.sum(rest))
}

// sum is what the first minutes of a day cost, a day at most.
func (d *day) sum(minutes Number) Number {
	var sum Number
	for n, rate := range d.rates {
		end := minutesOfDay
		if n+1 < len(d.edges) {
			end = d.edges[n+1]
		}
		from, to := Whole(int64(d.edges[n])), Whole(int64(end))
		if minutes.Cmp(to) < 0 {
			to = minutes.max(from)
		}
		sum = sum.plus(to.minus(from).times(rate))
	}
	return sum.over(Whole(60))
}

// mean is the price of an hour, spread over a day.
func (d *day) mean() Number { return d.sum(Whole(minutesOfDay)).over(Whole(24)) }

// span gives the least and the most that so many hours can cost, and the minutes of
// the day at which to begin for that.
func (d *day) span(hours Number) (low, high Number, lowAt, highAt int) {
	length := hours.times(Whole(60))
	var begins []Number
	for _, edge := range d.edges {
		at := Whole(int64(edge))
		// What ends at an edge began this long before it.
		back := at.minus(length).plus(Whole(minutesOfDay).times(length.over(Whole(minutesOfDay)).ceil()))
		begins = append(begins, at, back.minus(back.over(Whole(minutesOfDay)).floor().times(Whole(minutesOfDay))))
	}
	for n, at := range begins {
		cost := d.until(at.plus(length)).minus(d.until(at))
		minute := int(at.floor().rat().Num().Int64())
		if n == 0 || cost.Cmp(low) < 0 {
			low, lowAt = cost, minute
		}
		if n == 0 || cost.Cmp(high) > 0 {
			high, highAt = cost, minute
		}
	}
	return low, high, lowAt, highAt
}
