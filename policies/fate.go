package policies

import "curfew/fleet"

// The reasons of what a release does to data.
const (
	ReasonLostDisk    fleet.Code = "policy.lost-disk"
	ReasonLostPerhaps fleet.Code = "policy.lost-perhaps"
	ReasonLostUnread  fleet.Code = "policy.lost-unread"
	ReasonLostOwn     fleet.Code = "policy.lost-own"
)

// BelongingTo is what belongs to an instance; where nobody tells, there may be disks
// that nobody knows of.
func (v *View) BelongingTo(i fleet.Instance) fleet.Belongings {
	if v.Belongs == nil {
		return fleet.Belongings{Unread: []fleet.ThingKind{fleet.KindDisk}}
	}
	return v.Belongs(i)
}

func (s *subject) releaseKeepsAll() bool {
	return s.view.BelongingTo(*s.instance).ReleaseKeepsAll(*s.instance)
}

// lost names the first thing that a release of the instance destroys, or may; empty
// where that is simply the instance's own data.
func (s *subject) lost() fleet.Value {
	why := LostByRelease(*s.instance, s.view.BelongingTo(*s.instance))
	if why.IsZero() || why.Code == ReasonLostOwn {
		return fleet.Text("")
	}
	return fleet.Nested(why)
}

// LostByRelease says what data a release destroys, or may: the first disk, or a list
// of disks that could not be read, or the instance's own; zero where all is kept.
func LostByRelease(i fleet.Instance, b fleet.Belongings) fleet.Reason {
	lost := b.Lost()
	switch {
	case len(lost) > 0 && lost[0].WithInstance == fleet.Yes:
		return fleet.Because(ReasonLostDisk, fleet.Values{"disk": fleet.Text(lost[0].DisplayName())})
	case len(lost) > 0:
		return fleet.Because(ReasonLostPerhaps, fleet.Values{"disk": fleet.Text(lost[0].DisplayName())})
	case b.ReleaseKeepsAll(i):
		return fleet.Reason{}
	case i.OnRelease.KeepsData == fleet.KeepsAll:
		return fleet.Because(ReasonLostUnread, nil)
	}
	return fleet.Because(ReasonLostOwn, nil)
}
