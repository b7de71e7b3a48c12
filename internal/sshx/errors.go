package sshx

import (
	"fmt"
	"strings"
	"unicode"
)

// Kind classifies what went wrong. A kind is itself an error, so that
// errors.Is(err, sshx.ErrAuth) reads well.
type Kind string

// The kinds of errors. A dial that ran out of time is both ErrUnreachable and
// ErrTimedOut.
const (
	ErrUnreachable Kind = "not reachable"           // no TCP connection could be made
	ErrTimedOut    Kind = "timed out"               // the context ended first
	ErrNotSSH      Kind = "no SSH handshake"        // something answers, but not as an SSH server
	ErrPinChanged  Kind = "host key changed"        // another key than the one pinned in this boot
	ErrAuth        Kind = "login refused"           // neither key nor password was taken
	ErrLost        Kind = "connection lost"         // it broke while in use
	ErrCommand     Kind = "command failed"          // it could not be started, or did not exit with 0
	ErrTooMuch     Kind = "more output than wanted" // cut at the limit
)

// Error gives the kind's words.
func (k Kind) Error() string { return string(k) }

// Error is a failure at one host: what was tried, of what kind the failure is
// and its cause. Its text never holds a password or a key.
type Error struct {
	Op   string // such as "ssh root@10.0.0.7:22"
	Kind Kind
	Err  error // may be nil
}

// Error gives op, kind and cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Op + ": " + e.Kind.Error()
	}
	return e.Op + ": " + e.Kind.Error() + ": " + e.Err.Error()
}

// Unwrap gives both the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// PinChange is the cause of an ErrPinChanged: both fingerprints, which are
// public.
type PinChange struct{ Was, Is string }

// Error gives both fingerprints.
func (p *PinChange) Error() string {
	return fmt.Sprintf("it was %s and is now %s in the same boot", p.Was, p.Is)
}

// Exit is the cause of an ErrCommand whose command ran: its exit status, -1 where
// it told none, and the first line of what it wrote to standard error.
type Exit struct {
	Status int
	Stderr string
}

// Error gives the status and the line.
func (e *Exit) Error() string {
	s := fmt.Sprintf("exit status %d", e.Status)
	if e.Status < 0 {
		s = "ended without an exit status"
	}
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// firstLine makes what a foreign command wrote fit for an error's text: one
// line, without control characters, without the secret.
func firstLine(text, secret string) string {
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, line)
}
