package signals_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals"
)

// drawLooks draws a history of looks, each later than the one before.
func drawLooks(t *rapid.T) []fleet.Evidence {
	var looks []fleet.Evidence
	now := 0
	current := fleet.Boot("b1")
	for range rapid.IntRange(1, 12).Draw(t, "looks") {
		now += rapid.IntRange(10, 90).Draw(t, "after")
		e := look(now, boot(current))
		switch rapid.SampledFrom([]string{"idle", "idle", "train", "train", "train since", "file", "file end", "gone", "out", "blind", "boot"}).Draw(t, "kind") {
		case "train":
			matching(&e)
		case "train since":
			matchingSince(now - rapid.IntRange(0, 200).Draw(t, "since"))(&e)
		case "file":
			box(fleet.BoxRun{ID: "r1", StartedAt: at(0)})(&e)
		case "file end":
			code := rapid.IntRange(0, 1).Draw(t, "exit")
			box(fleet.BoxRun{ID: "r1", StartedAt: at(0), EndedAt: at(now - 5), ExitCode: &code})(&e)
		case "gone":
			box(fleet.BoxRun{ID: "r1", StartedAt: at(0), PIDGone: true})(&e)
		case "out":
			unreachable(&e)
		case "blind":
			noProcesses(&e)
			e.Facts.Unreadable = map[string]string{"runs": "no"}
		case "boot":
			current += "x"
			e.Boot = current
		}
		if rapid.Bool().Draw(t, "works") && len(e.Facts.Cards) > 0 {
			working(&e)
		}
		looks = append(looks, e)
	}
	return looks
}

func drawRules(t *rapid.T) []signals.RunRule {
	return []signals.RunRule{{
		Policy: "p", Looks: rapid.IntRange(0, 3).Draw(t, "confirm"),
		Apart:      time.Duration(rapid.IntRange(0, 120).Draw(t, "apart")) * time.Second,
		PendingMax: rapid.IntRange(0, 4).Draw(t, "pending max"),
	}}
}

func TestALookDeliveredTwiceCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, looks := drawRules(t), drawLooks(t)
		var once, twice []fleet.Run
		for n, e := range looks {
			once = signals.Follow(ref, once, e, rules)
			twice = signals.Follow(ref, twice, e, rules)
			twice = signals.Follow(ref, twice, e, rules)
			if !reflect.DeepEqual(once, twice) {
				t.Fatalf("look %d twice:\n%+v\nonce:\n%+v", n, twice, once)
			}
		}
	})
}

// TestBlindLooksChangeNothing: looks that could not get in or could not read,
// wherever they come, leave all runs of their Boot as they are.
func TestBlindLooksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, looks := drawRules(t), drawLooks(t)
		runs := fold(rules, looks...)
		last := looks[len(looks)-1]
		blind := runs
		for n := range rapid.IntRange(1, 10).Draw(t, "blind looks") {
			e := last
			e.SeenAt = last.SeenAt.Add(time.Duration(n+1) * time.Hour)
			if rapid.Bool().Draw(t, "out") {
				unreachable(&e)
			} else {
				e.Facts, e.Activity = fleet.Facts{Reached: true, Unreadable: map[string]string{"processes": "no", "runs": "no", "cards": "no"}}, fleet.Unknown
			}
			blind = signals.Follow(ref, blind, e, rules)
		}
		for n := range runs {
			// That a silent ping or a look was folded may be noted, and nothing else.
			blind[n].LookedAt = runs[n].LookedAt
		}
		if !reflect.DeepEqual(runs, blind) {
			t.Fatalf("blind looks made of\n%+v\nthis:\n%+v", runs, blind)
		}
	})
}

// TestAnEndedProcessRunHasItsConfirmingLooks checks every end against the looks
// that were folded.
func TestAnEndedProcessRunHasItsConfirmingLooks(t *testing.T) {
	ends := 0
	rapid.Check(t, func(t *rapid.T) {
		rules, looks := drawRules(t), drawLooks(t)
		need, apart := rules[0].Looks, rules[0].Apart
		if need <= 0 {
			need = signals.DefaultLooks
		}
		if apart <= 0 {
			apart = signals.DefaultApart
		}
		runs := fold(rules, looks...)
		for n, r := range runs {
			if r.Source != signals.RunByProcess || r.End != fleet.RunEnded {
				continue
			}
			replaced := false
			for _, later := range runs[n+1:] {
				replaced = replaced || later.Source == r.Source && later.Boot == r.Boot && !later.StartedAt.Before(r.EndedAt)
			}
			confirming, span := 0, time.Duration(0)
			for _, e := range looks {
				if e.Boot != r.Boot || e.SeenAt.Before(r.EndedAt) || !e.Facts.ProcessesRead {
					continue
				}
				if len(e.Facts.Matched) > 0 {
					break
				}
				confirming, span = confirming+1, e.SeenAt.Sub(r.EndedAt)
			}
			if !replaced && (confirming < need || span < apart) {
				t.Fatalf("%s ended at %s with %d looks over %s; %d over %s are needed", r.ID, r.EndedAt, confirming, span, need, apart)
			}
			ends++
		}
	})
	if ends == 0 {
		t.Fatal("no draw ended a run; nothing was proven")
	}
}

func TestRunsAreToldApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, looks := drawRules(t), drawLooks(t)
		runs := fold(rules, looks...)
		seen, open := map[string]bool{}, map[string]int{}
		for n, r := range runs {
			key := string(r.Boot) + " " + r.ID
			if seen[key] {
				t.Fatalf("two runs are called %s", key)
			}
			seen[key] = true
			if r.Open() {
				open[r.Source]++
				if r.Boot != looks[len(looks)-1].Boot {
					t.Fatalf("%s is open in boot %s, which was left", r.ID, r.Boot)
				}
			} else if r.EndedAt.IsZero() {
				t.Fatalf("%s is closed without a time", r.ID)
			}
			if n > 0 && r.StartedAt.Before(runs[n-1].StartedAt) {
				t.Fatal("the oldest run does not come first")
			}
		}
		if open[signals.RunByProcess] > 1 || open[signals.RunByFile] > 1 {
			t.Fatalf("open at once: %v", open)
		}
	})
}
