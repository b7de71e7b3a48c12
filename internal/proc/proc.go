// Package proc runs programs of this machine that may hang, write without end or
// leave others behind: what it starts ends in time together with all that it
// started, and holds nobody up.
package proc

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// grace is how long a killed program may take to end, and what it started to let
// go of its output, before nobody waits for it any more.
const grace = time.Second

// ErrHeld says that a program ended and left something behind that still holds its
// output: whether the output is whole cannot be told.
var ErrHeld = errors.New("it left a process behind that holds its output")

// Command is a program to run.
type Command struct {
	Path string   // whole
	Args []string // the first is the name it is called by
	// Env is the whole environment; what the daemon itself is given, such as tokens,
	// is not passed on.
	Env   []string
	Stdin []byte
	// Limit is how many bytes of its output are kept. A program that writes more is
	// killed.
	Limit int
	// Said is how many bytes of its standard error are kept; what is more is dropped.
	Said int
	// Tail makes Out the last bytes, by however many, of what is written to both
	// outputs, instead; a program may write as much as it likes then.
	Tail int
}

// Run is one program under way. It is a process group of its own, so that what it
// started ends with it, unless that made itself a group of its own as well.
type Run struct {
	cmd       *exec.Cmd
	out, said *output
	ended     chan struct{} // closed after err was written
	err       error
}

// Result is what became of a program.
type Result struct {
	Out, Said []byte // as far as they came
	Over      bool   // it wrote more than is kept
	Late      bool   // the context ended before it did
	// Err is why it cannot be relied on: it could not be started, failed, was killed,
	// or [ErrHeld].
	Err error
}

// Start starts a program in the root folder. One that cannot be started has ended.
func Start(c Command) *Run {
	r := &Run{out: &output{limit: c.Limit}, said: &output{limit: c.Said}, ended: make(chan struct{})}
	// No context: the process to kill is the group's, and a program that cannot be
	// killed must not hold up the daemon.
	r.cmd = &exec.Cmd{
		Path: c.Path, Args: c.Args, Dir: "/",
		Env:         append([]string{}, c.Env...), // nil would be the daemon's own
		Stdin:       bytes.NewReader(c.Stdin),
		Stdout:      r.out,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: grace,
	}
	if c.Said > 0 {
		r.cmd.Stderr = r.said
	}
	r.out.full = r.kill
	if c.Tail > 0 {
		r.out.tail = c.Tail
		r.cmd.Stderr = r.cmd.Stdout
	}
	if r.err = r.cmd.Start(); r.err != nil {
		close(r.ended)
		return r
	}
	go func() {
		defer close(r.ended)
		if r.err = r.cmd.Wait(); errors.Is(r.err, exec.ErrWaitDelay) {
			r.kill()
			r.err = ErrHeld
		}
	}()
	return r
}

// Ended is closed when the program has ended. A program may outlive its kill, if it
// hangs inside the kernel.
func (r *Run) Ended() <-chan struct{} { return r.ended }

// Wait waits until the program has ended, and kills it at the end of the context.
// It does not wait for ever for one that cannot be killed.
func (r *Run) Wait(ctx context.Context) Result {
	var res Result
	select {
	case <-r.ended:
		res.Err = r.err
	case <-ctx.Done():
		res.Late, res.Err = true, ctx.Err()
		r.kill()
		patience := time.NewTimer(2 * grace)
		defer patience.Stop()
		select {
		case <-r.ended:
		case <-patience.C:
		}
	}
	res.Out, res.Over = r.out.read()
	res.Said, _ = r.said.read()
	return res
}

func (r *Run) kill() {
	if r.cmd.Process != nil {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
	}
}

// output keeps the first bytes that are written, and says when there were more. It
// may be read while it is written: what hangs may write for ever.
type output struct {
	limit int
	tail  int    // keeps the last bytes instead, if it is not zero
	full  func() // called once, when there is more than is kept; may be nil

	mu    sync.Mutex
	bytes []byte
	over  bool
}

// Write never fails, so that nothing is held up by us.
func (w *output) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tail > 0 {
		w.bytes = append(w.bytes, p[max(0, len(p)-w.tail):]...)
		w.bytes = w.bytes[max(0, len(w.bytes)-w.tail):]
		return len(p), nil
	}
	keep := min(len(p), w.limit-len(w.bytes))
	w.bytes = append(w.bytes, p[:keep]...)
	if keep < len(p) && !w.over {
		w.over = true
		if w.full != nil {
			w.full()
		}
	}
	return len(p), nil
}

func (w *output) read() (out []byte, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]byte(nil), w.bytes...), w.over
}
