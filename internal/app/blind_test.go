package app

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers/sim"
)

// working is an instance that is never at rest.
func working(id string) sim.Spec {
	s := trained(id, 0, 0)
	s.Name, s.Box.Processes[0].From = id, 0
	return s
}

func TestALifetimeStopsWhatIsBusyOrDarkAndLosesNoData(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", `
  - {name: limit, type: lifetime, match: {name: ["busy", "dark", "pod", "young"]}, max: 2h, then: stop}
`)
		l.cloud.MustAdd(working("busy"))
		dark, pod, young := working("dark"), working("pod"), working("young")
		dark.Box.Dark = []sim.Stretch{{}}
		pod.StopKeeps = fleet.KeepsNone
		young.Age = time.Minute
		for _, s := range []sim.Spec{dark, pod, young} {
			l.cloud.MustAdd(s)
		}
		l.restart()
		l.run(69 * time.Minute) // an hour old at first; the warning takes ten minutes more
		l.wantOutcomes("busy stop (pending until 01:10:00: )", "dark stop (pending until 01:10:00: )")
		l.run(10 * time.Minute)
		l.wantOutcomes("busy stop done", "dark stop done")
		l.run(30 * time.Minute)
		if got := l.cloud.State("pod"); got != fleet.StateRunning {
			t.Errorf("pod is %s, and its data is lost", got)
		}
		l.wantTold("kept, since a stop would lose data", 1)
	})
}

func TestAForcedNightStopsWhatIsBusyOrDarkWithinItsWindow(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", `
  - {name: night, type: offhours, match: {name: ["rests", "busy", "dark", "late"]}, schedule: "0 9 * * *", window: 2h, if_busy: force, then: stop}
`)
		rests, dark := working("rests"), working("dark")
		rests.Box.Processes = nil
		dark.Box.Dark = []sim.Stretch{{}}
		for _, s := range []sim.Spec{rests, working("busy"), dark} {
			l.cloud.MustAdd(s)
		}
		l.restart() // at 08:00 on the clock of the file
		l.run(59 * time.Minute)
		l.wantOutcomes()
		l.run(15 * time.Minute)
		l.wantOutcomes("rests stop done")
		late := working("late") // somebody starts it in the window
		late.Age = time.Minute
		l.cloud.MustAdd(late)
		l.run(60 * time.Minute)
		l.wantOutcomes("rests stop done", "busy stop done", "dark stop done")
	})
}

func TestANightThatWaitsGivesUpAndSaysSo(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", `
  - {name: night, type: offhours, match: {name: ["busy", "ends", "ends-late"]}, schedule: "0 9 * * *", window: 2h, then: stop}
`)
		ends, late := working("ends"), working("ends-late")
		ends.Box.Processes[0].To = 90 * time.Minute
		// Announced two minutes before the last call, and seen through after it.
		late.Box.Processes[0].To = 168 * time.Minute
		for _, s := range []sim.Spec{working("busy"), ends, late} {
			l.cloud.MustAdd(s)
		}
		l.restart()
		l.run(4 * time.Hour)
		l.wantOutcomes("ends stop done", "ends-late stop done")
		l.wantTold("not stopped in the window of 09:00; given up at 10:50", 1)
		for _, e := range l.cloud.Effects() {
			if end := time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC); e.By == sim.ByAPI && !e.At.Before(end) {
				t.Errorf("%s of %s at %s, after the window", e.Op, e.Ref.ID, e.At)
			}
		}
	})
}
