package policies_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// bench is an instance whose process run ended an hour ago, idle since by a
// fresh look: all that is needed for a wish. Each test takes something away.
type bench struct {
	instance  fleet.Instance
	judgement fleet.Judgement
	runs      []fleet.Run
	facts     fleet.Facts
	policy    policies.Training
}

func newBench() *bench {
	ended := base.Add(-time.Hour)
	return &bench{
		instance: fleet.Instance{
			Ref: refOf("a"), Boot: "b1", State: fleet.StateRunning, StartedAt: base.Add(-9 * time.Hour),
			OnStop: fleet.OnStop{KeepsData: fleet.KeepsAll},
		},
		judgement: fleet.Judgement{
			Activity: fleet.Idle, Boot: "b1", SeenAt: base,
			Sources: []fleet.SourceSeen{{Source: "ssh", SeenAt: base, Fresh: true, Required: true, Activity: fleet.Idle}},
		},
		runs: []fleet.Run{{
			ID: "p:p:1", Source: "process", Policy: "p", Boot: "b1", End: fleet.RunEnded,
			StartedAt: base.Add(-8 * time.Hour), EndedAt: ended, Seen: ended.Add(-2 * time.Minute),
		}},
		facts: fleet.Facts{Reached: true, ProcessesRead: true},
		policy: policies.Training{
			Common: policies.Common{
				Name: "p", Match: func(fleet.Instance) (bool, error) { return true, nil },
				Terms: fleet.Terms{Discard: true},
			},
			Then: fleet.Release, Failed: policies.End{Then: fleet.Stop},
		},
	}
}

// file adds a run told by a file, in minutes before now, with exit code or -1.
func (b *bench) file(id string, start, end, exit int) *fleet.Run {
	r := fleet.Run{
		ID: "f:" + id, Source: "file", Boot: "b1", End: fleet.RunEnded,
		StartedAt: base.Add(-time.Duration(start) * time.Minute), EndedAt: base.Add(-time.Duration(end) * time.Minute),
	}
	if exit >= 0 {
		r.ExitCode = &exit
	}
	b.runs = append(b.runs, r)
	return &b.runs[len(b.runs)-1]
}

func (b *bench) decide(t *testing.T) fleet.Verdict {
	t.Helper()
	ref := b.instance.Ref
	got := b.policy.Decide(policies.View{
		Now: base, Due: base, Things: policies.Things{Instances: []fleet.Instance{b.instance}},
		Activity: map[fleet.Ref]fleet.Judgement{ref: b.judgement},
		Facts:    map[fleet.Ref]fleet.Facts{ref: b.facts},
		Runs:     map[fleet.Ref][]fleet.Run{ref: b.runs},
	})
	if len(got.Verdicts) != 1 {
		t.Fatalf("%d verdicts", len(got.Verdicts))
	}
	return got.Verdicts[0]
}

func TestTrainingActsOnlyOnWhatSpeaksOfThisBootAndOfNow(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*bench)
		want   fleet.Action
		why    fleet.Code
		gap    bool
	}{
		{"all there is a wish", func(*bench) {}, fleet.Stop, policies.ReasonRunEnded, false},
		{"an idle look from before the end is no look since", func(b *bench) {
			b.judgement.SeenAt = b.runs[0].EndedAt.Add(-time.Second)
		}, fleet.Keep, policies.ReasonNotLooked, true},
		{"a judgement of another boot is none", func(b *bench) { b.judgement.Boot = "b0" }, fleet.Keep, policies.ReasonNotLooked, true},
		{"a judgement of no boot is none", func(b *bench) { b.judgement.Boot = "" }, fleet.Keep, policies.ReasonNotLooked, true},
		{"an unknown boot is a gap", func(b *bench) { b.instance.Boot = "" }, fleet.Keep, policies.ReasonBootUnknown, true},
		{"a run of another boot is none", func(b *bench) { b.runs[0].Boot = "b0" }, fleet.Keep, policies.ReasonNoRun, false},
		{"a run of another policy is none", func(b *bench) { b.runs[0].Policy = "q" }, fleet.Keep, policies.ReasonNoRun, false},
		{"an interrupted run is no ground", func(b *bench) { b.runs[0].End = fleet.RunInterrupted }, fleet.Keep, policies.ReasonRunInterrupted, false},
		{"a lost run is no ground", func(b *bench) { b.runs[0].End = fleet.RunLost }, fleet.Keep, policies.ReasonRunLost, false},
		{"a file run that may be of an earlier boot is none", func(b *bench) {
			b.runs, b.instance.StartedAt = nil, time.Time{}
			b.file("r", 120, 60, 0)
		}, fleet.Keep, policies.ReasonNoRun, false},
		{"one that was seen going on is one", func(b *bench) {
			b.runs, b.instance.StartedAt = nil, time.Time{}
			b.file("r", 120, 60, 0).Seen = base.Add(-61 * time.Minute)
		}, fleet.Release, policies.ReasonRunEnded, false},
		{"one that began after process 1 is one", func(b *bench) {
			b.runs, b.instance.StartedAt, b.facts.BootedAt = nil, time.Time{}, base.Add(-2*time.Hour)
			b.file("r", 120, 60, 0)
		}, fleet.Release, policies.ReasonRunEnded, false},
		{"one that began before process 1 is none", func(b *bench) {
			b.runs, b.facts.BootedAt = nil, base.Add(-119*time.Minute)
			b.file("r", 120, 60, 0)
		}, fleet.Keep, policies.ReasonNoRun, false},
		{"one that began well before the platform's start is none", func(b *bench) {
			b.runs, b.instance.StartedAt = nil, base.Add(-118*time.Minute)
			b.file("r", 120, 60, 0)
		}, fleet.Keep, policies.ReasonNoRun, false},
		{"an end file stands without idle where the cards alone are blind", func(b *bench) {
			b.judgement.Activity, b.facts.Unreadable = fleet.Unknown, map[string]string{"cards": "no"}
			b.file("r", 120, 59, 0)
		}, fleet.Release, policies.ReasonRunEnded, false},
		{"and not where the sessions are", func(b *bench) {
			b.judgement.Activity, b.facts.Unreadable = fleet.Unknown, map[string]string{"sessions": "no"}
			b.file("r", 120, 59, 0)
		}, fleet.Keep, policies.ReasonUnknown, true},
		{"nor where the processes are", func(b *bench) {
			b.judgement.Activity, b.facts.ProcessesRead = fleet.Unknown, false
			b.file("r", 120, 59, 0)
		}, fleet.Keep, policies.ReasonUnknown, true},
		{"nor where nobody got in", func(b *bench) {
			b.judgement.Activity, b.facts = fleet.Unknown, fleet.Facts{}
			b.file("r", 120, 59, 0)
		}, fleet.Keep, policies.ReasonUnknown, true},
		{"nor without an exit code", func(b *bench) {
			b.judgement.Activity = fleet.Unknown
			b.file("r", 120, 59, -1)
		}, fleet.Keep, policies.ReasonUnknown, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			c.change(b)
			got := b.decide(t)
			if got.Goal != c.want || got.Reason.Code != c.why || got.Gap != c.gap {
				t.Errorf("got %s because %s, gap %t; want %s because %s, gap %t",
					got.Goal, got.Reason.Code, got.Gap, c.want, c.why, c.gap)
			}
		})
	}
}

func TestTrainingOutcomes(t *testing.T) {
	const succeeded, failed, unproven = fleet.OutcomeSucceeded, fleet.OutcomeFailed, fleet.OutcomeUnproven
	done := func(minutes int) map[string]fleet.FileFact {
		return map[string]fleet.FileFact{"/DONE": {Exists: true, ModTime: base.Add(-time.Duration(minutes) * time.Minute)}}
	}
	wantsFile := func(b *bench) { b.policy.Success.File = "/DONE" }
	wantsLine := func(b *bench, mark, size int64, tail string) {
		b.policy.Success.Log = policies.SuccessLog{File: "/log", Match: func(s string) bool { return s == "finished" }}
		b.facts.Files = map[string]fleet.FileFact{"/log": {Exists: true, Size: size, Tail: tail}}
		if mark >= 0 {
			b.runs[0].Marks = map[string]int64{"/log": mark}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*bench)
		want   fleet.RunOutcome
	}{
		{"no exit code is unknown", func(*bench) {}, unproven},
		{"the exit code of an overlapping file run counts", func(b *bench) { b.file("r", 480, 61, 0) }, succeeded},
		{"also a bad one", func(b *bench) { b.file("r", 480, 61, 7) }, failed},
		{"one bad exit of two is a failure", func(b *bench) { b.file("r", 480, 61, 0); b.file("q", 300, 200, 1) }, failed},
		{"one without an exit code leaves it open", func(b *bench) { b.file("r", 480, 61, 0); b.file("q", 300, 200, -1) }, unproven},
		{"a good exit long before the end is not its exit", func(b *bench) { b.file("r", 480, 400, 0) }, unproven},
		{"a run before it says nothing", func(b *bench) { b.file("r", 530, 480, 3) }, unproven},
		{"an overlapping run that was lost says nothing", func(b *bench) {
			b.file("r", 480, 61, 0)
			b.file("q", 300, 200, -1).End = fleet.RunLost
		}, succeeded},
		{"exit and file must both hold", func(b *bench) {
			wantsFile(b)
			b.policy.Success.Exit, b.facts.Files = true, done(61)
		}, unproven},
		{"exit and file both hold", func(b *bench) {
			wantsFile(b)
			b.policy.Success.Exit, b.facts.Files = true, done(61)
			b.file("r", 480, 61, 0)
		}, succeeded},
		{"a file alone is enough where it alone is asked for", func(b *bench) { wantsFile(b); b.facts.Files = done(61) }, succeeded},
		{"a bad exit beats the file", func(b *bench) { wantsFile(b); b.facts.Files = done(61); b.file("r", 480, 61, 1) }, failed},
		{"a file from before the run is none", func(b *bench) { wantsFile(b); b.facts.Files = done(481) }, unproven},
		{"a file from before the last part of the work is none", func(b *bench) {
			wantsFile(b)
			b.facts.Files = done(200)
			b.file("last", 100, 61, 0)
		}, unproven},
		{"a file nobody read is none", wantsFile, unproven},
		{"a file that is not there is none", func(b *bench) {
			wantsFile(b)
			b.facts.Files = map[string]fleet.FileFact{"/DONE": {ModTime: base}}
		}, unproven},
		{"a file that could not be read is none", func(b *bench) {
			wantsFile(b)
			b.facts.Files = map[string]fleet.FileFact{"/DONE": {Exists: true, ModTime: base, Err: "no"}}
		}, unproven},
		{"a line behind the mark", func(b *bench) { wantsLine(b, 5, 14, "step\nfinished\n") }, succeeded},
		{"a line with a carriage return", func(b *bench) { wantsLine(b, 0, 10, "finished\r\n") }, succeeded},
		{"a last line without its end", func(b *bench) { wantsLine(b, 5, 13, "step\nfinished") }, succeeded},
		{"a line before the mark", func(b *bench) { wantsLine(b, 9, 14, "finished\nstep\n") }, unproven},
		{"a line across the mark", func(b *bench) { wantsLine(b, 7, 14, "step\nfinished\n") }, unproven},
		{"no mark", func(b *bench) { wantsLine(b, -1, 14, "step\nfinished\n") }, unproven},
		{"a log written anew", func(b *bench) { wantsLine(b, 900, 14, "step\nfinished\n") }, succeeded},
		{"a tail that may begin within a line", func(b *bench) { wantsLine(b, 5, 109, "finished\n") }, unproven},
		{"a tail that begins within another line", func(b *bench) { wantsLine(b, 5, 109, "ep\nfinished\n") }, succeeded},
		{"the mark of the last part of the work counts", func(b *bench) {
			wantsLine(b, 0, 14, "finished\nstep\n")
			b.file("last", 100, 61, 0).Marks = map[string]int64{"/log": 9}
		}, unproven},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			c.change(b)
			got := b.decide(t)
			want := map[fleet.RunOutcome]fleet.Action{succeeded: fleet.Release, failed: fleet.Stop, unproven: fleet.Stop}[c.want]
			if got.Ground == nil || got.Ground.Outcome != c.want || got.Goal != want {
				t.Errorf("got %s on %+v, want %s on %q", got.Goal, got.Ground, want, c.want)
			}
		})
	}
}

func TestTrainingReleasesTheStoppedOnlyOnItsJournaledGround(t *testing.T) {
	ground := fleet.Ground{
		Policy: "p", Boot: "b1", Run: "p:p:1", Outcome: fleet.OutcomeSucceeded,
		EndedAt: base.Add(-time.Hour), Goal: fleet.Release,
	}
	with := func(change func(*fleet.Ground)) fleet.Ground {
		g := ground
		change(&g)
		return g
	}
	for _, c := range []struct {
		name    string
		grounds []fleet.Ground
		runs    []fleet.Run
		change  func(*policies.Training)
		want    fleet.Action
	}{
		{name: "a proven success", grounds: []fleet.Ground{ground}, want: fleet.Release},
		{name: "no ground"},
		{name: "a ground of another policy", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Policy = "q" })}},
		{name: "a ground of another boot", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Boot = "b0" })}},
		{name: "a ground of no boot", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Boot = "" })}},
		{name: "only a stop was asked for", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Goal = fleet.Stop })}},
		{name: "a later ground that asked for less", grounds: []fleet.Ground{ground, with(func(g *fleet.Ground) {
			g.EndedAt, g.Goal = g.EndedAt.Add(time.Minute), fleet.Stop
		})}},
		{name: "one of the same moment that allows less", grounds: []fleet.Ground{
			with(func(g *fleet.Ground) { g.Run = "a" }),
			with(func(g *fleet.Ground) { g.Run, g.Outcome = "z", fleet.OutcomeUnproven }),
		}},
		{name: "the other way round", grounds: []fleet.Ground{
			with(func(g *fleet.Ground) { g.Run, g.Outcome = "a", fleet.OutcomeUnproven }),
			with(func(g *fleet.Ground) { g.Run = "z" }),
		}},
		{name: "a run that began since", grounds: []fleet.Ground{ground},
			runs: []fleet.Run{{ID: "ping:1", Source: "ping", Boot: "b1", StartedAt: base.Add(-time.Minute)}}},
		{name: "the run itself", grounds: []fleet.Ground{ground}, want: fleet.Release,
			runs: []fleet.Run{{ID: "p:p:1", Source: "process", Policy: "p", Boot: "b1", StartedAt: base.Add(-2 * time.Hour)}}},
		{name: "the policy stops only, now", grounds: []fleet.Ground{ground}, change: func(p *policies.Training) { p.Then = fleet.Stop }},
		{name: "the data may not go, now", grounds: []fleet.Ground{ground}, change: func(p *policies.Training) { p.Terms.Discard = false }},
		{name: "an unknown outcome", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Outcome = fleet.OutcomeUnproven })}},
		{name: "an unknown outcome that is enough", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Outcome = fleet.OutcomeUnproven })},
			change: func(p *policies.Training) { p.ReleaseUnproven = true }, want: fleet.Release},
		{name: "a failure", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Outcome = fleet.OutcomeFailed })}},
		{name: "a failure after which on_failure releases", grounds: []fleet.Ground{with(func(g *fleet.Ground) { g.Outcome = fleet.OutcomeFailed })},
			change: func(p *policies.Training) { p.Failed.Then = fleet.Release }, want: fleet.Release},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			b.instance.State = fleet.StateStopped
			if c.change != nil {
				c.change(&b.policy)
			}
			ref := b.instance.Ref
			got := b.policy.Decide(policies.View{
				Now: base, Due: base, Things: policies.Things{Instances: []fleet.Instance{b.instance}},
				Grounds: map[fleet.Ref][]fleet.Ground{ref: c.grounds}, Runs: map[fleet.Ref][]fleet.Run{ref: c.runs},
			}).Verdicts[0]
			if got.Goal != c.want || (got.Goal == fleet.Release) != (got.Ground != nil) {
				t.Errorf("got %s on %+v because %s, want %s", got.Goal, got.Ground, got.Reason.Code, c.want)
			}
		})
	}
}
