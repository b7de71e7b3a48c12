package advice

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
)

const (
	boot  = fleet.Boot("n1")
	every = 30 * time.Second
)

var began = time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)

// at is so many minutes after the first look.
func at(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }

// story is what is seen at an instance, minute by minute.
type story struct {
	minutes int
	cards   int                      // 1 where nothing is said
	used    func(minute int) float64 // of every card; 95 where nothing is said
	look    func(minute int, f *fleet.Evidence)
	every   time.Duration
	runs    []fleet.Run // one since the first look where nothing is said
	subject func(*Subject)
	limits  func(*Limits)
	later   time.Duration // how long after the last look advice is asked for
}

func run(id string, from time.Time) fleet.Run {
	return fleet.Run{ID: "f:" + id, Source: "file", Boot: boot, StartedAt: from}
}

func card(index int, used float64) fleet.Card { return fleet.Card{Index: index, Utilization: &used} }

// tracker plays the looks of a story, and gives the moment after the last.
func (s story) tracker() (*Tracker, time.Time) {
	t := &Tracker{}
	step := s.every
	if step == 0 {
		step = every
	}
	now := began
	for ; now.Before(at(s.minutes)); now = now.Add(step) {
		minute := int(now.Sub(began) / time.Minute)
		used := 95.0
		if s.used != nil {
			used = s.used(minute)
		}
		e := fleet.Evidence{
			Source: "ssh", SeenAt: now, Boot: boot, Activity: fleet.Busy, FreshFor: 2*step + 10*time.Second,
			Facts: fleet.Facts{Reached: true},
		}
		for n := range max(s.cards, 1) {
			e.Facts.Cards = append(e.Facts.Cards, card(n, used))
		}
		if s.look != nil {
			s.look(minute, &e)
		}
		t.Observe(e)
	}
	return t, now.Add(-step).Add(s.later)
}

func (s story) subject0() Subject {
	sub := Subject{Instance: fleet.Instance{Boot: boot, State: fleet.StateRunning, GPU: fleet.GPU{Count: max(s.cards, 1)}}}
	sub.Runs = s.runs
	if s.runs == nil {
		sub.Runs = []fleet.Run{run("a", began)}
	}
	if s.subject != nil {
		s.subject(&sub)
	}
	return sub
}

// told gives the advice of a story in short.
func (s story) told() string {
	t, now := s.tracker()
	l := Defaults()
	if s.limits != nil {
		s.limits(&l)
	}
	var lines []string
	for _, a := range Advise(t, s.subject0(), l, now) {
		line := strings.TrimPrefix(string(a.Code), "advice.")
		for _, key := range []string{"mean", "cores", "unused", "count", "file"} {
			if v, ok := a.Values[key]; ok {
				line += fmt.Sprintf(" %s %v", key, v.Any())
			}
		}
		if v, ok := a.Values["help"].Any().(fleet.Reason); ok {
			line += " " + strings.TrimPrefix(string(v.Code), "advice.")
		}
		line += fmt.Sprintf(" since %d", int(a.Since.Sub(began)/time.Minute))
		if a.Wasted > 0 {
			line += fmt.Sprintf(" wasted %.3f", a.Wasted)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func always(v float64) func(int) float64 { return func(int) float64 { return v } }

// cpu tells of a processor with so many cores by its load.
func cpu(cores, load float64) func(int, *fleet.Evidence) {
	return func(_ int, e *fleet.Evidence) { e.Facts.Cores, e.Facts.Load1 = cores, load }
}

// counted tells of a processor by how long it has worked: the load is of a machine
// around it.
func counted(cores, atWork float64) func(int, *fleet.Evidence) {
	return func(_ int, e *fleet.Evidence) {
		e.Facts.Cores, e.Facts.Load1 = cores, 100
		e.Facts.CPUTime = time.Hour + time.Duration(atWork*float64(e.SeenAt.Sub(began)))
	}
}

func withoutGPU(s *Subject) { s.StartsWithoutGPU = true }

func TestWhatIsWorthAWordAboutCards(t *testing.T) {
	unread := func(change func(*fleet.Card)) func(int, *fleet.Evidence) {
		return func(_ int, e *fleet.Evidence) { change(&e.Facts.Cards[0]) }
	}
	for _, c := range []struct {
		name string
		story
		want string
	}{
		{"a card at work", story{minutes: 120}, ""},
		{"a card that waits", story{minutes: 120, used: always(40)}, "underused mean 40 help-any since 0 wasted 0.600"},
		{"just below", story{minutes: 120, used: always(59)}, "underused mean 59 help-any since 0 wasted 0.410"},
		{"not below", story{minutes: 120, used: always(60)}, ""},
		{"it waits since a while", story{minutes: 120, used: func(m int) float64 {
			if m < 60 {
				return 95
			}
			return 20
		}}, "underused mean 20 help-any since 60 wasted 0.800"},
		{"it waited, and no longer", story{minutes: 120, used: func(m int) float64 {
			if m < 90 {
				return 20
			}
			return 95
		}}, ""},
		{"for twenty minutes", story{minutes: 121, used: func(m int) float64 {
			if m >= 100 {
				return 20
			}
			return 95
		}}, "underused mean 20 help-any since 100 wasted 0.800"},
		{"a break of a quarter of an hour, in which the mean of twenty minutes lies below", story{minutes: 121, used: func(m int) float64 {
			if m >= 105 {
				return 20
			}
			return 95
		}}, ""},
		{"too short a time", story{minutes: 19, used: always(40)}, ""},
		{"long enough", story{minutes: 21, used: always(40)}, "underused mean 40 help-any since 0 wasted 0.600"},
		{"a run younger than that", story{minutes: 120, used: always(40), runs: []fleet.Run{run("a", at(101))}}, ""},
		{"the time before the run is none of it", story{minutes: 120, used: func(m int) float64 {
			if m < 60 {
				return 0
			}
			return 40
		}, runs: []fleet.Run{run("a", at(60))}}, "underused mean 40 help-any since 60 wasted 0.600"},
		{"no run: a notebook at rest", story{minutes: 120, used: always(0), runs: []fleet.Run{}}, ""},
		{"a run that ended", story{minutes: 120, used: always(0), runs: []fleet.Run{ended(run("a", began))}}, ""},
		{"a run of another boot", story{minutes: 120, used: always(0), runs: []fleet.Run{ofBoot(run("a", began), "n0")}}, ""},
		{"two names of one training", story{minutes: 120, used: always(40), runs: []fleet.Run{run("b", at(2)), run("a", began)}},
			"underused mean 40 help-any since 0 wasted 0.600"},
		{"a card in MIG mode", story{minutes: 120, used: always(0), look: unread(func(c *fleet.Card) { c.MIG = true })}, ""},
		{"a card that tells nothing", story{minutes: 120, used: always(0), look: unread(func(c *fleet.Card) { c.Utilization = nil })}, ""},
		{"one of four tells nothing", story{minutes: 120, cards: 4, used: always(0), look: unread(func(c *fleet.Card) { c.Utilization = nil })}, ""},
		{"a figure beyond all", story{minutes: 120, cards: 2, look: func(_ int, e *fleet.Evidence) {
			e.Facts.Cards = []fleet.Card{card(0, 101), card(1, 0)}
		}}, ""},
		{"a figure that is none", story{minutes: 120, used: always(-1)}, ""},
		{"cards that could not all be read", story{minutes: 120, used: always(0), look: func(_ int, e *fleet.Evidence) {
			e.Facts.Unreadable = map[string]string{"cards": "only 1 of 2 cards are listed"}
		}}, ""},
		{"fewer cards than rented", story{minutes: 120, used: always(0), subject: func(s *Subject) { s.Instance.GPU.Count = 2 }}, ""},
		{"said from outside", story{minutes: 120, used: always(0), look: func(_ int, e *fleet.Evidence) { e.Outside = true }}, ""},
		{"the newest look is stale", story{minutes: 120, used: always(40), later: 2 * time.Minute}, ""},
		{"the clock was put back", story{minutes: 120, used: always(40), later: -time.Minute}, ""},
		{"it is stopped", story{minutes: 120, used: always(40), subject: func(s *Subject) { s.Instance.State = fleet.StateStopped }}, ""},
		{"it was booted anew", story{minutes: 120, used: always(40), subject: func(s *Subject) { s.Instance.Boot = "n2" }}, ""},
		{"a gap ends what is known", story{minutes: 120, used: always(40), look: dark(60, 65)}, "underused mean 40 help-any since 65 wasted 0.600"},
		{"a gap shortly before", story{minutes: 120, used: always(40), look: dark(100, 105)}, ""},
		{"one look that did not get in is no gap", story{minutes: 120, used: always(40), look: func(m int, e *fleet.Evidence) {
			e.Facts.Reached = m%3 > 0 || e.SeenAt.Second() > 0
		}}, "underused mean 40 help-any since 0 wasted 0.600"},
		{"cards that cannot be read are a gap of their own", story{minutes: 120, used: always(40), look: func(m int, e *fleet.Evidence) {
			if m >= 60 && m < 65 {
				e.Facts.Cards[0].Utilization = nil
			}
		}}, "underused mean 40 help-any since 65 wasted 0.600"},
		{"looks far apart", story{minutes: 120, every: 10 * time.Minute, used: always(40)}, "underused mean 40 help-any since 0 wasted 0.600"},
		{"off", story{minutes: 120, used: always(0), cards: 2, limits: func(l *Limits) { *l = Limits{} }}, ""},
		{"another limit", story{minutes: 120, used: always(40), limits: func(l *Limits) { l.Underused.Below = 30 }}, ""},
		{"more than a day", story{minutes: 26 * 60, used: always(40)}, "underused mean 40 help-any since 115 wasted 0.600"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.told(); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func ended(r fleet.Run) fleet.Run {
	r.End, r.EndedAt = fleet.RunEnded, at(1)
	return r
}

func ofBoot(r fleet.Run, b fleet.Boot) fleet.Run {
	r.Boot = b
	return r
}

// dark is a time in which no look gets in.
func dark(from, to int) func(int, *fleet.Evidence) {
	return func(m int, e *fleet.Evidence) { e.Facts.Reached = m < from || m >= to }
}

func TestWhatCouldHelpCardsThatWait(t *testing.T) {
	const any40 = "underused mean 40 help-any since 0 wasted 0.600"
	waves := func(high, low float64) func(int) float64 {
		return func(m int) float64 {
			if m/5%2 == 0 {
				return high
			}
			return low
		}
	}
	for _, c := range []struct {
		name string
		story
		want string
	}{
		{"a full processor", story{minutes: 61, used: always(40), look: cpu(8, 7.2)}, "underused mean 40 help-cpu since 0 wasted 0.600"},
		{"one with room", story{minutes: 61, used: always(40), look: cpu(8, 7.1)}, any40},
		{"of which nobody knows how large it is", story{minutes: 61, used: always(40), look: cpu(0, 100)}, any40},
		{"whose load cannot be read", story{minutes: 61, used: always(40), look: func(_ int, e *fleet.Evidence) {
			e.Facts.Cores, e.Facts.Load1 = 8, 8
			e.Facts.Unreadable = map[string]string{"load": "failed with status 1"}
		}}, any40},
		{"full by its own count", story{minutes: 61, used: always(40), look: counted(8, 7.6)}, "underused mean 40 help-cpu since 0 wasted 0.600"},
		{"its count begins anew", story{minutes: 61, used: always(40), look: func(m int, e *fleet.Evidence) {
			if counted(8, 7.6)(m, e); m >= 30 {
				e.Facts.CPUTime -= time.Hour
			}
		}}, "underused mean 40 help-cpu since 0 wasted 0.600"},
		{"the load is that of others", story{minutes: 61, used: always(40), look: counted(8, 2)}, any40},
		{"a full processor and a card at work", story{minutes: 61, used: always(95), look: cpu(8, 8)}, ""},

		{"a card that goes up and down", story{minutes: 61, used: waves(80, 30)}, "underused mean 53 help-swing since 5 wasted 0.473"},
		{"by no more than forty points", story{minutes: 61, used: waves(70, 30)}, "underused mean 48 help-any since 5 wasted 0.518"},
		{"only once", story{minutes: 61, used: func(m int) float64 {
			if m < 10 {
				return 0
			}
			return 55
		}}, "underused mean 46 help-any since 0 wasted 0.542"},
		{"within five minutes", story{minutes: 61, used: func(m int) float64 { return float64(m%2) * 80 }}, any40},
		{"never, if so asked", story{minutes: 61, used: waves(80, 30), limits: func(l *Limits) { l.Underused.Swing = 0 }}, "underused mean 53 help-any since 5 wasted 0.473"},

		{"two of four cards are never used", story{minutes: 61, cards: 4, look: only(2, 95)}, "cards unused 2 count 4 since 0 wasted 0.500"},
		{"and the others wait", story{minutes: 61, cards: 4, look: only(2, 40)},
			"cards unused 2 count 4 since 0 wasted 0.500\nunderused mean 40 help-any since 0 wasted 0.300"},
		{"one of eight", story{minutes: 61, cards: 8, look: only(7, 95)}, "cards unused 1 count 8 since 0 wasted 0.125"},
		{"it was used once", story{minutes: 61, cards: 4, look: func(m int, e *fleet.Evidence) {
			if m != 10 {
				only(3, 95)(m, e)
			}
		}}, ""},
		{"it was used before the run only", story{minutes: 61, cards: 4, runs: []fleet.Run{run("a", at(20))}, look: func(m int, e *fleet.Evidence) {
			if m != 10 {
				only(3, 95)(m, e)
			}
		}}, "cards unused 1 count 4 since 20 wasted 0.250"},
		{"too young to say never", story{minutes: 19, cards: 4, look: only(3, 95)}, ""},
		{"never since a gap is not never", story{minutes: 61, cards: 4, look: func(m int, e *fleet.Evidence) {
			only(3, 95)(m, e)
			dark(45, 50)(m, e)
		}}, ""},
		{"none is used: they wait", story{minutes: 61, cards: 4, used: always(0)}, "underused mean 0 help-any since 0 wasted 1.000"},

		{"only the processor works", story{minutes: 90, used: always(0), look: cpu(16, 3), subject: withoutGPU}, "no-gpu cores 3 since 0 wasted 1.000"},
		{"as it is counted", story{minutes: 90, used: always(0), look: counted(16, 3), subject: withoutGPU}, "no-gpu cores 3 since 0 wasted 1.000"},
		{"on a platform that has no such start", story{minutes: 90, used: always(0), look: cpu(16, 3)}, "underused mean 0 help-any since 0 wasted 1.000"},
		{"for less than an hour", story{minutes: 59, used: always(0), look: cpu(16, 3), subject: withoutGPU}, "underused mean 0 help-any since 0 wasted 1.000"},
		{"and a card a little", story{minutes: 90, used: always(5), look: cpu(16, 3), subject: withoutGPU}, "underused mean 5 help-any since 0 wasted 0.950"},
		{"nothing works", story{minutes: 90, used: always(0), look: cpu(16, 0.1), subject: withoutGPU}, "underused mean 0 help-any since 0 wasted 1.000"},
		{"nobody knows of the processor", story{minutes: 90, used: always(0), subject: withoutGPU}, "underused mean 0 help-any since 0 wasted 1.000"},
		{"if so asked", story{minutes: 90, used: always(0), look: cpu(16, 3), subject: withoutGPU, limits: func(l *Limits) { l.Underused.CPUFor = 0 }},
			"underused mean 0 help-any since 0 wasted 1.000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.told(); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// only lets the first so many cards work.
func only(first int, used float64) func(int, *fleet.Evidence) {
	return func(_ int, e *fleet.Evidence) {
		for n := range e.Facts.Cards {
			e.Facts.Cards[n] = card(n, 0)
			if n < first {
				e.Facts.Cards[n] = card(n, used)
			}
		}
	}
}
