package execute

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/providers"
)

const (
	settleTime   = 20 * time.Second
	writeTimeout = 30 * time.Second
	warn         = 10 * time.Minute
)

// lab is one instance at a platform that does as the test says, and an executor
// over a real state. It lives in a synctest bubble.
type lab struct {
	t     *testing.T
	store *store.Store
	path  string
	x     *Executor
	full  bool // the state cannot be written

	thing   fleet.Instance // as the platform shows it
	gone    bool           // as the observer says
	readErr error
	account bool

	write  func(ctx context.Context) error // what the platform makes of a write
	onRead func()                          // between a read's question and its answer
	onLook func()
	ask    func(tx *store.Tx, in fleet.Intent) (Answer, error)
	heard  func(key string) // while a channel is waited for to take a notice

	reads, looks, asks int
	writes             []string // what was sent, and when
	waits              []string // what was waited for to be heard
	told               []notice
}

type notice struct {
	at time.Duration // since the lab began
	notify.Notice
}

var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // as every bubble begins

func ref(id string) fleet.Ref {
	return fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: id}
}

// inLab runs a story in a bubble with its own clock.
func inLab(t *testing.T, story func(t *testing.T, l *lab)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lab{t: t, path: filepath.Join(t.TempDir(), "curfew.db"), account: true}
		l.thing = fleet.Instance{
			Ref: ref("a"), Boot: "n1", Name: "exp-a", State: fleet.StateRunning, StartedAt: began.Add(-2 * time.Hour),
			Price:  fleet.Price{PerHour: fleet.CNY(1_000_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
			OnStop: fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
		}
		l.write = func(context.Context) error { return nil }
		l.start()
		defer func() { _ = l.store.Close() }()
		story(t, l)
	})
}

var errFull = errors.New("database or disk is full")

// start starts an executor, as every new process does.
func (l *lab) start() {
	l.t.Helper()
	if l.store != nil {
		if err := l.store.Close(); err != nil {
			l.t.Fatal(err)
		}
	}
	now := func() time.Time { return time.Now().UTC() }
	full := func(p store.Phase, _ bool) error {
		if l.full && p == store.BeforeCommit {
			return errFull
		}
		return nil
	}
	var err error
	if l.store, err = store.Open(l.t.Context(), store.Options{DSN: "sqlite:" + l.path, Now: now, OnCommit: full}); err != nil {
		l.t.Fatal(err)
	}
	l.x = New(Options{Store: l.store, Now: now, Log: zerolog.Nop(), WriteTimeout: writeTimeout, World: World{
		Secure: func(context.Context, providers.Account, fleet.Intent, fleet.Instance) (Answer, error) {
			return Answer{Word: Go}, nil
		},
		Account: func(identity string) (providers.Account, bool) {
			if identity != "sim:lab" {
				l.t.Errorf("account %q was asked for", identity)
			}
			return l.provider(), l.account
		},
		Read: func(_ context.Context, _ providers.Account, r fleet.Ref) (fleet.Instance, bool, error) {
			if r != ref("a") {
				l.t.Errorf("%s was read", r)
			}
			l.reads++
			shown, gone, err := l.thing, l.gone, l.readErr
			if hook := l.onRead; hook != nil {
				hook()
			}
			return shown, gone, err
		},
		Look: func(context.Context, fleet.Instance) {
			l.looks++
			if l.onLook != nil {
				l.onLook()
			}
		},
		Ask: func(tx *store.Tx, i fleet.Instance, in fleet.Intent, since time.Time) (Answer, error) {
			l.asks++
			if i.Ref != in.Ref || since.After(tx.Now) {
				l.t.Errorf("asked over %s for %s, with looks since %s at %s", i.Ref, in.Ref, since, tx.Now)
			}
			if l.ask != nil {
				return l.ask(tx, in)
			}
			return Answer{Word: Go}, nil
		},
		Tell: func(tx *store.Tx, n notify.Notice, repeat time.Duration) error {
			var since time.Time
			if repeat > 0 {
				since = tx.Now.Add(-repeat)
			}
			n.At = tx.Now
			queued, err := tx.Enqueue(n, nil, since)
			if queued {
				tx.After(func() { l.told = append(l.told, notice{time.Since(began), n}) })
			}
			return err
		},
		Heard: func(ctx context.Context, key string, within time.Duration) {
			if within != lastWordWait {
				l.t.Errorf("it waits %s to be heard", within)
			}
			l.waits = append(l.waits, key)
			if l.heard != nil {
				l.heard(key)
			}
		},
	}})
}

func (l *lab) provider() providers.Account {
	send := func(ctx context.Context, op string, i fleet.Instance, token string) error {
		if i.Ref != ref("a") {
			l.t.Errorf("%s was sent for %s", op, i.Ref)
		}
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > writeTimeout {
			l.t.Errorf("%s may take until %s", op, deadline)
		}
		open, err := l.store.OpenIntents(context.Background())
		if err != nil || len(open) != 1 || open[0].State != fleet.IntentStarted || open[0].Token != token || token == "" {
			l.t.Errorf("%s with token %q was sent over the journal %+v (%v)", op, token, open, err)
		}
		l.writes = append(l.writes, fmt.Sprintf("%s %s", op, time.Since(began)))
		return l.write(ctx)
	}
	return providers.Account{
		Name: "lab", Identity: "sim:lab", Kind: providers.Kind{Name: "sim", Title: "simulated cloud", SettleTime: settleTime, BillingProof: providers.ProofState},
		Stop: func(ctx context.Context, i fleet.Instance, o providers.StopOptions) error {
			return send(ctx, "stop", i, o.Token)
		},
		Start: func(ctx context.Context, i fleet.Instance, o providers.StartOptions) error {
			if o.NoGPU {
				l.t.Error("it was to be started without cards")
			}
			return send(ctx, "start", i, o.Token)
		},
		Release: func(ctx context.Context, i fleet.Instance, o providers.ReleaseOptions) error {
			if o.WithDisks || o.WithPublicIPs {
				l.t.Error("more than the instance was to be released")
			}
			return send(ctx, "release", i, o.Token)
		},
	}
}

// announced opens an intent whose warning was accepted and is over now.
func (l *lab) announced(action fleet.Action, change ...func(*fleet.Intent)) int64 {
	l.t.Helper()
	i := fleet.Intent{
		Ref: ref("a"), Boot: "n1", Action: action, Goal: action, By: ByPolicy, Subject: l.thing, Warn: warn,
		CreatedAt: time.Now().UTC().Add(-warn), AnnouncedAt: time.Now().UTC().Add(-warn), Announced: 1,
		AcceptedAt: time.Now().UTC().Add(-warn), Deadline: time.Now().UTC(), NextAt: time.Now().UTC(),
	}
	for _, c := range change {
		c(&i)
	}
	l.do(func(tx *store.Tx) error { return tx.OpenIntent(&i, action) })
	return i.ID
}

func (l *lab) do(f func(*store.Tx) error) {
	l.t.Helper()
	if err := l.store.Update(l.t.Context(), f); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) read(id int64) fleet.Intent {
	l.t.Helper()
	i, err := l.store.Intent(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return i
}

// step takes one step, which must not fail.
func (l *lab) step(id int64) time.Time {
	l.t.Helper()
	next, err := l.x.Step(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return next
}

// live takes steps as they come due, for a time or until the intent has ended. It
// fails where time stands still.
func (l *lab) live(id int64, d time.Duration) fleet.Intent {
	l.t.Helper()
	end, atOnce := time.Now().Add(d), 0
	for {
		i := l.read(id)
		if !i.Open() {
			return i
		}
		due := later(i.NextAt, time.Now())
		if i.State == fleet.IntentPending {
			due = later(due, i.Deadline)
		}
		if due.After(end) {
			time.Sleep(time.Until(end))
			return i
		}
		if due.After(time.Now()) {
			atOnce = 0
		}
		if atOnce++; atOnce > 5 {
			l.t.Fatalf("it takes step after step at once: %s, next at %s", i.State, i.NextAt)
		}
		time.Sleep(time.Until(due))
		l.step(id)
	}
}

// takesEffect lets a write take effect at once.
func (l *lab) takesEffect(state fleet.State) {
	l.write = func(context.Context) error {
		l.thing.State = state
		if state == fleet.StateStopped {
			l.thing.StoppedAt = time.Now().UTC()
		}
		return nil
	}
}

// wantTold asks for the events told, with their severity, in order.
func (l *lab) wantTold(want ...string) {
	l.t.Helper()
	var got []string
	for _, n := range l.told {
		got = append(got, fmt.Sprintf("%s %s %s", n.Event, n.Severity, n.Reason.Code))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (l *lab) wantWrites(want int) {
	l.t.Helper()
	if len(l.writes) != want {
		l.t.Errorf("%d writes were sent (%s), want %d", len(l.writes), strings.Join(l.writes, ", "), want)
	}
}

func (l *lab) wantOutcome(i fleet.Intent, outcome fleet.Outcome, why fleet.Code) {
	l.t.Helper()
	if i.State != fleet.IntentClosed || i.Outcome != outcome || i.Why.Code != why {
		l.t.Errorf("it is %s %s (%s; waits for %s), want closed %s (%s)", i.State, i.Outcome, i.Why.Code, i.HeldBack.Code, outcome, why)
	}
}

func fault(kind fleet.ErrorKind) error { return &fleet.Error{Op: "stop a", Kind: kind} }
