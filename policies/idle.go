package policies

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of an idle policy.
const (
	ReasonIdle          fleet.Code = "policy.idle"
	ReasonIdleBusy      fleet.Code = "policy.idle-busy"
	ReasonIdleUnknown   fleet.Code = "policy.idle-unknown"
	ReasonIdleSetUp     fleet.Code = "policy.idle-set-up"
	ReasonIdleWorked    fleet.Code = "policy.idle-worked"
	ReasonIdleUnclear   fleet.Code = "policy.idle-unclear"
	ReasonIdleUnwatched fleet.Code = "policy.idle-unwatched"
	ReasonIdleSince     fleet.Code = "policy.idle-since"
	ReasonIdleFewLooks  fleet.Code = "policy.idle-few-looks"
	ReasonIdleMemory    fleet.Code = "policy.idle-memory"
	ReasonIdleLoad      fleet.Code = "policy.idle-load"
	ReasonIdleStopped   fleet.Code = "policy.idle-stopped"
)

// fewestLooks is how many looks by each source prove anything, however long each
// of them may be relied on.
const fewestLooks = 4

// loadShare is which share of looks, one in so many, may show more load than
// allowed: a spike is no work.
const loadShare = 10

// Idle stops or releases an instance that nobody has used for a while.
type Idle struct {
	Common
	For time.Duration // how long it must have been at rest, without a gap in what is known
	// GPUBelow is the percentage under which the utilisation of every card must
	// have been in every look.
	GPUBelow float64
	// LoadBelow is the load average under which an instance without cards must have
	// been in nine looks of ten.
	LoadBelow float64
	// SessionIdleMax is how long a session may be without input and still count as
	// somebody at work.
	SessionIdleMax time.Duration
	// MemoryIdleMax is how long it must have been at rest while a card holds
	// memory, if that is longer; zero: for ever.
	MemoryIdleMax time.Duration
	IgnoreMemory  bool // held memory makes no difference
	// BootGrace is the time after a start that counts as set-up.
	BootGrace time.Duration
	Then      fleet.Action // Stop or Release
}

// Name is the rule's name in the configuration.
func (p Idle) Name() string { return p.Common.Name }

// Decide answers for every instance the policy matches.
//
// A running instance is asked for only on a fresh Idle judgement of its Boot,
// and only where looks by every source that is required show that it was at rest
// for the whole time, the first at or before its beginning and each before the
// last was stale. A look that shows work begins the time anew, and is a ground
// against what was announced; one that cannot tell, or that is missing, begins it
// anew and is a gap. Set-up after a start is no rest.
func (p Idle) Decide(v View) Result {
	return p.withLeft(&v, func(s *subject) fleet.Verdict {
		if kept, ok := s.notNow(); ok {
			return kept
		}
		if s.instance.State == fleet.StateStopped {
			return s.stopped(s.ofBoot(), func(fleet.Ground) fleet.Action { return p.goal() }, stoppedIdle)
		}
		return idler{subject: s, policy: &p}.running()
	})
}

// goal is how far the policy goes.
func (p Idle) goal() fleet.Action {
	if p.Then != fleet.Stop && p.Then != fleet.Release {
		return fleet.Keep
	}
	return p.Then
}

func stoppedIdle(g fleet.Ground) fleet.Reason {
	return fleet.Because(ReasonIdleStopped, fleet.Values{"since": fleet.Moment(g.EndedAt)})
}

// idler is one instance under one idle policy.
type idler struct {
	*subject
	policy *Idle
}

func (s idler) running() fleet.Verdict {
	activity, why := s.doing()
	if activity == fleet.Busy {
		return s.keep(fleet.Because(ReasonIdleBusy, fleet.Values{"why": fleet.Nested(why)}))
	}
	looks := s.samples()
	past := s.past(looks)
	// What was seen of work is a ground against an act, also where nothing can be
	// told now.
	if past.worked.After(s.view.Now.Add(-s.policy.For)) {
		return s.until(past.worked.Add(s.policy.For), s.keep(fleet.Because(ReasonIdleWorked, fleet.Values{
			"at": fleet.Moment(past.worked), "why": fleet.Nested(past.work),
			"until": fleet.Moment(past.worked.Add(s.policy.For))})))
	}
	if activity != fleet.Idle {
		return s.gap(fleet.Because(ReasonIdleUnknown, fleet.Values{"why": fleet.Nested(why)}))
	}
	need := s.policy.For
	past.holds = past.heldUntil.After(s.view.Now.Add(-need))
	if past.holds {
		if s.policy.MemoryIdleMax <= 0 {
			return s.keep(past.held)
		}
		need = max(need, s.policy.MemoryIdleMax)
	}
	return s.after(need, past, looks)
}

// until sets the moment at which time alone may change a verdict.
func (s idler) until(t time.Time, v fleet.Verdict) fleet.Verdict {
	v.Next = t
	return v
}

// past is what the looks say of the time before now, whoever looked.
type past struct {
	worked time.Time // when work was last seen
	work   fleet.Reason
	// held is what a card held when memory was last seen to be held, which counts
	// until heldUntil; taken says that a look before that showed none.
	held      fleet.Reason
	heldUntil time.Time
	taken     bool
	holds     bool // within the policy's time
	// unclear is why a source that is not required could not tell although it got
	// inside, and when.
	unclear   fleet.Reason
	unclearAt time.Time
}

func (s idler) past(looks []*fleet.Evidence) past {
	var p past
	for _, e := range looks {
		switch seen, why := s.policy.rest(s.instance, e); seen {
		case working:
			if p.worked.IsZero() {
				p.worked, p.work = e.SeenAt, why
			}
		case holding:
			// What a look saw counts until it is stale.
			if p.held.IsZero() {
				p.held, p.heldUntil = why, e.SeenAt.Add(e.FreshFor)
			}
		case resting:
			p.taken = p.taken || !e.Outside && !p.held.IsZero()
		case unclear:
			if e.Facts.Reached && p.unclearAt.IsZero() {
				p.unclear, p.unclearAt = why, e.SeenAt
			}
		}
	}
	if last := s.lastEnded(); last != nil && last.EndedAt.After(p.worked) {
		p.worked, p.work = last.EndedAt, fleet.Because(ReasonLookRun, told(*last))
	}
	return p
}

// lastEnded gives the run of this Boot, of any policy, that ended last; nil for
// none.
func (s idler) lastEnded() *fleet.Run {
	var last *fleet.Run
	for r := range s.ofBoot() {
		if !r.Open() && (last == nil || byEnd(*r, *last) > 0) {
			last = r
		}
	}
	return last
}

// after answers for an instance at rest now that must have been so for a while.
func (s idler) after(need time.Duration, p past, looks []*fleet.Evidence) fleet.Verdict {
	now := s.view.Now
	begin := now.Add(-need)
	if ready, known := s.setUp(looks); ready.After(begin) {
		if !ready.After(now.Add(-s.policy.For)) {
			return s.holding(p, ready.Add(need), !known)
		}
		v := s.until(ready.Add(need), s.keep(fleet.Because(ReasonIdleSetUp, fleet.Values{
			"ready": fleet.Moment(ready), "until": fleet.Moment(ready.Add(need))})))
		v.Gap = !known
		return v
	}
	if p.unclearAt.After(begin) {
		return s.until(p.unclearAt.Add(need), s.gap(fleet.Because(ReasonIdleUnclear, fleet.Values{
			"at": fleet.Moment(p.unclearAt), "why": fleet.Nested(p.unclear)})))
	}
	var oldest time.Time // the beginning of the time that every source shows
	fewest := 0
	for n, source := range s.required() {
		st := s.policy.stretchOf(source, s.instance, looks, now, begin)
		if st.since.IsZero() || st.since.After(begin) {
			return s.short(st, need, p)
		}
		if n == 0 || st.since.After(oldest) {
			oldest = st.since
		}
		if n == 0 || st.looks < fewest {
			fewest = st.looks
		}
	}
	if fewest < fewestLooks {
		return s.gap(fleet.Because(ReasonIdleFewLooks, fleet.Values{
			"looks": fleet.Number(float64(fewest)), "for": fleet.Span(need), "want": fleet.Number(fewestLooks)}))
	}
	load, high, of := s.load(looks, begin)
	if of > 0 && high*loadShare > of {
		return s.keep(fleet.Because(ReasonIdleLoad, fleet.Values{
			"limit": fleet.Number(s.policy.LoadBelow), "high": fleet.Number(float64(high)), "looks": fleet.Number(float64(of)),
			"load": fleet.Number(load), "for": fleet.Span(need)}))
	}
	why := fleet.Because(ReasonIdle, fleet.Values{"for": fleet.Span(need), "looks": fleet.Number(float64(fewest))})
	if s.policy.goal() == fleet.Keep {
		return s.keep(why)
	}
	return s.wishAsFar(s.policy.goal(), fleet.Ground{EndedAt: oldest}, "", why)
}

// short answers where the looks of one source do not show the whole time.
func (s idler) short(st stretch, need time.Duration, p past) fleet.Verdict {
	since := st.since
	if since.IsZero() {
		since = s.view.Now
	}
	until := since.Add(need)
	switch {
	case st.broken == unclear:
		return s.until(until, s.gap(st.because))
	case p.holds:
		return s.holding(p, until, st.broken != working)
	case st.broken == working:
		return s.until(until, s.keep(fleet.Because(ReasonIdleWorked, fleet.Values{
			"at": fleet.Moment(p.worked), "why": fleet.Nested(st.because), "until": fleet.Moment(until)})))
	}
	return s.until(until, s.gap(fleet.Because(ReasonIdleSince, fleet.Values{
		"source": fleet.Text(st.source), "since": fleet.Moment(since), "until": fleet.Moment(until)})))
}

// holding answers where all that speaks against an act is held memory. Memory
// that was taken meanwhile is a sign of use; if it was held all along, what may
// be missing are looks that go far enough back.
func (s idler) holding(p past, until time.Time, missing bool) fleet.Verdict {
	if back := p.heldUntil.Add(s.policy.For); back.Before(until) {
		until = back
	}
	v := s.until(until, s.keep(fleet.Because(ReasonIdleMemory, fleet.Values{
		"why": fleet.Nested(p.held), "until": fleet.Moment(until)})))
	v.Gap = missing && !p.taken
	return v
}

// setUp is when set-up counts as done, and whether that follows from when the
// instance was started. Where nobody tells when that was, it was started when it
// was first looked at.
func (s idler) setUp(looks []*fleet.Evidence) (time.Time, bool) {
	if at, ok := s.startedAt(); ok {
		return at.Add(s.policy.BootGrace), true
	}
	if len(looks) == 0 {
		return s.view.Now, false
	}
	return looks[len(looks)-1].SeenAt.Add(s.policy.BootGrace), false
}

// required names the sources without whose word nothing is idle.
func (s idler) required() []string {
	var names []string
	j, _ := s.judgement()
	for _, seen := range j.Sources {
		if seen.Required && !slices.Contains(names, seen.Source) {
			names = append(names, seen.Source)
		}
	}
	slices.Sort(names)
	return names
}

// load says in how many looks at an instance without cards, of how many since the
// beginning, the load was as high as the limit, and the highest.
func (s idler) load(looks []*fleet.Evidence, begin time.Time) (highest float64, high, of int) {
	for _, e := range looks {
		if e.SeenAt.Before(begin) || len(e.Facts.Cards) > 0 || !e.Facts.Reached {
			continue
		}
		of++
		if !(e.Facts.Load1 < s.policy.LoadBelow) {
			high++
		}
		highest = max(highest, e.Facts.Load1)
	}
	return highest, high, of
}
