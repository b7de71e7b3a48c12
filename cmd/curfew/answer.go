package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/store"
	"curfew/notify"
)

// The words of what is known, and of what is left of a channel's quota.
const (
	wordKnown     fleet.Code = "cli.known"
	wordQuota     fleet.Code = "cli.quota"
	wordMinute    fleet.Code = "cli.quota-minute"
	wordDay       fleet.Code = "cli.quota-day"
	wordMonth     fleet.Code = "cli.quota-month"
	wordUnlimited fleet.Code = "cli.quota-none"
)

func (p *program) ackCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ack REF", Short: "Say that you know of what was told of a thing",
		Long: `ack says that somebody knows of what was told of an instance, an account, an
owner or a budget and lasts: until it is over nobody is reminded of it, and no more
people are told. What is told anew later is told as ever. It stops nothing that
curfew does; that is what curfew hold is for.`,
		Example: "  curfew ack exp-llama\n  curfew ack autodl-lab",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return p.ack(c.Context(), args[0]) },
	}
}

func (p *program) ack(ctx context.Context, name string) error {
	var a ctl.Answered
	if err := p.order(ctx, func(api ctl.API) (err error) {
		a, err = api.Answer(ctx, ctl.AnswerRequest{Name: name, By: p.user()})
		return err
	}); err != nil {
		return err
	}
	if p.asJSON {
		return p.writeJSON(a)
	}
	g := p.page(a.Now)
	for _, k := range a.Known {
		g.line(wordKnown, fleet.Values{"name": fleet.Text(k.Name), "what": fleet.Nested(k.Reason), "since": moment(k.Since)})
	}
	return nil
}

// quotaLeft counts a message that was sent over a channel, with the daemon or where
// none runs in its state, and gives what is left of the channel's quota. false: there
// is no state, or it cannot be asked.
func (p *program) quotaLeft(ctx context.Context, dsn, channel string, kind notify.Kind) ([]notify.Left, bool) {
	now := p.now()
	r := ctl.SendsRequest{Channel: channel, Since: now.Add(-notify.LongestWindow), Sent: true}
	a, err := ctl.NewClient(ctl.SocketPath(dsn)).Sends(ctx, r)
	if errors.Is(err, ctl.ErrNoDaemon) {
		a.Now = now
		a.Sent, err = p.stateSends(ctx, dsn, r)
	}
	if err != nil {
		return nil, false
	}
	return notify.QuotaLeft(kind, a.Sent, a.Now), true
}

// stateSends does what a daemon would with a request, where there is none.
func (p *program) stateSends(ctx context.Context, dsn string, r ctl.SendsRequest) (sent []time.Time, err error) {
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
	}
	s, err := store.Open(ctx, store.Options{DSN: dsn, Now: p.now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.RecordDeliveries(ctx, r.Channel, nil, true, p.now()); err != nil {
		return nil, err
	}
	return s.Sends(ctx, r.Channel, r.Since)
}

// quota says what is left of a channel's quota.
func (g *page) quota(left []notify.Left) {
	if len(left) == 0 {
		g.line(wordUnlimited, nil)
		return
	}
	var parts []string
	for _, l := range left {
		code := map[time.Duration]fleet.Code{time.Minute: wordMinute, 24 * time.Hour: wordDay}[l.Window]
		if code == "" {
			code = wordMonth
		}
		parts = append(parts, g.say(code, fleet.Values{"left": fleet.Number(float64(l.Left)), "of": fleet.Number(float64(l.Of))}))
	}
	g.line(wordQuota, fleet.Values{"left": fleet.Text(strings.Join(parts, " · "))})
}
