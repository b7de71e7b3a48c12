package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"os/user"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/boxrun"
	"curfew/internal/text"
)

// What exec says.
const (
	wordExecGuarded    fleet.Code = "exec.guarded"
	wordExecWaits      fleet.Code = "exec.waits"
	wordExecNotStarted fleet.Code = "exec.not-started"
	wordExecNoFile     fleet.Code = "exec.no-file"
	wordExecNoEnd      fleet.Code = "exec.no-end"
	wordExecNoPing     fleet.Code = "exec.no-ping"
	wordExecStaysOn    fleet.Code = "exec.stays-on"
)

// pingVariable holds the address of the ping where no flag does.
const pingVariable = "CURFEW_PING_URL"

// job is one run of exec.
type job struct {
	*program
	then, name, ping, log string // flags
	home                  string
	pinger                *boxrun.Pinger
	record                *boxrun.File // nil where it could not be written
	keeps                 *keeper      // nil without --then stop
}

func (p *program) execCommand() *cobra.Command {
	j := &job{program: p}
	c := &cobra.Command{
		Use: "exec [--then stop] [flags] -- COMMAND [ARGUMENT]...", Short: "Run a training in this machine, and have it stopped afterwards",
		Long: `exec runs a command with the terminal it was given itself, notes in
~/.curfew/runs when it began and how it ended, and ends with its exit code. Where a
policy looks at this machine, it then knows of the run and how it went.

With --then stop the machine is stopped after the run, whoever is at home: exec
starts a guard that outlives it and the terminal, announces the stop in the
configured channels, waits, looks again, and powers off. That needs a configuration
with this machine in it, such as curfew init --box writes; whatever is missing is
told before the command starts. A run that is started later without --then stop
takes the wish back.

With an address of a ping (--ping-url or ` + pingVariable + `) it also sends that the
run begins, and how it ended.`,
		Example: "  curfew exec --then stop -- python train.py --epochs 3\n" +
			"  nohup curfew exec --then stop --name llama -- python -u train.py >train.log 2>&1 &",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return j.run(c.Context(), args) },
	}
	flags := c.Flags()
	flags.SetInterspersed(false) // what follows the command's name is the command's
	flags.StringVar(&j.then, "then", "", "what happens after the run: `stop` powers this machine off")
	flags.StringVar(&j.name, "name", "", "what the run is called in messages (default: the name of its script)")
	flags.StringVar(&j.ping, "ping-url", "", "the `URL` to ping (default: "+pingVariable+")")
	flags.StringVar(&j.log, "log", "", "the `FILE` whose last lines are told with the end (default: standard output, where that is a file)")
	return c
}

func (j *job) run(ctx context.Context, args []string) (err error) {
	if j.then != "" && j.then != fleet.ThenStop {
		return usage(fmt.Errorf("--then %s: it is stop, or left out", j.then))
	}
	if j.render, err = text.New(j.language(""), time.Local); err != nil {
		return err
	}
	// Nobody may be reading what is said: that ends neither this nor the run. Unlike a
	// signal that is ignored, one that is listened for is not ignored by the command.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	path, code, err := boxrun.Find(args[0])
	if err != nil {
		return &exitError{code, err}
	}
	if j.name == "" {
		j.name = boxrun.Name(args)
	}
	j.home = j.homeDir()
	if err := j.openPinger(); err != nil {
		return err
	}
	for _, s := range j.ignored {
		signal.Ignore(s) // nohup said so, or a shell: the command inherits it
	}
	if err := j.begin(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil { // somebody wanted an end before there was a beginning
		return j.notBegun(&exitError{code: exitInterrupted})
	}
	log := boxrun.Watch(j.log, os.Stdout)
	child, err := boxrun.Start(path, args)
	if err != nil {
		return j.notBegun(&exitError{boxrun.NotRunnable, fmt.Errorf("%s: %w", args[0], err)})
	}
	ctx = context.WithoutCancel(ctx) // what ends the command ends it, and what is to be told of that is told
	if j.pinger != nil {
		j.pinger.Begin(ctx)
	}
	if j.record != nil {
		if err := j.record.Began(child.PID()); err != nil {
			j.tell(wordExecNoFile, fleet.Values{"error": fleet.Text(err.Error())})
		}
	}
	code = child.Wait()
	j.end(ctx, code, log.Said())
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// begin makes sure of the guard, where one was asked for, and notes the beginning
// of the run. Without --then stop nothing keeps the run from starting.
func (j *job) begin(ctx context.Context) (err error) {
	if j.then != "" {
		if j.keeps, err = j.keeper(ctx); err != nil {
			return err
		}
		if err := j.keeps.ensure(ctx); err != nil {
			return err
		}
		// Said before the run is noted: whatever ends this program by then leaves no
		// wish behind.
		j.keeps.promise()
	}
	j.record, err = boxrun.Create(j.home, j.name, j.then, j.now())
	switch {
	case err != nil && j.then != "":
		return j.notStarted(exitFailed, fleet.Text(err.Error()))
	case err != nil:
		j.tell(wordExecNoFile, fleet.Values{"error": fleet.Text(err.Error())})
	case j.keeps != nil:
		// A guard without anything to mind may have ended just before the run was
		// noted; from now on none does.
		if err := j.keeps.ensure(ctx); err != nil {
			return j.notBegun(err)
		}
	}
	return nil
}

// end notes how the run went, and tells of it. Nothing that fails in it is a failure
// of the run.
func (j *job) end(ctx context.Context, code int, said string) {
	if j.record != nil {
		if err := j.record.End(code, said, j.now()); err != nil {
			j.tell(wordExecNoEnd, fleet.Values{"error": fleet.Text(err.Error())})
		}
	}
	if j.keeps != nil {
		j.keeps.over = true
		_ = j.keeps.ensure(ctx) // whoever would keep the promise may have ended meanwhile; it is told
	}
	if j.pinger != nil {
		if err := j.pinger.End(ctx, code, said); err != nil {
			j.tell(wordExecNoPing, fleet.Values{"error": fleet.Text(err.Error())})
		}
	}
}

// notBegun takes back what was noted of a run that does not begin after all.
func (j *job) notBegun(err error) error {
	if j.record == nil {
		return err
	}
	return errors.Join(err, j.record.Remove())
}

func (j *job) openPinger() (err error) {
	address, flagged := j.ping, j.ping != ""
	if !flagged {
		address = j.env(pingVariable)
	}
	if address == "" {
		return nil
	}
	j.pinger, err = boxrun.NewPinger(address, &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	switch {
	case err != nil && flagged:
		return usage(err)
	case err != nil: // left in the environment by somebody
		j.tell(wordExecNoPing, fleet.Values{"error": fleet.Text(err.Error())})
	}
	return nil
}

// tell says something in a line on stderr: stdout is the command's own.
func (j *job) tell(code fleet.Code, v fleet.Values) {
	fmt.Fprintln(j.stderr, "curfew: "+j.render.Reason(fleet.Because(code, v), j.now()))
}

// notStarted says why the command is not started, and ends the program with a code.
func (j *job) notStarted(code int, whys ...fleet.Value) error {
	for _, why := range whys {
		j.tell(wordExecNotStarted, fleet.Values{"why": why})
	}
	return &exitError{code: code}
}

// homeDir is where the run files are: where a look of the same user finds them.
func (p *program) homeDir() string {
	if home := p.env("HOME"); home != "" {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
