package accept

import (
	"slices"

	"curfew/fleet"
)

// inUse is from which utilisation on, in percent, somebody uses a card that nobody
// should use yet.
const inUse = 10

// leastSamples is how many samples a failure rests on.
const leastSamples = 3

// steady judges how the cards bore the load. Heat and a lack of power fail where they
// slow a card down half of the time; the rest, which a clock that has just gone up may
// do as well, is a warning.
func (j *judge) steady() {
	if j.t.off(CheckSteady) {
		return
	}
	good := j.unused()
	if !j.r.Load.Known {
		j.unknown(CheckSteady, j.r.Load.Why)
		return
	}
	told, fastest := true, 0.0
	means := map[int]float64{}
	for _, c := range j.r.Load.Value {
		if mean := median(c.Rates); len(c.Rates) > 0 {
			means[c.Index], fastest = mean, max(fastest, mean)
		}
		good = j.bore(c) && good
		told = told && c.Told > 0
	}
	for _, c := range j.r.Load.Value {
		if mean, ok := means[c.Index]; ok && j.t.Spread > 0 && mean < fastest*(1-j.t.Spread/100) {
			good = false
			j.warn(fleet.Because(SteadyUneven, fleet.Values{
				"card": fleet.Number(float64(c.Index)), "rate": fleet.Text(digits(mean)), "fastest": fleet.Text(digits(fastest)),
			}))
		}
	}
	switch {
	case good && !told:
		j.unknown(CheckSteady, fleet.Because(SteadyBlind, fleet.Values{"rate": fleet.Text(digits(fastest))}))
	case good:
		j.pass(fleet.Because(SteadyGood, fleet.Values{"rate": fleet.Text(digits(fastest))}))
	}
}

// unused warns of cards that were used before anything was begun.
func (j *judge) unused() bool {
	good := true
	for _, c := range j.r.Cards.Value {
		if c.Busy != nil && *c.Busy >= inUse {
			good = false
			j.warn(fleet.Because(SteadyInUse, fleet.Values{"card": fleet.Number(float64(c.Index)), "busy": fleet.Number(*c.Busy)}))
		}
	}
	return good
}

// bore judges one card.
func (j *judge) bore(c LoadCard) bool {
	card := fleet.Number(float64(c.Index))
	v := fleet.Values{"card": card, "times": fleet.Number(float64(c.Throttled)), "of": fleet.Number(float64(c.Told))}
	good := true
	switch {
	case c.Throttled > 0 && c.Throttled*2 >= c.Told && c.Told >= leastSamples:
		j.fail(fleet.Because(SteadyThrottled, v))
		return false
	case c.Throttled > 0:
		good = false
		j.warn(fleet.Because(SteadyOnce, v))
	}
	if low, high, wide := j.wide(c.Clocks); wide {
		good = false
		j.warn(fleet.Because(SteadyClocks, fleet.Values{"card": card, "low": fleet.Text(digits(low)), "high": fleet.Text(digits(high))}))
	}
	if low, high, wide := j.wide(c.Rates); wide {
		good = false
		j.warn(fleet.Because(SteadyRates, fleet.Values{"card": card, "low": fleet.Text(digits(low)), "high": fleet.Text(digits(high))}))
	}
	return good
}

// wide reports whether figures differ by more than they may. The first one, in which a
// card only begins, does not count.
func (j *judge) wide(all []float64) (low, high float64, wide bool) {
	if len(all) < 3 {
		return 0, 0, false
	}
	low, high = slices.Min(all[1:]), slices.Max(all[1:])
	return low, high, j.t.Spread > 0 && low < high*(1-j.t.Spread/100)
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}
