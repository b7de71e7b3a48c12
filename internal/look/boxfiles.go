package look

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"curfew/fleet"
)

// endedKept is how many of the ended runs are reported.
const endedKept = 100

// saidBytes is the most that a run file may tell of its output.
const saidBytes = 1024

// readRuns reads the in-box run files, one per line. A file that cannot be read
// may be a run going on: then the reading as a whole has failed.
func readRuns(s section, c clock, q question) ([]fleet.BoxRun, string) {
	why := s.failed(q.cut)
	if s.whole && s.status == "nohome" {
		why = "the login has no home directory"
	} else if s.whole && s.status == "locked" {
		why = "~/.curfew/runs cannot be listed"
	}
	var open, ended []fleet.BoxRun
	lines := s.lines()
	if !s.whole && len(lines) > 0 {
		lines = lines[:len(lines)-1] // may be a part
	}
	for _, line := range lines {
		r, bad := readRun(line, c.began.Add(futureSlack), q.ahead)
		switch {
		case bad != "":
			why = cmp.Or(why, bad)
		case r.EndedAt.IsZero():
			open = append(open, r)
		default:
			ended = append(ended, r)
		}
	}
	slices.SortStableFunc(ended, func(a, b fleet.BoxRun) int { return b.EndedAt.Compare(a.EndedAt) })
	runs := append(open, ended[:min(len(ended), endedKept)]...)
	slices.SortFunc(runs, func(a, b fleet.BoxRun) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
	})
	return runs, why
}

// futureSlack is how far ahead of the box's clock a run may have begun: that clock
// may have been set meanwhile. What is further ahead was written under another clock,
// and says nothing of this boot.
const futureSlack = time.Minute

// readRun reads "run ID/ words", or says what is wrong with it. latest is when a run
// can have begun, or ended, at the latest.
func readRun(line string, latest time.Time, ahead time.Duration) (fleet.BoxRun, string) {
	if name, locked := strings.CutPrefix(line, "locked "); locked {
		return fleet.BoxRun{}, "run file " + Short(name) + " cannot be read"
	}
	rest, ok := strings.CutPrefix(line, "run ")
	id, words, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || !runID(id) {
		return fleet.BoxRun{}, "unclear run file: " + Short(line)
	}
	r := fleet.BoxRun{ID: id}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		key, value, _ := strings.Cut(word, "=")
		ok := !seen[key] || key == "gone"
		seen[key] = true
		if !ok {
			return fleet.BoxRun{}, "run file " + id + " says twice: " + Short(key)
		}
		switch key {
		case "start":
			r.StartedAt, ok = unix(value)
		case "end":
			r.EndedAt, ok = unix(value)
		case "exit":
			var code int
			code, ok = exitCode(value)
			r.ExitCode = &code
		case "pid":
			var pid uint64
			var err error
			pid, err = strconv.ParseUint(value, 10, 31)
			r.PID, ok = int(pid), err == nil
		case "child", "pid_start", "child_start":
			_, err := strconv.ParseUint(value, 10, 63)
			ok = err == nil
		case "gone":
			r.PIDGone = true
		case "then":
			r.Then = value
		case "said":
			r.Said = said(value)
		}
		if !ok {
			return fleet.BoxRun{}, "run file " + id + ": unclear " + Short(word)
		}
	}
	switch {
	case r.StartedAt.IsZero():
		return fleet.BoxRun{}, "run file " + id + " has no start"
	case r.StartedAt.After(latest) || r.EndedAt.After(latest):
		return fleet.BoxRun{}, "run file " + id + " tells of a time that is still to come"
	case !r.EndedAt.IsZero() && r.EndedAt.Before(r.StartedAt):
		return fleet.BoxRun{}, "run file " + id + " ends before it starts"
	}
	r.StartedAt = r.StartedAt.Add(-ahead)
	if !r.EndedAt.IsZero() {
		r.EndedAt = r.EndedAt.Add(-ahead)
		r.PIDGone = false
	} else {
		r.ExitCode, r.Said = nil, "" // a code without an end is no end
	}
	return r, ""
}

// said reads the last lines of a run's output. They are for people only: what
// cannot be read is left out.
func said(s string) string {
	text, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(text) > saidBytes || !utf8.Valid(text) {
		return ""
	}
	return string(text)
}

// exitCode reads what the shell calls $?, or the negative number of a signal.
func exitCode(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 16)
	return int(n), err == nil
}

func runID(s string) bool {
	return s != "" && s[0] != '.' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// readHold reads the hold file: its modification time, then its content.
func readHold(s section, c clock, q question) (time.Time, string) {
	if why := s.failed(q.cut); why != "" {
		if s.status == "nohome" {
			why = "the login has no home directory"
		}
		return time.Time{}, why
	}
	if s.body == "" {
		return time.Time{}, "" // there is no such file
	}
	when, content, _ := strings.Cut(s.body, "\n")
	written, ok := unix(when)
	if !ok {
		return time.Time{}, "unclear: " + Short(s.body)
	}
	wish, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	wish = strings.TrimSpace(wish)
	zone := q.zone
	if zone == nil {
		zone = c.zone
	}
	// A time of day is that of the zone, so the box's clock is corrected first.
	until, ok := holdUntil(written.Add(-q.ahead), wish, zone)
	if !ok {
		return time.Time{}, "~/.curfew/hold says " + strconv.Quote(Short(wish)) + "; write 2h or 08:00"
	}
	return until, ""
}

func holdUntil(written time.Time, wish string, zone *time.Location) (time.Time, bool) {
	if d, err := time.ParseDuration(wish); err == nil {
		return written.Add(d), d > 0
	}
	of, err := time.Parse("15:04", wish)
	if err != nil {
		return time.Time{}, false
	}
	local := written.In(zone)
	for day := range 3 {
		t := time.Date(local.Year(), local.Month(), local.Day()+day, of.Hour(), of.Minute(), 0, 0, zone)
		if t.After(written) {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
