package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
)

func (p *program) holdCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "hold REF DURATION|off", Short: "Forbid acting on an instance for a time",
		Long: `hold says wait: until the time is over nothing is done to the instance, and what
was announced for it is called off. off ends its holds. What was requested from
the platform already cannot be called off; hold says so and exits 3. Of a hold that
is longer than the limits under hold: allow, that much holds at once; the rest waits
until somebody else says yes with curfew approve, and hold exits 3 as well.`,
		Example: "  curfew hold exp-llama 2h --why 'copying results'\n  curfew hold exp-llama off",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var d time.Duration
			if args[1] != "off" {
				var err error
				if d, err = span(args[1]); err != nil {
					return usage(err)
				}
			}
			return p.hold(c.Context(), ctl.HoldRequest{Name: args[0], By: p.user(), Why: why}, d)
		},
	}
	c.Flags().StringVar(&why, "why", "", "the `REASON`, told to everybody who asks")
	return c
}

// span reads a length of time, in days too.
func span(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return 0, told(failNotSpan, fleet.Values{"word": fleet.Text(s)})
	}
	return d, nil
}

// hold asks for a hold of a length, by the daemon's clock; of none for its end.
func (p *program) hold(ctx context.Context, r ctl.HoldRequest, d time.Duration) error {
	var a ctl.HoldAnswer
	now := p.now()
	if err := p.order(ctx, func(api ctl.API) error {
		s, err := api.Status(ctx)
		if err != nil {
			return err
		}
		if now = s.Now; d > 0 {
			r.Until = now.Add(d)
		}
		a, err = api.Hold(ctx, r)
		return err
	}); err != nil {
		return err
	}
	return p.showHold(a, now, func(g *page) {
		switch name := fleet.Text(r.Name); {
		case r.Until.IsZero():
			g.line(wordFreed, fleet.Values{"name": name})
		case !a.Hold.Until.IsZero():
			g.line(wordHeld, fleet.Values{"name": name, "until": moment(a.Hold.Until)})
		}
	})
}

func (p *program) approveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "approve ID|hold:ID", Short: "Say yes to an announced act, or to a long hold, that waits for it",
		Long: `approve says yes to an act of a policy with approval: true. ID is the number in
its announcement. The yes lasts 24 hours; every check is asked again all the same.

approve hold:ID grants a hold that is longer than the limits under hold: allow at
once. It was asked for by somebody else, and waits for 24 hours.`,
		Example: "  curfew approve 12\n  curfew approve hold:3",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if id, ok, err := holdID(args[0]); err != nil {
				return usage(err)
			} else if ok {
				return p.approveHold(ctx, id)
			}
			id, err := intentID(args[0])
			if err != nil {
				return usage(err)
			}
			return p.orderAct(ctx, wordApproved, func(api ctl.API) (fleet.Intent, error) { return api.Approve(ctx, id, p.user()) })
		},
	}
}

// intentID reads the number of an intent, with or without #.
func intentID(s string) (int64, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil || id <= 0 {
		return 0, told(failNotID, fleet.Values{"word": fleet.Text(s)})
	}
	return id, nil
}

// orderAct gives an order about one intent, and shows it.
func (p *program) orderAct(ctx context.Context, say fleet.Code, give func(ctl.API) (fleet.Intent, error)) error {
	var i fleet.Intent
	if err := p.order(ctx, func(api ctl.API) (err error) {
		i, err = give(api)
		return err
	}); err != nil {
		return err
	}
	if p.asJSON {
		return p.writeJSON(i)
	}
	p.page(p.now()).line(say, fleet.Values{
		"id": fleet.Text(strconv.FormatInt(i.ID, 10)), "action": action(i.Action), "name": fleet.Text(i.Subject.DisplayName()),
	})
	return nil
}

func (p *program) actCommand(word string) *cobra.Command {
	short := map[string]string{
		"stop":    "Stop an instance now",
		"start":   "Start an instance now",
		"release": "Give an instance back for good, with its data",
	}[word]
	yes := false
	c := &cobra.Command{
		Use: word + " REF", Short: short,
		Long: short + `, by your own hand. It skips warning, cooldown and caps, and never what
protects the instance: labels, holds, the rules about data, and mode. The daemon
does it and looks whether it took effect; curfew journal shows how it goes.`,
		Example: "  curfew " + word + " exp-llama\n  curfew " + word + " exp-llama --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := fleet.ParseAction(word)
			if err != nil {
				return err
			}
			ctx := c.Context()
			if !yes {
				if err := p.confirm(ctx, a, args[0]); err != nil {
					return err
				}
			}
			return p.orderAct(ctx, wordAsked, func(api ctl.API) (fleet.Intent, error) {
				return api.Act(ctx, ctl.ActRequest{Name: args[0], Action: a, By: p.user()})
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask first")
	return c
}

// confirm shows what would be acted on and asks whether to go on.
func (p *program) confirm(ctx context.Context, a fleet.Action, name string) error {
	if !p.asks {
		return usage(told(failNobody, nil))
	}
	var e ctl.Explanation
	if err := p.order(ctx, func(api ctl.API) (err error) {
		e, err = api.Explain(ctx, name)
		return err
	}); err != nil {
		return err
	}
	g := p.page(e.Now)
	g.w = p.stderr
	g.print(g.bold(e.Instance.DisplayName()) + "  " + g.which(e.Planned))
	g.print("  " + g.standing(e))
	if !e.Activity.Reason.IsZero() {
		g.print("  " + g.reason(e.Activity.Reason))
	}
	fmt.Fprint(p.stderr, g.say(wordConfirm, fleet.Values{"action": action(a), "name": fleet.Text(e.Instance.DisplayName())})+" ")
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err == nil && (word == "y" || word == "yes") {
		return nil
	}
	p.note(wordNotDone, nil)
	return &exitError{code: exitFailed}
}

func (p *program) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Make the daemon read its configuration again",
		Long: `reload makes the daemon read its configuration again. It is checked whole first;
a bad one changes nothing.`,
		Example: "  curfew check && curfew reload",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			if err := p.order(ctx, func(api ctl.API) error { return api.Reload(ctx) }); err != nil {
				return err
			}
			return p.said(wordReloaded, nil, map[string]bool{"reloaded": true})
		},
	}
}

func (p *program) forgetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget ACCOUNT", Short: "Let go of an account",
		Long: `forget lets go of an account: what was announced in it is called off, its holds
end, and what was requested there is no longer verified. An account that is still
in the configuration is left alone until the next reload, which may then drop it;
of one that is not, all that was remembered is dropped. The journal stays.`,
		Example: "  curfew forget old-lab",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := p.order(ctx, func(api ctl.API) error { return api.Forget(ctx, args[0]) }); err != nil {
				return err
			}
			return p.said(wordForgotten, fleet.Values{"account": fleet.Text(args[0])}, map[string]string{"forgotten": args[0]})
		},
	}
}

// said ends a command that has one thing to say.
func (p *program) said(code fleet.Code, v fleet.Values, asJSON any) error {
	if p.asJSON {
		return p.writeJSON(asJSON)
	}
	p.page(p.now()).line(code, v)
	return nil
}
