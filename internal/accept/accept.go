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
	"curfew/internal/boxsh"
	"curfew/internal/look"
	"curfew/internal/sshx"
)

// Examiner examines machines. It may be used from several goroutines.
type Examiner struct {
	boxsh.Login
	Now func() time.Time
}

// answerLimit bounds the answer of an examination, in bytes.
const answerLimit = 1 << 20

// Examine measures a machine. An error means that nothing could be measured, or that
// ctx ended first; what had been started is over then, or ends by itself. Where the
// time is over before everything was measured, the rest is unknown.
func (x *Examiner) Examine(ctx context.Context, i fleet.Instance, t Thresholds) (Report, error) {
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	sh, redact, err := x.Open(limited, i, look.AcceptArgs)
	if err != nil {
		return Report{}, redact.Error(err)
	}
	defer sh.Close()
	e := newExam(t)
	began := x.Now()
	out, err := sh.Run(limited, boxsh.Script{Body: e.script, Timeout: t.Timeout}, answerLimit)
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
