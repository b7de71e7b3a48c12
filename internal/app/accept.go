package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/accept"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/store"
	sshsignal "curfew/signals/ssh"
)

// What is said of a bootstrap beside its end.
const (
	ReasonBootstrapped       fleet.Code = "app.bootstrapped"
	ReasonBootstrapDryRun    fleet.Code = "app.bootstrap-dry-run"
	ReasonBootstrapRefused   fleet.Code = "app.bootstrap-refused"
	ReasonBootstrappedBefore fleet.Code = "app.bootstrap-before"
)

// ReasonUnexamined is what is kept of a machine that was prepared, and then could not be
// examined.
const ReasonUnexamined fleet.Code = "app.unexamined"

const (
	// acceptancesShown is how many results of a machine people are shown.
	acceptancesShown = 3
	// bootLogsKept is how many logs of bootstraps are kept.
	bootLogsKept = 50
)

// Examiner examines and prepares machines, from inside them.
type Examiner interface {
	// Examine and Bootstrap give an error where ctx ended first; Examine also where
	// nothing could be measured.
	Examine(ctx context.Context, i fleet.Instance, t accept.Thresholds) (accept.Report, error)
	Bootstrap(ctx context.Context, i fleet.Instance, b accept.Bootstrap) (accept.Booted, error)
}

// AcceptMachine prepares a machine if it is asked to, examines it, and keeps the result.
func (a *App) AcceptMachine(ctx context.Context, r ctl.AcceptRequest) (ctl.AcceptAnswer, error) {
	ctx, stop := a.whileItRuns(ctx)
	defer stop()
	rt := a.runtime()
	i, err := a.findInstance(r.Name)
	if err != nil {
		return ctl.AcceptAnswer{}, err
	}
	if i.State != fleet.StateRunning {
		return ctl.AcceptAnswer{}, fmt.Errorf("%s is %s; only what runs can be examined, so start it first", i.DisplayName(), i.State)
	}
	if err := a.beginAccept(i.Ref); err != nil {
		return ctl.AcceptAnswer{}, err
	}
	defer a.endAccept(i.Ref)
	opener := &Opener{LookupEnv: a.o.LookupEnv, ReadFile: a.o.ReadFile}
	x := a.o.Examiner
	if x == nil {
		if x, err = opener.Examiner(rt.cfg.Signals, sshsignal.Options{Access: a.access, Now: a.clock.Now, Pins: pins{a}}); err != nil {
			return ctl.AcceptAnswer{}, fmt.Errorf("log in to examine: %w", err)
		}
	}
	out := fleet.Acceptance{
		Ref: i.Ref, Boot: i.Boot, By: r.By, At: a.clock.Now(), Provider: i.Provider, Region: i.Region, GPU: i.GPU.Model,
	}
	log := a.log.With().Str("instance", i.Ref.String()).Logger()
	log.Info().Str("by", r.By).Msg("examination begins")
	var told accept.Result
	if out.Bootstrap, err = a.bootstrap(ctx, rt, opener, x, i, r.Bootstrap, &told); err != nil {
		return ctl.AcceptAnswer{}, err
	}
	report, err := x.Examine(ctx, i, rt.cfg.Accept.Thresholds)
	if err != nil {
		return ctl.AcceptAnswer{}, a.unexamined(ctx, i, out, told, err)
	}
	res := accept.Judge(report, i.GPU, rt.cfg.Accept.Thresholds)
	out.Passed, out.Fails = append(told.Passed, res.Passed...), append(told.Fails, res.Fails...)
	out.Warnings, out.Unknown = append(told.Warnings, res.Warnings...), res.Unknown
	out.Accepted, out.Measured = len(out.Fails) == 0, report.Figures()
	if err := a.saveAcceptance(ctx, &out); err != nil {
		return ctl.AcceptAnswer{}, err
	}
	log.Info().Bool("accepted", out.Accepted).Int("fails", len(out.Fails)).Int("warnings", len(out.Warnings)).Int("unknown", len(out.Unknown)).
		Msg("examination is over")
	return ctl.AcceptAnswer{Now: a.clock.Now(), Instance: i, Acceptance: out}, nil
}

// unexamined keeps that a machine was prepared, which is done once in each boot, although
// it could not be examined; also where ctx ended. It gives the error of the examination.
func (a *App) unexamined(ctx context.Context, i fleet.Instance, out fleet.Acceptance, told accept.Result, err error) error {
	out.Passed, out.Warnings = told.Passed, told.Warnings
	out.Fails = append(told.Fails, fleet.Because(ReasonUnexamined, fleet.Values{"error": fleet.Text(err.Error())}))
	err = fmt.Errorf("%s cannot be examined: %w", i.DisplayName(), err)
	if out.Bootstrap == nil {
		return err
	}
	if file := out.Bootstrap.Log; file != "" {
		err = fmt.Errorf("%w (the bootstrap's output is in %s)", err, file)
	}
	return errors.Join(err, a.saveAcceptance(context.WithoutCancel(ctx), &out))
}

func (a *App) saveAcceptance(ctx context.Context, out *fleet.Acceptance) error {
	return a.store.Update(ctx, func(tx *store.Tx) error { return tx.SaveAcceptance(out) })
}

// whileItRuns gives a context that ends with the daemon, too, which waits for nobody that
// examines.
func (a *App) whileItRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	a.mu.Lock()
	over := a.over
	a.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	go func() {
		select {
		case <-over:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// beginAccept lets one examination of a machine go on at a time: two would measure each
// other.
func (a *App) beginAccept(ref fleet.Ref) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.examining[ref] {
		return fmt.Errorf("%s is being examined already; wait for that, curfew explain shows the result", ref)
	}
	if a.examining == nil {
		a.examining = map[fleet.Ref]bool{}
	}
	a.examining[ref] = true
	return nil
}

func (a *App) endAccept(ref fleet.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.examining, ref)
}

// bootstrap runs the script that was named, or the configuration's where it was not run
// in this boot yet, and keeps its output. Nothing is run in a dry run, nor inside what is
// protected or held: what was named is refused then. nil: none was run.
func (a *App) bootstrap(
	ctx context.Context, rt *runtime, opener *Opener, x Examiner, i fleet.Instance, named string, told *accept.Result,
) (*fleet.Bootstrapped, error) {
	entry := rt.cfg.Accept.Bootstrap
	if named == "" && entry.Run == "" && entry.File == "" {
		return nil, nil
	}
	dry := !fleet.Enforcing(rt.accountMode(i.Ref))
	switch {
	case dry && named != "":
		return nil, fmt.Errorf("the bootstrap of %s is not run in a dry run; write mode: enforce, or leave --bootstrap out", i.DisplayName())
	case dry:
		told.Warnings = append(told.Warnings, fleet.Because(ReasonBootstrapDryRun, nil))
		return nil, nil
	case named == "":
		at, err := a.bootstrappedAt(ctx, i)
		if err != nil {
			return nil, err
		}
		if !at.IsZero() {
			told.Passed = append(told.Passed, fleet.Because(ReasonBootstrappedBefore, fleet.Values{"at": fleet.Moment(at)}))
			return nil, nil
		}
	}
	why, err := a.handsOff(ctx, rt, i)
	switch {
	case err != nil:
		return nil, err
	case !why.IsZero() && named != "":
		return nil, fmt.Errorf("the bootstrap of %s is not run: %s; leave --bootstrap out to examine it alone", i.DisplayName(), rt.render.Reason(why, a.clock.Now()))
	case !why.IsZero():
		told.Warnings = append(told.Warnings, fleet.Because(ReasonBootstrapRefused, fleet.Values{"why": fleet.Nested(why)}))
		return nil, nil
	}
	b, err := a.script(entry, opener, named)
	if err != nil {
		return nil, err
	}
	began := a.clock.Now()
	done, err := x.Bootstrap(ctx, i, b)
	if err != nil {
		return nil, err
	}
	if done.OK {
		told.Passed = append(told.Passed, fleet.Because(ReasonBootstrapped, fleet.Values{"took": fleet.Span(done.Took.Round(time.Second))}))
	} else {
		told.Fails = append(told.Fails, done.Why)
	}
	if done.Bootstrapped.Log, err = a.keepBootLog(i, began, done.Log); err != nil {
		a.log.Warn().Err(err).Str("instance", i.Ref.String()).Msg("the bootstrap's output is not kept")
	}
	return &done.Bootstrapped, nil
}

// script is what was named, or the configuration's, with its secrets.
func (a *App) script(entry config.Bootstrap, opener *Opener, named string) (accept.Bootstrap, error) {
	b := accept.Bootstrap{Script: cmp.Or(named, entry.Run), Timeout: entry.Timeout}
	if b.Script == "" {
		text, err := a.o.ReadFile(entry.File)
		if err != nil {
			return b, fmt.Errorf("read the bootstrap script: %w", err)
		}
		b.Script = string(text)
	}
	var err error
	if b.Secrets, err = opener.read(entry.Secrets); err != nil {
		return b, fmt.Errorf("accept.bootstrap.secrets: %w", err)
	}
	return b, b.Check()
}

// handsOff says why a machine is not to be touched: it is protected, or held.
func (a *App) handsOff(ctx context.Context, rt *runtime, i fleet.Instance) (fleet.Reason, error) {
	now := a.clock.Now()
	holds, err := a.store.Holds(ctx, now)
	if err != nil {
		return fleet.Reason{}, err
	}
	no, _ := find(guard.Ask(guard.Chain(), guard.Input{
		Now: now, Thing: i, Protected: a.protected(rt, i), Holds: holdsOf(holds, i.Ref), BoxHold: a.boxHold(i),
	}), func(r guard.Ruling) bool {
		return (r.Check == "protection" || r.Check == "hold") && r.Answer != guard.Allow
	})
	return no.Reason, nil
}

// bootstrappedAt tells when a bootstrap ended well in this boot; zero: not yet, or that
// cannot be told.
func (a *App) bootstrappedAt(ctx context.Context, i fleet.Instance) (time.Time, error) {
	if i.Boot == "" {
		return time.Time{}, nil
	}
	before, err := a.store.AcceptancesIn(ctx, i.Ref, i.Boot)
	if err != nil {
		return time.Time{}, err
	}
	for _, b := range before {
		if b.Bootstrap != nil && b.Bootstrap.OK {
			return b.At, nil
		}
	}
	return time.Time{}, nil
}

// keepBootLog writes what a bootstrap said beside the state, and drops the oldest of
// such files. It gives the file's name; "" where there was nothing to write.
func (a *App) keepBootLog(i fleet.Instance, at time.Time, text []byte) (string, error) {
	state, ok := strings.CutPrefix(a.runtime().cfg.State, "sqlite:")
	if !ok || len(text) == 0 {
		return "", nil
	}
	dir := filepath.Join(filepath.Dir(state), "bootstrap")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the bootstrap's log: %w", err)
	}
	name := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, i.Ref.ID)
	file := filepath.Join(dir, at.UTC().Format("20060102T150405.000Z")+"-"+name[:min(len(name), 80)]+".log")
	err := os.WriteFile(file, text, 0o600)
	if err != nil {
		return "", fmt.Errorf("keep the bootstrap's log: %w", err)
	}
	return file, dropBootLogs(dir)
}

// dropBootLogs drops all but the newest logs. Their names begin with their time.
func dropBootLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*Z-*.log"))
	if err != nil {
		return err
	}
	slices.Sort(logs)
	var errs []error
	for _, old := range logs[:max(0, len(logs)-bootLogsKept)] {
		errs = append(errs, os.Remove(old))
	}
	return errors.Join(errs...)
}
