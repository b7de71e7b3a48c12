package app

import (
	"context"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/internal/observe"
	"curfew/policies"
	"curfew/signals"
)

// askAtOnce is how many instances the policies are asked about at a time: so few
// that what is known of them stays in the processor's cache while every policy
// looks at it. Of resources it is the least: a group is never cut.
const askAtOnce = 64

// thoughts is what a pass came to.
type thoughts struct {
	decisions []decision // in the order of the inventory, instances first; those that were kept
	findings  []fleet.Finding
	blocks    []fleet.Block
	doing     map[fleet.Ref]noted // what guarded instances do that they were not noted to do
	next      time.Time           // when time alone may change an answer
	desk      *desk
}

// noted is the activity an instance was last seen in, and since when.
type noted struct {
	activity fleet.Activity
	boot     fleet.Boot
	since    time.Time
}

// everything keeps every decision, for people who ask.
func everything(*decision) bool { return true }

// actedOn keeps the decisions that a pass has something to do with. Of a hundred
// thousand things nearly all are left alone.
func actedOn(d *decision) bool {
	return d.intent != nil || d.step.Action != fleet.Keep || d.would.Action != fleet.Keep
}

// think decides on everything and writes nothing; keep says which decisions are of
// use to whoever asked. Deciding is pure, so the processor's cores share the work.
func (a *App) think(ctx context.Context, rt *runtime, keep func(*decision) bool) (thoughts, error) {
	all := a.inv.Snapshot()
	d, err := a.readDesk(ctx, rt, all, a.clock.Now())
	if err != nil {
		return thoughts{}, err
	}
	parts := all.Parts(askAtOnce)
	come := make([]thoughts, len(parts))
	var asking sync.WaitGroup
	next := make(chan int)
	for range min(len(parts), thinkers, goruntime.GOMAXPROCS(0)) {
		asking.Go(func() {
			var m mind
			for n := range next {
				come[n] = a.thinkOf(rt, m.Write(all, parts[n]), d, &m, keep)
			}
		})
	}
	for n := range parts {
		next <- n
	}
	close(next)
	asking.Wait()
	sum := thoughts{doing: map[fleet.Ref]noted{}, desk: d}
	for _, t := range come {
		sum.decisions = append(sum.decisions, t.decisions...)
		sum.findings = append(sum.findings, t.findings...)
		maps.Copy(sum.doing, t.doing)
		sum.next = earlier(sum.next, t.next)
	}
	found, blocks := aboutMoney(rt, a.view(rt, policies.Things{Scopes: all.Scopes}, d), d)
	sum.findings, sum.blocks = append(sum.findings, found...), blocks
	sum.findings = append(sum.findings, accountFindings(rt, all.Scopes, d)...)
	sum.findings = append(sum.findings, listFindings(rt, all.Lists, d.now)...)
	sum.findings = append(sum.findings, a.hiddenFindings(ctx, rt, d.now)...)
	sum.findings = append(sum.findings, a.billFindings(ctx, rt, d.now)...)
	sum.findings = append(sum.findings, a.estimateFindings(ctx, d)...)
	return sum, nil
}

// thinkers is how many parts are thought of at once, at most.
const thinkers = 8

// mind is room to think in. It is used again for every part: what is to outlast the
// part is copied.
type mind struct {
	observe.Buffer
	view      policies.View
	decisions []decision
	said      [][]fleet.Verdict // by policy
	opinions  opinions
	unseen    map[string]fleet.Judgement // of what nobody ever looked at, by who had to
}

// fuse joins looks as [signals.Fuse] does. Of all that nobody looked at it says the
// same.
func (m *mind) fuse(now time.Time, i fleet.Instance, looks []fleet.Evidence, runs []fleet.Run, required []string) fleet.Judgement {
	if len(looks) > 0 || len(runs) > 0 || i.Boot == "" {
		return signals.Fuse(now, i, looks, runs, required)
	}
	key := strings.Join(required, "\n")
	j, ok := m.unseen[key]
	if !ok {
		j = signals.Fuse(now, i, looks, runs, required)
		if m.unseen == nil {
			m.unseen = map[string]fleet.Judgement{}
		}
		m.unseen[key] = j
	}
	j.Boot = i.Boot
	return j
}

// lasting gives the decision with nothing in it that the next part overwrites.
func (d decision) lasting() decision {
	verdicts := make([]fleet.Verdict, len(d.verdicts))
	d.verdicts = slices.Clone(d.verdicts)
	for n, v := range d.verdicts {
		verdicts[n] = *v
		d.verdicts[n] = &verdicts[n]
	}
	return d
}

// thinkOf decides on some things.
func (a *App) thinkOf(rt *runtime, things policies.Things, d *desk, m *mind, keep func(*decision) bool) thoughts {
	v := a.viewIn(m, rt, things, d)
	all := a.opinions(rt, v, d, m)
	t := thoughts{findings: all.findings}
	m.decisions = m.decisions[:0]
	note := func(n int, i *fleet.Instance) {
		m.decisions = append(m.decisions, a.decide(rt, i, v.Activity[i.Ref], all.of(n), d))
		one := &m.decisions[len(m.decisions)-1]
		for _, w := range one.verdicts {
			if w.Next.After(d.now) {
				t.next = earlier(t.next, w.Next)
			}
		}
		if keep(one) {
			t.decisions = append(t.decisions, one.lasting())
		}
	}
	for n := range things.Instances {
		note(n, &things.Instances[n])
	}
	if len(m.decisions) > 0 {
		t.doing = a.newlyDoing(m.decisions, d.now)
		t.findings = append(t.findings, a.blindFindings(m.decisions, d.now)...)
	}
	for n, r := range things.Resources {
		m.decisions = m.decisions[:0]
		subject := r.Subject()
		note(n, &subject)
	}
	return t
}

// newlyDoing gives what guarded instances do that they were not noted to do.
func (a *App) newlyDoing(decisions []decision, at time.Time) map[fleet.Ref]noted {
	a.mu.Lock()
	defer a.mu.Unlock()
	var changed map[fleet.Ref]noted
	for n := range decisions {
		d := &decisions[n]
		if d.subject.State != fleet.StateRunning || d.unguarded {
			continue
		}
		now := noted{d.activity.Activity, d.subject.Boot, at}
		before, known := a.noted[d.subject.Ref]
		if !known || before.activity != now.activity || before.boot != now.boot {
			if changed == nil {
				changed = map[fleet.Ref]noted{}
			}
			changed[d.subject.Ref] = now
		}
	}
	return changed
}

// earlier gives the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
