package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"curfew/internal/config"
)

// The limits of a door. It may stand open to the whole network.
const (
	doorConnections = 256
	doorHeaderTime  = 5 * time.Second
	doorReadTime    = 15 * time.Second
	doorWriteTime   = 30 * time.Second
	doorIdleTime    = 30 * time.Second
	doorHeaderBytes = 16 << 10
	doorLastWords   = 5 * time.Second // for what is being answered when the door closes
)

// door is a listener of its own at which one thing is served, and nothing else. One
// that was only told what it is for is shut.
type door struct {
	key  string                                          // of the configuration, which says where
	what string                                          // comes in
	make func(ctx context.Context) (http.Handler, error) // once it is needed

	mu      sync.Mutex
	runs    bool // there is a daemon behind it
	handler http.Handler
	server  *http.Server // nil: nobody listens
	closing sync.WaitGroup
	broken  chan error
}

// doors are all that there are.
func (a *App) doors() []*door { return []*door{&a.door, &a.page} }

// hangDoors says what each door is for.
func (a *App) hangDoors() {
	a.door.key, a.door.what, a.door.make = "ping.listen", "pings", a.pingHandler
	a.page.key, a.page.what, a.page.make = "listen", "the page", a.pageHandler
	for _, d := range a.doors() {
		d.broken = make(chan error, 1)
	}
}

// openDoors begins to listen where the configuration says.
func (a *App) openDoors(ctx context.Context) error {
	for _, d := range a.doors() {
		d.mu.Lock()
		d.runs = true
		d.mu.Unlock()
	}
	err := a.moveDoors(ctx, &config.Config{}, a.runtime().cfg)
	if err != nil {
		a.shutDoors(ctx)
	}
	return err
}

// moveDoors listens at other addresses, or no more where they are empty. Where one does
// not open, all stay as they were.
func (a *App) moveDoors(ctx context.Context, from, to *config.Config) error {
	if err := a.moveDoor(ctx, &a.door, from.Ping.Listen, to.Ping.Listen); err != nil {
		return err
	}
	err := a.moveDoor(ctx, &a.page, from.Listen, to.Listen)
	if err != nil {
		return errors.Join(err, a.moveDoor(ctx, &a.door, to.Ping.Listen, from.Ping.Listen))
	}
	return nil
}

// moveDoor listens at another address, or no more where it is empty. The new door is
// open before the old one shuts; where it does not open, the old one stays.
func (a *App) moveDoor(ctx context.Context, d *door, from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.runs || from == to {
		return nil
	}
	old := d.server
	if to != "" {
		if d.handler == nil {
			handler, err := d.make(ctx)
			if err != nil {
				return err
			}
			d.handler = handler
		}
		listen := a.o.Listen
		if listen == nil {
			listen = func(ctx context.Context, address string) (net.Listener, error) {
				return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
			}
		}
		l, err := listen(ctx, to)
		if err != nil {
			return fmt.Errorf("%s %s: %w", d.key, to, err)
		}
		d.serve(ctx, l)
		a.log.Info().Str("address", l.Addr().String()).Msg("listening for " + d.what)
	} else {
		d.server = nil
	}
	if old != nil {
		d.closing.Go(func() { shut(ctx, old) })
	}
	return nil
}

// serve answers at a listener until the server is shut.
func (d *door) serve(ctx context.Context, l net.Listener) {
	s := &http.Server{
		Handler: d.handler, ReadHeaderTimeout: doorHeaderTime, ReadTimeout: doorReadTime,
		WriteTimeout: doorWriteTime, IdleTimeout: doorIdleTime, MaxHeaderBytes: doorHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	d.server = s
	d.closing.Go(func() {
		if err := s.Serve(netutil.LimitListener(l, doorConnections)); !errors.Is(err, http.ErrServerClosed) {
			select {
			case d.broken <- fmt.Errorf("listen for %s: %w", d.what, err):
			default:
			}
		}
	})
}

// keepDoors keeps the doors until ctx is done, and lets who is in them finish.
func (a *App) keepDoors(ctx context.Context) error {
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-a.door.broken:
	case err = <-a.page.broken:
	}
	a.shutDoors(ctx)
	return err
}

func (a *App) shutDoors(ctx context.Context) {
	for _, d := range a.doors() {
		d.mu.Lock()
		server := d.server
		d.server, d.runs = nil, false
		d.mu.Unlock()
		if server != nil {
			d.closing.Go(func() { shut(ctx, server) })
		}
	}
	for _, d := range a.doors() {
		d.closing.Wait()
	}
}

func shut(ctx context.Context, s *http.Server) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), doorLastWords)
	defer cancel()
	if s.Shutdown(closing) != nil {
		_ = s.Close() // whoever is not answered by now asks again
	}
}
