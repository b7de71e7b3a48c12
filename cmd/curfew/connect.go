package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/providers/sim"
)

// daemon gives the client of the daemon that works on the configured state.
func (p *program) daemon() (*ctl.Client, error) {
	cfg, err := p.configured()
	if err != nil {
		return nil, err
	}
	return ctl.NewClient(ctl.SocketPath(cfg.State)), nil
}

// ask puts a question to the daemon or, where none runs, to the state itself,
// after a look of its own if the question needs one; then it shows the answer.
func (p *program) ask(ctx context.Context, look bool, get func(ctl.API) error, show func() error) error {
	client, err := p.daemon()
	if err != nil {
		return err
	}
	clock := sched.Wall{}
	for began := clock.Now(); ; {
		err := p.progress(ctx, wordAsking, func() error { return get(client) })
		if err == nil {
			return show()
		}
		if !errors.Is(err, ctl.ErrNoDaemon) {
			return err
		}
		err = p.askState(ctx, look, get, show)
		// A daemon that is just starting has the state already and no socket yet.
		if !errors.Is(err, store.ErrLocked) || clock.Now().Sub(began) > lockPatience {
			return err
		}
		if err := clock.Sleep(ctx, lockPause); err != nil {
			return err
		}
	}
}

// How long somebody waits for a state that another has open.
const (
	lockPause    = 100 * time.Millisecond
	lockPatience = 10 * time.Second
)

func (p *program) askState(ctx context.Context, look bool, get func(ctl.API) error, show func() error) (err error) {
	a, err := app.New(ctx, p.options(sched.Wall{}, zerolog.Nop(), func(o *app.Options) { o.ReadOnly = true }))
	if err != nil {
		return badConfig(err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var part error
	if look {
		p.note(wordNoDaemon, nil)
		if part = p.progress(ctx, wordLooking, func() error { return a.Once(ctx) }); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := get(a); err != nil {
		return err
	}
	if err := show(); err != nil || part == nil {
		return err
	}
	return &exitError{exitPartly, toldOf(failPartly, part)}
}

// order gives the daemon an order; without a daemon there is nobody to carry it
// out.
func (p *program) order(ctx context.Context, give func(ctl.API) error) error {
	client, err := p.daemon()
	if err != nil {
		return err
	}
	return p.progress(ctx, wordAsking, func() error { return give(client) })
}

// options are what an app is made of here.
func (p *program) options(clock sched.Clock, log zerolog.Logger, change func(*app.Options)) app.Options {
	o := app.Options{
		Version: version, Load: p.load, Registry: registry(), Clock: clock, Log: log, Out: p.stdout,
		Language: p.language(""), LookupEnv: p.lookupEnv, ReadFile: secretFile,
		World: func(path string) (any, error) { return openWorld(path, clock) },
	}
	if p.lang != "" {
		o.Load = func() (*config.Config, error) {
			cfg, err := p.load()
			if err == nil {
				cfg.Language = p.language(cfg.Language)
			}
			return cfg, err
		}
	}
	if change != nil {
		change(&o)
	}
	return o
}

// openWorld makes a simulated cloud of a world file, which begins now.
func openWorld(path string, clock sched.Clock) (*sim.Cloud, error) {
	world, err := sim.LoadWorld(path)
	if err != nil {
		return nil, err
	}
	cloud := sim.New(sim.Options{Now: clock.Now})
	return cloud, cloud.Load(world)
}
