package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/sched"
)

// applyFlags are how an apply is asked for.
type applyFlags struct {
	now, yes bool
	wait     time.Duration
}

func (p *program) applyCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use: "apply", Short: "Make one pass: announce what is new, and do what is due",
		Long: `apply makes one pass. It announces what is new, does what is due, waits until that
has had its effect, and says what still waits and why. With --now it shows the list
first, asks, and does what is in it without warning and cooldown. Everything else is
kept: protection, holds, the rules about data, caps, approval and mode; and what is
no longer as it was shown is left out.

Without a daemon it looks for itself, and is one for as long as it takes. Nobody can
say wait between two such calls, so a warning that ran out meanwhile is given anew;
--wait longer than the warning sees it through.

It exits 1 when something failed, 3 when not everything could be read, and 4 while
something waits. In a dry run it does nothing, and exits as plan does.`,
		Example: "  curfew apply\n  curfew apply --now\n  curfew apply --now --yes --json\n  curfew apply --wait 20m",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.wait < 0 {
				return usage(errors.New("--wait: it is a length of time, such as 20m"))
			}
			if f.yes && !f.now {
				return usage(errors.New("--yes goes with --now: without it nothing is asked"))
			}
			if f.now && !f.yes && !p.asks {
				return usage(told(failNobody, nil))
			}
			return p.apply(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.now, "now", false, "show the list, and do it without warning and cooldown")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask first")
	c.Flags().DurationVar(&f.wait, "wait", 0, "see through what comes due within this `TIME` (default: what is due already, for 5m)")
	return c
}

// apply asks the daemon or, where none runs, is one meanwhile.
func (p *program) apply(ctx context.Context, f applyFlags) error {
	client, err := p.daemon()
	if err != nil {
		return err
	}
	if _, err := client.Status(ctx); !errors.Is(err, ctl.ErrNoDaemon) {
		return p.applyBy(ctx, client, f, nil)
	}
	if !fleet.Enforcing(p.cfg.Mode) {
		var plan ctl.Plan
		return p.ask(ctx, true, func(api ctl.API) (err error) {
			plan, err = api.Plan(ctx)
			return err
		}, func() error { return p.dryRun(plan) })
	}
	p.note(wordAlone, nil)
	socket, clock := ctl.SocketPath(p.cfg.State), sched.Wall{}
	notices := func(o *app.Options) { o.Out = p.stderr }
	a, err := start(ctx, p.options(clock, zerolog.Nop(), notices), socket)
	if err != nil {
		return badConfig(err)
	}
	one := &applying{App: a}
	one.do = func(ctx context.Context) error {
		part := p.progress(ctx, wordLooking, func() error { return a.Once(ctx) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return p.applyBy(ctx, a, f, part)
	}
	err = serve(ctx, one, socket, zerolog.Nop(), p.system)
	return errors.Join(one.said, err, a.Close())
}

// applying is a daemon for as long as one apply takes. What the command has to say at
// its end is no failure of the daemon.
type applying struct {
	*app.App
	do   func(context.Context) error
	said error
}

// Run applies, and returns.
func (o *applying) Run(ctx context.Context) error {
	return o.Alone(ctx, func(ctx context.Context) error {
		o.said = o.do(ctx)
		return nil
	})
}

// applyBy applies through an API; part is what could not be read before.
func (p *program) applyBy(ctx context.Context, api ctl.API, f applyFlags, part error) error {
	r := ctl.ApplyRequest{By: p.user(), Wait: f.wait}
	if f.now {
		plan, err := api.Plan(ctx)
		if err != nil {
			return err
		}
		if r.Now, err = p.wanted(plan, f); err != nil {
			return err
		}
	}
	var a ctl.Applied
	err := p.progress(ctx, wordApplying, func() (err error) {
		a, err = api.Apply(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	if p.asJSON {
		if err := p.writeJSON(a); err != nil {
			return err
		}
	} else {
		p.page(a.Now).applied(a)
	}
	switch {
	case len(a.Failed) > 0:
		return &exitError{code: exitFailed}
	case part != nil:
		return &exitError{exitPartly, toldOf(failPartly, part)}
	case a.Unread():
		return &exitError{code: exitPartly}
	case len(a.Announced)+len(a.Waits)+len(a.Held)+len(a.NotNow) > 0:
		return &exitError{code: exitPending}
	}
	return nil
}

// wanted shows what would be done, asks, and gives the list that was shown.
func (p *program) wanted(plan ctl.Plan, f applyFlags) ([]ctl.Shown, error) {
	g := p.page(plan.Now)
	g.w = p.stderr
	var list []ctl.Shown
	for _, i := range slices.Concat(plan.Items, plan.Resources) {
		if i.Under() || !i.Pending() {
			continue
		}
		g.print(g.bold(i.Instance.DisplayName()) + "  " + g.which(i))
		g.print("  " + g.say(wordWouldNow, fleet.Values{"action": action(i.Action), "why": fleet.Nested(i.Why())}))
		if why, waits := i.Waits(); waits {
			g.print("  " + g.say(wordWaitsStill, fleet.Values{"why": fleet.Nested(why.Reason)}))
			continue
		}
		list = append(list, i.Shown())
	}
	if len(list) == 0 || f.yes {
		return list, nil
	}
	fmt.Fprint(p.stderr, g.say(wordNow, fleet.Values{"acts": fleet.Number(float64(len(list)))})+" ")
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err == nil && (word == "y" || word == "yes") {
		return list, nil
	}
	p.note(wordNotDone, nil)
	return nil, &exitError{code: exitFailed}
}

// dryRun says what would be done, and that it is not.
func (p *program) dryRun(plan ctl.Plan) error {
	a := ctl.Applied{Now: plan.Now, Mode: p.cfg.Mode, Scopes: plan.Scopes}
	for _, i := range slices.Concat(plan.Items, plan.Resources) {
		if i.Would() {
			a.Would = append(a.Would, i)
		}
	}
	if p.asJSON {
		return p.writeJSON(a)
	}
	p.page(a.Now).applied(a)
	return nil
}

// applied tells what became of every act.
func (g *page) applied(a ctl.Applied) {
	var rows [][]string
	for _, is := range [][]fleet.Intent{a.Done, a.Failed, a.CalledOff, a.Announced, a.Waits} {
		for _, i := range is {
			rows = append(rows, []string{number(i.ID), g.say(guard.ActionReason(i.Action).Code, nil), i.Subject.DisplayName(), g.outcome(i), g.reason(standsFor(i, a.Now))})
		}
	}
	for _, i := range a.Held {
		why, _ := i.Waits()
		rows = append(rows, []string{"", g.say(guard.ActionReason(i.Action).Code, nil), i.Instance.DisplayName(), g.answer(guard.Wait), g.reason(why.Reason)})
	}
	for _, s := range a.NotNow {
		rows = append(rows, []string{"", g.say(guard.ActionReason(s.Action).Code, nil), s.Ref.ID, g.say(wordNotDone, nil), g.say(wordNotAsShown, nil)})
	}
	g.table(0, rows)
	for _, i := range a.Would {
		g.print(g.bold(i.Instance.DisplayName()) + "  " + g.which(i))
		g.print("  " + g.next(i))
	}
	g.scopes(a.Scopes, nil)
	if !fleet.Enforcing(a.Mode) {
		g.line(wordDryRun, fleet.Values{"acts": fleet.Number(float64(len(a.Would)))})
		return
	}
	g.line(wordApplied, fleet.Values{
		"done": fleet.Number(float64(len(a.Done))), "failed": fleet.Number(float64(len(a.Failed))),
		"waits": fleet.Number(float64(len(a.Announced) + len(a.Waits) + len(a.Held))),
	})
}

// standsFor says why an act stands as it does.
func standsFor(i fleet.Intent, now time.Time) fleet.Reason {
	switch {
	case !i.Open():
		return i.Why
	case !i.HeldBack.IsZero():
		return i.HeldBack
	case i.State != fleet.IntentPending:
		return fleet.Because(wordNotSeen, nil)
	case i.AcceptedAt.IsZero():
		return fleet.Because(guard.ReasonNotAccepted, nil)
	case i.Deadline.After(now):
		return fleet.Because(guard.ReasonDeadline, fleet.Values{"at": moment(i.Deadline)})
	}
	return fleet.Because(guard.ReasonWarned, fleet.Values{"at": moment(i.AcceptedAt)})
}
