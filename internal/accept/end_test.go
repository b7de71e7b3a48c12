package accept_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/boxsh"
	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

// sleepers counts the processes of this machine that sleep for so many seconds.
func sleepers(t *testing.T, seconds string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if line, err := os.ReadFile(f); err == nil && string(line) == "sleep\x00"+seconds+"\x00" {
			n++
		}
	}
	return n
}

// until waits for what comes about by itself.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); runtime.Gosched() {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// A program that hangs is ended, and what has nothing to do with it is read.
func TestANvidiaSMIThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	m.server.SetNvidiaSMI("exec sleep 98711")
	want := m.wanted()
	want.Timeout = 8 * time.Second
	began := time.Now()
	r, res := m.examine(want)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	told(t, res.Unknown, "cards: not known, since the time was over before", "CUDA: not known", "load: not known, since the time was over")
	told(t, res.Passed, "direct write: ", "/dev/shm: ")
	if r.Cores.Value <= 0 || !res.OK() {
		t.Errorf("%+v\n%s", r.Cores, says(t, res.Fails))
	}
	until(t, "nothing is left of it", func() bool { return sleepers(t, "98711") == 0 })
	m.clean()
}

// Whoever ends an examination in the middle of a write leaves nothing: neither a file
// nor a process.
func TestKilledInTheMiddleNothingIsLeft(t *testing.T) {
	for name, end := range map[string]func(m *machine, cancel context.CancelFunc){
		"98712": func(_ *machine, cancel context.CancelFunc) { cancel() },
		"98713": func(m *machine, _ context.CancelFunc) { m.proxy.Break() },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, sshdtest.Options{})
			m.furnish()
			// It writes for real, and then hangs.
			m.server.StandIn("dd", "/bin/dd if=/dev/zero of=/proc/self/fd/5 bs=4096 count=4 2>/dev/null; exec sleep "+name)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() {
				_, err := m.examiner().Examine(ctx, m.instance(), m.wanted())
				done <- err
			}()
			until(t, "it writes", func() bool { return sleepers(t, name) > 0 })
			m.clean() // not even while it writes
			end(m, cancel)
			if err := <-done; name == "98712" && !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			until(t, "nothing is left of it", func() bool { return sleepers(t, name) == 0 })
			m.clean()
		})
	}
}

func TestAWriteThatTakesTooLongIsMeasuredAllTheSame(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	// It tells how far it came when it is asked, as dd does.
	m.server.StandIn("dd", "trap 'echo \"41943040 bytes (42 MB, 40 MiB) copied, 20.1 s, 2.1 MB/s\" >&2' USR1; while :; do /bin/sleep 0.2; done")
	want := m.wanted()
	want.Off = []accept.Check{accept.CheckSteady, accept.CheckFramework, accept.CheckAllReduce}
	_, res := m.examine(want)
	told(t, res.Fails, "direct write: 2.09 MB/s is less than 500 MB/s")
	m.clean()
}

func TestTheMachineCurfewRunsInIsExaminedWithoutALogin(t *testing.T) {
	x := &accept.Examiner{Now: time.Now, Login: boxsh.Login{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.TempDir()}}}
	want := accept.Defaults()
	want.Off, want.Timeout = []accept.Check{accept.CheckDisk}, time.Minute
	r, err := x.Examine(t.Context(), fleet.Instance{Here: true}, want)
	if err != nil || !r.Cores.Known || !r.Memory.Known || !r.Free.Known {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatCannotBeLoggedInToIsNotExamined(t *testing.T) {
	m := newMachine(t, sshdtest.Options{})
	m.server.Lock(true)
	if _, err := m.examiner().Examine(t.Context(), m.instance(), m.wanted()); err == nil || !strings.Contains(err.Error(), "login refused") {
		t.Errorf("got %v", err)
	}
	b, err := m.examiner().Bootstrap(t.Context(), m.instance(), accept.Bootstrap{Script: "true", Timeout: time.Minute})
	if err != nil || b.Begun || b.Why.Code != accept.BootUnreachable {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestALookSeesNothingOfAnExamination(t *testing.T) {
	t.Parallel()
	m := newMachine(t, sshdtest.Options{})
	m.furnish()
	m.server.StandIn("dd", "exec sleep 98714")
	ctx, cancel := context.WithCancel(t.Context())
	x, done := m.examiner(), make(chan error)
	go func() {
		_, err := x.Examine(ctx, m.instance(), m.wanted())
		done <- err
	}()
	until(t, "it writes", func() bool { return sleepers(t, "98714") > 0 })
	look, err := ssh.New(ssh.Options{Key: m.server.KeyPEM, Access: x.Access, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	i := m.instance()
	seen, err := look.Look(t.Context(), []fleet.Instance{i})
	facts := seen[i.Ref][0].Facts
	if err != nil || !facts.ProcessesRead || len(facts.Processes) == 0 {
		t.Fatalf("no look: %+v, %v", seen, err)
	}
	for _, p := range facts.Processes {
		if strings.Contains(p.Command, "98714") || strings.Contains(p.Command, "curfew-accept") {
			t.Errorf("a look sees %q", p.Command)
		}
	}
	cancel()
	<-done
	if err := look.Close(); err != nil {
		t.Error(err)
	}
	until(t, "nothing is left of it", func() bool { return sleepers(t, "98714") == 0 })
}
