//go:build unix

package boxrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOnlyWhatTheRunWroteIsItsLastWords(t *testing.T) {
	long := strings.Repeat("an old line\n", 3000)
	for _, c := range []struct {
		name, before, want string
		write              func(file string) error
	}{
		{"nothing was written", "epoch 9 of yesterday\n", "", func(string) error { return nil }},
		{"lines were added", "epoch 9 of yesterday\n", "epoch 1", func(file string) error { return add(file, "epoch 1\n") }},
		{"lines were added to many", long, "epoch 1", func(file string) error { return add(file, "epoch 1\n") }},
		{"it was written anew, and is shorter", "epoch 9 of yesterday\n", "epoch 1", func(file string) error {
			return os.WriteFile(file, []byte("epoch 1\n"), 0o600)
		}},
		{"it was written anew, and is longer", "epoch 9\n", "epoch 1\nepoch 2", func(file string) error {
			return os.WriteFile(file, []byte("epoch 1\nepoch 2\n"), 0o600)
		}},
		{"it was written anew with the same", "epoch 1\n", "epoch 1", func(file string) error {
			if err := os.WriteFile(file, []byte("epoch 1\n"), 0o600); err != nil {
				return err
			}
			return os.Chtimes(file, time.Time{}, time.Unix(1796071860, 0)) // time passes, on any file system
		}},
		{"another took its place", "epoch 1\n", "epoch 1\nepoch 2", func(file string) error {
			if err := os.Rename(file, file+".1"); err != nil {
				return err
			}
			return os.WriteFile(file, []byte("epoch 1\nepoch 2\n"), 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			log := Watch(file, nil)
			if err := c.write(file); err != nil {
				t.Fatal(err)
			}
			if got := log.Said(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func add(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

func TestWhatIsNoPlainFileSaysNothing(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, c := range []struct {
		name, log string
		stdout    *os.File
	}{
		{"nothing", filepath.Join(t.TempDir(), "nothing"), nil},
		{"a folder", ".", nil},
		{"a pipe with a name, which nobody writes to", fifo, nil},
		{"a device", "/dev/zero", nil},
		{"standard output that is a pipe", "", w},
		{"no standard output", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := make(chan string, 1)
			go func() { said <- Watch(c.log, c.stdout).Said() }()
			select {
			case got := <-said:
				if got != "" {
					t.Errorf("got %q", got)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it waits")
			}
		})
	}
}
