package signals

import (
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// The reasons of a fused judgement.
const (
	ReasonBootUnknown   fleet.Code = "signal.boot-unknown"
	ReasonRunOpen       fleet.Code = "signal.run-open"
	ReasonAllIdle       fleet.Code = "signal.all-idle"
	ReasonNoSource      fleet.Code = "signal.no-source"
	ReasonNeverLooked   fleet.Code = "signal.never-looked"
	ReasonOtherBoot     fleet.Code = "signal.other-boot"
	ReasonStale         fleet.Code = "signal.stale"
	ReasonSourceUnknown fleet.Code = "signal.source-unknown"
	ReasonCardsMissing  fleet.Code = "signal.cards-missing"
)

// Fuse joins the newest look of every source into one judgement on the
// instance's present Boot. Any fresh Busy wins, and an open run is Busy; Idle
// needs a fresh Idle from every required source and no contradiction; all else
// is Unknown. Where nothing is required nothing can be Idle. Looks and runs of
// another Boot, or of an unknown one, never count.
func Fuse(now time.Time, i fleet.Instance, latest []fleet.Evidence, runs []fleet.Run, required []string) fleet.Judgement {
	j := fleet.Judgement{Boot: i.Boot, Sources: sources(now, i, latest, required)}
	if i.Boot == "" {
		j.Reason = fleet.Because(ReasonBootUnknown, nil)
		return j
	}
	if busy, ok := newestBusy(j.Sources); ok {
		j.Activity, j.Reason, j.SeenAt = fleet.Busy, busy.Reason, busy.SeenAt
		return j
	}
	if run, ok := oldestOpen(i.Boot, runs); ok {
		j.Activity, j.SeenAt = fleet.Busy, run.Seen
		j.Reason = fleet.Because(ReasonRunOpen, fleet.Values{
			"run": fleet.Text(run.Name()), "since": fleet.Moment(run.StartedAt)})
		return j
	}
	if why := notIdle(now, j.Sources); !why.IsZero() {
		j.Reason = why
		return j
	}
	var names []string
	for _, s := range j.Sources {
		if !s.Required {
			continue
		}
		names = append(names, s.Source)
		if j.SeenAt.IsZero() || s.SeenAt.Before(j.SeenAt) {
			j.SeenAt = s.SeenAt
		}
	}
	j.Activity = fleet.Idle
	j.Reason = fleet.Because(ReasonAllIdle, fleet.Values{
		"sources": fleet.Text(strings.Join(names, ", ")), "at": fleet.Moment(j.SeenAt)})
	return j
}

// sources gives every source's part by name: the newest look of this Boot, or
// why there is none.
func sources(now time.Time, i fleet.Instance, latest []fleet.Evidence, required []string) []fleet.SourceSeen {
	names := slices.Clone(required)
	for _, e := range latest {
		names = append(names, e.Source)
	}
	slices.Sort(names)
	names = slices.Compact(names)

	seen := make([]fleet.SourceSeen, 0, len(names))
	for _, name := range names {
		s := fleet.SourceSeen{Source: name, Required: slices.Contains(required, name)}
		var best *fleet.Evidence
		elsewhere := false
		for n := range latest {
			e := &latest[n]
			switch {
			case e.Source != name:
			case !e.Boot.Same(i.Boot):
				elsewhere = true
			case best == nil || newer(*e, *best):
				best = e
			}
		}
		switch {
		case best != nil:
			s.SeenAt, s.Fresh = best.SeenAt, best.Fresh(now)
			s.Activity, s.Reason = best.Activity, best.Reason
			if best.Activity == fleet.Idle && best.Facts.Reached && len(best.Facts.Cards) < i.GPU.Count {
				s.Activity = fleet.Unknown
				s.Reason = fleet.Because(ReasonCardsMissing, fleet.Values{
					"seen": fleet.Number(float64(len(best.Facts.Cards))), "want": fleet.Number(float64(i.GPU.Count))})
			}
		case elsewhere:
			s.Reason = fleet.Because(ReasonOtherBoot, fleet.Values{"source": fleet.Text(name)})
		default:
			s.Reason = fleet.Because(ReasonNeverLooked, fleet.Values{"source": fleet.Text(name)})
		}
		seen = append(seen, s)
	}
	return seen
}

// newer orders looks of one source; of two begun at once the more careful
// answer counts.
func newer(a, b fleet.Evidence) bool {
	if !a.SeenAt.Equal(b.SeenAt) {
		return a.SeenAt.After(b.SeenAt)
	}
	return a.Activity == fleet.Busy && b.Activity != fleet.Busy ||
		a.Activity == fleet.Unknown && b.Activity == fleet.Idle
}

func newestBusy(seen []fleet.SourceSeen) (fleet.SourceSeen, bool) {
	var best fleet.SourceSeen
	found := false
	for _, s := range seen {
		if s.Fresh && s.Activity == fleet.Busy && (!found || s.SeenAt.After(best.SeenAt)) {
			best, found = s, true
		}
	}
	return best, found
}

func oldestOpen(boot fleet.Boot, runs []fleet.Run) (fleet.Run, bool) {
	var best fleet.Run
	found := false
	for _, r := range runs {
		if !r.Open() || !r.Boot.Same(boot) {
			continue
		}
		if !found || r.StartedAt.Before(best.StartedAt) ||
			(r.StartedAt.Equal(best.StartedAt) && r.ID < best.ID) {
			best, found = r, true
		}
	}
	return best, found
}

// notIdle gives the first reason why nobody at work is not the same as idle.
func notIdle(now time.Time, seen []fleet.SourceSeen) fleet.Reason {
	required := false
	for _, s := range seen {
		name := fleet.Text(s.Source)
		contradicts := s.Fresh && s.Reason.Code == ReasonContradiction
		if !s.Required && !contradicts {
			continue
		}
		required = required || s.Required
		switch {
		case s.SeenAt.IsZero():
			return s.Reason
		case !s.Fresh:
			return fleet.Because(ReasonStale, fleet.Values{
				"source": name, "at": fleet.Moment(s.SeenAt), "age": fleet.Span(now.Sub(s.SeenAt))})
		case s.Activity != fleet.Idle:
			return fleet.Because(ReasonSourceUnknown, fleet.Values{"source": name, "why": fleet.Nested(s.Reason)})
		}
	}
	if !required {
		return fleet.Because(ReasonNoSource, nil)
	}
	return fleet.Reason{}
}
