// Package signals tells what instances are doing. A [Source] looks; [Judge]
// turns one look's facts into an activity; [Follow] tells from looks in a row
// when a training run began and ended; [Fuse] joins all sources into one
// judgement. Only sources touch the world: the rest is pure.
package signals

import (
	"context"
	"time"

	"curfew/fleet"
)

// Source looks at instances from one side.
type Source interface {
	// Name is the source's name, as in Evidence.Source.
	Name() string
	// Applies reports whether the source is to see the instance at all. One that it
	// does not apply to is not given to Look, and its word is not required there.
	Applies(i fleet.Instance) bool
	// Look looks at all of the given instances, all of them running, and answers
	// with evidence for each: one it cannot reach or read gets evidence that says
	// Unknown with the reason. Evidence carries the instance's Boot, SeenAt (when
	// the look at it began) and FreshFor, and the full Facts; its Activity is left
	// to Judge unless the source cannot tell. The error is for a source that could
	// not look at all. Look may be called from one goroutine at a time.
	Look(ctx context.Context, is []fleet.Instance) (map[fleet.Ref][]fleet.Evidence, error)
	// Close ends every connection; the source is not used after it.
	Close() error
}

// Outside is a source that does not look inside, such as a probe. Its evidence says
// so, and tells the activity itself.
type Outside interface {
	Source
	// Required reports whether an instance that the source applies to is idle only
	// with its word. Where it is, and no source sees inside, its word is enough.
	Required() bool
}

// Required reports whether instances that a source applies to are idle only with
// its word: always where it sees inside them.
func Required(s Source) bool {
	o, outside := s.(Outside)
	return !outside || o.Required()
}

// Ask is what policies want to know of an instance beyond the usual readings.
type Ask struct {
	Files []string // to stat
	Logs  []string // to stat, with their last bytes
}

// Limits are the thresholds of [Judge].
type Limits struct {
	BusyAbove      float64       // percent of GPU utilisation at which a card is busy; default 5
	SessionIdleMax time.Duration // a session with input within this time is at work; default 30 m
}

// Pattern recognises the processes of one policy by their command line.
type Pattern struct {
	Policy string
	Match  func(command string) bool
}

// RunRule says how one policy's runs are followed through processes.
type RunRule struct {
	Policy string
	// Looks and Apart: a run has ended after this many looks in a row without a
	// matching process, the first and the last at least Apart apart.
	Looks int
	Apart time.Duration
	// PendingMax is how many looks in a row a run may stay open without using GPU
	// or CPU before it counts as lost; zero: for ever.
	PendingMax int
	Logs       []string // whose sizes are marked when a run is first seen
}
