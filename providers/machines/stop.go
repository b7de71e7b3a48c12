package machines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"curfew/fleet"
	"curfew/internal/sshx"
	"curfew/providers"
)

// saidBytes is how much of what a failed command said is kept.
const saidBytes = 200

// stopTime is how long a stop over SSH may take, where nobody says.
const stopTime = 30 * time.Second

// Stop runs the machine's declared command as it stands in the configuration:
// nothing is put into it. It refuses where the machine was started anew since it
// was listed.
func (m *Machines) Stop(ctx context.Context, i fleet.Instance, _ providers.StopOptions) error {
	d, err := m.find("stop", i.Ref)
	if err != nil {
		return err
	}
	fail := failing("stop", d)
	switch {
	case d.Stop == "":
		return fail(fleet.Unsupported, errors.New("no stop: is declared for it"))
	case !d.Here:
		return m.stopFar(ctx, m.far[d.Name], i, fail)
	}
	now, err := m.read(ctx, ctx, d)
	if err != nil {
		return err
	}
	if !now.Boot.Same(i.Boot) {
		return fail(fleet.Conflict, errStartedAnew)
	}
	return runHere(ctx, d.Stop, nil, fail)
}

var errStartedAnew = errors.New("it was started anew meanwhile")

// fail makes the error of an act.
type fail = func(fleet.ErrorKind, error) error

func failing(verb string, d providers.Machine) fail {
	op := "machines: " + verb + " " + d.Name
	return func(kind fleet.ErrorKind, err error) error { return &fleet.Error{Op: op, Kind: kind, Err: err} }
}

// stopFar runs the command in a machine elsewhere, by a login shell of the user that
// is logged in. The machine is read first over the very connection that is used: a
// stranger at its address, and another power cycle, are sent nothing.
//
// What the command sets off may end the connection, or the shell, before its exit
// status is told: then only reads show what came of it.
func (m *Machines) stopFar(ctx context.Context, f *far, i fleet.Instance, fail fail) error {
	if ctx.Err() != nil || !f.take(ctx) {
		return fail(fleet.Transient, ctx.Err())
	}
	defer m.giveBack(f)
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	switch now := m.ask(ctx, f); {
	case now.state == fleet.StateStopped:
		return fail(fleet.Conflict, errors.New("it is off: nothing answers at its port"))
	case now.state != fleet.StateRunning:
		return fail(kindOf(now.err), fmt.Errorf("nothing was sent: %w", now.err))
	case !now.cycle.boot.Same(i.Boot):
		return fail(fleet.Conflict, errStartedAnew)
	}
	out, err := f.conn.Load().Tail(ctx, "exec sh -s", loginShell(f.declared.Stop), 4*saidBytes)
	said := lastWords(out, f.declared.Password)
	exit, ended := errors.AsType[*sshx.Exit](err)
	switch {
	case err == nil:
		return nil
	case ended && exit.Status >= 0 && exit.Status <= 128:
		// What it did before it failed only the machine can show.
		return fail(fleet.Other, fmt.Errorf("the command ended with exit status %d%s", exit.Status, said))
	case ended:
		return fail(fleet.OutcomeUnknown, fmt.Errorf("the command was killed%s", said))
	case errors.Is(err, sshx.ErrTimedOut):
		return fail(fleet.OutcomeUnknown, fmt.Errorf("the command did not end in time%s: %w", said, err))
	}
	return fail(fleet.OutcomeUnknown, fmt.Errorf("the command was begun, and nobody said how it ended%s: %w", said, err))
}

// kindOf classifies why a machine could not be asked: nothing was sent to it.
func kindOf(err error) fleet.ErrorKind {
	switch {
	case errors.Is(err, sshx.ErrAuth):
		return fleet.Unauthorized
	case errors.Is(err, sshx.ErrPinChanged):
		return fleet.Conflict
	}
	return fleet.Transient
}

// loginShell is a script for sh that gives a command to a login shell: the user's
// own where its language is that of sh. Nothing is there for the command to read,
// and what it writes to both outputs stays in order.
func loginShell(command string) []byte {
	quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	return []byte("case $SHELL in */bash|*/zsh|*/ksh) ;; *) SHELL=/bin/sh;; esac\n" +
		"exec \"$SHELL\" -lc " + quoted + " </dev/null 2>&1\n")
}

// lastWords gives the last line that a command wrote, for a message.
func lastWords(out []byte, secret string) string {
	text := string(out)
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = strings.TrimSpace(text)
	text = text[strings.LastIndex(text, "\n")+1:]
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, text)
	if runes := []rune(text); len(runes) > saidBytes {
		text = string(runes[:saidBytes]) + "…"
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
