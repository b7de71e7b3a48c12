package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/policies"
)

func TestEverythingThatPoliciesOnLeftoversCanSay(t *testing.T) {
	c := load(t, "testdata/ok/everything.yaml")
	of := map[string]Policy{}
	for _, p := range c.Policies {
		of[p.Name] = p
	}
	want := []policies.Policy{
		policies.Snapshots{
			Common: policies.Common{Name: "old", Terms: fleet.Terms{
				Mode: fleet.Enforce, WarnStop: 48 * time.Hour, WarnDestroy: 48 * time.Hour, Cooldown: 10 * time.Minute, Refund: true, Discard: true,
			}},
			Kinds: []fleet.ThingKind{fleet.KindSnapshot, fleet.KindImage}, OlderThan: 14 * 24 * time.Hour, KeepLast: 2,
		},
		policies.Orphans{
			Common: policies.Common{Name: "left", Terms: fleet.Terms{
				Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute, Discard: true,
			}},
			Kinds:     []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP, fleet.KindImage, fleet.KindInstance},
			UnusedFor: 72 * time.Hour, Then: fleet.Delete,
		},
		policies.Orphans{
			Common: policies.Common{Name: "told", Terms: fleet.Terms{
				Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute,
			}},
			Kinds: []fleet.ThingKind{fleet.KindInstance}, UnusedFor: 24 * time.Hour,
		},
		policies.Expiry{
			Common: policies.Common{Name: "ends", Terms: fleet.Terms{
				Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute,
			}},
			Remind:    []time.Duration{72 * time.Hour, 12 * time.Hour},
			KeepAlive: &policies.KeepAlive{Before: 72 * time.Hour, For: 5 * time.Minute},
		},
	}
	for _, w := range want {
		if diff := cmp.Diff(w, of[w.Name()].Policy, cmpopts.IgnoreFields(policies.Common{}, "Match")); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
	}
	if of["old"].Window == nil || of["old"].Window.Length != 2*time.Hour || of["left"].Window != nil {
		t.Error("windows")
	}
	// What nobody looked at within it may be stopped without a look.
	if got := of["ends"].Samples; got < 70*time.Minute {
		t.Errorf("expiry looks back %s", got)
	}
}

func TestTheDesignsOldSnapshots(t *testing.T) {
	data, err := os.ReadFile("testdata/design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const old = `policies:
  - name: old-snapshots
    type: snapshots
    match: {provider: aliyun}
    schedule: "30 3 * * *"
    older_than: 14d
    keep_last: 2
    then: delete
`
	c, err := Parse("design.yaml", []byte(strings.Replace(string(data), "policies:\n", old, 1)), registry())
	if err != nil {
		t.Fatal(err)
	}
	want := policies.Snapshots{
		Common: policies.Common{Name: "old-snapshots", Terms: fleet.Terms{
			Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute, Discard: true,
		}},
		Kinds: []fleet.ThingKind{fleet.KindSnapshot}, OlderThan: 14 * 24 * time.Hour, KeepLast: 2,
	}
	if diff := cmp.Diff(policies.Policy(want), c.Policies[0].Policy, cmpopts.IgnoreFields(policies.Common{}, "Match")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	// Half past three in Shanghai, for an hour.
	if due, _ := c.Policies[0].Window.At(time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)); !due.Equal(time.Date(2026, 3, 1, 19, 30, 0, 0, time.UTC)) {
		t.Errorf("due %s", due)
	}
	for provider, want := range map[string]bool{"aliyun": true, "autodl": false} {
		ok, err := c.Policies[0].Match(fleet.Resource{Ref: fleet.Ref{Kind: fleet.KindSnapshot, ID: "s"}, Provider: provider}.Subject())
		if ok != want || err != nil {
			t.Errorf("%s matched %t, %v", provider, ok, err)
		}
	}
}
