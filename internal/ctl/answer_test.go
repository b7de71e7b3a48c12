package ctl_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
)

func (f *fake) Answer(_ context.Context, r ctl.AnswerRequest) (ctl.Answered, error) {
	f.asked = r
	return answered(), f.err
}

func (f *fake) Sends(_ context.Context, r ctl.SendsRequest) (ctl.SendsAnswer, error) {
	f.asked = r
	return ctl.SendsAnswer{Now: at(5), Sent: []time.Time{at(1), at(2)}}, f.err
}

func answered() ctl.Answered {
	return ctl.Answered{Now: at(5), Known: []ctl.Lasting{
		{Ref: ref(), Name: "exp-1", Severity: fleet.Critical, Reason: fleet.Because("odd", nil), Since: at(1)},
	}}
}

func TestAnAcceptanceArrivesWhole(t *testing.T) {
	f := &fake{}
	asked := ctl.AnswerRequest{Name: "exp-1", By: "wang"}
	got, err := serve(t, f).Answer(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answered(), got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("answer (-given +arrived):\n%s", diff)
	}
	if diff := cmp.Diff(asked, f.asked); diff != "" {
		t.Errorf("question (-asked +arrived):\n%s", diff)
	}
	if _, err := serve(t, &fake{err: errors.New("nothing lasts")}).Answer(t.Context(), asked); err == nil || err.Error() != "nothing lasts" {
		t.Errorf("error %v", err)
	}
}

func TestWhatWasSentArrivesWhole(t *testing.T) {
	f := &fake{}
	asked := ctl.SendsRequest{Channel: "wx", Since: at(0), Sent: true}
	got, err := serve(t, f).Sends(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ctl.SendsAnswer{Now: at(5), Sent: []time.Time{at(1), at(2)}}, got); diff != "" {
		t.Errorf("answer (-given +arrived):\n%s", diff)
	}
	if diff := cmp.Diff(asked, f.asked); diff != "" {
		t.Errorf("question (-asked +arrived):\n%s", diff)
	}
}
