package boxrun

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// longestID is how many letters a run's name may have; the rest is cut off.
const longestID = 60

// File is the run file of one run. It may be used from one goroutine at a time.
type File struct {
	ID   string
	path string
	f    *os.File
}

// Folder is where the run files of a home are.
func Folder(home string) string { return filepath.Join(home, ".curfew", "runs") }

// Create writes the beginning of a run: it began now, this process will write its
// end, and what is to happen afterwards (stop, or nothing). What the run is called
// is the ID of the file, with a number after it where it is taken. On an error there
// is no file.
func Create(home, name, then string, now time.Time) (*File, error) {
	if home == "" {
		return nil, errors.New("it is not known where the home directory is; set HOME")
	}
	folder := Folder(home)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	words := fmt.Sprintf("start=%d pid=%d", now.Unix(), os.Getpid())
	if ticks := startTicks(os.Getpid()); ticks != "" {
		words += " pid_start=" + ticks
	}
	if then != "" {
		words += " then=" + then
	}
	name = id(name)
	for n := 1; ; n++ {
		r := &File{ID: name}
		if n > 1 {
			r.ID += "-" + strconv.Itoa(n)
		}
		r.path = filepath.Join(folder, r.ID)
		var err error
		r.f, err = os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := r.write(words + "\n"); err != nil {
			return nil, errors.Join(err, r.Remove()) // half a beginning would make all runs unreadable
		}
		return r, nil
	}
}

// Began adds the process that does the work. It may outlive this one, and while it
// is there the run goes on.
func (r *File) Began(child int) error {
	words := "child=" + strconv.Itoa(child)
	if ticks := startTicks(child); ticks != "" {
		words += " child_start=" + ticks
	}
	return r.write(words + "\n")
}

// End adds how the run ended, with the last lines of its output, and closes the
// file.
func (r *File) End(code int, said string, now time.Time) error {
	words := fmt.Sprintf("end=%d exit=%d", now.Unix(), code)
	if said != "" {
		words += " said=" + base64.StdEncoding.EncodeToString([]byte(said))
	}
	return errors.Join(r.write(words+"\n"), r.f.Close())
}

// Remove takes the file away again, of a run that never began.
func (r *File) Remove() error {
	_ = r.f.Close() // nothing in it is wanted
	return os.Remove(r.path)
}

// write writes all at once, so that a look never reads a part.
func (r *File) write(words string) error {
	_, err := r.f.WriteString(words)
	return err
}

// id makes an ID of what a run is called.
func id(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, name)
	name = strings.Trim(name[:min(len(name), longestID)], "-.")
	if name == "" {
		return "run"
	}
	return name
}

// Name is what a run is called by its command: the script that it runs, or else the
// program.
func Name(args []string) string {
	for _, arg := range args {
		for _, ending := range []string{".py", ".sh"} {
			if strings.HasSuffix(arg, ending) && !strings.HasPrefix(arg, "-") {
				return filepath.Base(arg)
			}
		}
	}
	return filepath.Base(args[0])
}

// startTicks gives field 22 of a process's stat, which tells it from a later one of
// the same number; empty where that is not told.
func startTicks(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, ok := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(after)
	if !ok || len(fields) < 20 {
		return ""
	}
	return fields[19]
}
