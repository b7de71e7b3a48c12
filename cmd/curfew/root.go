package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/text"
	channels "curfew/notify/all"
	platforms "curfew/providers/all"
	"curfew/providers/machines"
)

// The exit codes.
const (
	exitFine    = 0
	exitFailed  = 1
	exitUsage   = 2 // or a bad configuration
	exitPartly  = 3
	exitPending = 4 // plan: something would be done; apply: something waits
)

// exitError ends the program with a code. Without a cause nothing is printed: it
// was said already.
type exitError struct {
	code int
	err  error
}

// Error gives the cause.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

// Unwrap gives the cause.
func (e *exitError) Unwrap() error { return e.err }

func usage(err error) error { return &exitError{exitUsage, err} }

// program is one invocation.
type program struct {
	system
	file, lang string // flags
	asJSON     bool
	began      bool // arguments and flags were understood

	cfg    *config.Config // once it was asked for
	render *text.Renderer
}

// run runs the command that the arguments name and gives the exit code.
func run(ctx context.Context, s system) int {
	p := &program{system: s}
	root := p.root()
	root.SetArgs(s.args)
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitFine
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok {
		exit = &exitError{exitFailed, err}
		if !p.began {
			exit = &exitError{exitUsage, misnamed(root, err)}
		}
	}
	if problems, ok := errors.AsType[*config.Problems](exit.err); ok {
		fmt.Fprintln(s.stderr, problems) // as editors know them: file:line:col first
		p.countProblems(*problems)
	} else if exit.err != nil {
		fmt.Fprintln(s.stderr, "curfew: "+p.errorText(exit.err))
	}
	if !ok && !p.began {
		p.note(failHelp, nil)
	}
	return exit.code
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "curfew",
		Short: "Stops rented GPU instances when their work is done",
		Long: `curfew watches rented GPU instances and stops or releases them when their work
is done, after it has told you and looked again. It never acts on what it does
not know.

Try it without any account:
  curfew demo

Then write a configuration, check it, and let it run:
  curfew check
  curfew run`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains([]string{"", "en", "zh"}, p.lang) {
				return told(failLanguage, fleet.Values{"lang": fleet.Text(p.lang)})
			}
			p.began = true
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.file, "config", "", "the configuration `FILE` (default: ./curfew.yaml, ~/.curfew/curfew.yaml, /etc/curfew/curfew.yaml)")
	flags.BoolVar(&p.asJSON, "json", false, "print the answer as JSON")
	flags.StringVar(&p.lang, "lang", "", "language of the output: en or zh (default: the configuration's, then LANG)")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		p.initCommand(), p.runCommand(), p.execCommand(), p.guardCommand(), p.demoCommand(), p.checkCommand(), p.planCommand(), p.applyCommand(), p.explainCommand(), p.acceptMachineCommand(), p.listCommand(), p.estimateCommand(), p.costCommand(),
		p.holdCommand(), p.ackCommand(), p.approveCommand(), p.actCommand("stop"), p.actCommand("start"), p.actCommand("release"),
		p.schemaCommand(), p.doctorCommand(), p.journalCommand(), p.reloadCommand(), p.forgetCommand(), p.pingURLCommand(), p.notifyCommand(), p.versionCommand(),
	)
	tellUsage(root)
	return root
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Example: "  curfew version",
		RunE: func(*cobra.Command, []string) error {
			if p.asJSON {
				return p.writeJSON(map[string]string{"version": version})
			}
			fmt.Fprintln(p.stdout, "curfew", version)
			return nil
		},
	}
}

// registry is what the program can talk to.
func registry() config.Registry {
	kinds := platforms.Kinds()
	for n := range kinds {
		if own := machines.KindAt(proc); kinds[n].Name == own.Name {
			kinds[n] = own
		}
	}
	return config.Registry{Providers: kinds, Channels: channels.Kinds(), Zone: time.Local}
}

// load reads the configuration. What is wrong with it ends the program with 2.
func (p *program) load() (*config.Config, error) {
	return config.Load(p.file, p.env("HOME"), registry())
}

// configured loads the configuration once, and with it the language.
func (p *program) configured() (*config.Config, error) {
	if p.cfg != nil {
		return p.cfg, nil
	}
	cfg, err := p.load()
	if err != nil {
		return nil, badConfig(err)
	}
	p.cfg = cfg
	p.render, err = text.New(p.language(cfg.Language), cfg.Timezone)
	return cfg, err
}

// badConfig marks errors of the configuration file.
func badConfig(err error) error {
	if _, ok := errors.AsType[*config.Problems](err); ok || errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	}
	return err
}

// language is what the reader understands: as the flag says, else the file, else
// the environment.
func (p *program) language(file text.Language) text.Language {
	if l := text.Language(p.lang); l == text.English || l == text.Chinese {
		return l
	}
	if file != "" {
		return file
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := p.env(name); v != "" {
			if strings.HasPrefix(v, "zh") {
				return text.Chinese
			}
			break
		}
	}
	return text.English
}

// secretFile reads a file that holds a secret.
func secretFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (p *program) writeJSON(v any) error {
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
