package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/sshx/sshdtest"
	"curfew/notify/wecom/wecomtest"
	"curfew/policies"
	"curfew/providers/autodl/autodltest"
	"curfew/signals"
	sshsignal "curfew/signals/ssh"
)

// TestEndToEnd runs the program itself, with the design's configuration and
// short times, against doubles of the platform and of the chat, a real sshd and
// real processes.
func TestEndToEnd(t *testing.T) {
	long(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the box is this machine, and a look needs /proc")
	}
	bin := buildProgram(t)
	// They wait more than they work, so that it is not the number of processors
	// that says how many are told at once.
	var all sync.WaitGroup
	defer all.Wait()
	for _, story := range []struct {
		name string
		tell func(t *testing.T, bin string)
	}{
		{"an instance is stopped after its run", stopped},
		{"an instance is released after a run that succeeded", released},
		{"what is busy, out of sight or protected is left alone", leftAlone},
		{"a hold in the warning time calls the stop off", held},
		{"a daemon killed while it stops an instance stops it once", killed},
		{"port, host key and password change with the boot", bootedAgain},
	} {
		all.Go(func() { t.Run(story.name, func(t *testing.T) { story.tell(t, bin) }) })
	}
}

func stopped(t *testing.T, bin string) {
	l := newE2E(t, bin, nil)
	id := l.add(autodltest.Machine{Name: "exp-1"})
	end := l.train(false)
	l.run()
	l.untilBusy("exp-1")
	end(0)
	warning := l.untilTold("将关机：exp-1（3秒后）")
	done := l.untilTold("已关机：exp-1")
	l.stop()

	stop := l.acts("stop exp-1 done")[0]
	l.wantWarned(stop, warning, l.once("power_off", id))
	l.wantWords(warning, id, "RTX 4090D ×1", "autodl-lab", "运行中", "ssh：空闲", "每小时 1.98 CNY", "价格取自配置",
		"stop-after-training：", "结果未知：没有退出码", "显卡不会保留", "`curfew hold exp-1 2h`", "`curfew explain exp-1`")
	l.wantWords(done, id, "已关机，自", "本次开机共花费 "+stop.Cost.Round().String(), "平台已确认", "平台将于", "`curfew explain exp-1`")
	if low, high := fleet.CNY(1_980_000), fleet.CNY(2_060_000); stop.Cost.Micros < low.Micros || stop.Cost.Micros > high.Micros {
		t.Errorf("an hour and a few seconds at 1.98 CNY are said to have cost %s", stop.Cost)
	}
	l.wantTitles("将关机：exp-1", "已关机：exp-1")
	if asked := l.once("snapshot", id); asked.at.Before(l.requests("list")[0].answered) {
		t.Error("how to log in was asked before the list was read")
	}
	l.wantNever("power_on", "release", "status")
	l.wantShutdownSeen(id, l.once("power_off", id).answered, done.At)
}

func released(t *testing.T, bin string) {
	l := newE2E(t, bin, nil)
	l.change("    warn: 3s\n    then: stop",
		"    success: {exit: 0}\n    data: discard\n    warn: {stop: 3s, release: 3s}\n    then: release")
	id := l.add(autodltest.Machine{Name: "exp-2"})
	end := l.train(true)
	l.run()
	l.untilBusy("exp-2")
	end(0)
	stopWarning, stopDone := l.untilTold("将关机：exp-2"), l.untilTold("已关机：exp-2")
	warning := l.untilTold("将释放：exp-2（3秒后）")
	done := l.untilTold("已释放：exp-2")
	if s := l.cloud.Status(id); s != "" {
		t.Errorf("it is said to be released, and the platform has it: %s", s)
	}
	l.stop()

	acts := l.acts("stop exp-2 done", "release exp-2 done")
	off, release := l.once("power_off", id), l.once("release", id)
	l.wantWarned(acts[0], stopWarning, off)
	l.wantWarned(acts[1], warning, release)
	if acts[0].Goal != fleet.Release || acts[0].Verdicts[0].Ground.Outcome != fleet.OutcomeSucceeded {
		t.Errorf("the stop does not stand on a run that succeeded: goal %s, %+v", acts[0].Goal, acts[0].Verdicts[0].Ground)
	}
	l.wantWords(stopWarning, "（成功）", "之后将释放，届时另行通知")
	l.wantWords(warning, id, "已关机", "释放会删除实例及其数据", "（成功）", "`curfew hold exp-2 2h`")
	l.wantWords(done, id, "平台已确认")
	l.wantTitles("将关机：exp-2", "已关机：exp-2", "将释放：exp-2", "已释放：exp-2")
	l.wantShutdownSeen(id, off.answered, stopDone.At)
	l.wantShutdownSeen(id, off.answered, release.at)
	if n := len(l.requests("status")); n < 2 {
		t.Errorf("the platform was asked %d times for what was released, want twice before it counts as gone", n)
	}
	l.wantNever("power_on")
}

func leftAlone(t *testing.T, bin string) {
	l := newE2E(t, bin, nil)
	l.change(`match: {account: autodl-lab, name: "exp-*"}`, "match: {account: autodl-lab}")
	working := sshdtest.Start(t, sshdtest.Options{})
	furnish(working)
	trust(t, working, l.box)
	working.SetNvidiaSMI(`echo "0, NVIDIA GeForce RTX 4090 D, 97, 21034, 402.50, [N/A]"`)
	road := sshdtest.NewProxy(t, l.box.Access())
	login := func(host string, port int) autodltest.SSH {
		return autodltest.SSH{Host: host, Port: port, Password: l.password(port)}
	}
	id := l.add(autodltest.Machine{Name: "exp-done"})
	l.add(autodltest.Machine{Name: "exp-working", SSH: login(working.Host, working.Port)})
	l.add(autodltest.Machine{Name: "exp-dark", SSH: login(road.Host, road.Port)})
	l.add(autodltest.Machine{Name: "prod-x"})
	end := l.train(false)
	l.run()
	for _, name := range []string{"exp-done", "exp-working", "exp-dark", "prod-x"} {
		l.untilBusy(name)
	}
	road.Close()
	end(0)
	l.untilTold("已关机：exp-done")

	// All of them saw the same run end, or would have; what was not stopped with
	// the first is left alone for a reason.
	l.untilExplained("exp-working", "is busy by its card", func(e ctl.Explanation) bool {
		return e.Action == fleet.Keep && e.Reason.Code == policies.ReasonBusyAgain &&
			e.Activity.Activity == fleet.Busy && e.Activity.Reason.Code == signals.ReasonBusyCard && e.Intent == nil
	})
	l.untilExplained("exp-dark", "cannot be looked at, and is not taken for idle", func(e ctl.Explanation) bool {
		return e.Action == fleet.Keep && e.Activity.Activity != fleet.Idle && e.Intent == nil &&
			slices.ContainsFunc(e.Evidence, func(s fleet.Evidence) bool {
				return s.Activity == fleet.Unknown && s.Reason.Code == sshsignal.ReasonRefused
			})
	})
	l.untilExplained("prod-x", "is protected", func(e ctl.Explanation) bool {
		return e.Action == fleet.Keep && e.Reason.Code == guard.ReasonProtected && e.Activity.Activity == fleet.Idle &&
			e.Verdicts[0].Goal == fleet.Stop && e.Intent == nil
	})
	l.stop()
	l.acts("stop exp-done done")
	l.once("power_off", id)
	l.wantTitles("将关机：exp-done", "已关机：exp-done")
}

func held(t *testing.T, bin string) {
	l := newE2E(t, bin, nil)
	l.change("    warn: 3s\n", "    warn: 8s\n")
	l.add(autodltest.Machine{Name: "exp-4"})
	end := l.train(false)
	l.run()
	l.untilBusy("exp-4")
	end(0)
	l.untilTold("将关机：exp-4（8秒后）")
	l.curfew("hold", "exp-4", "1h", "--why", "拷贝结果")
	off := l.untilTold("已取消关机：exp-4")
	called := l.acts("stop exp-4 abandoned")[0]
	l.untilExplained("exp-4", "was looked at after the deadline, and left alone", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Idle && e.Activity.SeenAt.After(called.Deadline.Add(2*time.Second)) &&
			e.Action == fleet.Keep && e.Reason.Code == guard.ReasonHeld
	})
	l.stop()
	if called.Why.Code != guard.ReasonHeld || !called.ClosedAt.Before(called.Deadline) {
		t.Errorf("it was called off at %s, due at %s, for %+v", called.ClosedAt, called.Deadline, called.Why)
	}
	l.acts("stop exp-4 abandoned")
	l.wantWords(off, "wang 要求暂缓至", "拷贝结果")
	l.wantTitles("将关机：exp-4", "已取消关机：exp-4")
	l.wantNever("power_off", "power_on", "release")
}

func killed(t *testing.T, bin string) {
	l := newE2E(t, bin, nil)
	id := l.add(autodltest.Machine{Name: "exp-5"})
	var once sync.Once
	dead := make(chan struct{})
	l.onRequest = func(r autodltest.Request) {
		if strings.HasSuffix(r.Path, "/power_off") {
			once.Do(func() {
				l.kill()
				close(dead)
			})
		}
	}
	end := l.train(false)
	l.run()
	l.untilBusy("exp-5")
	end(0)
	warning := l.untilTold("将关机：exp-5")
	l.until("the daemon to be killed", func() bool {
		select {
		case <-dead:
			return true
		default:
			return false
		}
	})
	if i := l.acts("stop exp-5 ")[0]; i.State != fleet.IntentStarted {
		t.Errorf("the journal says %s of what was under way, want started", i.State)
	}
	l.run()
	done := l.untilTold("已关机：exp-5")
	l.stop()

	stop := l.acts("stop exp-5 done")[0]
	off := l.once("power_off", id)
	l.wantWarned(stop, warning, off)
	if len(stop.Attempts) != 1 {
		t.Errorf("it took %d attempts, want one", len(stop.Attempts))
	}
	l.wantTitles("将关机：exp-5", "已关机：exp-5")
	l.wantShutdownSeen(id, off.answered, done.At)
}

func bootedAgain(t *testing.T, bin string) {
	var roads [3]*sshdtest.Proxy // by the number of the boot
	l := newE2E(t, bin, func(l *e2e, n int) autodltest.SSH {
		return autodltest.SSH{Host: roads[n].Host, Port: roads[n].Port, Password: l.password(n)}
	})
	roads[1], roads[2] = sshdtest.NewProxy(t, l.box.Access()), sshdtest.NewProxy(t, l.box.Access())
	id := l.add(autodltest.Machine{Name: "exp-6"})
	l.passwords = append(l.passwords, l.password(2))
	end := l.train(false)
	l.run()
	l.untilBusy("exp-6")
	first := l.explain("exp-6").Instance.Boot
	end(0)
	l.untilTold("已关机：exp-6")

	roads[1].Close()
	l.box.NewHostKey()
	l.box.Restart()
	l.curfew("start", "exp-6", "--yes")
	l.untilTold("已开机：exp-6")
	l.untilExplained("exp-6", "is seen idle in its second boot", func(e ctl.Explanation) bool {
		return e.Instance.Boot != first && e.Activity.Boot == e.Instance.Boot && e.Activity.Activity == fleet.Idle &&
			len(e.Evidence) == 1 && e.Evidence[0].Facts.Reached && e.Reason.Code == policies.ReasonNoRun
	})
	end = l.train(false)
	l.untilBusy("exp-6")
	end(0)
	l.stop()

	l.acts("stop exp-6 done", "start exp-6 done")
	on := l.once("power_on", id)
	asked := l.requests("snapshot")
	if len(asked) != 2 || asked[0].at.After(on.at) || asked[1].at.Before(on.at) {
		t.Errorf("how to log in was asked %d times, want once in each boot", len(asked))
	}
	if roads[1].Taken() == 0 || roads[2].Taken() == 0 {
		t.Errorf("connections in the first boot: %d, in the second: %d", roads[1].Taken(), roads[2].Taken())
	}
	l.wantTitles("将关机：exp-6", "已关机：exp-6", "已开机：exp-6")
	l.once("power_off", id)
}

// acts gives the acts of the journal, which must be these in this order.
func (l *e2e) acts(want ...string) []fleet.Intent {
	l.t.Helper()
	is := l.journal()
	var got []string
	for _, i := range is {
		got = append(got, fmt.Sprintf("%s %s %s", i.Action, i.Subject.Name, i.Outcome))
	}
	if d := cmp.Diff(want, got); d != "" {
		l.t.Fatalf("acts (-want +got):\n%s", d)
	}
	return is
}

// once gives the only request of its kind, which must be about this instance.
func (l *e2e) once(path, id string) call {
	l.t.Helper()
	all := l.requests(path)
	if len(all) != 1 || all[0].uuid != id {
		l.t.Fatalf("%s was requested %d times, want once, for %s: %+v", path, len(all), id, all)
	}
	return all[0]
}

func (l *e2e) wantNever(paths ...string) {
	l.t.Helper()
	for _, path := range paths {
		if n := len(l.requests(path)); n != 0 {
			l.t.Errorf("%s was requested %d times, want never", path, n)
		}
	}
}

// wantWarned checks that a write came after its announced deadline, which counts
// from the chat's acceptance, on a fresh read and a fresh look.
func (l *e2e) wantWarned(i fleet.Intent, warning wecomtest.Message, write call) {
	l.t.Helper()
	all := l.requests("")
	if all[0].path != "list" {
		l.t.Errorf("the first request is %s, want list", all[0].path)
	}
	// What the message promises is never later than the deadline, and not earlier
	// than the time it took to arrive.
	promised := false
	zone := time.FixedZone("Asia/Shanghai", 8*3600)
	for at := warning.At.Add(i.Warn); at.After(warning.At.Add(-i.Warn)); at = at.Add(-time.Second) {
		clock := strings.TrimSuffix(at.In(zone).Format("15:04:05"), ":00")
		promised = promised || strings.Contains(title(warning), clock+" 将")
	}
	if !promised {
		l.t.Errorf("the message of %s does not announce %s later: %s", warning.At.In(zone), i.Warn, title(warning))
	}
	if i.Deadline.Before(warning.At.Add(i.Warn)) || !i.Deadline.Equal(i.AcceptedAt.Add(i.Warn)) {
		l.t.Errorf("the chat accepted at %s, and the deadline is %s, want %s later", warning.At, i.Deadline, i.Warn)
	}
	if write.at.Before(i.Deadline) {
		l.t.Errorf("%s was requested at %s, before its deadline %s", write.path, write.at, i.Deadline)
	}
	reread := func(c call) bool { return c.path == "list" && c.at.After(i.Deadline) && c.answered.Before(write.at) }
	if !slices.ContainsFunc(all, reread) {
		l.t.Errorf("nothing was read between the deadline and %s", write.path)
	}
	if i.Action == fleet.Stop && i.Verdicts[0].Evidence[0].SeenAt.Before(i.Deadline) {
		l.t.Errorf("it rests on a look of %s, before the deadline %s", i.Verdicts[0].Evidence[0].SeenAt, i.Deadline)
	}
}

// wantShutdownSeen checks that a read between two moments showed the instance
// shut down.
func (l *e2e) wantShutdownSeen(id string, after, before time.Time) {
	l.t.Helper()
	if !slices.ContainsFunc(l.requests("list"), func(c call) bool {
		return c.at.After(after) && c.answered.Before(before) && c.shows(id) == "shutdown"
	}) {
		l.t.Errorf("no read between %s and %s showed it shut down", after, before)
	}
}

func (l *e2e) wantWords(m wecomtest.Message, words ...string) {
	l.t.Helper()
	for _, w := range words {
		if !strings.Contains(m.Content, w) {
			l.t.Errorf("the message does not say %q:\n%s", w, m.Content)
		}
	}
}

// wantTitles checks that these messages were sent, in this order, and no other.
func (l *e2e) wantTitles(want ...string) {
	l.t.Helper()
	got := l.robot.Messages()
	for n, m := range got {
		if n >= len(want) || !strings.Contains(title(m), want[n]) {
			l.t.Errorf("message %d is not expected: %s", n+1, title(m))
		}
	}
	if len(got) < len(want) {
		l.t.Errorf("%d messages, want %d: %q", len(got), len(want), want)
	}
}
