// Package observe keeps the last good inventory of every account, with its age.
// A poll replaces what a scope showed, whole or not at all. What is absent from a
// list is not gone: only the platform's own answer about the thing itself, given
// twice, is.
package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

// ReasonPollFailed says why a scope could not be read.
const ReasonPollFailed fleet.Code = "observe.poll-failed"

// Inventory is what is known of every account. It may be used from several
// goroutines.
type Inventory struct {
	store *store.Store
	now   func() time.Time

	// saving is held over a whole change, mu only while the maps are touched: the
	// inventory is read inside transactions of the state, so mu is never held while
	// waiting for one.
	saving sync.Mutex
	shapes *shapes // of whoever holds saving
	mu     sync.Mutex
	things []*instance // in order; replaced by every change
	scopes map[fleet.Scope]policies.ScopeState
	list   []*instance // those that are not gone and of interest, in order; nil after a change
	within func(fleet.Scope) bool
	// asked numbers the questions put to platforms in the order in which they were
	// put, and each thing knows which one it was last seen by: an answer to an
	// earlier question, come late, is older news.
	asked uint64

	res resources
}

// Load reads the last inventory from the state.
func Load(ctx context.Context, s *store.Store, now func() time.Time) (*Inventory, error) {
	v := &Inventory{store: s, now: now, shapes: newShapes(), scopes: map[fleet.Scope]policies.ScopeState{}}
	err := s.EachThing(ctx, func(t store.Thing) error {
		v.things = append(v.things, v.shapes.instance(t, nil))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the inventory: %w", err)
	}
	v.things = replaced(nil, slices.Clip(v.things))
	scopes, err := s.Scopes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of scopes: %w", err)
	}
	for _, sc := range scopes {
		v.scopes[sc.Scope] = sc
	}
	return v, v.loadResources(ctx)
}

// Poll reads one scope's list and takes it over whole. On an error the last good
// inventory stays, and the scope says since when it fails and why. A list that
// cannot be right is an error too.
func (v *Inventory) Poll(ctx context.Context, a providers.Account, region string) error {
	scope := fleet.Scope{Account: a.Identity, Region: region}
	question, began := v.ask()
	list, err := a.Instances(ctx, fleet.Scope{Account: a.Name, Region: region})
	if err == nil {
		err = sound(list, scope)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return errorsJoin(err, v.fail(ctx, scope, err))
	}
	v.saving.Lock()
	defer v.saving.Unlock()
	changed := make([]*instance, 0, len(list))
	listed := make(map[*instance]bool, len(list))
	for _, i := range list {
		was, ok := lookup(v.things, i.Ref)
		if ok {
			listed[was] = true
		}
		if ok && was.question > question {
			continue
		}
		t := merge(known(was), i, began)
		t.Region = region
		changed = append(changed, v.shapes.instance(t, was))
	}
	for _, was := range v.things {
		if was.there() && was.scope() == scope && !listed[was] && was.missing == never && was.question <= question {
			now := *was
			now.missing = at(began)
			changed = append(changed, &now)
		}
	}
	return v.save(ctx, question, changed, policies.ScopeState{Scope: scope, At: began})
}

// ask numbers a question that is about to be put to a platform.
func (v *Inventory) ask() (question uint64, began time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	return v.asked, v.now()
}

// sound refuses a list that names a thing twice, one without an id, or one of
// another account.
func sound(list []fleet.Instance, scope fleet.Scope) error {
	listed := make(map[fleet.Ref]bool, len(list))
	for _, i := range list {
		var wrong error
		switch {
		case i.Ref.ID == "":
			wrong = fmt.Errorf("it names an instance without an id (%q)", i.Name)
		case i.Ref.Account != scope.Account:
			wrong = fmt.Errorf("it names %s of another account", i.Ref)
		case listed[i.Ref]:
			wrong = fmt.Errorf("it names %s twice", i.Ref)
		}
		if wrong != nil {
			return &fleet.Error{Op: "list " + scope.String(), Kind: fleet.Other, Err: wrong}
		}
		listed[i.Ref] = true
	}
	return nil
}

// errorsJoin keeps the first error's kind in front.
func errorsJoin(first, second error) error {
	if second == nil {
		return first
	}
	return fmt.Errorf("%w; and %w", first, second)
}

func (v *Inventory) fail(ctx context.Context, scope fleet.Scope, err error) error {
	v.saving.Lock()
	defer v.saving.Unlock()
	s := v.scopes[scope]
	s.Scope = scope
	if s.Since.IsZero() {
		s.Since = v.now()
	}
	s.Failing = Failing(err)
	return v.save(ctx, 0, nil, s)
}

// Read asks the platform about one instance. A first NotFound is remembered; a
// second one at least settle later, with a good list of its scope in between,
// makes the thing gone, which Read then reports as gone. An answer about another
// thing is none.
func (v *Inventory) Read(ctx context.Context, a providers.Account, ref fleet.Ref) (i fleet.Instance, gone bool, err error) {
	question, began := v.ask()
	i, err = a.Instance(ctx, ref)
	if err == nil {
		err = answers(i.Ref, ref)
	}
	v.saving.Lock()
	defer v.saving.Unlock()
	was, _ := lookup(v.things, ref)
	known := known(was)
	late := was != nil && was.question > question
	switch {
	case err == nil && late && known.GoneAt.IsZero():
		return known.Instance, known.Instance.State.Gone(), nil
	case err == nil:
		t := merge(known, i, began)
		if known != nil && known.GoneAt.IsZero() {
			t.Region, t.MissingSince = known.Region, known.MissingSince
		}
		err = v.save(ctx, question, []*instance{v.shapes.instance(t, was)}, policies.ScopeState{})
		return t.Instance, t.Instance.State.Gone(), err
	case fleet.KindOf(err) != fleet.NotFound || known == nil:
		return fleet.Instance{}, false, err
	}
	t := *known
	if !t.GoneAt.IsZero() {
		return t.Instance, true, err
	}
	if late {
		return t.Instance, false, err
	}
	answered := v.scopes[fleet.Scope{Account: ref.Account, Region: t.Region}].At
	switch {
	case t.NotFoundAt.IsZero() || t.NotFoundAt.After(began):
		t.NotFoundAt = began
	case began.Sub(t.NotFoundAt) >= a.Kind.SettleTime && answered.After(t.NotFoundAt) && !answered.After(began):
		t.GoneAt = began
		t.Instance.State = fleet.StateReleased
	}
	if saveErr := v.save(ctx, question, []*instance{v.shapes.instance(t, was)}, policies.ScopeState{}); saveErr != nil {
		return fleet.Instance{}, false, saveErr
	}
	return t.Instance, !t.GoneAt.IsZero(), err
}

// answers refuses an answer that is about another thing. One of another
// incarnation says that the thing asked about is not there.
func answers(got, asked fleet.Ref) error {
	if got == asked {
		return nil
	}
	kind := fleet.Other
	if sameID := (fleet.Ref{Account: got.Account, Kind: got.Kind, ID: got.ID, Incarnation: asked.Incarnation}); sameID == asked {
		kind = fleet.NotFound
	}
	return &fleet.Error{Op: "read " + asked.String(), Kind: kind, Err: fmt.Errorf("the platform answered about %s", got)}
}

// Failing says why something could not be read.
func Failing(err error) fleet.Reason {
	return fleet.Because(ReasonPollFailed, fleet.Values{
		"kind": fleet.Text(string(fleet.KindOf(err))), "error": fleet.Text(err.Error()),
	})
}

// known gives what is remembered of a thing, or nil.
func known(was *instance) *store.Thing {
	if was == nil {
		return nil
	}
	t := was.thing()
	return &t
}

// save writes the changed things and the scope in one transaction, and only then
// remembers them. Things that did not change are not written. saving is held.
func (v *Inventory) save(ctx context.Context, question uint64, changed []*instance, scope policies.ScopeState) error {
	err := v.store.Update(ctx, func(tx *store.Tx) error {
		for _, now := range changed {
			was, ok := lookup(v.things, now.ref())
			if ok && was.same(now) {
				continue
			}
			if err := tx.SaveThing(known(was), now.thing()); err != nil {
				return err
			}
		}
		if scope.Scope != (fleet.Scope{}) {
			return tx.SaveScope(scope)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remember what was seen: %w", err)
	}
	for _, now := range changed {
		now.question = question
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(changed) > 0 {
		v.things, v.list = replaced(v.things, changed), nil
	}
	if scope.Scope != (fleet.Scope{}) {
		v.scopes[scope.Scope] = scope
	}
	return nil
}

// Get gives what is known of one instance; one that is gone is not known.
func (v *Inventory) Get(ref fleet.Ref) (store.Thing, bool) {
	v.mu.Lock()
	things := v.things
	v.mu.Unlock()
	if p, ok := lookup(things, ref); ok && p.there() {
		return p.thing(), true
	}
	return store.Thing{}, false
}

// Missing lists the things that the newest good list of their scope lacked since
// before the given time.
func (v *Inventory) Missing(account string, since time.Time) []store.Thing {
	v.mu.Lock()
	things := v.things
	v.mu.Unlock()
	var out []store.Thing
	for _, p := range things {
		if p.there() && p.shape.Ref.Account == account && p.missing != never && !p.missing.time().After(since) {
			out = append(out, p.thing())
		}
	}
	return out
}

// Limit tells which scopes are of interest: what belongs to another is remembered
// and not shown. within must give the same answer until the next call of Limit.
func (v *Inventory) Limit(within func(fleet.Scope) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.within, v.list, v.res.list = within, nil, nil
}

// shown gives those that are not gone and of interest. mu is held.
func (v *Inventory) shown() []*instance {
	if v.list == nil {
		v.list = make([]*instance, 0, len(v.things))
		for _, p := range v.things {
			if p.there() && (v.within == nil || v.within(p.scope())) {
				v.list = append(v.list, p)
			}
		}
	}
	return v.list
}

// Scopes gives how old the inventory of every scope is.
func (v *Inventory) Scopes() []policies.ScopeState {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []policies.ScopeState
	for _, s := range v.scopes {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b policies.ScopeState) int {
		return fleet.CompareRefs(fleet.Ref{Account: a.Scope.Account, ID: a.Scope.Region}, fleet.Ref{Account: b.Scope.Account, ID: b.Scope.Region})
	})
	return out
}

// Things writes the inventory out as policies see it, in the order of references: much
// memory where there is much. Who looks at one after the other takes a [Snapshot].
func (v *Inventory) Things() policies.Things {
	out := policies.Things{Scopes: v.Scopes()}
	v.mu.Lock()
	all := v.shown()
	v.mu.Unlock()
	out.Instances = make([]fleet.Instance, len(all))
	for n, p := range all {
		p.fill(&out.Instances[n])
	}
	return out
}
