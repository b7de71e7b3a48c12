package ctl_test

import (
	"testing"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/policies"
)

func TestAPlanTellsWhatIsDoneFromWhatWaitsAndWhatWouldBe(t *testing.T) {
	allow := guard.Ruling{Check: "capability", Answer: guard.Allow}
	warning := guard.Ruling{Check: "warning", Answer: guard.Wait}
	full := guard.Ruling{Check: "cap", Answer: guard.Wait}
	protected := guard.Ruling{Check: "protection"}
	dry := guard.Ruling{Check: "mode"}
	pending, written := fleet.Intent{State: fleet.IntentPending}, fleet.Intent{State: fleet.IntentWritten}
	for name, c := range map[string]struct {
		p                            ctl.Planned
		under, pending, would, waits bool
	}{
		"left alone":                  {p: ctl.Planned{Mode: fleet.Enforce}},
		"to be announced":             {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.Enforce, Rulings: []guard.Ruling{allow, warning}}, pending: true},
		"announced":                   {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.Enforce, Rulings: []guard.Ruling{allow}, Intent: &pending}, pending: true},
		"at the platform":             {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.Enforce, Intent: &written}, under: true, pending: true},
		"over the cap":                {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.Enforce, Rulings: []guard.Ruling{allow, warning, full}}, pending: true, waits: true},
		"protected":                   {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.Enforce, Rulings: []guard.Ruling{protected, warning}}},
		"in a dry run":                {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.DryRun, Rulings: []guard.Ruling{allow, warning, dry}}, would: true},
		"in a dry run, and protected": {p: ctl.Planned{Action: fleet.Stop, Mode: fleet.DryRun, Rulings: []guard.Ruling{protected, warning, dry}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.p.Under(); got != c.under {
				t.Errorf("under way: %v", got)
			}
			if got := c.p.Pending(); got != c.pending {
				t.Errorf("pending: %v", got)
			}
			if got := c.p.Would(); got != c.would {
				t.Errorf("would: %v", got)
			}
			if why, got := c.p.Waits(); got != c.waits && c.p.Action != fleet.Keep && len(c.p.Rulings) > 0 {
				t.Errorf("waits: %v for %s", got, why.Check)
			}
		})
	}
}

func TestAnAnswerSaysWhetherEverythingCouldBeRead(t *testing.T) {
	failing := fleet.Because("observe.poll-failed", nil)
	for name, c := range map[string]struct {
		a    ctl.Applied
		want bool
	}{
		"all of it":          {ctl.Applied{Scopes: []policies.ScopeState{{At: at(1)}}, Lists: []policies.ListState{{At: at(1)}}}, false},
		"a scope fails":      {ctl.Applied{Scopes: []policies.ScopeState{{At: at(1), Failing: failing}}}, true},
		"a scope never read": {ctl.Applied{Scopes: []policies.ScopeState{{}}}, true},
		"a list fails":       {ctl.Applied{Lists: []policies.ListState{{At: at(1), Failing: failing}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.a.Unread(); got != c.want {
				t.Errorf("unread: %v", got)
			}
		})
	}
}
