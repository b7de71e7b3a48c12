// Package doctor judges what was found out about an installation of curfew: each
// finding is fine, worth a look, or broken, in words and with what to do about it.
// It touches nothing: finding out is the command's.
package doctor

import (
	"slices"

	"curfew/fleet"
)

// Level is how good or bad a result is.
type Level string

// The levels. Only what is Bad keeps curfew from its work.
const (
	Fine Level = "ok"
	Warn Level = "warn"
	Bad  Level = "bad"
)

// Result is what one check came to.
type Result struct {
	Check   string       `json:"check"`             // such as state
	Subject string       `json:"subject,omitempty"` // what it is about, where there are several
	Level   Level        `json:"level"`
	What    fleet.Reason `json:"what"`
	Do      fleet.Reason `json:"do,omitzero"` // what to do; zero where nothing is to be done
}

// The checks.
const (
	CheckClock   = "clock"
	CheckZone    = "zone"
	CheckState   = "state"
	CheckDisk    = "disk"
	CheckDaemon  = "daemon"
	CheckAccount = "account"
	CheckSignal  = "signal"
	CheckChannel = "channel"
	CheckPing    = "ping"
	CheckBox     = "box"
)

func fine(check, subject string, what fleet.Reason) Result {
	return Result{Check: check, Subject: subject, Level: Fine, What: what}
}

func warn(check, subject string, what, do fleet.Reason) Result {
	return Result{Check: check, Subject: subject, Level: Warn, What: what, Do: do}
}

func bad(check, subject string, what, do fleet.Reason) Result {
	return Result{Check: check, Subject: subject, Level: Bad, What: what, Do: do}
}

// Count says how many results are of a level.
func Count(rs []Result, l Level) int {
	n := 0
	for _, r := range rs {
		if r.Level == l {
			n++
		}
	}
	return n
}

// Healthy reports whether nothing is broken.
func Healthy(rs []Result) bool {
	return !slices.ContainsFunc(rs, func(r Result) bool { return r.Level == Bad })
}
