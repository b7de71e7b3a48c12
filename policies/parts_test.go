package policies_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"curfew/fleet"
)

func TestAnAnswerAboutOneInstanceIsTheSameWithoutTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		want := d.policy.Decide(d.view)
		verdicts, findings := []fleet.Verdict{}, []fleet.Finding(nil)
		for n := range d.view.Things.Instances {
			alone := d.view
			alone.Things.Instances = d.view.Things.Instances[n : n+1]
			r := d.policy.Decide(alone)
			verdicts, findings = append(verdicts, r.Verdicts...), append(findings, r.Findings...)
		}
		if !reflect.DeepEqual(want.Verdicts, verdicts) || !reflect.DeepEqual(want.Findings, findings) {
			t.Fatalf("asked one by one, another answer:\n%+v\n%+v\n%+v", want, verdicts, findings)
		}
	})
}
