// Package execute carries an intent out. One intent is one provider write:
//
//	deadline passed ─► re-read ─► fresh look ─► in one transaction: policies,
//	holds and guard again, and "started" ─► write at once ─► read until the
//	provider's own answer shows the effect
//
// Whatever is interrupted is taken up again from the journal: a row that says
// started may or may not have reached the provider, so it is read before anything
// is repeated, and repeated only after a read later than the platform's settle
// time showed that there was no effect.
package execute

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/providers"
)

// The reasons of steps and outcomes.
const (
	ReasonReadFailed    fleet.Code = "execute.read-failed"
	ReasonNotFoundOnce  fleet.Code = "execute.not-found-once"
	ReasonNoAccount     fleet.Code = "execute.no-account"
	ReasonInBetween     fleet.Code = "execute.in-between"
	ReasonUnclear       fleet.Code = "execute.unclear"
	ReasonAlready       fleet.Code = "execute.already"
	ReasonOtherBoot     fleet.Code = "execute.other-boot"
	ReasonGone          fleet.Code = "execute.gone"
	ReasonVerified      fleet.Code = "execute.verified"
	ReasonStartedAgain  fleet.Code = "execute.started-again"
	ReasonStillBilling  fleet.Code = "execute.still-billing"
	ReasonCostUnknown   fleet.Code = "execute.still-billing-unknown"
	ReasonWriteFailed   fleet.Code = "execute.write-failed"
	ReasonRefusedForNow fleet.Code = "execute.refused-for-now"
	ReasonNoEffect      fleet.Code = "execute.no-effect"
	ReasonUnverified    fleet.Code = "execute.unverified"
	ReasonNoProof       fleet.Code = "execute.no-proof"
	ReasonAllDone       fleet.Code = "execute.all-done"
	ReasonExported      fleet.Code = "execute.exported"

	// Of the machine that curfew itself runs in.
	ReasonAsked         fleet.Code = "execute.asked"
	ReasonLog           fleet.Code = "execute.log"
	ReasonCommandFailed fleet.Code = "execute.command-failed"
	ReasonRunsOn        fleet.Code = "execute.runs-on"
)

// Word is what the world answers when an intent is about to be carried out.
type Word int

// The words. Against is the zero value: nothing is written.
const (
	Against Word = iota // a ground against it: abandon
	PutOff              // a gap or something to wait for
	Go
)

// Answer is what policies and guard say of an intent now.
type Answer struct {
	Word     Word
	Reason   fleet.Reason
	Until    time.Time       // for PutOff: when to ask again; zero: soon
	Silent   bool            // for PutOff: nothing people need to be told
	Verdicts []fleet.Verdict // the wishes it rests on now; nil keeps those it has
	// Worked says, of what was done before an act, that it took its time: everything is
	// read anew.
	Worked bool
	// Secured is how the instance's data was secured.
	Secured []fleet.Secured
	// Belongings is what belongs to an instance that is to be released.
	Belongings fleet.Belongings
}

// World is what the executor needs of the rest of the daemon.
type World struct {
	// Account gives the account with an identity.
	Account func(identity string) (providers.Account, bool)
	// Read reads one thing from the platform and remembers what it shows; gone
	// is said only after two NotFounds. Of a thing that is no instance it gives what
	// it shares with one.
	Read func(ctx context.Context, a providers.Account, ref fleet.Ref) (i fleet.Instance, gone bool, err error)
	// Resource gives a thing that is no instance as it was last read.
	Resource func(ref fleet.Ref) (fleet.Resource, bool)
	// Look looks inside a running instance now, so that Ask judges by it.
	Look func(ctx context.Context, i fleet.Instance)
	// Secure does what must be done with an instance's data before the intent is carried
	// out, and journals it. Go: it was done, or nothing has to be, or it failed for good
	// and policies and guard will judge by that; PutOff: it is under way.
	Secure func(ctx context.Context, a providers.Account, i fleet.Intent, seen fleet.Instance) (Answer, error)
	// Ask asks policies and guard again, over the instance as just read and looks
	// begun since. It is pure but for reading in the transaction.
	Ask func(tx *store.Tx, i fleet.Instance, in fleet.Intent, since time.Time) (Answer, error)
	// Released is called when an instance is seen to be released, before that is
	// journaled: what belonged to it is read anew. It may be nil.
	Released func(ctx context.Context, a providers.Account, i fleet.Intent)
	// Closed notes in the transaction what follows from an act that has had its effect,
	// and gives what people are told of that. It may be nil.
	Closed func(tx *store.Tx, i fleet.Intent) ([]fleet.Reason, error)
	// Tell queues a notice in the transaction; one with the same key is not told
	// again within repeat (for ever, if that is zero).
	Tell func(tx *store.Tx, n notify.Notice, repeat time.Duration) error
	// Heard waits until a channel has accepted the notice with this key, at most for
	// so long. It comes back earlier where no channel can any more.
	Heard func(ctx context.Context, key string, within time.Duration)
}

// Options are an executor's settings.
type Options struct {
	Store *store.Store
	World World
	Now   func() time.Time
	Log   zerolog.Logger
	// WriteTimeout is the longest a provider write may take; after it the outcome
	// is unknown.
	WriteTimeout time.Duration
}

// Executor carries intents out. Step may be called from several goroutines, but
// for one intent from one at a time.
type Executor struct {
	Options
}

// New makes an executor.
func New(o Options) *Executor { return &Executor{Options: o} }

// The pauses between reads and tries.
const (
	firstPause  = 2 * time.Second
	longPause   = 5 * time.Minute
	soon        = 15 * time.Second
	longRetry   = 10 * time.Minute
	alarmAfter  = 5 * time.Minute // unverified for this long is told
	bannedPause = 15 * time.Minute
	longestRest = 6 * time.Hour // whatever the platform asks for: a stop is not put off for ever
)

// Step does what an intent needs now and says when it needs the next step; zero
// if it has ended or waits for something other than time.
func (x *Executor) Step(ctx context.Context, id int64) (time.Time, error) {
	i, err := x.Store.Intent(ctx, id)
	if err != nil {
		return time.Time{}, err
	}
	a, ok := x.World.Account(i.Ref.Account)
	if !ok {
		return x.noAccount(ctx, i)
	}
	switch i.State {
	case fleet.IntentPending:
		return x.act(ctx, a, i)
	case fleet.IntentStarted, fleet.IntentWritten:
		return x.verify(ctx, a, i)
	}
	return time.Time{}, nil
}

// noAccount keeps an intent open whose account cannot be asked, and lets people
// know: it may be costing.
func (x *Executor) noAccount(ctx context.Context, i fleet.Intent) (time.Time, error) {
	why := fleet.Because(ReasonNoAccount, nil)
	switch i.State {
	case fleet.IntentPending:
		return x.putOff(ctx, i, Answer{Word: PutOff, Reason: why, Until: x.Now().Add(longPause)})
	case fleet.IntentStarted, fleet.IntentWritten:
		return x.readAgain(ctx, i, why, longPause)
	}
	return time.Time{}, nil
}

// act carries a pending intent as far as the provider's answer to the write.
func (x *Executor) act(ctx context.Context, a providers.Account, i fleet.Intent) (time.Time, error) {
	if x.Now().Before(i.Deadline) || x.Now().Before(i.NextAt) {
		return later(i.Deadline, i.NextAt), nil
	}
	began := x.Now()
	seen, gone, err := x.World.Read(ctx, a, i.Ref)
	if answer, stop := x.beforeAct(a, i, seen, gone, err); stop {
		if answer.Word == PutOff {
			return x.putOff(ctx, i, answer)
		}
		outcome := fleet.OutcomeAbandoned
		if gone {
			outcome = fleet.OutcomeVanished
		}
		return time.Time{}, x.close(ctx, i, seen, outcome, answer.Reason)
	}
	secured, err := x.World.Secure(ctx, a, i, seen)
	switch {
	case err != nil:
		return time.Time{}, err
	case secured.Word != Go:
		return x.putOff(ctx, i, secured)
	case secured.Worked:
		return x.Step(ctx, i.ID)
	}
	if seen.State == fleet.StateRunning && i.Ref.Kind == fleet.KindInstance {
		x.World.Look(ctx, seen)
	}
	answer, err := x.start(ctx, &i, seen, began)
	if err != nil {
		return time.Time{}, err
	}
	switch answer.Word {
	case PutOff:
		return i.NextAt, nil
	case Against:
		return time.Time{}, nil
	}
	if lastWord(seen, i) {
		x.World.Heard(ctx, askedKey(i), lastWordWait)
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err() // nothing was sent; settled at the next start
		}
	}
	return x.write(ctx, a, i, seen)
}

// beforeAct judges the re-read: whether the intent has become pointless or must
// wait.
func (x *Executor) beforeAct(a providers.Account, i fleet.Intent, seen fleet.Instance, gone bool, err error) (Answer, bool) {
	now := x.Now()
	wait := func(r fleet.Reason, least time.Duration) (Answer, bool) {
		return Answer{Word: PutOff, Reason: r, Until: now.Add(max(least, patience(i, now)))}, true
	}
	if err == nil && !gone && seen.Ref != i.Ref {
		err = &fleet.Error{Op: "read " + i.Ref.String(), Kind: fleet.Other, Err: fmt.Errorf("the platform answered about %s", seen.Ref)}
	}
	switch {
	case gone:
		return Answer{Reason: fleet.Because(ReasonGone, nil)}, true
	case fleet.KindOf(err) == fleet.NotFound:
		return wait(fleet.Because(ReasonNotFoundOnce, nil), max(a.Kind.SettleTime, soon))
	case err != nil:
		return wait(fleet.Because(ReasonReadFailed, fleet.Values{"error": fleet.Text(err.Error())}), retryPause(i, err))
	case reached(i.Action, seen.State):
		return Answer{Reason: fleet.Because(ReasonAlready, fleet.Values{"state": fleet.Text(seen.State.String())})}, true
	case otherBoot(i, seen):
		return Answer{Reason: fleet.Because(ReasonOtherBoot, nil)}, true
	case !settled(seen.State):
		return wait(inBetween(seen), soon)
	}
	return Answer{}, false
}

// start asks policies and guard again and journals the outcome, all in one
// transaction: a hold takes the same row, so it comes either before or after.
func (x *Executor) start(ctx context.Context, i *fleet.Intent, seen fleet.Instance, since time.Time) (Answer, error) {
	var answer Answer
	err := x.Store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(i.ID)
		if err != nil {
			return err
		}
		if row.State != fleet.IntentPending || tx.Now.Before(row.Deadline) {
			*i, answer = row, Answer{Word: PutOff}
			return nil
		}
		if answer, err = x.World.Ask(tx, seen, row, since); err != nil {
			return err
		}
		if answer.Verdicts != nil {
			row.Verdicts, row.Goal = answer.Verdicts, furthest(row.Action, answer.Verdicts)
		}
		switch answer.Word {
		case Go:
			row.State, row.StartedAt, row.WrittenAt, row.HeldBack = fleet.IntentStarted, tx.Now, time.Time{}, fleet.Reason{}
			row.Secured, row.Belongings = answer.Secured, answer.Belongings
			// Numbers begin anew with a new state: the time tells such attempts apart.
			row.Token = fmt.Sprintf("curfew-%d-%d-%s", row.ID, len(row.Attempts)+1, strconv.FormatInt(tx.Now.UnixMilli(), 36))
			row.Attempts = append(row.Attempts, fleet.Attempt{StartedAt: tx.Now, Fence: x.Store.Fence()})
			if err = tx.SaveIntent(&row, fleet.IntentPending, "started"); err == nil && lastWord(seen, row) {
				err = x.tellAsked(tx, row, seen)
			}
		case PutOff:
			err = x.savePutOff(tx, &row, answer)
		default:
			err = x.saveClosed(tx, &row, fleet.IntentPending, seen, fleet.OutcomeAbandoned, answer.Reason)
		}
		*i = row
		return err
	})
	return answer, err
}

// furthest is the goal of an act that rests on these wishes.
func furthest(action fleet.Action, vs []fleet.Verdict) fleet.Action {
	for _, v := range vs {
		action = max(action, v.Goal)
	}
	return action
}

// write sends the one write and journals the answer.
func (x *Executor) write(ctx context.Context, a providers.Account, i fleet.Intent, seen fleet.Instance) (time.Time, error) {
	writing, cancel := context.WithTimeout(ctx, x.WriteTimeout)
	err := x.send(writing, a, i, seen)
	cancel()
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err() // settled from the journal at the next start
	}
	kind := fleet.KindOf(err)
	log := x.Log.With().Int64("intent", i.ID).Str("instance", i.Ref.String()).Str("action", i.Action.String()).Int("attempt", len(i.Attempts)).Logger()
	if err != nil {
		log.Warn().Err(err).Str("kind", string(kind)).Msg("provider answered a write with an error")
	} else {
		log.Info().Msg("write accepted")
	}
	txErr := x.Store.Update(ctx, func(tx *store.Tx) error {
		last := &i.Attempts[len(i.Attempts)-1]
		last.EndedAt = tx.Now
		if err != nil {
			last.Kind, last.Error = string(kind), err.Error()
		}
		switch kind {
		case fleet.RateLimited, fleet.Banned:
			// The platform refused to hear it: certainly no effect.
			i.State, i.NextAt = fleet.IntentPending, tx.Now.Add(retryPause(i, err))
			i.HeldBack = fleet.Because(ReasonRefusedForNow, fleet.Values{"error": fleet.Text(err.Error())})
			if err := tx.SaveIntent(&i, fleet.IntentStarted, "again"); err != nil {
				return err
			}
			return x.tellPutOff(tx, i, i.HeldBack)
		case fleet.Unauthorized, fleet.Unsupported, fleet.Invalid, fleet.ReadOnly, fleet.OutOfStock:
			return x.saveClosed(tx, &i, fleet.IntentStarted, seen, fleet.OutcomeFailedWrite,
				fleet.Because(ReasonWriteFailed, fleet.Values{"kind": fleet.Text(string(kind)), "error": fleet.Text(err.Error())}))
		}
		// Accepted, or not known, or in conflict with what is going on: only a read
		// tells.
		i.State, i.WrittenAt, i.NextAt = fleet.IntentWritten, tx.Now, tx.Now.Add(firstPause)
		if err := tx.SaveIntent(&i, fleet.IntentStarted, "written"); err != nil {
			return err
		}
		if !seen.Here || err == nil {
			return nil
		}
		// A command that failed has said so itself: people need not wait for reads.
		return x.alarm(tx, i, seen, fleet.OutcomeFailedWrite, noEffect(i))
	})
	return i.NextAt, txErr
}

func (x *Executor) send(ctx context.Context, a providers.Account, i fleet.Intent, seen fleet.Instance) error {
	switch {
	case i.Action == fleet.Delete && a.Delete[i.Ref.Kind] != nil:
		r, ok := x.World.Resource(i.Ref)
		if !ok {
			return &fleet.Error{Op: "delete " + i.Ref.ID, Kind: fleet.NotFound}
		}
		return a.Delete[i.Ref.Kind](ctx, r, providers.DeleteOptions{Token: i.Token})
	case i.Action == fleet.Stop && a.Stop != nil:
		return a.Stop(ctx, seen, providers.StopOptions{Token: i.Token})
	case i.Action == fleet.Start && a.Start != nil:
		noGPU := a.Kind.StartsWithoutGPU && slices.ContainsFunc(i.Verdicts, func(v fleet.Verdict) bool { return v.Terms.NoGPU })
		return a.Start(ctx, seen, providers.StartOptions{Token: i.Token, NoGPU: noGPU})
	case i.Action == fleet.Release && a.Release != nil:
		return a.Release(ctx, seen, providers.ReleaseOptions{Token: i.Token})
	}
	return &fleet.Error{Op: i.Action.String() + " " + i.Ref.ID, Kind: fleet.Unsupported}
}

// same reports whether the row still stands as it was when the step began: in that
// state, and in the same attempt. What was read before another attempt says nothing
// of it.
func same(row, i fleet.Intent) bool {
	return row.State == i.State && len(row.Attempts) == len(i.Attempts)
}

// noted is the journal's step where there is news, and none where there is not.
func noted(news bool, step string) string {
	if news {
		return step
	}
	return store.Unnoted
}

// noticeKey names what is told of an intent. What is told of one that was announced
// with others is told once for all of them.
func noticeKey(i fleet.Intent, what string) string {
	return fmt.Sprintf("intent|%d|%s", cmp.Or(i.Batch, i.ID), what)
}

// reached reports whether the state is what the action is for.
func reached(a fleet.Action, s fleet.State) bool {
	switch a {
	case fleet.Stop:
		return s == fleet.StateStopped || s == fleet.StateReleased
	case fleet.Start:
		return s == fleet.StateRunning
	case fleet.Release, fleet.Delete:
		return s == fleet.StateReleased
	}
	return false
}

// otherBoot reports whether an instance is in another power cycle than the intent
// is about. Of an act that a power cycle does not matter to, and of a thing that
// has none, it never is.
func otherBoot(i fleet.Intent, seen fleet.Instance) bool {
	return i.Action != fleet.Start && i.Ref.Kind == fleet.KindInstance && !seen.Boot.Same(i.Boot)
}

// settled reports whether an instance is in a state from which an act makes
// sense, not on the way between two.
func settled(s fleet.State) bool {
	return s == fleet.StateRunning || s == fleet.StateStopped || s == fleet.StateFailed
}

// inBetween says that an instance is in a state from which nothing can be done, or
// told.
func inBetween(i fleet.Instance) fleet.Reason {
	if !i.Unclear.IsZero() {
		return fleet.Because(ReasonUnclear, fleet.Values{"why": fleet.Nested(i.Unclear)})
	}
	return fleet.Because(ReasonInBetween, fleet.Values{"state": fleet.Text(stateWord(i))})
}

func stateWord(i fleet.Instance) string {
	if i.State == fleet.StateUnknown && i.RawState != "" {
		return i.RawState
	}
	return i.State.String()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ByPolicy is who asks for an intent that policies wish for; any other is a
// person's.
const ByPolicy = "policy"
