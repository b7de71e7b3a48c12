package fleet_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"curfew/fleet"
)

func TestReasonErrorIsItsCause(t *testing.T) {
	told := &fleet.ReasonError{Reason: fleet.Because("x.bad", nil), Err: fmt.Errorf("read it: %w", io.EOF)}
	if got, want := told.Error(), "read it: EOF"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if !errors.Is(told, io.EOF) {
		t.Error("its cause is lost")
	}
	told.Err = nil
	if got, want := told.Error(), "x.bad"; got != want {
		t.Errorf("without a cause it says %q, want its code %q", got, want)
	}
	if errors.Is(told, io.EOF) {
		t.Error("it has a cause that nobody gave")
	}
}
