package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/app"
	"curfew/internal/config"
	"curfew/notify"
	"curfew/providers"
	"curfew/signals"
	"curfew/signals/ssh"
)

func (p *program) checkCommand() *cobra.Command {
	online := false
	c := &cobra.Command{
		Use: "check", Short: "Check the configuration, and with --online what it talks to",
		Long: `check reads the configuration and says what it amounts to, or everything that is
wrong with it, each with its place. It exits 2 if something is.

With --online it also opens every account, source and channel. It only reads, and
sends no message: curfew notify test does.`,
		Example: "  curfew check\n  curfew check --online",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return p.check(c.Context(), online) },
	}
	c.Flags().BoolVar(&online, "online", false, "open every account, source and channel, too")
	return c
}

// checked is what check found.
type checked struct {
	File     string           `json:"file"`
	OK       bool             `json:"ok"`
	Problems []config.Problem `json:"problems,omitempty"`
	Accounts []accountNeed    `json:"accounts,omitempty"`
	Policies []policyLine     `json:"policies,omitempty"`
	Signals  []string         `json:"signals,omitempty"`
	Channels []string         `json:"channels,omitempty"`
	// NoButtons are channels that could have buttons, and nobody is named who may press.
	NoButtons []string `json:"no_buttons,omitempty"`
	Online    []tried  `json:"online,omitempty"`
}

// accountNeed is what polling an account takes.
type accountNeed struct {
	Name     string     `json:"name"`
	Provider string     `json:"provider"`
	Mode     fleet.Mode `json:"mode"`
	// NeedsPerDay counts one list per region at every poll, and the wallet; more
	// than a page of instances takes more.
	NeedsPerDay int `json:"needs_per_day"`
	LimitPerDay int `json:"limit_per_day,omitempty"`
}

type policyLine struct {
	Name  string     `json:"name"`
	Type  string     `json:"type"`
	Mode  fleet.Mode `json:"mode"`
	Match string     `json:"match"`
}

// tried is what opening one thing came to.
type tried struct {
	What   string        `json:"what"` // account, signal or channel
	Name   string        `json:"name"`
	Error  string        `json:"error,omitempty"`
	Found  *int          `json:"instances,omitempty"`
	Wallet *fleet.Wallet `json:"wallet,omitempty"`
	Note   fleet.Reason  `json:"note,omitzero"`
	why    fleet.Value   // Error for people
}

func (p *program) check(ctx context.Context, online bool) error {
	cfg, err := p.configured()
	if problems, ok := errors.AsType[*config.Problems](err); ok {
		return p.problems(*problems)
	}
	if err != nil {
		return err
	}
	out := checked{File: cfg.File, OK: true}
	for n, a := range cfg.Accounts {
		need := needs(a)
		out.Accounts = append(out.Accounts, need)
		if need.LimitPerDay > 0 && need.NeedsPerDay > need.LimitPerDay {
			out.Problems = append(out.Problems, config.Problem{
				File: cfg.File, Pos: a.Pos, Path: fmt.Sprintf("accounts[%d].requests.per_day", n),
				What:  fmt.Sprintf("polling every %s takes %d requests a day, and %d are allowed", a.Poll, need.NeedsPerDay, need.LimitPerDay),
				Right: fmt.Sprintf("write poll: %s, or allow more", slowest(a)),
			})
		}
	}
	out.Problems = append(out.Problems, templateProblems(cfg, p.now())...)
	if len(out.Problems) > 0 {
		return p.problems(out.Problems)
	}
	for _, r := range cfg.Policies {
		out.Policies = append(out.Policies, policyLine{r.Name, r.Type, r.Terms.Mode, r.MatchText})
	}
	for _, s := range cfg.Signals {
		out.Signals = append(out.Signals, s.Source())
	}
	for _, c := range cfg.Notify.Channels {
		out.Channels = append(out.Channels, c.Name)
		if lacksUsers(c) {
			out.NoButtons = append(out.NoButtons, c.Name)
		}
	}
	if online {
		if err := p.progress(ctx, wordLooking, func() error {
			out.Online = p.try(ctx, cfg)
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	bad := 0
	for _, t := range out.Online {
		if t.Error != "" {
			bad++
		}
	}
	out.OK = bad == 0
	if p.asJSON {
		if err := p.writeJSON(out); err != nil {
			return err
		}
	} else {
		p.page(p.now()).checked(out, cfg)
	}
	switch {
	case bad == 0:
		return nil
	case bad == len(out.Online):
		return &exitError{code: exitFailed}
	}
	return &exitError{code: exitPartly}
}

// lacksUsers reports whether a channel hears presses of buttons and shows none, since
// nobody may press.
func lacksUsers(c config.Channel) bool {
	i := slices.IndexFunc(registry().Channels, func(k notify.Kind) bool { return k.Name == c.Type })
	if i < 0 || registry().Channels[i].Buttons == "" || len(c.Users) > 0 {
		return false
	}
	_, hears := c.Credential[registry().Channels[i].Buttons]
	return hears
}

// problems shows what is wrong with the configuration.
func (p *program) problems(ps config.Problems) error {
	if !p.asJSON {
		fmt.Fprintln(p.stdout, ps.Error())
		p.countProblems(ps)
	} else if err := p.writeJSON(checked{File: ps[0].File, Problems: ps}); err != nil {
		return err
	}
	return &exitError{code: exitUsage}
}

// needs counts the requests that polling an account takes in a day.
func needs(a config.Account) accountNeed {
	if len(a.Machines) > 0 {
		return accountNeed{Name: a.Name, Provider: a.Provider, Mode: a.Mode} // nobody is asked
	}
	return accountNeed{
		Name: a.Name, Provider: a.Provider, Mode: a.Mode, LimitPerDay: a.PerDay,
		NeedsPerDay: max(1, len(a.Regions))*int(day/a.Poll) + walletReads(a),
	}
}

const day = 24 * time.Hour

// walletReads counts the readings of an account's wallet in a day.
func walletReads(a config.Account) int {
	if slices.ContainsFunc(registry().Providers, func(k providers.Kind) bool { return k.Name == a.Provider && k.Can(providers.CanWallet) }) {
		return int(day / max(a.Poll, app.WalletEvery))
	}
	return 0
}

// slowest is the shortest time between polls that the day's requests allow, in
// whole minutes.
func slowest(a config.Account) string {
	polls := max(1, (a.PerDay-walletReads(a))/max(1, len(a.Regions)))
	minutes := (24*60 + polls - 1) / polls
	return fmt.Sprintf("%dm", minutes)
}

func (g *page) checked(c checked, cfg *config.Config) {
	g.line(wordFine, fleet.Values{"file": fleet.Text(c.File), "mode": fleet.Text(g.mode(cfg.Mode)), "state": fleet.Text(cfg.State)})
	for _, a := range c.Accounts {
		v := fleet.Values{
			"name": fleet.Text(a.Name), "provider": fleet.Text(a.Provider), "mode": fleet.Text(g.mode(a.Mode)),
			"needs": fleet.Number(float64(a.NeedsPerDay)),
		}
		if a.LimitPerDay > 0 {
			v["limit"] = fleet.Number(float64(a.LimitPerDay))
		}
		g.line(wordAccountNeeds, v)
	}
	for _, s := range c.Signals {
		g.line(wordSignal, fleet.Values{"name": fleet.Text(s)})
	}
	for _, r := range cfg.Policies {
		g.line(wordPolicySays, fleet.Values{
			"name": fleet.Text(r.Name), "type": fleet.Text(r.Type), "mode": fleet.Text(g.mode(r.Terms.Mode)), "match": fleet.Text(g.match(r.MatchOn)),
		})
	}
	for _, ch := range c.Channels {
		g.line(wordChannel, fleet.Values{"name": fleet.Text(ch)})
	}
	for _, name := range c.NoButtons {
		g.line(wordNoButtons, fleet.Values{"name": fleet.Text(name)})
	}
	whats := map[string]fleet.Code{"account": whatAccount, "signal": whatSignal, "channel": whatChannel}
	for _, t := range c.Online {
		v := fleet.Values{"what": fleet.Text(g.word(whats, t.What)), "name": fleet.Text(t.Name)}
		switch {
		case t.Error != "":
			v["why"] = t.why
			g.line(wordOnlineBad, v)
		case t.Found == nil:
			g.line(wordOnlineFine, v)
		default:
			v["count"] = fleet.Number(float64(*t.Found))
			if t.Wallet != nil {
				v["wallet"] = fleet.Text(left(*t.Wallet))
			}
			if !t.Note.IsZero() {
				v["note"] = fleet.Nested(t.Note)
			}
			g.line(wordOnlineAccount, v)
		}
	}
}

// try opens everything the configuration names.
func (p *program) try(ctx context.Context, cfg *config.Config) []tried {
	var out []tried
	opener := p.opener()
	for _, a := range cfg.Accounts {
		t := tried{What: "account", Name: a.Name}
		t.fails(tryAccount(ctx, opener, a, &t))
		out = append(out, t)
	}
	for _, s := range cfg.Signals {
		out = append(out, outcomeOf("signal", s.Source(), p.trySignal(opener, s)))
	}
	for _, c := range cfg.Notify.Channels {
		_, err := opener.Channel(c, p.render.Language(), cfg.Timezone)
		out = append(out, outcomeOf("channel", c.Name, err))
	}
	return out
}

func outcomeOf(what, name string, err error) tried {
	t := tried{What: what, Name: name}
	t.fails(err)
	return t
}

// fails notes what went wrong, if anything.
func (t *tried) fails(err error) {
	if err != nil {
		t.Error, t.why = err.Error(), whyOf(err)
	}
}

// trySignal opens a source of signals, and closes it.
func (p *program) trySignal(opener *app.Opener, entry config.Signal) error {
	source, err := opener.Source(entry, ssh.Options{
		Now: p.now, Ask: func(fleet.Instance) signals.Ask { return signals.Ask{} },
		Access: func(context.Context, fleet.Instance) (fleet.Access, error) {
			return fleet.Access{}, errors.New("nobody logs in here")
		},
	})
	if err != nil {
		return err
	}
	return source.Close()
}

// failed says at what an account failed, for people and in English.
func failed(code fleet.Code, at string, err error) error {
	return &fleet.ReasonError{
		Reason: fleet.Because(code, fleet.Values{"why": whyOf(err)}), Err: fmt.Errorf("%s: %w", at, err),
	}
}

// tryAccount opens an account for reading only.
func tryAccount(ctx context.Context, opener *app.Opener, entry config.Account, t *tried) error {
	a, _, err := opener.Account(entry, nil)
	if err != nil {
		return err
	}
	a = a.With(providers.ReadOnlyAccount())
	if _, err := a.Whoami(ctx); err != nil {
		return failed(failWho, "who it is", err)
	}
	n := 0
	for _, s := range a.Scopes {
		is, err := a.Instances(ctx, s)
		if err != nil {
			return failed(failList, "list", err)
		}
		n += len(is)
	}
	t.Found = &n
	if n == 0 && a.Kind.EmptyNote != "" {
		t.Note = fleet.Because(a.Kind.EmptyNote, nil)
	}
	if a.Balance != nil {
		w, err := a.Balance(ctx)
		if err != nil {
			return failed(failWallet, "wallet", err)
		}
		t.Wallet = &w
	}
	return nil
}
