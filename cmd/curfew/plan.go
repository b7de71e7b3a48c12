package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
)

func (p *program) planCommand() *cobra.Command {
	return &cobra.Command{
		Use: "plan", Short: "Show what would be done now, and why not more",
		Long: `plan shows for every instance what would be done now and when, with the answer
of every check that may say no. It changes nothing. It exits 4 when something
would be done, so that a script can tell.`,
		Example: "  curfew plan\n  curfew plan --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var plan ctl.Plan
			ctx := c.Context()
			return p.ask(ctx, true, func(api ctl.API) (err error) {
				plan, err = api.Plan(ctx)
				return err
			}, func() error { return p.plan(plan) })
		},
	}
}

func (p *program) plan(plan ctl.Plan) error {
	acts := 0
	for _, i := range slices.Concat(plan.Items, plan.Resources) {
		if i.Pending() {
			acts++
		}
	}
	if p.asJSON {
		if err := p.writeJSON(plan); err != nil {
			return err
		}
	} else {
		g := p.page(plan.Now)
		unguarded := 0
		for _, i := range plan.Items {
			g.print(g.bold(i.Instance.DisplayName()) + "  " + g.which(i))
			g.print("  " + g.next(i))
			g.table(4, g.rulings(i.Rulings))
			if i.Unguarded {
				unguarded++
			}
		}
		for _, i := range plan.Resources {
			g.print(g.bold(i.Instance.DisplayName()) + "  " + g.which(i))
			g.print("  " + g.next(i))
			g.table(4, g.rulings(i.Rulings))
		}
		for _, f := range plan.Findings {
			g.line(wordPlanFound, fleet.Values{"policy": fleet.Text(f.Policy), "what": fleet.Nested(f.Reason)})
		}
		for _, b := range plan.Blocks {
			g.line(wordPlanBlock, fleet.Values{"policy": fleet.Text(b.Policy), "why": fleet.Nested(b.Reason)})
		}
		g.scopes(plan.Scopes, nil)
		v := fleet.Values{"acts": fleet.Number(float64(acts)), "kept": fleet.Number(float64(len(plan.Items) + len(plan.Resources) - acts))}
		if unguarded > 0 {
			v["unguarded"] = fleet.Number(float64(unguarded))
		}
		g.line(wordPlanSum, v)
	}
	if acts > 0 {
		return &exitError{code: exitPending}
	}
	return nil
}

// which says what an instance is: id, account, cards, state and activity.
func (g *page) which(i ctl.Planned) string {
	s := i.Instance
	var parts []string
	for _, part := range []string{s.Ref.ID, s.AccountName, s.Region} {
		if part != "" && part != s.DisplayName() {
			parts = append(parts, part)
		}
	}
	if s.GPU.Count > 0 || s.GPU.Model != "" {
		parts = append(parts, cards(s.GPU))
	}
	if s.Ref.Kind != fleet.KindInstance {
		return strings.Join(append(parts, g.reason(s.Ref.Kind.Reason()), perDay(s.Price)), " · ")
	}
	parts = append(parts, g.state(s.State))
	if s.State == fleet.StateRunning && !i.Unguarded {
		parts = append(parts, g.activity(i.Activity.Activity))
	}
	return strings.Join(parts, " · ")
}

func number(id int64) string { return "#" + strconv.FormatInt(id, 10) }
