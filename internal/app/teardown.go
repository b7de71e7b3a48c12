package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

// The reasons of what a release takes with it and leaves behind.
const (
	ReasonFateKept      fleet.Code = "data.own-kept"
	ReasonFateDestroyed fleet.Code = "data.disks-destroyed"
	ReasonFateStays     fleet.Code = "data.things-stay"
	ReasonFateDeleted   fleet.Code = "data.things-deleted"
	ReasonFateUnsure    fleet.Code = "data.disks-unsure"
	ReasonFateUnread    fleet.Code = "data.disks-unread"

	ReasonListed        fleet.Code = "data.listed"
	ReasonListedMore    fleet.Code = "data.listed-more"
	ReasonNothingCosts  fleet.Code = "data.nothing-costs"
	ReasonRemains       fleet.Code = "data.remains"
	ReasonRemainsUnread fleet.Code = "data.remains-unread"
	ReasonTakenBy       fleet.Code = "data.taken-by"
	ReasonTakenLater    fleet.Code = "data.taken-later"
	ReasonTakenByNobody fleet.Code = "data.taken-by-nobody"
	ReasonLeftDeleted   fleet.Code = "data.left-deleted"
)

// fate says what a release does to the data on an instance, to each of its disks, and
// to what else is billed beside it: what is destroyed first.
func (a *App) fate(in fleet.Intent) []fleet.Reason {
	if in.Action != fleet.Release {
		return nil
	}
	b := a.belongs()(in.Subject)
	var destroyed, unsure, stay []fleet.Belonging
	deleted := map[string][]fleet.Belonging{}
	for _, t := range b.Things {
		disk := t.Ref.Kind == fleet.KindDisk
		switch policy, goes := goesWith(in, t); {
		case disk && t.WithInstance == fleet.Yes:
			destroyed = append(destroyed, t)
		case goes:
			deleted[policy] = append(deleted[policy], t)
		case disk && t.WithInstance != fleet.No:
			unsure = append(unsure, t)
		default:
			stay = append(stay, t)
		}
	}
	var out []fleet.Reason
	say := func(code fleet.Code, some []fleet.Belonging, values fleet.Values) {
		if len(some) > 0 {
			values["things"] = enumerated(some)
			out = append(out, fleet.Because(code, values))
		}
	}
	say(ReasonFateDestroyed, destroyed, fleet.Values{})
	say(ReasonFateUnsure, unsure, fleet.Values{})
	if slices.Contains(b.Unread, fleet.KindDisk) {
		out = append(out, fleet.Because(ReasonFateUnread, nil))
	}
	for _, policy := range slices.Sorted(maps.Keys(deleted)) {
		say(ReasonFateDeleted, deleted[policy], fleet.Values{"policy": fleet.Text(policy)})
	}
	say(ReasonFateStays, stay, fleet.Values{})
	if in.Subject.OnRelease.KeepsData == fleet.KeepsAll {
		out = append(out, fleet.Because(ReasonFateKept, nil))
	}
	return out
}

// goesWith names the policy that deletes a thing after the release that it asks for.
func goesWith(in fleet.Intent, t fleet.Belonging) (policy string, ok bool) {
	if !t.Alone || t.WithInstance == fleet.Yes {
		return "", false
	}
	v, ok := find(in.Verdicts, func(v fleet.Verdict) bool {
		return v.Terms.Data != nil && slices.Contains(v.Terms.Data.With, t.Ref.Kind)
	})
	return v.Policy, ok
}

// listedMost is how many things are named in one line.
const listedMost = 8

// enumerated names things, each with what it costs a day.
func enumerated(some []fleet.Belonging) fleet.Value {
	var list fleet.Reason
	if more := len(some) - listedMost; more > 0 {
		list = fleet.Because(ReasonListedMore, fleet.Values{"more": fleet.Number(float64(more))})
	}
	for _, t := range slices.Backward(some[:min(len(some), listedMost)]) {
		values := fleet.Values{"thing": fleet.Text(t.DisplayName()), "kind": fleet.Nested(t.Ref.Kind.Reason())}
		if day, ok := (fleet.Price{PerHour: t.Price.PerHour, Source: t.Price.Source}).For(24 * time.Hour); ok && day.IsZero() {
			values["free"] = fleet.Text("free")
		} else if ok {
			values["day"] = fleet.Amount(day)
		}
		if !list.IsZero() {
			values["rest"] = fleet.Nested(list)
		}
		list = fleet.Because(ReasonListed, values)
	}
	return fleet.Nested(list)
}

// released reads anew what belonged to an instance that is seen to be gone.
func (a *App) released(ctx context.Context, p providers.Account, in fleet.Intent) {
	var kinds []fleet.ThingKind
	for _, kind := range fleet.ResourceKinds() {
		if slices.ContainsFunc(in.Belongings.Things, func(t fleet.Belonging) bool { return t.Ref.Kind == kind }) {
			kinds = append(kinds, kind)
		}
	}
	a.refresh(ctx, p, in.Ref, listStaysGood, kinds...)
}

// closed notes what follows from an act that has had its effect: after a release the
// things that its policies want deleted with it, and after such a deletion that it is
// over. It says what still costs.
func (a *App) closed(tx *store.Tx, in fleet.Intent) ([]fleet.Reason, error) {
	switch in.Action {
	case fleet.Release:
		if err := a.saveLeft(tx, in); err != nil {
			return nil, err
		}
		return a.remains(tx, in)
	case fleet.Delete:
		left, err := tx.Left()
		if err != nil {
			return nil, err
		}
		l, ok := left[in.Ref]
		if !ok {
			return nil, nil
		}
		l.Over = fleet.Because(ReasonLeftDeleted, fleet.Values{"at": fleet.Moment(tx.Now)})
		if err := tx.SaveLeft(l); err != nil || l.Keep > 0 {
			return nil, err
		}
		release, ok, err := tx.LastClosed(l.Instance)
		if err != nil || !ok || release.Action != fleet.Release {
			return nil, err
		}
		return a.remains(tx, release)
	}
	return nil, nil
}

// saveLeft remembers what belonged to a released instance alone and is to be deleted.
func (a *App) saveLeft(tx *store.Tx, in fleet.Intent) error {
	rt := a.runtime()
	for _, t := range in.Belongings.Things {
		policy, ok := goesWith(in, t)
		if !ok {
			continue
		}
		if r, known := a.inv.Resource(t.Ref); !known || !rt.protection(r.Resource.Subject()).By.IsZero() {
			continue
		}
		l := fleet.Left{Ref: t.Ref, Instance: in.Ref, Name: in.Subject.DisplayName(), Policy: policy, ReleasedAt: tx.Now}
		if err := tx.SaveLeft(l); err != nil {
			return err
		}
	}
	return nil
}

// remains lists what is left of a released instance, what that costs, and who will
// take it.
func (a *App) remains(tx *store.Tx, in fleet.Intent) ([]fleet.Reason, error) {
	left, err := tx.Left()
	if err != nil {
		return nil, err
	}
	rt := a.runtime()
	byTaker := map[string][]fleet.Belonging{}
	takers := map[string]fleet.Reason{}
	for _, t := range in.Belongings.Things {
		r, ok := a.inv.Resource(t.Ref)
		if !ok || !r.MissingSince.IsZero() || t.WithInstance == fleet.Yes || left[t.Ref].Over.Code == ReasonLeftDeleted {
			continue
		}
		if r.Resource.AttachedTo != in.Ref { // else as it was while the instance was there
			t.Price = r.Resource.Price
		}
		taker := rt.takerOf(r.Resource, left)
		key := rt.render.Reason(taker, tx.Now)
		takers[key], byTaker[key] = taker, append(byTaker[key], t)
	}
	var out []fleet.Reason
	for _, key := range slices.SortedFunc(maps.Keys(takers), func(a, b string) int {
		return cmp.Or(cmp.Compare(takers[b].Code, takers[a].Code), cmp.Compare(a, b)) // what nobody takes is told first
	}) {
		out = append(out, fleet.Because(ReasonRemains, fleet.Values{"things": enumerated(byTaker[key]), "taker": fleet.Nested(takers[key])}))
	}
	for _, kind := range in.Belongings.Unread {
		out = append(out, fleet.Because(ReasonRemainsUnread, fleet.Values{"kind": fleet.Nested(kind.Reason())}))
	}
	if p, _ := a.account(in.Ref.Account); len(out) == 0 && (len(p.Resources) > 0 || p.Kind.BillingProof != providers.ProofNone) {
		out = append(out, fleet.Because(ReasonNothingCosts, fleet.Values{"name": fleet.Text(in.Subject.DisplayName())}))
	}
	return out, nil
}

// takerOf says which policy will delete a thing that is left, or that none will.
func (rt *runtime) takerOf(r fleet.Resource, left map[fleet.Ref]fleet.Left) fleet.Reason {
	mode := rt.accountMode(r.Ref)
	if l, ok := left[r.Ref]; ok && l.Over.IsZero() && policies.Over(l, &r).IsZero() {
		return fleet.Because(ReasonTakenBy, fleet.Values{"policy": fleet.Text(l.Policy)})
	}
	var first fleet.Reason
	var soonest time.Duration
	for _, p := range rt.cfg.Policies {
		taker, ok := p.Policy.(policies.Taker)
		if !ok || milder(p.Terms.Mode, mode) != fleet.Enforce {
			continue
		}
		if after, takes := taker.Takes(r); takes && (first.IsZero() || after < soonest) {
			first, soonest = fleet.Because(ReasonTakenLater, fleet.Values{"policy": fleet.Text(p.Name), "after": fleet.Span(after)}), after
		}
	}
	if first.IsZero() {
		return fleet.Because(ReasonTakenByNobody, nil)
	}
	return first
}

// dropLeft notes of things that were left and that somebody has made use of since that
// they are not deleted any more, whatever becomes of them from now on.
func (a *App) dropLeft(ctx context.Context, left map[fleet.Ref]fleet.Left) error {
	over := map[fleet.Ref]fleet.Reason{}
	for ref, l := range left {
		if r, ok := a.inv.Resource(ref); ok && l.Over.IsZero() {
			if why := policies.Over(l, &r.Resource); !why.IsZero() {
				over[ref] = why
			}
		}
	}
	if len(over) == 0 {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.Left()
		if err != nil {
			return err
		}
		for ref, why := range over {
			if l := now[ref]; l.Over.IsZero() {
				l.Over = why
				if err := tx.SaveLeft(l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
