package ctl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// longestSocket is how long the path of a socket may be, with room for the
// ending under which it is made. The systems' own limits are 104 and 108 bytes.
const longestSocket = 100

// ErrAnswered is returned by [Listen] when somebody answers at the socket
// already.
var ErrAnswered = errors.New("another daemon answers here already")

// SocketPath gives the path of the daemon's socket for a state. It lies beside
// the state, under the same name with .sock, so that whoever may read the one may
// talk to the other. Where that path is too long for a socket, it lies in a
// folder of its own among the temporary files, named by a hash of the state's
// path; daemon and commands must then see the same temporary folder.
func SocketPath(dsn string) string {
	path := strings.TrimPrefix(dsn, "sqlite:")
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if beside := path + ".sock"; len(beside) <= longestSocket {
		return beside
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(os.TempDir(), hashedFolder+hex.EncodeToString(sum[:8]), "ctl.sock")
}

// hashedFolder begins the name of a folder that holds only a socket.
const hashedFolder = "curfew-"

// hashed reports whether the socket is not beside its state but in a folder where
// others may write, too.
func hashed(path string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Dir(path)), hashedFolder) && filepath.Base(path) == "ctl.sock"
}

// Listen opens the socket, for its owner only. A file left behind by a daemon
// that is gone is replaced; where one answers, the error is [ErrAnswered].
func Listen(path string) (net.Listener, error) {
	if hashed(path) {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("socket %s: %w", path, err)
		}
		if err := trusted(path); err != nil {
			return nil, err
		}
	}
	if c, err := (&net.Dialer{Timeout: time.Second}).Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("socket %s: %w", path, ErrAnswered)
	} else if !absent(err) {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	// It gets its name only when nobody else can open it any more.
	fresh := path + "~"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	made, err := os.Lstat(fresh)
	if err := errors.Join(err, os.Chmod(fresh, 0o600), os.Rename(fresh, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("socket %s: %w", path, err), l.Close(), os.RemoveAll(fresh))
	}
	return &socket{UnixListener: l, path: path, made: made}, nil
}

// socket takes its file away when it is closed.
type socket struct {
	*net.UnixListener
	path string
	made os.FileInfo
	once sync.Once
	err  error
}

// Close stops listening and removes the file, unless that is another daemon's by
// now, or gone.
func (s *socket) Close() error {
	s.once.Do(func() {
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.made) {
			s.err = os.Remove(s.path)
		}
		s.err = errors.Join(s.err, s.UnixListener.Close())
	})
	return s.err
}

// absent reports whether a failed dial means that nobody is there: no file, or a
// file at which nobody listens.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// trusted reports why a socket among the temporary files is not to be trusted:
// its folder must belong to this user or to root, and be closed to others.
func trusted(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || (owner.Uid != 0 && int(owner.Uid) != os.Geteuid()) {
		return fmt.Errorf("socket %s: its folder does not belong to this user alone; remove %s, or give state a shorter path", path, folder)
	}
	return nil
}
