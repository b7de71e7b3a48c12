package signals_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals"
)

var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func trainPattern() []signals.Pattern {
	return []signals.Pattern{{Policy: "p", Match: func(c string) bool { return strings.Contains(c, "train") }}}
}

// atRest is a look that could read everything and saw nothing at work.
func atRest() fleet.Evidence {
	return fleet.Evidence{
		Source: "ssh", SeenAt: start, Boot: "b1", FreshFor: time.Minute,
		Facts: fleet.Facts{
			Reached: true, ProcessesRead: true,
			Cards:     []fleet.Card{{Utilization: new(0.0), MemoryMB: new(300.0), PowerW: new(60.0)}},
			Processes: []fleet.Process{{PID: 1, StartedAt: start.Add(-time.Hour), Command: "/sbin/init"}},
		},
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fleet.Evidence)
		want   fleet.Activity
		why    fleet.Code
	}{
		{"all read and nothing at work is idle", func(*fleet.Evidence) {}, fleet.Idle, signals.ReasonIdle},
		{"a machine without cards can be idle", func(e *fleet.Evidence) { e.Facts.Cards = nil }, fleet.Idle, signals.ReasonIdle},
		{"memory merely held is idle", func(e *fleet.Evidence) { e.Facts.Cards[0].MemoryMB = new(20000.0) }, fleet.Idle, signals.ReasonIdle},
		{"a card at the limit is busy", func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = new(5.0) }, fleet.Busy, signals.ReasonBusyCard},
		{"a card below the limit is idle", func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = new(4.9) }, fleet.Idle, signals.ReasonIdle},
		{"one busy card of two is busy", func(e *fleet.Evidence) {
			e.Facts.Cards = append(e.Facts.Cards, fleet.Card{Index: 1, Utilization: new(80.0)})
		}, fleet.Busy, signals.ReasonBusyCard},
		{"a matching process is busy", func(e *fleet.Evidence) {
			e.Facts.Processes = append(e.Facts.Processes, fleet.Process{PID: 7, Command: "python train.py"})
		}, fleet.Busy, signals.ReasonBusyProcess},
		{"an open run is busy", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start}}
		}, fleet.Busy, signals.ReasonBusyRun},
		{"a run with an end is not", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start.Add(-time.Minute), EndedAt: start}}
		}, fleet.Idle, signals.ReasonIdle},
		{"an end older than the start is no end", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start, EndedAt: start.Add(-time.Minute)}}
		}, fleet.Busy, signals.ReasonBusyRun},
		{"a run whose process is gone is not open", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start, PIDGone: true}}
		}, fleet.Idle, signals.ReasonIdle},
		{"a run of an earlier boot is not open", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start.Add(-2 * time.Hour)}}
		}, fleet.Idle, signals.ReasonIdle},
		{"a run that began before it is known when the box did is open", func(e *fleet.Evidence) {
			e.Facts.BoxRuns = []fleet.BoxRun{{ID: "r", StartedAt: start.Add(-2 * time.Hour)}}
			e.Facts.Processes[0].StartedAt = time.Time{}
		}, fleet.Busy, signals.ReasonBusyRun},
		{"recent input is busy", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "tty", Idle: 30 * time.Minute}}
		}, fleet.Busy, signals.ReasonBusySession},
		{"an old session is idle", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "tty", Idle: 31 * time.Minute}}
		}, fleet.Idle, signals.ReasonIdle},
		{"a session whose clock jumped is busy", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "tty", Idle: -time.Hour}}
		}, fleet.Busy, signals.ReasonBusySession},
		{"a busy kernel is busy, however long ago it was asked to", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "tty", Idle: time.Minute}, {Kind: "kernel", Idle: 6 * time.Hour, Busy: true}}
		}, fleet.Busy, signals.ReasonBusyKernel},
		{"a kernel that was just used is busy", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "kernel", Idle: time.Minute}}
		}, fleet.Busy, signals.ReasonBusySession},
		{"a kernel left open is idle", func(e *fleet.Evidence) {
			e.Facts.Sessions = []fleet.Session{{Kind: "kernel", Idle: 20 * time.Hour}}
		}, fleet.Idle, signals.ReasonIdle},
		{"a server that cannot be asked for its kernels is unknown", func(e *fleet.Evidence) {
			e.Facts.Unreadable = map[string]string{"jupyter": "refused"}
		}, fleet.Unknown, signals.ReasonUnreadable},
		{"a card without a reading is unknown", func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = nil }, fleet.Unknown, signals.ReasonCardUnread},
		{"a reading that is no number is unknown", func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = new(math.NaN()) }, fleet.Unknown, signals.ReasonCardUnread},
		{"a reading below zero is unknown", func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = new(-1.0) }, fleet.Unknown, signals.ReasonCardUnread},
		{"a split card is unknown", func(e *fleet.Evidence) { e.Facts.Cards[0].MIG = true }, fleet.Unknown, signals.ReasonCardMIG},
		{"zero use at full power with memory held is a contradiction", func(e *fleet.Evidence) {
			e.Facts.Cards[0].PowerW, e.Facts.Cards[0].MemoryMB = new(280.0), new(20000.0)
		}, fleet.Unknown, signals.ReasonContradiction},
		{"full power without memory is none", func(e *fleet.Evidence) { e.Facts.Cards[0].PowerW = new(280.0) }, fleet.Idle, signals.ReasonIdle},
		{"an empty process list is unknown", func(e *fleet.Evidence) { e.Facts.Processes = nil }, fleet.Unknown, signals.ReasonNoProcesses},
		{"a process list that was not read is unknown", func(e *fleet.Evidence) { e.Facts.ProcessesRead = false }, fleet.Unknown, signals.ReasonNoProcesses},
		{"any reading that failed is unknown", func(e *fleet.Evidence) {
			e.Facts.Unreadable = map[string]string{"sessions": "permission denied"}
		}, fleet.Unknown, signals.ReasonUnreadable},
		{"a busy fact outweighs what failed", func(e *fleet.Evidence) {
			e.Facts.Unreadable = map[string]string{"processes": "permission denied"}
			e.Facts.ProcessesRead, e.Facts.Processes = false, nil
			e.Facts.Cards[0].Utilization = new(97.0)
		}, fleet.Busy, signals.ReasonBusyCard},
		{"a look that did not get in is unknown", func(e *fleet.Evidence) { e.Facts = fleet.Facts{} }, fleet.Unknown, signals.ReasonNotReached},
		{"the source's own reason is kept", func(e *fleet.Evidence) {
			e.Facts, e.Reason = fleet.Facts{}, fleet.Because("why", nil)
		}, fleet.Unknown, "why"},
		{"what a source claims without facts does not count", func(e *fleet.Evidence) {
			e.Facts, e.Activity = fleet.Facts{}, fleet.Idle
		}, fleet.Unknown, signals.ReasonNotReached},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := atRest()
			c.change(&e)
			got := signals.Judge(e, signals.Limits{}, trainPattern())
			if got.Activity != c.want || got.Reason.Code != c.why {
				t.Errorf("got %s because %s, want %s because %s", got.Activity, got.Reason.Code, c.want, c.why)
			}
			if got.Facts.Processes != nil {
				t.Error("the processes were kept")
			}
		})
	}
}

func TestJudgeMatchesProcessesToPolicies(t *testing.T) {
	e := atRest()
	e.Facts.Processes = append(e.Facts.Processes,
		fleet.Process{PID: 9, StartedAt: start.Add(-time.Minute), Command: "python train.py --rank 1"},
		fleet.Process{PID: 8, StartedAt: start.Add(-2 * time.Minute), Command: "python train.py --rank 0"},
		fleet.Process{PID: 7, Command: "python serve.py"},
		fleet.Process{PID: 6, StartedAt: start, Command: "python serve.py"},
	)
	patterns := append(trainPattern(),
		signals.Pattern{Policy: "serving", Match: func(c string) bool { return strings.Contains(c, "serve") }},
		signals.Pattern{Policy: "none", Match: func(string) bool { return false }},
		signals.Pattern{Policy: "without"},
	)
	got := signals.Judge(e, signals.Limits{}, patterns).Facts
	if diff := cmp.Diff(map[string][]int{"p": {8, 9}, "serving": {6, 7}}, got.Matched); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]time.Time{"p": start.Add(-2 * time.Minute)}, got.MatchedSince); diff != "" {
		t.Errorf("since (-want +got):\n%s", diff)
	}
	if !got.BootedAt.Equal(start.Add(-time.Hour)) {
		t.Errorf("booted at %s", got.BootedAt)
	}
}

func TestJudgeUsesTheLimitsItIsGiven(t *testing.T) {
	e := atRest()
	e.Facts.Cards[0].Utilization = new(15.0)
	e.Facts.Sessions = []fleet.Session{{Kind: "tty", Idle: 20 * time.Minute}}
	for name, c := range map[string]struct {
		limits signals.Limits
		want   fleet.Activity
	}{
		"higher and shorter is idle": {signals.Limits{BusyAbove: 20, SessionIdleMax: 10 * time.Minute}, fleet.Idle},
		"a lower limit is busy":      {signals.Limits{BusyAbove: 10, SessionIdleMax: 10 * time.Minute}, fleet.Busy},
		"a longer session is busy":   {signals.Limits{BusyAbove: 20, SessionIdleMax: 30 * time.Minute}, fleet.Busy},
		"no number is the default":   {signals.Limits{BusyAbove: math.NaN(), SessionIdleMax: time.Minute}, fleet.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			if got := signals.Judge(e, c.limits, nil).Activity; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// drawFacts draws the facts of a look in which anything may have failed.
func drawFacts(t *rapid.T) fleet.Facts {
	maybe := func(label string) *float64 {
		if rapid.IntRange(0, 3).Draw(t, label+" missing") == 2 {
			return nil
		}
		return new(rapid.SampledFrom([]float64{0, 0, 0, 3, 97, 280, 20000, -1, math.NaN()}).Draw(t, label))
	}
	f := fleet.Facts{
		Reached:       rapid.IntRange(0, 4).Draw(t, "reached") != 2,
		ProcessesRead: rapid.IntRange(0, 4).Draw(t, "processes read") != 2,
		Load1:         rapid.SampledFrom([]float64{0, 2}).Draw(t, "load"),
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "cards") {
		f.Cards = append(f.Cards, fleet.Card{
			Index: n, Utilization: maybe("used"), MemoryMB: maybe("memory"), PowerW: maybe("power"),
			MIG: rapid.IntRange(0, 9).Draw(t, "mig") == 5,
		})
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "processes") {
		f.Processes = append(f.Processes, fleet.Process{
			PID: 1 + n, Command: rapid.SampledFrom([]string{"init", "init", "python train.py"}).Draw(t, "command"),
		})
	}
	for range rapid.IntRange(0, 1).Draw(t, "sessions") {
		f.Sessions = append(f.Sessions, fleet.Session{
			Kind: "kernel", Idle: time.Duration(rapid.IntRange(0, 90).Draw(t, "idle")) * time.Minute,
			Busy: rapid.IntRange(0, 3).Draw(t, "computes") == 2,
		})
	}
	for _, what := range []string{"cards", "processes", "sessions", "jupyter", "runs", "hold", "something new"} {
		if rapid.IntRange(0, 15).Draw(t, what+" failed") == 7 {
			if f.Unreadable == nil {
				f.Unreadable = map[string]string{}
			}
			f.Unreadable[what] = "no"
		}
	}
	return f
}

func checkJudge(t *rapid.T) {
	e := fleet.Evidence{Source: "ssh", SeenAt: start, Boot: "b1", Facts: drawFacts(t)}
	f := e.Facts
	got := signals.Judge(e, signals.Limits{}, trainPattern())
	if got.Reason.IsZero() {
		t.Fatal("no reason given")
	}
	if got.Activity != fleet.Idle {
		return
	}
	if len(f.Unreadable) > 0 || !f.Reached || !f.ProcessesRead || len(f.Processes) == 0 {
		t.Fatalf("idle although not all could be read: %+v", f)
	}
	for _, c := range f.Cards {
		if c.Utilization == nil || math.IsNaN(*c.Utilization) || *c.Utilization < 0 || *c.Utilization >= 5 || c.MIG {
			t.Fatalf("idle although a card does not say so: %+v", c)
		}
	}
	for _, s := range f.Sessions {
		if s.Busy || s.Idle <= signals.DefaultSessionIdleMax {
			t.Fatalf("idle although somebody is at work: %+v", s)
		}
	}
	for _, p := range f.Processes {
		if strings.Contains(p.Command, "train") {
			t.Fatal("idle although a process matches")
		}
	}
}

func TestIdleNeedsEveryReading(t *testing.T) { rapid.Check(t, checkJudge) }

func FuzzJudge(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkJudge)) }
