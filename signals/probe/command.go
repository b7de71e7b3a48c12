package probe

import (
	"context"
	"errors"
	"os/exec"

	"curfew/fleet"
	"curfew/internal/proc"
)

// ReasonExit says that a command did not end well: what it printed is no answer.
const ReasonExit fleet.Code = "probe.exit"

// saidLimit is how much of what a command complains about is kept.
const saidLimit = 4 << 10

// run asks a command, for /bin/sh -c.
func (s *Source) run(ctx context.Context, ref fleet.Ref, script string) (fleet.Activity, fleet.Reason) {
	if s.hangs(ref) {
		return fleet.Unknown, s.timedOut()
	}
	run := proc.Start(proc.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: s.o.Env, Limit: answerLimit, Said: saidLimit,
	})
	got := run.Wait(ctx)
	if got.Late {
		s.remember(ref, run)
	}
	var exit *exec.ExitError
	switch {
	case got.Over:
		return fleet.Unknown, tooLong()
	case got.Late:
		return fleet.Unknown, s.timedOut()
	case errors.As(got.Err, &exit) && exit.Exited():
		return fleet.Unknown, fleet.Because(ReasonExit, fleet.Values{
			"status": fleet.Number(float64(exit.ExitCode())), "said": fleet.Text(s.short(string(got.Said)))})
	case got.Err != nil:
		return fleet.Unknown, s.failed(got.Err)
	}
	return s.read(got.Out, false)
}

// hangs reports whether the command that was last asked about an instance has not
// ended yet.
func (s *Source) hangs(ref fleet.Ref) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, ok := s.hung[ref]
	if !ok || !ended(run) {
		return ok
	}
	delete(s.hung, ref)
	return false
}

func (s *Source) remember(ref fleet.Ref, run *proc.Run) {
	if ended(run) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung[ref] = run
}

func ended(run *proc.Run) bool {
	select {
	case <-run.Ended():
		return true
	default:
		return false
	}
}
