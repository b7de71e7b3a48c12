package advice

import (
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

func TestWhatIsRememberedBelongsToOneBoot(t *testing.T) {
	tr, now := story{minutes: 120, used: always(40)}.tracker()
	if tr.Idle(now) || !tr.Idle(now.Add(2*time.Minute)) {
		t.Errorf("idle now %v, and in two minutes %v", tr.Idle(now), tr.Idle(now.Add(2*time.Minute)))
	}
	used := 40.0
	look := fleet.Evidence{Boot: "n2", SeenAt: now.Add(every), FreshFor: time.Minute, Facts: fleet.Facts{Reached: true, Cards: []fleet.Card{{Utilization: &used}}}}
	tr.Observe(look)
	if tr.boot != "n2" || len(tr.use.cores) != 0 {
		t.Errorf("after another boot %d means of %s are left", len(tr.use.cores), tr.boot)
	}
	late := look
	late.Boot, late.SeenAt = boot, now
	if tr.Observe(late); tr.boot != "n2" {
		t.Error("a late look of the boot that ended began it again")
	}
}

func TestOtherCardsBeginAnew(t *testing.T) {
	s := story{minutes: 121, cards: 2, used: always(40), look: func(m int, e *fleet.Evidence) {
		if m >= 90 {
			e.Facts.Cards[1].Index = 7
		}
	}}
	if got, want := s.told(), "underused mean 40 help-any since 90 wasted 0.600"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// anyLook draws what one look may say, odd things now and then.
func anyLook(t *rapid.T, at time.Time) fleet.Evidence {
	odd := func(what string) bool { return rapid.IntRange(0, 1000).Draw(t, what) == 517 } // not at an edge, where more is drawn
	e := fleet.Evidence{
		Source: "ssh", SeenAt: at, FreshFor: 10 * time.Minute, Boot: boot, Outside: odd("outside"),
		Activity: rapid.SampledFrom([]fleet.Activity{fleet.Busy, fleet.Busy, fleet.Busy, fleet.Busy, fleet.Busy, fleet.Idle, fleet.Unknown}).Draw(t, "activity"),
	}
	if odd("boot") {
		e.Boot = "n2"
	}
	f := &e.Facts
	f.Reached = !odd("dark")
	for n := range 2 {
		c := fleet.Card{Index: n, MIG: odd("mig")}
		if !odd("unread") {
			c.Utilization = new(float64(rapid.IntRange(0, 70).Draw(t, "used") * (1 - n)))
		}
		f.Cards = append(f.Cards, c)
	}
	if odd("lost") {
		f.Cards = f.Cards[1:]
	}
	f.Cores = float64(rapid.IntRange(0, 8).Draw(t, "cores"))
	f.Load1 = float64(rapid.IntRange(0, 9).Draw(t, "load"))
	f.CPUTime = time.Duration(rapid.IntRange(0, 3).Draw(t, "worked")) * time.Hour
	modified := began
	if odd("ahead") {
		modified = began.Add(10 * time.Hour)
	}
	f.Files = map[string]fleet.FileFact{"/log": {Exists: !odd("gone"), ModTime: modified, Size: int64(rapid.IntRange(0, 1000).Draw(t, "size") / 999)}}
	return e
}

func anyRun(t *rapid.T) fleet.Run {
	r := run("a", began.Add(time.Duration(rapid.IntRange(-60, 90).Draw(t, "started"))*time.Minute))
	r.End = rapid.SampledFrom([]fleet.RunEnd{fleet.RunOpen, fleet.RunOpen, fleet.RunEnded, fleet.RunInterrupted, fleet.RunLost}).Draw(t, "end")
	r.Boot = rapid.SampledFrom([]fleet.Boot{boot, boot, boot, "n2"}).Draw(t, "of")
	return r
}

// Whatever is seen: without an open run of the present boot nothing is told, each
// kind is told once, of a time within the run and not ahead, and no more is wasted
// than is paid.
func TestAdviceIsAboutAnOpenRun(t *testing.T) {
	told := map[fleet.Code]int{}
	rapid.Check(t, func(t *rapid.T) {
		tr, now := &Tracker{}, began
		for range rapid.IntRange(0, 80).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 11, -1}).Draw(t, "step")) * time.Minute)
			tr.Observe(anyLook(t, now))
		}
		s := Subject{
			Instance: fleet.Instance{Boot: boot, State: fleet.StateRunning}, Watched: []Watched{{Policy: "train", Logs: []string{"/log"}}},
			StartsWithoutGPU: rapid.Bool().Draw(t, "without GPU"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "runs") {
			s.Runs = append(s.Runs, anyRun(t))
		}
		now = now.Add(time.Duration(rapid.IntRange(-1, 5).Draw(t, "later")) * time.Minute)
		kinds, wasted := map[fleet.Code]bool{}, 0.0
		for _, a := range Advise(tr, s, Defaults(), now) {
			told[a.Code]++
			if !a.Run.Open() || a.Run.Boot != boot {
				t.Fatalf("%s is about a run that is over: %+v", a.Code, a.Run)
			}
			if kinds[a.Code] {
				t.Fatalf("%s is told twice", a.Code)
			}
			if a.Since.Before(a.Run.StartedAt) || now.Sub(a.Since) < 20*time.Minute {
				t.Fatalf("%s since %s, of a run since %s, at %s", a.Code, a.Since, a.Run.StartedAt, now)
			}
			kinds[a.Code] = true
			wasted += a.Wasted
		}
		if wasted < 0 || wasted > 1+1e-9 {
			t.Fatalf("%g of the price is wasted", wasted)
		}
	})
	for _, code := range []fleet.Code{CodeUnderused, CodeCards, CodeStalled} {
		if told[code] == 0 {
			t.Errorf("%s was never told: the property says nothing of it", code)
		}
	}
}

// remembers is what 200 trackers of a whole day's looks hold, in bytes for each.
func remembers(cards int) uint64 {
	const many = 200
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	all := make([]*Tracker, many)
	for n := range all {
		all[n], _ = story{minutes: 25 * 60, every: Slot, cards: cards, look: func(m int, e *fleet.Evidence) {
			e.Facts.Files = map[string]fleet.FileFact{"/root/train.log": wrote(at(m), int64(m))}
		}}.tracker()
	}
	after := heap()
	runtime.KeepAlive(all)
	return (after - min(before, after)) / many
}

// What an instance takes is bounded, however long it runs: a day's means of its cards
// and its processor, and little else.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	tr, _ := story{minutes: 50 * 60, every: Slot, cards: 8}.tracker()
	if n := len(tr.use.cores); n != mostSlots {
		t.Errorf("%d means are kept, want %d", n, mostSlots)
	}
	if got := cap(tr.use.means); got > 2*8*mostSlots {
		t.Errorf("there is room for %d means of 8 cards", got)
	}
	for cards, most := range map[int]uint64{1: 4 << 10, 8: 8 << 10} {
		got := remembers(cards)
		t.Logf("%d cards: %d bytes an instance", cards, got)
		if got > most {
			t.Errorf("%d cards take %d bytes, want %d at most", cards, got, most)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	tr, now := story{minutes: 25 * 60, cards: 8}.tracker()
	e := fleet.Evidence{Boot: boot, Activity: fleet.Busy, FreshFor: time.Minute, Facts: fleet.Facts{Reached: true}}
	for n := range 8 {
		e.Facts.Cards = append(e.Facts.Cards, card(n, 95))
	}
	for b.Loop() {
		now = now.Add(every)
		e.SeenAt = now
		tr.Observe(e)
	}
	b.ReportMetric(float64(remembers(8)), "bytes/instance")
}
