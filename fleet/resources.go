package fleet

import "time"

// Resource is what is billed beside instances: a disk, a snapshot, an image or a
// public address; Ref.Kind says which. Adapters fill everything they are told and
// nothing they guess; AccountName and Provider are filled by the observer.
type Resource struct {
	Ref         Ref               `json:"ref"`
	AccountName string            `json:"account_name,omitempty"` // the entry's name in the configuration
	Provider    string            `json:"provider,omitempty"`
	Name        string            `json:"name,omitempty"` // of an address without a name: the address
	Labels      map[string]string `json:"labels,omitempty"`
	Owner       string            `json:"owner,omitempty"`
	Region      string            `json:"region,omitempty"`

	// Ready says that the platform is done with making it. What is being made or
	// unmade is left alone.
	Ready    bool   `json:"ready,omitempty"`
	RawState string `json:"raw_state,omitempty"` // the platform's own word
	Charge   Charge `json:"charge,omitzero"`
	Price    Price  `json:"price,omitzero"` // as it is now, in use or not
	SizeGB   int    `json:"size_gb,omitempty"`
	// Protected is the platform's own protection from deletion, a lock by one of its
	// other services, or its being one that the platform made and keeps.
	Protected bool `json:"protected,omitempty"`
	// Shared says that other accounts use it, or may.
	Shared Tri `json:"shared,omitempty"`

	// AttachedTo is the instance that a disk or an address belongs to; zero where
	// the platform says that there is none.
	AttachedTo Ref `json:"attached_to,omitzero"`
	// Source is what a snapshot was taken of (a disk or an instance), or an image was
	// made of (a snapshot or an instance); zero where nobody said.
	Source Ref `json:"source,omitzero"`
	// UsedBy are the things that need it, as far as the platform tells.
	UsedBy []Ref `json:"used_by,omitempty"`
	// WithInstance says whether a release of the instance it is attached to destroys
	// it as well.
	WithInstance Tri  `json:"with_instance,omitempty"`
	System       bool `json:"system,omitempty"` // a disk that an instance boots from

	CreatedAt time.Time `json:"created_at,omitzero"`
	// DetachedAt is since when a disk or address belongs to nothing, where the
	// platform tells.
	DetachedAt time.Time `json:"detached_at,omitzero"`
	// UnusedSince is since when nothing uses it, as the platform tells or else as far
	// back as it was seen so; zero while it is used. The observer fills it.
	UnusedSince time.Time `json:"unused_since,omitzero"`

	// Cannot are the acts that the platform is able to do, but not to this one.
	Cannot []Inability `json:"cannot,omitempty"`
	// Unread names what could not be read this time, such as "labels" or "used_by".
	// What is unread is protected.
	Unread []string `json:"unread,omitempty"`
}

// DisplayName is the name people gave it, or its id.
func (r Resource) DisplayName() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Ref.ID
}

// Subject gives what the resource shares with an instance: it is how guard,
// executor and messages see whatever an act is about. It runs while it is there,
// and there is no Boot.
func (r Resource) Subject() Instance {
	i := Instance{
		Ref: r.Ref, AccountName: r.AccountName, Provider: r.Provider, Name: r.Name, Labels: r.Labels, Owner: r.Owner,
		Region: r.Region, RawState: r.RawState, Charge: r.Charge, Price: r.Price, Protected: r.Protected,
		CreatedAt: r.CreatedAt, Cannot: r.Cannot, Unread: r.Unread,
	}
	if r.Ready {
		i.State = StateRunning
	}
	return i
}

// ResourceKinds are the kinds of things that a [Resource] can be, in the order in
// which people see them.
func ResourceKinds() []ThingKind { return []ThingKind{KindDisk, KindSnapshot, KindImage, KindPublicIP} }

// Wallet is what an account has left, apart by kind, since levels and
// platforms treat them differently.
type Wallet struct {
	Cash     Money     `json:"cash"`
	Vouchers Money     `json:"vouchers,omitzero"` // those usable now
	Credit   Money     `json:"credit,omitzero"`
	Spent    Money     `json:"spent,omitzero"` // since the account began, where told
	AsOf     time.Time `json:"as_of,omitzero"` // when the platform reckoned it, where told
}
