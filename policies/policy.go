// Package policies holds the rules people write in YAML, as pure functions: a
// [Policy] is given a [View] and answers with verdicts, findings and blocks. It
// reads no clock and touches nothing. [Combine] joins what all policies ask for
// one thing into the next step.
package policies

import (
	"time"

	"curfew/fleet"
)

// Policy is one rule.
type Policy interface {
	// Name is the rule's name in the configuration.
	Name() string
	// Decide answers for every subject that the policy matches: exactly one
	// verdict each, a wish or the reason why there is none. It is pure, and its
	// answer does not depend on the order of anything in the view. Nor does what it
	// says of one instance depend on which others are there: a pass asks about a few
	// at a time, and before an act it is asked again about one alone.
	Decide(v View) Result
}

// Result is a policy's answer.
type Result struct {
	Verdicts []fleet.Verdict
	Findings []fleet.Finding
	Blocks   []fleet.Block
}

// View is all that a policy may see.
type View struct {
	Now time.Time // the only clock
	// Due is the tick that opened this policy's window; zero means closed. For a
	// policy without a schedule it is Now.
	Due time.Time
	// Opens is when the window opens next; zero where it is open or never will be.
	Opens  time.Time
	Things Things

	Activity map[fleet.Ref]fleet.Judgement
	// Facts are those of the newest fresh look from inside, by instance; absent
	// where there is none.
	Facts map[fleet.Ref]fleet.Facts
	// Samples are judged looks of the present Boot by every source, oldest first,
	// as far back as any policy needs: each with what [Sample] leaves of it.
	Samples map[fleet.Ref][]fleet.Evidence
	Runs    map[fleet.Ref][]fleet.Run // of the present Boot, oldest first
	// Grounds are those journaled with a done stop, by instance; only those of
	// the Boot that ended are of use.
	Grounds map[fleet.Ref][]fleet.Ground
	// Secured is what became of securing data before a release, by instance, oldest
	// first.
	Secured map[fleet.Ref][]fleet.Secured
	// Left are things that belonged to an instance that was released, by their own
	// reference.
	Left map[fleet.Ref]fleet.Left

	// Belongs gives what belongs to an instance; nil: that is not known of any.
	Belongs func(fleet.Instance) fleet.Belongings

	// Starts are the newest starts that had their effect, by instance.
	Starts map[fleet.Ref]fleet.Intent

	// Open are the intents that have not ended, by instance: a policy that must
	// not announce any more may still want to see through what it announced.
	Open map[fleet.Ref]fleet.Intent

	// Accounts are those whose money is known of, by their identity.
	Accounts map[string]Account
	// Spend is what is known of each budget, by the policy's name.
	Spend map[string]Tally
	// Standing are the findings that were told and are not over, by [fleet.Finding.Key],
	// and when they were told.
	Standing map[string]time.Time

	// Room is an empty slice to answer in, with room or without: whoever asks about
	// many things, a few at a time, need not make it anew each time.
	Room []fleet.Verdict

	notDue fleet.Reason // why the window is closed, once somebody asked
}

// Sample gives what policies read of a look that is no longer the newest: enough
// to keep hundreds of them in memory.
func Sample(e fleet.Evidence) fleet.Evidence {
	f := e.Facts
	e.Facts = fleet.Facts{
		Cards: f.Cards, Sessions: f.Sessions, Load1: f.Load1, BootedAt: f.BootedAt,
		Reached: f.Reached, ProcessesRead: f.ProcessesRead, Unreadable: f.Unreadable,
	}
	return e
}

// Things is the last good inventory. Instances, resources and accounts are asked about
// apart: where there are some of the one, there are none of the others.
type Things struct {
	Scopes    []ScopeState
	Instances []fleet.Instance
	// Accounts are the identities of all accounts; what is known of them is in
	// [View.Accounts].
	Accounts []string
	// Resources are those of whole groups: all that have one source are there, or
	// none.
	Resources []*fleet.Resource
	Lists     []ListState
}

// ListState is how old the list of one kind of resources in a scope is.
type ListState struct {
	Scope fleet.Scope     `json:"scope"`
	Kind  fleet.ThingKind `json:"kind"`
	At    time.Time       `json:"at,omitzero"` // when the last good list was read; zero: never
	// Failing is why the newest read failed; zero when it did not.
	Failing fleet.Reason `json:"failing,omitzero"`
	Since   time.Time    `json:"since,omitzero"` // since when it fails
}

// ScopeState is how old the inventory of one scope is.
type ScopeState struct {
	Scope fleet.Scope `json:"scope"`
	At    time.Time   `json:"at,omitzero"` // when the last good list was read; zero: never
	// Failing is why the newest poll failed; zero when it did not.
	Failing fleet.Reason `json:"failing,omitzero"`
	Since   time.Time    `json:"since,omitzero"` // since when it fails
}

// Match tells whether a policy is about an instance. An error means that what
// it asks about could not be read: such an instance is not matched by an acting
// policy.
type Match func(i fleet.Instance) (bool, error)

// Common is what every policy has.
type Common struct {
	Name  string
	Match Match
	Terms fleet.Terms
}
