package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"curfew/fleet"
)

func TestKindOf(t *testing.T) {
	inner := &fleet.Error{Op: "aws: read i-1", Kind: fleet.NotFound, Err: io.EOF}
	for name, c := range map[string]struct {
		err  error
		want fleet.ErrorKind
	}{
		"nothing has no kind":                     {nil, ""},
		"an error tells its kind":                 {inner, fleet.NotFound},
		"a wrapped error tells its kind":          {fmt.Errorf("look: %w", inner), fleet.NotFound},
		"the outermost kind counts":               {&fleet.Error{Op: "stop", Kind: fleet.OutcomeUnknown, Err: inner}, fleet.OutcomeUnknown},
		"a bare kind is a kind":                   {fmt.Errorf("stop: %w", fleet.Conflict), fleet.Conflict},
		"a joined error tells the first kind":     {errors.Join(io.EOF, inner), fleet.NotFound},
		"an expired context is transient":         {fmt.Errorf("list: %w", context.DeadlineExceeded), fleet.Transient},
		"a kind counts more than its cause":       {&fleet.Error{Kind: fleet.Banned, Err: context.DeadlineExceeded}, fleet.Banned},
		"a cancelled context is not the provider": {context.Canceled, fleet.Other},
		"an error without a kind is other":        {&fleet.Error{Op: "stop"}, fleet.Other},
		"anything else is other":                  {io.EOF, fleet.Other},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fleet.KindOf(c.err); got != c.want {
				t.Fatalf("KindOf(%v) = %q, want %q", c.err, got, c.want)
			}
		})
	}
}

func TestErrorIsItsKindAndItsCause(t *testing.T) {
	for _, kind := range fleet.ErrorKinds() {
		err := fmt.Errorf("pass: %w", &fleet.Error{Op: "autodl: stop pro-1", Kind: kind, Err: io.ErrUnexpectedEOF})
		if !errors.Is(err, kind) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v is not its kind %s or not its cause", err, kind)
		}
		for _, other := range fleet.ErrorKinds() {
			if other != kind && errors.Is(err, other) {
				t.Errorf("%v is also %s", err, other)
			}
		}
	}
}

func TestErrorSaysWhatWasTried(t *testing.T) {
	e := fleet.Error{Op: "autodl: stop pro-1", Kind: fleet.Conflict}
	if got, want := e.Error(), "autodl: stop pro-1: conflict"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Err = errors.New("still starting")
	if got, want := e.Error(), "autodl: stop pro-1: conflict: still starting"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorKindsAreAllDifferent(t *testing.T) {
	seen := map[fleet.ErrorKind]bool{}
	for _, k := range fleet.ErrorKinds() {
		if k == "" || seen[k] {
			t.Errorf("kind %q is empty or listed twice", k)
		}
		seen[k] = true
	}
}
