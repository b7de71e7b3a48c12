//go:build unix

package boxrun

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// role tells this test's own program to be the wrapper, or the command in it.
const role = "BOXRUN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "wrapper":
		must(os.Setenv(role, "command"))
		c, err := Start(os.Args[1], os.Args[1:])
		must(err)
		os.Exit(c.Wait())
	case "command":
		command(os.Args[1])
	}
	goleak.VerifyTestMain(m)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

// command notes every signal in a file, a line each, and ends at TERM.
func command(file string) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(err)
	fmt.Fprintln(f, "ready", os.Getpid())
	for s := range signals {
		fmt.Fprintln(f, unix.SignalName(s.(syscall.Signal)))
		if s == unix.SIGTERM {
			os.Exit(7)
		}
	}
}

// wrapped is a wrapper with a command in it.
type wrapped struct {
	t    *testing.T
	cmd  *exec.Cmd
	file string
}

func newWrapped(t *testing.T) *wrapped {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &wrapped{t: t, file: filepath.Join(t.TempDir(), "signals")}
	w.cmd = exec.Command(self, self, w.file)
	w.cmd.Args = []string{"wrapper", self, w.file}
	w.cmd.Env = append(os.Environ(), role+"=wrapper")
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Signal(syscall.SIGCONT)
			_ = w.cmd.Process.Signal(syscall.SIGTERM)
			_ = w.cmd.Wait()
		}
	})
	return w
}

func (w *wrapped) lines() []string {
	text, err := os.ReadFile(w.file)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func (w *wrapped) until(what string, so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s; noted: %q", what, w.lines())
		}
	}
}

func (w *wrapped) untilReady() (child int) {
	w.t.Helper()
	w.until("the command to be ready", func() bool {
		lines := w.lines()
		if len(lines) == 0 {
			return false
		}
		_, err := fmt.Sscanf(lines[0], "ready %d", &child)
		return err == nil
	})
	return child
}

// end ends the wrapper by TERM, which must reach the command and come back as its
// exit code; and what was noted before must be this.
func (w *wrapped) end(want ...string) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	_ = w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code != 7 {
		w.t.Errorf("it ended with %s, want 7", w.cmd.ProcessState)
	}
	got := strings.Join(w.lines()[1:], " ")
	if want := strings.Join(append(want, "SIGTERM"), " "); got != want {
		w.t.Errorf("the command got %s, want %s", got, want)
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	ignored := map[syscall.Signal]bool{unix.SIGHUP: signal.Ignored(unix.SIGHUP), unix.SIGINT: signal.Ignored(unix.SIGINT)}
	w := newWrapped(t)
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // nobody's keys
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.untilReady()
	var want []string
	for _, s := range []syscall.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH} {
		if ignored[s] {
			continue // whoever started the tests, such as nohup, had it ignored for all of them
		}
		want = append(want, unix.SignalName(s))
		if err := w.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		w.until(unix.SignalName(s), func() bool { return len(w.lines()) == len(want)+1 })
	}
	w.end(want...)
}

func TestAKeyReachesTheCommandOnce(t *testing.T) {
	w := newWrapped(t)
	tty, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	w.untilReady()
	for key, name := range map[string]string{"\x03": "SIGINT", "\x1c": "SIGQUIT"} {
		before := len(w.lines())
		if _, err := tty.WriteString(key); err != nil {
			t.Fatal(err)
		}
		w.until(name, func() bool { return len(w.lines()) > before })
	}
	before := len(w.lines())
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	w.until("the new size", func() bool { return len(w.lines()) > before })
	noted := strings.Join(w.lines()[1:], " ")
	if noted != "SIGINT SIGQUIT SIGWINCH" && noted != "SIGQUIT SIGINT SIGWINCH" {
		t.Errorf("the command got %s", noted)
	}
	w.end(strings.Fields(noted)...)
}

func TestAStopStopsBoth(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("states are read from /proc")
	}
	w := newWrapped(t)
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // in a session with a parent, where a stop is possible
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{w.cmd.Process.Pid, w.untilReady()}
	states := func() string {
		var out string
		for _, pid := range pids {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, after, _ := strings.Cut(string(stat), ") ")
			out += after[:min(1, len(after))]
		}
		return out
	}
	if err := w.cmd.Process.Signal(unix.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	w.until("both to be stopped", func() bool { return states() == "TT" })
	if err := w.cmd.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.until("both to go on", func() bool { return !strings.Contains(states(), "T") })
	w.end()
}

func TestExitCodesAreThoseOfAShell(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         int
	}{
		{"success", "exit 0", 0},
		{"failure", "exit 41", 41},
		{"killed", "kill -9 $$", 137},
		{"terminated", "kill -TERM $$", 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			child, err := Start("/bin/sh", []string{"sh", "-c", c.script})
			if err != nil {
				t.Fatal(err)
			}
			if got := child.Wait(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, command string
		want          int
	}{
		{"a command that is there", "sh", 0},
		{"one that nobody knows", "no-such-command-anywhere", NotFound},
		{"a path where nothing is", filepath.Join(dir, "nothing"), NotFound},
		{"a file that may not be run", plain, NotRunnable},
		{"a folder", dir, NotRunnable},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, code, err := Find(c.command)
			if code != c.want || (err == nil) != (c.want == 0) || (path != "") != (c.want == 0) {
				t.Errorf("got %q, %d, %v; want %d", path, code, err, c.want)
			}
		})
	}
}
