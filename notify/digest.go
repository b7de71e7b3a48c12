package notify

import (
	"cmp"
	"slices"
	"strings"

	"curfew/fleet"
)

// The lines of a digest that no section gives.
const lineLeftOut fleet.Code = "notify.digest.more"

// How much of a digest one section, and one line of it, may take: it is read on a
// phone.
const (
	maxItems     = 8
	maxItemBytes = 220
)

// Section is one part of a digest: a line that sums it up, a line for each thing
// with the most needed first, and what can be done about them. One with no things
// is its line alone.
type Section struct {
	Head  fleet.Reason `json:"head"`
	Items []Item       `json:"items,omitempty"`
	Rest  Tally        `json:"rest,omitzero"` // of the things that have no line
	Foot  fleet.Reason `json:"foot,omitzero"`
}

// Item is one thing in a section.
type Item struct {
	Text    fleet.Reason `json:"text"`
	Command string       `json:"command,omitempty"` // what a person can do about it
	Cost    *fleet.Price `json:"cost,omitempty"`    // nil where it is not about money
}

// Add adds a thing. Of the many that no message has room for only what they cost
// together is kept.
func (s *Section) Add(i Item) {
	if len(s.Items) < maxItems {
		s.Items = append(s.Items, i)
	} else {
		s.Rest.Add(i.Cost)
	}
}

// Tally counts things, and sums what they cost an hour. Two currencies do not add,
// and a price that is not known is counted and never taken for nothing.
type Tally struct {
	Count    int           `json:"count"`
	PerHour  []fleet.Money `json:"per_hour,omitempty"` // one of each currency
	Unpriced int           `json:"unpriced,omitempty"`
}

// Add counts a thing. A nil cost says that the count is not about money.
func (t *Tally) Add(cost *fleet.Price) {
	t.Count++
	if cost == nil {
		return
	}
	if !cost.Known() {
		t.Unpriced++
		return
	}
	m := cost.PerHour
	at, ok := slices.BinarySearchFunc(t.PerHour, m.Currency, func(have fleet.Money, currency string) int {
		return cmp.Compare(have.Currency, currency)
	})
	if ok {
		m.Micros += t.PerHour[at].Micros
		t.PerHour = slices.Replace(slices.Clone(t.PerHour), at, at+1, m)
		return
	}
	t.PerHour = slices.Insert(slices.Clone(t.PerHour), at, m)
}

// Values gives the tally as values of a reason: count, and rate and unpriced where
// there is something to say.
func (t Tally) Values() fleet.Values {
	v := fleet.Values{"count": fleet.Number(float64(t.Count))}
	var rates []string
	for _, m := range t.PerHour {
		rates = append(rates, m.String())
	}
	if len(rates) > 0 {
		v["rate"] = fleet.Text(strings.Join(rates, " + "))
	}
	if t.Unpriced > 0 {
		v["unpriced"] = fleet.Number(float64(t.Unpriced))
	}
	return v
}

// part is a section put into words.
type part struct {
	head, foot string
	items      []line
	shown      int
	section    Section
}

// digest adds the sections. Where not all of it fits, each shows its first thing
// before any shows its second, and says what the others cost together.
func (p *page) digest() {
	parts := make([]part, len(p.n.Sections))
	for n, s := range p.n.Sections {
		parts[n] = part{head: p.words(s.Head), foot: p.words(s.Foot), section: s}
		for _, i := range s.Items {
			l := line{words: p.words(i.Text), code: i.Command, quote: true, item: true}
			if i.Command != "" {
				l.words += " "
			}
			parts[n].items = append(parts[n].items, l)
		}
	}
	p.lay(parts)
	for full := make([]bool, len(parts)); slices.Contains(full, false); {
		for n := range parts {
			if full[n] = full[n] || parts[n].shown == len(parts[n].items); full[n] {
				continue
			}
			parts[n].shown++
			if p.lay(parts); !p.fits() {
				parts[n].shown--
				full[n] = true
			}
		}
	}
	p.lay(parts)
}

// lay puts the parts into lines, with as many of their things as they show.
func (p *page) lay(parts []part) {
	p.lines = nil
	for _, t := range parts {
		p.lines = append(p.lines, line{words: t.head, head: len(t.items) > 0})
		p.lines = append(p.lines, t.items[:t.shown]...)
		rest := t.section.Rest
		for _, i := range t.section.Items[t.shown:] {
			rest.Add(i.Cost)
		}
		if rest.Count > 0 {
			p.lines = append(p.lines, line{words: p.say(lineLeftOut, rest.Values()), quote: true, item: true})
		}
		p.add(t.foot)
	}
}

// fits reports whether the smallest channel has room for the message.
func (p *page) fits() bool {
	title := p.title()
	return len(title)+1+len(p.plain()) <= maxPlainBytes && len(Escape(title))+1+len(p.markdown()) <= maxMarkdownBytes
}

// words gives a reason on one line.
func (p *page) words(r fleet.Reason) string { return oneLine(p.r.Reason(r, p.now), maxItemBytes) }
