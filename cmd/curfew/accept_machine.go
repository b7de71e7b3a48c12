package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
)

// What is said of machines that are examined.
const (
	wordAcceptAsking   fleet.Code = "cli.accept.asking"
	wordAcceptAccepted fleet.Code = "cli.accept.accepted"
	wordAcceptRefused  fleet.Code = "cli.accept.refused"
	wordAcceptLog      fleet.Code = "cli.accept.log"
	wordAcceptGood     fleet.Code = "cli.accept.good"
	wordAcceptBad      fleet.Code = "cli.accept.bad"
	wordAcceptOdd      fleet.Code = "cli.accept.odd"
	wordAcceptDark     fleet.Code = "cli.accept.dark"
	wordAcceptSum      fleet.Code = "cli.accept.sum"
	partAccepted       fleet.Code = "cli.part.accepted"
)

// longestBootstrap is the most bytes that a script may have: it is sent in a request.
const longestBootstrap = 256 << 10

func (p *program) acceptMachineCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "accept REF", Short: "Examine a fresh machine: whether it is what was ordered, and works",
		Long: `accept examines a running machine from inside: model and number of its cards, a matrix
product on each, the driver's CUDA, the links between cards and how fast they add up,
/dev/shm, a direct write to the disk, a download, CPU, memory, space, and whether clocks
are steady under a load of some seconds. Cards that are at work are not disturbed.

What it must come up to is written under accept in the configuration. What could not be
read is unknown: it is told, and fails only where the configuration requires it.

With --bootstrap FILE that script is run before, in a login shell inside the machine. The
configuration's own is run where it was not in this boot yet. Its output is kept beside
the state, without secrets.

It exits 1 where the machine is not accepted. curfew explain REF shows the results.`,
		Example: "  curfew accept exp-llama\n  curfew accept exp-llama --bootstrap setup.sh",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := ctl.AcceptRequest{Name: args[0], By: p.user()}
			if file != "" {
				text, err := os.ReadFile(file)
				if err != nil {
					return usage(fmt.Errorf("read the bootstrap script: %w", err))
				}
				if len(text) == 0 || len(text) > longestBootstrap {
					return usage(fmt.Errorf("%s has %d bytes; a bootstrap script has at least one, and at most %d: fetch what is larger from inside it",
						file, len(text), longestBootstrap))
				}
				r.Bootstrap = string(text)
			}
			return p.acceptMachine(c.Context(), r)
		},
	}
	c.Flags().StringVar(&file, "bootstrap", "", "a script `FILE` that prepares the machine before")
	return c
}

func (p *program) acceptMachine(ctx context.Context, r ctl.AcceptRequest) error {
	var a ctl.AcceptAnswer
	return p.ask(ctx, true, func(api ctl.API) error {
		ask := func() (err error) {
			a, err = api.AcceptMachine(ctx, r)
			return err
		}
		if _, daemon := api.(*ctl.Client); daemon {
			return ask() // whose progress is told already
		}
		return p.progress(ctx, wordAcceptAsking, ask)
	}, func() error {
		if p.asJSON {
			if err := p.writeJSON(a); err != nil {
				return err
			}
		} else {
			p.page(a.Now).accepted(a)
		}
		if !a.Acceptance.Accepted {
			return &exitError{code: exitFailed}
		}
		return nil
	})
}

// accepted shows what came of an examination, what fails first.
func (g *page) accepted(a ctl.AcceptAnswer) {
	word := wordAcceptAccepted
	if !a.Acceptance.Accepted {
		word = wordAcceptRefused
	}
	g.line(word, fleet.Values{"name": fleet.Text(a.Instance.DisplayName())})
	g.table(2, append(g.notGood(a.Acceptance), g.judged(wordAcceptGood, a.Acceptance.Passed)...))
	if b := a.Acceptance.Bootstrap; b != nil && b.Log != "" {
		g.line(wordAcceptLog, fleet.Values{"file": fleet.Text(b.Log)})
	}
}

func (g *page) judged(word fleet.Code, all []fleet.Reason) [][]string {
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{g.say(word, nil), g.reason(r)})
	}
	return rows
}

func (g *page) notGood(a fleet.Acceptance) [][]string {
	rows := g.judged(wordAcceptBad, a.Fails)
	rows = append(rows, g.judged(wordAcceptOdd, a.Warnings)...)
	return append(rows, g.judged(wordAcceptDark, a.Unknown)...)
}

// acceptances are the rows of an explanation: each result, and below the newest one
// what was not good.
func (g *page) acceptances(all []fleet.Acceptance) [][]string {
	var rows [][]string
	for n, a := range all {
		word := wordAcceptGood
		if !a.Accepted {
			word = wordAcceptBad
		}
		rows = append(rows, []string{g.moment(a.At), g.say(word, nil), g.say(wordAcceptSum, fleet.Values{
			"good": fleet.Number(float64(len(a.Passed))), "odd": fleet.Number(float64(len(a.Warnings))), "dark": fleet.Number(float64(len(a.Unknown))),
		})})
		if n > 0 {
			continue
		}
		for _, row := range g.notGood(a) {
			rows = append(rows, []string{"", row[0], row[1]})
		}
	}
	return rows
}
