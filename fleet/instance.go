package fleet

import "time"

// State is where an instance is in its life, in the same words for every
// platform. A status string an adapter does not know is StateUnknown, never
// stopped.
type State string

// The states of an instance. Unknown is the zero value.
const (
	StateUnknown   State = ""
	StateCreating  State = "creating"
	StateStarting  State = "starting"
	StateRunning   State = "running"
	StateStopping  State = "stopping"
	StateStopped   State = "stopped"
	StateReleasing State = "releasing"
	StateReleased  State = "released"
	StateFailed    State = "failed"
)

// String gives the state in words; unknown for the zero value.
func (s State) String() string {
	if s == StateUnknown {
		return "unknown"
	}
	return string(s)
}

// Up reports whether the machine may be doing work: running, or on the way to
// it.
func (s State) Up() bool { return s == StateRunning || s == StateStarting || s == StateCreating }

// Gone reports whether the platform itself says that the thing has ended.
func (s State) Gone() bool { return s == StateReleased }

// ChargeType says how an instance is paid for.
type ChargeType string

// The charge types. Unknown is the zero value and is treated with the care due
// to a period.
const (
	ChargeUnknown  ChargeType = ""
	ChargeOnDemand ChargeType = "on-demand"
	ChargeSpot     ChargeType = "spot"
	ChargePeriod   ChargeType = "period"
)

// Charge is how an instance is paid for. End, Refundable and AutoRenew are of a period.
type Charge struct {
	Type       ChargeType `json:"type,omitempty"`
	End        time.Time  `json:"end,omitzero"`
	Refundable Money      `json:"refundable,omitzero"`
	// AutoRenew says whether the platform buys the next period by itself.
	AutoRenew Tri `json:"auto_renew,omitempty"`
}

// GPU describes the cards of an instance; the zero value is a machine without.
type GPU struct {
	Model    string `json:"model,omitempty"`
	Count    int    `json:"count,omitempty"`
	MemoryGB int    `json:"memory_gb,omitempty"` // per card
}

// Tri is yes, no or unknown; unknown is the zero value.
type Tri string

// The three answers.
const (
	Unsure Tri = ""
	Yes    Tri = "yes"
	No     Tri = "no"
)

// Keeps says how much of the data on an instance outlives a stop.
type Keeps string

// How much data a stop keeps. Unknown is the zero value and counts as none.
const (
	KeepsUnknown Keeps = ""
	KeepsAll     Keeps = "all"
	KeepsPart    Keeps = "part"
	KeepsNone    Keeps = "none"
)

// OnStop is what a stop of this instance does to bill and data.
type OnStop struct {
	EndsBilling Tri   `json:"ends_billing,omitempty"`
	KeepsData   Keeps `json:"keeps_data,omitempty"`
	// StillCosts is what goes on being billed after a stop (disks, address);
	// its Known tells whether anybody said.
	StillCosts Price `json:"still_costs,omitzero"`
	// ReleasesAfter is how long after a stop it is deleted without curfew's doing,
	// where that is known of this one; zero where nobody said.
	ReleasesAfter time.Duration `json:"releases_after,omitempty"`
}

// OnRelease is what a release of this instance does to its data.
type OnRelease struct {
	// KeepsData is how much of what is on the instance itself outlives it. Disks that
	// are billed by themselves say it of themselves ([Resource.WithInstance]).
	KeepsData Keeps `json:"keeps_data,omitempty"`
}

// Inability is an act that cannot be done to one instance, although its platform
// can do it to others.
type Inability struct {
	Action Action `json:"action"`
	Why    Reason `json:"why"`
}

// Instance is one rentable unit, on any platform. Passwords and keys are never
// part of it.
//
// Adapters fill everything they are told and nothing they guess. AccountName
// and Provider are filled by the observer, and Boot as well where the platform
// does not tell StartedAt.
type Instance struct {
	Ref  Ref  `json:"ref"`
	Boot Boot `json:"boot,omitempty"`

	AccountName string            `json:"account_name,omitempty"` // the entry's name in the configuration
	Provider    string            `json:"provider,omitempty"`
	Name        string            `json:"name,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Owner       string            `json:"owner,omitempty"`
	Parent      Ref               `json:"parent,omitzero"` // task, deployment or cluster that owns it

	State    State  `json:"state,omitempty"`
	RawState string `json:"raw_state,omitempty"` // the platform's own word
	// Unclear says why the state is unknown, where more is to be said than that the
	// platform's word is not known.
	Unclear   Reason    `json:"unclear,omitzero"`
	Region    string    `json:"region,omitempty"`
	Charge    Charge    `json:"charge,omitzero"`
	GPU       GPU       `json:"gpu,omitzero"`
	Price     Price     `json:"price,omitzero"` // while running
	OnStop    OnStop    `json:"on_stop,omitzero"`
	OnRelease OnRelease `json:"on_release,omitzero"`
	Image     Ref       `json:"image,omitzero"`      // it was made of, where that is one of the account's own
	Protected bool      `json:"protected,omitempty"` // the platform's own termination protection
	// Here says that curfew itself runs in it: a stop ends curfew too, so nobody is
	// left to see that it took effect before the next start.
	Here bool `json:"here,omitempty"`
	// Cannot are the acts that the platform is able to do, but not to this one.
	Cannot []Inability `json:"cannot,omitempty"`

	CreatedAt  time.Time `json:"created_at,omitzero"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	StoppedAt  time.Time `json:"stopped_at,omitzero"`
	StopsAt    time.Time `json:"stops_at,omitzero"`    // a platform timer that stops it
	ReleasesAt time.Time `json:"releases_at,omitzero"` // the platform's own deletion

	// Unread names what could not be read this time, such as "labels". What is
	// unread is protected: no acting policy matches by it and no guard passes it.
	Unread []string `json:"unread,omitempty"`
}

// DisplayName is the name people gave it, or its id.
func (i Instance) DisplayName() string {
	if i.Name != "" {
		return i.Name
	}
	return i.Ref.ID
}

// Unable says why the platform cannot do this to the instance in particular;
// zero where nothing is known against it.
func (i Instance) Unable(a Action) Reason {
	for _, c := range i.Cannot {
		if c.Action == a {
			return c.Why
		}
	}
	return Reason{}
}

// CostNow is what the instance costs in its present state: the running price,
// or what a stopped one still costs.
func (i Instance) CostNow() Price {
	switch i.State {
	case StateStopped:
		if i.OnStop.EndsBilling == No {
			return i.Price
		}
		return i.OnStop.StillCosts
	case StateReleased:
		return Price{}
	}
	return i.Price
}

// CostSoFar is what a running instance has cost since it was started in this boot,
// and whether that can be told.
func (i Instance) CostSoFar(now time.Time) (Money, bool) {
	if i.State != StateRunning || i.StartedAt.IsZero() {
		return Money{}, false
	}
	return i.Price.For(now.Sub(i.StartedAt))
}

// Access is how to log in. It is read when needed, held in memory for one Boot
// at most, and never stored.
type Access struct {
	Host     string
	Port     int
	User     string
	Password string // may be empty where a key is used
	// Key is a private key in PEM form that is for this instance; it goes before any
	// other.
	Key string
	// Declared says that the configuration says all this of the instance itself: a
	// default of somewhere else does not replace it.
	Declared bool
	// JupyterToken opens the instance's own Jupyter server; "" where the platform
	// tells none.
	JupyterToken string
}
