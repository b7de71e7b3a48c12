package fleet

import (
	"fmt"
	"strings"
	"time"
)

// ThingKind says what sort of billed thing a [Ref] names.
type ThingKind string

// The kinds of things that cost money or are wanted.
const (
	KindInstance ThingKind = "instance"
	KindDisk     ThingKind = "disk"
	KindSnapshot ThingKind = "snapshot"
	KindImage    ThingKind = "image"
	KindPublicIP ThingKind = "ip"
	KindWant     ThingKind = "want"    // a wish for stock; the subject of Order
	KindAccount  ThingKind = "account" // subject of findings about an account itself
	KindOwner    ThingKind = "owner"   // subject of findings about what one person uses
	KindBudget   ThingKind = "budget"  // subject of findings about everything a budget is for
)

// Ref is the identity of a thing: what is billed, and what a release ends. ID
// is the platform's id of the contract, task or pod, never of what a boot
// replaces. Incarnation tells apart two things that were given the same id one
// after the other; it is empty where the platform never reuses ids, and a list
// and a single read give the same one. Account is the account's identity, not
// its name in the configuration, so that renaming an entry loses nothing.
type Ref struct {
	Account     string    `json:"account"`
	Kind        ThingKind `json:"kind"`
	ID          string    `json:"id"`
	Incarnation string    `json:"incarnation,omitempty"`
}

// String gives the form used in logs, commands and messages:
// account/kind/id, and @incarnation where there is one. Two references never
// have the same form: the few characters that would allow it are written as in
// a URL.
func (r Ref) String() string {
	s := escape(r.Account, "/", "%2F") + "/" + escape(string(r.Kind), "/", "%2F") + "/" + escape(r.ID, "@", "%40")
	if r.Incarnation != "" {
		s += "@" + escape(r.Incarnation, "@", "%40")
	}
	return s
}

// escape writes one separator, and the sign that escapes, as in a URL.
func escape(s, separator, as string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%", "%25"), separator, as)
}

// IsZero reports whether the reference names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// ParseRef reads the form that [Ref.String] gives.
func ParseRef(s string) (Ref, error) {
	account, rest, _ := strings.Cut(s, "/")
	kind, thing, _ := strings.Cut(rest, "/")
	id, incarnation, again := strings.Cut(thing, "@")
	plain := strings.NewReplacer("%25", "%", "%2F", "/", "%40", "@")
	parts := [...]string{account, kind, id, incarnation}
	for n, p := range parts {
		if p == "" && (n < 3 || again) || n == 3 && strings.Contains(p, "@") {
			return Ref{}, fmt.Errorf("%q is not a reference; write account/kind/id", s)
		}
		parts[n] = plain.Replace(p)
	}
	return Ref{Account: parts[0], Kind: ThingKind(parts[1]), ID: parts[2], Incarnation: parts[3]}, nil
}

// CompareRefs orders references by account, kind, id and incarnation; every
// list that people or tests see is in this order.
func CompareRefs(a, b Ref) int {
	for _, c := range [...]int{
		strings.Compare(a.Account, b.Account),
		strings.Compare(string(a.Kind), string(b.Kind)),
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.Incarnation, b.Incarnation),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// Boot names one power cycle of an instance. It is opaque: two boots are the
// same only if they are equal. The empty Boot is unknown and equals nothing:
// use [Boot.Same].
type Boot string

// BootAt is the Boot of a platform that tells when an instance was started.
func BootAt(startedAt time.Time) Boot {
	if startedAt.IsZero() {
		return ""
	}
	return Boot("t" + startedAt.UTC().Format("20060102T150405"))
}

// BootNumber is the Boot of a platform that does not tell: the observer counts
// how often it saw stopped become running.
func BootNumber(n int) Boot { return Boot(fmt.Sprintf("n%d", n)) }

// Same reports whether both name the same known power cycle.
func (b Boot) Same(o Boot) bool { return b != "" && b == o }

// Scope is the unit in which a list is whole or an error: one account in one
// region. Region is empty where the platform lists all regions in one call.
type Scope struct {
	Account string `json:"account"`
	Region  string `json:"region,omitempty"`
}

// String gives account or account@region.
func (s Scope) String() string {
	if s.Region == "" {
		return s.Account
	}
	return s.Account + "@" + s.Region
}
