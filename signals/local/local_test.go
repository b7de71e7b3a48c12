package local_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/look/looktest"
	"curfew/signals"
	"curfew/signals/local"
)

func TestMain(m *testing.M) {
	looktest.Alone()
	goleak.VerifyTestMain(m)
}

// bench is a source whose look finds stand-ins for the machine's programs, and a
// home of its own.
type bench struct {
	t         *testing.T
	bin, home string
	o         local.Options
	ask       signals.Ask
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := os.Stat("/proc/1/stat"); err != nil {
		t.Skip("a look needs /proc")
	}
	b := &bench{t: t, bin: t.TempDir(), home: t.TempDir()}
	b.o = local.Options{
		Every: 30 * time.Second, Timeout: 20 * time.Second, Now: time.Now,
		Env: []string{"PATH=" + b.bin + ":/usr/bin:/bin", "HOME=" + b.home},
		Ask: func(fleet.Instance) signals.Ask { return b.ask },
	}
	b.standIn("nvidia-smi", `echo "0, NVIDIA GeForce RTX 4090, 0, 1, 15.42, [N/A]"`)
	return b
}

func (b *bench) standIn(name, body string) {
	b.t.Helper()
	// Under another name first: a program that is being run cannot be written to.
	path := filepath.Join(b.bin, name)
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) write(path, content string) {
	b.t.Helper()
	path = filepath.Join(b.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) source() *local.Source {
	b.t.Helper()
	s, err := local.New(b.o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

func here() fleet.Instance {
	return fleet.Instance{
		Ref:  fleet.Ref{Account: "machines:own", Kind: fleet.KindInstance, ID: "box"},
		Boot: "b1", State: fleet.StateRunning, Here: true,
	}
}

// look looks at this machine and checks what every evidence must be.
func look(t *testing.T, s *local.Source) fleet.Evidence {
	t.Helper()
	i := here()
	seen, err := s.Look(t.Context(), []fleet.Instance{i})
	if err != nil || len(seen) != 1 || len(seen[i.Ref]) != 1 {
		t.Fatalf("Look gave %d answers, %v", len(seen), err)
	}
	e := seen[i.Ref][0]
	if e.Source != "local" || e.Boot != i.Boot || e.Activity != fleet.Unknown || e.SeenAt.IsZero() || e.FreshFor == 0 {
		t.Errorf("evidence of %s, boot %s, %s, seen at %s, fresh for %s", e.Source, e.Boot, e.Activity, e.SeenAt, e.FreshFor)
	}
	if e.Facts.Reached == !e.Reason.IsZero() {
		t.Errorf("reached %v, but the reason is %v", e.Facts.Reached, e.Reason)
	}
	return e
}

func matching(e fleet.Evidence, part string) []fleet.Process {
	return slices.DeleteFunc(slices.Clone(e.Facts.Processes), func(p fleet.Process) bool { return !strings.Contains(p.Command, part) })
}

func TestTheMachineItselfIsLookedAt(t *testing.T) {
	b := newBench(t)
	b.write("train.py", "read line\n")
	b.write("out/DONE", "ok")
	b.write("log", "epoch 3 done\n")
	b.write(".curfew/hold", "2h\n")
	work := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(b.home, "train.py"), "--name", "实验 一", b.home)
	in, err := work.StdinPipe()
	if err == nil {
		err = work.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b.write(".curfew/runs/going", fmt.Sprintf("start=%d pid=%d", began.Unix(), work.Process.Pid))
	b.ask = signals.Ask{Files: []string{"~/out/DONE", "none"}, Logs: []string{"log"}}
	// The stand-in notes the processes that it runs under, up to this one: what else looks
	// at this machine meanwhile is not ours.
	b.standIn("nvidia-smi", `echo "0, NVIDIA GeForce RTX 4090, 0, 1, 15.42, [N/A]"
p=$PPID
while [ "$p" -gt 1 ] && [ "$p" != `+strconv.Itoa(os.Getpid())+` ]; do
	echo "$p" >>"$HOME/above"
	read -r _ _ _ p _ <"/proc/$p/stat"
done`)
	s := b.source()

	e := look(t, s)
	f := e.Facts
	if !f.Reached || !f.ProcessesRead || f.Unreadable["cards"]+f.Unreadable["runs"]+f.Unreadable["hold"]+f.Unreadable["load"] != "" {
		t.Fatalf("reached %v, processes read %v, unreadable %v, %v", f.Reached, f.ProcessesRead, f.Unreadable, e.Reason)
	}
	if e.FreshFor != 80*time.Second {
		t.Errorf("fresh for %s", e.FreshFor)
	}
	if len(f.Cards) != 1 || f.Cards[0].Model != "NVIDIA GeForce RTX 4090" {
		t.Errorf("cards %+v", f.Cards)
	}
	found := matching(e, "train.py --name 实验 一 "+b.home)
	if len(found) != 1 || found[0].PID != work.Process.Pid || began.Sub(found[0].StartedAt).Abs() > 3*time.Second {
		t.Errorf("the training is seen as %+v", found)
	}
	own, err := os.ReadFile(filepath.Join(b.home, "above"))
	if err != nil || len(own) == 0 {
		t.Errorf("nobody noted which processes the look is made of (%v)", err)
	}
	for _, p := range f.Processes {
		if slices.Contains(strings.Fields(string(own)), strconv.Itoa(p.PID)) {
			t.Errorf("the look sees a process of its own: %+v", p)
		}
	}
	self := func(p fleet.Process) bool { return p.PID == os.Getpid() }
	if os.Getpid() != 1 && slices.ContainsFunc(f.Processes, self) {
		t.Error("curfew sees itself")
	}
	if left := time.Until(f.HoldUntil); left < 2*time.Hour-time.Minute || left > 2*time.Hour+3*time.Second {
		t.Errorf("held for %s", left)
	}
	if len(f.BoxRuns) != 1 || f.BoxRuns[0].ID != "going" || f.BoxRuns[0].PIDGone {
		t.Errorf("runs: %+v", f.BoxRuns)
	}
	if !f.Files["~/out/DONE"].Exists || f.Files["none"].Exists || f.Files["log"].Tail != "epoch 3 done\n" {
		t.Errorf("files: %+v", f.Files)
	}

	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = work.Wait()
	e = look(t, s)
	if !e.Facts.ProcessesRead || len(matching(e, "train.py --name 实验 一 "+b.home)) != 0 || !e.Facts.BoxRuns[0].PIDGone {
		t.Errorf("the training has ended, and is still seen: %+v", e.Facts.BoxRuns)
	}
}

func TestOnlyThisMachineIsLookedAt(t *testing.T) {
	b := newBench(t)
	s := b.source()
	there := fleet.Instance{Ref: fleet.Ref{Account: "autodl:1", Kind: fleet.KindInstance, ID: "pro-1"}, Boot: "b1", State: fleet.StateRunning}
	if s.Applies(there) || !s.Applies(here()) {
		t.Error("it applies to another machine, or not to this one")
	}
	seen, err := s.Look(t.Context(), []fleet.Instance{there})
	if err != nil || len(seen) != 0 {
		t.Errorf("another machine got %d answers, %v", len(seen), err)
	}
}

func TestTheProgramsOfALookAreGivenNothingElse(t *testing.T) {
	b := newBench(t)
	t.Setenv("WECOM_KEY", "hunter2")
	b.standIn("nvidia-smi", `env >"$HOME/env"; echo "0, NVIDIA A100, 0, 1, 15.42, Disabled"`)
	look(t, b.source())
	env, err := os.ReadFile(filepath.Join(b.home, "env"))
	if err != nil || strings.Contains(string(env), "hunter2") || !strings.Contains(string(env), "HOME="+b.home) {
		t.Errorf("a program got %q, %v", env, err)
	}
}

func TestALookThatHangsEndsWithWhatItStarted(t *testing.T) {
	b := newBench(t)
	b.o.Timeout = 2 * time.Second
	b.o.Shell = filepath.Join(b.bin, "shell")
	pids := filepath.Join(b.home, "pids")
	b.standIn("shell", `echo $$ >`+pids+`; tail -f /dev/null & echo $! >>`+pids+`; wait`)
	s := b.source()
	began := time.Now()
	e := look(t, s)
	if e.Facts.Reached || e.Reason.Code != local.ReasonTimeout {
		t.Errorf("got %v", e.Reason)
	}
	if took := time.Since(began); took < 2*time.Second || took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	text, err := os.ReadFile(pids)
	if err != nil || len(strings.Fields(string(text))) != 2 {
		t.Fatalf("started: %q, %v", text, err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(5 * time.Second); alive(n); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Errorf("process %d lives on", n)
				break
			}
		}
	}
}

func TestAToolThatHangsHidesNothingElse(t *testing.T) {
	b := newBench(t)
	b.o.Timeout = 4 * time.Second
	b.standIn("nvidia-smi", "exec tail -f /dev/null --pid=$PPID")
	f := look(t, b.source()).Facts
	if !f.Reached || !f.ProcessesRead || f.Unreadable["cards"] != "nvidia-smi: timed out" {
		t.Errorf("reached %v, processes read %v, unreadable %v", f.Reached, f.ProcessesRead, f.Unreadable)
	}
}

func TestWhatAnswersIsNotALook(t *testing.T) {
	for _, c := range []struct {
		name, shell string
		code        fleet.Code
		says        string
	}{
		{"a shell that says something else", `echo "not today"`, local.ReasonGarbled, "not today"},
		{"a shell that fails", "exit 3", local.ReasonCommand, "exit status 3"},
		{"a shell without end", `exec yes`, local.ReasonCommand, "signal: killed"},
		{"no shell", "", local.ReasonCommand, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.o.Shell = filepath.Join(b.bin, "shell")
			if c.shell != "" {
				b.standIn("shell", c.shell)
			}
			e := look(t, b.source())
			said := fmt.Sprint(e.Reason.Values)
			if e.Facts.Reached || e.Reason.Code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("got %s %s", e.Reason.Code, said)
			}
		})
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	if _, err := local.New(local.Options{}); err == nil {
		t.Error("a source without a clock was made")
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
