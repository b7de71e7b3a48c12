package policies_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/signals"
)

// policyYAML is what a story says of one policy.
type policyYAML struct {
	Type       string `yaml:"type"` // training unless given
	Name       string `yaml:"name"`
	Names      string `yaml:"names"` // what the ids it matches begin with
	Process    string `yaml:"process"`
	Grace      string `yaml:"grace"`
	Then       string `yaml:"then"`
	Mode       string `yaml:"mode"`
	Closed     bool   `yaml:"closed"` // outside its window
	Opens      string `yaml:"opens"`
	Unreadable string `yaml:"unreadable"` // why what it matches by cannot be read
	PendingMax int    `yaml:"pending_max"`
	Success    struct {
		Exit bool   `yaml:"exit"`
		File string `yaml:"file"`
		Log  struct {
			File string `yaml:"file"`
			Line string `yaml:"line"`
		} `yaml:"log"`
	} `yaml:"success"`
	OnFailure struct {
		Then  string `yaml:"then"`
		After string `yaml:"after"`
	} `yaml:"on_failure"`
	Log      string `yaml:"log"`
	Asked    bool   `yaml:"asked"`
	Unproven bool   `yaml:"release_unproven"`
	Data     string `yaml:"data"`
	Warn     string `yaml:"warn"` // 10m unless given
	WarnData string `yaml:"warn_release"`
	Export   bool   `yaml:"export"` // its data is exported before a release

	// Of idle.
	For            string  `yaml:"for"`
	GPUBelow       float64 `yaml:"gpu_below"`
	CPUBelow       float64 `yaml:"cpu_below"`
	SessionIdleMax string  `yaml:"session_idle_max"`
	VRAMIdleMax    string  `yaml:"vram_idle_max"`
	BootGrace      string  `yaml:"boot_grace"`

	// Of offhours.
	Due     string `yaml:"due"` // the tick; it is asked under it whatever the time
	Window  string `yaml:"window"`
	IfBusy  string `yaml:"if_busy"`
	WaitMax string `yaml:"wait_max"`
	Holiday bool   `yaml:"holiday"`

	// Of lifetime.
	Max string `yaml:"max"`

	// Of snapshots and orphans.
	Kinds     []string          `yaml:"kinds"` // as of references; snapshots or disks and addresses unless given
	Label     map[string]string `yaml:"label"` // it matches by; what has no labels read cannot be matched
	OlderThan string            `yaml:"older_than"`
	KeepLast  int               `yaml:"keep_last"`
	UnusedFor string            `yaml:"unused_for"`

	// Of expiry.
	Remind    []string `yaml:"remind"`
	KeepAlive *struct {
		Before string `yaml:"before"`
		For    string `yaml:"for"`
	} `yaml:"keepalive"`

	// Of balance and budget.
	Accounts []string          `yaml:"accounts"` // it is about; all unless given
	Levels   []levelYAML       `yaml:"levels"`
	SpendMax string            `yaml:"spend_max"`
	MaxAge   string            `yaml:"max_age"`
	Limit    string            `yaml:"limit"`
	Period   string            `yaml:"period"`
	By       string            `yaml:"by"`
	At       map[string]string `yaml:"at"`
}

// policy builds what a story's configuration stands for.
func (p policyYAML) policy(t *testing.T) policies.Policy {
	t.Helper()
	common := p.training(t).Common
	common.Terms.WarnStop, common.Terms.WarnDestroy = span(t, cmp.Or(p.Warn, "10m")), span(t, cmp.Or(p.WarnData, "24h"))
	then := action(t, cmp.Or(p.Then, "stop"))
	switch p.Type {
	case "":
		return p.training(t)
	case "idle":
		return policies.Idle{
			Common: common, For: span(t, p.For), GPUBelow: cmp.Or(p.GPUBelow, 5), LoadBelow: cmp.Or(p.CPUBelow, 0.5),
			SessionIdleMax: span(t, cmp.Or(p.SessionIdleMax, "30m")), IgnoreMemory: p.VRAMIdleMax == "off",
			MemoryIdleMax: span(t, cmp.Or(strings.TrimPrefix(p.VRAMIdleMax, "off"), "2h")),
			BootGrace:     span(t, cmp.Or(p.BootGrace, "15m")), Then: then,
		}
	case "offhours":
		return policies.OffHours{
			Common: common, Window: span(t, p.Window), IfBusy: policies.IfBusy(p.IfBusy), WaitMax: span(t, p.WaitMax),
			Holiday: func(time.Time) bool { return p.Holiday }, Then: then,
		}
	case "lifetime":
		return policies.Lifetime{Common: common, Max: span(t, p.Max), Then: then}
	case "snapshots":
		return policies.Snapshots{
			Common: common, Kinds: p.kinds(fleet.KindSnapshot), OlderThan: span(t, p.OlderThan), KeepLast: p.KeepLast,
		}
	case "orphans":
		return policies.Orphans{
			Common: common, Kinds: p.kinds(fleet.KindDisk, fleet.KindPublicIP, fleet.KindInstance),
			UnusedFor: span(t, cmp.Or(p.UnusedFor, "24h")), Then: action(t, p.Then),
		}
	case "balance", "budget":
		return p.money(t, common)
	case "expiry":
		out := policies.Expiry{Common: common}
		for _, d := range p.Remind {
			out.Remind = append(out.Remind, span(t, d))
		}
		if p.KeepAlive != nil {
			out.KeepAlive = &policies.KeepAlive{Before: span(t, p.KeepAlive.Before), For: span(t, p.KeepAlive.For)}
		}
		return out
	}
	t.Fatalf("%q is no type of policy", p.Type)
	return nil
}

func (p policyYAML) kinds(usual ...fleet.ThingKind) []fleet.ThingKind {
	var out []fleet.ThingKind
	for _, word := range p.Kinds {
		out = append(out, fleet.ThingKind(word))
	}
	if len(out) == 0 {
		return usual
	}
	return out
}

// match selects by id and labels.
func (p policyYAML) match(i fleet.Instance) (bool, error) {
	switch {
	case p.Unreadable != "":
		return false, errors.New(p.Unreadable)
	case len(p.Label) > 0 && slices.Contains(i.Unread, "labels"):
		return false, errors.New("labels could not be read")
	case len(p.Accounts) > 0 && !slices.Contains(p.Accounts, i.Ref.Account):
		return false, nil
	}
	for key, value := range p.Label {
		if i.Labels[key] != value {
			return false, nil
		}
	}
	return strings.HasPrefix(i.Ref.ID, p.Names), nil
}

// training builds the policy that a story's configuration stands for.
func (p policyYAML) training(t *testing.T) policies.Training {
	t.Helper()
	out := policies.Training{
		Common: policies.Common{
			Name: p.Name, Match: p.match,
			Terms: fleet.Terms{Mode: fleet.Mode(cmp.Or(p.Mode, "enforce")), Discard: p.Data == "discard"},
		},
		Grace: span(t, cmp.Or(p.Grace, "5m")),
		Success: policies.Success{
			Exit: p.Success.Exit, File: p.Success.File,
			Log: policies.SuccessLog{File: p.Success.Log.File},
		},
		Failed: policies.End{
			Then:  action(t, cmp.Or(p.OnFailure.Then, "stop")),
			After: span(t, cmp.Or(p.OnFailure.After, p.Grace, "5m")),
		},
		Then:            action(t, cmp.Or(p.Then, "stop")),
		ReleaseUnproven: p.Unproven,
		Log:             p.Log,
		Asked:           p.Asked,
	}
	if p.Export {
		out.Terms.Data = &fleet.DataTerms{Export: &fleet.Export{Run: "copy", Timeout: time.Minute}}
	}
	if line := p.Success.Log.Line; line != "" {
		out.Success.Log.Match = func(s string) bool { return strings.Contains(s, line) }
	}
	return out
}

func (p policyYAML) pattern() signals.Pattern {
	return signals.Pattern{Policy: p.Name, Match: func(command string) bool {
		return p.Process != "" && strings.Contains(command, p.Process)
	}}
}

func (p policyYAML) rule() signals.RunRule {
	rule := signals.RunRule{Policy: p.Name, Looks: 2, Apart: time.Minute, PendingMax: p.PendingMax}
	if p.Success.Log.File != "" {
		rule.Logs = []string{p.Success.Log.File}
	}
	return rule
}
