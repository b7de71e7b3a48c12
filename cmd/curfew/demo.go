package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/providers/sim"
)

//go:embed demo/curfew.yaml demo/world.yaml
var demoFiles embed.FS

// The limits of a demo. Its story takes about a quarter of an hour of its own time; then
// the night passes, so that the day can be reckoned.
const (
	demoBegins  = 22          // o'clock
	demoStory   = time.Hour   // of its own time, at most
	demoLongest = time.Minute // of real time, at most, unless it was slowed down
	demoNight   = 25          // times as fast as before the night passes
	demoDawn    = 4*time.Hour + 15*time.Minute
	demoRefresh = time.Second
	demoFastest = 5000
)

// demoEnds is how the story must end.
func demoEnds() map[string]fleet.State {
	return map[string]fleet.State{
		"sim-llama": fleet.StateReleased, "sim-crash": fleet.StateStopped, "sim-oldcontract": fleet.StateStopped,
		"sim-busy": fleet.StateRunning, "sim-dark": fleet.StateRunning, "sim-asleep": fleet.StateStopped,
	}
}

func (p *program) demoCommand() *cobra.Command {
	speed, dir := 0, ""
	c := &cobra.Command{
		Use: "demo", Short: "Watch curfew guard a simulated cloud; needs no account",
		Long: `demo writes a configuration and a world of six simulated instances, with disks and
snapshots, into a folder and runs the daemon on it, faster than time: an evening, and
then the night. It is the daemon itself: what you see it tell comes from its console
channel. It ends by itself when all is settled and the day is reckoned. The folder
stays, so that you can look at the journal and the costs afterwards.`,
		Example: "  curfew demo\n  curfew demo --speed 20 --dir ./demo",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if speed < 1 || speed > 1000 {
				return usage(fmt.Errorf("--speed %d: it is between 1 and 1000 times as fast as time", speed))
			}
			return p.demo(c.Context(), speed, dir)
		},
	}
	c.Flags().IntVar(&speed, "speed", 60, "how many times as fast as time")
	c.Flags().StringVar(&dir, "dir", "", "the folder to write to (default: a new temporary one)")
	return c
}

func (p *program) demo(ctx context.Context, speed int, dir string) (err error) {
	if dir, err = p.demoFolder(dir); err != nil {
		return err
	}
	p.file = filepath.Join(dir, "curfew.yaml")
	cfg, err := p.configured()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, "curfew.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	began := demoEvening(p.now().In(cfg.Timezone))
	clock := sched.NewFast(began, speed)
	log := logger(file, false, zerolog.InfoLevel, clock)
	d := &demo{p: p, clock: clock, screen: p.screen()}
	a, err := app.New(ctx, p.options(clock, log, func(o *app.Options) {
		o.Out = d.screen
		o.World = func(path string) (_ any, err error) {
			d.cloud, err = openWorld(path, clock)
			return d.cloud, err
		}
	}))
	if err != nil {
		return badConfig(err)
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- serve(serving, a, ctl.SocketPath(cfg.State), log, p.system) }()
	left, err := d.watch(serving, a, ended, max(demoLongest, demoStory/time.Duration(speed)), d.unsettled)
	if err == nil && ctx.Err() == nil && len(left) == 0 {
		fmt.Fprintln(d.screen, p.page(clock.Now()).say(wordDemoNight, nil))
		night := min(speed*demoNight, demoFastest)
		clock.Run(night)
		left, err = d.watch(serving, a, ended, demoLongest+demoDawn/time.Duration(night), d.before(began.Add(demoDawn)))
	}
	stop()
	if err := errors.Join(err, <-ended, a.Close()); err != nil {
		return err
	}
	g := p.page(clock.Now())
	if ctx.Err() == nil && len(left) == 0 {
		g.line(wordDemoDone, nil)
	}
	g.line(wordDemoRead, fleet.Values{
		"dir": fleet.Text(dir), "command": fleet.Text("curfew journal --config " + p.file),
		"cost": fleet.Text(fmt.Sprintf("curfew cost --from %s --config %s", began.Format("2006-01-02"), p.file)),
	})
	if len(left) > 0 && ctx.Err() == nil {
		return fmt.Errorf("not settled in time: %s", strings.Join(left, ", "))
	}
	return nil
}

// demoFolder writes the configuration and the world into a folder that has none
// yet.
func (p *program) demoFolder(dir string) (string, error) {
	if dir == "" {
		temp, err := os.MkdirTemp("", "curfew-demo-")
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		dir = temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	for _, name := range []string{"curfew.yaml", "world.yaml"} {
		data, err := demoFiles.ReadFile("demo/" + name)
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		if name == "curfew.yaml" {
			data = fmt.Appendf(data, "\nlanguage: %s\n", p.language(""))
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			return "", usage(fmt.Errorf("%s holds a %s already; name another folder", dir, name))
		}
		if err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		_, err = f.Write(data)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
	}
	return dir, nil
}

// demo is a demo under way.
type demo struct {
	p      *program
	clock  *sched.Fast
	screen *screen
	cloud  *sim.Cloud
	shown  string
}

// demoEvening is an evening whose night is over.
func demoEvening(now time.Time) time.Time {
	year, month, day := now.Add(-demoDawn).Date()
	at := time.Date(year, month, day, demoBegins, 0, 0, 0, now.Location())
	if at.Add(demoDawn).After(now) {
		at = time.Date(year, month, day-1, demoBegins, 0, 0, 0, now.Location())
	}
	return at
}

// before gives what is left to wait for: a time.
func (d *demo) before(t time.Time) func(context.Context, *app.App) ([]string, error) {
	return func(context.Context, *app.App) ([]string, error) {
		if d.clock.Now().Before(t) {
			return []string{"the night is not over"}, nil
		}
		return nil, nil
	}
}

// watch shows the table until nothing is left to wait for and gives what is when the
// time is over, or why the daemon ended.
func (d *demo) watch(ctx context.Context, a *app.App, ended chan error, longest time.Duration, what func(context.Context, *app.App) ([]string, error)) (left []string, err error) {
	over := time.NewTimer(longest)
	defer over.Stop()
	tick := time.NewTicker(demoRefresh)
	defer tick.Stop()
	for quiet := 0; ; {
		if err := d.show(ctx, a); err != nil {
			return nil, err
		}
		left, err = what(ctx, a)
		if err != nil {
			return left, err
		}
		if len(left) > 0 {
			quiet = 0
		} else if quiet++; quiet > 1 { // the last notices are out, too
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return left, nil
		case err := <-ended:
			ended <- nil
			return left, err
		case <-over.C:
			return left, nil
		case <-tick.C:
		}
	}
}

// unsettled names what has not come to its end.
func (d *demo) unsettled(ctx context.Context, a *app.App) (left []string, err error) {
	for id, want := range demoEnds() {
		if is := d.cloud.State(id); is != want {
			left = append(left, fmt.Sprintf("%s is %s and should be %s", id, is, want))
		}
	}
	slices.Sort(left)
	s, err := a.Status(ctx)
	if ctx.Err() != nil {
		return left, nil //nolint:nilerr // the demo was ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	if s.OpenActs > 0 {
		left = append(left, fmt.Sprintf("%d acts are open", s.OpenActs))
	}
	return left, nil
}

// show puts the table on the screen. Where the screen is none, it is printed only
// when something in it changed.
func (d *demo) show(ctx context.Context, a *app.App) error {
	l, err := a.List(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the demo was ended meanwhile
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	g := d.p.page(l.Now)
	g.w = &b
	fmt.Fprintln(&b, g.r.In(l.Now).Format(time.DateTime))
	g.table(0, g.instances(l.Items))
	if !d.p.tables {
		var now strings.Builder
		for _, i := range l.Items {
			fmt.Fprintln(&now, i.Instance.Ref, i.Instance.State, i.Activity.Activity, i.Action, i.Reason.Code, i.Intent != nil)
		}
		if now.String() == d.shown {
			return nil
		}
		d.shown = now.String()
	}
	d.screen.table(b.String())
	return nil
}
