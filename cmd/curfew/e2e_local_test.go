package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/notify/wecom/wecomtest"
	"curfew/providers/machines"
)

// TestEndToEndInside runs the program itself in the machine that it guards: real
// processes, the machine's own shell, a declared command in place of the power-off,
// and a chat. No sshd, and no network but the chat's. A test cannot end its own
// power cycle, so that alone is read from a folder.
func TestEndToEndInside(t *testing.T) {
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
		{"it powers off after its run, and tells so beforehand", poweredOff},
		{"a power-off that fails is told, and not tried again at once", notPoweredOff},
		{"a daemon killed during the power-off does not repeat it", killedInside},
		{"a hold file in the warning time calls it off", heldInside},
		{"a machine without a command for it is not announced", notDeclared},
	} {
		all.Go(func() { t.Run(story.name, func(t *testing.T) { story.tell(t, bin) }) })
	}
}

func poweredOff(t *testing.T, bin string) {
	// As a power-off does, it ends curfew before it is done itself.
	l := newInside(t, bin, `date +%s%N >>down; kill $PPID; until [ -e go ]; do sleep 0.1; done; echo off >>down`)
	end := l.trainHere()
	l.run()
	l.untilBusy("box-1")
	end(0)
	warning := l.untilTold("将关机：box-1（3秒后）")
	asked := l.untilTold("正在关机：box-1")
	l.until("curfew to end with the machine", l.hasEnded)
	if code := l.daemon.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the daemon ended with %d, want 0", code)
	}
	l.put("go", "")
	l.until("the command to go on without curfew", func() bool { return len(l.lines("down")) == 2 })
	var sent int64
	if _, err := fmt.Sscan(l.lines("down")[0], &sent); err != nil || asked.At.UnixNano() > sent {
		t.Errorf("the last message arrived at %s, after the command began at %s (%v)", asked.At, time.Unix(0, sent), err)
	}
	l.wantTitles("将关机：box-1", "正在关机：box-1")

	l.boots(2)
	l.run()
	done := l.untilTold("已关机：box-1")
	off := l.acts("stop box-1 done")[0]
	l.untilExplained("box-1", "runs in another boot, and nothing is asked there", func(e ctl.Explanation) bool {
		return e.Instance.Boot != off.Boot && e.Intent == nil && e.Action == fleet.Keep
	})
	l.quit()

	if off.Why.Code != execute.ReasonStartedAgain || len(off.Attempts) != 1 {
		t.Errorf("it ended as %s after %d attempts", off.Why.Code, len(off.Attempts))
	}
	if off.Deadline.Before(warning.At.Add(warnTime)) || sent < off.Deadline.UnixNano() {
		t.Errorf("warned at %s, due at %s, sent at %s", warning.At, off.Deadline, time.Unix(0, sent))
	}
	if low, high := fleet.CNY(1_980_000), fleet.CNY(2_060_000); off.Cost.Micros < low.Micros || off.Cost.Micros > high.Micros {
		t.Errorf("an hour and a few seconds at 1.98 CNY are said to have cost %s", off.Cost)
	}
	l.wantWords(warning, "box-1", "每小时 1.98 CNY", "local：空闲", "stop-after-training：", "结果未知：没有退出码", "`curfew hold box-1 2h`")
	l.wantWords(asked, "无法从外部核实", "每小时 1.98 CNY", "stop-after-training：", "结果未知：没有退出码", "epoch 3 done", "平台将于")
	l.wantWords(done, "随后又被人开机", "本次开机共花费", "请核对账单")
	l.wantTitles("将关机：box-1", "正在关机：box-1", "已关机：box-1")
	if n := len(l.lines("down")); n != 2 {
		t.Errorf("the command was run again: %d lines", n)
	}
}

func notPoweredOff(t *testing.T, bin string) {
	l := newInside(t, bin, `echo x >>down; echo 'must be root' >&2; exit 1`)
	end := l.trainHere()
	l.run()
	l.untilBusy("box-1")
	end(0)
	alarm := l.untilTold("关机失败：box-1")
	l.wantWords(alarm, "exit status 1: must be root", "仍在运行并计费")
	time.Sleep(5 * time.Second)
	i := l.acts("stop box-1 ")[0]
	if i.State != fleet.IntentWritten || len(i.Attempts) != 1 || i.Attempts[0].Kind != string(fleet.Other) {
		t.Errorf("it is %s after %+v", i.State, i.Attempts)
	}
	l.quit()
	l.wantTitles("将关机：box-1", "正在关机：box-1", "关机失败：box-1")
	if n := len(l.lines("down")); n != 1 {
		t.Errorf("the command was run %d times", n)
	}
}

func killedInside(t *testing.T, bin string) {
	l := newInside(t, bin, `echo x >>down; until [ -e go ]; do sleep 0.1; done; echo off >>down`)
	end := l.trainHere()
	l.run()
	l.untilBusy("box-1")
	end(0)
	l.until("the command to begin", func() bool { return len(l.lines("down")) == 1 })
	l.kill()
	l.run()
	time.Sleep(5 * time.Second)
	i := l.acts("stop box-1 ")[0]
	if i.State != fleet.IntentStarted || len(i.Attempts) != 1 {
		t.Errorf("in the same boot it is %s after %d attempts", i.State, len(i.Attempts))
	}
	if n := len(l.lines("down")); n != 1 {
		t.Errorf("the command was run %d times", n)
	}
	l.wantTitles("将关机：box-1", "正在关机：box-1")

	l.kill()
	l.put("go", "")
	l.boots(2)
	l.run()
	l.untilTold("已关机：box-1")
	l.quit()
	l.acts("stop box-1 done")
	l.wantTitles("将关机：box-1", "正在关机：box-1", "已关机：box-1")
	l.until("the command to have gone on by itself", func() bool { return slices.Equal(l.lines("down"), []string{"x", "off"}) })
}

func heldInside(t *testing.T, bin string) {
	l := newInside(t, bin, `echo x >>down`)
	l.change("    warn: 3s\n", "    warn: 8s\n")
	end := l.trainHere()
	l.run()
	l.untilBusy("box-1")
	end(0)
	l.untilTold("将关机：box-1（8秒后）")
	l.must(os.MkdirAll(l.path(".curfew"), 0o700))
	l.put(".curfew/hold", "1h\n")
	l.untilTold("已取消关机：box-1")
	called := l.acts("stop box-1 abandoned")[0]
	l.untilExplained("box-1", "was looked at after the deadline, and left alone", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Idle && e.Activity.SeenAt.After(called.Deadline.Add(2*time.Second)) &&
			e.Action == fleet.Keep && e.Reason.Code == guard.ReasonHeldInBox
	})
	l.quit()
	l.wantTitles("将关机：box-1", "已取消关机：box-1")
	if n := len(l.lines("down")); n != 0 {
		t.Errorf("the command was run %d times", n)
	}
}

func notDeclared(t *testing.T, bin string) {
	l := newInside(t, bin, "")
	end := l.trainHere()
	l.run()
	l.untilBusy("box-1")
	end(0)
	l.untilExplained("box-1", "cannot be stopped, and says why", func(e ctl.Explanation) bool {
		return e.Action == fleet.Keep && e.Reason.Code == machines.ReasonNoStop && e.Verdicts[0].Goal == fleet.Stop && e.Intent == nil
	})
	if told := l.curfew("explain", "box-1"); !bytes.Contains(told, []byte("stop: shutdown -h now")) {
		t.Errorf("explain does not say what to declare:\n%s", told)
	}
	l.quit()
	l.acts()
	l.wantTitles()
}

// newInside makes a machine of this one: with one card at rest, and without the
// terminals and the nvidia-smi calls that other boxes and people have here.
func newInside(t *testing.T, bin, stop string) *e2e {
	t.Helper()
	work := strings.ToLower(rand.Text()[:8])
	l := &e2e{t: t, dir: filepath.Join(filepath.Dir(bin), work), bin: bin, work: work, key: "key-" + rand.Text()}
	l.must(os.MkdirAll(l.path("bin"), 0o700))
	l.secrets = []string{l.key}
	for name, body := range map[string]string{
		"nvidia-smi": `echo "0, NVIDIA GeForce RTX 4090 D, 0, 4, 12.05, [N/A]"`,
		"who":        "exit 0",
		"stat":       `case "$*" in *"tty %X"*) exit 0;; esac; PATH=${PATH#*:}; exec stat "$@"`,
		"grep":       `case $1 in -la) exit 1;; esac; PATH=${PATH#*:}; exec grep "$@"`,
		"python":     `read -r code; echo "epoch 3 done" >"$HOME/train.log"; exit "${code:-9}"`,
	} {
		l.must(os.WriteFile(l.path("bin/"+name), []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	}
	l.env = []string{"PATH=" + l.path("bin") + ":/usr/bin:/bin"}
	l.boots(1)
	var group string
	l.robot, group = wecomtest.Start(t, l.key, time.Now)
	if stop != "" {
		stop = "\n        stop: |\n          cd " + l.dir + "\n          " + stop
	}
	l.put("curfew.yaml", `mode: enforce
timezone: Asia/Shanghai
language: zh
state: sqlite:`+l.path("curfew.db")+`
accounts:
  - name: own
    provider: machines
    poll: 5s
    machines:
      - name: box-1
        host: local`+stop+`
        price: 1.98 CNY
        billing: second
        on_stop: {ends_billing: yes, keeps_data: all}
        auto_release: 15d
signals:
  - {type: local, every: 1s, timeout: 5s}
policies:
  - name: stop-after-training
    type: training
    match: {account: own}
    process: 'python .*train.*`+work+`'
    log: `+l.path("train.log")+`
    grace: 2s
    confirm: {looks: 2, apart: 1s}
    warn: `+warnTime.String()+`
    then: stop
notify:
  channels:
    - {name: wx, type: wecom, key: {env: WECOM_KEY}, base_url: `+group+`}
`)
	t.Cleanup(func() {
		l.kill()
		l.put("go", "") // a command that curfew left to itself ends
		if t.Failed() {
			l.dump()
		}
	})
	return l
}

// boots writes the nth power cycle: the first began an hour ago, and each later one
// just now.
func (l *e2e) boots(n int) {
	l.t.Helper()
	since := time.Hour
	if n > 1 {
		since = 0
	}
	const up = 1000 * time.Hour // the host's
	l.must(os.MkdirAll(l.path("proc/1"), 0o700))
	l.must(os.MkdirAll(l.path("proc/sys/kernel/random"), 0o700))
	l.put("proc/stat", fmt.Sprintf("btime %d\n", time.Now().Add(-up).Unix()))
	l.put("proc/1/stat", fmt.Sprintf("1 (bash) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", (up-since)/(10*time.Millisecond)))
	l.put("proc/sys/kernel/random/boot_id", "5f0c5b36-3d2f-4f1b-9f58-0a9e0a2f4c11\n")
}

// trainHere starts a training run in this machine and gives what ends it.
func (l *e2e) trainHere() (end func(code int)) {
	l.t.Helper()
	run := exec.CommandContext(l.t.Context(), l.path("bin/python"), "train.py", "--name="+l.work)
	run.Env = []string{"HOME=" + l.dir, "PATH=/usr/bin:/bin"}
	in, err := run.StdinPipe()
	l.must(err)
	l.must(run.Start())
	l.t.Cleanup(func() { _ = in.Close(); _ = run.Wait() })
	return func(code int) {
		l.t.Helper()
		_, err := fmt.Fprintln(in, code)
		l.must(err)
		_ = run.Wait()
	}
}

func (l *e2e) put(name, content string) {
	l.t.Helper()
	l.must(os.WriteFile(l.path(name), []byte(content), 0o600))
}

// lines gives the lines of a file; none where there is no file.
func (l *e2e) lines(name string) []string {
	l.t.Helper()
	text, err := os.ReadFile(l.path(name))
	if os.IsNotExist(err) {
		return nil
	}
	l.must(err)
	return strings.Fields(string(text))
}

func (l *e2e) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// quit ends the daemon as a service manager does, and looks for secrets in what it
// left behind.
func (l *e2e) quit() {
	l.t.Helper()
	l.must(l.daemon.Process.Signal(syscall.SIGTERM))
	l.until("the daemon to end", l.hasEnded)
	if code := l.daemon.ProcessState.ExitCode(); code != 0 {
		l.t.Errorf("the daemon ended with %d, want 0", code)
	}
	l.journal()
	l.mu.Lock()
	places := map[string][]byte{"the daemon's output": bytes.Clone(l.said.Bytes()), "the commands' output": bytes.Clone(l.told.Bytes())}
	l.mu.Unlock()
	state, err := os.ReadFile(l.path("curfew.db"))
	l.must(err)
	places["the state"] = state
	for place, content := range places {
		if bytes.Contains(content, []byte(l.key)) {
			l.t.Errorf("%s holds the secret %s", place, l.key)
		}
	}
	if !bytes.Contains(state, []byte("box-1")) {
		l.t.Error("there is nothing to look for secrets in")
	}
}
