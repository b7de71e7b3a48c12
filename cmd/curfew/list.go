package main

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/providers"
)

func (p *program) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ls [instances|disks|snapshots|images|ips|accounts]", Short: "List what there is, what it does and what it costs",
		Long: `ls lists every instance: where it is, what it does, what it costs and what
comes next for it. ls disks, snapshots, images and ips list what is billed beside
instances: what each costs a day, how old it is and what uses it. ls accounts lists
the accounts, how old what is known of them is, what they have left, and for how long
that lasts.`,
		Example:   "  curfew ls\n  curfew ls disks\n  curfew ls accounts",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"instances", "disks", "snapshots", "images", "ips", "accounts"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if kind, ok := resourceLists()[args[0]]; ok {
					return p.listResources(c.Context(), kind)
				}
			}
			var l ctl.Listing
			ctx := c.Context()
			return p.ask(ctx, true, func(api ctl.API) (err error) {
				l, err = api.List(ctx)
				return err
			}, func() error {
				switch {
				case p.asJSON:
					return p.writeJSON(l)
				case slices.Equal(args, []string{"accounts"}):
					l.Accounts = p.accounts(l)
					p.page(l.Now).accounts(l)
				default:
					p.instances(l)
				}
				return nil
			})
		},
	}
}

func (p *program) instances(l ctl.Listing) {
	g := p.page(l.Now)
	if len(l.Items) > 0 {
		g.table(0, g.instances(l.Items))
	} else {
		g.line(wordNobody, nil)
		g.emptyNotes(p)
	}
	g.scopes(l.Scopes, l.Accounts)
}

// instances gives the table of instances.
func (g *page) instances(items []ctl.Planned) [][]string {
	rows := [][]string{g.heads(columnName, columnAccount, columnState, columnActivity, columnGPU, columnPrice, columnSoFar, columnNext)}
	for _, i := range items {
		activity := "-"
		if i.Instance.State == fleet.StateRunning && !i.Unguarded {
			activity = g.activity(i.Activity.Activity)
		}
		rows = append(rows, []string{
			i.Instance.DisplayName(), i.Instance.AccountName, g.state(i.Instance.State), activity,
			cards(i.Instance.GPU), price(i.Instance.CostNow()), soFar(i.Instance, g.now), g.next(i),
		})
	}
	return rows
}

// emptyNotes says why lists of the configured platforms may be empty.
func (g *page) emptyNotes(p *program) {
	for _, k := range registry().Providers {
		used := slices.ContainsFunc(p.cfg.Accounts, accountOf(k))
		if used && k.EmptyNote != "" {
			g.line(k.EmptyNote, nil)
		}
	}
}

// accounts gives the accounts of the configuration; where the daemon does not
// tell who they are, as far as their instances show it.
func (p *program) accounts(l ctl.Listing) []ctl.Account {
	if len(l.Accounts) > 0 {
		return l.Accounts
	}
	var out []ctl.Account
	for _, a := range p.cfg.Accounts {
		account := ctl.Account{Name: a.Name, Provider: a.Provider, Mode: a.Mode}
		for _, i := range l.Items {
			if i.Instance.AccountName == a.Name {
				account.Identity = i.Instance.Ref.Account
			}
		}
		out = append(out, account)
	}
	return out
}

// accounts writes one line for every scope of every account.
func (g *page) accounts(l ctl.Listing) {
	rows := [][]string{g.heads(columnAccount, columnProvider, columnMode, columnRegion, columnInstances, columnRead, columnWallet, columnPrice, columnLasts, columnProblem)}
	for _, a := range l.Accounts {
		row := func(region, count, read, problem string) {
			wallet := "-"
			if w, ok := l.Wallets[a.Name]; ok {
				wallet = left(w)
				if !a.WalletAt.IsZero() {
					wallet = g.say(wordAgo, fleet.Values{"at": fleet.Text(wallet), "age": fleet.Span(l.Now.Sub(a.WalletAt))})
				}
			}
			rows = append(rows, []string{a.Name, a.Provider, g.mode(a.Mode), cmp.Or(region, "-"), count, read, wallet, g.burn(a), g.lasts(a), problem})
		}
		known := false
		for _, s := range l.Scopes {
			if s.Scope.Account != a.Identity {
				continue
			}
			known = true
			read := "-"
			if !s.At.IsZero() {
				read = g.say(wordAgo, fleet.Values{"at": moment(s.At), "age": fleet.Span(l.Now.Sub(s.At))})
			}
			row(s.Scope.Region, countIn(l.Items, s.Scope), read, cmp.Or(g.reason(s.Failing), "-"))
		}
		if !known {
			row("", "?", "-", g.say(wordScopeNever, fleet.Values{"scope": fleet.Text(a.Name)}))
		}
	}
	g.table(0, rows)
}

// burn is what everything in an account costs by the hour.
func (g *page) burn(a ctl.Account) string {
	burn := cmp.Or(a.Burn.String(), "-")
	if a.Unpriced == 0 {
		return burn
	}
	return g.say(wordBurnUnpriced, fleet.Values{"burn": fleet.Text(burn), "unpriced": fleet.Number(float64(a.Unpriced))})
}

// lasts is for how long what an account has left lasts.
func (g *page) lasts(a ctl.Account) string {
	switch {
	case a.Runway == nil:
		return "-"
	case a.Unpriced > 0:
		return g.say(wordLastsAtMost, fleet.Values{"span": fleet.Span(*a.Runway)})
	}
	return g.say(wordSpan, fleet.Values{"for": fleet.Span(*a.Runway)})
}

func countIn(items []ctl.Planned, s fleet.Scope) string {
	n := 0
	for _, i := range items {
		if i.Instance.Ref.Account == s.Account && (s.Region == "" || i.Instance.Region == s.Region) {
			n++
		}
	}
	return strconv.Itoa(n)
}

// left is what a wallet holds: cash, and vouchers where there are some.
func left(w fleet.Wallet) string {
	s := w.Cash.Round().String()
	if !w.Vouchers.IsZero() {
		s += " + " + w.Vouchers.Round().String()
	}
	return s
}

func accountOf(k providers.Kind) func(config.Account) bool {
	return func(a config.Account) bool { return a.Provider == k.Name }
}
