package policies

import (
	"time"

	"curfew/fleet"
)

// The reasons of an offhours policy.
const (
	ReasonOffHours          fleet.Code = "policy.offhours"
	ReasonOffHoursForced    fleet.Code = "policy.offhours-forced"
	ReasonOffHoursOver      fleet.Code = "policy.offhours-over"
	ReasonOffHoursHoliday   fleet.Code = "policy.offhours-holiday"
	ReasonOffHoursByHand    fleet.Code = "policy.offhours-by-hand"
	ReasonOffHoursNoStart   fleet.Code = "policy.offhours-no-start"
	ReasonOffHoursWaits     fleet.Code = "policy.offhours-waits"
	ReasonOffHoursBusy      fleet.Code = "policy.offhours-busy"
	ReasonOffHoursTooLate   fleet.Code = "policy.offhours-too-late"
	ReasonOffHoursNoRoom    fleet.Code = "policy.offhours-no-room"
	ReasonOffHoursGaveUp    fleet.Code = "policy.offhours-gave-up"
	ReasonOffHoursLosesData fleet.Code = "policy.offhours-loses-data"
)

// The conditions of an offhours policy's findings: told once in a window.
const (
	ConditionStillOn  = "still-on"
	ConditionNoStart  = "start-unknown"
	ConditionNoForced = "force-loses-data"
	ConditionNoRoom   = "no-room-for-warning"
)

// IfBusy is what an offhours policy does with an instance that is not idle. The
// zero value waits.
type IfBusy string

// What can be done.
const (
	IfBusyWait  IfBusy = "wait"  // ask at every look, and give up in the end
	IfBusyWarn  IfBusy = "warn"  // tell, and never stop a busy one
	IfBusyForce IfBusy = "force" // wait for a while, and then stop it all the same
)

// actTakes is how long before its window ends an offhours policy announces
// nothing more, however short the warning: an act takes its time too.
const actTakes = 2 * time.Minute

// OffHours stops what is left running in a window of time.
type OffHours struct {
	Common
	Window time.Duration // its length from the tick
	IfBusy IfBusy
	// WaitMax is the time after the tick at which waiting ends: a policy that waits
	// gives up then (zero: as late as the window allows), one that forces acts.
	WaitMax time.Duration
	// Holiday tells whether the policy leaves out a tick for the day it is on; nil:
	// none.
	Holiday func(tick time.Time) bool
	Then    fleet.Action // Stop
}

// Name is the rule's name in the configuration.
func (o OffHours) Name() string { return o.Common.Name }

// Margin is how long before the window ends nothing more is announced, so that
// the warning and the act fit into it.
func (o OffHours) Margin(warn time.Duration) time.Duration { return max(warn, actTakes) }

// Decide answers for every instance the policy matches. It wishes for nothing
// outside the window of the tick, also where it is asked again with a tick whose
// window has closed.
//
//	tick                    wait_max           end − warn        end
//	 ├── idle: stop ───────────┴───────────────────┤               │
//	 ├── busy, wait: asks again ┤ gives up, tells ──┴───────────────┤
//	 ├── busy, warn: tells ─────────────────────────────────────────┤
//	 └── busy, force: asks again ┤ stop ────────────┤ tells ────────┘
//
// What was announced in time is seen through until the end. An instance that was
// started after the tick is somebody's wish, and is left alone until the next.
func (o OffHours) Decide(v View) Result {
	return o.each(&v, func(s *subject) fleet.Verdict {
		if kept, ok := s.notNow(); ok {
			return kept
		}
		if s.instance.State == fleet.StateStopped {
			return s.keep(fleet.Because(ReasonStoppedDone, nil))
		}
		return night{subject: s, policy: &o, tick: v.Due, end: v.Due.Add(o.Window)}.running()
	})
}

// night is one running instance under one offhours policy in one window.
type night struct {
	*subject
	policy    *OffHours
	tick, end time.Time
}

func (s night) running() fleet.Verdict {
	now := s.view.Now
	started, known := s.startedAt()
	switch {
	case now.Before(s.tick) || !now.Before(s.end):
		return s.keep(fleet.Because(ReasonOffHoursOver, fleet.Values{"tick": fleet.Moment(s.tick), "end": fleet.Moment(s.end)}))
	case s.policy.Holiday != nil && s.policy.Holiday(s.tick):
		return s.keep(fleet.Because(ReasonOffHoursHoliday, fleet.Values{"tick": fleet.Moment(s.tick)}))
	case !known:
		return s.noStart()
	case !started.Before(s.tick):
		return s.keep(fleet.Because(ReasonOffHoursByHand, fleet.Values{
			"started": fleet.Moment(started), "tick": fleet.Moment(s.tick)}))
	}
	activity, why := s.doing()
	switch late := !now.Before(s.lastCall()); {
	case late && !s.lastCall().After(s.tick):
		return s.noRoom()
	case late && !s.announced():
		return s.tooLate(activity, why)
	case late && activity == fleet.Busy && s.policy.IfBusy != IfBusyForce:
		return s.tooLate(activity, why)
	}
	if activity == fleet.Idle {
		return s.act(fleet.Because(ReasonOffHours, fleet.Values{"tick": fleet.Moment(s.tick)}))
	}
	return s.busy(activity, why)
}

// noStart answers for an instance of which it is not known whether somebody
// started it in this window. That is told if it stays so.
func (s night) noStart() fleet.Verdict {
	why := fleet.Because(ReasonOffHoursNoStart, fleet.Values{"tick": fleet.Moment(s.tick)})
	v := s.gap(why)
	if v.Next = s.lastCall(); !s.view.Now.Before(v.Next) {
		s.tellTonight(ConditionNoStart, why)
	}
	return v
}

// busy answers for an instance at work, or of which that cannot be told.
func (s night) busy(activity fleet.Activity, why fleet.Reason) fleet.Verdict {
	values := fleet.Values{"tick": fleet.Moment(s.tick), "why": fleet.Nested(why)}
	var v fleet.Verdict
	switch s.policy.IfBusy {
	case IfBusyWarn:
		told := fleet.Because(ReasonOffHoursBusy, values)
		s.tellTonight(ConditionStillOn, told)
		v = s.keep(told)
	case IfBusyForce:
		after := s.tick.Add(s.policy.WaitMax)
		if !s.view.Now.Before(after) {
			return s.force(why)
		}
		values["until"] = fleet.Moment(after)
		v = s.keep(fleet.Because(ReasonOffHoursWaits, values))
		v.Next = after
	default:
		values["until"] = fleet.Moment(s.lastCall())
		v = s.keep(fleet.Because(ReasonOffHoursWaits, values))
		v.Next = s.lastCall()
	}
	v.Gap = activity == fleet.Unknown
	return v
}

// force wishes for the stop of an instance that is not known to be idle, if that
// keeps all data.
func (s night) force(why fleet.Reason) fleet.Verdict {
	values := fleet.Values{"tick": fleet.Moment(s.tick), "why": fleet.Nested(why)}
	if Effect(*s.instance, fleet.Stop) != fleet.Stop {
		kept := fleet.Because(ReasonOffHoursLosesData, values)
		s.tellTonight(ConditionNoForced, kept)
		return s.keep(kept)
	}
	v := s.act(fleet.Because(ReasonOffHoursForced, values))
	v.Blind = true
	return v
}

func (s night) act(why fleet.Reason) fleet.Verdict {
	if s.policy.Then != fleet.Stop {
		return s.keep(why)
	}
	v := s.wish(fleet.Stop, fleet.Ground{}, why)
	v.Ground = nil // a stop that leads to nothing further needs none
	return v
}

// tooLate answers where nothing can be announced any more in this window.
func (s night) tooLate(activity fleet.Activity, why fleet.Reason) fleet.Verdict {
	if activity == fleet.Idle {
		return s.keep(fleet.Because(ReasonOffHoursTooLate, fleet.Values{
			"tick": fleet.Moment(s.tick), "at": fleet.Moment(s.lastCall())}))
	}
	given := fleet.Because(ReasonOffHoursGaveUp, fleet.Values{
		"tick": fleet.Moment(s.tick), "at": fleet.Moment(s.lastCall()), "why": fleet.Nested(why)})
	s.tellTonight(ConditionStillOn, given)
	v := s.keep(given)
	v.Gap = activity == fleet.Unknown
	return v
}

// noRoom answers where the whole window is too short for the warning: that of a
// stop that loses data.
func (s night) noRoom() fleet.Verdict {
	why := fleet.Because(ReasonOffHoursNoRoom, fleet.Values{
		"tick": fleet.Moment(s.tick), "end": fleet.Moment(s.end), "warn": fleet.Span(s.margin())})
	s.tellTonight(ConditionNoRoom, why)
	return s.keep(why)
}

// margin is how long before the end nothing more is announced.
func (s night) margin() time.Duration {
	return s.policy.Margin(s.Terms.Warn(Effect(*s.instance, fleet.Stop)))
}

// lastCall is until when something may be announced.
func (s night) lastCall() time.Time {
	last := s.end.Add(-s.margin())
	if wait := s.policy.WaitMax; wait > 0 && s.policy.IfBusy != IfBusyForce && s.tick.Add(wait).Before(last) {
		last = s.tick.Add(wait)
	}
	return last
}

// announced reports whether a stop is open that this policy asked for in this
// window.
func (s night) announced() bool {
	in, ok := s.view.Open[s.instance.Ref]
	if !ok || in.Action != fleet.Stop || !in.Boot.Same(s.instance.Boot) {
		return false
	}
	for _, v := range in.Verdicts {
		if v.Policy == s.Name && v.Due.Equal(s.tick) {
			return true
		}
	}
	return false
}

// tellTonight adds a finding that is told once in a window.
func (s night) tellTonight(condition string, why fleet.Reason) {
	s.tell(condition, s.tick.UTC().Format(time.RFC3339), why)
}
