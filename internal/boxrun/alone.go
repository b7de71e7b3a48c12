//go:build unix

package boxrun

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Alone calls what starts a process, which inherits no open file but those it is
// given: one that outlives this process would keep a pipe or a lock of somebody else
// for ever. Afterwards all are as they were, since the command of the run may be meant
// to have them. Nothing else may be started meanwhile.
func Alone(start func() error) error {
	var kept []uintptr
	for _, fd := range inherited() {
		flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // closed already, or not inherited
		}
		if _, err := unix.FcntlInt(fd, unix.F_SETFD, flags|unix.FD_CLOEXEC); err == nil {
			kept = append(kept, fd)
		}
	}
	err := start()
	for _, fd := range kept {
		_, again := unix.FcntlInt(fd, unix.F_SETFD, 0)
		err = errors.Join(err, again)
	}
	return err
}

// inherited lists the open files of this process beyond its standard ones.
func inherited() []uintptr {
	var fds []uintptr
	for _, folder := range []string{"/proc/self/fd", "/dev/fd"} {
		open, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, entry := range open {
			if fd, err := strconv.ParseUint(entry.Name(), 10, 31); err == nil && fd > 2 {
				fds = append(fds, uintptr(fd))
			}
		}
		break
	}
	return fds
}
