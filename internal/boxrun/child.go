//go:build unix

package boxrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The exit codes of a shell for a command that cannot be started.
const (
	NotFound    = 127
	NotRunnable = 126
)

// Find finds a command as a shell does. Where it cannot be started the code is what
// a shell would end with.
func Find(command string) (path string, code int, err error) {
	path, err = exec.LookPath(command)
	switch {
	case err == nil, errors.Is(err, exec.ErrDot):
		return path, 0, nil // a shell asks PATH, and takes what it says
	case errors.Is(err, fs.ErrPermission):
		return "", NotRunnable, fmt.Errorf("%s: it may not be run: permission denied", command)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", NotFound, fmt.Errorf("%s: command not found", command)
	}
	return "", NotRunnable, fmt.Errorf("%s: %w", command, err)
}

// Child is a command that runs with this process's own terminal, in its process
// group.
type Child struct {
	process *os.Process
	signals chan os.Signal
}

// Start starts the command at a path, with standard input, output and error of this
// process, and its environment.
func Start(path string, args []string) (*Child, error) {
	c := &Child{signals: make(chan os.Signal, 16)}
	for _, s := range []os.Signal{
		unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT,
	} {
		if !signal.Ignored(s) { // the command ignores it too
			signal.Notify(c.signals, s)
		}
	}
	var err error
	files := &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	c.process, err = os.StartProcess(path, args, files)
	if errors.Is(err, unix.ENOEXEC) && isText(path) {
		if strings.HasPrefix(path, "-") {
			path = "./" + path
		}
		c.process, err = os.StartProcess("/bin/sh", append([]string{"sh", path}, args[1:]...), files)
	}
	if err != nil {
		signal.Stop(c.signals)
		return nil, err
	}
	return c, nil
}

// isText reports whether a file can be a script: a program for another machine is
// none, and has a zero in what would be its first line.
func isText(path string) bool {
	f, _, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return bytes.IndexByte(line, 0) < 0
}

// PID is the command's process id.
func (c *Child) PID() int { return c.process.Pid }

// Wait waits for the command to end, passes on the signals that come meanwhile, and
// gives its exit code; 128 and its number for a signal that ended it.
//
// A key such as Ctrl-C is sent by the terminal to every process of the group that is
// in front, and so to the command too: what a key can send is passed on only where
// no terminal has this group in front, so that it arrives once.
func (c *Child) Wait() int {
	ended := make(chan *os.ProcessState, 1)
	go func() {
		state, _ := c.process.Wait() // nobody else waits for it
		ended <- state
	}()
	defer signal.Stop(c.signals)
	for {
		select {
		case s := <-c.signals:
			c.pass(s)
		case state := <-ended:
			return exitCode(state)
		}
	}
}

func (c *Child) pass(s os.Signal) {
	switch s {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
		if inFront() {
			return
		}
	case unix.SIGTSTP:
		if !inFront() {
			_ = c.process.Signal(s)
		}
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // as it would have without us listening
		return
	}
	_ = c.process.Signal(s) // it may have ended just now
}

// inFront reports whether the terminal, if there is one, sends its keys to the
// process group of this process.
func inFront() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func exitCode(state *os.ProcessState) int {
	if state == nil {
		return 1 // it could not be waited for, which does not happen to a process's own child
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
