package policies

import "curfew/fleet"

// The states as they are named in reasons.
const (
	ReasonStateUnknown   fleet.Code = "policy.state.unknown"
	ReasonStateCreating  fleet.Code = "policy.state.creating"
	ReasonStateStarting  fleet.Code = "policy.state.starting"
	ReasonStateRunning   fleet.Code = "policy.state.running"
	ReasonStateStopping  fleet.Code = "policy.state.stopping"
	ReasonStateStopped   fleet.Code = "policy.state.stopped"
	ReasonStateReleasing fleet.Code = "policy.state.releasing"
	ReasonStateReleased  fleet.Code = "policy.state.released"
	ReasonStateFailed    fleet.Code = "policy.state.failed"
)

// inState names a state in the reader's language.
func inState(s fleet.State) fleet.Value {
	code := ReasonStateUnknown
	switch s {
	case fleet.StateCreating:
		code = ReasonStateCreating
	case fleet.StateStarting:
		code = ReasonStateStarting
	case fleet.StateRunning:
		code = ReasonStateRunning
	case fleet.StateStopping:
		code = ReasonStateStopping
	case fleet.StateStopped:
		code = ReasonStateStopped
	case fleet.StateReleasing:
		code = ReasonStateReleasing
	case fleet.StateReleased:
		code = ReasonStateReleased
	case fleet.StateFailed:
		code = ReasonStateFailed
	}
	return fleet.Nested(fleet.Because(code, nil))
}
