package policies

import (
	"time"

	"curfew/fleet"
)

// The reasons of a lifetime policy.
const (
	ReasonLifetime          fleet.Code = "policy.lifetime"
	ReasonLifetimeYoung     fleet.Code = "policy.lifetime-young"
	ReasonLifetimeUnknown   fleet.Code = "policy.lifetime-unknown"
	ReasonLifetimeLosesData fleet.Code = "policy.lifetime-loses-data"
)

// The conditions of a lifetime policy's findings.
const (
	ConditionAgeUnknown   = "age-unknown"
	ConditionOverLifetime = "over-lifetime"
)

// Lifetime stops an instance that has been up for too long, even when it is
// busy. It looks at no activity, and so does nothing that loses data.
type Lifetime struct {
	Common
	Max  time.Duration // since the start of the present Boot
	Then fleet.Action  // Stop
}

// Name is the rule's name in the configuration.
func (l Lifetime) Name() string { return l.Common.Name }

// Decide answers for every instance the policy matches. The wish comes at Max,
// and the act when the warning is over.
func (l Lifetime) Decide(v View) Result {
	return l.each(&v, func(s *subject) fleet.Verdict {
		if kept, ok := s.notNow(); ok {
			return kept
		}
		if s.instance.State == fleet.StateStopped {
			return s.keep(fleet.Because(ReasonStoppedDone, nil))
		}
		return l.running(s)
	})
}

func (l Lifetime) running(s *subject) fleet.Verdict {
	started := s.instance.StartedAt
	switch {
	case l.Max <= 0:
		return s.keep(fleet.Because(ReasonWindowClosed, nil))
	case started.IsZero():
		why := fleet.Because(ReasonLifetimeUnknown, fleet.Values{"max": fleet.Span(l.Max)})
		s.tell(ConditionAgeUnknown, "", why)
		return s.gap(why)
	}
	due := started.Add(l.Max)
	values := fleet.Values{"started": fleet.Moment(started), "max": fleet.Span(l.Max), "due": fleet.Moment(due)}
	switch {
	case s.view.Now.Before(due):
		v := s.keep(fleet.Because(ReasonLifetimeYoung, values))
		v.Next = due
		return v
	case Effect(*s.instance, fleet.Stop) != fleet.Stop:
		why := fleet.Because(ReasonLifetimeLosesData, values)
		s.tell(ConditionOverLifetime, "", why)
		return s.keep(why)
	case l.Then != fleet.Stop:
		return s.keep(fleet.Because(ReasonLifetime, values))
	}
	v := s.wish(fleet.Stop, fleet.Ground{}, fleet.Because(ReasonLifetime, values))
	v.Ground, v.Blind = nil, true
	return v
}
