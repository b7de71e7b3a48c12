package policies

import (
	"math/bits"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
)

// KeepAlive is a short boot that begins a platform's deletion clock anew.
//
//	stopped, the deletion is near ──► start ──► up for a while ──► stop
//	                                              │ work is seen
//	                                              ▼
//	                                   stays up until a look shows rest
type KeepAlive struct {
	Before time.Duration // how long before the deletion
	For    time.Duration // how long it stays up
}

const (
	// keepAliveEvery is the least time between two boots of one instance: one that
	// did not move the clock is not repeated at once.
	keepAliveEvery = 20 * time.Hour
	// keepAliveShown is how long after the boot the platform may go on showing the
	// old time.
	keepAliveShown = time.Hour
	// keepAliveBlind is for how long the stop needs no look: what goes on for longer
	// is no short boot any more.
	keepAliveBlind = time.Hour
	// keepAliveLeft is how late the stop may be until people are told.
	keepAliveLeft = 30 * time.Minute
)

// Memory is how far back the policy looks at what was seen of an instance: as far as
// it stops one that nobody looked at, so that it knows of anything seen before.
func (k KeepAlive) Memory(warn time.Duration) time.Duration {
	return max(k.For, warn) + keepAliveBlind
}

// begun gives the newest start, if this policy asked for it.
func (e Expiry) begun(s *subject) (fleet.Intent, bool) {
	start, ok := s.view.Starts[s.instance.Ref]
	return start, ok && e.KeepAlive != nil &&
		slices.ContainsFunc(start.Verdicts, func(v fleet.Verdict) bool { return v.Policy == e.Common.Name && v.Goal == fleet.Start })
}

// ownBoot gives the start that led to the present Boot, if this policy asked for it
// and the instance is still up.
func (e Expiry) ownBoot(s *subject) (fleet.Intent, bool) {
	start, ours := e.begun(s)
	return start, ours && s.instance.State == fleet.StateRunning && start.Reached.Same(s.instance.Boot)
}

// keepAlive wishes for a short boot of what is about to be deleted. ok is false where
// it has nothing to say. A deletion that is overdue may still be prevented.
func (e Expiry) keepAlive(s *subject) (v fleet.Verdict, ok bool) {
	i, now := s.instance, s.view.Now
	if e.KeepAlive == nil || i.State != fleet.StateStopped || i.ReleasesAt.IsZero() ||
		now.Before(i.ReleasesAt.Add(-e.KeepAlive.Before)) || !now.Before(i.ReleasesAt.Add(keepAliveEvery)) {
		return v, false
	}
	at := fleet.Moment(i.ReleasesAt)
	if start, ours := e.begun(s); ours && now.Sub(start.ClosedAt) < keepAliveEvery {
		if i.ReleasesAt.After(start.Subject.ReleasesAt.Add(keepAliveShown)) {
			return v, false // it moved
		}
		booted := fleet.Values{"at": at, "booted": fleet.Moment(start.ClosedAt)}
		if shows := start.ClosedAt.Add(max(e.KeepAlive.For, e.Terms.WarnStop) + keepAliveShown); now.Before(shows) {
			v = s.keep(fleet.Because(ReasonKeepAliveShown, booted))
			v.Next = shows
			return v, true
		}
		why := fleet.Because(ReasonKeepAliveVain, booted)
		e.alarm(s, ConditionKeepAliveVain, start.ClosedAt.UTC().Format(time.RFC3339), why)
		v = s.keep(why)
		v.Next = start.ClosedAt.Add(keepAliveEvery)
		return v, true
	}
	if len(i.Unread) > 0 {
		return s.gap(fleet.Because(ReasonThingUnread, fleet.Values{"what": fleet.Text(i.Unread[0])})), true
	}
	if cannot := e.cannot(*i); !cannot.IsZero() {
		why := fleet.Because(ReasonKeepAliveCannot, fleet.Values{"at": at, "why": fleet.Nested(cannot)})
		e.alarm(s, ConditionKeepAliveCannot, sameEnd(i.ReleasesAt), why)
		return s.keep(why), true
	}
	return s.wish(fleet.Start, fleet.Ground{}, fleet.Because(ReasonKeepAlive, fleet.Values{
		"at": at, "for": fleet.Span(e.KeepAlive.For),
	})), true
}

// cannot says why an instance is better not booted: it could not be, or nobody would
// be let stop it afterwards, and it would go on costing.
func (e Expiry) cannot(i fleet.Instance) fleet.Reason {
	byUse := i.Charge.Type == fleet.ChargeOnDemand || i.Charge.Type == fleet.ChargeSpot
	switch {
	case !i.Unable(fleet.Start).IsZero():
		return i.Unable(fleet.Start)
	case !i.Unable(fleet.Stop).IsZero():
		return i.Unable(fleet.Stop)
	case i.Protected:
		return fleet.Because(ReasonStayProtected, nil)
	case i.OnStop.EndsBilling == fleet.No:
		return fleet.Because(ReasonStayBilling, nil)
	case i.OnStop.KeepsData != fleet.KeepsAll:
		return fleet.Because(ReasonStayData, nil)
	case !byUse && (i.Charge.Type != fleet.ChargePeriod || !e.Terms.Refund):
		return fleet.Because(ReasonStayCharge, nil)
	}
	return fleet.Reason{}
}

// keptAlive ends the boot that the policy itself began. That nobody works there may
// not be known, since the boot may be one without cards: for a while what shows work
// holds it back, and what shows nothing does not. Where work was ever seen the boot
// has become somebody's, and only rest ends it.
func (e Expiry) keptAlive(s *subject, since time.Time) fleet.Verdict {
	now, up := s.view.Now, since.Add(e.KeepAlive.For)
	// The warning runs while it is up.
	if asked := up.Add(-e.Terms.WarnStop); now.Before(asked) {
		v := s.keep(fleet.Because(ReasonKeepAliveUp, fleet.Values{"until": fleet.Moment(up)}))
		v.Next = asked
		return v
	}
	activity, why := s.doing()
	if activity == fleet.Busy {
		busy := fleet.Because(ReasonKeepAliveBusy, fleet.Values{"why": fleet.Nested(why)})
		s.tell(ConditionKeepAliveBusy, "", busy)
		return s.keep(busy)
	}
	over, used := since.Add(max(e.KeepAlive.For, e.Terms.WarnStop)), s.worked()
	if late := now.Sub(over); late >= keepAliveLeft && !used {
		left := fleet.Values{"since": fleet.Moment(since)}
		if cost, ok := s.instance.CostSoFar(now); ok {
			left["cost"] = fleet.Amount(cost)
		}
		// Told again after one hour, two, four, and so on.
		e.alarm(s, ConditionKeepAliveLeft, string(s.instance.Boot)+"/"+strconv.Itoa(bits.Len(uint(late/time.Hour))), fleet.Because(ReasonKeepAliveLeft, left))
	}
	if activity == fleet.Unknown && (used || !now.Before(over.Add(keepAliveBlind))) {
		return s.gap(fleet.Because(ReasonKeepAliveUsed, fleet.Values{"why": fleet.Nested(why)}))
	}
	v := s.wish(fleet.Stop, fleet.Ground{}, fleet.Because(ReasonKeepAliveOver, fleet.Values{"since": fleet.Moment(since)}))
	v.Blind = !used && now.Before(over.Add(keepAliveBlind))
	return v
}

// worked reports whether anything seen of this Boot shows work.
func (s *subject) worked() bool {
	for range s.ofBoot() {
		return true
	}
	return slices.ContainsFunc(s.view.Samples[s.instance.Ref], func(e fleet.Evidence) bool {
		return e.Boot.Same(s.instance.Boot) && e.Activity == fleet.Busy
	})
}

// alarm tells of what a person must see to.
func (e Expiry) alarm(s *subject, condition, period string, why fleet.Reason) {
	f := s.finding(s.instance.Ref, condition, period, why)
	f.Severity = fleet.Critical
	s.findings = append(s.findings, f)
}
