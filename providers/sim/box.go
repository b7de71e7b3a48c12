package sim

import (
	"fmt"
	"slices"
	"time"
)

// Box is what happens inside an instance, as a time line. Offsets count from when
// the instance was added to the cloud; with EachBoot they count from every moment
// it comes up, and the line is played again each time.
//
// Nothing runs while the instance is not up: a stop kills what runs, and a later
// boot brings none of it back unless EachBoot is set. Files stay where a stop
// keeps the data.
type Box struct {
	EachBoot   bool         `yaml:"each_boot"`
	Processes  []Process    `yaml:"processes"`
	GPU        []GPULevel   `yaml:"gpu"`
	Sessions   []Session    `yaml:"sessions"`
	Dark       []Stretch    `yaml:"dark"` // cannot be reached; `- {}` is always
	Unreadable []Unreadable `yaml:"unreadable"`
	Holds      []Hold       `yaml:"holds"`
	Files      []File       `yaml:"files"`
	Logs       []LogLine    `yaml:"logs"`
}

// Stretch is a part of the time line; a zero To never ends.
type Stretch struct {
	From time.Duration `yaml:"from"`
	To   time.Duration `yaml:"to"`
}

// Process is a process that runs for a stretch.
type Process struct {
	Command string        `yaml:"command"`
	From    time.Duration `yaml:"from"`
	To      time.Duration `yaml:"to"`
	Exit    int           `yaml:"exit"` // its exit code, where it comes to its end
	// Run, where set, is the id of the in-box run file it keeps.
	Run string `yaml:"run"`
	// Load is the utilisation of every card while it runs, in percent.
	Load     float64 `yaml:"load"`
	MemoryMB float64 `yaml:"memory_mb"` // on every card
}

// GPULevel sets what the driver reports for the cards from a moment on, whatever
// runs: a percentage, "N/A", or "" for what the processes make of it.
type GPULevel struct {
	At   time.Duration `yaml:"at"`
	Util string        `yaml:"util"`
}

// Session is a person at work. It is idle since its last input.
type Session struct {
	Kind   string          `yaml:"kind"` // tty (the default) or utmp
	Name   string          `yaml:"name"`
	From   time.Duration   `yaml:"from"`
	To     time.Duration   `yaml:"to"`
	Inputs []time.Duration `yaml:"inputs"` // beside its beginning
}

// Unreadable makes one reading fail for a stretch: cards, processes, sessions,
// runs or hold.
type Unreadable struct {
	Reading string        `yaml:"reading"`
	Why     string        `yaml:"why"`
	From    time.Duration `yaml:"from"`
	To      time.Duration `yaml:"to"`
}

// Hold is a hold file written at a moment, holding until another.
type Hold struct {
	At    time.Duration `yaml:"at"`
	Until time.Duration `yaml:"until"`
}

// File is a file written whole at a moment.
type File struct {
	Path string        `yaml:"path"`
	At   time.Duration `yaml:"at"`
	Text string        `yaml:"text"`
	Size int64         `yaml:"size"` // where it is more than its text
}

// LogLine is a line appended to a file at a moment.
type LogLine struct {
	Path string        `yaml:"path"`
	At   time.Duration `yaml:"at"`
	Line string        `yaml:"line"`
}

func (b Box) check(age time.Duration) error {
	for _, p := range b.Processes {
		switch {
		case p.Command == "":
			return fmt.Errorf("a process without a command")
		case p.To != 0 && p.To <= p.From:
			return fmt.Errorf("process %q ends at %s, not after its beginning at %s", p.Command, p.To, p.From)
		case -p.From > age:
			return fmt.Errorf("process %q begins %s before the instance was up; its age is %s", p.Command, -p.From-age, age)
		}
	}
	for _, g := range b.GPU {
		if _, _, err := g.reading(); err != nil {
			return err
		}
	}
	for _, u := range b.Unreadable {
		if !slices.Contains([]string{"cards", "processes", "sessions", "runs", "hold"}, u.Reading) {
			return fmt.Errorf("reading %q; known are cards, processes, sessions, runs, hold", u.Reading)
		}
	}
	return nil
}

func (g GPULevel) reading() (util float64, told bool, err error) {
	switch g.Util {
	case "", "N/A":
		return 0, false, nil
	}
	if _, err := fmt.Sscanf(g.Util, "%g", &util); err != nil || util < 0 || util > 100 {
		return 0, false, fmt.Errorf("GPU utilisation %q; it is a percentage or N/A", g.Util)
	}
	return util, true, nil
}
