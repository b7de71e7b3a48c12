package signals

import (
	"maps"
	"math"
	"slices"
	"time"

	"curfew/fleet"
)

// The thresholds used where [Limits] gives none.
const (
	DefaultBusyAbove      = 5.0
	DefaultSessionIdleMax = 30 * time.Minute
)

// The reasons of a judged look.
const (
	ReasonBusyCard      fleet.Code = "signal.busy-card"
	ReasonBusyProcess   fleet.Code = "signal.busy-process"
	ReasonBusyRun       fleet.Code = "signal.busy-run"
	ReasonBusyKernel    fleet.Code = "signal.busy-kernel"
	ReasonBusySession   fleet.Code = "signal.busy-session"
	ReasonIdle          fleet.Code = "signal.idle"
	ReasonNotReached    fleet.Code = "signal.not-reached"
	ReasonUnreadable    fleet.Code = "signal.unreadable"
	ReasonNoProcesses   fleet.Code = "signal.no-processes"
	ReasonCardUnread    fleet.Code = "signal.card-unread"
	ReasonCardMIG       fleet.Code = "signal.card-mig"
	ReasonContradiction fleet.Code = "signal.contradiction"
)

// The readings of a look as they are named in reasons.
const (
	ReasonReadingCards     fleet.Code = "signal.reading.cards"
	ReasonReadingProcesses fleet.Code = "signal.reading.processes"
	ReasonReadingSessions  fleet.Code = "signal.reading.sessions"
	ReasonReadingJupyter   fleet.Code = "signal.reading.jupyter"
	ReasonReadingRuns      fleet.Code = "signal.reading.runs"
	ReasonReadingHold      fleet.Code = "signal.reading.hold"
	ReasonReadingLoad      fleet.Code = "signal.reading.load"
)

// A card that claims to do nothing while it draws this much power and holds
// this much memory contradicts itself. Cards at rest stay below it, also with a
// context open.
const (
	restPowerW   = 150
	restMemoryMB = 1024
)

// bootSlack is how far times read inside an instance may be off: the clock
// difference is measured anew by each look, and start times come in whole
// seconds.
const bootSlack = 5 * time.Second

// Judge turns the facts of one look from inside into an activity with its
// reason. One busy fact is enough for Busy, whatever else failed; Idle needs
// every reading and nothing at work; all else is Unknown. It fills
// Facts.Matched and drops Facts.Processes, so a look is judged once. Sources
// that do not look inside tell their activity themselves and are not judged.
func Judge(e fleet.Evidence, l Limits, ps []Pattern) fleet.Evidence {
	if e.Outside {
		e.Facts = fleet.Facts{} // what it has not seen cannot speak for or against a run
		return e
	}
	l = l.orDefaults()
	f := e.Facts
	f.Matched, f.MatchedSince = match(f.Processes, ps)
	if f.BootedAt.IsZero() {
		f.BootedAt = bootedAt(f.Processes)
	}
	// A container that hides its processes may answer with an empty list.
	f.ProcessesRead = f.ProcessesRead && len(f.Processes) > 0
	f.Processes = nil
	e.Facts = f

	e.Activity = fleet.Unknown
	if !f.Reached && !e.Reason.IsZero() {
		return e
	}
	if why := atWork(f, l); !why.IsZero() {
		e.Activity, e.Reason = fleet.Busy, why
		return e
	}
	if why := untold(f); !why.IsZero() {
		e.Reason = why
		return e
	}
	e.Activity, e.Reason = fleet.Idle, fleet.Because(ReasonIdle, nil)
	return e
}

// orDefaults replaces what is not a threshold: a zero would let no session
// count.
func (l Limits) orDefaults() Limits {
	if !(l.BusyAbove > 0) {
		l.BusyAbove = DefaultBusyAbove
	}
	if l.SessionIdleMax <= 0 {
		l.SessionIdleMax = DefaultSessionIdleMax
	}
	return l
}

func match(processes []fleet.Process, ps []Pattern) (map[string][]int, map[string]time.Time) {
	pids, since := map[string][]int{}, map[string]time.Time{}
	for _, p := range ps {
		if p.Match == nil {
			continue
		}
		var oldest time.Time
		told := true
		for _, proc := range processes {
			if !p.Match(proc.Command) {
				continue
			}
			pids[p.Policy] = append(pids[p.Policy], proc.PID)
			told = told && !proc.StartedAt.IsZero()
			if oldest.IsZero() || proc.StartedAt.Before(oldest) {
				oldest = proc.StartedAt
			}
		}
		slices.Sort(pids[p.Policy])
		if told && !oldest.IsZero() {
			since[p.Policy] = oldest
		}
	}
	maps.DeleteFunc(pids, func(_ string, found []int) bool { return len(found) == 0 })
	return pids, since
}

func bootedAt(processes []fleet.Process) time.Time {
	for _, p := range processes {
		if p.PID == 1 {
			return p.StartedAt
		}
	}
	return time.Time{}
}

// atWork gives the first busy fact, those that tell people most coming first.
func atWork(f fleet.Facts, l Limits) fleet.Reason {
	for _, b := range f.BoxRuns {
		if boxOpen(f, b) {
			return fleet.Because(ReasonBusyRun, fleet.Values{
				"run": fleet.Text(b.ID), "since": fleet.Moment(b.StartedAt)})
		}
	}
	if len(f.Matched) > 0 {
		policy := slices.Min(slices.Collect(maps.Keys(f.Matched)))
		return fleet.Because(ReasonBusyProcess, fleet.Values{
			"policy": fleet.Text(policy), "count": fleet.Number(float64(len(f.Matched[policy]))),
			"pid": fleet.Number(float64(f.Matched[policy][0]))})
	}
	for _, c := range f.Cards {
		if u, ok := utilization(c); ok && u >= l.BusyAbove {
			return fleet.Because(ReasonBusyCard, fleet.Values{
				"card": fleet.Number(float64(c.Index)), "used": fleet.Number(u), "limit": fleet.Number(l.BusyAbove)})
		}
	}
	for _, s := range f.Sessions {
		if s.Busy {
			return fleet.Because(ReasonBusyKernel, fleet.Values{"kernel": fleet.Text(s.Name)})
		}
	}
	for _, s := range f.Sessions {
		if s.Idle <= l.SessionIdleMax {
			name := s.Name
			if name == "" {
				name = s.Kind
			}
			return fleet.Because(ReasonBusySession, fleet.Values{
				"session": fleet.Text(name), "idle": fleet.Span(s.Idle)})
		}
	}
	return fleet.Reason{}
}

// untold gives the first reason why a look in which nothing was at work is no
// proof of rest.
func untold(f fleet.Facts) fleet.Reason {
	if !f.Reached {
		return fleet.Because(ReasonNotReached, nil)
	}
	if len(f.Unreadable) > 0 {
		what := slices.Min(slices.Collect(maps.Keys(f.Unreadable)))
		return fleet.Because(ReasonUnreadable, fleet.Values{
			"what": Reading(what), "why": fleet.Text(f.Unreadable[what])})
	}
	if !f.ProcessesRead {
		return fleet.Because(ReasonNoProcesses, nil)
	}
	for _, c := range f.Cards {
		card := fleet.Number(float64(c.Index))
		if c.MIG {
			return fleet.Because(ReasonCardMIG, fleet.Values{"card": card})
		}
		if _, ok := utilization(c); !ok {
			return fleet.Because(ReasonCardUnread, fleet.Values{"card": card})
		}
		if c.PowerW != nil && *c.PowerW >= restPowerW && c.MemoryMB != nil && *c.MemoryMB >= restMemoryMB {
			return fleet.Because(ReasonContradiction, fleet.Values{
				"card": card, "power": fleet.Number(math.Round(*c.PowerW)), "memory": fleet.Number(math.Round(*c.MemoryMB))})
		}
	}
	return fleet.Reason{}
}

// Reading names a key of Facts.Unreadable in the reader's language.
func Reading(what string) fleet.Value {
	switch what {
	case "cards":
		return fleet.Nested(fleet.Because(ReasonReadingCards, nil))
	case "processes":
		return fleet.Nested(fleet.Because(ReasonReadingProcesses, nil))
	case "sessions":
		return fleet.Nested(fleet.Because(ReasonReadingSessions, nil))
	case "jupyter":
		return fleet.Nested(fleet.Because(ReasonReadingJupyter, nil))
	case "runs":
		return fleet.Nested(fleet.Because(ReasonReadingRuns, nil))
	case "hold":
		return fleet.Nested(fleet.Because(ReasonReadingHold, nil))
	case "load":
		return fleet.Nested(fleet.Because(ReasonReadingLoad, nil))
	}
	return fleet.Text(what)
}

// utilization gives a card's reading where it is one: a figure below zero or
// none at all says nothing.
func utilization(c fleet.Card) (float64, bool) {
	if c.Utilization == nil || !(*c.Utilization >= 0) {
		return 0, false
	}
	return *c.Utilization, true
}

// boxOpen reports whether an in-box run is going on as far as its files tell.
func boxOpen(f fleet.Facts, b fleet.BoxRun) bool {
	return !b.PIDGone && !boxEnded(b) && !beforeBoot(f, b.StartedAt)
}

// boxEnded reports whether there is an end file that speaks of this start: one
// older than the start was left by another run.
func boxEnded(b fleet.BoxRun) bool {
	return !b.EndedAt.IsZero() && !b.EndedAt.Before(b.StartedAt)
}

// beforeBoot reports whether what began at t belongs to an earlier Boot, or to
// the instance this one was copied from.
func beforeBoot(f fleet.Facts, t time.Time) bool {
	return !f.BootedAt.IsZero() && !t.IsZero() && t.Before(f.BootedAt.Add(-bootSlack))
}
