// Package notify tells people. A [Notice] says what happened as data; it is
// routed to channels, rendered late in each channel's language, kept in an
// outbox until the channel's own answer shows that it arrived, and the answer is
// judged by its body: a 200 is not yet a success.
package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
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
	EventReminder  Event = "reminder" // of a finding that lasts
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
	Over     fleet.Reason   `json:"over,omitzero"`      // what is told once this is over
	// Group is the same for notices that may be told in one message; empty: it goes
	// alone.
	Group string `json:"group,omitempty"`
	// Thread is the same for all that is told of one thing: what it opened with, what
	// reminds of it, and that it is over.
	Thread string `json:"thread,omitempty"`
	// Muted says that it was noted and told to nobody; nothing more is told of it.
	Muted bool `json:"muted,omitempty"`
}

// Other is one more act that a notice announces.
type Other struct {
	Intent int64       `json:"intent"`
	Name   string      `json:"name"`
	Price  fleet.Price `json:"price,omitzero"` // of what it is about
	Owner  string      `json:"owner,omitempty"`
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
	// Actions are what a reader can say to it, the most harmless first.
	Actions []Action
	// Mentions are the people it is for, by their ids on this channel. All of a group
	// are never mentioned.
	Mentions []string
	// Thread is the same for all messages about one thing, and ReplyTo is what
	// [Verdict.Ref] said of the first of them on this channel; empty: this is the first.
	Thread  string
	ReplyTo string
	// Silent asks for no sound: it is quiet hours, and it could not wait.
	Silent bool
	// Notices are what it was rendered from, for channels that programs read. They may
	// be missing.
	Notices []Notice
}

// UniqueID names the message on one channel: the same for every attempt, and another
// for every message that any curfew sends there, since a DeliveryID is counted anew in
// another state. It holds letters, digits and hyphens only.
func (m Message) UniqueID(channel string) string {
	parts := []string{channel, m.DeliveryID}
	for _, n := range m.Notices {
		parts = append(parts, n.Key, n.At.UTC().Format(time.RFC3339Nano))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "curfew-" + hex.EncodeToString(sum[:12])
}

// Action is one thing that a reader can say to a message. A channel with buttons of its
// own shows a button with Value; any other a link, where there is an address.
type Action struct {
	Label string
	URL   string // leads to a page that asks once more; empty: there is no such page
	Value string // opaque, and good for one answer
	Risky bool   // it hastens or allows an act
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
	// Ref is the platform's own id of a message it took, by which it can be answered
	// or changed later; empty where it tells none.
	Ref string `json:"ref,omitempty"`
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
	// Fallback are asked one after the other where none of To takes a notice.
	Fallback []string
	Escalate Escalation
}

// Kind describes a channel type as data.
type Kind struct {
	Name        string
	Title       string
	Credentials []string // secret keys in the configuration; one of them must be there
	// NoSecrets says that it opens without any of them.
	NoSecrets  bool
	Settings   []string // plain keys in the configuration
	DefaultURL string
	// Buttons is the secret key without which no press of a button is heard. It may
	// be there beside one of Credentials, or be one of them; empty: it has no buttons.
	Buttons string
	// UserID is a regular expression for the ids of people, who are named in the
	// configuration to press buttons, and UserLike is one of them.
	UserID, UserLike string
	// PerMinute is how many messages the channel takes in a minute, with a margin;
	// zero: no limit.
	PerMinute int
	// PerDay is how many it takes in any 24 hours, with a margin; zero: no limit, or
	// one that depends on the account.
	PerDay int
	// PerMonth is how many it takes in any 31 days, with a margin; zero: no limit.
	PerMonth int
	// SOCKSOnly says that it does not speak HTTP: of all proxies it can go through those
	// of SOCKS5 alone, and the environment's are not for it.
	SOCKSOnly bool
	// Open makes a Channel. It does no I/O.
	Open func(o Options) (Channel, error)
}

// Options is what a channel is opened with.
type Options struct {
	Name       string
	BaseURL    string            // the kind's own where none is configured; empty where the credential says where to
	Credential map[string]string // already read
	Settings   map[string]string
	HTTP       *http.Client     // time-out, no redirects, its own proxy
	Proxy      Proxy            // the same, for channels that make connections themselves
	Out        io.Writer        // for console
	Now        func() time.Time // for channels that sign with the time
}
