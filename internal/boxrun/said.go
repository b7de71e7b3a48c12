package boxrun

import (
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// What is read of a log's end, and what is told of it.
const (
	tailBytes = 16 << 10
	saidBytes = 1024
)

// Said gives the last lines of a log, or where none is named of standard output, if
// that goes to a file: as much as a run file may hold, in whole lines where it can.
// It is empty where there is nothing to read.
func Said(log string, stdout *os.File) string {
	if log == "" {
		if stdout == nil {
			return ""
		}
		if info, err := stdout.Stat(); err != nil || !info.Mode().IsRegular() {
			return ""
		}
		log = "/proc/self/fd/1" // opened anew: the shell opened it for writing only
	}
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() { // a pipe could be waited for for ever
		return ""
	}
	tail := make([]byte, min(info.Size(), tailBytes))
	n, err := f.ReadAt(tail, info.Size()-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return lastLines(string(tail[:n]))
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
