package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/internal/text"
)

// page writes an answer for people: plain lines and tables, in their language,
// with colour only where a word says the same.
type page struct {
	w      io.Writer
	r      *text.Renderer
	now    time.Time
	width  int // of the terminal; 0: lines are as long as they are
	colour bool
}

// page begins a page on stdout; now is the moment the answer is of.
func (p *program) page(now time.Time) *page {
	g := &page{w: p.stdout, r: p.render, now: now}
	if p.tables {
		_, no := p.lookupEnv("NO_COLOR")
		g.colour = !no && p.env("TERM") != "dumb"
		g.width, _ = p.size()
	}
	return g
}

func (g *page) say(code fleet.Code, v fleet.Values) string {
	return g.r.Reason(fleet.Because(code, v), g.now)
}

func (g *page) line(code fleet.Code, v fleet.Values) { g.print(g.say(code, v)) }

// print writes a line that may be long, folded below its own indentation.
func (g *page) print(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for n, part := range g.fold(line[indent:], g.width-indent) {
			hang := indent
			if n > 0 {
				hang += 2
			}
			fmt.Fprintln(g.w, strings.Repeat(" ", hang)+part)
		}
	}
}

func (g *page) moment(t time.Time) string { return g.r.Moment(t.Truncate(time.Second), g.now) }

func (g *page) reason(r fleet.Reason) string { return g.r.Reason(r, g.now) }

// paint colours a word by the guard's answer it stands for.
func (g *page) paint(a guard.Answer, s string) string {
	if !g.colour {
		return s
	}
	c := color.New(map[guard.Answer]color.Attribute{guard.Allow: color.FgGreen, guard.Wait: color.FgYellow, guard.Refuse: color.FgRed}[a])
	c.EnableColor()
	return c.Sprint(s)
}

func (g *page) bold(s string) string {
	if !g.colour {
		return s
	}
	c := color.New(color.Bold)
	c.EnableColor()
	return c.Sprint(s)
}

// table writes rows in columns as wide as their widest cell. Only the last cell
// of a row may be long: it is folded where the terminal ends.
func (g *page) table(indent int, rows [][]string) {
	var wide []int
	for _, row := range rows {
		for n, cell := range row {
			if n == len(wide) {
				wide = append(wide, 0)
			}
			wide[n] = max(wide[n], columns(cell))
		}
	}
	const gap = "  "
	for _, row := range rows {
		at, begin := indent, strings.Repeat(" ", indent)
		for n, cell := range row[:len(row)-1] {
			begin += cell + strings.Repeat(" ", wide[n]-columns(cell)) + gap
			at += wide[n] + len(gap)
		}
		for n, part := range g.fold(row[len(row)-1], g.width-at) {
			if n > 0 {
				begin = strings.Repeat(" ", at)
			}
			fmt.Fprintln(g.w, strings.TrimRight(begin+part, " "))
		}
	}
}

// fold cuts a text into lines of a width, between words where it can. A width too
// small to read in is no width.
func (g *page) fold(s string, width int) []string {
	s = strings.ReplaceAll(s, "\n", " ")
	if g.width == 0 || width < 16 || columns(s) <= width {
		return []string{s}
	}
	var lines []string
	rest := []rune(s)
	for len(rest) > 0 {
		fits, space, used := 0, 0, 0
		for fits < len(rest) {
			used += columns(string(rest[fits]))
			if used > width {
				break
			}
			if rest[fits] == ' ' || columns(string(rest[fits])) == 2 {
				space = fits + 1
			}
			fits++
		}
		if fits < len(rest) && rest[fits] != ' ' && space > 0 {
			fits = space
		}
		lines = append(lines, strings.TrimRight(string(rest[:fits]), " "))
		rest = []rune(strings.TrimLeft(string(rest[fits:]), " "))
	}
	return lines
}

// columns is how many cells of a terminal a text takes, escapes of colour left
// out.
func columns(s string) int {
	for {
		begin := strings.Index(s, "\x1b[")
		if begin < 0 {
			break
		}
		end := strings.IndexByte(s[begin:], 'm')
		if end < 0 {
			break
		}
		s = s[:begin] + s[begin+end+1:]
	}
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(s)
}

// note says something beside the answer, on stderr.
func (p *program) note(code fleet.Code, v fleet.Values) {
	if r, err := p.reader(); err == nil { // every text is a template
		fmt.Fprintln(p.stderr, r.Reason(fleet.Because(code, v), p.now()))
	}
}

// progressAfter is how long a command may be silent on a terminal.
const progressAfter = 2 * time.Second

// progress runs f and, where it takes long and somebody watches, says what is
// going on and since when.
func (p *program) progress(ctx context.Context, what fleet.Code, f func() error) error {
	if !p.notes {
		return f()
	}
	done, gone := make(chan struct{}), make(chan struct{})
	began := p.now()
	go func() {
		defer close(gone)
		tick := time.NewTimer(progressAfter)
		defer tick.Stop()
		for shown := false; ; shown = true {
			select {
			case <-tick.C:
				s := p.render.Reason(fleet.Because(what, fleet.Values{"for": fleet.Span(p.now().Sub(began))}), p.now())
				fmt.Fprint(p.stderr, "\r\x1b[K"+s)
				tick.Reset(time.Second)
				continue
			case <-ctx.Done():
			case <-done:
			}
			if shown {
				fmt.Fprint(p.stderr, "\r\x1b[K")
			}
			return
		}
	}()
	err := f()
	close(done)
	<-gone
	return err
}
