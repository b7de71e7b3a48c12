package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

// askAtOnce is how many instances the policies are asked about at a time: so few
// that what is known of them stays in the processor's cache while every policy
// looks at it. Of resources it is the least: a group is never cut.
const askAtOnce = 64

// thoughts is what a pass came to.
type thoughts struct {
	decisions []decision // in the order of the inventory, instances first; those that were kept
	findings  []fleet.Finding
	doing     map[fleet.Ref]noted // what guarded instances do that they were not noted to do
	next      time.Time           // when time alone may change an answer
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
	things, resources := a.inv.Things(), a.inv.Resources()
	d, err := a.readDesk(ctx, rt, things, a.clock.Now())
	if err != nil {
		return thoughts{}, err
	}
	d.count(resources)
	var parts []func() thoughts
	for some := range slices.Chunk(things.Instances, askAtOnce) {
		parts = append(parts, func() thoughts {
			return a.thinkOf(rt, policies.Things{Scopes: things.Scopes, Instances: some}, d, keep)
		})
	}
	for some := range policies.Groups(resources.Resources, askAtOnce) {
		parts = append(parts, func() thoughts {
			return a.thinkOf(rt, policies.Things{Scopes: things.Scopes, Lists: resources.Lists, Resources: some}, d, keep)
		})
	}
	come := make([]thoughts, len(parts))
	var asking sync.WaitGroup
	next := make(chan int)
	for range min(len(parts), thinkers) {
		asking.Go(func() {
			for n := range next {
				come[n] = parts[n]()
			}
		})
	}
	for n := range parts {
		next <- n
	}
	close(next)
	asking.Wait()
	all := thoughts{doing: map[fleet.Ref]noted{}}
	for _, t := range come {
		all.decisions = append(all.decisions, t.decisions...)
		all.findings = append(all.findings, t.findings...)
		maps.Copy(all.doing, t.doing)
		all.next = earlier(all.next, t.next)
	}
	all.findings = append(all.findings, accountFindings(rt, things.Scopes, d.now)...)
	all.findings = append(all.findings, listFindings(rt, resources.Lists, d.now)...)
	return all, nil
}

// thinkers is how many parts are thought of at once: more than the processor has
// cores would only hold more in memory.
const thinkers = 8

// thinkOf decides on some things.
func (a *App) thinkOf(rt *runtime, things policies.Things, d *desk, keep func(*decision) bool) thoughts {
	v := a.view(rt, things, d)
	all := a.opinions(rt, v, d)
	t := thoughts{findings: all.findings}
	note := func(i fleet.Instance) decision {
		one := a.decide(rt, i, v.Activity[i.Ref], all.verdicts[i.Ref], d)
		for _, w := range one.verdicts {
			if w.Next.After(d.now) {
				t.next = earlier(t.next, w.Next)
			}
		}
		if keep(&one) {
			t.decisions = append(t.decisions, one)
		}
		return one
	}
	decisions := make([]decision, 0, len(things.Instances))
	for _, i := range things.Instances {
		decisions = append(decisions, note(i))
	}
	for _, r := range things.Resources {
		note(r.Subject())
	}
	t.doing = a.newlyDoing(decisions, d.now)
	t.findings = append(t.findings, a.blindFindings(decisions, d.now)...)
	return t
}

// newlyDoing gives what guarded instances do that they were not noted to do.
func (a *App) newlyDoing(decisions []decision, at time.Time) map[fleet.Ref]noted {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := map[fleet.Ref]noted{}
	for n := range decisions {
		d := &decisions[n]
		if d.subject.State != fleet.StateRunning || d.unguarded {
			continue
		}
		now := noted{d.activity.Activity, d.subject.Boot, at}
		before, known := a.noted[d.subject.Ref]
		if !known || before.activity != now.activity || before.boot != now.boot {
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
