package main

import (
	"io"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// screen shows notices that scroll and, on a terminal, a table below them that
// stays. Where the output is no terminal, both are printed as they come.
type screen struct {
	w     io.Writer
	live  bool
	width func() int

	mu   sync.Mutex
	rows []string // on the terminal now
}

func (p *program) screen() *screen {
	return &screen{w: p.stdout, live: p.tables, width: func() int {
		width, _ := p.size()
		return width
	}}
}

// Write prints a notice above the table.
func (s *screen) Write(notice []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.WriteString(s.w, s.erase()+string(notice)+strings.Join(s.rows, "")); err != nil {
		return 0, err
	}
	return len(notice), nil
}

// table shows a table in place of the last one.
func (s *screen) table(t string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.erase()
	s.rows = nil
	if s.live {
		for line := range strings.Lines(t) {
			line = strings.TrimRight(line, "\n")
			if width := s.width(); width > 0 {
				line = (&runewidth.Condition{}).Truncate(line, width, "…") // a folded line would be two
			}
			s.rows = append(s.rows, line+"\n")
		}
		t = strings.Join(s.rows, "")
	} else {
		t += "\n"
	}
	_, _ = io.WriteString(s.w, out+t) // the next notice will fail, too, and says so
}

// erase gives what takes the present table off the terminal.
func (s *screen) erase() string { return strings.Repeat("\x1b[A\x1b[2K", len(s.rows)) }
