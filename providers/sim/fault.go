package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
)

// Fault is one way in which calls fail. The first that matches is used.
type Fault struct {
	Kind    FaultKind
	Op      string                              // as in providers.Call, or look; empty is all
	Account string                              // empty is all
	When    func(op string, ref fleet.Ref) bool // nil is always; it must not call the cloud
	Chance  float64                             // in (0, 1): by chance, from Options.Seed; 0 is always
	After   int                                 // matching calls that pass first
	Times   int                                 // calls that fail; 0 is all of them
	// RetryAfter is told with RateLimit.
	RetryAfter time.Duration
	// Text is part of the error, where it is not empty.
	Text string
	// Reached, where not nil, is called when a call has reached the fault, before it
	// is answered.
	Reached func()
}

// FaultKind says how a call fails.
type FaultKind string

// The kinds of faults, with the error kind of a read and of a write. No effect
// means that a write does nothing.
const (
	RateLimit     FaultKind = "rate limit"          // RateLimited; no effect
	ServerError   FaultKind = "server error"        // Transient; OutcomeUnknown, no effect
	TimeoutBefore FaultKind = "drop before effect"  // Transient; OutcomeUnknown, no effect
	TimeoutAfter  FaultKind = "drop after effect"   // Transient; OutcomeUnknown, with effect
	HTML          FaultKind = "html"                // Transient; OutcomeUnknown, no effect
	Truncated     FaultKind = "truncated"           // Transient; OutcomeUnknown, with effect
	Hang          FaultKind = "hang"                // until the context ends: Transient; OutcomeUnknown, no effect
	AuthExpired   FaultKind = "bad credential"      // Unauthorized; no effect
	LostRights    FaultKind = "lost rights"         // Unauthorized; no effect
	Banned        FaultKind = "banned"              // Banned; no effect
	OutOfStock    FaultKind = "out of stock"        // OutOfStock; no effect
	Gone          FaultKind = "not found"           // NotFound, though it is there; no effect
	Ignored       FaultKind = "accepted, no effect" // a write is accepted and nothing happens
	EmptyList     FaultKind = "empty list"          // a list answers that there is nothing
	ShortList     FaultKind = "short list"          // a list leaves its last out
	LateItems     FaultKind = "late items"          // a bill leaves out what was settled in the last 24 hours
	ImageVanishes FaultKind = "image vanishes"      // of save-image alone: it is accepted, and gone when it ought to be ready
	PriceRise     FaultKind = "price rise"          // of order alone: it costs twice what it was offered for
	Quota         FaultKind = "quota"               // Invalid; no effect
	ImageStuck    FaultKind = "image never ready"   // of save-image alone: it is accepted, and being made for ever
)

// Phase is a moment within a write.
type Phase int

// The moments at which [Cloud.OnWrite] is asked.
const (
	BeforeSend Phase = iota + 1
	AfterEffect
)

// Call is one call of the cloud's API.
type Call struct {
	At      time.Time
	Account string
	Op      string
	ID      string // of what it is about; empty for lists
	Err     error
}

// Effect is a write that took effect.
type Effect struct {
	At      time.Time
	Account string
	Op      string // as in providers.Call
	Ref     fleet.Ref
	Made    fleet.Ref // the image that a save-image makes, the instance that an order does
	By      By
	Token   string // as sent with it
}

// By says whose write took effect.
type By string

// Who can write.
const (
	ByAPI      By = "api"
	ByUser     By = "user"
	ByPlatform By = "platform"
)

// Break adds a fault.
func (c *Cloud) Break(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &f)
}

// Mend ends every fault.
func (c *Cloud) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
}

// OnWrite sets a hook that is asked before every write is sent and after it took
// effect. Its error is returned by the write as it is: at BeforeSend nothing has
// happened, at AfterEffect everything has. The hook may call the cloud. Nil takes
// it away.
func (c *Cloud) OnWrite(hook func(op string, ref fleet.Ref, phase Phase) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onWrite = hook
}

// Calls gives every call so far, in the order in which they began. One that has
// not been answered yet has no error.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// Effects gives every write that took effect so far, in order.
func (c *Cloud) Effects() []Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	return slices.Clone(c.effects)
}

// fault uses up and gives the fault that the call meets, or nil.
func (c *Cloud) fault(account, op string, ref fleet.Ref) *Fault {
	for _, f := range c.faults {
		if f.Op != "" && f.Op != op || f.Account != "" && f.Account != account ||
			f.When != nil && !f.When(op, ref) ||
			(f.Kind == ImageVanishes || f.Kind == ImageStuck) && op != opSaveImage ||
			f.Kind == PriceRise && op != opOrder ||
			f.Chance > 0 && c.chance.Float64() >= f.Chance {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		switch {
		case f.Times < 0:
			continue
		case f.Times == 1:
			f.Times = -1
		case f.Times > 1:
			f.Times--
		}
		hit := *f
		return &hit
	}
	return nil
}

// answer gives the error of a fault as an adapter would have classified it, and
// whether a write took effect nevertheless.
func (f *Fault) answer(ctx context.Context, what string, write bool) (err error, effect bool) {
	unclear := fleet.Transient
	if write {
		unclear = fleet.OutcomeUnknown
	}
	fail := func(kind fleet.ErrorKind, text string) error {
		if f.Text != "" {
			text = f.Text
		}
		return &fleet.Error{Op: what, Kind: kind, RetryAfter: f.RetryAfter, Err: errors.New(text)}
	}
	switch f.Kind {
	case RateLimit:
		return fail(fleet.RateLimited, "too many requests (429)"), false
	case ServerError:
		return fail(unclear, "the platform failed (502)"), false
	case TimeoutBefore:
		return fail(unclear, "no answer in time"), false
	case TimeoutAfter:
		return fail(unclear, "no answer in time"), true
	case HTML:
		return fail(unclear, "the answer is a web page, not JSON"), false
	case Truncated:
		return fail(unclear, "the answer breaks off: unexpected end of JSON input"), true
	case Hang:
		<-ctx.Done()
		return &fleet.Error{Op: what, Kind: unclear, Err: ctx.Err()}, false
	case AuthExpired:
		return fail(fleet.Unauthorized, "the token has expired"), false
	case LostRights:
		return fail(fleet.Unauthorized, "the key has no right to do this"), false
	case Banned:
		return fail(fleet.Banned, "the account is blocked"), false
	case OutOfStock:
		return fail(fleet.OutOfStock, "no card of this kind is free"), false
	case Gone:
		return fail(fleet.NotFound, "there is no such thing"), false
	case Quota:
		return fail(fleet.Invalid, "the account's quota is used up"), false
	case ImageVanishes, ImageStuck, PriceRise:
		return nil, true
	case Ignored, EmptyList, ShortList, LateItems:
		return nil, false
	}
	return fail(fleet.Other, fmt.Sprintf("fault %q", f.Kind)), false
}
