package ping

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/signals"
)

// echo is for how long a ping may come again because its answer was lost: clients
// repeat it for a minute or two.
const echo = 2 * time.Minute

// endedKept is how many ended runs told by pings are kept in mind for each
// instance; what is older stays in the state only.
const endedKept = 200

// Fold folds one ping of an instance into the runs that are known of it, and gives
// them back together with those that changed. boot is the power cycle in which the
// ping came; prev is left as it is.
//
//	                start                     end, exit status
//	(none) ───────────────────► open ───────────────────────────► ended
//	   │                       ▲    │
//	   │                  log  └────┘ too many idle looks ──────► lost
//	   └─ end: over as soon as it is known of, a run of no length ──► ended
//
// Without an id there is one run at a time: a start ends the one before, of which
// nobody told how it went. Each id is a run of its own. What comes again within
// two minutes is the same ping, and of two ends the bad one counts. The end of a
// run that nobody told the start of is an end all the same.
func Fold(ref fleet.Ref, boot fleet.Boot, prev []fleet.Run, p Ping) (runs, changed []fleet.Run) {
	f := &folder{ref: ref, boot: boot, ping: p, runs: slices.Clone(prev), dirty: map[int]bool{}}
	f.interrupt()
	n := f.newest()
	switch p.Kind {
	case Start:
		f.start(n)
	case End:
		f.end(n)
	case Log:
		f.log(n)
	}
	for n := range f.runs {
		if f.dirty[n] {
			changed = append(changed, f.runs[n])
		}
	}
	return trim(f.runs), changed
}

type folder struct {
	ref   fleet.Ref
	boot  fleet.Boot
	ping  Ping
	runs  []fleet.Run
	dirty map[int]bool
}

// interrupt ends what was open in another boot.
func (f *folder) interrupt() {
	for n := range f.runs {
		if r := &f.runs[n]; r.Source == signals.RunByPing && r.Open() && r.Boot != f.boot {
			f.over(n, fleet.RunInterrupted)
		}
	}
}

// newest gives the run of this boot, under the ping's id, that is open, or else
// the one last heard of; -1 where there is none.
func (f *folder) newest() int {
	best := -1
	for n, r := range f.runs {
		if r.Source != signals.RunByPing || r.Boot != f.boot || !f.under(r.ID) {
			continue
		}
		if r.Open() {
			return n
		}
		if best < 0 || !r.LookedAt.Before(f.runs[best].LookedAt) {
			best = n
		}
	}
	return best
}

// The ids of runs. One without a name has no colon, so that people are told none.
const (
	nameless = "ping@"
	named    = "ping:"
)

func (f *folder) under(id string) bool {
	if f.ping.RID == "" {
		return strings.HasPrefix(id, nameless)
	}
	own := named + f.ping.RID
	return id == own || strings.HasPrefix(id, own+":")
}

// fresh gives an id that no run of this boot has.
func (f *folder) fresh() string {
	stem := nameless
	if f.ping.RID != "" {
		if id := named + f.ping.RID; !f.taken(id) {
			return id
		}
		stem = named + f.ping.RID + ":"
	}
	at := f.ping.At.UnixMilli()
	for f.taken(stem + strconv.FormatInt(at, 10)) {
		at++
	}
	return stem + strconv.FormatInt(at, 10)
}

func (f *folder) taken(id string) bool {
	return slices.ContainsFunc(f.runs, func(r fleet.Run) bool { return r.Boot == f.boot && r.ID == id })
}

// touch notes that a run was heard of.
func (f *folder) touch(n int) *fleet.Run {
	f.dirty[n] = true
	r := &f.runs[n]
	r.LookedAt = later(r.LookedAt, f.ping.At)
	return r
}

func (f *folder) over(n int, how fleet.RunEnd) *fleet.Run {
	r := f.touch(n)
	r.End, r.EndedAt = how, later(f.ping.At, r.StartedAt)
	return r
}

// alive notes that an open run goes on.
func (f *folder) alive(n int) *fleet.Run {
	r := f.touch(n)
	r.End, r.EndedAt, r.Slack = fleet.RunOpen, time.Time{}, 0
	r.Seen = later(r.Seen, f.ping.At)
	return r
}

func (f *folder) begin() *fleet.Run {
	f.runs = append(f.runs, fleet.Run{
		ID: f.fresh(), Source: signals.RunByPing, Ref: f.ref, Boot: f.boot,
		StartedAt: f.ping.At, Seen: f.ping.At, Said: last(f.ping.Text),
	})
	return f.touch(len(f.runs) - 1)
}

func (f *folder) start(n int) {
	if n >= 0 && f.runs[n].Open() {
		if f.ping.RID != "" || f.echoes(f.runs[n].StartedAt) {
			f.alive(n)
			return
		}
		f.over(n, fleet.RunEnded)
	}
	f.begin()
}

func (f *folder) end(n int) {
	if n < 0 {
		f.overAtOnce()
		return
	}
	switch r := &f.runs[n]; {
	case r.Open() || r.End == fleet.RunLost || f.echoes(r.EndedAt) && f.worse(*r):
		f.exit(f.over(n, fleet.RunEnded))
	case f.echoes(r.EndedAt):
	case f.ping.RID == "" && r.StartedAt.Equal(r.EndedAt) && r.ExitCode != nil && *r.ExitCode == f.ping.Exit:
		// Who pings at every end and at no start needs no run for each.
		r = f.touch(n)
		r.StartedAt, r.EndedAt, r.Seen, r.BusyAt, r.Said = f.ping.At, f.ping.At, f.ping.At, time.Time{}, ""
		f.exit(r)
	default:
		f.overAtOnce()
	}
}

// worse reports whether the ping says that a run failed of which that was not
// known.
func (f *folder) worse(r fleet.Run) bool {
	return f.ping.Exit != 0 && (r.ExitCode == nil || *r.ExitCode == 0)
}

// exit notes what the ping says of a run that is over.
func (f *folder) exit(r *fleet.Run) {
	code := f.ping.Exit
	r.ExitCode, r.Said = &code, join(r.Said, f.ping.Text)
}

// overAtOnce is for the end of a run that nobody told the start of.
func (f *folder) overAtOnce() {
	r := f.begin()
	r.End, r.EndedAt, r.Said = fleet.RunEnded, r.StartedAt, ""
	f.exit(r)
}

func (f *folder) log(n int) {
	if n < 0 {
		return
	}
	r := &f.runs[n]
	if r.Open() || r.End == fleet.RunLost {
		r = f.alive(n)
	} else {
		f.dirty[n] = true
	}
	r.Said = join(r.Said, f.ping.Text)
}

// echoes reports whether the ping may be one that came at that time already.
func (f *folder) echoes(at time.Time) bool { return f.ping.At.Sub(at).Abs() < echo }

func join(said, more string) string {
	if said != "" && more != "" && !strings.HasSuffix(said, "\n") {
		said += "\n"
	}
	return last(said + more)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// trim drops the oldest ended runs where there are too many, and orders the rest
// as everywhere.
func trim(runs []fleet.Run) []fleet.Run {
	slices.SortStableFunc(runs, func(a, b fleet.Run) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID), cmp.Compare(a.Boot, b.Boot))
	})
	over := func(r fleet.Run) bool { return r.Source == signals.RunByPing && !r.Open() }
	ended := 0
	for _, r := range runs {
		if over(r) {
			ended++
		}
	}
	return slices.DeleteFunc(runs, func(r fleet.Run) bool {
		if ended > endedKept && over(r) {
			ended--
			return true
		}
		return false
	})
}
