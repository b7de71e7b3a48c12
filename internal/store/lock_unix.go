//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"curfew/fleet"
)

// takeLock takes an exclusive lock that the system gives back when the process
// ends, however it ends.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state: lock file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, &fleet.ReasonError{
			Reason: fleet.Because(ReasonLocked, fleet.Values{"file": fleet.Text(path)}),
			Err:    fmt.Errorf("%w (%s)", ErrLocked, path),
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("state: lock %s: %w", path, err)
	}
	return f, nil
}

// Held reports whether a daemon or a command has the state open, and the file by
// which that is told. It takes the lock for a moment only if nobody has it.
func Held(dsn string) (held bool, file string, err error) {
	file = strings.TrimPrefix(dsn, "sqlite:") + ".lock"
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, file, nil
	}
	if err != nil {
		return false, file, err
	}
	defer func() { _ = f.Close() }() // gives the lock back
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, file, nil
	}
	return false, file, err
}
