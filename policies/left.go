package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of things that outlived the instance they belonged to.
const (
	ReasonLeftDelete   fleet.Code = "policy.left-delete"
	ReasonLeftSpare    fleet.Code = "policy.left-spare"
	ReasonLeftAttached fleet.Code = "policy.left-attached"
	ReasonLeftUsed     fleet.Code = "policy.left-used"
	ReasonLeftNew      fleet.Code = "policy.left-new"
)

// leftSlack is how much later than the release a platform may say that a thing was
// detached by it.
const leftSlack = 10 * time.Minute

// withLeft answers for every instance, as [Common.each] does, and for what the policy
// released and wants deleted.
func (c *Common) withLeft(v *View, answer func(*subject) fleet.Verdict) Result {
	out := c.each(v, answer)
	if len(v.Left) == 0 {
		return out
	}
	for _, r := range inGroups(v.Things.Resources) {
		if l, ok := v.Left[r.Ref]; ok && l.Policy == c.Name {
			out.Verdicts = append(out.Verdicts, thing{Common: c, view: v, resource: r}.left(l))
		}
	}
	return out
}

// left answers for a thing that belonged to an instance alone: it is to be deleted
// once it is attached to nothing. Whatever shows that somebody made use of it since
// keeps it.
func (t thing) left(l fleet.Left) fleet.Verdict {
	if !l.Over.IsZero() {
		return t.keep(l.Over)
	}
	if kept, ok := t.notNow(); ok {
		return kept
	}
	r := t.resource
	if why := Over(l, r); !why.IsZero() {
		return t.keep(why)
	}
	if !r.AttachedTo.IsZero() {
		return t.gap(fleet.Because(ReasonLeftAttached, fleet.Values{"name": fleet.Text(l.Name)}))
	}
	values := perDay(fleet.Values{"name": fleet.Text(l.Name), "at": fleet.Moment(l.ReleasedAt)}, r.Price)
	why := fleet.Because(ReasonLeftDelete, values)
	if l.Keep > 0 {
		values["keep"] = fleet.Number(float64(l.Keep))
		why = fleet.Because(ReasonLeftSpare, values)
	}
	v := t.delete(why)
	// That these may go was said with the policy.
	v.Terms.Discard, v.Terms.Data = true, nil
	return v
}

// Over says why a thing that was left is not to be deleted any more, whatever becomes
// of it from now on; zero where nothing speaks against it.
func Over(l fleet.Left, r *fleet.Resource) fleet.Reason {
	used := func(by fleet.Ref) fleet.Reason {
		return fleet.Because(ReasonLeftUsed, fleet.Values{"by": fleet.Text(by.ID)})
	}
	switch {
	case !r.AttachedTo.IsZero() && r.AttachedTo != l.Instance:
		return used(r.AttachedTo)
	case len(r.UsedBy) > 0:
		return used(r.UsedBy[0])
	case r.Shared == fleet.Yes:
		return fleet.Because(ReasonThingShared, nil)
	case l.Keep > 0:
	case r.DetachedAt.After(l.ReleasedAt.Add(leftSlack)):
		return fleet.Because(ReasonLeftUsed, fleet.Values{"by": fleet.Text("")})
	case r.CreatedAt.After(l.ReleasedAt.Add(leftSlack)):
		return fleet.Because(ReasonLeftNew, nil)
	}
	return fleet.Reason{}
}

// Taker is a policy that deletes what nobody uses any more.
type Taker interface {
	// Takes reports whether the policy deletes a thing by itself if it stays as it is,
	// and after which time.
	Takes(r fleet.Resource) (after time.Duration, ok bool)
}

var (
	_ Taker = Orphans{}
	_ Taker = Snapshots{}
)

// Takes reports whether the policy deletes the thing once nothing uses it.
func (o Orphans) Takes(r fleet.Resource) (time.Duration, bool) {
	told := r.Ref.Kind == fleet.KindDisk || r.Ref.Kind == fleet.KindPublicIP
	return o.UnusedFor, told && o.Then == fleet.Delete && o.UnusedFor > 0 && o.takes(o.Kinds, r)
}

// Takes reports whether the policy deletes the thing once it is old. Where the newest
// are kept, that cannot be said.
func (s Snapshots) Takes(r fleet.Resource) (time.Duration, bool) {
	return s.OlderThan, s.KeepLast == 0 && s.OlderThan > 0 && s.takes(s.Kinds, r)
}

func (c *Common) takes(kinds []fleet.ThingKind, r fleet.Resource) bool {
	if c.Match == nil || !slices.Contains(kinds, r.Ref.Kind) {
		return false
	}
	matched, err := c.Match(r.Subject())
	return matched && err == nil
}
