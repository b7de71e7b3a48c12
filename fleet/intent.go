package fleet

import "time"

// IntentState is how far an intent has come.
//
//	pending ──► started ──► written ──► closed
//	   ▲           │            │
//	   └───────────┴────────────┘  a read later than SettleTime shows no effect
//
// A row in started may or may not have reached the provider: only a read can
// tell.
type IntentState string

// The states of an intent.
const (
	IntentPending IntentState = "pending" // announced, or about to be; waits for its deadline
	IntentStarted IntentState = "started" // the write is about to go out, or went out and we died
	IntentWritten IntentState = "written" // the write was answered; the effect is not yet seen
	IntentClosed  IntentState = "closed"
)

// Outcome is how an intent ended.
type Outcome string

// The outcomes. Unverified is not an end: it is what a written intent is called
// while the provider does not yet show the effect.
const (
	OutcomeNone             Outcome = ""
	OutcomeDone             Outcome = "done"
	OutcomeDoneStillBilling Outcome = "done-still-billing"
	OutcomeFailedWrite      Outcome = "failed"
	OutcomeUnverified       Outcome = "unverified"
	OutcomeVanished         Outcome = "vanished"
	OutcomeAbandoned        Outcome = "abandoned"
)

// Intent is one provider write that is wanted: data, never a closure. There is
// at most one open intent per Ref; its key is Ref, Boot and Action, and policies
// are reasons on it.
type Intent struct {
	ID     int64  `json:"id"` // the journal's number; people write #ID
	Ref    Ref    `json:"ref"`
	Boot   Boot   `json:"boot,omitempty"`
	Action Action `json:"action"`
	// Goal is the furthest that was asked for; Action is the step towards it.
	Goal Action `json:"goal"`
	// By is "policy", or "hand:NAME" for a command.
	By string `json:"by"`
	// Hurried is who wants it now, without the warning and the cooldown; empty: nobody.
	Hurried  string      `json:"hurried,omitempty"`
	Money    bool        `json:"money,omitempty"`
	State    IntentState `json:"state"`
	Verdicts []Verdict   `json:"verdicts,omitempty"`
	Subject  Instance    `json:"subject,omitzero"` // as it was seen when the intent was opened
	// Batch is the number of the first of the intents that are announced together, and
	// whose end is told together; zero for one alone.
	Batch int64 `json:"batch,omitempty"`

	CreatedAt time.Time     `json:"created_at"`
	Warn      time.Duration `json:"warn"`
	// Announced counts the announcements: a deadline that passed while nobody could
	// say "wait" is announced anew, and an older acceptance counts no more.
	Announced   int       `json:"announced,omitempty"`
	AnnouncedAt time.Time `json:"announced_at,omitzero"`
	// AcceptedAt is when a channel first accepted the warning; the deadline is
	// counted from it. Deadline is a lower bound and only moves later.
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
	AcceptedBy string    `json:"accepted_by,omitempty"`
	Deadline   time.Time `json:"deadline,omitzero"`

	// StartedAt is when the present attempt was journaled as about to be sent,
	// WrittenAt when it was answered. Fence is the lease under which it was.
	StartedAt time.Time `json:"started_at,omitzero"`
	WrittenAt time.Time `json:"written_at,omitzero"`
	Fence     int64     `json:"fence,omitempty"`
	Token     string    `json:"token,omitempty"` // idempotency token of the attempt
	Attempts  []Attempt `json:"attempts,omitempty"`

	// NextAt is when the executor should look at it again.
	NextAt time.Time `json:"next_at,omitzero"`
	// HeldBack is why a due intent waits (the guard's or the look's reason).
	HeldBack Reason `json:"held_back,omitzero"`

	// Secured is how the instance's data was secured before the attempt.
	Secured []Secured `json:"secured,omitempty"`

	// Belongings is what belonged to the instance before a release was sent.
	Belongings Belongings `json:"belongings,omitzero"`

	// Reached is the Boot that a start led to.
	Reached  Boot      `json:"reached,omitempty"`
	Outcome  Outcome   `json:"outcome,omitempty"`
	Why      Reason    `json:"why,omitzero"` // of the outcome
	ClosedAt time.Time `json:"closed_at,omitzero"`
	Cost     Money     `json:"cost,omitzero"` // of the Boot until the effect, where the price is known
}

// Open reports whether the intent has not ended.
func (i Intent) Open() bool { return i.State != IntentClosed }

// Attempt is one provider call of an intent.
type Attempt struct {
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Fence     int64     `json:"fence"`
	Kind      string    `json:"kind,omitempty"`  // error kind, empty when it was accepted
	Error     string    `json:"error,omitempty"` // redacted text
}

// Hold is a person's temporary order not to act.
type Hold struct {
	ID        int64     `json:"id"`
	Ref       Ref       `json:"ref"`
	Until     time.Time `json:"until"`
	By        string    `json:"by"`
	Why       string    `json:"why"`
	CreatedAt time.Time `json:"created_at"`
	// ApprovedBy is who granted what By might not order alone; empty: nobody had to.
	ApprovedBy string `json:"approved_by,omitempty"`
}

// NoEnd is until when a hold lasts that ends only when somebody ends it.
func NoEnd() time.Time { return time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Values are who holds, until when and why, for a [Reason]; one without an end has no
// until.
func (h Hold) Values() Values {
	v := Values{"by": Text(h.By), "why": Text(h.Why)}
	if h.Until.Before(NoEnd()) {
		v["until"] = Moment(h.Until)
	}
	return v
}

// Active reports whether the hold forbids acting at now.
func (h Hold) Active(now time.Time) bool { return now.Before(h.Until) }
