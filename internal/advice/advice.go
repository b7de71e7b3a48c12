// Package advice tells what a run could do better with what it is paid for: cards
// that wait, cards that are never used, a log that no longer grows. It only tells,
// and nothing is ever done on its word. It is pure: a [Tracker] is fed with looks,
// and [Advise] reads it at a moment it is given.
//
// Everything it says is of the one stretch of looks without a gap that reaches to
// now. What happened over a gap nobody knows, so a gap begins the stretch anew; so
// does a restart of whoever feeds it.
package advice

import (
	"slices"
	"time"

	"curfew/fleet"
)

// What is told of a run.
const (
	CodeUnderused fleet.Code = "advice.underused"
	CodeCards     fleet.Code = "advice.cards"
	CodeNoGPU     fleet.Code = "advice.no-gpu"
	CodeStalled   fleet.Code = "advice.stalled"
)

// What could help where the cards wait.
const (
	HelpCPU   fleet.Code = "advice.help-cpu"
	HelpSwing fleet.Code = "advice.help-swing"
	HelpAny   fleet.Code = "advice.help-any"
)

// Limits say from when on something is worth a word. The zero value tells nothing.
type Limits struct {
	Underused Underused
	// Stalled is how long what a run writes may stay as it is; zero: for ever.
	Stalled time.Duration
}

// Underused are the limits of what is told of cards.
type Underused struct {
	// Below is the utilisation, in percent of all cards that are used, under which
	// they wait; zero tells nothing of cards.
	Below float64
	For   time.Duration // over which it is averaged, in whole [Slot]s rounded up
	// Swing is by how many points the mean of one [Slot] must differ from another's,
	// and back again, for the card to look shared or throttled; zero: never.
	Swing  float64
	CPUFor time.Duration // how long only the processor must have worked; zero: never
}

// Off reports whether nothing is ever told.
func (l Limits) Off() bool { return l == Limits{} }

// Defaults are the limits where the configuration says nothing.
func Defaults() Limits {
	return Limits{
		Underused: Underused{Below: 60, For: 20 * time.Minute, Swing: 40, CPUFor: time.Hour},
		Stalled:   30 * time.Minute,
	}
}

// Subject is one instance and what is known of it beside its looks.
type Subject struct {
	Instance fleet.Instance
	Runs     []fleet.Run
	Watched  []Watched
	// StartsWithoutGPU says that its platform can start it without its cards.
	StartsWithoutGPU bool
}

// Watched are the files in which one policy looks for its runs' success.
type Watched struct {
	Policy string
	Logs   []string // are written to all the time
	Files  []string // may be written at the end only
}

// Advice is one thing that is worth a word.
type Advice struct {
	Code   fleet.Code
	Values fleet.Values
	Since  time.Time
	Run    fleet.Run
	// Wasted is which share of the instance's price is paid for nothing, from 0 to
	// 1, as an estimate. Of one instance all add up to 1 at most. Zero where it
	// cannot be told.
	Wasted float64
}

// Reason gives the advice in words.
func (a Advice) Reason() fleet.Reason { return fleet.Because(a.Code, a.Values) }

// Advise tells what is worth a word now, of each kind one thing at most. It is about
// runs that are open in the boot that was looked at: without one there is nothing to
// say, and neither is there where the newest look is stale.
func Advise(t *Tracker, s Subject, l Limits, now time.Time) []Advice {
	var open []fleet.Run
	for _, r := range s.Runs {
		if r.Open() && t != nil && r.Boot.Same(t.boot) && s.Instance.Boot.Same(t.boot) && !r.StartedAt.IsZero() {
			open = append(open, r)
		}
	}
	if len(open) == 0 || s.Instance.State != fleet.StateRunning {
		return nil
	}
	slices.SortStableFunc(open, func(a, b fleet.Run) int { return a.StartedAt.Compare(b.StartedAt) })
	out := t.underused(open[0], s, l.Underused, now)
	if a, ok := t.stalled(open, s.Watched, l.Stalled, now); ok {
		out = append(out, a)
	}
	return out
}
