//go:build unix

package boxrun

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// What is read of a log's end, and what is told of it.
const (
	tailBytes = 16 << 10
	saidBytes = 1024
)

// Log is where the output of a run goes, as it was before the run.
type Log struct {
	path   string // empty: nothing can be read
	before os.FileInfo
	tail   []byte // the last of what was there
}

// Watch notes how long a log is before a run, so that [Log.Said] tells of the run
// alone. Where none is named it is standard output, if that goes to a file.
func Watch(log string, stdout *os.File) Log {
	l := Log{path: log}
	if log == "" {
		if stdout == nil {
			return l
		}
		if info, err := stdout.Stat(); err != nil || !info.Mode().IsRegular() {
			return l
		}
		l.path = "/proc/self/fd/1" // opened anew: the shell opened it for writing only
	}
	f, info, err := openPlain(l.path)
	if err != nil {
		return l
	}
	defer f.Close()
	if tail, err := readEnd(f, 0, info.Size()); err == nil {
		l.before, l.tail = info, tail
	}
	return l
}

// Said gives the last lines that were written since the log was watched: as much as a
// run file may hold, in whole lines where it can. It is empty where there is nothing
// to read.
func (l Log) Said() string {
	if l.path == "" {
		return ""
	}
	f, info, err := openPlain(l.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var from int64
	if l.continuedBy(f, info) {
		from = l.before.Size()
	}
	tail, err := readEnd(f, from, info.Size())
	if err != nil {
		return ""
	}
	return lastLines(string(tail))
}

// continuedBy reports whether a file begins with what was there before. One that was
// written anew is the run's own from the start.
func (l Log) continuedBy(f *os.File, info os.FileInfo) bool {
	if l.before == nil || !os.SameFile(l.before, info) || info.Size() < l.before.Size() ||
		info.Size() == l.before.Size() && !info.ModTime().Equal(l.before.ModTime()) {
		return false
	}
	tail, err := readEnd(f, 0, l.before.Size())
	return err == nil && bytes.Equal(tail, l.tail)
}

// openPlain opens a file for reading. Anything else than a plain file, such as a pipe,
// could be waited for for ever.
func openPlain(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no plain file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readEnd reads the end of what is between two places in a file.
func readEnd(f *os.File, from, to int64) ([]byte, error) {
	from = max(from, to-tailBytes)
	end := make([]byte, to-from)
	n, err := f.ReadAt(end, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return end[:n], nil
}

// lastLines gives the end of a text as a person saw it: of a progress bar the last
// state, no colours, and no half line where there is a whole one.
func lastLines(text string) string {
	text = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]").ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		line = strings.Map(printable, line[strings.LastIndexByte(line, '\r')+1:])
		if line != "" {
			lines = append(lines, line)
		}
	}
	said := strings.Join(lines, "\n")
	if len(said) <= saidBytes {
		return said
	}
	said = said[len(said)-saidBytes:]
	if _, whole, ok := strings.Cut(said, "\n"); ok {
		return whole
	}
	return strings.ToValidUTF8(said, "")
}

func printable(c rune) rune {
	if c == '\t' || unicode.IsPrint(c) {
		return c
	}
	return -1
}
