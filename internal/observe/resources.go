package observe

import (
	"context"
	"fmt"
	"maps"
	"reflect"
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

// resources is what is known of everything billed beside instances. The records
// are replaced and never changed, so that whoever reads may keep them. It is
// guarded as the rest of the inventory is.
type resources struct {
	known map[fleet.Ref]*store.Resource
	lists map[listKey]policies.ListState
	list  []*fleet.Resource // those that are not gone, in groups; nil after a change
}

func (v *Inventory) loadResources(ctx context.Context) error {
	v.res = resources{known: map[fleet.Ref]*store.Resource{}, lists: map[listKey]policies.ListState{}}
	all, err := v.store.Resources(ctx)
	if err != nil {
		return fmt.Errorf("read the inventory: %w", err)
	}
	for n := range all {
		v.res.known[all[n].Resource.Ref] = &all[n]
	}
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
	changed := map[fleet.Ref]*store.Resource{}
	listed := make(map[fleet.Ref]bool, len(seen))
	for _, r := range seen {
		listed[r.Ref] = true
		now := mergeResource(v.res.known[r.Ref], r, began)
		now.Region = region
		changed[r.Ref] = &now
	}
	lacking := v.lacking(key, listed)
	patience := a.Kind.SettleTime
	if len(seen) == 0 && len(lacking) > 1 {
		patience = max(patience, emptyPatience)
	}
	for _, was := range lacking {
		now := *was
		switch {
		case now.MissingSince.IsZero() || now.MissingSince.After(began):
			now.MissingSince = began
		case began.Sub(now.MissingSince) >= patience:
			now.GoneAt = began
		}
		changed[now.Resource.Ref] = &now
	}
	return v.saveResources(ctx, changed, policies.ListState{Scope: key.scope, Kind: kind, At: began})
}

// lacking gives what was there and is not in the list. saving is held.
func (v *Inventory) lacking(key listKey, listed map[fleet.Ref]bool) []*store.Resource {
	var out []*store.Resource
	for ref, r := range v.res.known {
		if ref.Kind == key.kind && ref.Account == key.scope.Account && r.Region == key.scope.Region && r.GoneAt.IsZero() && !listed[ref] {
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
func mergeResource(known *store.Resource, seen fleet.Resource, at time.Time) store.Resource {
	r := store.Resource{Resource: seen, FirstSeen: at, SeenAt: at}
	unused := time.Time{}
	if known != nil && known.GoneAt.IsZero() {
		r.FirstSeen, unused = known.FirstSeen, known.Resource.UnusedSince
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
func (v *Inventory) saveResources(ctx context.Context, changed map[fleet.Ref]*store.Resource, list policies.ListState) error {
	err := v.store.Update(ctx, func(tx *store.Tx) error {
		for _, ref := range slices.SortedFunc(maps.Keys(changed), fleet.CompareRefs) {
			if was := v.res.known[ref]; was != nil && sameResource(*was, *changed[ref]) {
				continue
			}
			if err := tx.SaveResource(*changed[ref]); err != nil {
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
	maps.Copy(v.res.known, changed)
	v.res.lists[listKey{list.Scope, list.Kind}] = list
	v.res.list = nil
	return nil
}

// sameResource reports whether two records differ in nothing but when they were
// seen.
func sameResource(a, b store.Resource) bool {
	a.SeenAt, b.SeenAt = time.Time{}, time.Time{}
	return reflect.DeepEqual(a, b)
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
	if r, ok := v.res.known[ref]; ok {
		return *r, true
	}
	return store.Resource{}, false
}

// Resource gives what is known of one resource; one that is gone is not known.
func (v *Inventory) Resource(ref fleet.Ref) (store.Resource, bool) {
	r, ok := v.resource(ref)
	return r, ok && r.GoneAt.IsZero()
}

// Resources gives everything billed beside instances as policies see it, in whole
// groups: what has one source follows each other. All who ask between two changes
// are given the same list: it is for reading only.
func (v *Inventory) Resources() policies.Things {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.res.list == nil {
		v.res.list = v.listResources()
	}
	out := policies.Things{Resources: v.res.list}
	for _, l := range v.res.lists {
		out.Lists = append(out.Lists, l)
	}
	slices.SortFunc(out.Lists, func(a, b policies.ListState) int {
		return fleet.CompareRefs(fleet.Ref{Account: a.Scope.Account, Kind: a.Kind, ID: a.Scope.Region}, fleet.Ref{Account: b.Scope.Account, Kind: b.Kind, ID: b.Scope.Region})
	})
	return out
}

// listResources makes the list, and notes on every source by what it is used, where
// a list tells of that from the other side. mu is held.
func (v *Inventory) listResources() []*fleet.Resource {
	list := make([]*fleet.Resource, 0, len(v.res.known))
	users := map[fleet.Ref][]fleet.Ref{}
	for ref, r := range v.res.known {
		if !r.GoneAt.IsZero() || v.within != nil && !v.within(fleet.Scope{Account: ref.Account, Region: r.Region}) {
			continue
		}
		list = append(list, &r.Resource)
		if ref.Kind == fleet.KindImage && r.Resource.Source.Kind == fleet.KindSnapshot {
			users[r.Resource.Source] = append(users[r.Resource.Source], ref)
		}
	}
	for ref, t := range v.things {
		if image := t.Instance.Image; t.GoneAt.IsZero() && !image.IsZero() {
			users[image] = append(users[image], ref)
		}
	}
	for n, r := range list {
		if by := users[r.Ref]; len(by) > 0 {
			r = used(*r, by)
		}
		if r.Ref.Kind == fleet.KindSnapshot && v.imagesUnread(r) {
			unread := *r
			unread.Unread = append(slices.Clip(r.Unread), "used_by")
			r = &unread
		}
		list[n] = r
	}
	slices.SortFunc(list, policies.CompareGroups)
	return list
}

// imagesUnread reports whether an image may need the snapshot that nobody could list
// when it was last tried. mu is held.
func (v *Inventory) imagesUnread(snapshot *fleet.Resource) bool {
	region := v.res.known[snapshot.Ref].Region
	return !v.res.lists[listKey{fleet.Scope{Account: snapshot.Ref.Account, Region: region}, fleet.KindImage}].Failing.IsZero()
}

// used gives the resource with users added to those that the platform told of.
func used(r fleet.Resource, by []fleet.Ref) *fleet.Resource {
	r.UsedBy = slices.Concat(r.UsedBy, by)
	slices.SortFunc(r.UsedBy, fleet.CompareRefs)
	r.UsedBy = slices.Compact(r.UsedBy)
	r.UnusedSince = time.Time{}
	return &r
}
