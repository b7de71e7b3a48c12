package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Action is what can be done to a thing. The zero value does nothing; higher
// values go further.
type Action int

// The actions, from harmless to final.
const (
	Keep Action = iota
	Start
	Stop
	Release
	Delete
	Order
)

func actionNames() []string {
	return []string{Keep: "keep", Start: "start", Stop: "stop", Release: "release", Delete: "delete", Order: "order"}
}

// String gives the action's word in configuration and journal.
func (a Action) String() string {
	names := actionNames()
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("action(%d)", int(a))
	}
	return names[a]
}

// ParseAction reads the word that [Action.String] gives.
func ParseAction(s string) (Action, error) {
	if a := slices.Index(actionNames(), s); a >= 0 {
		return Action(a), nil
	}
	return Keep, fmt.Errorf("%q is not an action; known are keep, start, stop, release, delete, order", s)
}

// MarshalJSON writes the word.
func (a Action) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// UnmarshalJSON reads the word.
func (a *Action) UnmarshalJSON(data []byte) error {
	var s string
	err := json.Unmarshal(data, &s)
	if err == nil {
		*a, err = ParseAction(s)
	}
	return err
}

// Destroys reports whether the action cannot be taken back.
func (a Action) Destroys() bool { return a == Release || a == Delete }

// Mode is how far curfew may go. The zero value writes nothing.
type Mode string

// The modes. Of file, account and policy the milder holds.
const (
	DryRun  Mode = "dry-run"
	Enforce Mode = "enforce"
)

// Enforcing reports whether all of the modes allow writing; an empty one does
// not.
func Enforcing(modes ...Mode) bool {
	for _, m := range modes {
		if m != Enforce {
			return false
		}
	}
	return len(modes) > 0
}

// Terms are the conditions a policy puts on its own wishes. They come from the
// configuration and are read by combining, guard and executor, not by the
// policy.
type Terms struct {
	Mode Mode `json:"mode,omitempty"` // already the milder of file, account and policy
	// AtMost is the strongest action allowed by this policy; Keep means no
	// ceiling was set.
	AtMost Action `json:"at_most,omitempty"`
	// WarnStop and WarnDestroy are the times from the accepted warning to the
	// act, for Stop and for Release and Delete.
	WarnStop    time.Duration `json:"warn_stop"`
	WarnDestroy time.Duration `json:"warn_destroy"`
	Approval    bool          `json:"approval,omitempty"`
	Cooldown    time.Duration `json:"cooldown"`
	Refund      bool          `json:"refund,omitempty"`  // prepaid: refund
	Discard     bool          `json:"discard,omitempty"` // data: discard
	Money       bool          `json:"money,omitempty"`   // a money reason; counts against caps.money alone
	NoGPU       bool          `json:"no_gpu,omitempty"`  // a start without cards, where the platform can; else with them
	// Data says what must be done with an instance's data before it is released; nil:
	// nothing.
	Data *DataTerms `json:"data,omitempty"`
}

// Warn is the time from the accepted warning to the act.
func (t Terms) Warn(a Action) time.Duration {
	if a.Destroys() {
		return t.WarnDestroy
	}
	return t.WarnStop
}

// Ground is what a wish stands on: the run that ended. It is journaled with the
// stop, so that the release of the stopped instance can stand on it while the
// fresh read shows it stopped in that same Boot.
type Ground struct {
	Policy  string     `json:"policy"`
	Boot    Boot       `json:"boot"`
	Run     string     `json:"run,omitempty"`
	Outcome RunOutcome `json:"outcome,omitempty"`
	EndedAt time.Time  `json:"ended_at,omitzero"`
	// Goal is what the policy wished for when the ground was journaled.
	Goal Action `json:"goal,omitempty"`
}

// Verdict is one policy's answer for one subject: a wish, or the reason why
// there is none. Every subject a policy matches gets exactly one.
type Verdict struct {
	Policy string `json:"policy"`
	Ref    Ref    `json:"ref"`
	Boot   Boot   `json:"boot,omitempty"`
	Goal   Action `json:"goal"`
	Reason Reason `json:"reason"`
	// Next is when the answer may change by time alone; zero where only new
	// evidence can change it.
	Next     time.Time    `json:"next,omitzero"`
	Evidence []SourceSeen `json:"evidence,omitempty"`
	Ground   *Ground      `json:"ground,omitempty"`
	Terms    Terms        `json:"terms,omitzero"`
	// Due is the tick whose window the wish was made in.
	Due time.Time `json:"due,omitzero"`
	// Gap marks a Keep that says only that nothing can be told now: it puts an
	// open intent off and is no ground against it.
	Gap bool `json:"gap,omitempty"`
	// Blind marks one of the few wishes that may be carried out although nobody
	// knows whether the instance is idle, and then as a stop that keeps all data.
	Blind bool `json:"blind,omitempty"`
}

// Severity is how loudly people should be told.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Rank orders severities; an unknown one ranks lowest.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 2
	case Warning:
		return 1
	}
	return 0
}

// Category is what a notice is about, for routing.
type Category string

// The categories of notices.
const (
	CategoryMoney  Category = "money"
	CategoryAct    Category = "act"
	CategoryHealth Category = "health"
	CategoryStock  Category = "stock"
	CategoryDigest Category = "digest"
)

// Finding is what people should be told. It never holds back an act. Condition
// and Period, with policy and subject, make its identity: the same finding is
// told once per period.
type Finding struct {
	Policy    string   `json:"policy,omitempty"`
	Ref       Ref      `json:"ref"`
	Severity  Severity `json:"severity"`
	Category  Category `json:"category"`
	Condition string   `json:"condition"`
	Period    string   `json:"period,omitempty"`
	Reason    Reason   `json:"reason"`
	// Standing marks what lasts: it is found as long as it does, and once it is not
	// found any more people are told that it is over, and it can be told again.
	Standing bool `json:"standing,omitempty"`
	// Quiet marks what lasts and is told once: nobody is reminded of it.
	Quiet bool `json:"quiet,omitempty"`
	// Over is what people are then told; zero: nothing.
	Over Reason `json:"over,omitzero"`
}

// Key is the finding's identity for telling it once.
func (f Finding) Key() string {
	return f.Policy + "|" + f.Ref.String() + "|" + f.Condition + "|" + f.Period
}

// Block is what holds back orders in an account; in all where it names none.
type Block struct {
	Policy string `json:"policy"`
	Ref    Ref    `json:"ref,omitzero"`
	Reason Reason `json:"reason"`
}
