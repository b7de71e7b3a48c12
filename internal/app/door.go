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
)

// The limits of the door for pings. It may stand open to the whole network.
const (
	pingConnections = 256
	pingHeaderTime  = 5 * time.Second
	pingReadTime    = 15 * time.Second
	pingWriteTime   = 30 * time.Second
	pingIdleTime    = 30 * time.Second
	pingHeaderBytes = 16 << 10
	pingLastWords   = 5 * time.Second // for what is being answered when the door closes
)

// door is where pings come in: a listener of its own, at which nothing else is
// served. The zero value is shut.
type door struct {
	mu      sync.Mutex
	runs    bool         // there is a daemon to take pings
	handler http.Handler // made once it is needed
	server  *http.Server // nil: nobody listens
	closing sync.WaitGroup
	broken  chan error
}

// openDoor begins to listen for pings, if the configuration says where.
func (a *App) openDoor(ctx context.Context) error {
	a.door.mu.Lock()
	a.door.runs, a.door.broken = true, make(chan error, 1)
	a.door.mu.Unlock()
	return a.moveDoor(ctx, "", a.runtime().cfg.Ping.Listen)
}

// moveDoor listens for pings at another address, or no more where it is empty. The
// new door is open before the old one shuts; where it does not open, the old one
// stays.
func (a *App) moveDoor(ctx context.Context, from, to string) error {
	d := &a.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.runs || from == to {
		return nil
	}
	old := d.server
	if to != "" {
		if d.handler == nil {
			handler, err := a.pingHandler(ctx)
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
			return fmt.Errorf("ping.listen %s: %w", to, err)
		}
		d.serve(ctx, l)
		a.log.Info().Str("address", l.Addr().String()).Msg("listening for pings")
	} else {
		d.server = nil
	}
	if old != nil {
		d.closing.Go(func() { shut(ctx, old) })
	}
	return nil
}

// serve answers pings at a listener until the server is shut.
func (d *door) serve(ctx context.Context, l net.Listener) {
	s := &http.Server{
		Handler: d.handler, ReadHeaderTimeout: pingHeaderTime, ReadTimeout: pingReadTime,
		WriteTimeout: pingWriteTime, IdleTimeout: pingIdleTime, MaxHeaderBytes: pingHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	d.server = s
	d.closing.Go(func() {
		if err := s.Serve(netutil.LimitListener(l, pingConnections)); !errors.Is(err, http.ErrServerClosed) {
			select {
			case d.broken <- fmt.Errorf("listen for pings: %w", err):
			default:
			}
		}
	})
}

// pings keeps the door until ctx is done, and lets who is in it finish.
func (a *App) pings(ctx context.Context) error {
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-a.door.broken:
	}
	a.door.mu.Lock()
	server := a.door.server
	a.door.server, a.door.runs = nil, false
	a.door.mu.Unlock()
	if server != nil {
		shut(ctx, server)
	}
	a.door.closing.Wait()
	return err
}

func shut(ctx context.Context, s *http.Server) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLastWords)
	defer cancel()
	if s.Shutdown(closing) != nil {
		_ = s.Close() // whoever is not answered by now sends the ping again
	}
}
