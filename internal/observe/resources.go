package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

// emptyPatience is how long a list must go on showing nothing at all before that
// is believed of several things that were there: a lost right often shows as an
// empty list.
const emptyPatience = time.Hour

// listKey is one list: a kind of things in a scope.
type listKey struct {
	scope fleet.Scope
	kind  fleet.ThingKind
}

// resources is what is known of everything billed beside instances. It is guarded as
// the rest of the inventory is.
type resources struct {
	known []*resource // in order; replaced by every change
	lists map[listKey]policies.ListState
	list  []listed // those that are not gone, in groups; nil after a change
}

// listed is a resource, with what lists tell of it from the other side.
type listed struct {
	*resource
	aside *aside // nil: nothing
}

type aside struct {
	users  []fleet.Ref
	unread bool // whether an image needs it could not be read
}

// fill writes the resource out with all that is known.
func (l listed) fill(r *fleet.Resource) {
	l.resource.fill(r)
	if l.aside == nil {
		return
	}
	if len(l.aside.users) > 0 {
		r.UsedBy = slices.Concat(r.UsedBy, l.aside.users)
		slices.SortFunc(r.UsedBy, fleet.CompareRefs)
		r.UsedBy = slices.Compact(r.UsedBy)
		r.UnusedSince = time.Time{}
	}
	if l.aside.unread {
		r.Unread = append(slices.Clip(r.Unread), "used_by")
	}
}

func (v *Inventory) loadResources(ctx context.Context) error {
	v.res = resources{lists: map[listKey]policies.ListState{}}
	err := v.store.EachResource(ctx, func(r store.Resource) error {
		v.res.known = append(v.res.known, v.shapes.resource(r, nil))
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the inventory: %w", err)
	}
	v.res.known = replaced(nil, slices.Clip(v.res.known))
	lists, err := v.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("read the state of lists: %w", err)
	}
	for _, l := range lists {
		v.res.lists[listKey{l.Scope, l.Kind}] = l
	}
	return nil
}

// PollResources reads the list of one kind in a scope and takes it over whole. On
// an error the last good one stays. What two lists lack, the platform's settle time
// apart, is gone: no platform tells of a single one more surely.
func (v *Inventory) PollResources(ctx context.Context, a providers.Account, region string, kind fleet.ThingKind) error {
	key := listKey{fleet.Scope{Account: a.Identity, Region: region}, kind}
	began := v.now()
	seen, err := a.Resources[kind](ctx, fleet.Scope{Account: a.Name, Region: region})
	if err == nil {
		err = soundResources(seen, key)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return errorsJoin(err, v.failList(ctx, key, err))
	}
	v.saving.Lock()
	defer v.saving.Unlock()
	if v.res.lists[key].At.After(began) {
		return nil // an answer to a later question came first
	}
	changed := make([]*resource, 0, len(seen))
	listed := make(map[*resource]bool, len(seen))
	for _, r := range seen {
		was, ok := lookup(v.res.known, r.Ref)
		if ok {
			listed[was] = true
		}
		now := mergeResource(was, r, began)
		now.Region = region
		changed = append(changed, v.shapes.resource(now, was))
	}
	lacking := v.lacking(key, listed)
	patience := a.Kind.SettleTime
	if len(seen) == 0 && len(lacking) > 1 {
		patience = max(patience, emptyPatience)
	}
	for _, was := range lacking {
		now := *was
		switch since := now.missing.time(); {
		case since.IsZero() || since.After(began):
			now.missing = at(began)
		case began.Sub(since) >= patience:
			now.gone = at(began)
		}
		changed = append(changed, &now)
	}
	return v.saveResources(ctx, changed, policies.ListState{Scope: key.scope, Kind: kind, At: began})
}

// lacking gives what was there and is not in the list. saving is held.
func (v *Inventory) lacking(key listKey, listed map[*resource]bool) []*resource {
	var out []*resource
	for _, r := range v.res.known {
		if r.shape.Ref.Kind == key.kind && r.scope() == key.scope && r.there() && !listed[r] {
			out = append(out, r)
		}
	}
	return out
}

// soundResources refuses a list that names a thing twice, one without an id, of
// another kind or of another account.
func soundResources(list []fleet.Resource, key listKey) error {
	listed := make(map[fleet.Ref]bool, len(list))
	for _, r := range list {
		var wrong error
		switch {
		case r.Ref.ID == "":
			wrong = fmt.Errorf("it names a thing without an id (%q)", r.Name)
		case r.Ref.Account != key.scope.Account:
			wrong = fmt.Errorf("it names %s of another account", r.Ref)
		case r.Ref.Kind != key.kind:
			wrong = fmt.Errorf("it names %s among things of kind %s", r.Ref, key.kind)
		case listed[r.Ref]:
			wrong = fmt.Errorf("it names %s twice", r.Ref)
		}
		if wrong != nil {
			return &fleet.Error{Op: fmt.Sprintf("list %ss of %s", key.kind, key.scope), Kind: fleet.Other, Err: wrong}
		}
		listed[r.Ref] = true
	}
	return nil
}

// mergeResource joins what is remembered of a resource with what a list shows now.
// What comes back after it was gone is another thing.
func mergeResource(was *resource, seen fleet.Resource, at time.Time) store.Resource {
	r := store.Resource{Resource: seen, FirstSeen: at, SeenAt: at}
	unused := time.Time{}
	if was != nil && was.there() {
		r.FirstSeen, unused = was.first.time(), was.unused.time()
	}
	inUse := !seen.AttachedTo.IsZero() || len(seen.UsedBy) > 0
	switch {
	case inUse || slices.Contains(seen.Unread, "attached_to"):
		unused = time.Time{}
	case !seen.DetachedAt.IsZero():
		unused = seen.DetachedAt
	case unused.IsZero():
		unused = at
	}
	r.Resource.UnusedSince = unused
	return r
}

func (v *Inventory) failList(ctx context.Context, key listKey, err error) error {
	v.saving.Lock()
	defer v.saving.Unlock()
	l := v.res.lists[key]
	l.Scope, l.Kind = key.scope, key.kind
	if l.Since.IsZero() {
		l.Since = v.now()
	}
	l.Failing = Failing(err)
	return v.saveResources(ctx, nil, l)
}

// saveResources writes what changed in one transaction, and only then remembers it.
func (v *Inventory) saveResources(ctx context.Context, changed []*resource, list policies.ListState) error {
	err := v.store.Update(ctx, func(tx *store.Tx) error {
		for _, now := range changed {
			if was, ok := lookup(v.res.known, now.ref()); ok && was.same(now) {
				continue
			}
			if err := tx.SaveResource(now.record()); err != nil {
				return err
			}
		}
		return tx.SaveList(list)
	})
	if err != nil {
		return fmt.Errorf("remember what was seen: %w", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(changed) > 0 {
		v.res.known = replaced(v.res.known, changed)
	}
	v.res.lists[listKey{list.Scope, list.Kind}] = list
	v.res.list = nil
	return nil
}

// ReadResource asks the platform about one resource by the list it is in; a list
// not older than maxAge will do. gone is said only after two lists lacked it.
func (v *Inventory) ReadResource(ctx context.Context, a providers.Account, ref fleet.Ref, maxAge time.Duration) (r fleet.Resource, gone bool, err error) {
	known, ok := v.resource(ref)
	if !ok || a.Resources[ref.Kind] == nil {
		return fleet.Resource{}, false, &fleet.Error{Op: "read " + ref.String(), Kind: fleet.NotFound, Err: fmt.Errorf("no list ever showed it")}
	}
	key := listKey{fleet.Scope{Account: ref.Account, Region: known.Region}, ref.Kind}
	v.mu.Lock()
	last := v.res.lists[key]
	v.mu.Unlock()
	if age := v.now().Sub(last.At); age < 0 || age > maxAge || !last.Failing.IsZero() {
		if err := v.PollResources(ctx, a, known.Region, ref.Kind); err != nil {
			return fleet.Resource{}, false, err
		}
	}
	known, _ = v.resource(ref)
	if known.MissingSince.IsZero() {
		return known.Resource, false, nil
	}
	return known.Resource, !known.GoneAt.IsZero(), &fleet.Error{Op: "read " + ref.String(), Kind: fleet.NotFound, Err: fmt.Errorf("the list lacks it")}
}

func (v *Inventory) resource(ref fleet.Ref) (store.Resource, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := lookup(v.res.known, ref); ok {
		return r.record(), true
	}
	return store.Resource{}, false
}

// Resource gives what is known of one resource; one that is gone is not known.
func (v *Inventory) Resource(ref fleet.Ref) (store.Resource, bool) {
	r, ok := v.resource(ref)
	return r, ok && r.GoneAt.IsZero()
}

// Lists gives how old every list of resources is.
func (v *Inventory) Lists() []policies.ListState {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []policies.ListState
	for _, l := range v.res.lists {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b policies.ListState) int {
		return fleet.CompareRefs(fleet.Ref{Account: a.Scope.Account, Kind: a.Kind, ID: a.Scope.Region}, fleet.Ref{Account: b.Scope.Account, Kind: b.Kind, ID: b.Scope.Region})
	})
	return out
}

// Resources writes everything billed beside instances out as policies see it, in whole
// groups: what has one source follows each other. That takes much memory where there
// is much. Who looks at one after the other takes a [Snapshot].
func (v *Inventory) Resources() policies.Things {
	out := policies.Things{Lists: v.Lists()}
	v.mu.Lock()
	all := v.shownResources()
	v.mu.Unlock()
	written := make([]fleet.Resource, len(all))
	out.Resources = make([]*fleet.Resource, len(all))
	for n, l := range all {
		l.fill(&written[n])
		out.Resources[n] = &written[n]
	}
	return out
}

// shownResources gives those that are not gone and of interest, in groups, and notes on
// every source by what it is used, where a list tells of that from the other side. mu is
// held.
func (v *Inventory) shownResources() []listed {
	if v.res.list != nil {
		return v.res.list
	}
	list := make([]listed, 0, len(v.res.known))
	users := map[fleet.Ref][]fleet.Ref{}
	for _, r := range v.res.known {
		if !r.there() || v.within != nil && !v.within(r.scope()) {
			continue
		}
		list = append(list, listed{resource: r})
		if r.shape.Ref.Kind == fleet.KindImage && r.shape.Source.Kind == fleet.KindSnapshot {
			users[r.sourceRef()] = append(users[r.sourceRef()], r.ref())
		}
	}
	unread := map[fleet.Scope]bool{}
	for key, l := range v.res.lists {
		unread[key.scope] = unread[key.scope] || key.kind == fleet.KindImage && !l.Failing.IsZero()
	}
	for n, r := range list {
		if r.shape.Ref.Kind != fleet.KindSnapshot {
			continue
		}
		// An image may need the snapshot that nobody could list when it was last tried.
		by, dark := users[r.ref()], unread[r.scope()]
		if len(by) > 0 || dark {
			list[n].aside = &aside{users: by, unread: dark}
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return inGroups(a.resource, b.resource) })
	v.res.list = list
	return list
}
