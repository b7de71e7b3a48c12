package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons that every policy about resources has.
const (
	ReasonThingUnread   fleet.Code = "policy.thing-unread"
	ReasonThingBusy     fleet.Code = "policy.thing-in-the-making"
	ReasonListUnread    fleet.Code = "policy.list-unread"
	ReasonThingUsed     fleet.Code = "policy.thing-used"
	ReasonThingShared   fleet.Code = "policy.thing-shared"
	ReasonAgeUnknown    fleet.Code = "policy.age-unknown"
	ReasonThingTooYoung fleet.Code = "policy.thing-too-young"
)

// thing is one resource under one policy.
type thing struct {
	*Common
	view     *View
	resource *fleet.Resource
}

// eachResource answers for every resource of some kinds that the policy matches, in
// groups: those that have one source come together.
func (c *Common) eachResource(v *View, kinds []fleet.ThingKind, answer func(group []thing, out *Result)) Result {
	var out Result
	if c.Match == nil {
		return out
	}
	var group []thing
	for some := range Groups(inGroups(v.Things.Resources), 1) {
		group = group[:0]
		for _, r := range some {
			if !slices.Contains(kinds, r.Ref.Kind) {
				continue
			}
			matched, err := c.Match(r.Subject())
			if err != nil {
				out.Findings = append(out.Findings, c.finding(r.Ref, ConditionMatchUnreadable, "",
					fleet.Because(ReasonMatchUnreadable, fleet.Values{"why": fleet.Text(err.Error())})))
				continue
			}
			if matched {
				group = append(group, thing{Common: c, view: v, resource: r})
			}
		}
		if len(group) > 0 {
			if out.Verdicts == nil {
				out.Verdicts = slices.Grow(v.Room, len(v.Things.Resources))
			}
			answer(group, &out)
		}
	}
	return out
}

// inGroups gives the resources in the order of [CompareGroups].
func inGroups(rs []*fleet.Resource) []*fleet.Resource {
	if slices.IsSortedFunc(rs, CompareGroups) {
		return rs
	}
	return slices.SortedFunc(slices.Values(rs), CompareGroups)
}

func (t thing) keep(why fleet.Reason) fleet.Verdict {
	return fleet.Verdict{Policy: t.Name, Ref: t.resource.Ref, Goal: fleet.Keep, Reason: why, Terms: t.Terms}
}

func (t thing) gap(why fleet.Reason) fleet.Verdict {
	v := t.keep(why)
	v.Gap = true
	return v
}

// until keeps the thing until a time at which the answer may change.
func (t thing) until(at time.Time, why fleet.Reason) fleet.Verdict {
	v := t.keep(why)
	v.Next = at
	return v
}

func (t thing) delete(why fleet.Reason) fleet.Verdict {
	v := t.keep(why)
	v.Goal, v.Due = fleet.Delete, t.view.Due
	return v
}

// notNow keeps a thing of which nothing can be asked at this moment, or too little is
// known.
func (t thing) notNow() (fleet.Verdict, bool) {
	r := t.resource
	switch why, closed := t.view.closed(); {
	case closed:
		return t.until(t.view.Opens, why), true
	case !r.Ready:
		return t.gap(fleet.Because(ReasonThingBusy, fleet.Values{"state": fleet.Text(r.RawState)})), true
	case len(r.Unread) > 0:
		return t.gap(fleet.Because(ReasonThingUnread, fleet.Values{"what": fleet.Text(r.Unread[0])})), true
	}
	for _, l := range t.view.Things.Lists {
		elsewhere := l.Scope.Region != "" && r.Region != "" && l.Scope.Region != r.Region
		if l.Scope.Account == r.Ref.Account && l.Kind == r.Ref.Kind && !l.Failing.IsZero() && !elsewhere {
			return t.gap(fleet.Because(ReasonListUnread, fleet.Values{"since": fleet.Moment(l.Since), "why": fleet.Nested(l.Failing)})), true
		}
	}
	return fleet.Verdict{}, false
}

// closed says why a policy may not ask now; false where its window is open.
func (v *View) closed() (fleet.Reason, bool) {
	switch {
	case !v.Due.IsZero():
		return fleet.Reason{}, false
	case v.Opens.IsZero():
		return fleet.Because(ReasonWindowClosed, nil), true
	}
	if v.notDue.IsZero() { // it is the same of all
		v.notDue = fleet.Because(ReasonNotDue, fleet.Values{"until": fleet.Moment(v.Opens)})
	}
	return v.notDue, true
}

// perDay adds to values what a thing costs a day, where the price is known.
func perDay(values fleet.Values, p fleet.Price) fleet.Values {
	if day, ok := (fleet.Price{PerHour: p.PerHour, Source: p.Source}).For(24 * time.Hour); ok {
		values["day"] = fleet.Amount(day)
	}
	return values
}
