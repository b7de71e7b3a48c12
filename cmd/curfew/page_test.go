package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/text"
)

func english(t *testing.T) *text.Renderer {
	t.Helper()
	r, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTablesLineUpInEveryScript(t *testing.T) {
	rows := [][]string{
		{"NAME", "STATE", "NEXT"},
		{"exp-1", "运行中", "run r1 is going on since 13:30"},
		{"训练一", "\x1b[32mok\x1b[0m", "任务 r1 自 13:30 起运行中，一直没有结束"},
	}
	for name, c := range map[string]struct {
		width int
		want  string
	}{
		"as long as it is": {0, `
  NAME    STATE   NEXT
  exp-1   运行中  run r1 is going on since 13:30
  训练一  ` + "\x1b[32mok\x1b[0m" + `      任务 r1 自 13:30 起运行中，一直没有结束
`},
		"as wide as the terminal": {38, `
  NAME    STATE   NEXT
  exp-1   运行中  run r1 is going on
                  since 13:30
  训练一  ` + "\x1b[32mok\x1b[0m" + `      任务 r1 自 13:30 起
                  运行中，一直没有结束
`},
		"too narrow to fold": {20, `
  NAME    STATE   NEXT
  exp-1   运行中  run r1 is going on since 13:30
  训练一  ` + "\x1b[32mok\x1b[0m" + `      任务 r1 自 13:30 起运行中，一直没有结束
`},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			g := &page{w: &b, r: english(t), width: c.width}
			g.table(2, rows)
			if diff := cmp.Diff(c.want[1:], b.String()); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongLinesHangBelowTheirIndentation(t *testing.T) {
	var b bytes.Buffer
	g := &page{w: &b, r: english(t), width: 30}
	g.print("  will stop at 14:25 (in 8m): run r1 ended\nnext")
	if diff := cmp.Diff("  will stop at 14:25 (in 8m):\n    run r1 ended\nnext\n", b.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestColourIsOnlyForTerminalsThatWantIt(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		env      map[string]string
		colour   bool
	}{
		"a terminal":               {true, nil, true},
		"a file":                   {false, nil, false},
		"a terminal with NO_COLOR": {true, map[string]string{"NO_COLOR": ""}, false},
		"a dumb terminal":          {true, map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &program{render: english(t), system: system{
				tables: c.terminal, size: func() (int, int) { return 80, 24 },
				lookupEnv: func(key string) (string, bool) {
					v, ok := c.env[key]
					return v, ok
				},
			}}
			got := p.page(time.Time{}).answer(guard.Refuse)
			if strings.Contains(got, "\x1b[") != c.colour || !strings.Contains(got, "no") {
				t.Errorf("answer %q", got)
			}
		})
	}
}

func TestEveryWordOfTheGuardAndTheJournalHasAText(t *testing.T) {
	g := &page{r: english(t)}
	for _, r := range guard.Ask(guard.Chain(), guard.Input{}) {
		if g.check(r.Check) == "" || strings.Contains(g.check(r.Check), "cli.") {
			t.Errorf("check %s is shown as %q", r.Check, g.check(r.Check))
		}
	}
	for _, o := range []fleet.Outcome{
		fleet.OutcomeDone, fleet.OutcomeDoneStillBilling, fleet.OutcomeFailedWrite, fleet.OutcomeUnverified, fleet.OutcomeVanished, fleet.OutcomeAbandoned,
	} {
		if got := g.outcome(fleet.Intent{State: fleet.IntentClosed, Outcome: o}); got == string(o) && o != fleet.OutcomeDone && o != fleet.OutcomeFailedWrite {
			t.Errorf("outcome %s has no words", o)
		}
	}
	for _, s := range []fleet.IntentState{fleet.IntentPending, fleet.IntentStarted, fleet.IntentWritten} {
		if got := g.outcome(fleet.Intent{State: s}); got == "" || got == string(s) {
			t.Errorf("state %s is shown as %q", s, got)
		}
	}
}

func TestWhatComesNext(t *testing.T) {
	now := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	why := fleet.Because("guard.by-hand", nil)
	open := func(change func(*fleet.Intent)) *fleet.Intent {
		i := &fleet.Intent{State: fleet.IntentPending, Action: fleet.Stop, Goal: fleet.Stop, Warn: 10 * time.Minute, Deadline: now.Add(8 * time.Minute)}
		if change != nil {
			change(i)
		}
		return i
	}
	for name, c := range map[string]struct {
		i    ctl.Planned
		want string
	}{
		"nothing": {ctl.Planned{Reason: why}, "asked by hand"},
		"nothing for a while": {
			ctl.Planned{Reason: why, At: now.Add(time.Minute)}, "asked by hand (may change at 14:01)",
		},
		"an announced act": {
			ctl.Planned{Action: fleet.Stop, Goal: fleet.Release, Mode: fleet.Enforce, Reason: why, Intent: open(nil), At: now.Add(8 * time.Minute)},
			"will stop at 14:08 (in 8m), then release: asked by hand",
		},
		"an act whose warning nobody has taken": {
			ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.Enforce, Reason: why, Intent: open(func(i *fleet.Intent) { i.Deadline = time.Time{} })},
			"will stop, 10m after a channel has taken the warning: asked by hand",
		},
		"an act that is due": {
			ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.Enforce, Reason: why, Intent: open(nil), At: now}, "will stop now: asked by hand",
		},
		"an act that waits": {
			ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.Enforce, Reason: why, Intent: open(func(i *fleet.Intent) { i.HeldBack = why }), At: now},
			"waits to stop: asked by hand",
		},
		"an act under way": {
			ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.Enforce, Intent: open(func(i *fleet.Intent) {
				i.State, i.StartedAt = fleet.IntentWritten, now.Add(-time.Minute)
			})},
			"under way since 13:59: stop; waits for the platform to show it",
		},
		"a wish not announced yet": {ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.Enforce, Reason: why}, "will announce to stop it: asked by hand"},
		"a wish in a dry run":      {ctl.Planned{Action: fleet.Stop, Goal: fleet.Stop, Mode: fleet.DryRun, Reason: why}, "dry-run, else it would stop: asked by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&page{r: english(t), now: now}).next(c.i); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestProgressIsShownOnlyWhereItTakesLongAndSomebodyWatches(t *testing.T) {
	failed := errors.New("no")
	for name, c := range map[string]struct {
		terminal bool
		takes    time.Duration
		want     string
	}{
		"a quick answer":           {true, 1900 * time.Millisecond, ""},
		"a slow answer":            {true, 3500 * time.Millisecond, "\r\x1b[Kasking … 2s\r\x1b[Kasking … 3s\r\x1b[K"},
		"a slow answer, unwatched": {false, time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				p := &program{render: english(t), system: system{stderr: &b, notes: c.terminal, now: time.Now}}
				err := p.progress(context.Background(), wordAsking, func() error {
					time.Sleep(c.takes)
					return failed
				})
				if !errors.Is(err, failed) || b.String() != c.want {
					t.Errorf("error %v, shown %q; want %q", err, b.String(), c.want)
				}
			})
		})
	}
}

func TestSpan(t *testing.T) {
	for s, want := range map[string]time.Duration{"30m": 30 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, err := span(s); err != nil || got != want {
			t.Errorf("%s is %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "2", "0", "0d", "-1h", "-1d", "d", "1.5d", "soon", "1w"} {
		if d, err := span(s); err == nil {
			t.Errorf("%q is taken for %s", s, d)
		}
	}
}
