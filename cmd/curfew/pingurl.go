package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
)

// What ping-url says.
const (
	wordPingStart   fleet.Code = "cli.ping-start"
	wordPingSuccess fleet.Code = "cli.ping-success"
	wordPingFail    fleet.Code = "cli.ping-fail"
	wordPingExit    fleet.Code = "cli.ping-exit"
	wordPingLog     fleet.Code = "cli.ping-log"
	wordPingExample fleet.Code = "cli.ping-example"
	wordPingHost    fleet.Code = "cli.ping-host"
)

// pingURLs is what ping-url prints as JSON.
type pingURLs struct {
	Ref     fleet.Ref `json:"ref"`
	Start   string    `json:"start"`
	Success string    `json:"success"`
	Fail    string    `json:"fail"`
	Exit    string    `json:"exit"` // ends in {exit-status}
	Log     string    `json:"log"`
}

func (p *program) pingURLCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ping-url REF", Short: "Print the addresses by which an instance tells of its runs",
		Long: `ping-url prints the addresses at which an instance tells curfew that a run begins
and how it ended. They are the instance's own, stay the same over restarts, and
are a secret between it and curfew: whoever has them can say that its work is done.
They begin with public_url, and lead to the listener that ping: {listen: ...} opens.`,
		Example: "  curfew ping-url exp-llama\n  curfew ping-url exp-llama --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.configured()
			if err != nil {
				return err
			}
			if cfg.Ping.Listen == "" {
				return usage(errors.New(`nothing listens for pings; add ping: {listen: "0.0.0.0:8421"} to ` + cfg.File + ", and curfew reload"))
			}
			base, known := pingBase(cfg)
			var key ctl.PingKey
			ctx := c.Context()
			return p.ask(ctx, false, func(api ctl.API) (err error) {
				key, err = api.PingKey(ctx, args[0])
				return err
			}, func() error {
				if !known {
					p.note(wordPingHost, nil)
				}
				url := base + "/ping/" + key.Key
				if p.asJSON {
					return p.writeJSON(pingURLs{key.Ref, url + "/start", url, url + "/fail", url + "/{exit-status}", url + "/log"})
				}
				p.page(p.now()).pingURLs(key, url)
				return nil
			})
		},
	}
}

// unknownHost stands for the address of this machine as instances know it.
const unknownHost = "HOST"

// pingBase is how the addresses begin, and whether that is known: a listener at
// every address of this machine does not say by which one instances reach it.
func pingBase(cfg *config.Config) (base string, known bool) {
	if cfg.PublicURL != "" {
		return cfg.PublicURL, true
	}
	host, port, err := net.SplitHostPort(cfg.Ping.Listen)
	ip, notIP := netip.ParseAddr(host)
	if known = err == nil && host != "" && (notIP != nil || !ip.IsUnspecified()); !known {
		host = unknownHost
	}
	return "http://" + net.JoinHostPort(host, port), known
}

// pingURLs prints the addresses, and a script that uses them. Its lines are never
// folded: they are copied.
func (g *page) pingURLs(key ctl.PingKey, url string) {
	g.print(g.bold(key.Name) + "  " + key.Ref.String())
	rows := [][2]string{
		{g.say(wordPingStart, nil), "/start"},
		{g.say(wordPingSuccess, nil), ""},
		{g.say(wordPingFail, nil), "/fail"},
		{g.say(wordPingExit, nil), "/$?"},
		{g.say(wordPingLog, nil), "/log"},
	}
	wide := 0
	for _, row := range rows {
		wide = max(wide, columns(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintln(g.w, "  "+row[0]+strings.Repeat(" ", wide-columns(row[0]))+"  "+url+row[1])
	}
	g.print(g.bold(g.say(wordPingExample, nil)))
	const curl = "  curl -fsS -m 10 --retry 5 -o /dev/null $url"
	for _, line := range []string{"  url=" + url, curl + "/start", "  python -u train.py", curl + "/$?"} {
		fmt.Fprintln(g.w, line)
	}
}
