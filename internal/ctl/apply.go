package ctl

import (
	"time"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/policies"
)

// Shown names an act of a plan, so that it can be asked for as it was shown: not of
// another thing under the name, not in another power cycle, and not another act.
type Shown struct {
	Ref    fleet.Ref    `json:"ref"`
	Boot   fleet.Boot   `json:"boot,omitempty"`
	Action fleet.Action `json:"action"`
}

// Shown names what would be done.
func (p Planned) Shown() Shown {
	return Shown{Ref: p.Instance.Ref, Boot: p.Instance.Boot, Action: p.Action}
}

// Under reports whether the act is at the platform already.
func (p Planned) Under() bool { return p.Intent != nil && p.Intent.State != fleet.IntentPending }

// Pending reports whether something is being done, or will be when what it waits for
// has come.
func (p Planned) Pending() bool {
	return p.Under() || p.Action != fleet.Keep && guard.Sum(p.Rulings).Answer != guard.Refuse
}

// Why gives the first wish that the act rests on.
func (p Planned) Why() fleet.Reason {
	if p.Intent != nil && len(p.Intent.Verdicts) > 0 {
		return p.Intent.Verdicts[0].Reason
	}
	return p.Reason
}

// Would reports whether mode alone stands against it.
func (p Planned) Would() bool {
	return p.Action != fleet.Keep && p.Mode != fleet.Enforce && guard.Sum(guard.Without(p.Rulings, "mode")).Answer != guard.Refuse
}

// Waits gives what the act waits for beside the warning and the cooldown, which time
// alone ends: a cap or an approval. ok is false where there is nothing.
func (p Planned) Waits() (why guard.Ruling, ok bool) {
	why = guard.Sum(guard.Without(p.Rulings, "warning", "cooldown", "mode"))
	return why, why.Answer == guard.Wait
}

// ApplyRequest asks for one pass.
type ApplyRequest struct {
	By string `json:"by"`
	// Now are acts that were shown and are to be done without warning and cooldown.
	// What is not as it was shown any more is left out.
	Now []Shown `json:"now,omitempty"`
	// Wait is for how long to see through what comes due; zero: what is due already, for
	// a while.
	Wait time.Duration `json:"wait,omitempty"`
}

// Applied is the answer of [API.Apply]: every act is in one of the lists.
type Applied struct {
	Now  time.Time  `json:"now"`
	Mode fleet.Mode `json:"mode"` // of the file; in a dry run nothing is done

	Announced []fleet.Intent `json:"announced,omitempty"` // in this pass; they wait for their time
	Waits     []fleet.Intent `json:"waits,omitempty"`     // announced before, put off, or not yet seen to have had their effect
	Done      []fleet.Intent `json:"done,omitempty"`
	Failed    []fleet.Intent `json:"failed,omitempty"`
	CalledOff []fleet.Intent `json:"called_off,omitempty"` // on a ground against it
	// NotNow were asked for now and are not as they were shown any more.
	NotNow []Shown `json:"not_now,omitempty"`
	// Held are acts that no announcement was made of, since a cap has no room for it.
	Held []Planned `json:"held,omitempty"`
	// Would is what only mode stands against.
	Would  []Planned             `json:"would,omitempty"`
	Scopes []policies.ScopeState `json:"scopes"`
	Lists  []policies.ListState  `json:"lists,omitempty"`
}

// Unread reports whether a list that the answer rests on could not be read.
func (a Applied) Unread() bool {
	for _, s := range a.Scopes {
		if !s.Failing.IsZero() || s.At.IsZero() {
			return true
		}
	}
	for _, l := range a.Lists {
		if !l.Failing.IsZero() {
			return true
		}
	}
	return false
}
