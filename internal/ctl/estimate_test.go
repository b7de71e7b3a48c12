package ctl_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/estimate"
)

func (f *fake) Estimate(_ context.Context, r ctl.EstimateRequest) (ctl.EstimateAnswer, error) {
	f.asked = r
	return estimateAnswer(), f.err
}

func estimateOf() fleet.Estimate {
	return fleet.Estimate{
		ID: 4, Ref: ref(), Boot: "n3", By: "wang", At: at(1), For: 30 * time.Hour, Total: fleet.CNY(59_400_000), Margin: "20",
		Limit: fleet.CNY(71_280_000), Least: true, Price: intent().Subject.Price, Since: at(1), Started: at(0),
	}
}

func estimateAnswer() ctl.EstimateAnswer {
	before := estimateOf()
	before.Close(at(2), fleet.EstimateReplaced)
	return ctl.EstimateAnswer{
		Now: at(5), Instance: intent().Subject, Estimate: estimateOf(), Before: &before,
		Why: []fleet.Reason{fleet.Because(estimate.WhyRework, nil)}, Warnings: []fleet.Reason{fleet.Because(estimate.WarnNoRework, nil)},
	}
}

func TestAnEstimateArrivesWhole(t *testing.T) {
	share, err := estimate.ParseShare("0.79")
	if err != nil {
		t.Fatal(err)
	}
	asked := ctl.EstimateRequest{Name: "exp-1", By: "wang", Margin: share, Job: estimate.Job{
		Epochs: 50, EpochTime: map[string]time.Duration{"lab": 48 * time.Second}, Cards: []int{4},
		Efficiency: map[string]map[int]estimate.Number{"": {4: share}}, Setup: time.Hour, DiskGB: estimate.Whole(500), Keep: time.Hour,
	}}
	f := &fake{}
	got, err := serve(t, f).Estimate(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(estimateAnswer(), got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("answer (-given +arrived):\n%s", diff)
	}
	if diff := cmp.Diff(asked, f.asked); diff != "" {
		t.Errorf("question (-asked +arrived):\n%s", diff)
	}
	const text = "its price is not known"
	if _, err := serve(t, &fake{err: errors.New(text)}).Estimate(t.Context(), asked); err == nil || err.Error() != text {
		t.Errorf("error %v, want %s", err, text)
	}
}
