package signals_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/signals"
)

var ref = fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "a"}

func rules() []signals.RunRule {
	return []signals.RunRule{{Policy: "p", Looks: 2, Apart: time.Minute, Logs: []string{"/log"}}}
}

// look is a judged look, seconds after start, that could read everything.
func look(seconds int, change ...func(*fleet.Evidence)) fleet.Evidence {
	e := fleet.Evidence{
		Source: "ssh", SeenAt: at(seconds), Boot: "b1", FreshFor: time.Minute, Activity: fleet.Idle,
		Facts: fleet.Facts{Reached: true, ProcessesRead: true, Cards: []fleet.Card{{Utilization: new(0.0)}}},
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func matching(e *fleet.Evidence) {
	e.Facts.Matched = map[string][]int{"p": {100}}
	e.Activity = fleet.Busy
}

func matchingSince(seconds int) func(*fleet.Evidence) {
	return func(e *fleet.Evidence) {
		matching(e)
		e.Facts.MatchedSince = map[string]time.Time{"p": at(seconds)}
	}
}

func working(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = new(90.0) }

func unreachable(e *fleet.Evidence) { e.Facts, e.Activity = fleet.Facts{}, fleet.Unknown }

func noProcesses(e *fleet.Evidence) { e.Facts.ProcessesRead, e.Activity = false, fleet.Unknown }

func boot(b fleet.Boot) func(*fleet.Evidence) { return func(e *fleet.Evidence) { e.Boot = b } }

func box(b ...fleet.BoxRun) func(*fleet.Evidence) {
	return func(e *fleet.Evidence) { e.Facts.BoxRuns = b }
}

func fold(rules []signals.RunRule, looks ...fleet.Evidence) []fleet.Run {
	var runs []fleet.Run
	for _, e := range looks {
		runs = signals.Follow(ref, runs, e, rules)
	}
	return runs
}

// brief is what the cases below care for.
type brief struct {
	ID         string
	Start, End int // seconds after start; End of a closed run
	How        fleet.RunEnd
	Exit       int // -1: none
}

func briefly(runs []fleet.Run) []brief {
	out := []brief{}
	for _, r := range runs {
		b := brief{ID: r.ID, Start: int(r.StartedAt.Sub(start).Seconds()), How: r.End, Exit: -1}
		if !r.Open() {
			b.End = int(r.EndedAt.Sub(start).Seconds())
		}
		if r.ExitCode != nil {
			b.Exit = *r.ExitCode
		}
		out = append(out, b)
	}
	return out
}

func TestFollow(t *testing.T) {
	const open, ended, interrupted, lost = fleet.RunOpen, fleet.RunEnded, fleet.RunInterrupted, fleet.RunLost
	r1 := fleet.BoxRun{ID: "r1", StartedAt: at(0)}
	r1ended := func(end, code int) fleet.BoxRun {
		b := r1
		b.EndedAt, b.ExitCode = at(end), &code
		return b
	}
	r1gone := r1
	r1gone.PIDGone = true
	patient := rules()
	patient[0].PendingMax = 3

	for _, c := range []struct {
		name  string
		rules []signals.RunRule
		looks []fleet.Evidence
		want  []brief
	}{
		{name: "no matching process is no run", looks: []fleet.Evidence{look(0), look(60)}, want: []brief{}},
		{name: "a run begins when its process did", looks: []fleet.Evidence{look(60, matchingSince(10))},
			want: []brief{{"p:p:1772359210", 10, 0, open, -1}}},
		{name: "or when it was first seen", looks: []fleet.Evidence{look(60, matching)},
			want: []brief{{"p:p:1772359260", 60, 0, open, -1}}},
		{name: "a process from the future began with the look", looks: []fleet.Evidence{look(60, matchingSince(130))},
			want: []brief{{"p:p:1772359260", 60, 0, open, -1}}},
		{name: "it ends after two looks far enough apart, at the first", looks: []fleet.Evidence{look(0, matching), look(60), look(120)},
			want: []brief{{"p:p:1772359200", 0, 60, ended, -1}}},
		{name: "one look does not end it", looks: []fleet.Evidence{look(0, matching), look(600)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "two looks too close do not end it", looks: []fleet.Evidence{look(0, matching), look(60), look(119)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "a third look may complete the time", looks: []fleet.Evidence{look(0, matching), look(60), look(90), look(120)},
			want: []brief{{"p:p:1772359200", 0, 60, ended, -1}}},
		{name: "looks that could not get in do not count", looks: []fleet.Evidence{look(0, matching), look(60, unreachable), look(600, unreachable), look(900)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "nor do they reset", looks: []fleet.Evidence{look(0, matching), look(60), look(90, unreachable), look(120)},
			want: []brief{{"p:p:1772359200", 0, 60, ended, -1}}},
		{name: "looks without a process list do not count", looks: []fleet.Evidence{look(0, matching), look(60, noProcesses), look(600, noProcesses)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "nor do looks that say the list failed", looks: []fleet.Evidence{look(0, matching),
			look(60, func(e *fleet.Evidence) { e.Facts.Unreadable = map[string]string{"processes": "cut off"} }),
			look(600, func(e *fleet.Evidence) { e.Facts.Unreadable = map[string]string{"processes": "cut off"} })},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "matching again before the confirmation resets", looks: []fleet.Evidence{look(0, matching), look(60), look(90, matching), look(120), look(150)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "matching again after the end is a new run", looks: []fleet.Evidence{look(0, matching), look(60), look(120), look(180, matching)},
			want: []brief{{"p:p:1772359200", 0, 60, ended, -1}, {"p:p:1772359380", 180, 0, open, -1}}},
		{name: "also if its process seems to be the old one", looks: []fleet.Evidence{look(0, matchingSince(-5)), look(60), look(120), look(180, matchingSince(-5))},
			want: []brief{{"p:p:1772359195", -5, 60, ended, -1}, {"p:p:1772359380", 180, 0, open, -1}}},
		{name: "another process in its place is another run", looks: []fleet.Evidence{look(0, matchingSince(-60)), look(60, matchingSince(30))},
			want: []brief{{"p:p:1772359140", -60, 30, ended, -1}, {"p:p:1772359230", 30, 0, open, -1}}},
		{name: "also after a look without any", looks: []fleet.Evidence{look(0, matchingSince(-60)), look(30), look(60, matchingSince(45))},
			want: []brief{{"p:p:1772359140", -60, 30, ended, -1}, {"p:p:1772359245", 45, 0, open, -1}}},
		{name: "a clock that trembles makes no new run", looks: []fleet.Evidence{look(0, matchingSince(-1)), look(30, matchingSince(2))},
			want: []brief{{"p:p:1772359199", -1, 0, open, -1}}},
		{name: "nor does a look that took long to begin with", looks: []fleet.Evidence{look(0, matchingSince(-120)), look(120, matchingSince(-118))},
			want: []brief{{"p:p:1772359080", -120, 0, open, -1}}},
		{name: "a process that began after the look did is the same in the next", looks: []fleet.Evidence{look(0, matchingSince(8)), look(30, matchingSince(8))},
			want: []brief{{"p:p:1772359208", 8, 0, open, -1}}},
		{name: "another boot interrupts", looks: []fleet.Evidence{look(0, matching), look(60, boot("b2"))},
			want: []brief{{"p:p:1772359200", 0, 60, interrupted, -1}}},
		{name: "also if nobody can get in", looks: []fleet.Evidence{look(0, matching), look(60, unreachable, boot("b2"))},
			want: []brief{{"p:p:1772359200", 0, 60, interrupted, -1}}},
		{name: "an unknown boot says nothing", looks: []fleet.Evidence{look(0, matching), look(60, boot("")), look(120, boot(""))},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "a late look of the boot before says nothing", looks: []fleet.Evidence{look(0, matching), look(60, matching, boot("b2")), look(30, matching)},
			want: []brief{{"p:p:1772359200", 0, 60, interrupted, -1}, {"p:p:1772359260", 60, 0, open, -1}}},
		{name: "an older look without the process says nothing", looks: []fleet.Evidence{look(0, matching), look(90, matching), look(60), look(150), look(210)},
			want: []brief{{"p:p:1772359200", 0, 150, ended, -1}}},
		{name: "an older look with the process says nothing", looks: []fleet.Evidence{look(0, matching), look(60), look(120), look(90, matching)},
			want: []brief{{"p:p:1772359200", 0, 60, ended, -1}}},

		{name: "an end file ends a run with its code", looks: []fleet.Evidence{look(30, box(r1)), look(120, box(r1ended(100, 3)))},
			want: []brief{{"f:r1", 0, 100, ended, 3}}},
		{name: "a run is found after its end too", looks: []fleet.Evidence{look(120, box(r1ended(100, 0)))},
			want: []brief{{"f:r1", 0, 100, ended, 0}}},
		{name: "an end older than the start is no end", looks: []fleet.Evidence{look(30, box(r1ended(-10, 0)))},
			want: []brief{{"f:r1", 0, 0, open, -1}}},
		{name: "a process gone without an end file ends it with no code", looks: []fleet.Evidence{look(30, box(r1)), look(120, box(r1gone))},
			want: []brief{{"f:r1", 0, 120, ended, -1}}},
		{name: "a code that comes late still counts", looks: []fleet.Evidence{look(120, box(r1gone)), look(150, box(r1ended(119, 1)))},
			want: []brief{{"f:r1", 0, 119, ended, 1}}},
		{name: "a start file used again is another run", looks: []fleet.Evidence{look(120, box(r1ended(100, 0))), look(300, box(fleet.BoxRun{ID: "r1", StartedAt: at(200)}))},
			want: []brief{{"f:r1", 0, 100, ended, 0}, {"f:r1:1772359400", 200, 0, open, -1}}},
		{name: "a start file used again ends the run before", looks: []fleet.Evidence{look(120, box(r1)), look(300, box(fleet.BoxRun{ID: "r1", StartedAt: at(200)}))},
			want: []brief{{"f:r1", 0, 200, ended, -1}, {"f:r1:1772359400", 200, 0, open, -1}}},
		{name: "names with a colon do not mix", looks: []fleet.Evidence{look(30, box(r1, fleet.BoxRun{ID: "r1:2", StartedAt: at(10)}))},
			want: []brief{{"f:r1", 0, 0, open, -1}, {"f:r1%3A2", 10, 0, open, -1}}},
		{name: "files that disappear end it after two looks", looks: []fleet.Evidence{look(30, box(r1)), look(60), look(120)},
			want: []brief{{"f:r1", 0, 60, ended, -1}}},
		{name: "files that cannot be read do not", looks: []fleet.Evidence{look(30, box(r1)),
			look(60, func(e *fleet.Evidence) { e.Facts.Unreadable = map[string]string{"runs": "no"} }),
			look(120, func(e *fleet.Evidence) { e.Facts.Unreadable = map[string]string{"runs": "no"} })},
			want: []brief{{"f:r1", 0, 0, open, -1}}},
		{name: "a file of an earlier boot is no run", looks: []fleet.Evidence{look(120, box(r1ended(20, 0)), func(e *fleet.Evidence) { e.Facts.BootedAt = at(30) })},
			want: []brief{}},

		{name: "a run that uses nothing is lost after pending_max", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching)},
			want:  []brief{{"p:p:1772359200", 0, 60, lost, -1}}},
		{name: "without pending_max it is not", looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching)},
			want: []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "work resets the count", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching, working), look(90, matching)},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "a busy processor is work", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching, func(e *fleet.Evidence) { e.Facts.Load1 = 4 })},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "a card without a reading tells neither", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching, func(e *fleet.Evidence) { e.Facts.Cards[0].Utilization = nil })},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "nor does a split card", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching, func(e *fleet.Evidence) { e.Facts.Cards[0].MIG = true })},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "nor does a load nobody could read", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching, func(e *fleet.Evidence) { e.Facts.Unreadable = map[string]string{"load": "no"} })},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "a lost run is not found again", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching), look(90, matching)},
			want:  []brief{{"p:p:1772359200", 0, 60, lost, -1}}},
		{name: "a lost run that works again is open again", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching), look(90, matching, working)},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
		{name: "after a lost run has gone the next is a new one", rules: patient,
			looks: []fleet.Evidence{look(0, matching), look(30, matching), look(60, matching), look(90), look(120, matching)},
			want:  []brief{{"p:p:1772359200", 0, 60, lost, -1}, {"p:p:1772359320", 120, 0, open, -1}}},
		{name: "and has a name of its own", rules: []signals.RunRule{{Policy: "p", PendingMax: 1}},
			looks: []fleet.Evidence{look(0, matching), look(30), look(60, matchingSince(0))},
			want:  []brief{{"p:p:1772359200", 0, 0, lost, -1}, {"p:p:1772359260", 60, 60, lost, -1}}},
		{name: "a file run that uses nothing is lost", rules: patient,
			looks: []fleet.Evidence{look(0, box(r1)), look(30, box(r1)), look(60, box(r1))},
			want:  []brief{{"f:r1", 0, 60, lost, -1}}},
		{name: "the end file of a lost run ends it", rules: patient,
			looks: []fleet.Evidence{look(0, box(r1)), look(30, box(r1)), look(60, box(r1)), look(90, box(r1ended(80, 0)))},
			want:  []brief{{"f:r1", 0, 80, ended, 0}}},
		{name: "zero looks apart by zero are not an end at once", rules: []signals.RunRule{{Policy: "p"}},
			looks: []fleet.Evidence{look(0, matching), look(30)},
			want:  []brief{{"p:p:1772359200", 0, 0, open, -1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.rules == nil {
				c.rules = rules()
			}
			got := fold(c.rules, c.looks...)
			if diff := cmp.Diff(c.want, briefly(got)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			for _, r := range got {
				if r.Ref != ref || r.Boot == "" {
					t.Errorf("run %s is of %s in boot %q", r.ID, r.Ref, r.Boot)
				}
			}
		})
	}
}

func TestFollowMarksLogsWhenARunIsFirstSeen(t *testing.T) {
	log := func(size int64, err string) func(*fleet.Evidence) {
		return func(e *fleet.Evidence) {
			e.Facts.Files = map[string]fleet.FileFact{"/log": {Exists: err == "", Size: size, Err: err}, "/other": {Size: 9}}
		}
	}
	got := fold(rules(), look(0, matching, log(100, "")), look(30, matching, log(500, "")))
	if diff := cmp.Diff(map[string]int64{"/log": 100}, got[0].Marks); diff != "" {
		t.Errorf("the first size counts (-want +got):\n%s", diff)
	}
	got = fold(rules(), look(0, matching, log(0, "permission denied")), look(30, matching, log(500, "")))
	if diff := cmp.Diff(map[string]int64{"/log": 500}, got[0].Marks); diff != "" {
		t.Errorf("the first size that could be read counts (-want +got):\n%s", diff)
	}
	code := 0
	got = fold(rules(), look(30, log(500, ""), box(fleet.BoxRun{ID: "r1", StartedAt: at(0), EndedAt: at(10), ExitCode: &code})))
	if len(got) != 1 || len(got[0].Marks) != 0 {
		t.Errorf("a run first seen after its end has no mark: %+v", got)
	}
}

func TestFollowNotesBusyLooksAfterTheEnd(t *testing.T) {
	code := 0
	ended := box(fleet.BoxRun{ID: "r1", StartedAt: at(0), EndedAt: at(100), ExitCode: &code})
	busy := func(e *fleet.Evidence) { e.Activity = fleet.Busy }
	contradiction := func(e *fleet.Evidence) {
		e.Activity, e.Reason = fleet.Unknown, fleet.Because(signals.ReasonContradiction, nil)
	}
	for name, c := range map[string]struct {
		looks []fleet.Evidence
		want  time.Time
	}{
		"none":                                  {[]fleet.Evidence{look(120, ended), look(150, ended)}, time.Time{}},
		"the look that shows the end":           {[]fleet.Evidence{look(120, ended, busy)}, at(120)},
		"a later look, and the first of it":     {[]fleet.Evidence{look(120, ended), look(150, ended, busy), look(180, ended, busy)}, at(150)},
		"what may be work":                      {[]fleet.Evidence{look(120, ended), look(150, ended, contradiction)}, at(150)},
		"not one older than the look that told": {[]fleet.Evidence{look(150, ended), look(120, busy)}, time.Time{}},
		"not one of another boot":               {[]fleet.Evidence{look(120, ended), look(150, busy, boot("b2"))}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := fold(rules(), c.looks...)
			if len(got) != 1 || !got[0].BusyAt.Equal(c.want) {
				t.Errorf("got %+v, want busy at %s", got, c.want)
			}
		})
	}
}

func TestFollowPings(t *testing.T) {
	prev := []fleet.Run{{ID: "ping:1", Source: signals.RunByPing, Ref: ref, Boot: "b1", StartedAt: at(0)}}
	patient := rules()
	patient[0].PendingMax = 2
	t.Run("a silent ping is lost where nothing works", func(t *testing.T) {
		got := signals.Follow(ref, signals.Follow(ref, prev, look(30), patient), look(60), patient)
		if diff := cmp.Diff([]brief{{"ping:1", 0, 60, fleet.RunLost, -1}}, briefly(got)); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
	t.Run("looks that could not get in do not count", func(t *testing.T) {
		got := signals.Follow(ref, signals.Follow(ref, prev, look(30, unreachable), patient), look(60, unreachable), patient)
		if diff := cmp.Diff([]brief{{"ping:1", 0, 0, fleet.RunOpen, -1}}, briefly(got)); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

func TestFollowLeavesWhatItIsGiven(t *testing.T) {
	prev := fold(rules(), look(0, matching), look(30))
	prev[0].Marks = map[string]int64{}
	before := slices.Clone(prev)
	signals.Follow(ref, prev, look(60, matching, func(e *fleet.Evidence) {
		e.Facts.Files = map[string]fleet.FileFact{"/log": {Exists: true, Size: 5}}
	}), rules())
	if !reflect.DeepEqual(before, prev) || len(prev[0].Marks) > 0 {
		t.Errorf("prev became %+v", prev)
	}
}
