package local_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

func TestARunGoesOnForAsLongAsItsWorkDoes(t *testing.T) {
	b := newBench(t)
	work := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read -r line")
	in, err := work.StdinPipe()
	if err == nil {
		err = work.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	wrapper := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exit 0")
	if err := wrapper.Run(); err != nil {
		t.Fatal(err)
	}
	b.write(".curfew/runs/orphan", fmt.Sprintf("start=%d pid=%d then=stop\nchild=%d\n", time.Now().Unix(), wrapper.Process.Pid, work.Process.Pid))
	b.write(".curfew/runs/other", fmt.Sprintf("start=%d pid=%d\nchild=%d child_start=1\n", time.Now().Unix(), wrapper.Process.Pid, work.Process.Pid))
	b.write(".curfew/runs/plain", fmt.Sprintf("start=%d pid=%d\n", time.Now().Unix(), wrapper.Process.Pid))
	s := b.source()
	gone := func() map[string]bool {
		out := map[string]bool{}
		for _, r := range look(t, s).Facts.BoxRuns {
			out[r.ID] = r.PIDGone
		}
		return out
	}
	if got := gone(); got["orphan"] || !got["other"] || !got["plain"] || len(got) != 3 {
		t.Errorf("while the work goes on, gone: %v", got)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = work.Wait()
	if got := gone(); !got["orphan"] {
		t.Errorf("after the work, gone: %v", got)
	}
}
