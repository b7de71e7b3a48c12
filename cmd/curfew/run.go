package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"curfew/internal/app"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/internal/store"
)

func (p *program) runCommand() *cobra.Command {
	level := ""
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon: watch, tell, act, and look again",
		Long: `run watches until it is told to stop. It ends at SIGINT or SIGTERM after what is
under way has come to rest, and reads its configuration again at SIGHUP. The
other commands talk to it over a socket beside the state.

It logs to stderr: lines for people on a terminal, else JSON.`,
		Example: "  curfew run\n  curfew run --config /etc/curfew/curfew.yaml --log-level debug",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.configured()
			if err != nil {
				return err
			}
			parsed, err := zerolog.ParseLevel(level)
			if err != nil || level == "" {
				return usage(fmt.Errorf("--log-level %s: it is debug, info, warn or error", level))
			}
			if _, set := p.lookupEnv("GOGC"); !set {
				debug.SetGCPercent(app.GCPercent)
			}
			clock := sched.Wall{}
			log := logger(p.stderr, p.notes, parsed, clock)
			socket := ctl.SocketPath(cfg.State)
			a, err := start(c.Context(), p.options(clock, log, nil), socket)
			if err != nil {
				return badConfig(err)
			}
			err = serve(c.Context(), a, socket, log, p.system)
			return errors.Join(err, a.Close())
		},
	}
	c.Flags().StringVar(&level, "log-level", "info", "what to log: debug, info, warn or error")
	return c
}

// start opens the app. A command that looks by itself has the state open for a
// moment; another daemon, which answers at the socket, has it for good.
func start(ctx context.Context, o app.Options, socket string) (*app.App, error) {
	for began := o.Clock.Now(); ; {
		a, err := app.New(ctx, o)
		if !errors.Is(err, store.ErrLocked) || o.Clock.Now().Sub(began) > lockPatience {
			return a, err
		}
		if s, asked := ctl.NewClient(socket).Status(ctx); s.Exec.Guard != 0 {
			return nil, guarded(err, s.Exec.Guard)
		} else if !errors.Is(asked, ctl.ErrNoDaemon) {
			return nil, err
		}
		if err := o.Clock.Sleep(ctx, lockPause); err != nil {
			return nil, err
		}
	}
}

// logger writes lines for people to a terminal and JSON to anything else.
func logger(w io.Writer, people bool, level zerolog.Level, clock sched.Clock) zerolog.Logger {
	if people {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	stamp := func(e *zerolog.Event, _ zerolog.Level, _ string) { e.Time(zerolog.TimestampFieldName, clock.Now()) }
	return zerolog.New(w).Level(level).Hook(zerolog.HookFunc(stamp))
}

// lastWords is how long commands may take to be answered once the daemon ends.
const lastWords = 5 * time.Second

// served is a daemon, and how it answers commands.
type served interface {
	ctl.API
	Run(ctx context.Context) error
}

// serve runs the daemon and answers commands until ctx is done, and tells the
// service manager, if there is one.
func serve(ctx context.Context, a served, socket string, log zerolog.Logger, s system) error {
	l, err := ctl.Listen(socket)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: ctl.Handler(a), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	listening, stop := context.WithCancel(ctx)
	go reloads(listening, a, log, s)
	manager(log, daemon.SdNotifyReady)

	err = a.Run(ctx)
	stop()
	manager(log, daemon.SdNotifyStopping)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	closeErr := server.Shutdown(closing)
	if serveErr := <-ended; !errors.Is(serveErr, http.ErrServerClosed) {
		closeErr = errors.Join(closeErr, serveErr)
	}
	log.Info().Msg("stopped")
	return errors.Join(err, closeErr)
}

// reloads reloads at every hangup. What is wrong is logged and told by the app.
func reloads(ctx context.Context, a ctl.API, log zerolog.Logger, s system) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hangup:
			manager(log, daemon.SdNotifyReloading)
			_ = a.Reload(ctx) // the app says it
			manager(log, daemon.SdNotifyReady)
		}
	}
}

// manager tells the service manager how the daemon is; without one it does
// nothing.
func manager(log zerolog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn().Err(err).Msg("tell the service manager")
	}
}
