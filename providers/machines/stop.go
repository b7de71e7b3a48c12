package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unicode"

	"curfew/fleet"
	"curfew/providers"
)

// saidBytes is how much of what a failed command said is kept.
const saidBytes = 200

// Stop runs the machine's declared command by /bin/sh -c, as it stands in the
// configuration: nothing is put into it. It refuses where the machine was started
// anew since it was listed.
//
// The command ends when its time is over. It does not end with curfew: a power-off
// ends curfew before it is done itself, and must not be cut off by that. So it is a
// process group of its own, and writes to a file rather than to us.
func (m *Machines) Stop(ctx context.Context, i fleet.Instance, _ providers.StopOptions) error {
	op := "machines: stop " + i.Ref.ID
	fail := func(kind fleet.ErrorKind, err error) error { return &fleet.Error{Op: op, Kind: kind, Err: err} }
	d, err := m.find("stop", i.Ref)
	if err != nil {
		return err
	}
	if d.Stop == "" {
		return fail(fleet.Unsupported, errors.New("no stop: is declared for it"))
	}
	now, err := m.read(ctx, d)
	if err != nil {
		return err
	}
	if !now.Boot.Same(i.Boot) {
		return fail(fleet.Conflict, errors.New("it was started anew meanwhile"))
	}
	said := scratch()
	if said != nil {
		defer func() { _ = said.Close() }()
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", d.Stop}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if said != nil {
		cmd.Stdout, cmd.Stderr = said, said
	}
	if err := cmd.Start(); err != nil {
		return fail(fleet.Other, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
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
		return fail(fleet.Other, fmt.Errorf("the command ended with %w%s", err, lastWords(said)))
	}
	return nil
}

// scratch makes a file without a name; nil where the disk has no room for one,
// which must not keep a machine running.
func scratch() *os.File {
	f, err := os.CreateTemp("", "curfew-stop-")
	if err != nil {
		return nil
	}
	_ = os.Remove(f.Name()) // it lives as long as somebody has it open
	return f
}

// lastWords gives the last line that the command wrote, for a message.
func lastWords(f *os.File) string {
	if f == nil {
		return ""
	}
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	const enough = 4 * saidBytes
	tail, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-enough), enough))
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(tail))
	text = text[strings.LastIndex(text, "\n")+1:]
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, text)
	if runes := []rune(text); len(runes) > saidBytes {
		text = string(runes[:saidBytes]) + "…"
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
