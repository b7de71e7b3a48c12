package doctor

import (
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
)

// Of the daemon.
const (
	ReasonDaemonRuns     fleet.Code = "doctor.daemon-runs"
	ReasonDaemonNone     fleet.Code = "doctor.daemon-none"
	ReasonDaemonSilent   fleet.Code = "doctor.daemon-silent"
	ReasonDaemonVersion  fleet.Code = "doctor.daemon-version"
	ReasonDaemonStuck    fleet.Code = "doctor.daemon-stuck"
	ReasonDaemonDatabase fleet.Code = "doctor.daemon-database"
	ReasonDaemonReload   fleet.Code = "doctor.daemon-reload"
	ReasonDaemonUnread   fleet.Code = "doctor.daemon-unread"
	DoDaemonStart        fleet.Code = "doctor.do-daemon-start"
	DoDaemonRestart      fleet.Code = "doctor.do-daemon-restart"
	DoDaemonLog          fleet.Code = "doctor.do-daemon-log"
	DoDaemonReload       fleet.Code = "doctor.do-daemon-reload"
)

// stuckAfter is how long no pass may have ended: one comes every minute at least.
const stuckAfter = 5 * time.Minute

// NoDaemon is the result where none runs.
func NoDaemon() Result {
	return warn(CheckDaemon, "", fleet.Because(ReasonDaemonNone, nil), fleet.Because(DoDaemonStart, nil))
}

// SilentDaemon is the result where one answers with an error, or not at all.
func SilentDaemon(err error) Result {
	return bad(CheckDaemon, "", fleet.Because(ReasonDaemonSilent, fleet.Values{"why": fleet.Text(err.Error())}), fleet.Because(DoDaemonLog, nil))
}

// Daemon judges a daemon by what it says of itself. version is that of whoever
// asks.
func Daemon(s ctl.Status, version string) []Result {
	runs := fleet.Values{
		"version": fleet.Text(s.Version), "since": fleet.Moment(s.StartedAt),
		"instances": fleet.Number(float64(s.Instances)), "acts": fleet.Number(float64(s.OpenActs)),
	}
	if !s.LastPass.IsZero() {
		runs["ago"] = fleet.Span(s.Now.Sub(s.LastPass))
	}
	out := []Result{fine(CheckDaemon, "", fleet.Because(ReasonDaemonRuns, runs))}
	if s.Version != version {
		out = append(out, warn(CheckDaemon, "", fleet.Because(ReasonDaemonVersion, fleet.Values{
			"daemon": fleet.Text(s.Version), "own": fleet.Text(version),
		}), fleet.Because(DoDaemonRestart, nil)))
	}
	if last := later(s.LastPass, s.StartedAt); s.Now.Sub(last) > stuckAfter {
		out = append(out, bad(CheckDaemon, "", fleet.Because(ReasonDaemonStuck, fleet.Values{"for": fleet.Span(s.Now.Sub(last))}), fleet.Because(DoDaemonLog, nil)))
	}
	if s.DatabaseError != "" {
		out = append(out, bad(CheckDaemon, "", fleet.Because(ReasonDaemonDatabase, fleet.Values{"why": fleet.Text(s.DatabaseError)}), fleet.Because(DoDaemonLog, nil)))
	}
	if s.LastReload != "" {
		out = append(out, bad(CheckDaemon, "", fleet.Because(ReasonDaemonReload, fleet.Values{"why": fleet.Text(s.LastReload)}), fleet.Because(DoDaemonReload, nil)))
	}
	for _, scope := range s.Scopes {
		if !scope.Failing.IsZero() {
			out = append(out, bad(CheckDaemon, "", fleet.Because(ReasonDaemonUnread, fleet.Values{
				"scope": fleet.Text(scope.Scope.String()), "since": fleet.Moment(scope.Since), "why": fleet.Nested(scope.Failing),
			}), fleet.Reason{}))
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
