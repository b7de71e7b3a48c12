// Package providers is the seam between curfew and the platforms that rent
// machines out. An adapter implements [Provider] and those of the capability
// interfaces that its platform can honour; the daemon sees only an [Account], a
// struct of functions collected from the methods.
//
// Adapters are dull and alike: no retry, no cache, no log, no sleep, no
// environment, no goroutine and no dry-run inside. They never fill in a guess.
package providers

import (
	"context"
	"time"

	"curfew/fleet"
)

// Provider is what every platform can do.
//
// All methods may be called from several goroutines. Errors are *fleet.Error;
// no error text holds a secret. Refs in answers may leave Account empty: the
// account stamps it on.
type Provider interface {
	// Scopes lists the units in which a list is whole or an error. It does no I/O.
	Scopes() []fleet.Scope
	// Instances reads the whole scope by the platform's cheap list, or fails. It
	// never returns a part.
	Instances(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error)
	// Instance reads one instance, by the same identity as the list gives, and
	// with whatever detail a single read adds. A thing the platform does not know
	// is NotFound.
	Instance(ctx context.Context, ref fleet.Ref) (fleet.Instance, error)
	// Identity is the platform's id of the account's owner, or "" where the
	// platform tells none.
	Identity(ctx context.Context) (string, error)
}

// The capabilities. An adapter that cannot do a thing has no such method. A
// write returns nil when the platform accepted it, which proves nothing yet; it
// returns OutcomeUnknown when the request may have taken effect; it is never
// retried by a transport. Writing to a thing that is already as wanted may
// return nil or Conflict.
type (
	// Stopper ends the power cycle and keeps the instance.
	Stopper interface {
		Stop(ctx context.Context, i fleet.Instance, o StopOptions) error
	}
	// Starter powers an instance on.
	Starter interface {
		Start(ctx context.Context, i fleet.Instance, o StartOptions) error
	}
	// Releaser gives an instance back for good.
	Releaser interface {
		Release(ctx context.Context, i fleet.Instance, o ReleaseOptions) error
	}
	// Access tells how to log in. What it returns is never stored.
	Access interface {
		Access(ctx context.Context, i fleet.Instance) (fleet.Access, error)
	}
	// DiskLister lists disks billed by themselves, the whole scope or an error; the
	// other listers likewise.
	DiskLister interface {
		Disks(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error)
	}
	// SnapshotLister lists snapshots, of the account itself only.
	SnapshotLister interface {
		Snapshots(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error)
	}
	// ImageLister lists images that the account made, never those of the platform.
	ImageLister interface {
		Images(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error)
	}
	// PublicIPLister lists public addresses that are billed by themselves.
	PublicIPLister interface {
		PublicIPs(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error)
	}
	// DiskDeleter deletes a disk for good; the other deleters likewise.
	DiskDeleter interface {
		DeleteDisk(ctx context.Context, r fleet.Resource, o DeleteOptions) error
	}
	// SnapshotDeleter deletes a snapshot.
	SnapshotDeleter interface {
		DeleteSnapshot(ctx context.Context, r fleet.Resource, o DeleteOptions) error
	}
	// ImageDeleter deletes an image.
	ImageDeleter interface {
		DeleteImage(ctx context.Context, r fleet.Resource, o DeleteOptions) error
	}
	// PublicIPDeleter gives a public address back.
	PublicIPDeleter interface {
		DeletePublicIP(ctx context.Context, r fleet.Resource, o DeleteOptions) error
	}
	// ImageSaver makes an image of an instance, and gives its reference at once; it
	// is ready when the list of images shows it so.
	ImageSaver interface {
		SaveImage(ctx context.Context, i fleet.Instance, spec ImageSpec) (fleet.Ref, error)
	}
	// Wallet reads what the account has left.
	Wallet interface {
		Balance(ctx context.Context) (fleet.Wallet, error)
	}
	// Bills reads what the platform billed: every item whose use began in [from, to),
	// as far as it is on the bill by now, or an error and never a part. Times that
	// follow each other give each item once. All amounts are of one currency.
	Bills interface {
		BillItems(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error)
	}
	// Stock tells what can be ordered now: all that the query asks for, or an error and
	// never a part. That nothing is there is an empty answer; a region nobody knows is
	// Invalid, and never that nothing is there. Models stay as the platform writes them.
	Stock interface {
		Offers(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error)
	}
	// Orderer makes one new instance and gives its reference, by which the list will
	// show it under the name in the spec. Mostly it boots, and costs, at once.
	//
	// The same spec given again makes no second one and gives the first's reference: by
	// the platform's token, or else because the name is looked for before anything is
	// sent. Where that look sees nothing, an order less than SettleTime ago may have been
	// the first all the same. That nothing is left is OutOfStock; a quota, a right or
	// money that is missing is none of that, and another order will not help.
	Orderer interface {
		Order(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error)
	}
)

// StopOptions are the options of a stop.
type StopOptions struct {
	Token string // idempotency token of the attempt
}

// StartOptions are the options of a start.
type StartOptions struct {
	Token string
	NoGPU bool // boot without cards, where the platform has it
}

// ReleaseOptions are the options of a release. What goes with the instance is
// always sent explicitly.
type ReleaseOptions struct {
	Token         string
	WithDisks     bool
	WithPublicIPs bool
}

// DeleteOptions are the options of a deletion.
type DeleteOptions struct {
	Token string
}

// ImageSpec says what image to make.
type ImageSpec struct {
	Name  string
	Token string
}

// Capability names an optional ability of a platform.
type Capability string

// The capabilities, one per function of an [Account] that may be nil.
const (
	CanStop    Capability = "stop"
	CanStart   Capability = "start"
	CanRelease Capability = "release"
	CanAccess  Capability = "access"
	CanWallet  Capability = "wallet"
	CanBills   Capability = "bills"
	CanStock   Capability = "stock"
	CanOrder   Capability = "order"

	CanDisks          Capability = "disks"
	CanSnapshots      Capability = "snapshots"
	CanImages         Capability = "images"
	CanPublicIPs      Capability = "ips"
	CanDeleteDisk     Capability = "delete-disk"
	CanDeleteSnapshot Capability = "delete-snapshot"
	CanDeleteImage    Capability = "delete-image"
	CanDeletePublicIP Capability = "delete-ip"
	CanSaveImage      Capability = "save-image"
)

// BillingProof says how a platform lets one see that billing has ended.
type BillingProof string

// The proofs of billing.
const (
	ProofNone  BillingProof = "none"  // no answer speaks of billing; a notice says so
	ProofState BillingProof = "state" // the state implies it, by the platform's own rules
	ProofField BillingProof = "field" // a field says so
)

// TimerEffect says what a platform's own timer does when it runs out.
type TimerEffect string

// The effects of a platform timer.
const (
	TimerNone     TimerEffect = ""
	TimerStops    TimerEffect = "stop"
	TimerReleases TimerEffect = "release"
)

// Kind describes a platform as data. Validation, the capability table in the
// documentation and the conformance run come from it.
type Kind struct {
	Name         string   // as in the configuration's provider:
	Title        string   // as people call it
	Credentials  []string // keys of the credential in the configuration, the platform's own names
	DefaultURL   string
	Capabilities []Capability
	BillingProof BillingProof
	TimerEffect  TimerEffect
	// AutoRelease is how long after a stop the platform deletes the instance by
	// itself; zero where it does not.
	AutoRelease time.Duration
	// StartsWithoutGPU says that it can boot an instance without its cards.
	StartsWithoutGPU bool
	// SettleTime is how long reads may lag behind a write.
	SettleTime time.Duration
	// BillLag is how long after a use the bill may still lack it; zero where there is no
	// bill to read.
	BillLag time.Duration
	// Floor is the least time between two polls of one scope.
	Floor time.Duration
	// StockFloor is the least time between two questions for stock; zero where there is
	// nobody to ask.
	StockFloor time.Duration
	// StockAdvisory says that what is in stock says little of what can be ordered: every
	// offer is advisory.
	StockAdvisory bool
	// EmptyNote says why a list may be empty although the user has machines; zero
	// where it would not be.
	EmptyNote fleet.Code
	// AtZero says what the platform does when nothing is left in the wallet; zero where
	// that is not known.
	AtZero fleet.Code
	// Open makes a Provider. It does no I/O.
	Open func(o Options) (Provider, error)
}

// Can reports whether the kind declares the capability.
func (k Kind) Can(c Capability) bool {
	for _, have := range k.Capabilities {
		if have == c {
			return true
		}
	}
	return false
}
