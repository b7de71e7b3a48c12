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

func (f *fake) AcceptMachine(_ context.Context, r ctl.AcceptRequest) (ctl.AcceptAnswer, error) {
	f.asked = r
	return acceptAnswer(), f.err
}

func acceptAnswer() ctl.AcceptAnswer {
	const code fleet.Code = "accept.told"
	exit := 2
	return ctl.AcceptAnswer{Now: at(5), Instance: intent().Subject, Acceptance: fleet.Acceptance{
		ID: 7, Ref: ref(), Boot: "n3", By: "wang", At: at(1), Provider: "sim", Region: "west", GPU: "RTX 4090", Accepted: false,
		Passed: []fleet.Reason{fleet.Because(code, fleet.Values{"found": fleet.Text("8")})}, Measured: map[string]float64{"disk": 5e8},
		Bootstrap: &fleet.Bootstrapped{Exit: &exit, Took: time.Minute, Why: fleet.Because(code, nil), Log: "/var/x.log"},
	}}
}

func TestWhatCameOfAnExaminationArrivesWhole(t *testing.T) {
	asked := ctl.AcceptRequest{Name: "exp-1", By: "wang", Bootstrap: "echo 'a'\n"}
	f := &fake{}
	got, err := serve(t, f).AcceptMachine(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(acceptAnswer(), got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("answer (-given +arrived):\n%s", diff)
	}
	if diff := cmp.Diff(asked, f.asked); diff != "" {
		t.Errorf("question (-asked +arrived):\n%s", diff)
	}
	const text = "it is stopped"
	if _, err := serve(t, &fake{err: errors.New(text)}).AcceptMachine(t.Context(), asked); err == nil || err.Error() != text {
		t.Errorf("error %v, want %s", err, text)
	}
}
