package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/internal/setup"
	"curfew/internal/text"
)

func (p *program) initCommand() *cobra.Command {
	o := initOptions{}
	c := &cobra.Command{
		Use: "init", Short: "Ask a few questions and write a configuration",
		Long: `init finds the accounts whose tokens are in the environment, asks for others,
reads them, tries a channel, and writes a commented configuration in dry-run whose
policy stops an instance after its training run. Tokens go into files of their own
that only you can read.

With --box it sets up a guard for the machine it runs in, from inside. It knows
some platforms by their marks, and asks for what it does not know.

Answers are read a line each, so they can be piped. Nothing is written before the
last answer, and what is there already stays as it is: init is safe to run twice.`,
		Example: "  curfew init\n  curfew init --box",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return p.setUp(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.box, "box", false, "guard the machine that curfew runs in, from inside")
	c.Flags().BoolVar(&o.yes, "yes", false, "take every default and ask nothing; fail where there is none")
	c.Flags().StringVar(&o.root, "root", "/", "where the machine's root `FOLDER` is, for tests")
	c.Flags().StringToStringVar(&o.baseURLs, "base-url", nil, "other addresses for kinds of platforms and channels, `KIND=URL`, for tests")
	for _, name := range []string{"root", "base-url"} {
		c.Flags().Lookup(name).Hidden = true
	}
	return c
}

// initOptions are the flags of init.
type initOptions struct {
	box, yes bool
	root     string
	baseURLs map[string]string
}

// initializer is one run of init. Until its end it holds in memory what will be
// written.
type initializer struct {
	*program
	initOptions
	talk    *talk
	machine setup.Machine
	file    string // to be written
	aside   string // the configuration that is there already and stays; empty: none
	plan    setup.Plan
	secrets map[string]string // that were typed, by the path of their file
	found   map[string]int    // how many instances an account has
}

func (p *program) setUp(ctx context.Context, o initOptions) error {
	render, err := text.New(p.language(""), time.Local)
	if err != nil {
		return err
	}
	p.render = render
	i := &initializer{
		program: p, initOptions: o, talk: newTalk(p, o.yes),
		machine: setup.Machine{Root: os.DirFS(o.root), Env: p.lookupEnv},
		secrets: map[string]string{}, found: map[string]int{},
	}
	err = i.run(ctx)
	if errors.Is(err, errLeft) || ctx.Err() != nil {
		p.note(wordLeft, nil)
		return &exitError{code: exitFailed}
	}
	return i.redacted(err)
}

func (i *initializer) run(ctx context.Context) error {
	exists, err := i.place()
	if err != nil {
		return err
	}
	if exists {
		if goOn, err := i.again(ctx); err != nil || !goOn {
			return err
		}
	}
	i.plan = setup.Plan{State: i.state(), Names: setup.DefaultNames, Process: setup.DefaultProcess}
	inside, err := i.inside(ctx)
	if err != nil {
		return err
	}
	if inside {
		err = i.guardBox(ctx)
	} else {
		err = i.guardAccounts(ctx)
	}
	if err != nil {
		return err
	}
	if err := i.tellSomewhere(ctx); err != nil {
		return err
	}
	return i.finish(ctx)
}

// place decides which file is written, and tells whether it is there already.
func (i *initializer) place() (exists bool, err error) {
	if i.program.file != "" {
		if i.file, err = filepath.Abs(i.program.file); err != nil {
			return false, err
		}
		return i.there(i.file)
	}
	home := i.env("HOME")
	for _, place := range config.Places(home) {
		if is, err := i.there(place); err == nil && is {
			i.file, err = filepath.Abs(place)
			return true, err
		}
	}
	if home == "" {
		return false, usage(told(failHome, nil))
	}
	i.file, err = filepath.Abs(filepath.Join(home, ".curfew", "curfew.yaml"))
	return false, err
}

func (i *initializer) there(file string) (bool, error) {
	_, err := os.Lstat(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// state is where the state goes: beside the configuration where nobody else looks,
// in a folder of its own where others can.
func (i *initializer) state() string {
	dir := filepath.Dir(i.file)
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 && filepath.Base(dir) != ownFolder {
		dir = filepath.Join(dir, "state")
	}
	return filepath.Join(dir, "curfew.db")
}

// ownFolder is curfew's folder in a home, which init may close to others.
const ownFolder = ".curfew"

// inside tells whether the machine is to be guarded from inside, and greets.
func (i *initializer) inside(ctx context.Context) (bool, error) {
	if i.box {
		i.talk.line(wordHelloBox, nil)
		return true, nil
	}
	i.talk.line(wordHello, nil)
	sight, seen := setup.Recognise(i.machine)
	if !seen || !sight.Sure {
		return false, nil
	}
	return i.talk.confirm(ctx, fleet.Because(wordInside, fleet.Values{
		"platform": fleet.Text(sight.Platform.Title), "marks": fleet.Text(marks(sight)),
	}), setup.Yes)
}

func marks(s setup.Sight) string {
	var names []string
	for _, m := range s.Marks {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// The answers to what to do about something that is there, or does not work.
const (
	answerLeave  = "leave"
	answerNew    = "new"
	answerTest   = "test"
	answerRetype = "again"
	answerOther  = "other"
	answerKeep   = "keep"
	answerNone   = "none"
	answerTake   = "take"
)

// again is about a configuration that is there already: it is checked, shown and
// left alone. Going on is to write another beside it.
func (i *initializer) again(ctx context.Context) (goOn bool, err error) {
	i.talk.line(wordExists, fleet.Values{"file": fleet.Text(i.file)})
	i.program.file = i.file
	bad := i.check(ctx, false)
	beside := i.freeFile(i.file + ".new")
	options := []setup.Option{
		{Name: answerLeave, Text: i.talk.say(wordLeave, nil)},
		{Name: answerNew, Text: i.talk.say(wordWriteNew, fleet.Values{"file": fleet.Text(beside)})},
	}
	var channels []string
	if bad == nil {
		for _, c := range i.cfg.Notify.Channels {
			channels = append(channels, c.Name)
		}
	}
	if len(channels) > 0 {
		options = append(options, setup.Option{
			Name: answerTest, Text: i.talk.say(wordTestAgain, fleet.Values{"channel": fleet.Text(strings.Join(channels, ", "))}),
		})
	}
	answer, err := i.talk.ask(ctx, setup.Question{Ask: fleet.Because(wordWhatNow, nil), Options: options, Default: answerLeave})
	switch {
	case err != nil:
		return false, err
	case answer == answerNew:
		i.aside, i.file = i.file, beside
		return true, nil
	case answer == answerTest:
		for _, name := range channels {
			bad = errors.Join(bad, i.notifyTest(ctx, name, sampleFlags{event: eventTest}))
		}
	}
	return false, bad
}

// freeFile gives the path, or one like it that is not taken.
func (i *initializer) freeFile(path string) string {
	for n := 2; ; n++ {
		_, typed := i.secrets[path]
		if _, err := os.Lstat(path); err != nil && !typed {
			return path
		}
		base := path
		if n > 2 {
			base = strings.TrimSuffix(path, fmt.Sprintf("-%d", n-1))
		}
		path = fmt.Sprintf("%s-%d", base, n)
	}
}

// draft is the configuration as far as it is answered, with this account or
// channel in it.
func (i *initializer) draft(plan setup.Plan) (*config.Config, error) {
	if plan.Zone == "" {
		plan.Zone = "UTC"
	}
	return config.Parse(i.file, []byte(plan.YAML(i.render)), registry())
}

// trier opens what a draft names, with the secrets that are not written yet.
func (i *initializer) trier() *app.Opener {
	o := i.opener()
	o.Out = i.talk.w()
	o.ReadFile = func(path string) ([]byte, error) {
		if s, ok := i.secrets[path]; ok {
			return []byte(s), nil
		}
		return secretFile(path)
	}
	return o
}

// redacted takes every typed secret out of an error.
func (i *initializer) redacted(err error) error {
	if err == nil {
		return nil
	}
	said := i.errorText(err)
	s := i.clean(said)
	if s == said {
		return err
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok {
		return errors.New(s)
	}
	return &exitError{code: exit.code, err: errors.New(s)}
}

// clean takes every typed secret out of a text.
func (i *initializer) clean(s string) string {
	for _, secret := range i.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// taken reports whether an account of this name is in the plan.
func (i *initializer) taken(name string) bool {
	return slices.ContainsFunc(i.plan.Accounts, func(a setup.Account) bool { return a.Name == name })
}
