package app

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
)

func TestARunEndsAndTheInstanceIsStoppedAndReleased(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "release")
		l.cloud.MustAdd(trained("a", 10*time.Minute, 0))
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.run(26 * time.Minute)
		if n := l.effects("stop", "a"); n != 1 {
			t.Fatalf("after 26 minutes %d stops took effect, want 1\n%s", n, l.out)
		}
		for _, e := range l.cloud.Effects() {
			if e.Op == "stop" && e.At.Sub(began) < 25*time.Minute {
				t.Errorf("stopped after %s: before run, grace and warning were over", e.At.Sub(began))
			}
		}
		if n := l.effects("release", "a"); n != 0 {
			t.Fatalf("released before its own warning was over")
		}
		l.run(40 * time.Minute)
		l.wantOutcomes("a stop done", "a release done")
		if got := l.cloud.State("a"); got != fleet.StateReleased {
			t.Errorf("the cloud shows %s", got)
		}
		l.stop()
		for _, want := range []string{"exp-a", "#1", "#2", "CNY"} {
			if !strings.Contains(l.out.String(), want) {
				t.Errorf("the notices do not say %q:\n%s", want, l.out)
			}
		}
	})
}
