package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/policies"
)

// How often a guard asks itself whether it is still needed, and how long it stays
// after it was: who has just asked whether it is there must find it so.
const (
	guardCheck  = 2 * time.Second
	guardLinger = 10 * time.Second
)

// guardCommand is what curfew exec --then stop starts: the daemon, with eyes for this
// machine and the runs that asked for a stop, and for nothing else.
func (p *program) guardCommand() *cobra.Command {
	return &cobra.Command{
		Use: "guard", Short: "What exec --then stop starts", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.configured()
			if err != nil {
				return err
			}
			account, machine, ok := cfg.Local()
			if !ok {
				return usage(fmt.Errorf("%s declares no machine with host: local", cfg.File))
			}
			clock := sched.Wall{}
			lines := zerolog.ConsoleWriter{Out: p.stderr, NoColor: true, TimeFormat: time.DateTime}
			log := logger(lines, false, zerolog.InfoLevel, clock)
			socket := ctl.SocketPath(cfg.State)
			a, err := start(c.Context(), p.options(clock, log, onlyHere), socket)
			if err != nil {
				return badConfig(err)
			}
			g := &guarding{App: a, clock: clock, needed: clock.Now()}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			var minding sync.WaitGroup
			minding.Go(func() {
				if g.mind(ctx, account.Name+"/"+machine.Name) {
					log.Info().Msg("no run asks for a stop any more")
					done()
				}
			})
			err = serve(ctx, g, socket, log, p.system)
			done()
			minding.Wait()
			return errors.Join(err, a.Close())
		},
	}
}

// onlyHere makes every configuration that is loaded that of a guard.
func onlyHere(o *app.Options) {
	load := o.Load
	o.Load = func() (*config.Config, error) {
		cfg, err := load()
		if err != nil {
			return nil, err
		}
		return config.Guard(cfg), nil
	}
}

// guarding is a guard as commands see it.
type guarding struct {
	*app.App
	clock sched.Clock

	mu     sync.Mutex
	needed time.Time // when it was last known to be
}

var _ ctl.API = (*guarding)(nil)

// Status says also that this is a guard. Who asks may be about to note a run.
func (g *guarding) Status(ctx context.Context) (ctl.Status, error) {
	g.isNeeded()
	s, err := g.App.Status(ctx)
	s.Exec.Guard = os.Getpid()
	return s, err
}

func (g *guarding) isNeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needed = g.clock.Now()
}

func (g *guarding) lastNeeded() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.needed
}

// mind returns true once nothing that the guard was asked for is left, and false
// when ctx is done.
func (g *guarding) mind(ctx context.Context, machine string) bool {
	for g.clock.Sleep(ctx, guardCheck) == nil {
		e, err := g.Explain(ctx, machine)
		switch {
		case err != nil: // not known is not over
		case stillAsked(e):
			g.isNeeded()
		case lookedAt(e).After(g.lastNeeded().Add(guardLinger)):
			return true
		}
	}
	return false
}

// stillAsked reports whether a run can still lead to a stop, or one is under way.
func stillAsked(e ctl.Explanation) bool {
	var runs []fleet.Run
	for _, r := range e.Runs {
		if r.Boot.Same(e.Instance.Boot) {
			runs = append(runs, r)
		}
	}
	return e.Intent != nil || policies.StillAsked(runs)
}

// lookedAt is when the newest look began that could read the run files of this
// boot.
func lookedAt(e ctl.Explanation) time.Time {
	var at time.Time
	for _, look := range e.Evidence {
		if _, unread := look.Facts.Unreadable["runs"]; !unread && look.Facts.Reached &&
			look.Boot.Same(e.Instance.Boot) && look.SeenAt.After(at) {
			at = look.SeenAt
		}
	}
	return at
}

// guarded says that a guard has the state, and what to do.
func guarded(err error, pid int) error {
	return fmt.Errorf("%w: a guard that curfew exec --then stop has started works on it (process %d); it ends by itself once no run asks for a stop "+
		"any more; to take its place now: kill %d, and start this again, in mode: enforce so that the stop is still made", err, pid, pid)
}
