package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func TestExplainTellsWhatBecameOfTheData(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(change func(*fleet.Secured)) fleet.Secured {
		s := fleet.Secured{Policy: "p", By: fleet.SecuredByExport, StartedAt: noon, EndedAt: noon.Add(90 * time.Second), Tries: 1}
		change(&s)
		return s
	}
	why := fleet.Because("export.failed", fleet.Values{"status": fleet.Number(3), "said": fleet.Text("no such bucket")})
	rows := (&page{r: english(t), now: noon.Add(time.Hour)}).secured([]fleet.Secured{
		row(func(s *fleet.Secured) { s.OK = true }),
		row(func(s *fleet.Secured) { s.OK, s.VoidAt = true, noon.Add(10*time.Minute) }),
		row(func(s *fleet.Secured) { s.Why = why }),
		row(func(s *fleet.Secured) { s.Why, s.Tries = why, fleet.SecureTries }),
		row(func(s *fleet.Secured) { s.EndedAt = time.Time{} }),
		row(func(s *fleet.Secured) {
			s.EndedAt, s.Why = time.Time{}, fleet.Because("export.unreachable", fleet.Values{"error": fleet.Text("nobody answers")})
		}),
	})
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r, " | "))
	}
	want := []string{
		"p | export | done and proven at 12:01:30, in 1m 30s",
		"p | export | begun at 12:00, and void since work was seen at 12:10",
		"p | export | failed at 12:01:30: the export failed with exit status 3: no such bucket; tried once more from 13:01:30, if it still runs",
		"p | export | failed at 12:01:30: the export failed with exit status 3: no such bucket",
		"p | export | begun at 12:00, not ended",
		"p | export | tried at 12:00: the export could not begin, since it cannot be logged in to: nobody answers",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
