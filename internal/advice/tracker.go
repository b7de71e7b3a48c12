package advice

import (
	"math"
	"slices"
	"time"

	"curfew/fleet"
)

const (
	// Slot is the time whose mean is kept.
	Slot = 5 * time.Minute
	// History is how far back means are kept.
	History = 24 * time.Hour

	mostSlots = int(History / Slot)
	// mostCards bounds what a broken answer can make us remember.
	mostCards = 64
	// atRest is the utilisation, in percent, below which a card does nothing: the
	// default from which a look calls it busy.
	atRest = 5.0
)

// Tracker remembers what the looks at one instance showed in its present boot: the
// mean of every [Slot] of each card, for [History] at most, and when each watched
// file last grew. The zero value has seen nothing. It is not for several goroutines
// at once.
type Tracker struct {
	boot  fleet.Boot
	looks stretch // that got in
	busy  bool    // the newest of them showed work
	files map[string]file
	use   use
}

// stretch is a time in which no look was missed.
type stretch struct {
	began, last time.Time
	fresh       time.Duration // for which the newest look may be relied on
}

// add adds a look; false: it begins the stretch anew.
func (s *stretch) add(e fleet.Evidence) bool {
	goes := !s.began.IsZero() && e.SeenAt.Sub(s.last) <= max(s.fresh, e.FreshFor)
	if !goes {
		s.began = e.SeenAt
	}
	s.last, s.fresh = e.SeenAt, e.FreshFor
	return goes
}

// reaches reports whether the stretch lasts until now.
func (s *stretch) reaches(now time.Time) bool {
	return !s.began.IsZero() && !now.Before(s.last) && now.Sub(s.last) <= s.fresh
}

// use is how much cards and processor did in a stretch of looks that could read
// every card.
type use struct {
	stretch
	usedAt []time.Time // when each card was last seen at work; zero: never
	index  []int       // of the cards
	first  time.Time   // when the first slot that is kept began
	means  []uint8     // of each whole slot and card, in half percents
	cores  []float32   // that were at work, of each whole slot; below zero: not told
	slot   sums        // the one that is not over
	total  float64     // cores there are; zero: not told
	worked time.Duration
}

// sums are what a mean is made of.
type sums struct {
	cards      []float64
	looks      int
	cores      float64
	coresLooks int
}

// Idle reports whether nothing of what was seen reaches to now, so that nothing is
// lost by forgetting it.
func (t *Tracker) Idle(now time.Time) bool { return !t.looks.reaches(now) }

// Observe adds a judged look. Those from outside, those that did not get in and
// those older than what is known say nothing.
func (t *Tracker) Observe(e fleet.Evidence) {
	if e.Outside || e.Boot == "" || !e.Facts.Reached || !e.SeenAt.After(t.looks.last) {
		return
	}
	if e.Boot != t.boot {
		*t = Tracker{boot: e.Boot}
	}
	t.looks.add(e)
	t.busy = e.Activity == fleet.Busy
	t.grow(e)
	if cards, ok := readable(e.Facts); ok {
		t.use.add(e, cards)
	}
}

// readable gives the utilisation of every card, if all can be told: in MIG mode a
// card as a whole has none, and [N/A] is not zero.
func readable(f fleet.Facts) ([]float64, bool) {
	if _, failed := f.Unreadable["cards"]; failed || len(f.Cards) == 0 || len(f.Cards) > mostCards {
		return nil, false
	}
	out := make([]float64, 0, len(f.Cards))
	for _, c := range f.Cards {
		if c.MIG || c.Utilization == nil || !(*c.Utilization >= 0 && *c.Utilization <= 100) {
			return nil, false
		}
		out = append(out, *c.Utilization)
	}
	return out, true
}

func (u *use) add(e fleet.Evidence, cards []float64) {
	before := u.last
	if !u.same(e.Facts.Cards) || !u.stretch.add(e) {
		*u = use{stretch: stretch{began: e.SeenAt, last: e.SeenAt, fresh: e.FreshFor}, first: e.SeenAt, usedAt: make([]time.Time, len(cards))}
		for _, c := range e.Facts.Cards {
			u.index = append(u.index, c.Index)
		}
		u.slot.cards = make([]float64, len(cards))
	}
	cores, told := u.atWork(e, before)
	for at := u.first.Add(time.Duration(len(u.cores)) * Slot); !e.SeenAt.Before(at.Add(Slot)); at = at.Add(Slot) {
		if u.slot.looks == 0 {
			u.slot.add(cards, cores, told) // it held since the look before
		}
		u.close()
	}
	for n, c := range cards {
		if c >= atRest {
			u.usedAt[n] = e.SeenAt
		}
	}
	u.slot.add(cards, cores, told)
}

// same reports whether these are the cards that were seen before.
func (u *use) same(cards []fleet.Card) bool {
	return slices.EqualFunc(u.index, cards, func(index int, c fleet.Card) bool { return index == c.Index })
}

// atWork is how many cores were at work since the look before: by the time they
// worked, or else by the load, which counts what waits for a disk as well.
func (u *use) atWork(e fleet.Evidence, before time.Time) (float64, bool) {
	f := e.Facts
	worked, since := f.CPUTime-u.worked, e.SeenAt.Sub(before)
	known := u.worked > 0 && worked >= 0 && since > 0
	u.total, u.worked = f.Cores, f.CPUTime
	_, unread := f.Unreadable["load"]
	switch {
	case f.Cores <= 0:
		return 0, false
	case f.CPUTime > 0:
		return float64(worked) / float64(max(since, 1)), known
	case unread:
		return 0, false
	}
	return f.Load1, true
}

func (s *sums) add(cards []float64, cores float64, told bool) {
	for n, c := range cards {
		s.cards[n] += c
	}
	s.looks++
	if told {
		s.cores += cores
		s.coresLooks++
	}
}

// close keeps the mean of the slot that is over, and forgets the oldest.
func (u *use) close() {
	if len(u.cores) == mostSlots {
		u.means = append(u.means[:0], u.means[len(u.index):]...)
		u.cores = append(u.cores[:0], u.cores[1:]...)
		u.first = u.first.Add(Slot)
	}
	for n, sum := range u.slot.cards {
		u.means = append(u.means, uint8(math.Round(2*sum/float64(u.slot.looks))))
		u.slot.cards[n] = 0
	}
	cores := -1.0
	if u.slot.coresLooks > 0 {
		cores = u.slot.cores / float64(u.slot.coresLooks)
	}
	u.cores = append(u.cores, float32(cores))
	u.slot = sums{cards: u.slot.cards}
}

// mean is that of one card in one slot, in percent.
func (u *use) mean(slot, card int) float64 { return float64(u.means[slot*len(u.index)+card]) / 2 }

// begins is when a slot began.
func (u *use) begins(slot int) time.Time { return u.first.Add(time.Duration(slot) * Slot) }
