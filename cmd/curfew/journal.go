package main

import (
	"strings"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
)

func (p *program) journalCommand() *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use: "journal [ID]", Short: "Show what was done and how it went",
		Long: `journal lists the newest acts: what was done to what, why and how it ended. With
the number of an act it shows every step of it. It needs no daemon.`,
		Example: "  curfew journal\n  curfew journal 12",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q := ctl.JournalQuery{Limit: limit}
			if len(args) == 1 {
				id, err := intentID(args[0])
				if err != nil {
					return usage(err)
				}
				q.Intent = id
			}
			var a ctl.JournalAnswer
			ctx := c.Context()
			return p.ask(ctx, false, func(api ctl.API) (err error) {
				a, err = api.Journal(ctx, q)
				return err
			}, func() error {
				if p.asJSON {
					return p.writeJSON(a)
				}
				p.page(p.now()).journal(a, q.Intent != 0)
				return nil
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "how many acts to list at most")
	return c
}

func (g *page) journal(a ctl.JournalAnswer, steps bool) {
	if len(a.Intents) == 0 {
		g.line(wordNoIntent, nil)
		return
	}
	if !steps {
		rows := [][]string{append([]string{"#"}, g.heads(columnWhen, columnAct, columnName, columnBy, columnOutcome, columnWhy)...)}
		for _, i := range a.Intents {
			rows = append(rows, []string{
				number(i.ID), g.moment(i.CreatedAt), g.reason(fleet.Because(fleet.Code("action."+i.Action.String()), nil)),
				i.Subject.DisplayName(), who(i), g.outcome(i), g.because(i),
			})
		}
		g.table(0, rows)
		return
	}
	i := a.Intents[0]
	g.print(g.bold(number(i.ID)) + "  " + g.reason(fleet.Because(fleet.Code("action."+i.Action.String()), nil)) +
		" " + i.Subject.DisplayName() + " · " + i.Ref.String() + " · " + who(i) + " · " + g.outcome(i))
	for _, v := range i.Verdicts {
		g.print("  " + strings.TrimPrefix(v.Policy+": ", ": ") + g.reason(v.Reason))
	}
	rows := [][]string{g.heads(columnWhen, columnStep, columnOutcome, columnWhy)}
	for _, e := range a.Steps {
		why := e.Row.HeldBack
		if !e.Row.Open() {
			why = e.Row.Why
		}
		rows = append(rows, []string{g.moment(e.At), g.step(e.Step), g.outcome(e.Row), g.reason(why)})
	}
	g.table(2, rows)
}

// who says which policies an act rests on, or who asked for it.
func who(i fleet.Intent) string {
	if by, ok := strings.CutPrefix(i.By, "hand:"); ok {
		return by
	}
	var names []string
	for _, v := range i.Verdicts {
		names = append(names, v.Policy)
	}
	return strings.Join(names, ", ")
}

// because gives why an act ended as it did, why it waits, or why it is wanted.
func (g *page) because(i fleet.Intent) string {
	switch {
	case !i.Why.IsZero():
		return g.reason(i.Why)
	case i.Open() && !i.HeldBack.IsZero():
		return g.reason(i.HeldBack)
	case len(i.Verdicts) > 0:
		return g.reason(i.Verdicts[0].Reason)
	}
	return ""
}
