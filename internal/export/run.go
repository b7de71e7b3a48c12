package export

import (
	"context"
	"errors"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/boxsh"
	"curfew/internal/httpx"
	"curfew/internal/sshx"
)

// saidBytes is how much of the end of what a command writes is kept, saidLines how much
// of that is told at most.
const (
	saidBytes = 4 << 10
	saidLines = 2
)

// running is one export under way.
type running struct {
	shell  *boxsh.Shell
	job    Job
	now    func() time.Time
	redact *httpx.Redactor
}

// required asks for the files that must be there.
func (r *running) required(ctx context.Context) fleet.Reason {
	if len(r.job.Export.Require) == 0 {
		return fleet.Reason{}
	}
	mark := boxsh.Mark()
	began := r.now()
	out, err := r.run(ctx, clockScript(mark))
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
	out, err = r.run(ctx, requireScript(mark, r.job.Export.Require, since))
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
	out, err := r.run(ctx, boxsh.LoginShell("", command))
	if err == nil {
		return fleet.Reason{}
	}
	return r.because(ctx, out, err, failed)
}

func (r *running) run(ctx context.Context, body string) ([]byte, error) {
	return r.shell.Run(ctx, boxsh.Script{Body: body, Timeout: r.job.Export.Timeout}, saidBytes)
}

// because says why a script did not end well.
func (r *running) because(ctx context.Context, out []byte, err error, failed fleet.Code) fleet.Reason {
	said := fleet.Text(r.said(out))
	var exit *boxsh.Exit
	switch {
	case ctx.Err() != nil || errors.Is(err, sshx.ErrTimedOut):
		return fleet.Because(ReasonTimedOut, fleet.Values{"timeout": fleet.Span(r.job.Export.Timeout), "said": said})
	case errors.Is(err, sshx.ErrLost):
		return fleet.Because(ReasonLost, fleet.Values{"said": said})
	case errors.As(err, &exit):
		return fleet.Because(failed, fleet.Values{"status": fleet.Number(float64(exit.Status)), "said": said})
	}
	return fleet.Because(ReasonKilled, fleet.Values{"error": fleet.Text(boxsh.Short(r.redact.String(err.Error()))), "said": said})
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
		if line = boxsh.Printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return boxsh.Short(strings.Join(lines[max(0, len(lines)-saidLines):], " / "))
}
