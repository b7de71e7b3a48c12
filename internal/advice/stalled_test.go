package advice

import (
	"maps"
	"slices"
	"testing"
	"time"

	"curfew/fleet"
)

// wrote is a file that was there at a minute, by when it was last written to.
func wrote(at time.Time, size int64) fleet.FileFact {
	return fleet.FileFact{Exists: true, ModTime: at, Size: size}
}

// until is a file that is written to each minute until one.
func until(last int) func(int) fleet.FileFact {
	return func(m int) fleet.FileFact { return wrote(at(min(m, last)), 100+int64(min(m, last))) }
}

func unchanged(f fleet.FileFact) func(int) fleet.FileFact {
	return func(int) fleet.FileFact { return f }
}

func TestWhatAStalledRunIs(t *testing.T) {
	const log, done = "/root/train.log", "/root/out/DONE"
	type files = map[string]func(int) fleet.FileFact
	own := fleet.Run{ID: "p:train:1", Source: "process", Policy: "train", Boot: boot, StartedAt: began}
	for _, c := range []struct {
		name    string
		files   files
		minutes int // 120 where nothing is said
		runs    []fleet.Run
		watched []Watched
		look    func(int, *fleet.Evidence)
		limits  func(*Limits)
		later   time.Duration
		want    string
	}{
		{name: "a log that grows", files: files{log: until(200)}},
		{name: "one that stopped growing", files: files{log: until(60)}, want: "stalled file /root/train.log since 60"},
		{name: "just now", files: files{log: until(91)}},
		{name: "half an hour ago", files: files{log: until(89)}, want: "stalled file /root/train.log since 89"},
		{name: "half an hour is not enough", files: files{log: until(60)}, limits: func(l *Limits) { l.Stalled = time.Hour }},
		{name: "off", files: files{log: until(60)}, limits: func(l *Limits) { l.Stalled = 0 }},
		{name: "no run", files: files{log: until(60)}, runs: []fleet.Run{}},
		{name: "a run that ended", files: files{log: until(60)}, runs: []fleet.Run{ended(own)}},
		{name: "a young run", files: files{log: until(60)}, runs: []fleet.Run{begun(own, 95)}},
		{name: "not at work", files: files{log: until(60)}, look: func(_ int, e *fleet.Evidence) { e.Activity = fleet.Unknown }},
		{name: "the newest look is stale", files: files{log: until(60)}, later: 2 * time.Minute},
		{name: "no look for a while", files: files{log: until(60)}, look: dark(95, 100)},
		{name: "cards that tell nothing are not files", files: files{log: until(60)}, look: func(_ int, e *fleet.Evidence) {
			e.Facts.Cards[0].Utilization, e.Facts.Cards[0].MIG = nil, true
		}, want: "stalled file /root/train.log since 60"},
		{name: "a log that cannot be read may have grown", files: files{log: unchanged(fleet.FileFact{Err: "Permission denied"})}},
		{name: "it could not be read just once", files: files{log: func(m int) fleet.FileFact {
			if m == 100 {
				return fleet.FileFact{Err: "timed out"}
			}
			return until(60)(m)
		}}, want: "stalled file /root/train.log since 60"},
		{name: "a log that is not there", files: files{log: unchanged(fleet.FileFact{})}},
		{name: "it is written to and keeps its size", files: files{log: func(m int) fleet.FileFact { return wrote(at(m), 7) }}},
		{name: "it grows and keeps its time", files: files{log: func(m int) fleet.FileFact { return wrote(at(-10), int64(m)) }}},
		{name: "its time lies ahead", files: files{log: unchanged(wrote(at(10_000), 7))}, want: "stalled file /root/train.log since 0"},
		{name: "its own log was never written to", files: files{log: unchanged(wrote(at(-500), 7))}, want: "stalled file /root/train.log since 0"},
		{name: "the log of a run before this one, of no policy", files: files{log: unchanged(wrote(at(-500), 7))}, runs: []fleet.Run{run("a", began)}},
		{name: "a run of no policy that wrote to it", files: files{log: until(60)}, runs: []fleet.Run{run("a", began)}, want: "stalled file /root/train.log since 60"},
		{name: "the log of another policy", files: files{log: until(60)}, watched: []Watched{{Policy: "other", Logs: []string{log}}}},
		{name: "the sign of success of the run before", files: files{done: unchanged(wrote(at(-500), 2))}},
		{name: "a sign of success that is not there yet", files: files{done: unchanged(fleet.FileFact{})}},
		{name: "a checkpoint that was written once", files: files{done: func(m int) fleet.FileFact {
			if m < 50 {
				return fleet.FileFact{}
			}
			return wrote(at(50), 2)
		}}, want: "stalled file /root/out/DONE since 50"},
		{name: "a checkpoint that is written now and then", files: files{done: func(m int) fleet.FileFact { return wrote(at(m/25*25), 2) }}},
		{name: "the log stands still and the checkpoint does not", files: files{log: until(60), done: until(200)}},
		{name: "both stand still", files: files{log: until(60), done: until(70)}, want: "stalled file /root/out/DONE since 70"},
		{name: "one that cannot be read may grow", files: files{log: until(60), done: unchanged(fleet.FileFact{Err: "no"})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := story{minutes: c.minutes, runs: c.runs, limits: c.limits, later: c.later}
			if s.minutes == 0 {
				s.minutes = 120
			}
			if s.runs == nil {
				s.runs = []fleet.Run{own}
			}
			s.subject = func(sub *Subject) {
				sub.Watched = c.watched
				if c.watched == nil {
					sub.Watched = []Watched{{Policy: "train"}}
					for _, path := range slices.Sorted(maps.Keys(c.files)) {
						if path == done {
							sub.Watched[0].Files = []string{path}
						} else {
							sub.Watched[0].Logs = []string{path}
						}
					}
				}
			}
			s.look = func(m int, e *fleet.Evidence) {
				e.Facts.Files = map[string]fleet.FileFact{}
				for path, f := range c.files {
					e.Facts.Files[path] = f(m)
				}
				if c.look != nil {
					c.look(m, e)
				}
			}
			if got := s.told(); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func begun(r fleet.Run, minute int) fleet.Run {
	r.StartedAt = at(minute)
	return r
}
