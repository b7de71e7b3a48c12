package policies_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// resourceYAML is a resource as a story tells of it. Things are named kind/id.
type resourceYAML struct {
	ID        string            `yaml:"id"`
	From      string            `yaml:"from"` // when it is first seen so; several of one id follow each other
	Region    string            `yaml:"region"`
	Source    string            `yaml:"source"`
	Attached  string            `yaml:"attached_to"`
	UsedBy    []string          `yaml:"used_by"`
	Created   string            `yaml:"created"` // an age or a time; unknown unless given
	Unused    string            `yaml:"unused"`  // likewise
	Labels    map[string]string `yaml:"labels"`
	Protected bool              `yaml:"protected"`
	Shared    bool              `yaml:"shared"`
	State     string            `yaml:"state"` // the platform's word where it is not ready
	Unread    []string          `yaml:"unread"`
	Price     string            `yaml:"price"`
}

type listYAML struct {
	Kind   string `yaml:"kind"`
	Region string `yaml:"region"`
	From   string `yaml:"from"` // since when it fails; it does not unless given
	Until  string `yaml:"until"`
	Why    string `yaml:"why"`
}

type startYAML struct {
	Of       string `yaml:"of"`
	By       string `yaml:"by"` // the policy; by hand unless given
	At       string `yaml:"at"` // when it was up
	Boot     string `yaml:"boot"`
	Releases string `yaml:"releases"` // when it was to be deleted, as was seen before
}

func thingOf(t *testing.T, name string) fleet.Ref {
	t.Helper()
	if name == "" {
		return fleet.Ref{}
	}
	kind, id, ok := strings.Cut(name, "/")
	if !ok {
		t.Fatalf("%q is not kind/id", name)
	}
	return fleet.Ref{Account: "lab", Kind: fleet.ThingKind(kind), ID: id}
}

// ago reads an age at base, or a time.
func ago(t *testing.T, s string) time.Time {
	t.Helper()
	if s == "" || strings.Contains(s, ":") {
		return clock(t, s)
	}
	return base.Add(-span(t, s))
}

func unable(t *testing.T, words []string) []fleet.Inability {
	t.Helper()
	var out []fleet.Inability
	for _, word := range words {
		out = append(out, fleet.Inability{Action: action(t, word), Why: fleet.Because("story.unable", fleet.Values{"action": fleet.Text(word)})})
	}
	return out
}

// resources gives those of a story in the order in which an inventory has them not:
// that of the story.
func (w world) resources(t *testing.T, now time.Time) []*fleet.Resource {
	t.Helper()
	var out []*fleet.Resource
	at := map[fleet.Ref]int{}
	for _, y := range w.Resources {
		if clock(t, y.From).After(now) {
			continue
		}
		r := &fleet.Resource{
			Ref: thingOf(t, y.ID), Region: y.Region, Source: thingOf(t, y.Source), AttachedTo: thingOf(t, y.Attached),
			CreatedAt: ago(t, y.Created), UnusedSince: ago(t, y.Unused), Labels: y.Labels, Protected: y.Protected,
			Ready: y.State == "", RawState: y.State, Unread: y.Unread, Price: price(t, y.Price),
			Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
		}
		if y.Shared {
			r.Shared = fleet.Yes
		}
		for _, by := range y.UsedBy {
			r.UsedBy = append(r.UsedBy, thingOf(t, by))
		}
		if n, again := at[r.Ref]; again {
			out[n] = r
			continue
		}
		at[r.Ref] = len(out)
		out = append(out, r)
	}
	return out
}

func (w world) lists(t *testing.T, now time.Time) []policies.ListState {
	t.Helper()
	var out []policies.ListState
	for _, y := range w.Lists {
		l := policies.ListState{Scope: fleet.Scope{Account: "lab", Region: y.Region}, Kind: fleet.ThingKind(y.Kind), At: base.Add(-time.Hour)}
		if from, until := clock(t, y.From), clock(t, y.Until); y.From != "" && !from.After(now) && (until.IsZero() || now.Before(until)) {
			l.Since, l.Failing = from, fleet.Because("story.failing", fleet.Values{"why": fleet.Text(cmp.Or(y.Why, "no answer"))})
		}
		out = append(out, l)
	}
	return out
}

func (w world) starts(t *testing.T, now time.Time) map[fleet.Ref]fleet.Intent {
	t.Helper()
	out := map[fleet.Ref]fleet.Intent{}
	for _, y := range w.Starts {
		i := fleet.Intent{
			Ref: refOf(y.Of), Action: fleet.Start, Goal: fleet.Start, By: "hand:wang", State: fleet.IntentClosed,
			Outcome: fleet.OutcomeDone, Reached: bootOf(y.Boot), ClosedAt: clock(t, y.At),
			Subject: fleet.Instance{Ref: refOf(y.Of), ReleasesAt: clock(t, y.Releases)},
		}
		if y.By != "" {
			i.By, i.Verdicts = "policy", []fleet.Verdict{{Policy: y.By, Goal: fleet.Start}}
		}
		if !i.ClosedAt.After(now) {
			out[i.Ref] = i
		}
	}
	return out
}
