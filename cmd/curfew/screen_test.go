package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// terminal shows what a terminal would after the given output, as far as the
// screen uses it: it goes up a line, and clears one.
func terminal(t *testing.T, out string) string {
	t.Helper()
	var lines []string
	for part := range strings.Lines(out) {
		for strings.HasPrefix(part, "\x1b[A\x1b[2K") {
			if len(lines) == 0 {
				t.Fatal("it goes up above the first line")
			}
			lines = lines[:len(lines)-1]
			part = strings.TrimPrefix(part, "\x1b[A\x1b[2K")
		}
		if part != "" {
			lines = append(lines, part)
		}
	}
	return strings.Join(lines, "")
}

func TestTheTableStaysBelowTheNotices(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, live: true, width: func() int { return 12 }}
	show := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, terminal(t, b.String())); diff != "" {
			t.Errorf("on the terminal (-want +got):\n%s", diff)
		}
	}
	fmt.Fprint(s, "notice one\n")
	show("notice one\n")
	s.table("one\ntwo\n")
	show("notice one\none\ntwo\n")
	fmt.Fprint(s, "notice two\nand more\n")
	show("notice one\nnotice two\nand more\none\ntwo\n")
	s.table("a line that is too long\n实例正在运行中呢\nthree\n")
	show("notice one\nnotice two\nand more\na line that…\n实例正在运…\nthree\n")
	s.table("one\n")
	show("notice one\nnotice two\nand more\none\n")
}

func TestWithoutATerminalEverythingIsPrintedOnce(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, width: func() int { return 5 }}
	s.table("a table that is wide\n")
	fmt.Fprint(s, "notice\n")
	s.table("two\n")
	if diff := cmp.Diff("a table that is wide\n\nnotice\ntwo\n\n", b.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}
