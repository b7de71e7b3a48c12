package policies_test

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// accountYAML is an account as a story tells of it.
type accountYAML struct {
	Name   string        `yaml:"name"` // lab unless given; also its identity
	Kind   string        `yaml:"provider"`
	Silent bool          `yaml:"silent"` // the platform tells nothing of a wallet
	Wallet []readingYAML `yaml:"wallet"`
	Burn   []burnYAML    `yaml:"burn"`
	AtZero fleet.Code    `yaml:"at_zero"`
	Dark   string        `yaml:"dark"`   // since when its lists cannot be read
	Polled string        `yaml:"polled"` // when its lists were read last; now unless given
}

// readingYAML is what a wallet held from one moment to another.
type readingYAML struct {
	From     string `yaml:"from"`
	To       string `yaml:"to"` // the same unless given
	Cash     string `yaml:"cash"`
	Vouchers string `yaml:"vouchers"`
}

type burnYAML struct {
	From     string   `yaml:"from"`
	PerHour  []string `yaml:"per_hour"`
	Running  int      `yaml:"running"`
	Unpriced int      `yaml:"unpriced"`
}

// tallyYAML is what was reckoned of a budget at a moment.
type tallyYAML struct {
	At        string `yaml:"at"`
	From      string `yaml:"from"`
	To        string `yaml:"to"`
	Since     string `yaml:"since"`
	LatelyFor string `yaml:"lately_for"`
	Groups    []struct {
		Key     string   `yaml:"key"`
		Name    string   `yaml:"name"`
		Sum     []string `yaml:"sum"`
		Lately  []string `yaml:"lately"`
		Unknown int      `yaml:"unknown"`
	} `yaml:"groups"`
}

type levelYAML struct {
	Below    string `yaml:"below"`
	Runway   string `yaml:"runway"`
	Then     string `yaml:"then"` // warn unless given
	Severity string `yaml:"severity"`
}

func money(t *testing.T, s string) fleet.Money {
	t.Helper()
	if s == "" {
		return fleet.Money{}
	}
	m, err := fleet.ParseMoney(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func sums(t *testing.T, words []string) fleet.Sums {
	t.Helper()
	var out fleet.Sums
	for _, w := range words {
		out.Add(money(t, w))
	}
	return out
}

// ofMoney adds what is known of accounts and budgets at a moment.
func (w world) ofMoney(t *testing.T, v *policies.View) {
	t.Helper()
	v.Accounts, v.Spend = map[string]policies.Account{}, map[string]policies.Tally{}
	for _, a := range w.Accounts {
		name := cmp.Or(a.Name, "lab")
		scope := policies.ScopeState{Scope: fleet.Scope{Account: name}, At: v.Now}
		if a.Polled != "" {
			scope.At = clock(t, a.Polled)
		}
		if since := clock(t, a.Dark); !since.IsZero() && !since.After(v.Now) {
			scope.At, scope.Since, scope.Failing = since, since, fleet.Because(policies.ReasonListUnread, nil)
		}
		v.Things.Scopes = append(v.Things.Scopes, scope)
		account := policies.Account{
			Ref:  fleet.Ref{Account: name, Kind: fleet.KindAccount, ID: name},
			Name: name, Provider: a.Kind, Tells: !a.Silent, AtZero: fleet.Reason{Code: a.AtZero},
		}
		for _, r := range a.Wallet {
			from, to := clock(t, r.From), clock(t, cmp.Or(r.To, r.From))
			if from.After(v.Now) {
				continue
			}
			if to.After(v.Now) {
				to = v.Now
			}
			account.Wallet = append(account.Wallet, policies.Reading{At: from, SeenAt: to, Cash: money(t, r.Cash), Vouchers: money(t, r.Vouchers)})
		}
		for _, b := range a.Burn {
			if !clock(t, b.From).After(v.Now) {
				account.Burn = policies.Burn{PerHour: sums(t, b.PerHour), Running: b.Running, Unpriced: b.Unpriced}
			}
		}
		v.Accounts[name] = account
	}
	for name, tallies := range w.Spend {
		for _, y := range tallies {
			if at := clock(t, y.At); at.After(v.Now) {
				continue
			}
			tally := policies.Tally{At: clock(t, y.At), From: clock(t, y.From), To: clock(t, y.To), Since: clock(t, y.Since)}
			for _, g := range y.Groups {
				tally.Groups = append(tally.Groups, policies.Group{
					Key: g.Key, Name: g.Name, Sum: sums(t, g.Sum), Lately: sums(t, g.Lately), LatelyFor: span(t, y.LatelyFor), Unknown: g.Unknown,
				})
			}
			v.Spend[name] = tally
		}
	}
}

// money builds the policies about money that a story's configuration stands for.
func (p policyYAML) money(t *testing.T, c policies.Common) policies.Policy {
	t.Helper()
	c.Terms.Money = true
	watches := func(account, _ string) bool { return len(p.Accounts) == 0 || slices.Contains(p.Accounts, account) }
	if p.Type == "balance" {
		out := policies.Balance{Common: c, Watches: watches, SpendMax: money(t, p.SpendMax), MaxAge: span(t, cmp.Or(p.MaxAge, "15m"))}
		for _, l := range p.Levels {
			then := policies.MoneyAct(cmp.Or(l.Then, "warn"))
			out.Levels = append(out.Levels, policies.Level{
				Below: money(t, l.Below), Runway: span(t, l.Runway), Then: then,
				Severity: fleet.Severity(cmp.Or(l.Severity, string(then.Severity()))),
			})
		}
		return out
	}
	out := policies.Budget{Common: c, Watches: watches, Limit: money(t, p.Limit), Period: policies.Period(p.Period), By: policies.By(p.By)}
	for share, then := range p.At {
		percent, err := strconv.Atoi(strings.TrimSuffix(share, "%"))
		if err != nil {
			t.Fatal(err)
		}
		out.At = append(out.At, policies.BudgetStep{Percent: percent, Then: policies.MoneyAct(then)})
	}
	return out
}

// chat is what people were told of money: standing findings until they are over.
type chat struct {
	standing map[string]time.Time
	over     map[string]fleet.Reason
	told     map[string]bool
}

// hear notes the findings of one moment, and says which are new and which are over.
func (c *chat) hear(w io.Writer, found []fleet.Finding, now time.Time, say func(fleet.Reason) string) {
	if c.told == nil {
		c.standing, c.over, c.told = map[string]time.Time{}, map[string]fleet.Reason{}, map[string]bool{}
	}
	there := map[string]bool{}
	for _, f := range found {
		key := f.Key()
		there[key] = true
		word := "told"
		if f.Standing && !c.standing[key].IsZero() || !f.Standing && c.told[key] {
			word = "known"
		}
		if f.Quiet {
			word += ", no reminder"
		}
		if !f.Standing {
			c.told[key] = true
		} else if c.standing[key].IsZero() {
			c.standing[key], c.over[key] = now, f.Over
		}
		fmt.Fprintf(w, "  %s  %s  %s %s [%s]: %s\n", f.Policy, cmp.Or(f.Ref.ID, "-"), f.Severity, f.Condition, word, say(f.Reason))
	}
	keys := []string{}
	for key := range c.standing {
		if !there[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(w, "  over: %s\n", say(c.over[key]))
		delete(c.standing, key)
	}
}

// aboutMoney asks a policy about the accounts.
func aboutMoney(p policies.Policy, v policies.View) policies.Result {
	v.Things = policies.Things{Scopes: v.Things.Scopes}
	for identity := range v.Accounts {
		v.Things.Accounts = append(v.Things.Accounts, identity)
	}
	return p.Decide(v)
}

// in says where orders are held back.
func in(ref fleet.Ref) string {
	if ref.IsZero() {
		return "everywhere"
	}
	return "for " + string(ref.Kind) + " " + cmp.Or(ref.ID, "-")
}
