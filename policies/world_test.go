package policies_test

import (
	"cmp"
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
	Open      []openYAML     `yaml:"open"`     // announced stops
	Secured   []securedYAML  `yaml:"secured"`  // exports

	Resources []resourceYAML `yaml:"resources"`
	Lists     []listYAML     `yaml:"lists"`
	Starts    []startYAML    `yaml:"starts"` // done ones

	Accounts []accountYAML          `yaml:"accounts"`
	Spend    map[string][]tallyYAML `yaml:"spend"` // by policy
}

type instanceYAML struct {
	ID        string `yaml:"id"` // a unless given; several of one id follow each other
	From      string `yaml:"from"`
	Account   string `yaml:"account"` // lab unless given
	Owner     string `yaml:"owner"`
	State     string `yaml:"state"` // running unless given
	Boot      string `yaml:"boot"`  // b1 unless given
	Started   string `yaml:"started"`
	Keeps     string `yaml:"keeps"`
	Billing   string `yaml:"ends_billing"`
	GPUs      int    `yaml:"gpus"`
	Protected bool   `yaml:"protected"`

	Charge   string   `yaml:"charge"`   // on-demand unless given
	Ends     string   `yaml:"ends"`     // of a period
	Stopped  string   `yaml:"stopped"`  // since when
	Stops    string   `yaml:"stops"`    // a platform timer
	Releases string   `yaml:"releases"` // the platform's own deletion
	Price    string   `yaml:"price"`
	Costs    string   `yaml:"still_costs"`
	Unread   []string `yaml:"unread"`
	Unable   []string `yaml:"unable"` // actions that cannot be done to this one
}

type lookYAML struct {
	At          string              `yaml:"at"`
	Until       string              `yaml:"until"` // looks go on until then, one every minute
	Of          string              `yaml:"of"`
	Boot        string              `yaml:"boot"`
	Unreachable bool                `yaml:"unreachable"`
	GPU         []string            `yaml:"gpu"` // percent, n/a or mig
	Power       float64             `yaml:"power"`
	Memory      string              `yaml:"memory"` // MB on each card, or n/a; 20000 unless given
	Load        float64             `yaml:"load"`
	Procs       []string            `yaml:"procs"` // "command @10:00"
	NoProcs     bool                `yaml:"no_procs"`
	Sessions    []string            `yaml:"sessions"` // times since the last input
	Kernels     []string            `yaml:"kernels"`  // times since they were last used, or busy
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
	Then  string `yaml:"then"`
	Said  string `yaml:"said"`
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

type securedYAML struct {
	Of     string `yaml:"of"`
	Policy string `yaml:"policy"`
	Boot   string `yaml:"boot"`
	Run    string `yaml:"run"`
	Began  string `yaml:"began"`
	Ended  string `yaml:"ended"` // none: it was interrupted
	Why    string `yaml:"why"`   // why it failed; it did not unless given
	Tries  int    `yaml:"tries"`
	Void   string `yaml:"void"` // when work was seen after it
}

type openYAML struct {
	Of     string `yaml:"of"`
	Boot   string `yaml:"boot"`
	Policy string `yaml:"policy"`
	Due    string `yaml:"due"`
	From   string `yaml:"from"`
}

func clock(t *testing.T, s string) time.Time {
	t.Helper()
	if s == "" {
		return time.Time{}
	}
	if strings.Contains(s, "T") {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	// A time of day is one of 1 March 2026.
	date, of, dated := strings.Cut(s, "_")
	if !dated {
		date, of = "2026-03-01", s
	}
	layout := "15:04"
	if strings.Count(of, ":") == 2 {
		layout = time.TimeOnly
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatalf("%q begins with no date: %v", s, err)
	}
	at, err := time.Parse(layout, of)
	if err != nil {
		t.Fatalf("%q is not a time of day: %v", s, err)
	}
	return day.Add(at.Sub(at.Truncate(24 * time.Hour)))
}

func span(t *testing.T, s string) time.Duration {
	t.Helper()
	if s == "" {
		return 0
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * 24 * time.Hour
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

func (l lookYAML) evidence(t *testing.T) fleet.Evidence {
	t.Helper()
	e := fleet.Evidence{Source: "ssh", SeenAt: clock(t, l.At), Boot: bootOf(l.Boot), FreshFor: 70 * time.Second}
	if l.Unreachable {
		e.Reason = fleet.Because(signals.ReasonNotReached, nil)
		return e
	}
	f := &e.Facts
	f.Reached, f.ProcessesRead, f.Unreadable = true, true, l.Unreadable
	f.BootedAt, f.Load1 = clock(t, l.Booted), l.Load
	if !l.NoProcs {
		f.Processes = []fleet.Process{{PID: 1, Command: "/sbin/init"}}
	}
	for n, proc := range l.Procs {
		command, at, _ := strings.Cut(proc, " @")
		f.Processes = append(f.Processes, fleet.Process{PID: 100 + n, Command: command, StartedAt: clock(t, at)})
	}
	for n, gpu := range l.GPU {
		card := fleet.Card{Index: n, MIG: gpu == "mig"}
		if held, err := strconv.ParseFloat(cmp.Or(l.Memory, "20000"), 64); err == nil {
			card.MemoryMB = &held
		} else if l.Memory != "n/a" {
			t.Fatalf("memory %q is neither a number nor n/a", l.Memory)
		}
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
	for _, used := range l.Kernels {
		k := fleet.Session{Kind: "kernel", Name: "kernel python3 4f2a1c00"}
		if used == "busy" {
			k.Busy, k.Idle = true, 10*time.Hour
		} else {
			k.Idle = span(t, used)
		}
		f.Sessions = append(f.Sessions, k)
	}
	for _, b := range l.Runs {
		f.BoxRuns = append(f.BoxRuns, fleet.BoxRun{
			ID: b.ID, StartedAt: clock(t, b.Start), EndedAt: clock(t, b.End), ExitCode: b.Exit, PIDGone: b.Gone,
			Then: b.Then, Said: b.Said,
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

type seen struct {
	ref fleet.Ref
	fleet.Evidence
}

// evidence gives the looks up to a moment, in the order in which they were made.
func (w world) evidence(t *testing.T, now time.Time) []seen {
	t.Helper()
	var all []seen
	for _, l := range w.Looks {
		e := l.evidence(t)
		until := e.SeenAt
		if l.Until != "" {
			until = clock(t, l.Until)
		}
		for ; !e.SeenAt.After(until) && !e.SeenAt.After(now); e.SeenAt = e.SeenAt.Add(time.Minute) {
			all = append(all, seen{refOf(l.Of), e})
		}
	}
	slices.SortStableFunc(all, func(a, b seen) int { return a.SeenAt.Compare(b.SeenAt) })
	return all
}

// at gives the view that policies have of the world at a moment.
func (w world) at(t *testing.T, now time.Time, ps []policyYAML) policies.View {
	t.Helper()
	v := policies.View{
		Now: now, Due: now,
		Activity: map[fleet.Ref]fleet.Judgement{}, Facts: map[fleet.Ref]fleet.Facts{},
		Runs: map[fleet.Ref][]fleet.Run{}, Grounds: map[fleet.Ref][]fleet.Ground{},
		Samples: map[fleet.Ref][]fleet.Evidence{}, Open: map[fleet.Ref]fleet.Intent{},
		Starts: w.starts(t, now), Secured: map[fleet.Ref][]fleet.Secured{},
	}
	v.Things.Resources, v.Things.Lists = w.resources(t, now), w.lists(t, now)
	w.ofMoney(t, &v)
	for _, o := range w.Open {
		if clock(t, o.From).After(now) {
			continue
		}
		v.Open[refOf(o.Of)] = fleet.Intent{
			Ref: refOf(o.Of), Boot: bootOf(o.Boot), Action: fleet.Stop, State: fleet.IntentPending,
			Verdicts: []fleet.Verdict{{Policy: o.Policy, Due: clock(t, o.Due), Goal: fleet.Stop}},
		}
	}
	current := map[fleet.Ref]fleet.Instance{}
	for _, i := range w.Instances {
		if from := clock(t, i.From); from.After(now) {
			continue
		}
		ref := refOf(i.ID)
		ref.Account = cmp.Or(i.Account, ref.Account)
		current[ref] = fleet.Instance{
			Price: price(t, i.Price), AccountName: ref.Account, Owner: i.Owner,
			Ref: ref, Boot: bootOf(i.Boot), State: fleet.State(cmp.Or(i.State, "running")),
			StartedAt: clock(t, i.Started), GPU: fleet.GPU{Count: i.GPUs}, Protected: i.Protected,
			OnStop: fleet.OnStop{
				KeepsData: fleet.Keeps(cmp.Or(i.Keeps, "all")), EndsBilling: fleet.Tri(cmp.Or(i.Billing, "yes")),
				StillCosts: price(t, i.Costs),
			},
			Charge:    fleet.Charge{Type: fleet.ChargeType(cmp.Or(i.Charge, "on-demand")), End: clock(t, i.Ends)},
			StoppedAt: clock(t, i.Stopped), StopsAt: clock(t, i.Stops), ReleasesAt: clock(t, i.Releases),
			Unread: i.Unread, Cannot: unable(t, i.Unable),
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
	for _, e := range w.evidence(t, now) {
		ref := e.ref
		e := e.Evidence
		e = signals.Judge(e, signals.Limits{}, patterns)
		latest[ref] = []fleet.Evidence{e}
		v.Samples[ref] = append(v.Samples[ref], policies.Sample(e))
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
	for _, e := range w.Secured {
		if clock(t, e.Began).After(now) {
			continue
		}
		one := fleet.Secured{
			Ref: refOf(e.Of), Boot: bootOf(e.Boot), Policy: e.Policy, By: fleet.SecuredByExport, Run: e.Run,
			StartedAt: clock(t, e.Began), Tries: max(e.Tries, 1),
		}
		if ended := clock(t, e.Ended); !ended.IsZero() && !ended.After(now) {
			one.EndedAt, one.OK = ended, e.Why == ""
			if !one.OK {
				one.Why = fleet.Because("export.failed", fleet.Values{"status": fleet.Number(1), "said": fleet.Text(e.Why)})
			}
		}
		if void := clock(t, e.Void); !void.IsZero() && !void.After(now) {
			one.VoidAt = void
		}
		v.Secured[one.Ref] = append(v.Secured[one.Ref], one)
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

func price(t *testing.T, s string) fleet.Price {
	t.Helper()
	if s == "" {
		return fleet.Price{}
	}
	m, err := fleet.ParseMoney(s)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Price{PerHour: m, Source: fleet.PriceProvider}
}

func (w world) can(t *testing.T) func(fleet.Action) bool {
	t.Helper()
	var cannot []fleet.Action
	for _, word := range w.Cannot {
		cannot = append(cannot, action(t, word))
	}
	return func(a fleet.Action) bool { return !slices.Contains(cannot, a) }
}
