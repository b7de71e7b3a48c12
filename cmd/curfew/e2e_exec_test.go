package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"curfew/fleet"
	"curfew/internal/boxrun"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/policies"
)

// TestEndToEndExec types curfew exec --then stop -- COMMAND in a machine, with the
// program itself: the guard it starts, real processes, a chat, and a command in place
// of the power-off.
func TestEndToEndExec(t *testing.T) {
	long(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("a look needs /proc")
	}
	bin := buildProgram(t, "main.proc=proc")
	var all sync.WaitGroup
	defer all.Wait()
	for _, story := range []struct {
		name string
		tell func(t *testing.T, bin string)
	}{
		{"the machine is stopped after the run, and the last message says all of it", stoppedAfterExec},
		{"a run that was killed is followed by a stop, its outcome unknown", killedExec},
		{"a run whose wrapper was killed goes on until it is over itself", orphanedRun},
		{"a hold file keeps the machine", heldExec},
		{"the guard outlives the terminal", hungUpExec},
		{"a power-off that fails is told", failedPowerOff},
		{"a later run without the wish takes it back, and the guard ends", wishTakenBack},
		{"of two runs the longer is waited for", twoAtOnce},
		{"what cannot be promised is told before anything starts", notPromised},
		{"a daemon is used where it acts, and refused where it only tells", beforeADaemon},
		{"a training without exec calls the stop off", patternTakesBack},
		{"a guard that died meanwhile is started again, and it is told if that fails", guardDies},
		{"nobody reading what it says ends neither it nor the training", nobodyReads},
		{"the guard keeps none of the files that exec was given", guardAlone},
		{"without the wish nothing is needed", execAlone},
	} {
		all.Go(func() { t.Run(story.name, func(t *testing.T) { story.tell(t, bin) }) })
	}
}

// powersOff is a command that ends the guard with the machine, as a power-off does.
const powersOff = `date +%s%N >>down; kill $PPID`

func stoppedAfterExec(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	r := l.exec("--then", "stop", "--name", "llama", "--log", "train.log")
	g := l.guard()
	l.untilBusy("box-1")
	if told := r.said(); !strings.Contains(told, "结束 2秒后预告") || strings.Count(told, "\n") != 1 {
		t.Errorf("it said:\n%s", told)
	}
	r.end(3)
	if code := r.wait(); code != 3 {
		t.Errorf("exec ended with %d, want the command's 3", code)
	}
	warning := l.untilTold("将关机：box-1（3秒后）")
	asked := l.untilTold("正在关机：box-1")
	l.until("the power-off", func() bool { return len(l.lines("down")) == 1 })
	l.untilGone(g)
	l.wantWords(warning, "llama", "失败，退出码 3", "每小时 1.98 CNY", "curfew hold box-1 2h")
	l.wantWords(asked, "llama", "失败，退出码 3", "日志末尾", "epoch 3 done", "起约 ", " CNY · 价格取自配置", "无法从外部核实")
	off := l.acts("stop box-1 ")[0]
	if v := off.Verdicts[0]; v.Policy != "exec" || v.Ground.Outcome != fleet.OutcomeFailed || len(off.Verdicts) != 1 {
		t.Errorf("it was stopped by %+v", off.Verdicts)
	}
	if !strings.Contains(r.stdout(), "epoch 3") || strings.Contains(r.stdout(), "curfew") {
		t.Errorf("the command's output is not its own:\n%s", r.stdout())
	}
}

func killedExec(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	r := l.exec("--then", "stop")
	g := l.guard()
	l.untilBusy("box-1")
	l.must(r.cmd.Process.Kill())
	r.end(0)
	asked := l.untilTold("正在关机：box-1")
	l.untilGone(g)
	l.wantWords(asked, "train.py", "结果未知：没有退出码")
	l.acts("stop box-1 ")
}

func orphanedRun(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	r := l.exec("--then", "stop")
	g := l.guard()
	l.untilBusy("box-1")
	l.must(r.cmd.Process.Kill())
	killed := time.Now()
	l.untilExplained("box-1", "is still busy some looks later", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Busy && e.Activity.SeenAt.After(killed.Add(4*time.Second)) && e.Reason.Code == policies.ReasonRunOpen
	})
	r.end(0)
	l.untilTold("正在关机：box-1")
	l.untilGone(g)
}

func heldExec(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	r := l.exec("--then", "stop")
	l.guard()
	l.put(".curfew/hold", "1h\n")
	r.end(0)
	if code := r.wait(); code != 0 {
		t.Errorf("exec ended with %d", code)
	}
	ended := time.Now()
	l.untilExplained("box-1", "is held although it would be stopped", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Idle && e.Activity.SeenAt.After(ended.Add(8*time.Second)) &&
			e.Action == fleet.Keep && e.Reason.Code == guard.ReasonHeldInBox && e.Intent == nil
	})
	l.wantTitles()
	l.must(os.Remove(l.path(".curfew/hold")))
	l.untilTold("正在关机：box-1")
	l.until("the power-off", func() bool { return len(l.lines("down")) == 1 })
}

func hungUpExec(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	cmd := l.command("exec", "--then", "stop", "--", "python", "train.py", "--name="+l.work)
	tty, err := pty.Start(cmd)
	l.must(err)
	g := l.guard()
	l.untilBusy("box-1")
	l.must(tty.Close())
	_ = cmd.Wait()
	// The terminal's end reaches the command twice: as a signal, and as the end of what
	// it reads. Either may come first.
	code := cmd.ProcessState.ExitCode()
	if code != 129 && code != readsNothing {
		t.Errorf("exec ended with %s, want 129 or %d: its command was hung up", cmd.ProcessState, readsNothing)
	}
	if syscall.Kill(g, 0) != nil {
		t.Error("the guard went with the terminal")
	}
	asked := l.untilTold("正在关机：box-1")
	l.wantWords(asked, fmt.Sprintf("失败，退出码 %d", code))
	l.untilGone(g)
}

// readsNothing is how the stand-in of a training ends that is told nothing.
const readsNothing = 9

func failedPowerOff(t *testing.T, bin string) {
	l := newBox(t, bin, `echo x >>down; echo 'must be root' >&2; exit 1`)
	r := l.exec("--then", "stop")
	g := l.guard()
	r.end(0)
	r.wait()
	alarm := l.untilTold("关机失败：box-1")
	l.wantWords(alarm, "exit status 1: must be root", "仍在运行并计费")
	if syscall.Kill(g, 0) != nil {
		t.Error("the guard has ended, and the machine runs on")
	}
}

func wishTakenBack(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	l.change("warn: 3s", "warn: 10m")
	first := l.exec("--then", "stop")
	g := l.guard()
	first.end(0)
	first.wait()
	l.untilTold("将关机：box-1")
	time.Sleep(1100 * time.Millisecond) // run files tell whole seconds
	second := l.exec()
	second.end(0)
	if code := second.wait(); code != 0 {
		t.Errorf("exec ended with %d", code)
	}
	l.untilTold("已取消关机：box-1")
	l.untilGone(g)
	l.acts("stop box-1 abandoned")
	l.wantTitles("将关机：box-1", "已取消关机：box-1")
	if n := len(l.lines("down")); n != 0 {
		t.Errorf("the command was run %d times", n)
	}
}

func twoAtOnce(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	one, two := l.exec("--then", "stop"), l.exec("--then", "stop")
	g := l.guard()
	l.untilExplained("box-1", "has two runs", func(e ctl.Explanation) bool {
		return len(e.Runs) == 2 && e.Runs[0].Open() && e.Runs[1].Open()
	})
	one.end(0)
	one.wait()
	ended := time.Now()
	l.untilExplained("box-1", "waits for the other", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Busy && e.Activity.SeenAt.After(ended.Add(4*time.Second))
	})
	l.wantTitles()
	two.end(0)
	two.wait()
	l.untilTold("正在关机：box-1")
	l.untilGone(g)
}

func notPromised(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	good, err := os.ReadFile(l.path("curfew.yaml"))
	l.must(err)
	refused := func(code int, words ...string) {
		t.Helper()
		r := l.exec("--then", "stop")
		if got := r.wait(); got != code {
			t.Errorf("exec ended with %d, want %d", got, code)
		}
		for _, w := range words {
			if !strings.Contains(r.stderr(), w) {
				t.Errorf("it does not say %q:\n%s", w, r.stderr())
			}
		}
		if files, err := os.ReadDir(boxrun.Folder(l.dir)); err == nil && len(files) > 0 {
			t.Errorf("a run was noted: %v", files)
		}
		if l.lines("began") != nil {
			t.Error("the command was started")
		}
	}
	for _, c := range []struct {
		what, to string
		words    []string
	}{
		{"        on_stop: {ends_billing: yes, keeps_data: all}\n", "", []string{"on_stop: {ends_billing: yes, keeps_data: all}"}},
		{"keeps_data: all", "keeps_data: part", []string{"保留全部数据"}},
		{"ends_billing: yes", "ends_billing: no", []string{"ends_billing: no"}},
		{"host: local", "hots: local", []string{"curfew.yaml:10:9: accounts[0].machines[0]: host is missing", "hots: is not a known key here; did you mean host?"}},
		{"grace: 2s", "grace: 2", []string{"has no unit"}},
		{"signals:", "protect: {names: \"box-*\"}\nsignals:", []string{"受保护"}},
	} {
		l.put("curfew.yaml", string(good))
		l.change(c.what, c.to)
		refused(exitUsage, append(c.words, "训练没有启动")...)
	}
	l.put("curfew.yaml", strings.Split(string(good), "notify:")[0])
	refused(exitUsage, "没有通知渠道")
	l.put("curfew.yaml", strings.Split(string(good), "notify:")[0]+"notify: {channels: [{name: me, type: console}]}\n")
	refused(exitUsage, "没人看的日志文件")
	l.put("curfew.yaml", string(good))
	l.change("stop: |", "labels:") // the command's lines become a label's
	l.change("          cd "+l.dir+"\n          "+powersOff, "          a: b")
	refused(exitUsage, "没有说明如何关机")
	l.put("curfew.yaml", string(good))
	l.change("{env: WECOM_KEY}", "{env: NO_SUCH_KEY}")
	refused(exitFailed, "守护进程未能启动", "NO_SUCH_KEY", "guard.log")
	l.put("curfew.yaml", string(good))
	if _, err := os.Stat("/dev/full"); err == nil {
		l.must(os.Remove(l.path(".curfew/guard.log")))
		l.must(os.Symlink("/dev/full", l.path(".curfew/guard.log")))
		refused(exitFailed, "守护进程未能启动", "no space left on device")
	}
	l.must(os.Remove(l.path("curfew.yaml")))
	refused(exitUsage, "没有配置文件 "+l.path("curfew.yaml"), "curfew init --box")
	l.wantTitles()
}

func beforeADaemon(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	l.run()
	r := l.exec("--then", "stop")
	if code := r.wait(); code != exitUsage || !strings.Contains(r.stderr(), "演练模式") || l.lines("began") != nil {
		t.Errorf("before a daemon that only tells it ended with %d:\n%s", code, r.stderr())
	}
	l.quit()

	l.change("mode: dry-run", "mode: enforce")
	l.run()
	r = l.exec("--then", "stop")
	r.end(0)
	if code := r.wait(); code != 0 {
		t.Errorf("before a daemon that acts it ended with %d:\n%s", code, r.stderr())
	}
	l.untilTold("正在关机：box-1")
	l.until("the daemon to end", l.hasEnded)
	if _, err := os.Stat(l.path(".curfew/guard.log")); !os.IsNotExist(err) {
		t.Errorf("a guard was started beside the daemon: %v", err)
	}
	l.must(os.Remove(l.path("down")))

	// The other way round the daemon has to wait.
	r = l.exec("--then", "stop")
	g := l.guard()
	daemon := l.command("run")
	said := &bytes.Buffer{}
	daemon.Stderr = said
	_ = daemon.Run()
	if want := fmt.Sprintf("kill %d", g); daemon.ProcessState.ExitCode() != exitFailed || !strings.Contains(said.String(), want) {
		t.Errorf("the daemon ended with %s and does not say %q:\n%s", daemon.ProcessState, want, said)
	}
	l.must(syscall.Kill(g, syscall.SIGTERM))
	l.untilGone(g)
	r.end(0)
	r.wait()
}

// patternTakesBack starts, in the warning time, a training that only the file's own
// policy knows.
func patternTakesBack(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	l.change("warn: 3s", "warn: 10m")
	l.change("notify:\n", "policies:\n  - {name: own-runs, type: training, match: {account: own}, process: 'python .*train.*"+l.work+
		"', confirm: {looks: 2, apart: 1s}, then: stop}\nnotify:\n")
	first := l.exec("--then", "stop")
	g := l.guard()
	l.untilBusy("box-1")
	first.end(0)
	first.wait()
	l.untilTold("将关机：box-1")
	time.Sleep(1100 * time.Millisecond) // runs tell whole seconds
	end := l.trainHere()
	l.untilTold("已取消关机：box-1")
	end(0)
	l.untilGone(g)
	l.wantTitles("将关机：box-1", "已取消关机：box-1")
	if n := len(l.lines("down")); n != 0 {
		t.Errorf("the command was run %d times", n)
	}
}

func guardDies(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	r := l.exec("--then", "stop")
	g := l.guard()
	l.untilBegun()
	l.must(syscall.Kill(g, syscall.SIGKILL))
	l.untilGone(g)
	r.end(4)
	if code := r.wait(); code != 4 || strings.Count(r.said(), "\n") != 1 {
		t.Errorf("exec ended with %d, and said:\n%s", code, r.stderr())
	}
	if again := l.guard(); again == g {
		t.Errorf("the guard is still %d", g)
	}
	asked := l.untilTold("正在关机：box-1")
	l.wantWords(asked, "失败，退出码 4")
	l.until("the power-off", func() bool { return len(l.lines("down")) == 1 })

	l = newBox(t, bin, powersOff)
	r = l.exec("--then", "stop")
	g = l.guard()
	l.untilBegun()
	l.must(syscall.Kill(g, syscall.SIGKILL))
	l.untilGone(g)
	l.put("curfew.yaml", "mode: [\n")
	r.end(4)
	if code := r.wait(); code != 4 || !strings.Contains(r.stderr(), "任务已结束，但 box-1 不会关机") || !strings.Contains(r.stderr(), "守护进程未能启动") {
		t.Errorf("exec ended with %d, and said:\n%s", code, r.stderr())
	}
}

func nobodyReads(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	read, write, err := os.Pipe()
	l.must(err)
	l.must(read.Close())
	cmd := l.command("exec", "--then", "stop", "--", "sh", "-c", `kill -PIPE $$; echo "it is ignored"`)
	cmd.Stdout, cmd.Stderr = write, write
	_ = cmd.Run()
	l.must(write.Close())
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGPIPE) {
		t.Errorf("exec ended with %s, want its command's end by the signal", cmd.ProcessState)
	}
	asked := l.untilTold("正在关机：box-1")
	l.wantWords(asked, "失败，退出码 141")
	t.Run("what never began leaves no wish", func(t *testing.T) {
		l := newBox(t, bin, powersOff)
		l.must(os.WriteFile(l.path("bin/alien"), []byte("\x7fELF\x00"), 0o700))
		read, write, err := os.Pipe()
		l.must(err)
		l.must(read.Close())
		cmd := l.command("exec", "--then", "stop", "--", "alien")
		cmd.Stderr = write
		_ = cmd.Run()
		l.must(write.Close())
		if code := cmd.ProcessState.ExitCode(); code != boxrun.NotRunnable {
			t.Errorf("exec ended with %s", cmd.ProcessState)
		}
		if files, err := os.ReadDir(boxrun.Folder(l.dir)); err != nil || len(files) != 0 {
			t.Errorf("a run was noted: %v, %v", files, err)
		}
	})
}

func guardAlone(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	read, write, err := os.Pipe()
	l.must(err)
	defer read.Close()
	cmd := l.command("exec", "--then", "stop", "--", "sh", "-c", "echo mine >&3")
	cmd.ExtraFiles = []*os.File{write}
	l.must(cmd.Run())
	l.must(write.Close())
	got := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(read) // until nobody has the other end
		got <- string(text)
	}()
	select {
	case text := <-got:
		if text != "mine\n" {
			t.Errorf("the command wrote %q", text)
		}
	case <-time.After(20 * time.Second):
		t.Error("the guard holds the pipe open")
	}
	l.guard()
}

func execAlone(t *testing.T, bin string) {
	l := newBox(t, bin, powersOff)
	l.must(os.Remove(l.path("curfew.yaml")))
	r := l.exec()
	l.until("the run to be noted", func() bool {
		files, err := os.ReadDir(boxrun.Folder(l.dir))
		return err == nil && len(files) == 1
	})
	l.must(r.cmd.Process.Signal(syscall.SIGTERM))
	if code := r.wait(); code != 143 {
		t.Errorf("exec ended with %d, want 143: its command was terminated", code)
	}
	if r.stderr() != "" {
		t.Errorf("it said:\n%s", r.stderr())
	}
	t.Run("where nothing can be noted the run goes on", func(t *testing.T) {
		l.must(os.RemoveAll(l.path(".curfew")))
		l.put(".curfew", "")
		r := l.exec()
		r.end(5)
		if code := r.wait(); code != 5 || strings.Count(r.stderr(), "\n") != 1 || !strings.Contains(r.stderr(), "not a directory") {
			t.Errorf("it ended with %d and said:\n%s", code, r.stderr())
		}
		if r := l.exec("--then", "stop"); r.wait() == 0 {
			t.Error("and with --then stop, too")
		}
	})
}

// newBox makes a machine of this one, with the configuration that init --box writes
// and short times. It runs in its real power cycle for a guard, which works from the
// root folder.
func newBox(t *testing.T, bin, stop string) *e2e {
	t.Helper()
	l := newInside(t, bin, stop)
	l.must(os.MkdirAll(l.path(".curfew"), 0o700))
	l.change("mode: enforce\n", "mode: dry-run\n")
	text, err := os.ReadFile(l.path("curfew.yaml"))
	l.must(err)
	head, rest, _ := strings.Cut(string(text), "policies:\n")
	_, channels, _ := strings.Cut(rest, "notify:\n")
	l.put("curfew.yaml", head+"exec: {grace: 2s, warn: "+warnTime.String()+"}\nnotify:\n"+channels)
	l.must(os.WriteFile(l.path("bin/python"), []byte("#!/bin/sh\necho x >>\"$HOME/began\"\n"+
		`read -r code; echo "epoch 3 done" | tee "$HOME/train.log"; exit "${code:-9}"`+"\n"), 0o700))
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(l.path(".curfew/guard.log"))
			t.Logf("the guard's log:\n%s", log)
		}
		if pid := l.guardPID(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return l
}

// guardPID is the process of the guard that answers; 0 if none does.
func (l *e2e) guardPID() int {
	s, err := ctl.NewClient(ctl.SocketPath("sqlite:" + l.path("curfew.db"))).Status(l.t.Context())
	if err != nil {
		// After a test its context is done; the guard is then found by what it runs.
		found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range found {
			words, _ := os.ReadFile(file)
			if bytes.Contains(words, []byte("\x00guard\x00")) && bytes.Contains(words, []byte(l.dir)) {
				var pid int
				_, _ = fmt.Sscanf(file, "/proc/%d/cmdline", &pid)
				return pid
			}
		}
	}
	return s.Exec.Guard
}

// guard waits for the guard that exec starts, and gives its process id.
func (l *e2e) guard() (pid int) {
	l.t.Helper()
	l.until("a guard to answer", func() bool {
		s, err := ctl.NewClient(ctl.SocketPath("sqlite:" + l.path("curfew.db"))).Status(l.t.Context())
		pid = s.Exec.Guard
		return err == nil && pid > 0 && s.Instances > 0
	})
	return pid
}

// untilGone waits for a process to end. What nobody waits for may stay as a zombie.
func (l *e2e) untilGone(pid int) {
	l.t.Helper()
	l.until("the guard to end", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// untilBegun waits until the training has begun: only then does exec know its guard.
func (l *e2e) untilBegun() {
	l.t.Helper()
	l.until("the training to begin", func() bool { return len(l.lines("began")) == 1 })
}

// running is one curfew exec.
type running struct {
	l        *e2e
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *os.File
}

// exec runs a training by curfew exec with flags. Its outputs are files: pipes would be held open by
// what outlives it.
func (l *e2e) exec(flags ...string) *running {
	l.t.Helper()
	args := append(append([]string{"exec"}, flags...), "--", "python", "train.py", "--name="+l.work)
	r := &running{l: l, cmd: l.command(args...)}
	r.cmd.Env = append(r.cmd.Env, "LANG=zh_CN.UTF-8")
	var err error
	r.in, err = r.cmd.StdinPipe()
	l.must(err)
	r.out, err = os.CreateTemp(l.dir, "stdout")
	l.must(err)
	r.err, err = os.CreateTemp(l.dir, "stderr")
	l.must(err)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.err
	l.must(r.cmd.Start())
	l.t.Cleanup(func() {
		_ = r.in.Close()
		_ = r.cmd.Wait()
		_, _ = r.out.Close(), r.err.Close()
	})
	return r
}

// end lets the training end with a code.
func (r *running) end(code int) {
	r.l.t.Helper()
	_, err := fmt.Fprintln(r.in, code)
	r.l.must(err)
}

func (r *running) wait() int {
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) stdout() string { return r.read(r.out) }

func (r *running) stderr() string { return r.read(r.err) }

// said is what curfew itself says, but for the line that a guard is waited for: that
// depends on how fast this machine is.
func (r *running) said() string {
	r.l.t.Helper()
	return strings.TrimPrefix(r.stderr(), "curfew: 正在等待守护进程启动，随后开始训练\n")
}

func (r *running) read(f *os.File) string {
	r.l.t.Helper()
	text, err := os.ReadFile(f.Name())
	r.l.must(err)
	return string(text)
}
