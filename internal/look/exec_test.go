package look

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func TestARunFileTellsWhatWasAskedAndSaid(t *testing.T) {
	code := 3
	start, end := "start=1799980000 pid=5 then=stop child=6 child_start=77", " end=1799985000 exit=3"
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		name, words string
		said        string
		ended       bool
	}{
		{"while it goes on", start, "", false},
		{"with its last lines", start + end + " said=" + encoded("epoch 3\n完成"), "epoch 3\n完成", true},
		{"without them", start + end, "", true},
		{"lines without an end are no last lines", start + " said=" + encoded("x"), "", false},
		{"more than a file may tell is left out", start + end + " said=" + encoded(strings.Repeat("x", 1025)), "", true},
		{"what is no text is left out", start + end + " said=" + encoded("\xff"), "", true},
		{"what cannot be read is left out", start + end + " said=%", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, bad := readRun("run r1/ "+c.words, time.Unix(1<<35, 0), 0)
			if bad != "" {
				t.Fatal(bad)
			}
			want := fleet.BoxRun{ID: "r1", PID: 5, Then: "stop", Said: c.said, StartedAt: got.StartedAt, EndedAt: got.EndedAt}
			if c.ended {
				want.ExitCode = &code
			}
			if diff := cmp.Diff(want, got); diff != "" || got.EndedAt.IsZero() == c.ended {
				t.Errorf("run (-want +got):\n%s", diff)
			}
		})
	}
}
