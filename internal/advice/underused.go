package advice

import (
	"math"
	"time"

	"curfew/fleet"
)

const (
	// full is the share of its cores at which the processor is what is waited for.
	full = 0.9
	// working is how many cores must be at work for the processor to count as used.
	working = 0.5
)

// underused tells what is worth a word about cards: that they are not needed, that
// some of them are not, or that they wait.
func (t *Tracker) underused(r fleet.Run, s Subject, l Underused, now time.Time) []Advice {
	u := &t.use
	begin := later(r.StartedAt, u.began)
	from := u.from(r.StartedAt)
	least := slots(l.For)
	if l.Below <= 0 || !u.reaches(now) || len(u.cores)-from < least || len(u.index) < s.Instance.GPU.Count {
		return nil
	}
	if s.StartsWithoutGPU {
		if at, ok := u.onlyCPU(from, slots(l.CPUFor)); ok {
			wasted := 1 - u.meanOver(u.all(), at, len(u.cores))/100
			return []Advice{{Code: CodeNoGPU, Run: r, Since: u.begins(at), Wasted: wasted, Values: fleet.Values{
				"since": fleet.Moment(u.begins(at)), "cores": fleet.Number(math.Round(u.coresSince(at)*10) / 10),
			}}}
		}
	}
	var out []Advice
	used := u.usedSince(begin)
	all := len(u.index)
	if unused := all - len(used); unused > 0 && len(used) > 0 {
		out = append(out, Advice{Code: CodeCards, Run: r, Since: begin, Wasted: float64(unused) / float64(all), Values: fleet.Values{
			"unused": fleet.Number(float64(unused)), "count": fleet.Number(float64(all)), "since": fleet.Moment(begin),
		}})
	}
	if len(used) == 0 {
		used = u.all()
	}
	at, ok := u.below(used, from, least, l.Below)
	if !ok {
		return out
	}
	mean := u.meanOver(used, at, len(u.cores))
	return append(out, Advice{
		Code: CodeUnderused, Run: r, Since: u.begins(at), Wasted: (1 - mean/100) * float64(len(used)) / float64(all),
		Values: fleet.Values{
			"mean": fleet.Number(math.Round(mean)), "since": fleet.Moment(u.begins(at)), "help": fleet.Nested(u.help(used, at, l)),
		},
	})
}

// help is what could help cards that wait since a slot.
func (u *use) help(used []int, at int, l Underused) fleet.Reason {
	if cores := u.coresSince(at); u.total > 0 && float32(cores) >= float32(full*u.total) {
		return fleet.Because(HelpCPU, fleet.Values{
			"cores": fleet.Number(math.Round(cores*10) / 10), "total": fleet.Number(math.Round(u.total*10) / 10),
		})
	}
	for _, card := range used {
		if l.Swing > 0 && u.swings(card, at, l.Swing) {
			return fleet.Because(HelpSwing, nil)
		}
	}
	return fleet.Because(HelpAny, nil)
}

// slots is how many slots a time takes.
func slots(d time.Duration) int { return int((d + Slot - 1) / Slot) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// from is the first slot that lies wholly after a moment.
func (u *use) from(t time.Time) int {
	if !t.After(u.first) {
		return 0
	}
	return slots(t.Sub(u.first))
}

func (u *use) all() []int {
	out := make([]int, len(u.index))
	for n := range out {
		out[n] = n
	}
	return out
}

// usedSince gives the cards that were seen at work since a moment.
func (u *use) usedSince(t time.Time) []int {
	var out []int
	for n, at := range u.usedAt {
		if !at.IsZero() && !at.Before(t) {
			out = append(out, n)
		}
	}
	return out
}

// below gives the earliest slot since which the mean of every so many slots lay
// below a percentage, if those are so many. None lies before from, and the first is
// itself below: what went well before it is no part of it.
func (u *use) below(cards []int, from, least int, below float64) (at int, ok bool) {
	n := len(u.cores)
	for at = n - least; at >= from && u.meanOver(cards, at, at+least) < below; {
		at--
	}
	for at++; n-at >= least && u.meanOver(cards, at, at+1) >= below; {
		at++
	}
	return at, n-at >= least
}

func (u *use) meanOver(cards []int, from, to int) float64 {
	sum := 0.0
	for slot := from; slot < to; slot++ {
		for _, card := range cards {
			sum += u.mean(slot, card)
		}
	}
	return sum / float64((to-from)*len(cards))
}

// onlyCPU gives the earliest slot since which every card was at rest and the
// processor worked, if those are so many.
func (u *use) onlyCPU(from, least int) (at int, ok bool) {
	if least <= 0 {
		return 0, false
	}
	at = len(u.cores)
	for at > from && u.cores[at-1] >= working && u.atRest(at-1) {
		at--
	}
	return at, len(u.cores)-at >= least
}

func (u *use) atRest(slot int) bool {
	for card := range u.index {
		if u.mean(slot, card) >= atRest {
			return false
		}
	}
	return true
}

// coresSince is how many cores were at work on average; below zero where one slot
// does not tell.
func (u *use) coresSince(slot int) float64 {
	sum := 0.0
	for _, cores := range u.cores[slot:] {
		if cores < 0 {
			return -1
		}
		sum += float64(cores)
	}
	return sum / float64(len(u.cores)-slot)
}

// swings reports whether a card's means went by more than so many points one way and
// then the other: once is the begin of something else.
func (u *use) swings(card, from int, points float64) bool {
	low, high := u.mean(from, card), u.mean(from, card)
	turns, up, down := 0, false, false
	for slot := from; slot < len(u.cores); slot++ {
		v := u.mean(slot, card)
		low, high = min(low, v), max(high, v)
		switch {
		case !up && v-low > points:
			turns, up, down = turns+1, true, false
			low, high = v, v
		case !down && high-v > points:
			turns, up, down = turns+1, false, true
			low, high = v, v
		}
	}
	return turns >= 2
}
