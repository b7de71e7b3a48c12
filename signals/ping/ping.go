// Package ping takes what training scripts tell of themselves: that a run begins,
// and how it ended. It speaks the interface of Healthchecks.io, so that its
// clients and recipes work. [Fold] makes runs of pings and is pure; [Handler] is
// the door to the network. Whoever has a key can only ping: nothing can be read
// here, and silence says nothing.
package ping

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"curfew/fleet"
)

// Kind is what a ping tells.
type Kind string

// The kinds of pings.
const (
	Start Kind = "start"
	End   Kind = "end"
	Log   Kind = "log" // adds text only
)

// Ping is one ping.
type Ping struct {
	At   time.Time
	Kind Kind
	Exit int // of End: 0 is success
	// RID pairs start and end of runs that go on at the same time; empty where the
	// client gave none.
	RID  string
	Text string // the last part of what it came with
}

// Key is what the address of an instance's pings ends in. It has the form of a
// UUID, which clients of Healthchecks.io insist on. It is made of the secret and
// the reference alone: it stays the same for as long as both do, and tells neither.
func Key(secret string, ref fleet.Ref) string {
	h := hmac.New(sha256.New, []byte(secret))
	_, _ = h.Write([]byte("ping " + ref.String())) // a hash takes everything
	var id uuid.UUID
	copy(id[:], h.Sum(nil))
	id[6] = id[6]&0x0f | 0x80 // version 8: of its maker's own making
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// TextKept is how many bytes of text are kept of a run: the last ones.
const TextKept = 10_000

// last cuts text to its last bytes, on the border of a letter.
func last(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= TextKept {
		return text
	}
	text = text[len(text)-TextKept:]
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
