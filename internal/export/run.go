package export

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/internal/proc"
	"curfew/internal/sshx"
)

// saidBytes is how much of the end of what a command writes is kept, saidLetters how
// much of that is told.
const (
	saidBytes   = 4 << 10
	saidLetters = 160
)

// running is one export under way.
type running struct {
	shell  shell
	job    Job
	now    func() time.Time
	redact *httpx.Redactor
}

// required asks for the files that must be there.
func (r *running) required(ctx context.Context) fleet.Reason {
	if len(r.job.Export.Require) == 0 {
		return fleet.Reason{}
	}
	mark := newMark()
	began := r.now()
	out, err := r.shell.run(ctx, script{body: clockScript(mark), limit: r.limit()})
	ended := r.now()
	if err != nil {
		return r.because(ctx, out, err, ReasonUnread)
	}
	box, ok := readClock(out, mark)
	if !ok {
		return fleet.Because(ReasonUnread, fleet.Values{"status": fleet.Number(0), "said": fleet.Text(r.said(out))})
	}
	since := time.Time{}
	if !r.job.Since.IsZero() {
		ahead := box.Sub(began.Add(ended.Sub(began) / 2))
		since = r.job.Since.Add(ahead)
	}
	out, err = r.shell.run(ctx, script{body: requireScript(mark, r.job.Export.Require, since), limit: r.limit()})
	if err != nil {
		return r.because(ctx, out, err, ReasonUnread)
	}
	n, word, ok := readRequired(out, mark)
	switch {
	case !ok || n >= len(r.job.Export.Require):
		return fleet.Because(ReasonUnread, fleet.Values{"status": fleet.Number(0), "said": fleet.Text(r.said(out))})
	case word == wordOld:
		return fleet.Because(ReasonOld, fleet.Values{"file": fleet.Text(r.job.Export.Require[n]), "began": fleet.Moment(r.job.Since)})
	case word == wordMissing:
		return fleet.Because(ReasonMissing, fleet.Values{"file": fleet.Text(r.job.Export.Require[n])})
	}
	return fleet.Reason{}
}

// command runs one of the two commands in a login shell.
func (r *running) command(ctx context.Context, command string, failed fleet.Code) fleet.Reason {
	out, err := r.shell.run(ctx, script{body: loginScript(command), limit: r.limit()})
	if err == nil {
		return fleet.Reason{}
	}
	return r.because(ctx, out, err, failed)
}

// limit is how long a script may take by its own watch: longer than all of it may take by ours,
// which cannot reach it where the network has gone silent.
func (r *running) limit() time.Duration {
	return r.job.Export.Timeout + watchSlack
}

const watchSlack = 5 * time.Second

// because says why a script did not end well.
func (r *running) because(ctx context.Context, out []byte, err error, failed fleet.Code) fleet.Reason {
	said := fleet.Text(r.said(out))
	var exit *exitError
	switch {
	case ctx.Err() != nil || errors.Is(err, sshx.ErrTimedOut):
		return fleet.Because(ReasonTimedOut, fleet.Values{"timeout": fleet.Span(r.job.Export.Timeout), "said": said})
	case errors.Is(err, sshx.ErrLost):
		return fleet.Because(ReasonLost, fleet.Values{"said": said})
	case errors.As(err, &exit):
		return fleet.Because(failed, fleet.Values{"status": fleet.Number(float64(exit.status)), "said": said})
	}
	return fleet.Because(ReasonKilled, fleet.Values{"error": fleet.Text(short(r.redact.String(err.Error()))), "said": said})
}

// said makes the last words of a command fit for a message: without secrets and
// control characters, the last lines only.
func (r *running) said(out []byte) string {
	text := r.redact.String(strings.ToValidUTF8(string(out), ""))
	var lines []string
	for line := range strings.Lines(text) {
		// What a progress bar wrote over is gone.
		line = strings.TrimRight(line, "\r\n ")
		line = line[strings.LastIndex(line, "\r")+1:]
		if line = printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return short(strings.Join(lines[max(0, len(lines)-saidLines):], " / "))
}

const saidLines = 2

func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s))
}

// short keeps the end of a text: that is where programs say why.
func short(s string) string {
	if runes := []rune(s); len(runes) > saidLetters {
		return "…" + string(runes[len(runes)-saidLetters:])
	}
	return s
}

// exitError is a script that ended with another status than 0.
type exitError struct{ status int }

// Error gives the status.
func (e *exitError) Error() string { return "it ended with another exit status than 0" }

// far is a shell at the other end of a connection. Everything it starts ends with the
// connection.
type far struct{ conn *sshx.Conn }

func (f far) run(ctx context.Context, s script) ([]byte, error) {
	out, err := f.conn.Tether(ctx, scriptCommand, s.tethered(), saidBytes)
	if exit, ok := errors.AsType[*sshx.Exit](err); ok && exit.Status >= 0 {
		err = &exitError{exit.Status}
	}
	return out, err
}

func (f far) close() { f.conn.Close() }

// here is a shell of this machine.
type here struct{ env []string }

func (h here) run(ctx context.Context, s script) ([]byte, error) {
	started := proc.Start(proc.Command{
		Path: "/bin/sh", Args: scriptArgs(), Env: h.env, Stdin: s.alone(), Tail: saidBytes,
	})
	got := started.Wait(ctx)
	if code, ok := exited(got.Err); ok {
		return got.Out, &exitError{code}
	}
	return got.Out, got.Err
}

func (h here) close() {}
