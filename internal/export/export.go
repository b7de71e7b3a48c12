// Package export copies data away from inside an instance before that goes: it asks
// whether the files that must be there are, runs a command that copies them and one
// that proves the copy. It says in a word people understand why it failed. It decides
// nothing and remembers nothing.
package export

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/boxsh"
	"curfew/internal/look"
	"curfew/signals/probe"
)

// Why an export failed.
const (
	ReasonUnreachable  fleet.Code = "export.unreachable" // it was not even begun
	ReasonUnfilled     fleet.Code = "export.unfilled"
	ReasonMissing      fleet.Code = "export.missing"
	ReasonOld          fleet.Code = "export.old"
	ReasonUnread       fleet.Code = "export.unread"
	ReasonFailed       fleet.Code = "export.failed"
	ReasonVerifyFailed fleet.Code = "export.verify-failed"
	ReasonKilled       fleet.Code = "export.killed"
	ReasonTimedOut     fleet.Code = "export.timed-out"
	ReasonLost         fleet.Code = "export.lost"
)

// Job is one export.
type Job struct {
	Instance fleet.Instance
	Export   fleet.Export
	// Since is when the run began by our clock: files that must be there changed
	// since. Zero: whenever.
	Since time.Time
}

// Result is what became of an export.
type Result struct {
	Begun bool         // something may have been done inside
	Why   fleet.Reason // why it failed; zero: everything was copied and proven
}

// Exporter carries exports out. It may be used from several goroutines.
type Exporter struct {
	boxsh.Login
	Now func() time.Time
}

// Export carries one out. An error means that ctx ended first and that nothing can be
// told; what had been started is over then, or ends by itself.
func (x *Exporter) Export(ctx context.Context, job Job) (Result, error) {
	run, why := fill(job.Export.Run, job.Instance)
	if !why.IsZero() {
		return Result{Why: why}, nil
	}
	verify, why := fill(job.Export.Verify, job.Instance)
	if !why.IsZero() {
		return Result{Why: why}, nil
	}
	limited, cancel := context.WithTimeout(ctx, job.Export.Timeout)
	defer cancel()
	sh, redact, err := x.Open(limited, job.Instance, look.ExportArgs)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{Why: fleet.Because(ReasonUnreachable, fleet.Values{"error": fleet.Text(redact.String(err.Error()))})}, nil
	}
	defer sh.Close()
	one := &running{shell: sh, job: job, now: x.Now, redact: redact}
	why = one.required(limited)
	if why.IsZero() {
		why = one.command(limited, run, ReasonFailed)
	}
	if why.IsZero() && verify != "" {
		why = one.command(limited, verify, ReasonVerifyFailed)
	}
	if ctx.Err() != nil {
		return Result{Begun: true}, ctx.Err()
	}
	return Result{Begun: true, Why: why}, nil
}

// fill puts what is known of an instance into a command.
func fill(command string, i fleet.Instance) (string, fleet.Reason) {
	if command == "" {
		return "", fleet.Reason{}
	}
	q, err := probe.ParseCommand(command)
	if err != nil { // the configuration has let it pass
		return "", fleet.Because(ReasonUnfilled, fleet.Values{"why": fleet.Text(err.Error())})
	}
	text, why := q.About(i)
	if !why.IsZero() {
		return "", fleet.Because(ReasonUnfilled, fleet.Values{"why": fleet.Nested(why)})
	}
	return text, fleet.Reason{}
}
