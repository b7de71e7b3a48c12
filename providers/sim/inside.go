package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// inside is what is true inside an instance at one moment.
type inside struct {
	m    *machine
	now  time.Time
	boot int // the number of the power cycle it is in
	base time.Time
	// origins are the moments that offsets count from, with the power cycle each
	// line is played in; -1 is all of them.
	origins []origin
	cycles  []powerCycle
}

type origin struct {
	at    time.Time
	cycle int
}

// inside looks into the instance; ok is false while it is not up.
func (m *machine) inside(now time.Time) (in inside, ok bool) {
	cs := m.cycles(now)
	if m.stateAt(now) != fleet.StateRunning || len(cs) == 0 {
		return inside{}, false
	}
	in = inside{m: m, now: now, boot: len(cs) - 1, base: m.added, cycles: cs}
	if !m.spec.Box.EachBoot {
		in.origins = []origin{{m.added, -1}}
		return in, true
	}
	for n, c := range cs {
		if !c.up.IsZero() {
			in.origins = append(in.origins, origin{c.up, n})
			in.base = c.up
		}
	}
	return in, true
}

// cycleOf finds the power cycle in which a moment lies while the instance is up.
func (in inside) cycleOf(t time.Time, o origin) (int, bool) {
	for n, c := range in.cycles {
		if o.cycle >= 0 && o.cycle != n || c.up.IsZero() || t.Before(c.up) {
			continue
		}
		if c.down.IsZero() || t.Before(c.down) {
			return n, true
		}
	}
	return 0, false
}

// kept reports whether what was written in that power cycle is still there.
func (in inside) kept(cycle int) bool {
	return cycle == in.boot || in.m.spec.StopKeeps == fleet.KeepsAll
}

// job is one life of a process.
type job struct {
	Process
	run     string
	pid     int
	cycle   int
	started time.Time
	ended   time.Time // by itself; zero while it runs and where it was killed
	killed  bool
}

func (in inside) jobs() []job {
	var js []job
	for n, p := range in.m.spec.Box.Processes {
		for _, o := range in.origins {
			j := job{Process: p, run: p.Run, started: o.at.Add(p.From)}
			cycle, ok := in.cycleOf(j.started, o)
			if !ok || j.started.After(in.now) {
				continue
			}
			j.cycle, j.pid = cycle, 1000+100*cycle+n
			if cycle > 0 && in.m.spec.Box.EachBoot && p.Run != "" {
				j.run = fmt.Sprintf("%s-%d", p.Run, cycle+1)
			}
			down := in.cycles[cycle].down
			switch end := o.at.Add(p.To); {
			case p.To != 0 && !end.After(in.now) && (down.IsZero() || !end.After(down)):
				j.ended = end
			case !down.IsZero():
				j.killed = true
			}
			js = append(js, j)
		}
	}
	return js
}

func (j job) alive() bool { return j.ended.IsZero() && !j.killed }

func (in inside) during(from, to time.Duration) bool {
	for _, o := range in.origins {
		if o.cycle >= 0 && o.cycle != in.boot || !within(in.now, o.at, from, to) {
			continue
		}
		return true
	}
	return false
}

func (in inside) dark() bool {
	return slices.ContainsFunc(in.m.spec.Box.Dark, func(s Stretch) bool { return in.during(s.From, s.To) })
}

// facts is everything a look finds, with the files it asks for.
func (in inside) facts(files, logs []string) fleet.Facts {
	f := fleet.Facts{Reached: true, ProcessesRead: true}
	js := in.jobs()
	f.Cards = in.cards(js)
	up := in.cycles[in.boot].up
	f.Processes = []fleet.Process{
		{PID: 1, StartedAt: up, Command: "/sbin/docker-init -- /init/boot.sh"},
		{PID: 42, StartedAt: up, Command: "sshd: /usr/sbin/sshd -D [listener]"},
	}
	for _, j := range js {
		if j.alive() {
			f.Processes = append(f.Processes, fleet.Process{PID: j.pid, StartedAt: j.started, Command: j.Command})
			if j.Load > 0 {
				f.Load1++
			}
		}
		if j.run != "" && in.kept(j.cycle) {
			r := fleet.BoxRun{ID: j.run, StartedAt: j.started, EndedAt: j.ended, PID: j.pid, PIDGone: j.killed}
			if !j.ended.IsZero() {
				code := j.Exit
				r.ExitCode = &code
			}
			f.BoxRuns = append(f.BoxRuns, r)
		}
	}
	f.Sessions = in.sessions()
	for _, h := range in.m.spec.Box.Holds {
		for _, o := range in.origins {
			if in.written(o, h.At) {
				f.HoldUntil = o.at.Add(h.Until)
			}
		}
	}
	f.Files = in.files(files, logs)
	for _, u := range in.m.spec.Box.Unreadable {
		if in.during(u.From, u.To) {
			blind(&f, u)
		}
	}
	return f
}

func blind(f *fleet.Facts, u Unreadable) {
	if f.Unreadable == nil {
		f.Unreadable = map[string]string{}
	}
	f.Unreadable[u.Reading] = u.Why
	switch u.Reading {
	case "cards":
		f.Cards = nil
	case "processes":
		f.Processes, f.ProcessesRead = nil, false
	case "sessions":
		f.Sessions = nil
	case "runs":
		f.BoxRuns = nil
	case "hold":
		f.HoldUntil = time.Time{}
	}
}

func (in inside) cards(js []job) []fleet.Card {
	util, told := 0.0, true
	memory := 0.0
	for _, j := range js {
		if j.alive() {
			util, memory = max(util, j.Load), memory+j.MemoryMB
		}
	}
	var level GPULevel
	for _, g := range in.m.spec.Box.GPU {
		if in.during(g.At, 0) && (level == (GPULevel{}) || g.At >= level.At) {
			level = g
		}
	}
	if level.Util != "" {
		util, told, _ = level.reading()
	}
	var cards []fleet.Card
	for n := range in.m.spec.GPU.Count {
		c := fleet.Card{Index: n, Model: in.m.spec.GPU.Model, MemoryMB: &memory}
		if told {
			u := util
			c.Utilization = &u
		}
		cards = append(cards, c)
	}
	return cards
}

func (in inside) sessions() []fleet.Session {
	var out []fleet.Session
	for _, s := range in.m.spec.Box.Sessions {
		if !in.during(s.From, s.To) {
			continue
		}
		input := in.base.Add(s.From)
		for _, offset := range s.Inputs {
			if at := in.base.Add(offset); at.After(input) && !at.After(in.now) {
				input = at
			}
		}
		kind := s.Kind
		if kind == "" {
			kind = "tty"
		}
		out = append(out, fleet.Session{Kind: kind, Name: s.Name, Idle: in.now.Sub(input)})
	}
	return out
}

// written reports whether what the line writes at that offset is there now.
func (in inside) written(o origin, at time.Duration) bool {
	t := o.at.Add(at)
	cycle, ok := in.cycleOf(t, o)
	return ok && !t.After(in.now) && in.kept(cycle)
}

// tailBytes is how much of a log's end a look takes.
const tailBytes = 4096

func (in inside) files(files, logs []string) map[string]fleet.FileFact {
	if len(files)+len(logs) == 0 {
		return nil
	}
	out := map[string]fleet.FileFact{}
	for _, path := range slices.Concat(files, logs) {
		f, text := in.file(path)
		if slices.Contains(logs, path) {
			f.Tail = text[max(0, len(text)-tailBytes):]
		}
		out[path] = f
	}
	return out
}

type write struct {
	at     time.Time
	text   string
	size   int64
	append bool
}

func (in inside) file(path string) (fleet.FileFact, string) {
	var ws []write
	for _, o := range in.origins {
		for _, f := range in.m.spec.Box.Files {
			if f.Path == path && in.written(o, f.At) {
				ws = append(ws, write{at: o.at.Add(f.At), text: f.Text, size: f.Size})
			}
		}
		for _, l := range in.m.spec.Box.Logs {
			if l.Path == path && in.written(o, l.At) {
				ws = append(ws, write{at: o.at.Add(l.At), text: l.Line + "\n", append: true})
			}
		}
	}
	slices.SortStableFunc(ws, func(a, b write) int { return a.at.Compare(b.at) })
	var f fleet.FileFact
	var text strings.Builder
	for _, w := range ws {
		if !w.append {
			text.Reset()
			f.Size = 0
		}
		text.WriteString(w.text)
		f.Exists, f.ModTime, f.Size = true, w.at, max(f.Size+int64(len(w.text)), w.size)
	}
	return f, text.String()
}
