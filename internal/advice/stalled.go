package advice

import (
	"slices"
	"time"

	"curfew/fleet"
)

// file is what the looks said of one file.
type file struct {
	exists, unread bool
	size           int64
	modified       time.Time
	grownAt        time.Time
}

// grow notes what a look says of the files it was asked for. A file counts as grown
// when it was modified, or when another size is seen: some disks tell one of the two
// late.
func (t *Tracker) grow(e fleet.Evidence) {
	if len(e.Facts.Files) == 0 {
		t.files = nil
		return
	}
	files := make(map[string]file, len(e.Facts.Files))
	for path, f := range e.Facts.Files {
		old, seen := t.files[path]
		now := file{exists: f.Exists, unread: f.Err != "", size: f.Size, modified: f.ModTime, grownAt: f.ModTime}
		switch {
		case now.unread:
			now.size, now.modified, now.grownAt = old.size, old.modified, old.grownAt
		case now.grownAt.After(e.SeenAt):
			now.grownAt = e.SeenAt // its clock is not ours
		}
		if !now.unread && seen && !old.unread && f.Exists {
			switch changed := !old.exists || old.size != f.Size; {
			case changed && !now.grownAt.After(old.grownAt):
				now.grownAt = e.SeenAt
			case !changed && old.modified.Equal(f.ModTime):
				now.grownAt = old.grownAt
			}
		}
		files[path] = now
	}
	t.files = files
}

// stalled tells of the first run whose files have all stayed as they are for a while,
// although the instance is at work. A file that cannot be read may have grown.
func (t *Tracker) stalled(open []fleet.Run, watched []Watched, within time.Duration, now time.Time) (Advice, bool) {
	if within <= 0 || !t.busy || !t.looks.reaches(now) || now.Sub(t.looks.began) < within {
		return Advice{}, false
	}
	for _, r := range open {
		path, at, ok := t.newest(r, watched)
		if ok && now.Sub(at) >= within {
			return Advice{Code: CodeStalled, Run: r, Since: at, Values: fleet.Values{
				"file": fleet.Text(path), "since": fleet.Moment(at),
			}}, true
		}
	}
	return Advice{}, false
}

// newest gives the file of a run that grew last. What a run left that was there
// before it says nothing of it, except the log in which its own policy awaits it: a
// run that never wrote to that is stalled since it began.
func (t *Tracker) newest(r fleet.Run, watched []Watched) (path string, at time.Time, ok bool) {
	for _, w := range watched {
		if r.Policy != "" && r.Policy != w.Policy {
			continue
		}
		for n, name := range slices.Concat(w.Logs, w.Files) {
			f := t.files[name]
			if f.unread {
				return "", time.Time{}, false
			}
			grown := f.grownAt
			if ownLog := n < len(w.Logs) && r.Policy != ""; ownLog {
				grown = later(grown, r.StartedAt)
			}
			if !f.exists || grown.Before(r.StartedAt) || ok && !grown.After(at) {
				continue
			}
			path, at, ok = name, grown, true
		}
	}
	return path, at, ok
}
