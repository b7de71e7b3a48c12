package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curfew/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shell(script string) proc.Command {
	return proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Limit: 100, Said: 10}
}

// run runs a command for at most a time that none takes unless it hangs.
func run(t *testing.T, c proc.Command, within time.Duration) proc.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	began := time.Now()
	r := proc.Start(c).Wait(ctx)
	if took := time.Since(began); took > within+4*time.Second {
		t.Errorf("it took %s", took)
	}
	return r
}

func TestWhatBecomesOfACommand(t *testing.T) {
	for _, c := range []struct {
		name, script string
		out, said    string
		over         bool
		err          string
	}{
		{name: "it answers", script: "echo one; echo two >&2", out: "one\n", said: "two\n"},
		{name: "it fails", script: "echo one; exit 3", out: "one\n", err: "exit status 3"},
		{name: "it complains at length", script: "echo 1234567890123 >&2", said: "1234567890"},
		{name: "it writes without end", script: "exec yes", out: strings.Repeat("y\n", 50), over: true, err: "signal: killed"},
		{name: "it writes without end and does not want to go", script: "trap '' TERM HUP INT PIPE; while :; do echo y; done", out: strings.Repeat("y\n", 50), over: true, err: "signal: killed"},
		{name: "it leaves something behind that holds its output", script: "tail -f /dev/null & echo one", out: "one\n", err: proc.ErrHeld.Error()},
		{name: "it leaves something behind that does not", script: "sleep 0.1 >/dev/null 2>&1 & echo one", out: "one\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, shell(c.script), time.Minute)
			err := ""
			if r.Err != nil {
				err = r.Err.Error()
			}
			if string(r.Out) != c.out || string(r.Said) != c.said || r.Over != c.over || r.Late || err != c.err {
				t.Errorf("got %q, %q, over %v, late %v, %v", r.Out, r.Said, r.Over, r.Late, r.Err)
			}
		})
	}
}

func TestTheLastOfBothOutputsIsKept(t *testing.T) {
	c := shell("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; echo no such bucket >&2; exit 4")
	c.Tail = 24
	r := run(t, c, time.Minute)
	if string(r.Out) != "ine 4999\nno such bucket\n" || r.Over || r.Err == nil || r.Err.Error() != "exit status 4" {
		t.Errorf("got %q, over %v, %v", r.Out, r.Over, r.Err)
	}
}

func TestItReadsWhatItIsGiven(t *testing.T) {
	c := shell("")
	c.Args, c.Stdin = []string{"sh", "-s"}, []byte("echo hello\n")
	if r := run(t, c, time.Minute); string(r.Out) != "hello\n" || r.Err != nil {
		t.Errorf("got %q, %v", r.Out, r.Err)
	}
}

func TestNothingOfTheEnvironmentIsPassedOn(t *testing.T) {
	t.Setenv("WECOM_KEY", "hunter2")
	c := shell("echo $WECOM_KEY")
	c.Env = nil
	if r := run(t, c, time.Minute); string(r.Out) != "\n" || r.Err != nil {
		t.Errorf("got %q, %v", r.Out, r.Err)
	}
}

func TestWhatHangsEndsWithAllThatItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := run(t, shell("trap '' TERM HUP INT; (trap '' TERM; tail -f /dev/null) & echo $$ $! >"+pids+"; echo one; wait"), time.Second)
	if !r.Late || !errors.Is(r.Err, context.DeadlineExceeded) || string(r.Out) != "one\n" {
		t.Errorf("got %q, late %v, %v", r.Out, r.Late, r.Err)
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

func TestWhatCannotBeStartedHasEnded(t *testing.T) {
	r := proc.Start(proc.Command{Path: "/nowhere/sh", Args: []string{"sh"}})
	select {
	case <-r.Ended():
	default:
		t.Error("it has not ended")
	}
	if got := r.Wait(t.Context()); !errors.Is(got.Err, os.ErrNotExist) || got.Late {
		t.Errorf("got %+v", got)
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
