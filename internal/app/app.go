// Package app wires the parts together and gives them life: it polls, looks,
// lets the policies decide, the guard check and the executor act, and tells
// people. It is the one place that knows everything; the parts do not know each
// other. The demo, the tests and curfew run all start the same App.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/execute"
	"curfew/internal/observe"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/providers"
)

// Options is what an App is made of. Everything that touches the world comes in
// through it.
type Options struct {
	Version string
	// Load reads the configuration; it is called at start and for every reload.
	Load     func() (*config.Config, error)
	Registry config.Registry
	Clock    sched.Clock
	Log      zerolog.Logger
	Out      io.Writer // for the console channel
	Language text.Language
	// LookupEnv and ReadFile read secrets.
	LookupEnv func(string) (string, bool)
	ReadFile  func(string) ([]byte, error)
	// World opens a simulated cloud from its world file; nil where there is none.
	World func(path string) (any, error)
	// OnCommit is handed to the store; tests kill the daemon with it.
	OnCommit func(p store.Phase, journal bool) error
	// Listen opens the listener for pings; nil is a TCP socket of this machine.
	Listen func(ctx context.Context, address string) (net.Listener, error)
	// Exporter copies data away before a release; nil is over SSH and on this machine.
	Exporter Exporter
	// Examiner examines machines; nil is over SSH and on this machine.
	Examiner Examiner
	// ReadOnly opens the state to look and plan once, without acting.
	ReadOnly bool
}

// The pauses and limits of the loops.
const (
	callTimeout      = 30 * time.Second
	writeTimeout     = 30 * time.Second
	beatEvery        = 20 * time.Second
	deafAfter        = time.Minute // a longer silence means that nobody could say "wait"
	idlePass         = time.Minute // a pass at least this often
	flushAtLeast     = time.Minute
	pruneEvery       = 6 * time.Hour
	actsAtOnce       = 8
	restAfterFailure = 15 * time.Second
	lookBeforeWrite  = 45 * time.Second
	heardPause       = 250 * time.Millisecond
)

// GCPercent is by how much the memory of a daemon may grow before it is gone through: it
// holds much and throws little away, so less than Go's own 100 saves more than it costs.
const GCPercent = 60

// App is one daemon.
type App struct {
	o     Options
	clock sched.Clock
	log   zerolog.Logger
	store *store.Store
	inv   *observe.Inventory
	exec  *execute.Executor

	startedAt time.Time
	kick      chan struct{} // a pass is wanted
	mail      chan struct{} // a notice was queued
	rebuilt   chan struct{} // the configuration was swapped
	reheard   chan struct{} // so that others are to be listened to

	mu         sync.Mutex // guards what follows
	rt         *runtime
	seen       sightings
	lastPass   time.Time
	lastReload string
	dbError    string
	busy       map[int64]bool // intents being carried out
	resting    map[int64]time.Time
	noted      map[fleet.Ref]noted
	securing   map[fleet.Ref]bool // whose data is being secured
	examining  map[fleet.Ref]bool // machines
	hasSecured map[fleet.Ref]bool // of which something was secured, or is being
	forgotten  map[string]bool    // identities of accounts to be let alone until the next reload
	alone      bool               // there is no daemon
	over       chan struct{}      // closed when the daemon ends; nil before it began

	passing  sync.Mutex // passes never overlap
	folding  sync.Mutex // nor do looks that are folded in
	applying sync.Mutex // nor do those who want a pass now

	door    door    // for pings
	page    door    // for people
	pressed pressed // what is remembered of presses of buttons
	cost    cost    // what was last found of hidden charges
	billed  billed  // and of bills
	tallies tallies // of budgets
	// escalated are the notices that more people were told of, of the postman alone.
	escalated map[int64]bool
}

// New opens the state and the configuration. Nothing is sent to any provider
// yet.
func New(ctx context.Context, o Options) (*App, error) {
	cfg, err := o.Load()
	if err != nil {
		return nil, err
	}
	a := &App{
		o: o, clock: o.Clock, log: o.Log, startedAt: o.Clock.Now(),
		kick: make(chan struct{}, 1), mail: make(chan struct{}, 1), rebuilt: make(chan struct{}, 1), reheard: make(chan struct{}, 1),
		seen: newSightings(), busy: map[int64]bool{}, resting: map[int64]time.Time{}, noted: map[fleet.Ref]noted{}, escalated: map[int64]bool{},
		securing: map[fleet.Ref]bool{}, hasSecured: map[fleet.Ref]bool{}, forgotten: map[string]bool{},
	}
	a.hangDoors()
	a.store, err = store.Open(ctx, store.Options{DSN: cfg.State, Now: o.Clock.Now, OnCommit: o.OnCommit})
	if err != nil {
		return nil, err
	}
	if err := a.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

func (a *App) open(ctx context.Context, cfg *config.Config) (err error) {
	if a.inv, err = observe.Load(ctx, a.store, a.clock.Now); err != nil {
		return err
	}
	runs, err := a.store.Runs(ctx)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	a.seen.runs = runs
	holds, err := a.store.BoxHolds(ctx)
	if err != nil {
		return fmt.Errorf("read the hold files: %w", err)
	}
	for _, h := range holds {
		a.seen.holds[h.Ref] = h
	}
	saved, err := a.store.Secured(ctx)
	if err != nil {
		return fmt.Errorf("read what data was secured: %w", err)
	}
	for ref := range saved {
		a.hasSecured[ref] = true
	}
	if err := a.recallWallets(ctx); err != nil {
		return fmt.Errorf("read what wallets held: %w", err)
	}
	a.exec = execute.New(execute.Options{
		Store: a.store, Now: a.clock.Now, Log: a.log, WriteTimeout: writeTimeout,
		World: execute.World{Account: a.account, Read: a.read, Look: a.lookNow, Ask: a.askToRelease, Tell: a.tell, Heard: a.heard, Resource: a.resource, Secure: a.secureAll, Released: a.released, Closed: a.closed},
	})
	if a.rt, err = a.build(ctx, cfg); err == nil {
		a.inv.Limit(a.rt.covers)
	}
	return err
}

// Close closes sources and state. The daemon must not run any more.
func (a *App) Close() error {
	return errors.Join(a.rt.close(), a.store.Close())
}

// Run is the daemon: it returns when ctx is done, after everything that was
// under way has come to rest, or when the state was taken over.
func (a *App) Run(ctx context.Context) error {
	if err := a.wake(ctx); err != nil {
		return err
	}
	if err := a.openDoors(ctx); err != nil {
		return err
	}
	a.log.Info().Str("version", a.o.Version).Str("config", a.runtime().cfg.File).Str("mode", string(a.runtime().cfg.Mode)).
		Int("accounts", len(a.runtime().accounts)).Int("policies", len(a.runtime().cfg.Policies)).Msg("guarding")
	over := make(chan struct{})
	a.mu.Lock()
	a.over = over
	a.mu.Unlock()
	defer close(over)
	ctx, stop := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for _, loop := range []func(context.Context) error{a.watchers, a.passes, a.postman, a.heartbeat, a.keepDoors, a.listeners} {
		wg.Go(func() {
			if err := loop(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	<-ctx.Done()
	wg.Wait()
	stop(nil)
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// runtime gives the present configuration, opened.
func (a *App) runtime() *runtime {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rt
}

// account gives the account with an identity, once it is sure who it is.
func (a *App) account(identity string) (providers.Account, bool) {
	for _, acc := range a.runtime().accounts {
		if p, ok := acc.opened(); ok && p.Identity == identity && acc.isIdentified() {
			return p, true
		}
	}
	return providers.Account{}, false
}

// nudge asks a loop to come round now.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watchers polls and looks under the present configuration, and starts anew when
// it is swapped.
func (a *App) watchers(ctx context.Context) error {
	for ctx.Err() == nil {
		rt := a.runtime()
		round, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for _, acc := range rt.accounts {
			wg.Go(func() { a.poll(round, rt, acc) })
		}
		for _, s := range rt.sources {
			wg.Go(func() { a.look(round, rt, s) })
		}
		select {
		case <-ctx.Done():
		case <-a.rebuilt:
		}
		cancel()
		wg.Wait()
		if rt != a.runtime() {
			if err := rt.close(); err != nil {
				a.log.Warn().Err(err).Msg("close the old configuration's connections")
			}
		}
	}
	return ctx.Err()
}

// heartbeat notes that people could have said "wait", so that a deadline which
// passed while nobody could is announced anew. It also forgets old history.
func (a *App) heartbeat(ctx context.Context) error {
	pruned := a.clock.Now()
	for {
		if err := a.clock.Sleep(ctx, beatEvery); err != nil {
			return err
		}
		if err := a.beat(ctx); err != nil {
			if fatal(err) {
				return err
			}
			a.databaseIs(err)
			continue
		}
		if a.clock.Now().Sub(pruned) >= pruneEvery {
			pruned = a.clock.Now()
			keep := a.runtime().cfg.History
			if err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.Prune(keep) }); err != nil && ctx.Err() == nil {
				a.log.Warn().Err(err).Msg("forget old history")
			}
		}
	}
}

// fatal reports whether an error means that this daemon must stop acting for
// good.
func fatal(err error) bool {
	return errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrReplaced)
}

// databaseIs remembers whether the state can be written, and says so once.
func (a *App) databaseIs(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil && a.dbError != "":
		a.log.Info().Msg("the state can be written again")
		a.dbError = ""
	case err != nil && a.dbError == "":
		a.log.Error().Err(err).Msg("the state cannot be written; nothing is done until it can")
		a.dbError = err.Error()
	}
}

// postman empties the outbox.
func (a *App) postman(ctx context.Context) error {
	for {
		next, err := a.deliver(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if fatal(err) {
				return err
			}
			a.databaseIs(err)
		} else {
			nudge(a.kick) // an acceptance may have started a clock
		}
		if err := a.wait(ctx, a.restUntil(next), a.mail); err != nil {
			return err
		}
	}
}

// deliver sends what is due, looks for other ways for what nobody takes, and says when
// the next is due.
func (a *App) deliver(ctx context.Context) (next time.Time, err error) {
	if next, err = a.runtime().sender.Flush(ctx); err != nil {
		return next, err
	}
	if err := a.otherWays(ctx); err != nil {
		return next, err
	}
	due, err := a.store.NextDelivery(ctx, a.clock.Now())
	return earlier(next, due), err
}

// restUntil is how long the postman rests before something that is due then.
func (a *App) restUntil(next time.Time) time.Duration {
	if next.IsZero() {
		return flushAtLeast
	}
	return min(max(next.Sub(a.clock.Now()), time.Second), flushAtLeast)
}

// wait sleeps for d by the clock, or until it is nudged.
func (a *App) wait(ctx context.Context, d time.Duration, c <-chan struct{}) error {
	sleeping, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.clock.Sleep(sleeping, d)
	}()
	select {
	case <-c:
		cancel()
		<-done
	case <-done:
	}
	return ctx.Err()
}

// heard waits until a channel has taken a notice, until none can any more, or until
// the time is over.
func (a *App) heard(ctx context.Context, key string, within time.Duration) {
	for until := a.clock.Now().Add(within); a.clock.Now().Before(until); {
		accepted, waiting, err := a.store.Delivered(ctx, key)
		if err == nil && (accepted || !waiting) || a.clock.Sleep(ctx, heardPause) != nil {
			return
		}
	}
}
