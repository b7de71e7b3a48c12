package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/notify"
)

func (p *program) notifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "notify", Short: "Try the channels",
		Example: "  curfew notify test wx",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var f sampleFlags
	test := &cobra.Command{
		Use: "test CHANNEL", Short: "Send one test message and show the channel's own answer",
		Long: `test sends one message over a channel of the configuration and shows how its
answer is judged, and what is left of the channel's quota where there is a state. It
needs no daemon, and exits 1 unless the message was accepted.

With --event it sends a sample of what is told of that event, in the words of the
channel's templates where it has some; with --show it prints it and sends nothing.`,
		Example: "  curfew notify test wx\n  curfew notify test wx --event pending\n  curfew notify test wx --event all --show",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return p.notifyTest(c.Context(), args[0], f) },
	}
	test.Flags().StringVar(&f.event, "event", eventTest, "what is told: "+strings.Join(notify.SampleEvents(), ", ")+"; or all, with --show")
	test.Flags().BoolVar(&f.show, "show", false, "print it, in Markdown, and send nothing")
	c.AddCommand(test)
	return c
}

func (p *program) notifyTest(ctx context.Context, name string, f sampleFlags) error {
	events, err := f.events()
	if err != nil {
		return err
	}
	cfg, err := p.configured()
	if err != nil {
		return err
	}
	n := slices.IndexFunc(cfg.Notify.Channels, func(c config.Channel) bool { return c.Name == name })
	if n < 0 {
		var names []string
		for _, c := range cfg.Notify.Channels {
			names = append(names, c.Name)
		}
		return usage(told(failChannel, fleet.Values{
			"file": fleet.Text(cfg.File), "name": fleet.Text(name), "names": fleet.Text(strings.Join(names, ", ")),
		}))
	}
	open, err := p.opener().Channel(cfg.Notify.Channels[n], p.render.Language(), cfg.Timezone)
	if err != nil {
		return fmt.Errorf("channel %s: %w", name, err)
	}
	if f.show {
		return p.showSamples(open, events, p.now())
	}
	v := p.sendTest(ctx, open, events[0], wordAsking)
	left, known := p.quotaLeft(ctx, cfg.State, name, open.Kind)
	if p.asJSON {
		answer := map[string]any{"channel": name, "verdict": v}
		if known {
			answer["quota"] = left
		}
		if err := p.writeJSON(answer); err != nil {
			return err
		}
	} else {
		g := p.page(p.now())
		values := fleet.Values{"channel": fleet.Text(name), "verdict": fleet.Text(g.verdict(v.Kind))}
		if v.Code != "" {
			values["code"] = fleet.Text(v.Code)
		}
		if v.Detail != "" {
			values["detail"] = fleet.Text(v.Detail)
		}
		g.line(wordSent, values)
		if known {
			g.quota(left)
		}
	}
	if v.Kind != notify.VerdictOK {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (g *page) verdict(k notify.VerdictKind) string {
	return g.word(map[string]fleet.Code{
		string(notify.VerdictOK): verdictOK, string(notify.VerdictRetry): verdictRetry, string(notify.VerdictBadMessage): verdictBad,
		string(notify.VerdictPermanent): verdictBroken, string(notify.VerdictUnknown): verdictUnsure,
	}, string(k))
}
