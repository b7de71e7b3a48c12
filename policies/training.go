package policies

import (
	"time"

	"curfew/fleet"
)

// Training stops or releases an instance after its training run has ended.
type Training struct {
	Common
	Grace   time.Duration // from the end of the run to the wish
	Success Success
	// Failed is the wish after a run that failed; never further than Then.
	Failed End
	Then   fleet.Action // Stop or Release
	// ReleaseUnproven lets a run whose outcome is unknown go as far as Then.
	ReleaseUnproven bool
}

// End is a wish after a time.
type End struct {
	Then  fleet.Action
	After time.Duration // from the end of the run
}

// Success says when a run has reached its aim: every key given must hold. None
// given means exit 0.
type Success struct {
	Exit bool       // the exit code was 0
	File string     // changed after the run began
	Log  SuccessLog // a line written after the run began
}

// SuccessLog is a line to look for in a log.
type SuccessLog struct {
	File  string
	Match func(line string) bool // nil: no such key
}
