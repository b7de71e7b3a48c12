// Package ctl is how people talk to a running daemon: the [API] it offers, its
// HTTP form on a Unix socket, and the client of that. Commands speak to an API
// and do not care whether it is in another process.
package ctl

import (
	"context"
	"time"

	"curfew/fleet"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/policies"
)

// API is what a daemon answers. Names of instances are given as people write
// them: a full reference, an id or a name that only one instance has.
type API interface {
	// Plan tells what would be done now, and why not more.
	Plan(ctx context.Context) (Plan, error)
	// Explain tells all that is known of one instance and what would happen next.
	Explain(ctx context.Context, name string) (Explanation, error)
	// List lists every instance.
	List(ctx context.Context) (Listing, error)
	// Resources lists what is billed beside instances, of one kind.
	Resources(ctx context.Context, kind fleet.ThingKind) (Resources, error)
	// Cost tells what everything cost in a time.
	Cost(ctx context.Context, q CostQuery) (CostAnswer, error)
	// Estimate keeps what a job is reckoned to cost on the instance it runs on.
	Estimate(ctx context.Context, r EstimateRequest) (EstimateAnswer, error)
	// AcceptMachine examines a fresh machine, and keeps the result.
	AcceptMachine(ctx context.Context, r AcceptRequest) (AcceptAnswer, error)
	// Hold forbids acting on an instance for a time; a zero until ends holds.
	Hold(ctx context.Context, h HoldRequest) (HoldAnswer, error)
	// ApproveHold grants a hold that is longer than may be at once.
	ApproveHold(ctx context.Context, id int64, by string) (HoldAnswer, error)
	// Apply makes one pass and carries out what is due.
	Apply(ctx context.Context, r ApplyRequest) (Applied, error)
	// Act asks for an act by hand.
	Act(ctx context.Context, r ActRequest) (fleet.Intent, error)
	// Approve says yes to a waiting intent.
	Approve(ctx context.Context, id int64, by string) (fleet.Intent, error)
	// Journal lists the newest intents, or every step of one.
	Journal(ctx context.Context, q JournalQuery) (JournalAnswer, error)
	// Reload reads the configuration again.
	Reload(ctx context.Context) error
	// Forget drops what is remembered of an account that is not configured any more.
	Forget(ctx context.Context, account string) error
	// Answer notes that somebody knows of what was told of a thing.
	Answer(ctx context.Context, r AnswerRequest) (Answered, error)
	// Sends tells what was counted against a channel's quota.
	Sends(ctx context.Context, r SendsRequest) (SendsAnswer, error)
	// Status tells how the daemon is.
	Status(ctx context.Context) (Status, error)
	// PingKey gives the key under which an instance's pings come.
	PingKey(ctx context.Context, name string) (PingKey, error)
}

// Planned is what would be done with one instance.
type Planned struct {
	Instance  fleet.Instance  `json:"instance"`
	Activity  fleet.Judgement `json:"activity"`
	Action    fleet.Action    `json:"action"` // Keep: nothing, for Reason
	Goal      fleet.Action    `json:"goal"`
	Mode      fleet.Mode      `json:"mode"` // dry-run: it would, if it might
	Reason    fleet.Reason    `json:"reason"`
	Verdicts  []fleet.Verdict `json:"verdicts,omitempty"`
	Rulings   []guard.Ruling  `json:"rulings,omitempty"`
	Intent    *fleet.Intent   `json:"intent,omitempty"`
	At        time.Time       `json:"at,omitzero"` // when it will be done, as far as is known
	Unguarded bool            `json:"unguarded,omitempty"`
}

// Resources is the answer of [API.Resources].
type Resources struct {
	Now   time.Time            `json:"now"`
	Kind  fleet.ThingKind      `json:"kind"`
	Items []PlannedResource    `json:"items"`
	Lists []policies.ListState `json:"lists"`
}

// PlannedResource is a resource, and what would be done with it.
type PlannedResource struct {
	Resource fleet.Resource `json:"resource"`
	Planned  Planned        `json:"planned"`
}

// Plan is the answer of [API.Plan].
type Plan struct {
	Now   time.Time `json:"now"`
	Items []Planned `json:"items"`
	// Resources are the things beside instances with which something is done, or
	// might be.
	Resources []Planned             `json:"resources,omitempty"`
	Scopes    []policies.ScopeState `json:"scopes"`
	// Findings are about accounts and budgets, and Blocks say where nothing is ordered
	// now.
	Findings []fleet.Finding `json:"findings,omitempty"`
	Blocks   []fleet.Block   `json:"blocks,omitempty"`
}

// Explanation is the answer of [API.Explain].
type Explanation struct {
	Now time.Time `json:"now"`
	Planned
	Resource *fleet.Resource  `json:"resource,omitempty"` // where it is no instance
	Evidence []fleet.Evidence `json:"evidence,omitempty"`
	Runs     []fleet.Run      `json:"runs,omitempty"`
	Holds    []fleet.Hold     `json:"holds,omitempty"`
	// HoldRequests are holds that wait for a yes, and HoldLimits how long it may be held;
	// nil: there are no limits.
	HoldRequests []store.HoldRequest `json:"hold_requests,omitempty"`
	HoldLimits   *HoldLimits         `json:"hold_limits,omitempty"`
	// Estimates are the newest ones that were kept of it, newest first.
	Estimates []EstimateSoFar `json:"estimates,omitempty"`
	// Accepted are the newest results of examining it, newest first.
	Accepted []fleet.Acceptance `json:"accepted,omitempty"`
	// Secured is what became of securing its data in its present Boot.
	Secured   []fleet.Secured     `json:"secured,omitempty"`
	Scope     policies.ScopeState `json:"scope"`
	SeenAt    time.Time           `json:"seen_at"`
	CostSoFar fleet.Money         `json:"cost_so_far,omitzero"`
	// Sources says where each effective setting of a policy came from.
	Sources []Setting       `json:"settings,omitempty"`
	History []store.Segment `json:"history,omitempty"`
}

// Setting is an effective value and where it came from.
type Setting struct {
	Policy string `json:"policy"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	From   string `json:"from"` // default, file, account, policy, label
}

// Listing is the answer of [API.List].
type Listing struct {
	Now    time.Time             `json:"now"`
	Items  []Planned             `json:"items"`
	Scopes []policies.ScopeState `json:"scopes"`
	// Wallets are the last known balances by account name.
	Wallets map[string]fleet.Wallet `json:"wallets,omitempty"`
	// Accounts are those of the configuration, in its order.
	Accounts []Account `json:"accounts,omitempty"`
}

// Account is one account of the configuration.
type Account struct {
	Name     string     `json:"name"`
	Provider string     `json:"provider"`
	Identity string     `json:"identity,omitempty"` // what references and scopes hold; empty while not known
	Mode     fleet.Mode `json:"mode"`
	// WalletAt is when what it has left was read last, from a good answer.
	WalletAt time.Time `json:"wallet_at,omitzero"`
	// Burn is what everything there costs by the hour now, by prices and states;
	// Unpriced counts what is up without a known price.
	Burn     fleet.Sums `json:"burn,omitempty"`
	Unpriced int        `json:"unpriced,omitempty"`
	// Runway is for how long what was left lasts at that, from WalletAt on; nil: for ever,
	// or that is not known. Where there is something without a price it is the most.
	Runway *time.Duration `json:"runway_ns,omitempty"`
}

// HoldRequest asks to hold an instance.
type HoldRequest struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until,omitzero"` // zero ends its holds
	By    string    `json:"by"`
	Why   string    `json:"why"`
}

// HoldAnswer says what a hold did.
type HoldAnswer struct {
	Ref  fleet.Ref  `json:"ref"`
	Hold fleet.Hold `json:"hold,omitzero"`
	// Abandoned is the announced act that the hold called off.
	Abandoned *fleet.Intent `json:"abandoned,omitempty"`
	// TooLate is an act that was requested from the platform already.
	TooLate *fleet.Intent `json:"too_late,omitempty"`
	// Request is what waits for somebody else's yes, and Limit why Hold is not as long
	// as it was asked for; without an end in it nothing is held.
	Request *store.HoldRequest `json:"request,omitempty"`
	Limit   fleet.Reason       `json:"limit,omitzero"`
}

// HoldLimits say how long a thing may be held, and how long it was since its present
// run or boot began. Zero is no limit of that sort.
type HoldLimits struct {
	Max   time.Duration `json:"max_ns,omitempty"`
	Total time.Duration `json:"total_ns,omitempty"`
	Since time.Time     `json:"since,omitzero"`
	Held  time.Duration `json:"held_ns"`
}

// ActRequest asks for an act by hand.
type ActRequest struct {
	Name   string       `json:"name"`
	Action fleet.Action `json:"action"`
	By     string       `json:"by"`
}

// JournalQuery asks for the newest intents, or for every step of one.
type JournalQuery struct {
	Limit  int   `json:"limit,omitempty"`
	Intent int64 `json:"intent,omitempty"`
}

// JournalAnswer is the answer of [API.Journal].
type JournalAnswer struct {
	Intents []fleet.Intent `json:"intents,omitempty"`
	Steps   []store.Entry  `json:"steps,omitempty"`
}

// PingKey is the answer of [API.PingKey].
type PingKey struct {
	Ref  fleet.Ref `json:"ref"`
	Name string    `json:"name"` // what people call the instance
	Key  string    `json:"key"`
}

// Status tells how a daemon is.
type Status struct {
	Version    string                `json:"version"`
	Config     string                `json:"config"`
	Mode       fleet.Mode            `json:"mode"`
	StartedAt  time.Time             `json:"started_at"`
	Now        time.Time             `json:"now"`
	Instances  int                   `json:"instances"`
	OpenActs   int                   `json:"open_acts"`
	LastPass   time.Time             `json:"last_pass,omitzero"`
	LastReload string                `json:"last_reload,omitempty"` // error of the last reload; empty when it worked
	Scopes     []policies.ScopeState `json:"scopes"`
	// Exec says what becomes of runs that ask for a stop.
	Exec Exec `json:"exec,omitzero"`
	// DatabaseError is why state cannot be written; acts stop meanwhile.
	DatabaseError string `json:"database_error,omitempty"`
}

// Exec says how a daemon takes the runs of curfew exec --then stop.
type Exec struct {
	Machine string     `json:"machine,omitempty"` // the one it runs in; empty: none is declared
	Mode    fleet.Mode `json:"mode,omitempty"`    // that holds for the policy of such runs
	Home    string     `json:"home,omitempty"`    // whose run files are read; empty: nobody looks inside
	// Guard is the process id of a guard that such a run has started; 0 of a daemon.
	Guard int `json:"guard,omitempty"`
}
