package look

import (
	"bytes"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// TestTheCoresOfThisMachine asks the machine the test runs in, by every shell there
// is: it may be told of no more cores than it has, and of time that only goes on.
func TestTheCoresOfThisMachine(t *testing.T) {
	if _, err := exec.LookPath("nproc"); err != nil {
		t.Skip("there is no nproc here")
	}
	for name, shell := range map[string][]string{
		"sh": {"sh"}, "dash": {"dash"}, "bash": {"bash"}, "busybox": {"busybox", "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			ask := func() (float64, time.Duration) {
				l := Ask(Question{}, 10*time.Second)
				cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-s", "curfew-look")...)
				cmd.Stdin = bytes.NewReader(l.Script)
				began := time.Now()
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				facts, ok := l.Read(out, &Clock{}, began, time.Now(), "")
				if !ok {
					t.Fatalf("no answer of a look:\n%s", out)
				}
				return facts.Cores, facts.CPUTime
			}
			cores, first := ask()
			_, second := ask()
			// A quota may be less than all of them, and a container may be told of none.
			if cores < 0 || cores > float64(runtime.NumCPU()) {
				t.Errorf("%g cores, and there are %d", cores, runtime.NumCPU())
			}
			if second < first {
				t.Errorf("they worked for %s, and then for %s", first, second)
			}
			t.Logf("%g cores worked for %s, and %s more during a look", cores, first, second-first)
		})
	}
}
