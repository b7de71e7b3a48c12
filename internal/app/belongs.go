package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/httpx"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

// belongingsMaxAge is how old the lists may be by which it is judged what a release
// takes with it, when it is about to be sent.
const belongingsMaxAge = time.Minute

// belongings is what belongs to an instance, as far as the newest lists tell.
func (d *desk) belongings(i fleet.Instance) fleet.Belongings {
	v := policies.View{Belongs: d.belongs}
	return v.BelongingTo(i)
}

// belongs gives what belongs to each instance, by the lists as they are when it is
// first asked.
func (a *App) belongs() func(fleet.Instance) fleet.Belongings {
	index := sync.OnceValue(func() *belongIndex { return indexBelongings(a.inv.Resources()) })
	return func(i fleet.Instance) fleet.Belongings {
		p, _ := a.account(i.Ref.Account)
		region, _ := a.regionOf(i.Ref)
		return index().of(i.Ref, p, fleet.Scope{Account: i.Ref.Account, Region: region})
	}
}

// belongIndex finds resources by what they belong to.
type belongIndex struct {
	attached map[fleet.Ref][]*fleet.Resource
	made     map[fleet.Ref][]*fleet.Resource // of a source
	loose    map[listOf]bool                 // of some nobody told what they are attached to
	read     map[listOf]bool
}

type listOf struct {
	scope fleet.Scope
	kind  fleet.ThingKind
}

func indexBelongings(things policies.Things) *belongIndex {
	x := &belongIndex{
		attached: map[fleet.Ref][]*fleet.Resource{}, made: map[fleet.Ref][]*fleet.Resource{},
		loose: map[listOf]bool{}, read: map[listOf]bool{},
	}
	for _, r := range things.Resources {
		switch {
		case !r.AttachedTo.IsZero():
			x.attached[r.AttachedTo] = append(x.attached[r.AttachedTo], r)
		case slices.Contains(r.Unread, "attached_to"):
			x.loose[listOf{fleet.Scope{Account: r.Ref.Account}, r.Ref.Kind}] = true
		}
		if !r.Source.IsZero() {
			x.made[r.Source] = append(x.made[r.Source], r)
		}
	}
	for _, l := range things.Lists {
		x.read[listOf{l.Scope, l.Kind}] = !l.At.IsZero() && l.Failing.IsZero()
	}
	return x
}

// of gives what belongs to an instance: what is attached to it, and the snapshots and
// images made of it or of its disks.
func (x *belongIndex) of(ref fleet.Ref, p providers.Account, scope fleet.Scope) fleet.Belongings {
	var out fleet.Belongings
	if p.Identity == "" {
		out.Unread = fleet.ResourceKinds()
		return out
	}
	for _, kind := range fleet.ResourceKinds() {
		anywhere := listOf{fleet.Scope{Account: scope.Account}, kind}
		if p.Resources[kind] != nil && (!x.read[listOf{scope, kind}] || x.loose[anywhere]) {
			out.Unread = append(out.Unread, kind)
		}
	}
	add := func(r *fleet.Resource, alone bool) bool {
		alone = alone && len(r.Unread) == 0 && !r.Protected && r.Shared != fleet.Yes && len(r.UsedBy) == 0
		if !slices.ContainsFunc(out.Things, func(b fleet.Belonging) bool { return b.Ref == r.Ref }) {
			out.Things = append(out.Things, fleet.Belonging{
				Ref: r.Ref, Name: r.Name, Price: r.Price, WithInstance: r.WithInstance, Alone: alone,
			})
		}
		return alone
	}
	for _, r := range x.attached[ref] {
		// A disk that goes with the instance belonged to nobody else.
		alone := add(r, true) || r.WithInstance == fleet.Yes && r.Shared != fleet.Yes
		for _, of := range x.made[r.Ref] {
			add(of, alone)
		}
	}
	for _, r := range x.made[ref] {
		add(r, true)
	}
	return out
}

// askToRelease is ask, and remembers what belongs to an instance that is released now:
// afterwards nobody tells.
func (a *App) askToRelease(tx *store.Tx, i fleet.Instance, in fleet.Intent, since time.Time) (execute.Answer, error) {
	answer, err := a.ask(tx, i, in, since)
	if err == nil && answer.Word == execute.Go && in.Action == fleet.Release {
		answer.Belongings = a.belongs()(i)
	}
	return answer, err
}

// refresh reads the lists of some kinds anew, those in which an instance's things are.
// What cannot be read is seen by the state of its list.
func (a *App) refresh(ctx context.Context, p providers.Account, ref fleet.Ref, maxAge time.Duration, kinds ...fleet.ThingKind) {
	region, _ := a.regionOf(ref)
	scope := fleet.Scope{Account: ref.Account, Region: region}
	ctx = httpx.WithClass(ctx, httpx.Act)
	lists := a.inv.Lists()
	for _, kind := range kinds {
		if p.Resources[kind] == nil {
			continue
		}
		l, ok := find(lists, func(l policies.ListState) bool { return l.Scope == scope && l.Kind == kind })
		if age := a.clock.Now().Sub(l.At); ok && l.Failing.IsZero() && age >= 0 && age <= maxAge {
			continue
		}
		if err := a.inv.PollResources(ctx, p, region, kind); err != nil {
			a.log.Warn().Err(err).Str("instance", ref.String()).Str("list", string(kind)+"s").Msg("list cannot be read before a release")
		}
	}
}
