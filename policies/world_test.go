package policies_test

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
	"curfew/signals"
)

// world is what a story says of the world. Looks go the whole way: they are
// judged, followed and fused like real ones.
type world struct {
	Instances []instanceYAML `yaml:"instances"`
	Looks     []lookYAML     `yaml:"looks"`
	Runs      []runYAML      `yaml:"runs"` // known from elsewhere, such as a ping
	Grounds   []groundYAML   `yaml:"grounds"`
	Cannot    []string       `yaml:"cannot"`   // actions the platform does not have
	Required  *[]string      `yaml:"required"` // sources; ssh unless given
}

type instanceYAML struct {
	ID        string `yaml:"id"` // a unless given; several of one id follow each other
	From      string `yaml:"from"`
	State     string `yaml:"state"` // running unless given
	Boot      string `yaml:"boot"`  // b1 unless given
	Started   string `yaml:"started"`
	Keeps     string `yaml:"keeps"`
	Billing   string `yaml:"ends_billing"`
	GPUs      int    `yaml:"gpus"`
	Protected bool   `yaml:"protected"`
}

type lookYAML struct {
	At          string              `yaml:"at"`
	Of          string              `yaml:"of"`
	Boot        string              `yaml:"boot"`
	Unreachable bool                `yaml:"unreachable"`
	GPU         []string            `yaml:"gpu"` // percent, n/a or mig
	Power       float64             `yaml:"power"`
	Procs       []string            `yaml:"procs"` // "command @10:00"
	NoProcs     bool                `yaml:"no_procs"`
	Sessions    []string            `yaml:"sessions"` // times since the last input
	Runs        []boxYAML           `yaml:"runs"`
	Files       map[string]fileYAML `yaml:"files"`
	Unreadable  map[string]string   `yaml:"unreadable"`
	Booted      string              `yaml:"booted"`
}

type boxYAML struct {
	ID    string `yaml:"id"`
	Start string `yaml:"start"`
	End   string `yaml:"end"`
	Exit  *int   `yaml:"exit"`
	Gone  bool   `yaml:"gone"`
}

type fileYAML struct {
	Mod     string `yaml:"mod"`
	Tail    string `yaml:"tail"`
	Err     string `yaml:"err"`
	Size    int64  `yaml:"size"` // the tail's length unless given
	Missing bool   `yaml:"missing"`
}

type runYAML struct {
	ID      string `yaml:"id"`
	Of      string `yaml:"of"`
	Boot    string `yaml:"boot"`
	Source  string `yaml:"source"`
	Policy  string `yaml:"policy"`
	Start   string `yaml:"start"`
	End     string `yaml:"end"`
	EndedAt string `yaml:"ended_at"`
	Exit    *int   `yaml:"exit"`
}

type groundYAML struct {
	Of      string `yaml:"of"`
	Policy  string `yaml:"policy"`
	Boot    string `yaml:"boot"`
	Run     string `yaml:"run"`
	Outcome string `yaml:"outcome"`
	Ended   string `yaml:"ended"`
	Goal    string `yaml:"goal"`
}

type policyYAML struct {
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
	Unproven bool   `yaml:"release_unproven"`
	Data     string `yaml:"data"`
}

func clock(t *testing.T, s string) time.Time {
	t.Helper()
	if s == "" {
		return time.Time{}
	}
	layout := "15:04"
	if strings.Count(s, ":") == 2 {
		layout = time.TimeOnly
	}
	at, err := time.Parse(layout, s)
	if err != nil {
		t.Fatalf("%q is not a time of day: %v", s, err)
	}
	return at.AddDate(2026, 2, 1)
}

func span(t *testing.T, s string) time.Duration {
	t.Helper()
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func action(t *testing.T, s string) fleet.Action {
	t.Helper()
	a, err := fleet.ParseAction(cmp.Or(s, "keep"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func refOf(id string) fleet.Ref {
	return fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: cmp.Or(id, "a")}
}

func bootOf(boot string) fleet.Boot { return fleet.Boot(cmp.Or(boot, "b1")) }

// training builds the policy that a story's configuration stands for.
func (p policyYAML) training(t *testing.T) policies.Training {
	t.Helper()
	out := policies.Training{
		Common: policies.Common{
			Name: p.Name,
			Match: func(i fleet.Instance) (bool, error) {
				if p.Unreadable != "" {
					return false, errors.New(p.Unreadable)
				}
				return strings.HasPrefix(i.Ref.ID, p.Names), nil
			},
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

func (l lookYAML) evidence(t *testing.T) fleet.Evidence {
	t.Helper()
	e := fleet.Evidence{Source: "ssh", SeenAt: clock(t, l.At), Boot: bootOf(l.Boot), FreshFor: 70 * time.Second}
	if l.Unreachable {
		e.Reason = fleet.Because(signals.ReasonNotReached, nil)
		return e
	}
	f := &e.Facts
	f.Reached, f.ProcessesRead, f.Unreadable = true, true, l.Unreadable
	f.BootedAt = clock(t, l.Booted)
	if !l.NoProcs {
		f.Processes = []fleet.Process{{PID: 1, Command: "/sbin/init"}}
	}
	for n, proc := range l.Procs {
		command, at, _ := strings.Cut(proc, " @")
		f.Processes = append(f.Processes, fleet.Process{PID: 100 + n, Command: command, StartedAt: clock(t, at)})
	}
	for n, gpu := range l.GPU {
		memory := 20_000.0
		card := fleet.Card{Index: n, MIG: gpu == "mig", MemoryMB: &memory}
		if used, err := strconv.ParseFloat(gpu, 64); err == nil {
			card.Utilization = &used
		} else if gpu != "mig" && gpu != "n/a" {
			t.Fatalf("gpu %q is neither a percentage nor n/a nor mig", gpu)
		}
		if l.Power > 0 {
			card.PowerW = &l.Power
		}
		f.Cards = append(f.Cards, card)
	}
	for _, idle := range l.Sessions {
		f.Sessions = append(f.Sessions, fleet.Session{Kind: "tty", Name: "pts/0", Idle: span(t, idle)})
	}
	for _, b := range l.Runs {
		f.BoxRuns = append(f.BoxRuns, fleet.BoxRun{
			ID: b.ID, StartedAt: clock(t, b.Start), EndedAt: clock(t, b.End), ExitCode: b.Exit, PIDGone: b.Gone,
		})
	}
	for path, file := range l.Files {
		if f.Files == nil {
			f.Files = map[string]fleet.FileFact{}
		}
		f.Files[path] = fleet.FileFact{
			Exists: !file.Missing && file.Err == "", ModTime: clock(t, file.Mod),
			Size: max(file.Size, int64(len(file.Tail))), Tail: file.Tail, Err: file.Err,
		}
	}
	return e
}

// at gives the view that policies have of the world at a moment.
func (w world) at(t *testing.T, now time.Time, ps []policyYAML) policies.View {
	t.Helper()
	v := policies.View{
		Now: now, Due: now,
		Activity: map[fleet.Ref]fleet.Judgement{}, Facts: map[fleet.Ref]fleet.Facts{},
		Runs: map[fleet.Ref][]fleet.Run{}, Grounds: map[fleet.Ref][]fleet.Ground{},
	}
	current := map[fleet.Ref]fleet.Instance{}
	for _, i := range w.Instances {
		if from := clock(t, i.From); from.After(now) {
			continue
		}
		current[refOf(i.ID)] = fleet.Instance{
			Ref: refOf(i.ID), Boot: bootOf(i.Boot), State: fleet.State(cmp.Or(i.State, "running")),
			StartedAt: clock(t, i.Started), GPU: fleet.GPU{Count: i.GPUs}, Protected: i.Protected,
			OnStop: fleet.OnStop{
				KeepsData: fleet.Keeps(cmp.Or(i.Keeps, "all")), EndsBilling: fleet.Tri(cmp.Or(i.Billing, "yes")),
			},
		}
	}
	for _, r := range w.Runs {
		run := fleet.Run{
			ID: r.ID, Source: cmp.Or(r.Source, "ping"), Policy: r.Policy, Ref: refOf(r.Of), Boot: bootOf(r.Boot),
			StartedAt: clock(t, r.Start),
		}
		if ended := clock(t, r.EndedAt); !ended.IsZero() && !ended.After(now) {
			run.End, run.EndedAt, run.ExitCode = fleet.RunEnd(cmp.Or(r.End, "ended")), ended, r.Exit
		}
		if !run.StartedAt.After(now) {
			v.Runs[run.Ref] = append(v.Runs[run.Ref], run)
		}
	}
	var patterns []signals.Pattern
	var rules []signals.RunRule
	for _, p := range ps {
		patterns, rules = append(patterns, p.pattern()), append(rules, p.rule())
	}
	latest := map[fleet.Ref][]fleet.Evidence{}
	for _, l := range w.Looks {
		e, ref := l.evidence(t), refOf(l.Of)
		if e.SeenAt.After(now) {
			continue
		}
		e = signals.Judge(e, signals.Limits{}, patterns)
		latest[ref] = []fleet.Evidence{e}
		v.Runs[ref] = signals.Follow(ref, v.Runs[ref], e, rules)
		delete(v.Facts, ref)
		if e.Fresh(now) && e.Facts.Reached {
			v.Facts[ref] = e.Facts
		}
	}
	for _, g := range w.Grounds {
		v.Grounds[refOf(g.Of)] = append(v.Grounds[refOf(g.Of)], fleet.Ground{
			Policy: g.Policy, Boot: bootOf(g.Boot), Run: g.Run, Outcome: fleet.RunOutcome(g.Outcome),
			EndedAt: clock(t, g.Ended), Goal: action(t, g.Goal),
		})
	}
	required := []string{"ssh"}
	if w.Required != nil {
		required = *w.Required
	}
	for ref, i := range current {
		v.Things.Instances = append(v.Things.Instances, i)
		v.Activity[ref] = signals.Fuse(now, i, latest[ref], v.Runs[ref], required)
	}
	return v
}

func (w world) can(t *testing.T) func(fleet.Action) bool {
	t.Helper()
	var cannot []fleet.Action
	for _, word := range w.Cannot {
		cannot = append(cannot, action(t, word))
	}
	return func(a fleet.Action) bool { return !slices.Contains(cannot, a) }
}
