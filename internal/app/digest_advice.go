package app

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/advice"
	"curfew/notify"
)

// What a digest says of runs that could do better.
const (
	digestAdvice    fleet.Code = "digest.advice"
	digestAdviceOne fleet.Code = "digest.advice-one"
)

// digestAdvised is what is worth a word about one instance.
type digestAdvised struct {
	digestThing
	advice.Advice
}

// trackers remember what looks showed of each instance with cards, for as long as
// its boot is looked at.
type trackers map[fleet.Ref]*advice.Tracker

// watch adds the judged looks at an instance, where anybody is told of them.
func (t trackers) watch(rt *runtime, i fleet.Instance, looks []fleet.Evidence) {
	if rt.cfg.Advice.Off() || rt.cfg.Notify.Digest == nil && rt.cfg.Notify.Weekly == nil {
		delete(t, i.Ref)
		return
	}
	for _, e := range looks {
		if i.GPU.Count == 0 && len(e.Facts.Cards) == 0 {
			continue
		}
		if t[i.Ref] == nil {
			t[i.Ref] = &advice.Tracker{}
		}
		t[i.Ref].Observe(e)
	}
}

// forget drops those that were not looked at for so long that nothing they hold says
// anything of now.
func (t trackers) forget(now time.Time) {
	maps.DeleteFunc(t, func(_ fleet.Ref, one *advice.Tracker) bool { return one.Idle(now) })
}

// advised gives what is worth a word about the things of a digest, what wastes most
// first.
func (a *App) advised(rt *runtime, things []digestThing, now time.Time) []digestAdvised {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []digestAdvised
	for _, i := range things {
		t := a.seen.advice[i.Ref]
		if t == nil {
			continue
		}
		for _, one := range advice.Advise(t, a.advisable(rt, i.Instance), rt.cfg.Advice, now) {
			out = append(out, digestAdvised{i, one})
		}
	}
	slices.SortStableFunc(out, func(a, b digestAdvised) int {
		p, q := a.wasted(), b.wasted()
		return cmp.Or(
			cmp.Compare(p.Currency, q.Currency), cmp.Compare(q.Micros, p.Micros), fleet.CompareRefs(a.Ref, b.Ref),
		)
	})
	return out
}

// advisable gathers what is known of an instance beside its looks. a.mu is held.
func (a *App) advisable(rt *runtime, i fleet.Instance) advice.Subject {
	s := advice.Subject{Instance: i, Runs: a.seen.runs[i.Ref]}
	for _, p := range rt.cfg.Policies {
		if p.Ask == nil {
			continue
		}
		if ok, err := p.Match(i); ok && err == nil {
			ask := p.Ask(i)
			s.Watched = append(s.Watched, advice.Watched{Policy: p.Name, Logs: ask.Logs, Files: ask.Files})
		}
	}
	for _, acc := range rt.accounts {
		if p, ok := acc.opened(); ok && p.Identity == i.Ref.Account {
			s.StartsWithoutGPU = p.Kind.StartsWithoutGPU
		}
	}
	return s
}

// wasted is what is paid an hour for nothing, as an estimate; nothing where nobody
// knows.
func (d digestAdvised) wasted() fleet.Money {
	price := d.CostNow()
	if !price.Known() {
		return fleet.Money{}
	}
	return fleet.Money{Micros: int64(math.Round(float64(price.PerHour.Micros) * d.Wasted)), Currency: price.PerHour.Currency}.Round()
}

// adviceSection says which runs could do better, what could help, and what the waste
// costs: the price by the share of it that was not used.
func adviceSection(s digestView) notify.Section {
	if len(s.advised) == 0 {
		return notify.Section{}
	}
	out := notify.Section{Head: fleet.Because(digestAdvice, nil)}
	for _, d := range s.advised {
		v := s.naming(d.digestThing)
		v["what"] = fleet.Nested(d.Reason())
		if run := cmp.Or(d.Run.Name(), d.Run.Policy); run != "" {
			v["run"] = short(run)
		}
		if wasted := d.wasted(); !wasted.IsZero() {
			v["wasted"] = fleet.Text(wasted.String())
		}
		out.Add(notify.Item{Text: fleet.Because(digestAdviceOne, v)})
	}
	return out
}
