package policies

import (
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// Success says when a run has reached its aim: every key given must hold. None
// given means exit 0.
type Success struct {
	Exit bool       // the exit code was 0
	File string     // changed after the run began
	Log  SuccessLog // a line written after the run began
}

// given reports whether any key was given.
func (s Success) given() bool { return s.Exit || s.File != "" || s.Log.File != "" }

// SuccessLog is a line to look for in a log.
type SuccessLog struct {
	File  string
	Match func(line string) bool // nil: no such key
}

// The reasons of an outcome.
const (
	ReasonSucceeded fleet.Code = "policy.succeeded"
	// ReasonSucceededExit is told of runs whose end a person waits for.
	ReasonSucceededExit fleet.Code = "policy.succeeded-exit"
	ReasonFailed        fleet.Code = "policy.failed"
	ReasonFailedExit    fleet.Code = "policy.failed-exit"
	ReasonUnproven      fleet.Code = "policy.unproven"
	ReasonNoExit        fleet.Code = "policy.no-exit"
	ReasonFileUnread    fleet.Code = "policy.file-unread"
	ReasonFileMissing   fleet.Code = "policy.file-missing"
	ReasonFileOld       fleet.Code = "policy.file-old"
	ReasonLogUnmarked   fleet.Code = "policy.log-unmarked"
	ReasonLogNoLine     fleet.Code = "policy.log-no-line"
)

// exitSlack is how much earlier than a look an exit may seem that came after
// it: the two are told by clocks that differ a little.
const exitSlack = 10 * time.Second

// ending is what is known of the end of a run.
type ending struct {
	last        fleet.Run   // the run that ended last
	overlapping []fleet.Run // those that ended and went on at the same time, without it
	facts       fleet.Facts
}

// overlapping gives the other ended runs that went on at the same time: the
// same work told by another source, or work beside it.
func overlapping(last fleet.Run, runs []fleet.Run) []fleet.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r fleet.Run) bool {
		return r.ID == last.ID || r.End != fleet.RunEnded ||
			!r.StartedAt.Before(last.EndedAt) || !last.StartedAt.Before(r.EndedAt)
	})
}

// outcome tells whether the run reached its aim, and why that is so. A bad exit
// beats everything; whatever is missing or could not be read proves nothing.
func (s Success) outcome(e ending) (fleet.RunOutcome, fleet.Reason) {
	code, exited := e.exit()
	if exited && code != 0 {
		return fleet.OutcomeFailed, fleet.Because(ReasonFailedExit, fleet.Values{"exit": fleet.Number(float64(code))})
	}
	none := !s.Exit && s.File == "" && s.Log.Match == nil
	var why fleet.Reason
	if (s.Exit || none) && !exited {
		why = fleet.Because(ReasonNoExit, nil)
	}
	if s.File != "" && why.IsZero() {
		why = e.fileChanged(s.File)
	}
	if s.Log.Match != nil && why.IsZero() {
		why = e.lineWritten(s.Log)
	}
	if why.IsZero() {
		return fleet.OutcomeSucceeded, fleet.Because(ReasonSucceeded, nil)
	}
	return fleet.OutcomeUnproven, why
}

// named gives an outcome whose why is no longer known.
func named(outcome fleet.RunOutcome) fleet.Reason {
	switch outcome {
	case fleet.OutcomeSucceeded:
		return fleet.Because(ReasonSucceeded, nil)
	case fleet.OutcomeFailed:
		return fleet.Because(ReasonFailed, nil)
	}
	return fleet.Because(ReasonUnproven, nil)
}

// exit gives the first bad exit code of the work, or 0 if there is an exit and
// all were good. The good exit of something that was over while the run was
// still seen going on is not its exit; one that told of no exit leaves it open.
func (e ending) exit() (code int, ok bool) {
	open := false
	for _, r := range append([]fleet.Run{e.last}, e.overlapping...) {
		switch {
		case r.Source == runByProcess:
		case r.ExitCode == nil:
			open = true
		case *r.ExitCode != 0:
			return *r.ExitCode, true
		case r.ID == e.last.ID || !r.EndedAt.Before(e.last.Seen.Add(-exitSlack)):
			ok = true
		}
	}
	return 0, ok && !open
}

// began is when the last part of the work began: what was there before proves
// nothing.
func (e ending) began() time.Time {
	at := e.last.StartedAt
	for _, r := range e.overlapping {
		if r.StartedAt.After(at) {
			at = r.StartedAt
		}
	}
	return at
}

// readable gives a watched file, or the reason why it says nothing.
func (e ending) readable(path string) (fleet.FileFact, fleet.Reason) {
	fact, asked := e.facts.Files[path]
	file := fleet.Text(path)
	switch {
	case !asked:
		return fact, fleet.Because(ReasonFileUnread, fleet.Values{"file": file, "why": fleet.Text("")})
	case fact.Err != "":
		return fact, fleet.Because(ReasonFileUnread, fleet.Values{"file": file, "why": fleet.Text(fact.Err)})
	case !fact.Exists:
		return fact, fleet.Because(ReasonFileMissing, fleet.Values{"file": file})
	}
	return fact, fleet.Reason{}
}

func (e ending) fileChanged(path string) fleet.Reason {
	fact, why := e.readable(path)
	if why.IsZero() && !fact.ModTime.After(e.began()) {
		why = fleet.Because(ReasonFileOld, fleet.Values{
			"file": fleet.Text(path), "changed": fleet.Moment(fact.ModTime)})
	}
	return why
}

func (e ending) lineWritten(log SuccessLog) fleet.Reason {
	fact, why := e.readable(log.File)
	if !why.IsZero() {
		return why
	}
	mark, marked := e.mark(log.File)
	if !marked {
		return fleet.Because(ReasonLogUnmarked, fleet.Values{"file": fleet.Text(log.File)})
	}
	if !slices.ContainsFunc(linesAfter(fact, mark), log.Match) {
		return fleet.Because(ReasonLogNoLine, fleet.Values{"file": fleet.Text(log.File)})
	}
	return fleet.Reason{}
}

// mark is how long the log was when the last part of the work was first seen.
func (e ending) mark(log string) (int64, bool) {
	mark, marked := e.last.Marks[log]
	for _, r := range e.overlapping {
		if m, ok := r.Marks[log]; ok {
			mark, marked = max(mark, m), true
		}
	}
	return mark, marked
}

// linesAfter gives the lines of a log's tail that lie wholly behind the mark.
// A log shorter than its mark was written anew.
func linesAfter(fact fleet.FileFact, mark int64) []string {
	if fact.Size < mark {
		mark = 0
	}
	tail := fact.Tail
	begins := fact.Size - int64(len(tail))
	from := max(mark-begins, 0)
	whole := begins+from <= 0 || from > 0 && tail[from-1] == '\n'
	tail = tail[from:]
	if !whole {
		_, rest, more := strings.Cut(tail, "\n")
		if !more {
			return nil
		}
		tail = rest
	}
	if tail == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(tail, "\n"), "\n")
	for n := range lines {
		lines[n] = strings.TrimSuffix(lines[n], "\r")
	}
	return lines
}

// lastLines cuts a log's tail to what a message can carry.
func lastLines(tail string) string {
	const lines, runes = 5, 500
	all := strings.Split(strings.TrimSpace(tail), "\n")
	text := []rune(strings.Join(all[max(0, len(all)-lines):], "\n"))
	return string(text[max(0, len(text)-runes):])
}
