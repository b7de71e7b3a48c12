// Package providertest is the conformance suite of the provider seam. Every
// adapter's test calls [Run] against its own fake of the platform, the simulator
// passes it too, and so does every stack of decorators.
//
// An adapter's test fills in [Opts]: the kind, and a function that makes a fresh
// fake with an account opened on it. The suite steers the fake by the handles in
// [Fake] alone, so a fake may be a server on the loopback, a cloud in memory or
// anything else.
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, providertest.Opts{
//			Kind: acme.Kind(),
//			Open: func(t *testing.T) providertest.Fake {
//				d := newDouble(t) // an httptest server; closed by t.Cleanup
//				return providertest.Fake{
//					Account:     open(t, d), // providers.Collect of Kind().Open(...)
//					Add:         d.add,
//					SetRawState: d.setStatus,
//					Settle:      d.settle,
//					Break:       d.breakWith,
//					PageSize:    2,
//					UnknownID:   "acme-000000",
//					Secrets:     []string{d.token, d.password},
//				}
//			},
//			Lacks: map[providertest.Behaviour]string{
//				providertest.TellsBoot: "acme tells no start time",
//			},
//		})
//	}
package providertest

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// Opts is what [Run] needs to know of an adapter.
type Opts struct {
	// Kind is the adapter's description. What it declares is what the account must
	// have, and behaviours of a capability it does not declare are not asked for.
	Kind providers.Kind
	// Open makes a fresh, empty platform and opens an account on it. It is called
	// once for each subtest; what it starts ends by t.Cleanup, idle connections
	// included (a goroutine left over fails the suite).
	Open func(t *testing.T) Fake
	// Lacks names the behaviours that the platform, or its fake, does not have, each
	// with the reason. Nothing else is ever skipped; the reason is printed.
	Lacks map[Behaviour]string
}

// Behaviour names one behaviour that an adapter may lack.
type Behaviour string

// The behaviours that may be missing.
const (
	// Writes: the account's writes take effect. Missing in read-only stacks.
	Writes Behaviour = "writes"
	// Pages: a list is read in pages; Fake.PageSize says how long they are.
	Pages Behaviour = "pages"
	// ShortPages: a list that ends before the total the platform itself told is an
	// error; needs the fault [ShortList].
	ShortPages Behaviour = "short pages"
	// TellsBoot: the platform tells when an instance was started, so that reads
	// carry StartedAt or Boot.
	TellsBoot Behaviour = "tells boot"
	// ReadsGone: a released instance can be asked for and is NotFound or released.
	ReadsGone Behaviour = "reads gone"
	// RetryAfter: a rate limit says when to come back.
	RetryAfter Behaviour = "retry after"
	// StopsByAPI: the platform can end a power cycle and keep the instance, and
	// Start follows Stop. Kinds without stop need not name it.
	StopsByAPI Behaviour = "stops by API"
	// RateLimits: the platform limits rates; needs the fault [RateLimit].
	RateLimits Behaviour = "rate limits"
	// Cancels: a request can be cut off by its context half-way; needs the fault
	// [Hang].
	Cancels Behaviour = "cancels"
	// TellsUse: the lists say what snapshots and images are used by, and the platform
	// refuses to delete them while they are.
	TellsUse Behaviour = "tells use"
	// SavesRunning: an image can be made of a running instance, not only of a stopped
	// one.
	SavesRunning Behaviour = "saves running"
	// Speaks: the platform speaks a text protocol that can be garbled; needs the
	// faults [HTML] and [Truncated].
	Speaks Behaviour = "speaks"
	// API: the platform has an API with an address, and a least time between polls.
	API Behaviour = "API"
	// Lists: the platform lists what there is. Missing where the configuration says
	// what there is: Add then gives one after the other of what is declared.
	Lists Behaviour = "lists"
	// Words: the platform has words of its own for states.
	Words Behaviour = "words"
	// ReadsFail: a read that meets a fault is an error. Missing where everything is
	// read anyhow, and what cannot be read is unknown.
	ReadsFail Behaviour = "reads fail"
	// StartsByAPI: a start is a request that can meet a fault. Missing where a
	// command of the user's does it.
	StartsByAPI Behaviour = "starts by API"
	// AccessByAPI: how to log in is asked for by a request. Missing where the
	// configuration says it.
	AccessByAPI Behaviour = "access by API"
)

// Fake is one fresh platform with one account opened on it, and the handles by
// which the suite steers it. A handle may be called from the test's goroutine at
// any time between two calls of the account.
type Fake struct {
	// Account is under test, decorated or not. Its transport may retry reads, with
	// pauses that cost a test no time; it must not retry writes.
	Account providers.Account
	// Add puts one more running, unprotected, pay-as-you-go instance into the scope,
	// as if it had been running for an hour, and gives its identity. Account may be
	// left empty.
	Add func(s fleet.Scope) fleet.Ref
	// AddResource puts one more disk, snapshot, image or public address into the
	// scope: ready, unprotected, pay as you go, belonging to nothing and used by
	// nothing. Account may be left empty. Kinds that the account does not list need
	// none, and with no such kind it may be nil.
	AddResource func(s fleet.Scope, kind fleet.ThingKind) fleet.Ref
	// Use makes what AddResource gave be used, and gives what uses it: a disk or an
	// address is attached to a running instance, an image is made of a snapshot, an
	// instance of an image. Needed as AddResource is.
	Use func(ref fleet.Ref) fleet.Ref
	// AddBill puts one item on the account's bill as it is given, its reference one that
	// Add gave or none, so that it is shown after Settle at the latest. An account that
	// reads no bill needs none.
	AddBill func(b fleet.BillItem)
	// Stock makes this many single cards of a model free, on demand, where the account
	// may order: the model by the platform's own name for it. An account that tells no
	// stock needs none, nor a Model.
	Stock func(model string, n int)
	// Model is one that can be ordered, by the platform's own name.
	Model string
	// SetRawState makes the platform say this status word of the instance in lists
	// and reads.
	SetRawState func(ref fleet.Ref, raw string)
	// Settle makes everything that is under way come to its end and become visible
	// to reads: more than Kind.SettleTime passes. It must also make time move on by at
	// least a second, so that a start after a stop is told apart from the one
	// before.
	Settle func()
	// Break makes matching requests fail from now on. A second fault is added to the
	// first; the first that matches is used.
	Break func(f Fault)
	// PageSize is the number of things the fake puts on one page of a list, whatever
	// is listed (the adapter's own page size, or less where the fake enforces a lower one).
	PageSize int
	// UnknownID is a well-formed id that no instance has.
	UnknownID string
	// Secrets are canaries: the credential and every password, token or key the fake
	// holds. They must not be in any error text, nor in anything read except Access.
	// A good fake repeats them in the bodies of its faults.
	Secrets []string
}

// Fault is one way in which requests fail.
type Fault struct {
	Kind FaultKind
	// Op is the operation whose requests fail, by the names of [providers.Call]:
	// instances, instance, identity, stop, start, release, access, balance, bill, disks,
	// snapshots, images, ips, delete-disk and so on, save-image, offers, order; empty is
	// every one. Of an order it is the request that orders, not one that looks for the name.
	// Where one operation is several requests, each of them
	// matches; where operations share a request, it matches for each of them.
	Op string
	// After lets this many matching requests pass first, such as the first page of a
	// list.
	After int
	// Times is how many requests fail; zero is all of them.
	Times int
	// Reached, where not nil, is called by the fake each time a request has reached
	// the fault and before it answers. It may be called from any goroutine.
	Reached func()
}

// FaultKind says how a request fails.
type FaultKind string

// The kinds of faults. Each is shown in the way the platform itself shows it: a
// platform that answers 200 with a code in the body does so here.
const (
	// RateLimit refuses the request, naming [RetryIn] where the platform names a
	// time. No effect.
	RateLimit FaultKind = "rate limit"
	// BadCredential refuses the credential. No effect.
	BadCredential FaultKind = "bad credential"
	// ServerError answers with a failure of the platform (a 5xx). No effect, but the
	// adapter cannot know.
	ServerError FaultKind = "server error"
	// HTML answers 200 with a page for a browser. No effect, but the adapter cannot
	// know.
	HTML FaultKind = "html"
	// Truncated answers 200 with a body that breaks off. A write has taken effect.
	Truncated FaultKind = "truncated"
	// DropBefore ends the connection without an answer and without effect.
	DropBefore FaultKind = "drop before effect"
	// DropAfter lets the write take effect and ends the connection without an answer.
	DropAfter FaultKind = "drop after effect"
	// Hang never answers; it ends when the caller gives up. No effect.
	Hang FaultKind = "hang"
	// ShortList answers a list with the last instance left out, while the total the
	// platform tells still counts it.
	ShortList FaultKind = "short list"
	// SoldOut refuses an order because nothing is left. No effect.
	SoldOut FaultKind = "out of stock"
	// LostRights refuses an order because the credential has no right to make it. No
	// effect.
	LostRights FaultKind = "lost rights"
	// Quota refuses an order because the account may have no more, or has not the money.
	// No effect.
	Quota FaultKind = "quota"
)

// RetryIn is the time a [RateLimit] names.
const RetryIn = 7 * time.Second
