package accept_test

import (
	"testing"

	"curfew/internal/sshx/sshdtest"
)

func TestAGoodMachineIsAccepted(t *testing.T) {
	for _, shell := range []string{"", "bash", "busybox"} {
		t.Run("sh is "+shell, func(t *testing.T) {
			t.Parallel()
			var o sshdtest.Options
			if shell != "" {
				o.Shell = find(t, shell)
			}
			m := newMachine(t, o)
			m.lasts = 4
			m.furnish()
			r, res := m.examine(m.wanted())
			if !res.OK() || len(res.Warnings)+len(res.Unknown) > 0 {
				t.Fatalf("fails:\n%swarnings:\n%sunknown:\n%s%+v", says(t, res.Fails), says(t, res.Warnings), says(t, res.Unknown), r)
			}
			told(t, res.Passed, "2 × NVIDIA A100-SXM4-80GB, as ordered", "on each of 2 cards", "good for 12.4", "all 1 pairs",
				"all-reduce: 232 GB/s", "251 TFLOPS", "/dev/shm: 68.7 GB", "direct write: 1.19 GB/s", "CPU cores", "memory", "free disk")
			m.clean()
			if r.Load.Value[1].Told < 3 || r.AllReduce.Value.By != "torch" {
				t.Errorf("%+v", r)
			}
		})
	}
}
