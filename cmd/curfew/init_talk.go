package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"curfew/fleet"
	"curfew/internal/setup"
)

// errLeft says that somebody left, or that an answer was needed and none came.
var errLeft = errors.New("left")

// talk asks questions and reads an answer a line.
type talk struct {
	p     *program
	yes   bool // every default is taken
	lines *bufio.Reader
}

func newTalk(p *program, yes bool) *talk {
	return &talk{p: p, yes: yes, lines: bufio.NewReader(p.stdin)}
}

// w is where the talk is: beside the answer where that is for a program.
func (t *talk) w() io.Writer {
	if t.p.asJSON {
		return t.p.stderr
	}
	return t.p.stdout
}

func (t *talk) page() *page {
	g := t.p.page(t.p.now())
	g.w = t.w()
	return g
}

func (t *talk) line(code fleet.Code, v fleet.Values) { t.page().line(code, v) }

func (t *talk) say(code fleet.Code, v fleet.Values) string { return t.page().say(code, v) }

// ask puts a question until its answer can be taken. Saying nothing, or nothing
// more, is the default; where there is none, it ends the talk as q does.
func (t *talk) ask(ctx context.Context, q setup.Question) (string, error) {
	g := t.page()
	fmt.Fprintln(g.w)
	g.print(g.reason(q.Ask))
	var rows [][]string
	for n, o := range q.Options {
		label := o.Text
		if o.Note != "" {
			label = strings.TrimSpace(label + " (" + o.Note + ")")
		}
		rows = append(rows, []string{fmt.Sprint(n + 1), o.Name, label})
	}
	g.table(2, rows)
	for {
		shown := q.Default
		if q.Shown != "" {
			shown = q.Shown
		}
		if shown != "" {
			fmt.Fprintf(g.w, "[%s] ", shown)
		}
		fmt.Fprint(g.w, "> ")
		line, end, err := t.read(ctx, q)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(line) == "q" {
			return "", errLeft
		}
		if strings.TrimSpace(line) == "" && !q.HasDefault() {
			if end {
				t.p.note(wordNeeds, fleet.Values{"question": fleet.Nested(q.Ask)})
				return "", errLeft
			}
			continue
		}
		answer, why := q.Read(line)
		if why.IsZero() {
			return answer, nil
		}
		g.print(g.reason(why))
	}
}

// confirm asks for yes or no.
func (t *talk) confirm(ctx context.Context, ask fleet.Reason, def string) (bool, error) {
	answer, err := t.ask(ctx, setup.Question{Ask: ask, Default: def, Check: setup.YesNo})
	return answer == setup.Yes, err
}

// read reads a line; end says that there will be no other. What is typed on a
// terminal is seen there already, or must not be.
func (t *talk) read(ctx context.Context, q setup.Question) (line string, end bool, err error) {
	if t.yes {
		fmt.Fprintln(t.w())
		return "", true, nil
	}
	type answer struct {
		line string
		err  error
	}
	got, restore := make(chan answer, 1), func() {}
	if file, ok := t.p.stdin.(*os.File); ok && t.p.asks && q.Secret {
		fd := int(file.Fd())
		if before, err := term.GetState(fd); err == nil {
			restore = func() { _ = term.Restore(fd, before) } // nothing else can be done
		}
		go func() {
			secret, err := term.ReadPassword(fd)
			got <- answer{string(secret), err}
		}()
	} else {
		go func() {
			line, err := t.lines.ReadString('\n')
			got <- answer{line, err}
		}()
	}
	select {
	case <-ctx.Done():
		restore()
		fmt.Fprintln(t.w())
		return "", true, ctx.Err()
	case a := <-got:
		switch {
		case t.p.asks && (q.Secret || a.err != nil):
			fmt.Fprintln(t.w())
		case t.p.asks:
		case q.Secret && strings.TrimSpace(a.line) != "":
			fmt.Fprintln(t.w(), t.say(wordHidden, nil))
		default:
			fmt.Fprintln(t.w(), strings.TrimSpace(a.line))
		}
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return "", true, toldOf(failAnswer, a.err)
		}
		return a.line, a.err != nil, nil
	}
}
