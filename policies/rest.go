package policies

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// The reasons why one look of an idle policy's window shows no rest.
const (
	ReasonLookCard       fleet.Code = "policy.look-card"
	ReasonLookSession    fleet.Code = "policy.look-session"
	ReasonLookMemory     fleet.Code = "policy.look-memory"
	ReasonLookRun        fleet.Code = "policy.look-run"
	ReasonLookOutside    fleet.Code = "policy.look-outside"
	ReasonLookUnreadable fleet.Code = "policy.look-unreadable"
	ReasonLookCards      fleet.Code = "policy.look-cards"
	ReasonLookCardUnread fleet.Code = "policy.look-card-unread"
)

// heldMemoryMB is how much memory a card in use holds at least; a driver alone
// takes less.
const heldMemoryMB = 1024

// rest is what one look says of an instance, from the most careful.
type rest int

const (
	unclear rest = iota // nothing that proves rest
	working
	holding // at rest, and a card holds memory
	resting
)

// rest tells what one judged look says. One sign of work is enough; rest needs
// every reading.
func (p *Idle) rest(i *fleet.Instance, e *fleet.Evidence) (rest, fleet.Reason) {
	switch e.Activity {
	case fleet.Busy:
		return working, e.Reason
	case fleet.Idle:
	default:
		return unclear, e.Reason
	}
	if e.Outside {
		return resting, fleet.Reason{} // its word is all there is
	}
	f := &e.Facts
	for n := range f.Cards {
		if used, ok := utilization(&f.Cards[n]); ok && used >= p.GPUBelow {
			return working, fleet.Because(ReasonLookCard, fleet.Values{
				"card": cardNumber(&f.Cards[n]), "used": fleet.Number(used), "limit": fleet.Number(p.GPUBelow)})
		}
	}
	for _, s := range f.Sessions {
		if s.Idle <= p.SessionIdleMax {
			return working, fleet.Because(ReasonLookSession, fleet.Values{
				"session": fleet.Text(cmp.Or(s.Name, s.Kind)), "idle": fleet.Span(s.Idle)})
		}
	}
	if why := unproven(i, e); !why.IsZero() {
		return unclear, why
	}
	if p.IgnoreMemory {
		return resting, fleet.Reason{}
	}
	for n := range f.Cards {
		// A reading that is missing may be any.
		if c := &f.Cards[n]; c.MemoryMB == nil || !(*c.MemoryMB < heldMemoryMB) {
			return holding, fleet.Because(ReasonLookMemory, fleet.Values{"card": cardNumber(c), "memory": memory(c)})
		}
	}
	return resting, fleet.Reason{}
}

// unproven gives the first reason why a look that saw no work proves no rest.
func unproven(i *fleet.Instance, e *fleet.Evidence) fleet.Reason {
	f := &e.Facts
	switch {
	case !f.Reached || !f.ProcessesRead:
		return fleet.Because(ReasonLookOutside, fleet.Values{"source": fleet.Text(e.Source)})
	case len(f.Unreadable) > 0:
		what := slices.Min(slices.Collect(maps.Keys(f.Unreadable)))
		return fleet.Because(ReasonLookUnreadable, fleet.Values{"what": fleet.Text(what), "why": fleet.Text(f.Unreadable[what])})
	case len(f.Cards) < i.GPU.Count:
		return fleet.Because(ReasonLookCards, fleet.Values{
			"seen": fleet.Number(float64(len(f.Cards))), "want": fleet.Number(float64(i.GPU.Count))})
	}
	for n := range f.Cards {
		if _, ok := utilization(&f.Cards[n]); !ok || f.Cards[n].MIG {
			return fleet.Because(ReasonLookCardUnread, fleet.Values{"card": cardNumber(&f.Cards[n])})
		}
	}
	return fleet.Reason{}
}

// utilization gives a card's reading where it is one: none at all is not zero.
func utilization(c *fleet.Card) (float64, bool) {
	if c.Utilization == nil || !(*c.Utilization >= 0) {
		return 0, false
	}
	return *c.Utilization, true
}

func cardNumber(c *fleet.Card) fleet.Value { return fleet.Number(float64(c.Index)) }

func memory(c *fleet.Card) fleet.Value {
	if c.MemoryMB == nil {
		return fleet.Text("")
	}
	return fleet.Number(*c.MemoryMB)
}

// samples gives the looks of the present Boot, newest first; of two begun at once
// by one source the more careful answer comes first.
func (s *subject) samples() []*fleet.Evidence {
	all := s.view.Samples[s.instance.Ref]
	looks := make([]*fleet.Evidence, 0, len(all))
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].Boot.Same(s.instance.Boot) {
			looks = append(looks, &all[n])
		}
	}
	newestFirst := func(a, b *fleet.Evidence) int {
		return cmp.Or(b.SeenAt.Compare(a.SeenAt), strings.Compare(a.Source, b.Source), careful(a)-careful(b))
	}
	if !slices.IsSortedFunc(looks, newestFirst) {
		slices.SortFunc(looks, newestFirst)
	}
	return looks
}

func careful(e *fleet.Evidence) int {
	switch e.Activity {
	case fleet.Busy:
		return 0
	case fleet.Idle:
		return 2
	}
	return 1
}

// stretch is the time up to now of which looks by one source show that nobody
// worked, without a gap.
type stretch struct {
	source  string
	since   time.Time // when its oldest look began; zero: there is none
	looks   int
	last    time.Time // when the look that comes next on the way back began
	broken  rest      // what ended it: resting for nothing, the looks go no further back
	because fleet.Reason
}

// stretchOf goes back from now as far as it must, and says what stopped it
// before. A look counts until it is stale: where none began within that time
// after it, nobody knows.
func (p *Idle) stretchOf(source string, i *fleet.Instance, looks []*fleet.Evidence, now, from time.Time) stretch {
	st := stretch{source: source, last: now, broken: resting}
	for _, e := range looks {
		if e.Source != source {
			continue
		}
		if gap := st.last.Sub(e.SeenAt); gap < 0 || gap > e.FreshFor {
			st.broken, st.because = unclear, fleet.Because(ReasonIdleUnwatched, fleet.Values{
				"source": fleet.Text(source), "from": fleet.Moment(e.SeenAt), "to": fleet.Moment(st.last)})
			return st
		}
		switch seen, why := p.rest(i, e); seen {
		case unclear:
			st.broken, st.because = unclear, fleet.Because(ReasonIdleUnclear, fleet.Values{
				"at": fleet.Moment(e.SeenAt), "why": fleet.Nested(why)})
			return st
		case working:
			st.broken, st.because = working, why
			return st
		}
		if !e.SeenAt.Equal(st.since) {
			st.looks++
		}
		st.since, st.last = e.SeenAt, e.SeenAt
		if !e.SeenAt.After(from) {
			return st
		}
	}
	return st
}
