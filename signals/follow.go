package signals

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
)

// The confirmation used where a [RunRule] gives none, and for in-box runs whose
// files have disappeared.
const (
	DefaultLooks = 2
	DefaultApart = time.Minute
)

// lookSlack is how long after the beginning of a look a process that it shows
// may have started; one later than that tells of a clock that is wrong.
const lookSlack = time.Minute

// workLoad is the load average from which the processor counts as used.
const workLoad = 0.5

// Where a run is known from, as in fleet.Run.Source.
const (
	RunByProcess = "process"
	RunByFile    = "file"
	RunByPing    = "ping"
)

// Follow folds one judged look at an instance into its runs and gives them
// back, oldest first. prev is left as it is.
//
//	         match / start file
//	(none) ──────────────────────► open ──┬─ end file, or enough looks without it ──► ended
//	                                ▲     ├─ another Boot ──────────────────────────► interrupted
//	                                └─────┴─ idle for too many looks ───────────────► lost
//	                            used again
//
// Only looks that got in and could read count for or against a run: others
// neither advance nor reset anything, so a gap never ends a run. The same look
// folded twice counts once, and one older than what is known of a run says
// nothing of it.
func Follow(ref fleet.Ref, prev []fleet.Run, e fleet.Evidence, rules []RunRule) []fleet.Run {
	f := &follower{ref: ref, look: e, runs: slices.Clone(prev)}
	for n := range f.runs {
		f.runs[n].Marks = maps.Clone(f.runs[n].Marks)
	}
	if e.Boot != "" && !e.SeenAt.IsZero() && !f.late() {
		f.interrupt()
		for _, rule := range rules {
			f.process(rule)
		}
		f.files(rules)
		f.pings(rules)
		f.busyAfter()
	}
	slices.SortStableFunc(f.runs, func(a, b fleet.Run) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID), cmp.Compare(a.Boot, b.Boot))
	})
	return f.runs
}

type follower struct {
	ref  fleet.Ref
	look fleet.Evidence
	runs []fleet.Run
}

// late reports whether the look is of a Boot that has since been left.
func (f *follower) late() bool {
	return slices.ContainsFunc(f.runs, func(r fleet.Run) bool {
		return r.Boot != f.look.Boot && !f.fresh(r)
	})
}

// fresh reports whether the look is newer than all that is known of a run.
func (f *follower) fresh(r fleet.Run) bool { return f.look.SeenAt.After(r.LookedAt) }

func (f *follower) interrupt() {
	for n := range f.runs {
		if r := &f.runs[n]; r.Open() && r.Boot != f.look.Boot {
			f.end(r, fleet.RunInterrupted, f.look.SeenAt)
		}
	}
}

func (f *follower) end(r *fleet.Run, how fleet.RunEnd, at time.Time) {
	r.End, r.EndedAt, r.LookedAt = how, at, f.look.SeenAt
}

// newest gives the run of this Boot that began last of those that are so, or
// nil.
func (f *follower) newest(so func(fleet.Run) bool) *fleet.Run {
	var best *fleet.Run
	for n := range f.runs {
		r := &f.runs[n]
		if r.Boot == f.look.Boot && so(*r) && (best == nil || r.StartedAt.After(best.StartedAt)) {
			best = r
		}
	}
	return best
}

func (f *follower) process(rule RunRule) {
	last := f.newest(func(r fleet.Run) bool { return r.Source == RunByProcess && r.Policy == rule.Policy })
	if last != nil && !f.fresh(*last) {
		return
	}
	switch facts := f.look.Facts; {
	case len(facts.Matched[rule.Policy]) > 0:
		f.matching(rule, last)
	case facts.Reached && facts.ProcessesRead && !unread(facts, "processes") && last != nil:
		f.absent(last, rule.Looks, rule.Apart)
	}
}

func (f *follower) matching(rule RunRule, last *fleet.Run) {
	seenAt := f.look.SeenAt
	since := f.look.Facts.MatchedSince[rule.Policy]
	if since.After(seenAt.Add(lookSlack)) {
		since = time.Time{}
	}
	if last != nil {
		// What it was made of is gone and others have taken its place: what the
		// first wrote says nothing of the second.
		replaced := !since.IsZero() &&
			since.After(last.StartedAt.Add(bootSlack)) && since.After(last.Seen.Add(bootSlack))
		switch {
		case last.Open() && !replaced:
			f.goingOn(last, rule.PendingMax, rule.Logs)
			return
		case last.Open():
			at := since
			if last.Absent > 0 {
				at = last.AbsentSince
			}
			f.end(last, fleet.RunEnded, at)
		case last.End == fleet.RunLost && last.Absent == 0 && !replaced:
			f.stillLost(last)
			return
		}
	}
	started := since
	if started.IsZero() || last != nil && (started.Before(last.EndedAt) || started.Unix() <= last.StartedAt.Unix()) {
		started = seenAt
	}
	f.begin(fleet.Run{
		ID:     "p:" + rule.Policy + ":" + strconv.FormatInt(started.Unix(), 10),
		Source: RunByProcess, Policy: rule.Policy, StartedAt: started,
	}, rule.PendingMax, rule.Logs)
}

func (f *follower) begin(r fleet.Run, pendingMax int, logs []string) {
	r.Ref, r.Boot = f.ref, f.look.Boot
	f.goingOn(&r, pendingMax, logs)
	f.runs = append(f.runs, r)
}

// goingOn notes that the look shows an open run.
func (f *follower) goingOn(r *fleet.Run, pendingMax int, logs []string) {
	r.Seen, r.LookedAt = f.look.SeenAt, f.look.SeenAt
	r.Absent, r.AbsentSince = 0, time.Time{}
	f.mark(r, logs)
	f.slack(r, pendingMax)
}

// mark remembers how long each log was when the run was first seen, or could
// first be measured.
func (f *follower) mark(r *fleet.Run, logs []string) {
	for _, log := range logs {
		fact, ok := f.look.Facts.Files[log]
		if _, done := r.Marks[log]; done || !ok || fact.Err != "" {
			continue
		}
		if r.Marks == nil {
			r.Marks = map[string]int64{}
		}
		r.Marks[log] = fact.Size
	}
}

func (f *follower) slack(r *fleet.Run, pendingMax int) {
	used, known := uses(f.look.Facts)
	switch {
	case !known:
	case used:
		r.Slack = 0
	default:
		r.Slack++
		if pendingMax > 0 && r.Slack >= pendingMax {
			f.end(r, fleet.RunLost, f.look.SeenAt)
		}
	}
}

// stillLost keeps a lost run as it is until it works again.
func (f *follower) stillLost(r *fleet.Run) {
	if used, _ := uses(f.look.Facts); used {
		r.End, r.EndedAt, r.Slack = fleet.RunOpen, time.Time{}, 0
		r.Seen, r.LookedAt = f.look.SeenAt, f.look.SeenAt
	}
}

func (f *follower) absent(r *fleet.Run, looks int, apart time.Duration) {
	if looks <= 0 {
		looks = DefaultLooks
	}
	if apart <= 0 {
		apart = DefaultApart
	}
	// A lost run needs only to be known as gone, so that what matches next is
	// a new one.
	if !r.Open() && (r.End != fleet.RunLost || r.Absent > 0) {
		return
	}
	r.LookedAt = f.look.SeenAt
	if r.Absent == 0 {
		r.AbsentSince = f.look.SeenAt
	}
	r.Absent++
	if r.Open() && r.Absent >= looks && f.look.SeenAt.Sub(r.AbsentSince) >= apart {
		f.end(r, fleet.RunEnded, r.AbsentSince)
	}
}

// files follows the runs that files inside the instance tell of.
func (f *follower) files(rules []RunRule) {
	facts := f.look.Facts
	if !facts.Reached {
		return
	}
	pendingMax, logs := pendingMax(rules), allLogs(rules)
	boxes := slices.Clone(facts.BoxRuns)
	slices.SortFunc(boxes, func(a, b fleet.BoxRun) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
	})
	for _, b := range boxes {
		f.box(b, pendingMax, logs)
	}
	if unread(facts, "runs") {
		return
	}
	for n := range f.runs {
		r := &f.runs[n]
		shown := func(b fleet.BoxRun) bool { return ofBox(*r, b.ID) }
		if r.Source == RunByFile && r.Boot == f.look.Boot && r.Open() && f.fresh(*r) &&
			!slices.ContainsFunc(boxes, shown) {
			f.absent(r, DefaultLooks, DefaultApart)
		}
	}
}

func (f *follower) box(b fleet.BoxRun, pendingMax int, logs []string) {
	last := f.newest(func(r fleet.Run) bool { return r.Source == RunByFile && ofBox(r, b.ID) })
	if last != nil && !f.fresh(*last) {
		return
	}
	if beforeBoot(f.look.Facts, b.StartedAt) {
		if last != nil && last.Open() {
			f.end(last, fleet.RunInterrupted, f.look.SeenAt)
		}
		return
	}
	if last == nil || b.StartedAt.After(last.StartedAt.Add(bootSlack)) {
		f.newBox(b, last, pendingMax, logs)
		return
	}
	if b.StartedAt.Before(last.StartedAt.Add(-bootSlack)) && !b.StartedAt.IsZero() {
		return
	}
	switch {
	case boxEnded(b):
		// An exit code that was written after its process had gone still counts.
		late := b.ExitCode != nil && (last.End == fleet.RunLost || last.End == fleet.RunEnded && last.ExitCode == nil)
		if last.Open() || late {
			f.end(last, fleet.RunEnded, b.EndedAt)
			last.ExitCode, last.Said = b.ExitCode, b.Said
		}
	case b.PIDGone:
		if last.Open() {
			f.end(last, fleet.RunEnded, f.look.SeenAt)
		}
	case last.Open():
		f.goingOn(last, pendingMax, logs)
	case last.End == fleet.RunLost:
		f.stillLost(last)
	}
}

// newBox begins the run of a start file not seen before; last is the one its
// file told of earlier, or nil.
func (f *follower) newBox(b fleet.BoxRun, last *fleet.Run, pendingMax int, logs []string) {
	r := fleet.Run{ID: boxRunID(b.ID), Source: RunByFile, StartedAt: b.StartedAt, Then: b.Then}
	if last != nil {
		r.ID += ":" + strconv.FormatInt(b.StartedAt.Unix(), 10)
		if last.Open() {
			f.end(last, fleet.RunEnded, b.StartedAt)
		}
	}
	switch {
	case boxOpen(f.look.Facts, b):
		if r.StartedAt.IsZero() {
			r.StartedAt = f.look.SeenAt
		}
		f.begin(r, pendingMax, logs)
		return
	case b.StartedAt.IsZero():
		return
	}
	r.Ref, r.Boot = f.ref, f.look.Boot
	f.end(&r, fleet.RunEnded, f.look.SeenAt)
	if boxEnded(b) {
		r.EndedAt, r.ExitCode, r.Said = b.EndedAt, b.ExitCode, b.Said
	}
	f.runs = append(f.runs, r)
}

// pings counts the looks in which nothing but a silent ping speaks for a run.
func (f *follower) pings(rules []RunRule) {
	if !f.look.Facts.Reached {
		return
	}
	for n := range f.runs {
		r := &f.runs[n]
		if r.Source == RunByPing && r.Boot == f.look.Boot && r.Open() && f.fresh(*r) {
			r.LookedAt = f.look.SeenAt
			f.mark(r, allLogs(rules))
			f.slack(r, pendingMax(rules))
		}
	}
}

// busyAfter notes the first look after a run's end that showed work, or what
// may be work.
func (f *follower) busyAfter() {
	if f.look.Activity != fleet.Busy && f.look.Reason.Code != ReasonContradiction {
		return
	}
	for n := range f.runs {
		r := &f.runs[n]
		if r.Boot == f.look.Boot && r.End == fleet.RunEnded && r.BusyAt.IsZero() &&
			f.look.SeenAt.After(r.EndedAt) && !f.look.SeenAt.Before(r.LookedAt) {
			r.BusyAt = f.look.SeenAt
		}
	}
}

// uses reports whether GPU or CPU are used, and whether that could be told.
func uses(facts fleet.Facts) (used, known bool) {
	known = facts.Reached && !unread(facts, "cards") && !unread(facts, "load")
	for _, c := range facts.Cards {
		u, ok := utilization(c)
		used = used || u > 0
		known = known && ok && !c.MIG
	}
	used = used || facts.Load1 >= workLoad
	return used, known || used
}

func unread(facts fleet.Facts, what string) bool {
	_, failed := facts.Unreadable[what]
	return failed
}

// pendingMax is that of runs which belong to no policy: the most patient.
func pendingMax(rules []RunRule) int {
	most := 0
	for _, rule := range rules {
		if rule.PendingMax == 0 {
			return 0
		}
		most = max(most, rule.PendingMax)
	}
	return most
}

func allLogs(rules []RunRule) []string {
	var logs []string
	for _, rule := range rules {
		logs = append(logs, rule.Logs...)
	}
	return logs
}

// boxRunID is the id of the first run of an in-box file; later ones add their
// start, which is why a colon in the file's name is escaped.
func boxRunID(box string) string {
	return "f:" + strings.NewReplacer("%", "%25", ":", "%3A").Replace(box)
}

func ofBox(r fleet.Run, box string) bool {
	id := boxRunID(box)
	return r.ID == id || strings.HasPrefix(r.ID, id+":")
}
