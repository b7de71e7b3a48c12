package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/boxrun"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/sched"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/policies"
)

// Why a stop after the run cannot be promised.
const (
	whyExecNoConfig  fleet.Code = "exec.no-config"
	whyExecBadConfig fleet.Code = "exec.bad-config"
	whyExecNoMachine fleet.Code = "exec.no-machine"
	whyExecNoStop    fleet.Code = "exec.no-stop"
	whyExecNotWorth  fleet.Code = "exec.not-worth"
	whyExecLosesData fleet.Code = "exec.loses-data"
	whyExecPeriod    fleet.Code = "exec.period"
	whyExecProtected fleet.Code = "exec.protected"
	whyExecNoChannel fleet.Code = "exec.no-channel"
	whyExecConsole   fleet.Code = "exec.only-console"
	whyExecNoRoom    fleet.Code = "exec.no-room"
	whyExecDryRun    fleet.Code = "exec.daemon-dry-run"
	whyExecBlind     fleet.Code = "exec.daemon-blind"
	whyExecOtherHome fleet.Code = "exec.daemon-home"
	whyExecStrange   fleet.Code = "exec.daemon-strange"
	whyExecNoGuard   fleet.Code = "exec.guard-failed"
)

// How long exec waits for a guard, and what it says when.
const (
	guardPatience = 20 * time.Second
	guardSilence  = 2 * time.Second
	guardPause    = 50 * time.Millisecond
	guardGoodbye  = 2 * time.Second
	guardLogMax   = 1 << 20
)

// guardRoom is how much must be free where the guard writes: what it cannot write it
// does not do.
const guardRoom = 16 << 20

// keeper sees to it that somebody keeps the promise of --then stop: the daemon that
// runs here, or a guard that is started.
type keeper struct {
	*job
	cfg    *config.Config
	client *ctl.Client
	guard  *os.Process   // started here; nil: none was needed
	gone   chan struct{} // closed when it has ended
	log    string        // of the guard
	from   int64         // where in the log its words begin
	room   func(folder string) (uint64, error)
	over   bool // the run is
}

// keeper checks that a stop after the run can be promised at all. Whatever is
// missing is told, all at once.
func (j *job) keeper(ctx context.Context) (*keeper, error) {
	own := filepath.Join(j.home, ".curfew", "curfew.yaml")
	if j.file == "" {
		if _, err := os.Stat(own); err == nil {
			j.file = own
		}
	}
	cfg, err := j.load()
	if problems, ok := errors.AsType[*config.Problems](err); ok {
		return nil, j.notStarted(exitUsage, because(whyExecBadConfig, fleet.Values{"problems": fleet.Text(problems.Error())}))
	}
	if errors.Is(err, fs.ErrNotExist) {
		place := own
		if j.file != "" {
			place = j.file
		}
		return nil, j.notStarted(exitUsage, because(whyExecNoConfig, fleet.Values{"file": fleet.Text(place)}))
	}
	if err != nil {
		return nil, j.notStarted(exitFailed, fleet.Text(err.Error()))
	}
	if j.render, err = text.New(j.language(cfg.Language), cfg.Timezone); err != nil {
		return nil, err
	}
	if cfg.File, err = filepath.Abs(cfg.File); err != nil {
		return nil, err
	}
	if missing := missing(cfg); len(missing) > 0 {
		return nil, j.notStarted(exitUsage, missing...)
	}
	k := &keeper{
		job: j, cfg: cfg, client: ctl.NewClient(ctl.SocketPath(cfg.State)), log: filepath.Join(j.home, ".curfew", "guard.log"),
		room: boxrun.Room,
	}
	if full := k.full(); len(full) > 0 {
		return nil, j.notStarted(exitFailed, full...)
	}
	return k, ctx.Err()
}

// full tells where nothing more can be written: the state and the run files, without
// which no stop is made.
func (k *keeper) full() []fleet.Value {
	var out []fleet.Value
	for _, folder := range slices.Compact([]string{filepath.Dir(strings.TrimPrefix(k.cfg.State, "sqlite:")), filepath.Dir(k.log)}) {
		if free, err := k.room(folder); err == nil && free < guardRoom { // what does not tell is tried
			out = append(out, because(whyExecNoRoom, fleet.Values{
				"folder": fleet.Text(folder), "free": fleet.Number(float64(free >> 20)), "needed": fleet.Number(guardRoom >> 20),
			}))
		}
	}
	return out
}

// refuse says why the machine would not be stopped, and before the run that it is not
// started.
func (k *keeper) refuse(code int, whys ...fleet.Value) error {
	if !k.over {
		return k.notStarted(code, whys...)
	}
	_, m, _ := k.cfg.Local()
	for _, why := range whys {
		k.tell(wordExecStaysOn, fleet.Values{"machine": fleet.Text(m.Name), "why": why})
	}
	return &exitError{code: code}
}

func because(code fleet.Code, v fleet.Values) fleet.Value {
	return fleet.Nested(fleet.Because(code, v))
}

// missing lists what keeps the machine from being stopped after a run: what the
// guard would refuse, or nobody would hear of.
func missing(cfg *config.Config) []fleet.Value {
	file := fleet.Text(cfg.File)
	_, m, here := cfg.Local()
	if !here {
		return []fleet.Value{because(whyExecNoMachine, fleet.Values{"file": file})}
	}
	var out []fleet.Value
	v := func() fleet.Values { return fleet.Values{"file": file, "machine": fleet.Text(m.Name)} }
	if m.Stop == "" {
		out = append(out, because(whyExecNoStop, v()))
	}
	if m.OnStop.EndsBilling == fleet.No {
		out = append(out, because(whyExecNotWorth, v()))
	}
	if m.OnStop.KeepsData != fleet.KeepsAll {
		out = append(out, because(whyExecLosesData, v()))
	}
	if m.Charge.Type == fleet.ChargePeriod {
		out = append(out, because(whyExecPeriod, fleet.Values{"machine": fleet.Text(m.Name), "end": fleet.Moment(m.Charge.End)}))
	}
	if by := app.Protects(cfg, fleet.Instance{Name: m.Name, Labels: m.Labels}); !by.IsZero() {
		out = append(out, because(whyExecProtected, fleet.Values{"file": file, "machine": fleet.Text(m.Name), "by": fleet.Nested(by)}))
	}
	switch {
	case len(cfg.Notify.Channels) == 0:
		out = append(out, because(whyExecNoChannel, fleet.Values{"file": file}))
	case !reachesPeople(cfg.Notify):
		out = append(out, because(whyExecConsole, fleet.Values{"file": file}))
	}
	return out
}

// reachesPeople reports whether it is told of acts by another channel than the
// console: that of a guard is its log.
func reachesPeople(n config.Notify) bool {
	told := notify.Pick(n.Routes, notify.Notice{Category: fleet.CategoryAct}, nil)
	return slices.ContainsFunc(n.Channels, func(c config.Channel) bool {
		return c.Type != notify.ConsoleKind && slices.Contains(told, c.Name)
	})
}

// ensure makes sure that somebody answers who will stop the machine after the run,
// and starts a guard where nobody does.
func (k *keeper) ensure(ctx context.Context) error {
	clock := sched.Wall{}
	began, told, started := clock.Now(), false, false
	for {
		s, err := k.client.Status(ctx)
		switch {
		case err == nil:
			return k.judge(s)
		case ctx.Err() != nil:
			return &exitError{code: exitInterrupted}
		case !errors.Is(err, ctl.ErrNoDaemon) && (!hungUp(err) || clock.Now().Sub(began) > guardPatience):
			return k.refuse(exitFailed, fleet.Text(err.Error()))
		}
		waited := clock.Now().Sub(began)
		switch {
		case hungUp(err): // whoever answered is just ending: ask again
		case k.guard == nil, !started && k.ended(): // one of before may just have ended
			if err := k.start(); err != nil {
				return k.failed(err.Error())
			}
			started = true
		case k.ended():
			// It may have made way for one that came first.
			if s, err := k.client.Status(ctx); err == nil {
				return k.judge(s)
			}
			return k.failed("")
		case waited > guardPatience:
			k.dismiss(ctx)
			return k.failed("")
		case waited > guardSilence && !told && !k.over:
			told = true
			k.tell(wordExecWaits, nil)
		}
		if err := clock.Sleep(ctx, guardPause); err != nil {
			k.dismiss(context.WithoutCancel(ctx))
			return &exitError{code: exitInterrupted}
		}
	}
}

// hungUp reports whether somebody took the question and ended before the answer.
func hungUp(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// judge says why the one who answers would not stop the machine.
func (k *keeper) judge(s ctl.Status) error {
	file := fleet.Text(s.Config)
	_, m, _ := k.cfg.Local()
	switch {
	case s.Exec.Machine != m.Name:
		return k.refuse(exitUsage, because(whyExecStrange, fleet.Values{"file": file}))
	case s.Exec.Mode != fleet.Enforce:
		return k.refuse(exitUsage, because(whyExecDryRun, fleet.Values{"file": file}))
	case s.Exec.Home == "":
		return k.refuse(exitUsage, because(whyExecBlind, fleet.Values{"file": file}))
	case s.Exec.Home != k.home:
		return k.refuse(exitUsage, because(whyExecOtherHome, fleet.Values{"theirs": fleet.Text(s.Exec.Home), "ours": fleet.Text(k.home)}))
	}
	return nil
}

// start starts a guard that shares nothing with this terminal.
func (k *keeper) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := k.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	args := []string{filepath.Base(self), "guard", "--config", k.cfg.File}
	if k.lang != "" {
		args = append(args, "--lang", k.lang)
	}
	err = boxrun.Alone(func() (err error) {
		k.guard, err = os.StartProcess(self, args, &os.ProcAttr{
			Dir: "/", Files: []*os.File{nothing, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		return err
	})
	if k.guard == nil {
		return err
	}
	k.gone = make(chan struct{})
	go func() {
		defer close(k.gone)
		_, _ = k.guard.Wait() // so that it does not stay as a zombie beside a long run
	}()
	return nil
}

// openLog opens the guard's log to write behind what is there, and puts a long one
// aside.
func (k *keeper) openLog() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(k.log), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(k.log); err == nil && info.Size() > guardLogMax {
		if err := os.Rename(k.log, k.log+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(k.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	// A log that takes no line would not say either why the guard ends.
	_, err = fmt.Fprintf(f, "%s exec starts a guard for %s\n", k.now().Format(time.DateTime), k.name)
	if err == nil {
		k.from, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (k *keeper) ended() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// dismiss ends a guard that did not come up, so that it does not come up later and
// finds nothing to do, or half of it.
func (k *keeper) dismiss(ctx context.Context) {
	if k.guard == nil {
		return
	}
	_ = k.guard.Signal(syscall.SIGTERM) // it may be gone
	clock := sched.Wall{}
	for began := clock.Now(); !k.ended(); {
		if clock.Now().Sub(began) > guardGoodbye || clock.Sleep(ctx, guardPause) != nil {
			_ = k.guard.Kill()
			return
		}
	}
}

// failed says why the guard does not answer, by the end of its log.
func (k *keeper) failed(why string) error {
	v := fleet.Values{"file": fleet.Text(k.log), "error": fleet.Text(why)}
	if words := k.lastWords(); words != "" {
		v["log"] = fleet.Text(words)
	}
	return k.refuse(exitFailed, append(k.full(), because(whyExecNoGuard, v))...)
}

// lastWords gives the last lines that the guard has logged since it was started.
func (k *keeper) lastWords() string {
	const lines = 5
	f, err := os.Open(k.log)
	if err != nil || k.guard == nil {
		return ""
	}
	defer f.Close()
	said, err := io.ReadAll(io.NewSectionReader(f, k.from, guardLogMax))
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(string(said)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// promise says what will happen after the run.
func (k *keeper) promise() {
	p, _ := k.cfg.Exec()
	t, _ := p.Policy.(policies.Training)
	_, m, _ := k.cfg.Local()
	k.tell(wordExecGuarded, fleet.Values{
		"machine": fleet.Text(m.Name), "grace": fleet.Span(t.Grace), "warn": fleet.Span(p.Terms.WarnStop),
	})
}

// exitInterrupted is what a shell gives for a command ended by Ctrl-C.
const exitInterrupted = 130
