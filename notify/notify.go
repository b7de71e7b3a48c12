// Package notify tells people. A [Notice] says what happened as data; it is
// routed to channels, rendered late in each channel's language, kept in an
// outbox until the channel's own answer shows that it arrived, and the answer is
// judged by its body: a 200 is not yet a success.
package notify

import (
	"context"
	"io"
	"net/http"
	"time"

	"curfew/fleet"
)

// Event is what a notice is about.
type Event string

// The events.
const (
	EventPending   Event = "pending"   // an act is announced; accepting it starts the clock
	EventPutOff    Event = "put-off"   // a due act waits (held, unknown, capped)
	EventAbandoned Event = "abandoned" // an announced act will not be done
	EventAsked     Event = "asked"     // about to be done, where nobody may be left to tell of it afterwards
	EventDone      Event = "done"      // verified
	EventAlarm     Event = "alarm"     // failed, unverified, still billing, vanished
	EventWould     Event = "would"     // dry run: what enforce would announce
	EventFinding   Event = "finding"
	EventResolved  Event = "resolved"
	EventReload    Event = "reload"
	EventDigest    Event = "digest" // how everything stands, at a time of day
	EventTest      Event = "test"
)

// Notice is one thing to tell, as data.
type Notice struct {
	ID       int64          `json:"id"`
	Key      string         `json:"key"` // policy|subject|condition|period: told once
	Event    Event          `json:"event"`
	Severity fleet.Severity `json:"severity"`
	Category fleet.Category `json:"category"`
	At       time.Time      `json:"at"`
	Expires  time.Time      `json:"expires,omitzero"` // not sent after it
	Subject  fleet.Instance `json:"subject,omitzero"`
	Intent   *fleet.Intent  `json:"intent,omitempty"` // as it was when the notice was made
	// With are other acts that are announced by the same notice.
	With     []Other        `json:"with,omitempty"`
	Reason   fleet.Reason   `json:"reason"` // the news itself
	Because  []fleet.Reason `json:"because,omitempty"`
	Sections []Section      `json:"sections,omitempty"` // of a digest
}

// Other is one more act that a notice announces.
type Other struct {
	Intent int64       `json:"intent"`
	Name   string      `json:"name"`
	Price  fleet.Price `json:"price,omitzero"` // of what it is about
}

// Others gives the numbers of the other acts that the notice announces.
func (n Notice) Others() []int64 {
	var ids []int64
	for _, o := range n.With {
		ids = append(ids, o.Intent)
	}
	return ids
}

// Message is a notice rendered for one channel. Title stands apart: Markdown and
// Plain are the lines below it, and a channel shows the title in its own way.
type Message struct {
	DeliveryID string // the same for every attempt: an idempotency key where a channel has one
	Title      string // one line of plain words; [Escape] it before it goes into markup
	// Markdown is in the common subset: bold, links, inline code, quotes; no
	// tables, no lists. It is empty where the message must go out as plain text,
	// after the channel refused it with markup.
	Markdown string
	Plain    string
	Severity fleet.Severity
	Event    Event
	At       time.Time // when it was rendered, in the reader's zone
}

// VerdictKind is how a channel's answer is judged.
type VerdictKind string

// The verdicts of an answer. Unknown is the zero value: it is retried a few
// times and never taken for success.
const (
	VerdictUnknown    VerdictKind = ""
	VerdictOK         VerdictKind = "ok"
	VerdictRetry      VerdictKind = "retry"
	VerdictBadMessage VerdictKind = "bad-message" // once more as plain text
	VerdictPermanent  VerdictKind = "permanent"   // the channel is broken until its configuration changes
)

// Verdict is what became of one attempt to send.
type Verdict struct {
	Kind   VerdictKind   `json:"kind"`
	After  time.Duration `json:"after,omitempty"` // for retry: wait at least this long
	Code   string        `json:"code,omitempty"`  // the channel's own code
	Detail string        `json:"detail,omitempty"`
}

// Channel sends messages. Send may be called from one goroutine at a time; it
// does not retry and never puts a secret into its verdict.
type Channel interface {
	Send(ctx context.Context, m Message) Verdict
}

// Route sends notices of some categories to some channels, by name. The first
// route that takes a notice is the only one; no categories means all.
type Route struct {
	Categories []fleet.Category
	To         []string
}

// Kind describes a channel type as data.
type Kind struct {
	Name        string
	Title       string
	Credentials []string // secret keys in the configuration
	Settings    []string // plain keys in the configuration
	DefaultURL  string
	// PerMinute is how many messages the channel takes in a minute, with a margin;
	// zero: no limit.
	PerMinute int
	// PerDay is how many it takes in any 24 hours, with a margin; zero: no limit, or
	// one that depends on the account. It is counted in memory only, so a restart
	// begins anew.
	PerDay int
	// Open makes a Channel. It does no I/O.
	Open func(o Options) (Channel, error)
}

// Options is what a channel is opened with.
type Options struct {
	Name       string
	BaseURL    string            // the kind's own where none is configured; empty where the credential says where to
	Credential map[string]string // already read
	Settings   map[string]string
	HTTP       *http.Client // time-out, no redirects, its own proxy
	Out        io.Writer    // for console
}
