package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/policies"
)

// unread are the parts of policies about money that no comparison can look into.
func unread() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreFields(policies.Common{}, "Match"), cmpopts.IgnoreFields(policies.Balance{}, "Watches"), cmpopts.IgnoreFields(policies.Budget{}, "Watches"),
	}
}

func TestWhatPoliciesAboutMoneyAreWhereNothingElseIsSaid(t *testing.T) {
	common := policies.Common{Name: "p", Terms: fleet.Terms{
		Mode: fleet.DryRun, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute, Money: true,
	}}
	for _, c := range []struct {
		keys string
		want policies.Policy
	}{
		{"type: balance", policies.Balance{Common: common, MaxAge: 15 * time.Minute, Levels: []policies.Level{
			{Runway: 24 * time.Hour, Then: policies.MoneyWarn, Severity: fleet.Warning},
			{Runway: 6 * time.Hour, Then: policies.MoneyWarn, Severity: fleet.Critical},
		}}},
		{"type: budget, limit: 3000 CNY, period: month", policies.Budget{
			Common: common, Limit: fleet.CNY(3000e6), Period: policies.Month, At: []policies.BudgetStep{
				{Percent: 50, Then: policies.MoneyWarn, Severity: fleet.Warning},
				{Percent: 80, Then: policies.MoneyWarn, Severity: fleet.Warning},
				{Percent: 100, Then: policies.MoneyWarn, Severity: fleet.Critical},
			}}},
	} {
		if diff := cmp.Diff(c.want, policyOf(t, "", c.keys).Policy, unread()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.keys, diff)
		}
	}
}

func TestEverythingThatPoliciesAboutMoneyCanSay(t *testing.T) {
	c := load(t, "testdata/ok/everything.yaml")
	of := map[string]Policy{}
	for _, p := range c.Policies {
		of[p.Name] = p
	}
	common := func(name string, warn time.Duration) policies.Common {
		terms := fleet.Terms{Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute, Money: true}
		if warn > 0 {
			terms.WarnStop, terms.WarnDestroy = warn, warn
		}
		return policies.Common{Name: name, Terms: terms}
	}
	for _, w := range []policies.Policy{
		policies.Balance{
			Common: common("purse", 5*time.Minute), SpendMax: fleet.CNY(500e6), MaxAge: 4 * time.Hour,
			Levels: []policies.Level{
				{Below: fleet.CNY(100e6), Then: policies.MoneyWarn, Severity: fleet.Warning},
				{Below: fleet.CNY(20_500_000), Then: policies.StopAll, Severity: fleet.Warning},
				{Runway: 12 * time.Hour, Then: policies.BlockOrders, Severity: fleet.Warning},
				{Runway: 90 * time.Minute, Then: policies.StopIdle, Severity: fleet.Critical},
			},
		},
		policies.Budget{
			Common: common("month", 0), Limit: fleet.CNY(3000e6), Period: policies.Month, By: policies.ByOwner,
			At: []policies.BudgetStep{
				{Percent: 50, Then: policies.MoneyWarn, Severity: fleet.Warning},
				{Percent: 90, Then: policies.BlockOrders, Severity: fleet.Warning},
				{Percent: 100, Then: policies.StopIdle, Severity: fleet.Critical},
				{Percent: 150, Then: policies.StopAll, Severity: fleet.Critical},
			},
		},
	} {
		if diff := cmp.Diff(w, of[w.Name()].Policy, unread()); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
	}
	purse, ok := of["purse"].Policy.(policies.Balance)
	if !ok {
		t.Fatalf("purse is a %T", of["purse"].Policy)
	}
	// Its match is {provider: autodl, name: "exp-*"}: names are of instances.
	for provider, want := range map[string]bool{"autodl": true, "sim": false} {
		if got := purse.Watches("lab", provider); got != want {
			t.Errorf("a wallet at %s is watched: %v, want %v", provider, got, want)
		}
	}
	each, ok := of["each"].Policy.(policies.Budget)
	if !ok || !each.Watches("lab", "autodl") || each.Watches("demo", "sim") || each.Limit != (fleet.Money{Micros: 20e6, Currency: "USD"}) || each.Period != policies.PerRun {
		t.Errorf("each: %+v", of["each"].Policy)
	}
}

func TestTheDesignsWallet(t *testing.T) {
	p := load(t, "testdata/design.yaml").Policies[2]
	got, ok := p.Policy.(policies.Balance)
	if !ok || p.Name != "money" {
		t.Fatalf("%s is a %T", p.Name, p.Policy)
	}
	want := []policies.Level{
		{Below: fleet.CNY(100e6), Then: policies.MoneyWarn, Severity: fleet.Warning},
		{Runway: 6 * time.Hour, Then: policies.MoneyWarn, Severity: fleet.Critical},
		{Below: fleet.CNY(20e6), Then: policies.StopIdle, Severity: fleet.Critical},
	}
	if diff := cmp.Diff(want, got.Levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if !got.Terms.Money || !got.Watches("autodl-lab", "autodl") {
		t.Errorf("%+v", got)
	}
}

// A wallet is read with polls: where they are rare, it is old later.
func TestAReadingMayBeAsOldAsTwoPolls(t *testing.T) {
	c, err := Parse("c.yaml", []byte("accounts: [{name: a, provider: autodl, token: {env: T}, poll: 20m}]\npolicies: [{name: p, type: balance, match: all}]\n"), registry())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Policies[0].Policy.(policies.Balance); !ok || got.MaxAge != 40*time.Minute {
		t.Errorf("%+v", c.Policies[0].Policy)
	}
}

func TestWhatIsInForceAboutMoneyIsTold(t *testing.T) {
	for keys, want := range map[string]string{
		"type: balance": "levels runway 24h: warn, runway 6h: warn (critical); max_age 15m",
		"type: balance, spend_max: 500 CNY, levels: [{below: 20 CNY, then: stop-all}]": "levels below 20.00 CNY: stop-all; spend_max 500.00 CNY; max_age 15m",
		"type: budget, limit: 30 CNY, period: day, by: owner, at: {100%: stop-all}":    "limit 30.00 CNY; period day; by owner; at 100%: stop-all",
		"type: budget, limit: 30 CNY, period: run":                                     "limit 30.00 CNY; period run; at 50%: warn, 80%: warn, 100%: warn",
	} {
		var told []string
		for _, e := range policyOf(t, "", keys).Explain {
			switch e.Key {
			case "mode", "warn.stop", "warn.release", "cooldown", "approval":
			default:
				told = append(told, e.Key+" "+e.Value)
			}
		}
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("%s:\n%s, want\n%s", keys, got, want)
		}
	}
}
