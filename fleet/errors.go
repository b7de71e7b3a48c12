package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrorKind classifies a failure at a provider. Retry and reaction are decided
// by kind, never by text. A kind is itself an error, so that
// errors.Is(err, fleet.NotFound) reads well.
type ErrorKind string

// The kinds of errors.
const (
	NotFound       ErrorKind = "not-found"
	Unauthorized   ErrorKind = "unauthorized"
	RateLimited    ErrorKind = "rate-limited"
	Banned         ErrorKind = "banned"
	Transient      ErrorKind = "transient"
	Conflict       ErrorKind = "conflict"
	OutOfStock     ErrorKind = "out-of-stock"
	Unsupported    ErrorKind = "unsupported"
	Invalid        ErrorKind = "invalid"
	OutcomeUnknown ErrorKind = "outcome-unknown" // a write whose effect is not known
	ReadOnly       ErrorKind = "read-only"       // dry-run at the provider's seam
	Other          ErrorKind = "other"
)

// ErrorKinds lists every kind, for documentation and metrics.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{
		NotFound, Unauthorized, RateLimited, Banned, Transient, Conflict, OutOfStock,
		Unsupported, Invalid, OutcomeUnknown, ReadOnly, Other,
	}
}

// Error makes a kind usable with errors.Is.
func (k ErrorKind) Error() string { return string(k) }

// Error is a failure at a provider: what was tried, of what kind the failure is
// and its cause. Its text is for people and never holds a secret.
type Error struct {
	Op         string // such as "autodl: stop pro-0a1b"
	Kind       ErrorKind
	RetryAfter time.Duration // as the provider asked; zero where it did not
	Err        error         // may be nil
}

// Error gives op, kind and cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s", e.Op, e.Kind)
	}
	return fmt.Sprintf("%s: %s: %v", e.Op, e.Kind, e.Err)
}

// Unwrap gives both the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// KindOf gives the outermost kind in err, whether as an *Error or bare, Transient
// for an expired context, Other for any other error and "" for nil.
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	if k, ok := errors.AsType[ErrorKind](err); ok && k != "" {
		return k
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Transient
	}
	return Other
}
