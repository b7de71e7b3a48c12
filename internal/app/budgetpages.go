package app

import (
	"context"
	"encoding/binary"
	"slices"

	"curfew/fleet"
	"curfew/internal/observe"
)

// budgetPages says on which pages the cost of each thing goes. Very many things go on
// the same ones, so each of these is there once.
type budgetPages struct {
	sets   [][]budgetPage
	number map[string]int32 // of a set, by what is in it
	things map[fleet.Ref]int32
	pages  map[budgetPage]uint32 // their numbers
	key    []byte                // room for one
}

// of gives the pages of a thing.
func (p *budgetPages) of(ref fleet.Ref) []budgetPage {
	n, ok := p.things[ref]
	if !ok {
		return nil
	}
	return p.sets[n]
}

// put notes the pages of a thing, also where there are none. The slice may be used again.
func (p *budgetPages) put(ref fleet.Ref, set []budgetPage) {
	p.key = p.key[:0]
	for _, one := range set {
		number, ok := p.pages[one]
		if !ok {
			number = uint32(len(p.pages))
			p.pages[one] = number
		}
		p.key = binary.BigEndian.AppendUint32(p.key, number)
	}
	n, ok := p.number[string(p.key)]
	if !ok {
		n = int32(len(p.sets))
		p.number[string(p.key)] = n
		p.sets = append(p.sets, slices.Clone(set))
	}
	p.things[ref] = n
}

// budgetPages finds the pages of everything: what is there is in memory, what is gone is
// read.
func (a *App) budgetPages(ctx context.Context, rt *runtime, books []*budgetBook) (*budgetPages, error) {
	all := a.inv.Snapshot()
	instances, resources := all.Size()
	pages := &budgetPages{number: map[string]int32{}, things: make(map[fleet.Ref]int32, instances+resources), pages: map[budgetPage]uint32{}}
	names := map[string]string{}
	var set []budgetPage
	add := func(i *fleet.Instance) {
		name, asked := names[i.Ref.Account]
		if !asked {
			name, _ = rt.accountName(i.Ref.Account)
			names[i.Ref.Account] = name
		}
		if name != "" {
			i.AccountName = name
		}
		set = set[:0]
		for _, b := range books {
			// What cannot be told apart is found by the policy, thing by thing.
			if matched, err := b.budget.Match(*i); err == nil && matched {
				set = append(set, budgetPage{b, b.group(*i)})
			}
		}
		pages.put(i.Ref, set)
	}
	var room observe.Buffer
	for _, part := range all.Parts(askAtOnce) {
		things := room.Write(all, part)
		for n := range things.Instances {
			add(&things.Instances[n])
		}
		for _, r := range things.Resources {
			subject := r.Subject()
			add(&subject)
		}
	}
	has := func(ref fleet.Ref) bool { _, ok := pages.things[ref]; return ok }
	return pages, a.store.EachOther(ctx, has, func(i fleet.Instance) error { add(&i); return nil })
}
