package fleet

import (
	"strings"
	"time"
)

// Activity is what is known of work going on at an instance.
type Activity int

// Unknown is the zero value: never idle, never busy.
const (
	Unknown Activity = iota
	Busy
	Idle
)

// String gives unknown, busy or idle.
func (a Activity) String() string {
	switch a {
	case Busy:
		return "busy"
	case Idle:
		return "idle"
	}
	return "unknown"
}

// MarshalText writes the word.
func (a Activity) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word; one it does not know is Unknown.
func (a *Activity) UnmarshalText(text []byte) error {
	*a = Unknown
	for _, known := range []Activity{Busy, Idle} {
		if known.String() == string(text) {
			*a = known
		}
	}
	return nil
}

// Evidence is what one source saw of one instance in one look.
type Evidence struct {
	Source   string    `json:"source"`
	SeenAt   time.Time `json:"seen_at"` // when the look began
	Boot     Boot      `json:"boot,omitempty"`
	Activity Activity  `json:"activity"`
	Reason   Reason    `json:"reason,omitzero"` // why busy or idle, or why it cannot be told
	Facts    Facts     `json:"facts,omitzero"`
	// FreshFor is how long the look may be relied on: 2 × every + timeout of its
	// source.
	FreshFor time.Duration `json:"fresh_for,omitempty"`
	// Outside says that the source does not look inside and was told the activity by
	// others: there are no Facts to judge it by.
	Outside bool `json:"outside,omitempty"`
}

// Fresh reports whether the look may still be relied on at now. A look from the
// future (a clock that jumped back) may not.
func (e Evidence) Fresh(now time.Time) bool {
	age := now.Sub(e.SeenAt)
	return age >= 0 && age <= e.FreshFor
}

// Facts are the readings of one look. A reading that could not be taken is not
// there, and says why in Unreadable.
type Facts struct {
	Cards     []Card           `json:"cards,omitempty"`
	Processes []Process        `json:"-"`                 // all of them; judged in memory, never stored
	Matched   map[string][]int `json:"matched,omitempty"` // policy -> pids whose command line matches its process
	// MatchedSince is when the oldest of a policy's matching processes started;
	// a policy is not in it where the start of one of them could not be told.
	MatchedSince map[string]time.Time `json:"matched_since,omitempty"`
	// BootedAt is when process 1 started: what began before it is of an earlier
	// Boot. Zero where it could not be told.
	BootedAt  time.Time           `json:"booted_at,omitzero"`
	Sessions  []Session           `json:"sessions,omitempty"` // people, by idle time
	BoxRuns   []BoxRun            `json:"box_runs,omitempty"` // in-box run files
	HoldUntil time.Time           `json:"hold_until,omitzero"`
	Files     map[string]FileFact `json:"files,omitempty"` // those a policy asked for
	Load1     float64             `json:"load1,omitempty"`
	// Cores is how many processor cores the instance may use, a share of one too.
	// Zero where that could not be told, or where neither CPUTime nor Load1 is of
	// these cores.
	Cores float64 `json:"cores,omitempty"`
	// CPUTime is how long those cores have worked for the instance in all, each by
	// itself. Only the difference of two looks means anything. Zero where it could
	// not be told: then Load1 is of Cores.
	CPUTime time.Duration `json:"cpu_time,omitempty"`
	// Reached says that a look got inside at all; false with a reason otherwise.
	Reached bool `json:"reached,omitempty"`
	// ProcessesRead says that the process list could be read and held at least
	// one process: an empty list inside a container is not an answer.
	ProcessesRead bool `json:"processes_read,omitempty"`
	// Unreadable lists the readings that failed: cards, processes, sessions,
	// jupyter, runs, hold, load.
	Unreadable map[string]string `json:"unreadable,omitempty"`
}

// Card is one GPU as its driver reports it. Utilization is a percentage, nil
// where the driver says [N/A]: a missing reading is not zero.
type Card struct {
	Index       int      `json:"index"`
	Model       string   `json:"model,omitempty"`
	Utilization *float64 `json:"utilization,omitempty"`
	MemoryMB    *float64 `json:"memory_mb,omitempty"`
	PowerW      *float64 `json:"power_w,omitempty"`
	MIG         bool     `json:"mig,omitempty"`
}

// Process is one process inside an instance.
type Process struct {
	PID       int
	StartedAt time.Time // zero where it could not be told
	Command   string    // the whole command line
}

// Session is a person at work: a terminal, a kernel, an editor.
type Session struct {
	Kind string        `json:"kind"` // tty, utmp, kernel, vscode
	Name string        `json:"name,omitempty"`
	Idle time.Duration `json:"idle"`           // since the last input
	Busy bool          `json:"busy,omitempty"` // a kernel that computes, whenever its last input was
}

// BoxRun is one run as reported by files inside the instance.
type BoxRun struct {
	ID        string    `json:"id"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	PID       int       `json:"pid,omitempty"`
	PIDGone   bool      `json:"pid_gone,omitempty"` // started, no end file, and its process is not there
	// Then is what whoever started it asked to happen afterwards: stop, or nothing.
	Then string `json:"then,omitempty"`
	Said string `json:"said,omitempty"` // the last lines of its output, given with the end
}

// ThenStop is a run's wish that its machine be stopped afterwards.
const ThenStop = "stop"

// FileFact is what is known of one file a policy asked for. Times are by our
// clock: the source takes the difference to the instance's clock off.
type FileFact struct {
	Exists  bool      `json:"exists"`
	ModTime time.Time `json:"mod_time,omitzero"`
	Size    int64     `json:"size,omitempty"`
	Tail    string    `json:"tail,omitempty"` // its last bytes, for logs; ends at Size
	Err     string    `json:"err,omitempty"`  // why it could not be read
}

// SourceSeen is one source's part in a Judgement.
type SourceSeen struct {
	Source   string    `json:"source"`
	SeenAt   time.Time `json:"seen_at,omitzero"`
	Fresh    bool      `json:"fresh"`
	Required bool      `json:"required"`
	Activity Activity  `json:"activity"`
	Reason   Reason    `json:"reason,omitzero"`
}

// Judgement is the activity of an instance fused from every source.
type Judgement struct {
	Activity Activity `json:"activity"`
	Reason   Reason   `json:"reason,omitzero"`
	Boot     Boot     `json:"boot,omitempty"`
	// SeenAt is when the oldest look it rests on began.
	SeenAt  time.Time    `json:"seen_at,omitzero"`
	Sources []SourceSeen `json:"sources,omitempty"`
}

// RunEnd says how a run came to be over.
type RunEnd string

// The ways a run can end; empty while it is open.
const (
	RunOpen        RunEnd = ""
	RunEnded       RunEnd = "ended"       // an end file or ping, or enough looks without the process
	RunInterrupted RunEnd = "interrupted" // the boot changed; never a ground for training
	RunLost        RunEnd = "lost"        // only a silent ping or idle processes kept it open
)

// RunOutcome says whether a run reached its aim. An end is not a success.
type RunOutcome string

// The outcomes of a run. Unknown is the zero value.
const (
	OutcomeUnproven  RunOutcome = ""
	OutcomeSucceeded RunOutcome = "succeeded"
	OutcomeFailed    RunOutcome = "failed"
)

// Run is one training run in one Boot.
type Run struct {
	ID        string    `json:"id"`     // unique within its instance and Boot
	Source    string    `json:"source"` // process, file or ping
	Policy    string    `json:"policy,omitempty"`
	Ref       Ref       `json:"ref"`
	Boot      Boot      `json:"boot"`
	StartedAt time.Time `json:"started_at"`
	End       RunEnd    `json:"end,omitempty"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	// Seen is the last look that showed it going on.
	Seen time.Time `json:"seen,omitzero"`
	// Absent and AbsentSince count the looks in a row that reached the instance
	// and did not show it.
	Absent      int       `json:"absent,omitempty"`
	AbsentSince time.Time `json:"absent_since,omitzero"`
	// Slack counts the looks in a row in which the run was open but used neither
	// GPU nor CPU.
	Slack int `json:"slack,omitempty"`
	// Marks holds the size of each watched log when the run was first seen; only
	// what was written after it speaks of this run.
	Marks map[string]int64 `json:"marks,omitempty"`
	// LookedAt is when the newest look that was folded into it began, so that one
	// look never counts twice.
	LookedAt time.Time `json:"looked_at,omitzero"`
	// BusyAt is the first busy look after its end. An end file or ping speaks for
	// itself only while there is none.
	BusyAt time.Time `json:"busy_at,omitzero"`
	// Said is the last of the text that its pings or its file came with.
	Said string `json:"said,omitempty"`
	// Then is what whoever started it asked to happen after it: stop, or nothing.
	Then string `json:"then,omitempty"`
}

// Name is what people called the run, in its file or ping; empty for one known
// by its processes alone.
func (r Run) Name() string {
	if r.Source == "process" {
		return ""
	}
	_, name, _ := strings.Cut(r.ID, ":")
	return name
}

// Open reports whether the run is still going on as far as is known.
func (r Run) Open() bool { return r.End == RunOpen }
