package boxsh

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestItsOwnWatchEndsWhatNobodyCanReach runs a script as a login does whose other end
// has gone without a word: its input stays open, and nobody ends it.
func TestItsOwnWatchEndsWhatNobodyCanReach(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		t.Run(shell, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), shell, "-s", "curfew-look")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			body := LoginShell("", "echo halfway; sleep 9878 & sleep 9878")
			if _, err := in.Write(Script{Body: body, Timeout: time.Second - watchSlack}.tethered()); err != nil {
				t.Fatal(err)
			}
			// It returns only when nothing holds the output any more.
			err = cmd.Wait()
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if err == nil || !ok || status.Signal() != syscall.SIGKILL || out.String() != "halfway\n" {
				t.Errorf("it ended with %v and said %q", err, out.String())
			}
		})
	}
}
