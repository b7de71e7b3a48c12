package ctl

import (
	"fmt"

	"curfew/fleet"
)

// Why the daemon gave no answer.
const (
	ReasonNoDaemon   fleet.Code = "ctl.no-daemon"
	ReasonMayNotTalk fleet.Code = "ctl.may-not-talk"
	ReasonNoAnswer   fleet.Code = "ctl.no-answer"
)

// noDaemon says that nobody listens at the socket.
func noDaemon(path string) error {
	return &fleet.ReasonError{
		Reason: fleet.Because(ReasonNoDaemon, fleet.Values{"path": fleet.Text(path)}),
		Err:    fmt.Errorf("%w (nobody answers at %s)", ErrNoDaemon, path),
	}
}

// mayNotTalk says that the socket belongs to another user.
func mayNotTalk(path string) error {
	return &fleet.ReasonError{
		Reason: fleet.Because(ReasonMayNotTalk, fleet.Values{"path": fleet.Text(path)}),
		Err:    fmt.Errorf("may not talk to the daemon at %s; run this as the user it runs as, or as root", path),
	}
}

// noAnswer says that asking failed in another way.
func noAnswer(path string, err error) error {
	return &fleet.ReasonError{
		Reason: fleet.Because(ReasonNoAnswer, fleet.Values{"path": fleet.Text(path), "why": fleet.Text(err.Error())}),
		Err:    fmt.Errorf("ask the daemon at %s: %w", path, err),
	}
}
