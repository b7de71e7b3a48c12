package fleet

import "time"

// Disk is a block device that is billed by itself.
type Disk struct {
	Ref        Ref       `json:"ref"`
	Name       string    `json:"name,omitempty"`
	Region     string    `json:"region,omitempty"`
	AttachedTo Ref       `json:"attached_to,omitzero"`
	SizeGB     int       `json:"size_gb,omitempty"`
	Price      Price     `json:"price,omitzero"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
}

// Image is a saved system from which instances can be made.
type Image struct {
	Ref       Ref       `json:"ref"`
	Name      string    `json:"name,omitempty"`
	Region    string    `json:"region,omitempty"`
	Ready     bool      `json:"ready,omitempty"`
	SizeGB    int       `json:"size_gb,omitempty"`
	Price     Price     `json:"price,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// Wallet is what an account has left, apart by kind, since levels and
// platforms treat them differently.
type Wallet struct {
	Cash     Money     `json:"cash"`
	Vouchers Money     `json:"vouchers,omitzero"` // those usable now
	Credit   Money     `json:"credit,omitzero"`
	Spent    Money     `json:"spent,omitzero"` // since the account began, where told
	AsOf     time.Time `json:"as_of,omitzero"` // when the platform reckoned it, where told
}
