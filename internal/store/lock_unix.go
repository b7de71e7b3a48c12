//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
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
		return nil, fmt.Errorf("%w (%s)", ErrLocked, path)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("state: lock %s: %w", path, err)
	}
	return f, nil
}
