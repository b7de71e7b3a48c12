// Package accept examines a fresh machine from inside: whether its cards are those that
// were ordered, whether a framework can use each of them, how fast cards, disk and
// network are, and whether they stay so under load. One shell script measures, a pure
// function reads its answer, and another one judges it. What cannot be read is unknown,
// with the reason, and never counts as good.
//
// It also runs the script that prepares a machine before it is examined.
package accept

import (
	"context"
	"errors"
	"time"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/look"
	"curfew/internal/proc"
	"curfew/internal/sshx"
)

// Examiner examines machines: over SSH, and the machine that curfew itself runs in
// without. It may be used from several goroutines.
type Examiner struct {
	// Access tells how to log in.
	Access func(ctx context.Context, i fleet.Instance) (fleet.Access, error)
	Dialer *sshx.Dialer
	// Env is the environment on this machine; it holds nothing but PATH and HOME.
	Env []string
	Now func() time.Time
	// Secrets are taken out of what is told; may be nil.
	Secrets func() []string
}

// answerLimit bounds the answer of an examination, in bytes.
const answerLimit = 1 << 20

// Examine measures a machine. An error means that nothing could be measured, or that
// ctx ended first; what had been started is over then, or ends by itself. Where the
// time is over before everything was measured, the rest is unknown.
func (x *Examiner) Examine(ctx context.Context, i fleet.Instance, t Thresholds) (Report, error) {
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	redact := httpx.NewRedactor(x.known)
	sh, redact, err := x.open(limited, i, redact)
	if err != nil {
		return Report{}, redact.Error(err)
	}
	defer sh.close()
	e := newExam(t)
	began := x.Now()
	out, err := sh.run(limited, script{body: e.script, limit: t.Timeout + watchSlack}, answerLimit)
	if ctx.Err() != nil {
		return Report{}, ctx.Err()
	}
	r, ok := e.read(out, cutBy(limited, err))
	r.Began, r.Ended = began, x.Now()
	if !ok && err != nil {
		return r, redact.Error(err)
	}
	if !ok {
		return r, errors.New("the machine gave no answer to an examination; its login shell may print something else, or end at once")
	}
	return r, nil
}

// cutBy says why an answer is not whole; the zero reason where it should be.
func cutBy(ctx context.Context, err error) fleet.Reason {
	switch {
	case err == nil:
		return fleet.Reason{}
	case ctx.Err() != nil || errors.Is(err, sshx.ErrTimedOut):
		return fleet.Because(WhyTime, nil)
	case errors.Is(err, sshx.ErrLost):
		return fleet.Because(WhyLost, nil)
	}
	return fleet.Because(WhyEnded, nil)
}

func (x *Examiner) known() []string {
	if x.Secrets == nil {
		return nil
	}
	return x.Secrets()
}

// shell runs scripts for sh inside one machine.
type shell interface {
	// run gives the last bytes of what was written, at most limit.
	run(ctx context.Context, s script, limit int) ([]byte, error)
	close()
}

// open logs in, or does not where the instance is the machine curfew runs in.
func (x *Examiner) open(ctx context.Context, i fleet.Instance, plain *httpx.Redactor) (shell, *httpx.Redactor, error) {
	if i.Here {
		return here{env: x.Env}, plain, nil
	}
	access, err := x.Access(ctx, i)
	redact := httpx.NewRedactor(func() []string {
		return append(x.known(), access.Password, access.Key, access.JupyterToken)
	})
	switch {
	case err != nil:
		return nil, redact, err
	case access.Host == "" || access.User == "":
		return nil, redact, errors.New("no host or no user was told")
	}
	conn, err := x.Dialer.Dial(ctx, sshx.Target{Ref: i.Ref, Boot: i.Boot, Access: access})
	if err != nil {
		return nil, redact, err
	}
	return far{conn}, redact, nil
}

// far is a shell at the other end of a connection. Everything it starts ends with the
// connection.
type far struct{ conn *sshx.Conn }

func (f far) run(ctx context.Context, s script, limit int) ([]byte, error) {
	out, err := f.conn.Tether(ctx, scriptCommand, s.tethered(), limit)
	if exit, ok := errors.AsType[*sshx.Exit](err); ok && exit.Status >= 0 {
		err = &exitError{exit.Status}
	}
	return out, err
}

func (f far) close() { f.conn.Close() }

// here is a shell of this machine.
type here struct{ env []string }

func (h here) run(ctx context.Context, s script, limit int) ([]byte, error) {
	got := proc.Start(proc.Command{
		Path: "/bin/sh", Args: look.AcceptWords(), Env: h.env, Stdin: s.alone(), Tail: limit,
	}).Wait(ctx)
	if code, ok := exited(got.Err); ok {
		return got.Out, &exitError{code}
	}
	return got.Out, got.Err
}

func (h here) close() {}
