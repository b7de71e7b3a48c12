package local

import (
	"bytes"
	"context"
	"os/exec"
	"syscall"
	"time"
)

// killGrace is how long a killed look may take to end, and what it started to
// let go of its output, before nobody waits for it any more.
const killGrace = time.Second

// run is one shell under way. It is a process group of its own, so that what it
// started ends with it.
type run struct {
	cmd   *exec.Cmd
	out   *output
	ended chan struct{} // closed after err was written
	err   error
}

// start starts the shell. One that cannot be started has ended.
func (s *Source) start(script []byte) *run {
	// No context: the process to kill is the group's, and a shell that cannot be
	// killed must not hold up the daemon.
	cmd := &exec.Cmd{
		Path: s.o.Shell, Args: []string{"sh", "-s", "curfew-look"}, Env: s.o.Env, Dir: "/",
		Stdin: bytes.NewReader(script), SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: killGrace,
	}
	r := &run{cmd: cmd, out: &output{}, ended: make(chan struct{})}
	r.out.full = r.kill
	cmd.Stdout = r.out
	if r.err = cmd.Start(); r.err != nil {
		close(r.ended)
		return r
	}
	go func() {
		defer close(r.ended)
		r.err = cmd.Wait()
	}()
	return r
}

func (r *run) kill() {
	if r.cmd.Process != nil {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
	}
}

// wait gives the answer as far as it came, and why it is not complete.
func (r *run) wait(ctx context.Context) (out []byte, cut string, err error) {
	select {
	case <-r.ended:
		err = r.err
	case <-ctx.Done():
		cut, err = "timed out", ctx.Err()
		r.kill()
		patience := time.NewTimer(2 * killGrace)
		defer patience.Stop()
		select {
		case <-r.ended:
		case <-patience.C:
		}
	}
	out, over := r.out.read()
	switch {
	case over:
		cut = "the answer was too long"
	case cut == "" && err != nil:
		cut = "the look was killed"
	}
	return out, cut, err
}
