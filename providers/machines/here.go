package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"curfew/fleet"
)

// runHere runs a command by /bin/sh -c on the machine curfew runs in, in curfew's
// own environment and what is given beyond it.
//
// The command ends when its time is over. It does not end with curfew: a power-off
// ends curfew before it is done itself, and must not be cut off by that. So it is a
// process group of its own, and writes to a file rather than to us.
func runHere(ctx context.Context, command string, env []string, fail fail) error {
	said := scratch()
	if said != nil {
		defer func() { _ = said.Close() }()
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", command}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	cmd.Env = append(cmd.Environ(), env...)
	if said != nil {
		cmd.Stdout, cmd.Stderr = said, said
	}
	if err := cmd.Start(); err != nil {
		return fail(fleet.Other, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
			return fail(fleet.OutcomeUnknown, errors.New("the command did not end in time, and was killed"))
		}
		return fail(fleet.OutcomeUnknown, fmt.Errorf("the command was left to itself: %w", ctx.Err()))
	}
	if err != nil {
		// What it did before it failed only the machine can show.
		return fail(fleet.Other, fmt.Errorf("the command ended with %w%s", err, lastWords(fileEnd(said), "")))
	}
	return nil
}

// scratch makes a file without a name; nil where the disk has no room for one,
// which must not keep a machine running.
func scratch() *os.File {
	f, err := os.CreateTemp("", "curfew-command-")
	if err != nil {
		return nil
	}
	_ = os.Remove(f.Name()) // it lives as long as somebody has it open
	return f
}

// fileEnd gives the end of what was written to a file.
func fileEnd(f *os.File) []byte {
	if f == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	const enough = 4 * saidBytes
	end, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-enough), enough))
	return end
}
