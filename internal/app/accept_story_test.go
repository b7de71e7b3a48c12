package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/ctl"
)

// exams stands in for what examines machines: the simulated cloud can run nothing.
type exams struct {
	report  accept.Report
	err     error
	booted  accept.Booted
	scripts []accept.Bootstrap
	during  func()
	long    bool // it ends with the daemon alone
}

func (x *exams) Examine(ctx context.Context, _ fleet.Instance, _ accept.Thresholds) (accept.Report, error) {
	if x.long {
		<-ctx.Done()
		return accept.Report{}, ctx.Err()
	}
	if x.during != nil {
		x.during()
	}
	return x.report, x.err
}

func (x *exams) Bootstrap(_ context.Context, _ fleet.Instance, b accept.Bootstrap) (accept.Booted, error) {
	x.scripts = append(x.scripts, b)
	return x.booted, nil
}

// acceptLab is a lab with one machine that two cards were ordered of.
func acceptLab(t *testing.T, more string) (*lab, *exams) {
	t.Helper()
	l := newLab(t, "stop", more)
	zero := 0
	x := &exams{booted: accept.Booted{
		Bootstrapped: fleet.Bootstrapped{OK: true, Exit: &zero, Took: 90 * time.Second}, Begun: true, Log: []byte("all is there\n"),
	}}
	x.report.Cards = accept.Reading[[]accept.Card]{Known: true, Value: []accept.Card{{Name: "NVIDIA GeForce RTX 4090", MemoryMB: 24564}}}
	x.report.Disk = accept.Reading[float64]{Known: true, Value: 900e6}
	l.examiner = x
	l.cloud.MustAdd(trained("a", 100*time.Hour, 0))
	l.restart()
	l.run(2 * time.Minute)
	return l, x
}

func (l *lab) accept(r ctl.AcceptRequest) (fleet.Acceptance, error) {
	l.t.Helper()
	r.Name, r.By = "exp-a", "wang"
	a, err := l.app.AcceptMachine(l.t.Context(), r)
	return a.Acceptance, err
}

func (l *lab) explained() []fleet.Acceptance {
	l.t.Helper()
	e, err := l.app.Explain(l.t.Context(), "exp-a")
	if err != nil {
		l.t.Fatal(err)
	}
	return e.Accepted
}

func TestWhatCameOfAnExaminationIsKept(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, "")
		a, err := l.accept(ctl.AcceptRequest{})
		if err != nil || !a.Accepted || a.ID != 1 || a.Provider != "sim" || a.GPU != "RTX 4090" || a.By != "wang" || a.Boot == "" || a.Measured["disk"] != 900e6 || a.Bootstrap != nil {
			t.Fatalf("%+v, %v", a, err)
		}
		x.report.Disk.Value = 90e6
		if a, err = l.accept(ctl.AcceptRequest{}); err != nil || a.Accepted || len(a.Fails) != 1 {
			t.Fatalf("a slow disk: %+v, %v", a, err)
		}
		l.stop()
		l.restart()
		l.run(2 * time.Minute)
		if got := l.explained(); len(got) != 2 || got[0].Accepted || !got[1].Accepted || got[0].Fails[0].Code != accept.TooLittle {
			t.Errorf("explain shows %+v", got)
		}
		of, err := l.app.store.AcceptancesOf(t.Context(), "sim", "", 10)
		if err != nil || len(of) != 2 {
			t.Errorf("of the platform: %+v, %v", of, err)
		}
	})
}

func TestWhatCannotBeExaminedIsNoResult(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, "")
		x.err = errors.New("nobody answers")
		if _, err := l.accept(ctl.AcceptRequest{}); err == nil || !strings.Contains(err.Error(), "exp-a cannot be examined: nobody answers") {
			t.Errorf("got %v", err)
		}
		if got := l.explained(); len(got) != 0 {
			t.Errorf("explain shows %+v", got)
		}
		x.err = nil
		x.during = func() {
			x.during = nil
			if _, err := l.accept(ctl.AcceptRequest{}); err == nil || !strings.Contains(err.Error(), "is being examined already") {
				t.Errorf("two at once: %v", err)
			}
		}
		if _, err := l.accept(ctl.AcceptRequest{}); err != nil {
			t.Error(err)
		}
		if err := l.cloud.UserStops("a"); err != nil {
			t.Fatal(err)
		}
		l.run(3 * time.Minute)
		if _, err := l.accept(ctl.AcceptRequest{}); err == nil || !strings.Contains(err.Error(), "only what runs can be examined") {
			t.Errorf("a stopped one: %v", err)
		}
	})
}

func TestADaemonThatEndsWaitsForNoExamination(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, "")
		x.long = true
		done := make(chan error)
		go func() {
			_, err := l.app.AcceptMachine(context.Background(), ctl.AcceptRequest{Name: "exp-a", By: "wang"})
			done <- err
		}()
		l.run(time.Minute)
		l.cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}

const labBootstrap = `
accept:
  bootstrap: {run: "pip install {{.Name}}", secrets: {HF_TOKEN: {file: token}}, timeout: 7m}
`

func TestTheConfiguredBootstrapRunsOnceInABoot(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, labBootstrap)
		a, err := l.accept(ctl.AcceptRequest{})
		if err != nil || len(x.scripts) != 1 || a.Bootstrap == nil || a.Passed[0].Code != ReasonBootstrapped {
			t.Fatalf("%+v, %v", a, err)
		}
		b := x.scripts[0]
		if b.Script != "pip install {{.Name}}" || b.Secrets["HF_TOKEN"] != "a-token" || b.Timeout != 7*time.Minute {
			t.Errorf("ran %+v", b)
		}
		text, err := os.ReadFile(a.Bootstrap.Log)
		info, statErr := os.Stat(a.Bootstrap.Log)
		if err != nil || statErr != nil || string(text) != "all is there\n" || info.Mode().Perm() != 0o600 || filepath.Dir(filepath.Dir(a.Bootstrap.Log)) != l.dir {
			t.Errorf("the log %s holds %q (%v)", a.Bootstrap.Log, text, err)
		}
		if a, err = l.accept(ctl.AcceptRequest{}); err != nil || len(x.scripts) != 1 || a.Passed[0].Code != ReasonBootstrappedBefore || a.Bootstrap != nil {
			t.Errorf("a second time: %+v, %v", a, err)
		}
		if _, err = l.accept(ctl.AcceptRequest{Bootstrap: "true"}); err != nil || len(x.scripts) != 2 || x.scripts[1].Script != "true" || len(x.scripts[1].Secrets) != 1 {
			t.Errorf("one that was named: %+v, %v", x.scripts, err)
		}
		if _, err = l.accept(ctl.AcceptRequest{Bootstrap: "#!/usr/bin/perl\n"}); err == nil || len(x.scripts) != 2 {
			t.Errorf("one for another program: %v", err)
		}
		state, err := os.ReadFile(filepath.Join(l.dir, "curfew.db"))
		wal, _ := os.ReadFile(filepath.Join(l.dir, "curfew.db-wal"))
		if err != nil || strings.Contains(string(state)+string(wal), "a-token") {
			t.Errorf("a secret is in the state (%v)", err)
		}
	})
}

func TestABootstrapThatFailsFailsTheMachineAndIsRunAgain(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, labBootstrap)
		three := 3
		x.booted = accept.Booted{Bootstrapped: fleet.Bootstrapped{
			Exit: &three, Why: fleet.Because(accept.BootFailed, fleet.Values{"status": fleet.Number(3), "said": fleet.Text("no such package")}),
		}}
		for n := range 2 {
			a, err := l.accept(ctl.AcceptRequest{})
			if err != nil || a.Accepted || a.Fails[0].Code != accept.BootFailed || *a.Bootstrap.Exit != 3 || a.Bootstrap.Log != "" || len(x.scripts) != n+1 {
				t.Errorf("%+v, %v", a, err)
			}
		}
	})
}

// However often a machine is examined, and also where that fails after it was prepared.
func TestABootstrapThatEndedWellIsNotForgotten(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, labBootstrap)
		x.err = errors.New("nobody answers")
		if _, err := l.accept(ctl.AcceptRequest{}); err == nil || !strings.Contains(err.Error(), "exp-a cannot be examined: nobody answers (the bootstrap's output is in ") {
			t.Errorf("got %v", err)
		}
		if got := l.explained(); len(got) != 1 || got[0].Accepted || got[0].Fails[0].Code != ReasonUnexamined || !got[0].Bootstrap.OK {
			t.Fatalf("explain shows %+v", got)
		}
		x.err = nil
		for range 25 {
			if a, err := l.accept(ctl.AcceptRequest{}); err != nil || a.Passed[0].Code != ReasonBootstrappedBefore {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		if len(x.scripts) != 1 {
			t.Errorf("it was run %d times", len(x.scripts))
		}
	})
}

func TestAnExaminationThatIsCutOffForgetsNoBootstrap(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, labBootstrap)
		x.long = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.app.AcceptMachine(ctx, ctl.AcceptRequest{Name: "exp-a", By: "wang"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		x.long = false
		if a, err := l.accept(ctl.AcceptRequest{}); err != nil || a.Passed[0].Code != ReasonBootstrappedBefore || len(x.scripts) != 1 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// A script is run by nobody's hand where nothing is to be touched; looking is fine.
func TestWhatIsProtectedOrHeldIsNotPrepared(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		do   func(*testing.T, *lab)
		why  string
	}{
		"protected": {yaml: "\nprotect: {names: [exp-a]}\n", why: "protected by the name pattern exp-a"},
		"held": {why: "held by li", do: func(t *testing.T, l *lab) {
			if _, err := l.app.Hold(t.Context(), ctl.HoldRequest{Name: "exp-a", Until: time.Now().Add(time.Hour), By: "li"}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l, x := acceptLab(t, labBootstrap+c.yaml)
				if c.do != nil {
					c.do(t, l)
				}
				a, err := l.accept(ctl.AcceptRequest{})
				if err != nil || !a.Accepted || a.Bootstrap != nil || len(a.Warnings) == 0 || a.Warnings[0].Code != ReasonBootstrapRefused {
					t.Errorf("%+v, %v", a, err)
				}
				if _, err := l.accept(ctl.AcceptRequest{Bootstrap: "true"}); err == nil || !strings.Contains(err.Error(), "the bootstrap of exp-a is not run: "+c.why) {
					t.Errorf("one that was named: %v", err)
				}
				if len(x.scripts) != 0 {
					t.Errorf("ran %+v", x.scripts)
				}
			})
		})
	}
}

func TestInADryRunNothingIsPrepared(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, x := acceptLab(t, labBootstrap)
		l.yaml = strings.Replace(l.yaml, "mode: enforce", "mode: dry-run", 1)
		l.stop()
		l.restart()
		l.run(2 * time.Minute)
		a, err := l.accept(ctl.AcceptRequest{})
		if err != nil || len(x.scripts) != 0 || !a.Accepted || len(a.Warnings) == 0 || a.Warnings[0].Code != ReasonBootstrapDryRun {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := l.accept(ctl.AcceptRequest{Bootstrap: "true"}); err == nil || len(x.scripts) != 0 || !strings.Contains(err.Error(), "is not run in a dry run") {
			t.Errorf("one that was named: %v", err)
		}
	})
}

func TestOnlyTheNewestLogsAreKept(t *testing.T) {
	l, x := newLab(t, "stop"), &exams{}
	l.examiner = x
	l.cloud.MustAdd(trained("a", 100*time.Hour, 0))
	a, err := New(t.Context(), l.options())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	i := fleet.Instance{Ref: fleet.Ref{ID: "../a b"}}
	var files []string
	for n := range bootLogsKept + 2 {
		file, err := a.keepBootLog(i, time.Unix(int64(n), 0), []byte("x"))
		if err != nil || filepath.Dir(file) != filepath.Join(l.dir, "bootstrap") {
			t.Fatalf("%s, %v", file, err)
		}
		files = append(files, file)
	}
	for n, file := range files {
		if _, err := os.Stat(file); (err == nil) != (n >= 2) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if want := fmt.Sprintf("%s/bootstrap/19700101T000000.000Z-___a_b.log", l.dir); files[0] != want {
		t.Errorf("%s, want %s", files[0], want)
	}
}
