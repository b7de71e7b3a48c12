package policies

import (
	"cmp"
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of an expiry policy.
const (
	ReasonEndsPeriod      fleet.Code = "policy.ends-period"
	ReasonEndsRelease     fleet.Code = "policy.ends-release"
	ReasonEndsTimer       fleet.Code = "policy.ends-timer"
	ReasonEndsLater       fleet.Code = "policy.ends-later"
	ReasonEndsNever       fleet.Code = "policy.ends-never"
	ReasonEndsPast        fleet.Code = "policy.ends-past"
	ReasonKeepAlive       fleet.Code = "policy.keepalive"
	ReasonKeepAliveUp     fleet.Code = "policy.keepalive-up"
	ReasonKeepAliveOver   fleet.Code = "policy.keepalive-over"
	ReasonKeepAliveBusy   fleet.Code = "policy.keepalive-busy"
	ReasonKeepAliveUsed   fleet.Code = "policy.keepalive-used"
	ReasonKeepAliveLeft   fleet.Code = "policy.keepalive-left"
	ReasonKeepAliveShown  fleet.Code = "policy.keepalive-shown"
	ReasonKeepAliveVain   fleet.Code = "policy.keepalive-vain"
	ReasonKeepAliveCannot fleet.Code = "policy.keepalive-cannot"

	// Why what was booted could not be stopped again.
	ReasonStayProtected fleet.Code = "policy.stay-protected"
	ReasonStayBilling   fleet.Code = "policy.stay-billing"
	ReasonStayData      fleet.Code = "policy.stay-data"
	ReasonStayCharge    fleet.Code = "policy.stay-charge"
)

// The conditions of an expiry policy's findings.
const (
	ConditionExpiry          = "expiry"
	ConditionKeepAliveBusy   = "keepalive-busy"
	ConditionKeepAliveLeft   = "keepalive-left"
	ConditionKeepAliveVain   = "keepalive-vain"
	ConditionKeepAliveCannot = "keepalive-cannot"
)

// Expiry reminds people of what ends by itself: a paid period, a platform's timer, the
// platform's own deletion of what has been stopped for long. It may keep a stopped
// instance from that deletion by a short boot.
type Expiry struct {
	Common
	Remind    []time.Duration // before the end, the longest first
	KeepAlive *KeepAlive
}

// Name is the rule's name in the configuration.
func (e Expiry) Name() string { return e.Common.Name }

// Decide answers for every instance the policy matches. People are reminded whether
// the window is open or not, and what the policy itself booted is stopped in any case.
func (e Expiry) Decide(v View) Result {
	return e.each(&v, func(s *subject) fleet.Verdict {
		e.remind(s)
		if start, ok := e.ownBoot(s); ok {
			return e.keptAlive(s, start.ClosedAt)
		}
		if kept, ok := s.notNow(); ok {
			return kept
		}
		if verdict, ok := e.keepAlive(s); ok {
			return verdict
		}
		return e.nothingToDo(s)
	})
}

// nothingToDo keeps an instance, and says what ends it first.
func (e Expiry) nothingToDo(s *subject) fleet.Verdict {
	now := s.view.Now
	all := ends(*s.instance)
	if len(all) == 0 {
		return s.keep(fleet.Because(ReasonEndsNever, nil))
	}
	coming := slices.DeleteFunc(slices.Clone(all), func(e end) bool { return !e.at.After(now) })
	if len(coming) == 0 {
		last := slices.MaxFunc(all, end.compare)
		return s.keep(fleet.Because(ReasonEndsPast, fleet.Values{"at": fleet.Moment(last.at)}))
	}
	first := slices.MinFunc(coming, end.compare)
	why := first.reason(*s.instance, now)
	if left := first.at.Sub(now); len(e.Remind) > 0 && left > e.Remind[0] {
		why = fleet.Because(ReasonEndsLater, fleet.Values{"what": fleet.Nested(why)})
	}
	verdict := s.keep(why)
	verdict.Next = e.next(*s.instance, coming, now)
	return verdict
}

// next is when time alone brings the next reminder or boot; zero where it brings none.
func (e Expiry) next(i fleet.Instance, coming []end, now time.Time) time.Time {
	var next time.Time
	sooner := func(at time.Time) {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, end := range coming {
		for _, d := range e.Remind {
			sooner(end.at.Add(-d))
		}
	}
	if e.KeepAlive != nil && i.State == fleet.StateStopped && !i.ReleasesAt.IsZero() {
		sooner(i.ReleasesAt.Add(-e.KeepAlive.Before))
	}
	return next
}

// end is one way in which an instance ends by itself.
type end struct {
	at   time.Time
	code fleet.Code
	cat  fleet.Category
}

func (e end) compare(o end) int { return cmp.Or(e.at.Compare(o.at), cmp.Compare(e.code, o.code)) }

func ends(i fleet.Instance) []end {
	var all []end
	if i.State.Gone() || i.State == fleet.StateReleasing {
		return all
	}
	if i.Charge.Type == fleet.ChargePeriod && !i.Charge.End.IsZero() {
		all = append(all, end{i.Charge.End, ReasonEndsPeriod, fleet.CategoryMoney})
	}
	if !i.ReleasesAt.IsZero() {
		all = append(all, end{i.ReleasesAt, ReasonEndsRelease, fleet.CategoryHealth})
	}
	if !i.StopsAt.IsZero() && i.State.Up() {
		all = append(all, end{i.StopsAt, ReasonEndsTimer, fleet.CategoryHealth})
	}
	return all
}

func (e end) reason(i fleet.Instance, now time.Time) fleet.Reason {
	return fleet.Because(e.code, fleet.Values{"at": fleet.Moment(e.at), "in": fleet.Span(e.at.Sub(now)), "spot": spot(i)})
}

// spot is a word for templates: empty where it is none.
func spot(i fleet.Instance) fleet.Value {
	if i.Charge.Type == fleet.ChargeSpot {
		return fleet.Text("spot")
	}
	return fleet.Text("")
}

// remind tells of every end once for each of the times before it that has come; the
// last one is told as critical, where more than money is at stake.
func (e Expiry) remind(s *subject) {
	now := s.view.Now
	if open, ok := s.view.Open[s.instance.Ref]; ok && open.Action.Destroys() && open.State != fleet.IntentPending {
		return // what the platform says of its end now is our own doing
	}
	for _, end := range ends(*s.instance) {
		left := end.at.Sub(now)
		come := slices.DeleteFunc(slices.Clone(e.Remind), func(d time.Duration) bool { return left > d })
		if left <= 0 || len(come) == 0 {
			continue
		}
		period := string(end.code) + "/" + sameEnd(end.at) + "/" + come[len(come)-1].String()
		f := s.finding(s.instance.Ref, ConditionExpiry, period, end.reason(*s.instance, now))
		f.Category = end.cat
		if len(come) == len(e.Remind) && end.code == ReasonEndsRelease {
			f.Severity = fleet.Critical
		}
		s.findings = append(s.findings, f)
	}
}

// sameEnd names an end: one that moves by minutes, since the platform reckons it anew
// each time, is the same.
func sameEnd(at time.Time) string { return at.UTC().Round(time.Hour).Format(time.RFC3339) }
