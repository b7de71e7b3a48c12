package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/providers/autodl/autodltest"
)

// TestEndToEndExport runs the program with the design's policy that exports before a
// release, against the platform's double, a real sshd and a real rclone.
func TestEndToEndExport(t *testing.T) {
	long(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the box is this machine, and a look needs /proc")
	}
	if _, err := exec.LookPath("rclone"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("rclone is not installed; make test-needs installs it")
		}
		t.Skip("rclone is not installed")
	}
	bin := buildProgram(t)
	var all sync.WaitGroup
	defer all.Wait()
	for _, story := range []struct {
		name string
		tell func(t *testing.T, bin string)
	}{
		{"what was exported and proven is released", savedAndReleased},
		{"what was copied wrong is stopped and stays", copiedWrong},
	} {
		all.Go(func() { t.Run(story.name, func(t *testing.T) { story.tell(t, bin) }) })
	}
}

// savedE2E is a box for results, and where they are to go. lets the copy be
// changed before it is proven.
func savedE2E(t *testing.T, bin string, spoilt bool) (l *e2e, id, out, to string) {
	t.Helper()
	l = newE2E(t, bin, nil)
	out, to = filepath.Join(l.box.Home, "out"), l.path("bucket")
	l.must(os.Mkdir(out, 0o700))
	l.must(os.Mkdir(to, 0o700))
	l.change("    process: 'python .*train'\n    grace: 5m\n    success:", "    process: 'python .*train.*"+l.work+"'\n    grace: 2s\n"+
		"    confirm: {looks: 2, apart: 1s}\n    warn: {stop: 3s, release: 3s}\n    success:")
	l.change("/root/out/DONE", out+"/DONE")
	l.change("/root/out/*.safetensors", out+"/*.safetensors")
	copies := "rclone copy " + out + " " + to + "/{{.Name}}-{{.ID}}"
	if spoilt {
		copies += " && echo more >>" + to + "/{{.Name}}-{{.ID}}/model.safetensors"
	}
	l.change("rclone copy /root/out oss:lab/{{.Name}}-{{.ID}}", copies)
	l.change("rclone check --one-way /root/out oss:lab/{{.Name}}-{{.ID}}", "rclone check --one-way "+out+" "+to+"/{{.Name}}-{{.ID}}")
	return l, l.add(autodltest.Machine{Name: "batch-exp-1"}), out, to
}

// results lets the run leave its results.
func (l *e2e) results(out string) {
	l.t.Helper()
	l.must(os.WriteFile(filepath.Join(out, "model.safetensors"), []byte(strings.Repeat("weights ", 1000)), 0o600))
	l.must(os.WriteFile(filepath.Join(out, "DONE"), []byte("ok"), 0o600))
}

func savedAndReleased(t *testing.T, bin string) {
	l, id, out, to := savedE2E(t, bin, false)
	end := l.train(true)
	l.run()
	l.untilBusy("batch-exp-1")
	l.results(out)
	end(0)
	warning := l.untilTold("将关机：batch-exp-1")
	done := l.untilTold("已关机：batch-exp-1")
	l.until("the release", func() bool { return len(l.requests("release")) > 0 && l.cloud.Status(id) == "" })
	l.stop() // that it is gone takes the platform's time to be seen
	acts := l.acts("stop batch-exp-1 done", "release batch-exp-1 ")
	l.wantWords(warning, "在此之前先执行 done-and-saved 的导出，最长 30分钟；若失败则不会释放")
	l.wantWords(done, "导出并校验，用时", "done-and-saved")
	l.once("release", id)
	if len(acts[1].Secured) != 1 {
		t.Errorf("the release does not stand on an export: %+v", acts[1].Secured)
	}
	saved := acts[0].Secured
	if len(saved) != 1 || !saved[0].OK || saved[0].EndedAt.After(l.once("power_off", id).at) {
		t.Errorf("the stop does not stand on an export: %+v", saved)
	}
	for _, name := range []string{"model.safetensors", "DONE"} {
		want, err := os.ReadFile(filepath.Join(out, name))
		l.must(err)
		got, err := os.ReadFile(filepath.Join(to, "batch-exp-1-"+id, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s was not exported: %v", name, err)
		}
	}
}

func copiedWrong(t *testing.T, bin string) {
	l, id, out, _ := savedE2E(t, bin, true)
	end := l.train(true)
	l.run()
	l.untilBusy("batch-exp-1")
	l.results(out)
	end(0)
	done := l.untilTold("已关机：batch-exp-1")
	stays := l.untilTold("因此保留、不释放")
	l.untilExplained("batch-exp-1", "a failed export", func(e ctl.Explanation) bool {
		return len(e.Secured) == 1 && e.Secured[0].Failed() && e.Action == fleet.Keep
	})
	page := string(l.curfew("explain", "batch-exp-1"))
	l.stop()
	acts := l.acts("stop batch-exp-1 done")
	l.wantWords(done, "数据未能保全，因此不释放：导出未通过校验，verify 退出码 1")
	l.wantWords(stays, "batch-exp-1", "是否仍收费未知：导出未通过校验")
	l.wantNever("release")
	l.once("power_off", id)
	if acts[0].Goal != fleet.Stop || len(acts[0].Secured) != 0 {
		t.Errorf("goal %s, %+v", acts[0].Goal, acts[0].Secured)
	}
	if !strings.Contains(page, "done-and-saved") || !strings.Contains(page, "verify") {
		t.Errorf("explain says nothing of it:\n%s", page)
	}
	for _, name := range []string{"model.safetensors", "DONE"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}
