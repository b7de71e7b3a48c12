//go:build unix

package boxrun

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatIsStartedAloneInheritsNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	flags := func() int {
		t.Helper()
		flags, err := unix.FcntlInt(w.Fd(), unix.F_GETFD, 0)
		if err != nil {
			t.Fatal(err)
		}
		return flags
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil { // as somebody hands it on
		t.Fatal(err)
	}
	has := func() bool {
		return exec.Command("/bin/sh", "-c", fmt.Sprintf("(: >&%d) 2>/dev/null", w.Fd())).Run() == nil
	}
	if !has() {
		t.Fatal("the pipe is not inherited to begin with")
	}
	err = Alone(func() error {
		if has() {
			t.Error("it is inherited")
		}
		return os.ErrInvalid
	})
	if !errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if flags() != 0 || !has() {
		t.Error("the command of the run does not get it")
	}
}

func TestRoomIsToldOfFoldersToCome(t *testing.T) {
	dir := t.TempDir()
	free, err := Room(filepath.Join(dir, ".curfew", "runs"))
	if err != nil || free == 0 || free == math.MaxUint64 {
		t.Errorf("%d bytes free, %v", free, err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if free, err := Room(filepath.Join(plain, "x")); err == nil || !strings.Contains(err.Error(), plain) {
		t.Errorf("below a file: %d, %v", free, err)
	}
}

func TestAScriptWithoutAFirstLineIsRunByTheShell(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, body string
		args       []string
		want       int // negative: it is not started
	}{
		{"plain", "exit $(($# + 40))\n", []string{"a", "b c"}, 42},
		{"it knows its name", "case $0 in */script) exit 5;; esac\n", nil, 5},
		{"empty", "", nil, 0},
		{"with another's first line", "#!/bin/sh\nexit 3\n", nil, 3},
		{"a program for another machine", "\x7fELF\x00\x01\x02", nil, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "script")
			if err := os.WriteFile(path, []byte(c.body), 0o700); err != nil {
				t.Fatal(err)
			}
			child, err := Start(path, append([]string{"./script"}, c.args...))
			if c.want < 0 {
				if err == nil {
					t.Errorf("it was started, and ended with %d", child.Wait())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := child.Wait(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
