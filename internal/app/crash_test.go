package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
)

// TestKilledAtAnyMoment kills the daemon at every moment that matters, one after
// the other: before and after every commit of the journal and the outbox, before
// every provider write is sent and after it has taken effect. It is started again
// and must bring the work to its end: each act takes effect once, and no
// announcement is lost.
func TestKilledAtAnyMoment(t *testing.T) {
	long(t)
	t.Parallel()
	moments := 0
	t.Run("never", func(t *testing.T) {
		inLab(t, func(t *testing.T) { moments = liveThrough(t, 0) })
	})
	if moments < 40 {
		t.Fatalf("there are only %d moments to die at: the test kills next to nothing", moments)
	}
	for moment := 1; moment <= moments; moment++ {
		t.Run(fmt.Sprintf("moment %d of %d", moment, moments), func(t *testing.T) {
			t.Parallel()
			inLab(t, func(t *testing.T) { liveThrough(t, moment) })
		})
	}
}

// liveThrough lets one run end, its instance be stopped and released, and kills
// the daemon at the given moment (0: at none). It gives how many moments there
// were.
func liveThrough(t *testing.T, moment int) int {
	l := newLab(t, "release")
	l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
	moments := 0
	l.kill = func() bool {
		moments++
		return moments == moment
	}
	l.restart()
	for end := time.Now().Add(100 * time.Minute); time.Now().Before(end) && l.effects("release", "a") == 0; {
		l.run(time.Minute)
	}
	l.run(5 * time.Minute)
	l.wantOnce("a")
	return moments
}

// wantOnce asks for one stop and one release that each took effect once and were
// announced.
func (l *lab) wantOnce(id string) {
	l.t.Helper()
	for _, op := range []string{"stop", "release"} {
		if n := l.effects(op, id); n != 1 {
			l.t.Errorf("%s took effect %d times, want once", op, n)
		}
		if !strings.Contains(l.out.String(), "Will "+op+" exp-"+id) {
			l.t.Errorf("the announcement of %s was lost", op)
		}
	}
	l.wantOutcomes(id+" stop done", id+" release done")
	if got := l.cloud.State(id); got != fleet.StateReleased {
		l.t.Errorf("the cloud shows %s", got)
	}
	if l.t.Failed() {
		l.t.Logf("notices:\n%s", l.out)
		for _, c := range l.cloud.Calls() {
			if c.Op != "instances" && c.Op != "balance" {
				l.t.Logf("%s %s %s %v", c.At.Format(time.TimeOnly), c.Op, c.ID, c.Err)
			}
		}
	}
}
