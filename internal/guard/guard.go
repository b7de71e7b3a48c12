// Package guard holds everything that may say no to an act. It is pure: a check
// is given values read beforehand and answers with a ruling; all checks are
// asked and all answers kept, so that a person sees every reason at once. Deny is
// the zero value, and an empty chain denies.
package guard

import (
	"time"

	"curfew/fleet"
)

// Answer is what a check says. The zero value denies.
type Answer int

// The answers, from the strictest. Refuse means that the act is not to be had as
// things stand; Wait that it must wait for something that will come.
const (
	Refuse Answer = iota
	Wait
	Allow
)

// String gives refuse, wait or allow.
func (a Answer) String() string {
	switch a {
	case Allow:
		return "allow"
	case Wait:
		return "wait"
	}
	return "refuse"
}

// MarshalText writes the word.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word; an unknown one refuses.
func (a *Answer) UnmarshalText(text []byte) error {
	switch string(text) {
	case "allow":
		*a = Allow
	case "wait":
		*a = Wait
	default:
		*a = Refuse
	}
	return nil
}

// Ruling is one check's answer.
type Ruling struct {
	Check  string       `json:"check"`
	Answer Answer       `json:"answer"`
	Reason fleet.Reason `json:"reason"`
	Until  time.Time    `json:"until,omitzero"` // for Wait: when time alone may change it
}

// Input is what the checks see: one act on one thing, at one time.
type Input struct {
	Now    time.Time
	Action fleet.Action
	Thing  fleet.Instance
	// Effect is what the act amounts to: a stop that does not keep all data counts
	// as a release.
	Effect fleet.Action
	ByHand bool
	// Hurried says that a person who was shown the act wants it now: only the warning
	// and the cooldown are skipped.
	Hurried bool
	Money   bool

	Can         bool // the account has the capability
	AccountMode fleet.Mode
	// Terms are those of every wish the act rests on; none for a command.
	Terms []fleet.Terms
	// Secured says for each of the Terms whether the data was secured as it asks;
	// shorter: not.
	Secured []bool
	// ToSecure says for each of the Terms whether that is still to be done, right before
	// the act; shorter: not.
	ToSecure []bool
	// KeepsAll says that the act, a release, is known to destroy no data: neither that of
	// the thing itself nor a disk.
	KeepsAll bool
	// FileMode is the file's mode, for commands.
	FileMode fleet.Mode

	Protected Protection
	Ceiling   Ceiling
	Holds     []fleet.Hold
	BoxHold   time.Time // the hold file inside the box

	// Announcement of the intent; zero values before there is one.
	CreatedAt  time.Time
	AcceptedAt time.Time
	Deadline   time.Time
	Warn       time.Duration

	LastAct    time.Time // the newest act on the thing that was not a step of this goal
	Caps       Cap
	CapUsed    int
	CapBase    int // running things the percentage is of
	Approved   bool
	ApprovedBy string
}

// effect is what the act amounts to, never less than what is known of it here.
func (in Input) effect() fleet.Action {
	effect := max(in.Action, in.Effect)
	loses := in.Action.Destroys() || in.Effect.Destroys() || in.Action == fleet.Stop && in.Thing.OnStop.KeepsData != fleet.KeepsAll
	if loses && !effect.Destroys() {
		effect = fleet.Release // an order ranks higher, and destroys nothing
	}
	return effect
}

// Protection says whether the user forbade acting on a thing.
type Protection struct {
	By         fleet.Reason // zero: not protected
	Unreadable bool         // what protection is read from could not be read
}

// Ceiling is the strongest act allowed on a thing.
type Ceiling struct {
	AtMost fleet.Action // Keep: none set
	From   string       // label, policy NAME, account NAME
}

// Cap bounds how many things may be acted on in a rolling hour; zero values are
// no bound.
type Cap struct {
	PerHour int
	Percent int
}

// Limit is how many acts the cap allows over base running things: the smaller of
// the two, the percentage rounded up and at least 1. ok is false for no bound.
func (c Cap) Limit(base int) (limit int, ok bool) {
	if c.PerHour > 0 {
		limit, ok = c.PerHour, true
	}
	if c.Percent > 0 {
		share := max(1, (base*c.Percent+99)/100)
		if !ok || share < limit {
			limit, ok = share, true
		}
	}
	return limit, ok
}

// Check is one thing that may say no.
type Check struct {
	Name string
	Ask  func(Input) Ruling
}

// Chain gives every check in the order in which people read them; mode is last,
// so that a dry run exercises the rest.
func Chain() []Check {
	return []Check{
		{"capability", capability},
		{"worth", worth},
		{"charge", charge},
		{"data", data},
		{"protection", protection},
		{"ceiling", ceiling},
		{"hold", hold},
		{"warning", warning},
		{"cooldown", cooldown},
		{"cap", capped},
		{"approval", approval},
		{"mode", mode},
	}
}

// Ask puts the input to every check of the chain.
func Ask(chain []Check, in Input) []Ruling {
	rulings := make([]Ruling, 0, len(chain))
	for _, c := range chain {
		r := c.Ask(in)
		r.Check = c.Name
		rulings = append(rulings, r)
	}
	return rulings
}

// Sum joins rulings into one answer: the strictest, of the first check that
// gives it. No rulings at all refuse.
func Sum(rulings []Ruling) Ruling {
	if len(rulings) == 0 {
		return Ruling{Check: "chain", Reason: fleet.Because(ReasonNoChecks, nil)}
	}
	sum := rulings[0]
	for _, r := range rulings[1:] {
		if r.Answer < sum.Answer {
			sum = r
		}
		if r.Answer == Wait && sum.Answer == Wait && r.Until.After(sum.Until) {
			sum.Until = r.Until
		}
	}
	return sum
}

// Without gives the rulings of all checks but the named ones.
func Without(rulings []Ruling, names ...string) []Ruling {
	var kept []Ruling
	for _, r := range rulings {
		drop := false
		for _, n := range names {
			drop = drop || r.Check == n
		}
		if !drop {
			kept = append(kept, r)
		}
	}
	return kept
}
