package policies_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

var (
	leftAt   = base.Add(-time.Hour) // when the instance was released
	released = fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}
	leftDisk = fleet.Ref{Account: "lab", Kind: fleet.KindDisk, ID: "d"}
)

// leftView has one disk that belonged to a released instance.
func leftView(change func(r *fleet.Resource, l *fleet.Left, v *policies.View)) policies.View {
	r := &fleet.Resource{Ref: leftDisk, Ready: true, CreatedAt: base.Add(-48 * time.Hour)}
	l := fleet.Left{Ref: leftDisk, Instance: released, Name: "exp-a", Policy: "done", ReleasedAt: leftAt}
	v := policies.View{Now: base, Due: base, Things: policies.Things{Resources: []*fleet.Resource{r}}}
	change(r, &l, &v)
	v.Left = map[fleet.Ref]fleet.Left{leftDisk: l}
	return v
}

func TestWhatIsLeftIsDeletedUntilSomebodyUsesIt(t *testing.T) {
	other := fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "b"}
	for _, c := range []struct {
		name   string
		change func(r *fleet.Resource, l *fleet.Left, v *policies.View)
		goal   fleet.Action
		why    fleet.Code
		gap    bool
	}{
		{"attached to nothing", func(*fleet.Resource, *fleet.Left, *policies.View) {}, fleet.Delete, policies.ReasonLeftDelete, false},
		{"detached by the release", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.DetachedAt = leftAt.Add(time.Minute) }, fleet.Delete, policies.ReasonLeftDelete, false},
		{"an image beyond the newest", func(_ *fleet.Resource, l *fleet.Left, _ *policies.View) { l.Keep = 2 }, fleet.Delete, policies.ReasonLeftSpare, false},
		{"still shown as attached", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.AttachedTo = released }, fleet.Keep, policies.ReasonLeftAttached, true},
		{"attached to another", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.AttachedTo = other }, fleet.Keep, policies.ReasonLeftUsed, false},
		{"used by another", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.UsedBy = []fleet.Ref{other} }, fleet.Keep, policies.ReasonLeftUsed, false},
		{"detached long after the release", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.DetachedAt = leftAt.Add(30 * time.Minute) }, fleet.Keep, policies.ReasonLeftUsed, false},
		{"made after the release", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.CreatedAt = leftAt.Add(30 * time.Minute) }, fleet.Keep, policies.ReasonLeftNew, false},
		{"shared meanwhile", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.Shared = fleet.Yes }, fleet.Keep, policies.ReasonThingShared, false},
		{"not all of it read", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.Unread = []string{"labels"} }, fleet.Keep, policies.ReasonThingUnread, true},
		{"being unmade", func(r *fleet.Resource, _ *fleet.Left, _ *policies.View) { r.Ready = false }, fleet.Keep, policies.ReasonThingBusy, true},
		{"given up", func(_ *fleet.Resource, l *fleet.Left, _ *policies.View) { l.Over = fleet.Because("story.over", nil) }, fleet.Keep, "story.over", false},
		{"outside the window", func(_ *fleet.Resource, _ *fleet.Left, v *policies.View) { v.Due = time.Time{} }, fleet.Keep, policies.ReasonWindowClosed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []policies.Policy{
				policies.Training{Common: policies.Common{Name: "done"}, Then: fleet.Release},
				policies.Idle{Common: policies.Common{Name: "done"}, Then: fleet.Release},
			} {
				r := p.Decide(leftView(c.change))
				if len(r.Verdicts) != 1 || len(r.Findings) != 0 {
					t.Fatalf("%T answers %+v", p, r)
				}
				v := r.Verdicts[0]
				if v.Ref != leftDisk || v.Goal != c.goal || v.Reason.Code != c.why || v.Gap != c.gap {
					t.Errorf("%T says %s %s (gap %t), want %s %s (gap %t)", p, v.Goal, v.Reason.Code, v.Gap, c.goal, c.why, c.gap)
				}
				if v.Terms.Discard != (c.goal == fleet.Delete) {
					t.Errorf("%T: that it may go is %t", p, v.Terms.Discard)
				}
			}
		})
	}
	t.Run("another policy says nothing of it", func(t *testing.T) {
		p := policies.Training{Common: policies.Common{Name: "other"}, Then: fleet.Release}
		if r := p.Decide(leftView(func(*fleet.Resource, *fleet.Left, *policies.View) {})); len(r.Verdicts) != 0 {
			t.Errorf("it says %+v", r.Verdicts)
		}
	})
}

func TestWhatAReleaseDestroys(t *testing.T) {
	disk := func(goes fleet.Tri) fleet.Belongings {
		return fleet.Belongings{Things: []fleet.Belonging{{Ref: leftDisk, WithInstance: goes}}}
	}
	for _, c := range []struct {
		name  string
		keeps fleet.Keeps
		b     fleet.Belongings
		why   fleet.Code // none: nothing
	}{
		{"nothing, and it has no disks", fleet.KeepsAll, fleet.Belongings{}, ""},
		{"nothing, and its disk stays", fleet.KeepsAll, disk(fleet.No), ""},
		{"an address is no data", fleet.KeepsAll, fleet.Belongings{Things: []fleet.Belonging{{Ref: fleet.Ref{Kind: fleet.KindPublicIP}}}}, ""},
		{"its disk", fleet.KeepsAll, disk(fleet.Yes), policies.ReasonLostDisk},
		{"perhaps its disk", fleet.KeepsAll, disk(fleet.Unsure), policies.ReasonLostPerhaps},
		{"a disk that nobody could list", fleet.KeepsAll, fleet.Belongings{Unread: []fleet.ThingKind{fleet.KindDisk}}, policies.ReasonLostUnread},
		{"its own data", fleet.KeepsNone, disk(fleet.No), policies.ReasonLostOwn},
		{"a part of it", fleet.KeepsPart, disk(fleet.No), policies.ReasonLostOwn},
		{"nobody says what", fleet.KeepsUnknown, fleet.Belongings{}, policies.ReasonLostOwn},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := fleet.Instance{Ref: released, OnRelease: fleet.OnRelease{KeepsData: c.keeps}}
			if got := policies.LostByRelease(i, c.b); got.Code != c.why {
				t.Errorf("it loses %q, want %q", got.Code, c.why)
			}
			if got := c.b.ReleaseKeepsAll(i); got != (c.why == "") {
				t.Errorf("that it keeps all is %t", got)
			}
		})
	}
	t.Run("where nobody tells what belongs to it", func(t *testing.T) {
		i := fleet.Instance{Ref: released, OnRelease: fleet.OnRelease{KeepsData: fleet.KeepsAll}}
		var v policies.View
		if v.BelongingTo(i).ReleaseKeepsAll(i) {
			t.Error("it is taken to keep all")
		}
	})
}
