package providers

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-resty/resty/v2"

	"curfew/fleet"
)

// Signer puts an account's signature or token on a request. It runs below the
// retry, so that every attempt is signed afresh.
type Signer func(req *http.Request) error

// Options is what an adapter is opened with.
type Options struct {
	Account    string            // the entry's name, for messages
	BaseURL    string            // never empty: the configured one or the kind's default
	Credential map[string]string // by the kind's Credentials keys, already read
	Regions    []string
	Prices     map[string]fleet.Money // per hour, by GPU model, where the platform does not tell
	// HTTP makes the client to use: budgeted, retrying reads only, redacting,
	// each attempt signed by sign (which may be nil).
	HTTP func(sign Signer) *resty.Client
	// Machines are those that the configuration declares, for the kind that lists
	// nothing else.
	Machines []Machine
	// RouteCheck is an address, host:port, that answers whenever the way to the
	// declared machines works; empty: none is known.
	RouteCheck string
	// Now is the clock, for a kind that has to know how long it has seen something.
	Now func() time.Time
	// World is the simulator's cloud; nil for every real platform.
	World any
}

// Machine is a machine that the configuration declares, because no platform lists
// it.
type Machine struct {
	Name string // unique, and its id
	Here bool   // the machine curfew itself runs in

	// How to log in to one that is elsewhere: a private key in PEM form, a password,
	// or both.
	Host     string
	Port     int
	User     string
	Key      string
	Password string

	Stop   string // command for a shell in it that powers it off; empty: it cannot be stopped
	Start  string // command for a shell beside curfew that powers it on; empty: it cannot be started
	GPU    fleet.GPU
	Price  fleet.Price
	OnStop fleet.OnStop
	Charge fleet.Charge
	Labels map[string]string
	// ReleasesAt is when it is taken away in any case; zero where nobody said.
	ReleasesAt time.Time
}

// Account is one opened provider as the daemon holds it: a struct of functions
// filled once. A nil function means that the platform cannot. Decorators
// rewrite fields, so none can hide or invent a capability.
type Account struct {
	Name     string // the entry's name in the configuration
	Identity string // what Ref.Account holds
	Kind     Kind
	Scopes   []fleet.Scope

	Instances func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error)
	Instance  func(ctx context.Context, ref fleet.Ref) (fleet.Instance, error)
	Whoami    func(ctx context.Context) (string, error)

	Stop      func(ctx context.Context, i fleet.Instance, o StopOptions) error
	Start     func(ctx context.Context, i fleet.Instance, o StartOptions) error
	Release   func(ctx context.Context, i fleet.Instance, o ReleaseOptions) error
	Access    func(ctx context.Context, i fleet.Instance) (fleet.Access, error)
	Balance   func(ctx context.Context) (fleet.Wallet, error)
	BillItems func(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error)
	Offers    func(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error)
	Order     func(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error)

	// Resources and Delete hold how to list and to delete what is billed beside
	// instances, by its kind; a kind that is missing cannot be.
	Resources map[fleet.ThingKind]Lister
	Delete    map[fleet.ThingKind]Deleter
	SaveImage func(ctx context.Context, i fleet.Instance, spec ImageSpec) (fleet.Ref, error)

	// Close ends what the provider keeps open, such as connections; nil where it
	// keeps nothing. It is called once nobody uses the account any more.
	Close func() error
}

// Lister lists the things of one kind in a scope, all of them or an error.
type Lister = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error)

// Deleter deletes one thing.
type Deleter = func(ctx context.Context, r fleet.Resource, o DeleteOptions) error

// Collect fills an Account from the methods a provider has.
func Collect(name string, kind Kind, p Provider) Account {
	a := Account{
		Name: name, Kind: kind, Scopes: p.Scopes(),
		Instances: p.Instances, Instance: p.Instance, Whoami: p.Identity,
	}
	if c, ok := p.(Stopper); ok {
		a.Stop = c.Stop
	}
	if c, ok := p.(Starter); ok {
		a.Start = c.Start
	}
	if c, ok := p.(Releaser); ok {
		a.Release = c.Release
	}
	if c, ok := p.(Access); ok {
		a.Access = c.Access
	}
	if c, ok := p.(Wallet); ok {
		a.Balance = c.Balance
	}
	if c, ok := p.(Bills); ok {
		a.BillItems = c.BillItems
	}
	if c, ok := p.(Stock); ok {
		a.Offers = c.Offers
	}
	if c, ok := p.(Orderer); ok {
		a.Order = c.Order
	}
	if c, ok := p.(ImageSaver); ok {
		a.SaveImage = c.SaveImage
	}
	if c, ok := p.(io.Closer); ok {
		a.Close = c.Close
	}
	a.Resources, a.Delete = map[fleet.ThingKind]Lister{}, map[fleet.ThingKind]Deleter{}
	if c, ok := p.(DiskLister); ok {
		a.Resources[fleet.KindDisk] = c.Disks
	}
	if c, ok := p.(SnapshotLister); ok {
		a.Resources[fleet.KindSnapshot] = c.Snapshots
	}
	if c, ok := p.(ImageLister); ok {
		a.Resources[fleet.KindImage] = c.Images
	}
	if c, ok := p.(PublicIPLister); ok {
		a.Resources[fleet.KindPublicIP] = c.PublicIPs
	}
	if c, ok := p.(DiskDeleter); ok {
		a.Delete[fleet.KindDisk] = c.DeleteDisk
	}
	if c, ok := p.(SnapshotDeleter); ok {
		a.Delete[fleet.KindSnapshot] = c.DeleteSnapshot
	}
	if c, ok := p.(ImageDeleter); ok {
		a.Delete[fleet.KindImage] = c.DeleteImage
	}
	if c, ok := p.(PublicIPDeleter); ok {
		a.Delete[fleet.KindPublicIP] = c.DeletePublicIP
	}
	return a
}

// Capabilities lists what the account can do beyond reading, in the order of
// their declaration.
func (a Account) Capabilities() []Capability {
	var cs []Capability
	for _, c := range []struct {
		c   Capability
		has bool
	}{
		{CanStop, a.Stop != nil},
		{CanStart, a.Start != nil},
		{CanRelease, a.Release != nil},
		{CanAccess, a.Access != nil},
		{CanWallet, a.Balance != nil},
		{CanBills, a.BillItems != nil},
		{CanStock, a.Offers != nil},
		{CanOrder, a.Order != nil},
		{CanDisks, a.Resources[fleet.KindDisk] != nil},
		{CanSnapshots, a.Resources[fleet.KindSnapshot] != nil},
		{CanImages, a.Resources[fleet.KindImage] != nil},
		{CanPublicIPs, a.Resources[fleet.KindPublicIP] != nil},
		{CanDeleteDisk, a.Delete[fleet.KindDisk] != nil},
		{CanDeleteSnapshot, a.Delete[fleet.KindSnapshot] != nil},
		{CanDeleteImage, a.Delete[fleet.KindImage] != nil},
		{CanDeletePublicIP, a.Delete[fleet.KindPublicIP] != nil},
		{CanSaveImage, a.SaveImage != nil},
	} {
		if c.has {
			cs = append(cs, c.c)
		}
	}
	return cs
}

// Can reports whether the account has the capability that the action needs on a
// thing of the kind.
func (a Account) Can(kind fleet.ThingKind, action fleet.Action) bool {
	if kind == fleet.KindWant && action == fleet.Order {
		return a.Order != nil
	}
	if kind != fleet.KindInstance {
		return action == fleet.Keep || action == fleet.Delete && a.Delete[kind] != nil
	}
	switch action {
	case fleet.Keep:
		return true
	case fleet.Start:
		return a.Start != nil
	case fleet.Stop:
		return a.Stop != nil
	case fleet.Release:
		return a.Release != nil
	}
	return false
}

// Decorator rewrites an account's functions.
type Decorator func(Account) Account

// With applies decorators from the inside out: the last is asked first.
func (a Account) With(ds ...Decorator) Account {
	for _, d := range ds {
		a = d(a)
	}
	return a
}

// Call describes one call that passes an [Around] decorator.
type Call struct {
	Op    string // such as "stop"
	Write bool
	Ref   fleet.Ref // zero for lists, the wallet and orders
}

// Around gives a decorator that runs every call of an account through do. It is
// the one place that names every function, so that timeouts, metrics, classes
// and faults are one line each.
func Around(do func(ctx context.Context, c Call, next func(context.Context) error) error) Decorator {
	return func(a Account) Account {
		a.Instances = around1(do, a.Instances, func(s fleet.Scope) Call { return Call{Op: "instances"} })
		a.Instance = around1(do, a.Instance, func(r fleet.Ref) Call { return Call{Op: "instance", Ref: r} })
		a.Whoami = around0(do, a.Whoami, Call{Op: "identity"})
		a.Stop = aroundWrite(do, "stop", a.Stop)
		a.Start = aroundWrite(do, "start", a.Start)
		a.Release = aroundWrite(do, "release", a.Release)
		a.Access = around1(do, a.Access, func(i fleet.Instance) Call { return Call{Op: "access", Ref: i.Ref} })
		a.Balance = around0(do, a.Balance, Call{Op: "balance"})
		a.BillItems = aroundBill(do, a.BillItems)
		a.SaveImage = aroundSave(do, a.SaveImage)
		a.Offers = around1(do, a.Offers, func(fleet.OfferQuery) Call { return Call{Op: "offers"} })
		a.Order = around1(do, a.Order, func(fleet.OrderSpec) Call { return Call{Op: "order", Write: true} })
		a.Resources, a.Delete = maps.Clone(a.Resources), maps.Clone(a.Delete)
		for kind, list := range a.Resources {
			a.Resources[kind] = around1(do, list, func(fleet.Scope) Call { return Call{Op: string(kind) + "s"} })
		}
		for kind, remove := range a.Delete {
			a.Delete[kind] = func(ctx context.Context, r fleet.Resource, o DeleteOptions) error {
				return do(ctx, Call{Op: "delete-" + string(kind), Write: true, Ref: r.Ref}, func(ctx context.Context) error { return remove(ctx, r, o) })
			}
		}
		return a
	}
}

type doFunc = func(ctx context.Context, c Call, next func(context.Context) error) error

func around0[R any](do doFunc, f func(context.Context) (R, error), c Call) func(context.Context) (R, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context) (R, error) {
		var r R
		err := do(ctx, c, func(ctx context.Context) (err error) {
			r, err = f(ctx)
			return err
		})
		if err != nil {
			return *new(R), err
		}
		return r, nil
	}
}

func around1[A, R any](do doFunc, f func(context.Context, A) (R, error), call func(A) Call) func(context.Context, A) (R, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, a A) (R, error) {
		return around0(do, func(ctx context.Context) (R, error) { return f(ctx, a) }, call(a))(ctx)
	}
}

func aroundWrite[O any](do doFunc, op string, f func(context.Context, fleet.Instance, O) error) func(context.Context, fleet.Instance, O) error {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, i fleet.Instance, o O) error {
		return do(ctx, Call{Op: op, Write: true, Ref: i.Ref}, func(ctx context.Context) error { return f(ctx, i, o) })
	}
}

func aroundBill(do doFunc, f func(context.Context, time.Time, time.Time) ([]fleet.BillItem, error)) func(context.Context, time.Time, time.Time) ([]fleet.BillItem, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error) {
		return around0(do, func(ctx context.Context) ([]fleet.BillItem, error) { return f(ctx, from, to) }, Call{Op: "bill"})(ctx)
	}
}

func aroundSave(do doFunc, f func(context.Context, fleet.Instance, ImageSpec) (fleet.Ref, error)) func(context.Context, fleet.Instance, ImageSpec) (fleet.Ref, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, i fleet.Instance, spec ImageSpec) (fleet.Ref, error) {
		return around0(do, func(ctx context.Context) (fleet.Ref, error) { return f(ctx, i, spec) }, Call{Op: "save-image", Write: true, Ref: i.Ref})(ctx)
	}
}

// Timeout bounds every call. A write cut off by it has an unknown outcome.
func Timeout(read, write time.Duration) Decorator {
	return Around(func(ctx context.Context, c Call, next func(context.Context) error) error {
		d := read
		if c.Write {
			d = write
		}
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		err := next(ctx)
		if err != nil && c.Write && ctx.Err() != nil && fleet.KindOf(err) != fleet.OutcomeUnknown {
			return &fleet.Error{Op: c.Op, Kind: fleet.OutcomeUnknown, Err: err}
		}
		return err
	})
}

// ReadOnlyAccount replaces every write by one that answers ReadOnly: dry-run at
// this seam.
func ReadOnlyAccount() Decorator {
	return Around(func(ctx context.Context, c Call, next func(context.Context) error) error {
		if c.Write {
			return &fleet.Error{Op: strings.TrimSpace(c.Op + " " + c.Ref.ID), Kind: fleet.ReadOnly}
		}
		return next(ctx)
	})
}

// Stamp puts the account's identity on every reference and offer that comes out, and
// the entry's name and provider on every instance and offer.
func Stamp(identity string) Decorator {
	return func(a Account) Account {
		a.Identity = identity
		stamp := func(r *fleet.Ref) {
			if !r.IsZero() {
				r.Account = identity
			}
		}
		instance := func(i fleet.Instance) fleet.Instance {
			stamp(&i.Ref)
			stamp(&i.Parent)
			i.AccountName, i.Provider = a.Name, a.Kind.Name
			return i
		}
		list, read := a.Instances, a.Instance
		a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
			is, err := list(ctx, s)
			if err != nil {
				return nil, err
			}
			out := make([]fleet.Instance, len(is))
			for n, i := range is {
				out[n] = instance(i)
			}
			return out, nil
		}
		a.Instance = func(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
			i, err := read(ctx, ref)
			if err != nil {
				return fleet.Instance{}, err
			}
			return instance(i), nil
		}
		a.Resources = maps.Clone(a.Resources)
		for kind, list := range a.Resources {
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				rs, err := list(ctx, s)
				if err != nil {
					return nil, err
				}
				out := make([]fleet.Resource, len(rs))
				for n, r := range rs {
					stamp(&r.Ref)
					stamp(&r.AttachedTo)
					stamp(&r.Source)
					r.UsedBy = slices.Clone(r.UsedBy)
					for k := range r.UsedBy {
						stamp(&r.UsedBy[k])
					}
					r.AccountName, r.Provider = a.Name, a.Kind.Name
					out[n] = r
				}
				return out, nil
			}
		}
		if bill := a.BillItems; bill != nil {
			a.BillItems = func(ctx context.Context, from, to time.Time) ([]fleet.BillItem, error) {
				items, err := bill(ctx, from, to)
				if err != nil {
					return nil, err
				}
				items = slices.Clone(items)
				for n := range items {
					stamp(&items[n].Ref)
				}
				return items, nil
			}
		}
		if save := a.SaveImage; save != nil {
			a.SaveImage = func(ctx context.Context, i fleet.Instance, spec ImageSpec) (fleet.Ref, error) {
				ref, err := save(ctx, i, spec)
				stamp(&ref)
				return ref, err
			}
		}
		return stampStock(a)
	}
}
