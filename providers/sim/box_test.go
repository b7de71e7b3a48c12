package sim_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers/sim"
	"curfew/signals"
)

var _ signals.Source = (*sim.Source)(nil)

// look looks at the instance as the list shows it.
func (b *bench) look(id string, files, logs []string) fleet.Evidence {
	b.Helper()
	s := b.Source(30*time.Second, 10*time.Second)
	s.Ask = func(fleet.Instance) ([]string, []string) { return files, logs }
	i := b.read(id)
	found, err := s.Look(b.Context(), []fleet.Instance{i})
	b.must(err)
	if len(found) != 1 || len(found[i.Ref]) != 1 {
		b.Fatalf("the look gave %v, want one evidence for %s", found, i.Ref)
	}
	return found[i.Ref][0]
}

func commands(f fleet.Facts) []string {
	var out []string
	for _, p := range f.Processes {
		if p.PID >= 1000 {
			out = append(out, p.Command)
		}
	}
	return out
}

func TestALookTellsWhenWhatAndForHowLong(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", GPU: sim.GPU{Model: "RTX 4090", Count: 2}, Box: sim.Box{
		Processes: []sim.Process{{Command: "python train.py", From: -time.Minute, To: time.Minute, Exit: 3, Run: "r1", Load: 97, MemoryMB: 20000}},
	}})
	e := b.look("a", nil, nil)
	util, memory := 97.0, 20000.0
	up := b.time.Add(-time.Hour)
	want := fleet.Evidence{
		Source: "sim", SeenAt: b.time, Boot: fleet.BootAt(up), FreshFor: 70 * time.Second,
		Facts: fleet.Facts{
			Reached: true, ProcessesRead: true, Load1: 1,
			Cards: []fleet.Card{
				{Index: 0, Model: "RTX 4090", Utilization: &util, MemoryMB: &memory},
				{Index: 1, Model: "RTX 4090", Utilization: &util, MemoryMB: &memory},
			},
			Processes: []fleet.Process{
				{PID: 1, StartedAt: up, Command: "/sbin/docker-init -- /init/boot.sh"},
				{PID: 42, StartedAt: up, Command: "sshd: /usr/sbin/sshd -D [listener]"},
				{PID: 1000, StartedAt: b.time.Add(-time.Minute), Command: "python train.py"},
			},
			BoxRuns: []fleet.BoxRun{{ID: "r1", StartedAt: b.time.Add(-time.Minute), PID: 1000}},
		},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("while it runs, wanted (-) and got (+):\n%s", diff)
	}
	b.pass(time.Minute)
	e = b.look("a", nil, nil)
	code := 3
	ended := []fleet.BoxRun{{ID: "r1", StartedAt: b.time.Add(-2 * time.Minute), EndedAt: b.time, ExitCode: &code, PID: 1000}}
	if diff := cmp.Diff(ended, e.Facts.BoxRuns); diff != "" {
		t.Errorf("its run file when it ended, wanted (-) and got (+):\n%s", diff)
	}
	if len(commands(e.Facts)) != 0 || *e.Facts.Cards[0].Utilization != 0 {
		t.Errorf("when it ended there are %v at %g %%", commands(e.Facts), *e.Facts.Cards[0].Utilization)
	}
}

func TestWhatCannotBeReachedIsUnknownWithAReason(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", Box: sim.Box{Dark: []sim.Stretch{{From: time.Minute, To: 2 * time.Minute}}}})
	b.MustAdd(sim.Spec{ID: "always", Box: sim.Box{Dark: []sim.Stretch{{}}}})
	silent := func(id string) bool {
		e := b.look(id, []string{"/x"}, nil)
		if e.Facts.Reached != (e.Reason.IsZero()) || !e.Facts.Reached && (e.Activity != fleet.Unknown || e.Facts.Files != nil) {
			t.Errorf("%s: the evidence contradicts itself: %+v", id, e)
		}
		return e.Reason.Code == sim.ReasonSilent
	}
	if silent("a") || !silent("always") {
		t.Error("at first a is to answer, and always is not")
	}
	b.pass(time.Minute)
	if !silent("a") || !silent("always") {
		t.Error("after a minute none is to answer")
	}
	b.pass(time.Minute)
	if silent("a") || !silent("always") {
		t.Error("after two minutes a is to answer again, and always is not")
	}
	b.must(b.UserStops("a"))
	if !silent("a") {
		t.Error("while it is stopping it is not to answer")
	}
}

func TestALookNeverCreditsOneBootWithAnother(t *testing.T) {
	b := setup(t, sim.Options{Timing: sim.Timing{SettleLag: time.Minute}})
	b.MustAdd(sim.Spec{ID: "a"})
	b.pass(2 * time.Minute)
	b.must(b.UserStops("a"))
	b.pass(10 * time.Second)
	b.must(b.UserStarts("a"))
	b.pass(25 * time.Second)
	b.shows("a", fleet.StateRunning) // still the old power cycle
	if e := b.look("a", nil, nil); e.Reason.Code != sim.ReasonStartedAnew || e.Facts.Reached {
		t.Errorf("the look says %+v, want that it was started anew", e)
	}
	b.pass(time.Minute)
	if e := b.look("a", nil, nil); !e.Facts.Reached || e.Boot != b.read("a").Boot {
		t.Errorf("once reads have settled the look says %+v", e)
	}
}

func TestGPUReadings(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", GPU: sim.GPU{Model: "RTX 4090"}, Box: sim.Box{
		Processes: []sim.Process{{Command: "python", Load: 40}},
		GPU:       []sim.GPULevel{{At: time.Minute, Util: "N/A"}, {At: 2 * time.Minute, Util: "3.5"}, {At: 3 * time.Minute}},
	}})
	at := func() string {
		u := b.look("a", nil, nil).Facts.Cards[0].Utilization
		b.pass(time.Minute)
		if u == nil {
			return "N/A"
		}
		return time.Duration(*u * float64(time.Second)).String()
	}
	if got, want := []string{at(), at(), at(), at()}, []string{"40s", "N/A", "3.5s", "40s"}; !slices.Equal(got, want) {
		t.Errorf("minute by minute the card shows %v, want %v", got, want)
	}
}

func TestSessionsAreIdleSinceTheirLastInput(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", Box: sim.Box{Sessions: []sim.Session{
		{Name: "pts/0", From: -10 * time.Minute, To: 20 * time.Minute, Inputs: []time.Duration{5 * time.Minute}},
		{Kind: "utmp", Name: "root", From: 7 * time.Minute},
	}}})
	for _, want := range [][]fleet.Session{
		{{Kind: "tty", Name: "pts/0", Idle: 10 * time.Minute}},
		{{Kind: "tty", Name: "pts/0", Idle: 5 * time.Minute}, {Kind: "utmp", Name: "root", Idle: 3 * time.Minute}},
		{{Kind: "utmp", Name: "root", Idle: 13 * time.Minute}},
	} {
		if diff := cmp.Diff(want, b.look("a", nil, nil).Facts.Sessions); diff != "" {
			t.Errorf("sessions wanted (-) and got (+):\n%s", diff)
		}
		b.pass(10 * time.Minute)
	}
}

func TestFilesAndLogsGrow(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a", Box: sim.Box{
		Files: []sim.File{{Path: "/DONE", At: time.Minute, Text: "ok\n"}, {Path: "/big", Size: 1 << 30}},
		Logs:  []sim.LogLine{{Path: "/log", Line: "one"}, {Path: "/log", At: time.Minute, Line: strings.Repeat("x", 5000)}},
	}})
	ask := func() map[string]fleet.FileFact {
		return b.look("a", []string{"/DONE", "/big", "/none"}, []string{"/log"}).Facts.Files
	}
	t0 := b.time
	first := ask()
	want := map[string]fleet.FileFact{
		"/DONE": {}, "/none": {},
		"/big": {Exists: true, ModTime: t0, Size: 1 << 30},
		"/log": {Exists: true, ModTime: t0, Size: 4, Tail: "one\n"},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("at first, wanted (-) and got (+):\n%s", diff)
	}
	b.pass(time.Minute)
	later := ask()
	if got := later["/DONE"]; got != (fleet.FileFact{Exists: true, ModTime: b.time, Size: 3}) {
		t.Errorf("after a minute DONE is %+v", got)
	}
	if got := later["/log"]; got.Size != 5005 || len(got.Tail) != 4096 || !strings.HasSuffix(got.Tail, "x\n") {
		t.Errorf("after a minute the log has %d bytes and a tail of %d", got.Size, len(got.Tail))
	}
	if asked := b.look("a", nil, nil).Facts.Files; asked != nil {
		t.Errorf("nothing was asked for and there are %v", slices.Collect(maps.Keys(asked)))
	}
}

func TestHoldFilesAndUnreadableReadings(t *testing.T) {
	b := setup(t, sim.Options{})
	unreadable := func(reading string) sim.Unreadable {
		return sim.Unreadable{Reading: reading, Why: "no " + reading, From: 2 * time.Minute}
	}
	b.MustAdd(sim.Spec{ID: "a", GPU: sim.GPU{Count: 1}, Box: sim.Box{
		Processes:  []sim.Process{{Command: "python", Run: "r"}},
		Sessions:   []sim.Session{{}},
		Holds:      []sim.Hold{{At: time.Minute, Until: time.Hour}},
		Unreadable: []sim.Unreadable{unreadable("cards"), unreadable("processes"), unreadable("sessions"), unreadable("runs"), unreadable("hold")},
	}})
	t0 := b.time
	if hold := b.look("a", nil, nil).Facts.HoldUntil; !hold.IsZero() {
		t.Errorf("before the file is written the hold is until %s", hold)
	}
	b.pass(time.Minute)
	if hold := b.look("a", nil, nil).Facts.HoldUntil; !hold.Equal(t0.Add(time.Hour)) {
		t.Errorf("the hold is until %s", hold)
	}
	b.pass(time.Minute)
	want := fleet.Facts{Reached: true, Load1: 0, Unreadable: map[string]string{
		"cards": "no cards", "processes": "no processes", "sessions": "no sessions", "runs": "no runs", "hold": "no hold",
	}}
	if diff := cmp.Diff(want, b.look("a", nil, nil).Facts); diff != "" {
		t.Errorf("when nothing can be read, wanted (-) and got (+):\n%s", diff)
	}
}

func TestAStopKillsWhatRuns(t *testing.T) {
	for _, c := range []struct {
		keeps fleet.Keeps
		kept  bool
	}{{fleet.KeepsAll, true}, {fleet.KeepsNone, false}} {
		t.Run("and the data is kept: "+string(c.keeps), func(t *testing.T) {
			b := setup(t, sim.Options{})
			b.MustAdd(sim.Spec{ID: "a", StopKeeps: c.keeps, Box: sim.Box{
				Processes: []sim.Process{{Command: "python train.py", Run: "r", To: time.Hour}, {Command: "later", From: 30 * time.Minute}},
				Files:     []sim.File{{Path: "/ckpt", Text: "x"}, {Path: "/while-off", At: 90 * time.Second}},
			}})
			b.pass(time.Minute)
			b.must(b.UserStops("a"))
			b.pass(time.Minute)
			b.must(b.UserStarts("a"))
			b.pass(time.Minute)
			f := b.look("a", []string{"/ckpt", "/while-off"}, nil).Facts
			if len(commands(f)) != 0 {
				t.Errorf("after a restart there run %v", commands(f))
			}
			if f.Files["/ckpt"].Exists != c.kept || f.Files["/while-off"].Exists {
				t.Errorf("after a restart the files are %+v", f.Files)
			}
			if c.kept && (len(f.BoxRuns) != 1 || !f.BoxRuns[0].PIDGone || !f.BoxRuns[0].EndedAt.IsZero() || f.BoxRuns[0].ExitCode != nil) {
				t.Errorf("the killed run is told as %+v", f.BoxRuns)
			}
			if !c.kept && len(f.BoxRuns) != 0 {
				t.Errorf("the run files outlived the disk: %+v", f.BoxRuns)
			}
			b.pass(40 * time.Minute)
			if got := commands(b.look("a", nil, nil).Facts); !slices.Equal(got, []string{"later"}) {
				t.Errorf("later there run %v", got)
			}
		})
	}
}

func TestEachBootPlaysTheLineAgain(t *testing.T) {
	b := setup(t, sim.Options{Timing: sim.Timing{BootTime: 20 * time.Second, StopTime: 10 * time.Second}})
	b.MustAdd(sim.Spec{ID: "a", State: fleet.StateStopped, Box: sim.Box{EachBoot: true, Processes: []sim.Process{
		{Command: "python train.py", From: time.Minute, To: 2 * time.Minute, Run: "r"},
	}}})
	var ids []string
	for range 2 {
		b.must(b.UserStarts("a"))
		b.pass(20*time.Second + 59*time.Second)
		if got := commands(b.look("a", nil, nil).Facts); len(got) != 0 {
			t.Errorf("before its time there run %v", got)
		}
		b.pass(time.Second)
		if got := commands(b.look("a", nil, nil).Facts); len(got) != 1 {
			t.Errorf("a minute after it came up there run %v", got)
		}
		b.pass(time.Minute)
		f := b.look("a", nil, nil).Facts
		last := f.BoxRuns[len(f.BoxRuns)-1]
		if last.ExitCode == nil || *last.ExitCode != 0 {
			t.Errorf("the run ended as %+v", last)
		}
		ids = append(ids, last.ID)
		b.must(b.UserStops("a"))
		b.pass(time.Minute)
	}
	if ids[0] == ids[1] {
		t.Errorf("two boots have runs of one id: %v", ids)
	}
}

func TestALookThatFailsGivesAnError(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a"})
	i := b.read("a")
	b.Break(sim.Fault{Kind: sim.ServerError, Op: "look", Times: 1})
	s := b.Source(time.Second, time.Second)
	if _, err := s.Look(t.Context(), []fleet.Instance{i}); !errors.Is(err, fleet.Transient) {
		t.Errorf("the look answers %v, want a transient error", err)
	}
	if _, err := s.Look(t.Context(), []fleet.Instance{i}); err != nil {
		t.Errorf("the next look answers %v", err)
	}
}

func TestABoxCanBeRewritten(t *testing.T) {
	b := setup(t, sim.Options{})
	b.MustAdd(sim.Spec{ID: "a"})
	b.must(b.SetBox("a", sim.Box{Processes: []sim.Process{{Command: "python"}}}))
	if got := commands(b.look("a", nil, nil).Facts); !slices.Equal(got, []string{"python"}) {
		t.Errorf("there run %v", got)
	}
	if err := b.SetBox("a", sim.Box{Processes: []sim.Process{{}}}); err == nil {
		t.Error("a process without a command was taken")
	}
}
