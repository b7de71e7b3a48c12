package fleet_test

import (
	"testing"
	"time"

	"curfew/fleet"
)

func TestWhatCountsAsSecured(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	done := fleet.Secured{
		Boot: "b1", Policy: "p", By: fleet.SecuredByExport, Run: "r1", StartedAt: noon, EndedAt: noon.Add(time.Minute), OK: true, Tries: 1,
	}
	with := func(change func(*fleet.Secured)) []fleet.Secured {
		s := done
		change(&s)
		return []fleet.Secured{s}
	}
	failed := func(s *fleet.Secured) { s.OK = false }
	export := &fleet.DataTerms{Export: &fleet.Export{}}
	both := &fleet.DataTerms{Export: &fleet.Export{}, SaveImage: &fleet.SaveImage{}}
	for _, c := range []struct {
		name    string
		terms   *fleet.DataTerms
		records []fleet.Secured
		at      time.Duration // after noon
		secured bool
		failed  bool
	}{
		{"what was done", export, with(func(*fleet.Secured) {}), 0, true, false},
		{"nothing was asked for", nil, with(func(*fleet.Secured) {}), 0, false, false},
		{"nothing was asked for in particular", &fleet.DataTerms{}, with(func(*fleet.Secured) {}), 0, false, false},
		{"nothing was done", export, nil, 0, false, false},
		{"another run", export, with(func(s *fleet.Secured) { s.Run = "r0" }), 0, false, false},
		{"another boot", export, with(func(s *fleet.Secured) { s.Boot = "b0" }), 0, false, false},
		{"another policy", export, with(func(s *fleet.Secured) { s.Policy = "q" }), 0, false, false},
		{"another way", export, with(func(s *fleet.Secured) { s.By = fleet.SecuredByImage }), 0, false, false},
		{"one of two ways", both, with(func(*fleet.Secured) {}), 0, false, false},
		{"work was seen since", export, with(func(s *fleet.Secured) { s.VoidAt = noon.Add(time.Hour) }), 0, false, false},
		{"it was interrupted", export, with(func(s *fleet.Secured) { s.OK, s.EndedAt = false, time.Time{} }), 0, false, false},
		{"it failed", export, with(failed), 30 * time.Minute, false, true},
		{"it failed and may be tried again", export, with(failed), 61 * time.Minute, false, false},
		{"it failed twice", export, with(func(s *fleet.Secured) { s.OK, s.Tries = false, 2 }), 100 * time.Hour, false, true},
		{"it failed before work was seen", export, with(func(s *fleet.Secured) { s.OK, s.VoidAt = false, noon.Add(time.Hour) }), 30 * time.Minute, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.terms.Secured("b1", "p", "r1", c.records); got != c.secured {
				t.Errorf("secured %v, want %v", got, c.secured)
			}
			if _, got := c.terms.Unsecured("b1", "p", "r1", c.records, noon.Add(c.at)); got != c.failed {
				t.Errorf("failed %v, want %v", got, c.failed)
			}
		})
	}
}
