package ping_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals"
	"curfew/signals/ping"
)

var ref = fleet.Ref{Account: "sim:u", Kind: fleet.KindInstance, ID: "a"}

const (
	rid1 = "11111111-1111-4111-8111-111111111111"
	rid2 = "22222222-2222-4222-8222-222222222222"
)

func at(minute float64) time.Time {
	return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC).Add(time.Duration(minute * float64(time.Minute)))
}

// sent is a ping and the boot it came in.
type sent struct {
	minute float64
	says   string // start, log, or an exit status
	rid    string
	text   string
	boot   fleet.Boot // b1 unless given
}

func (s sent) ping() ping.Ping {
	p := ping.Ping{At: at(s.minute), RID: s.rid, Text: s.text}
	switch s.says {
	case "start":
		p.Kind = ping.Start
	case "log":
		p.Kind = ping.Log
	default:
		p.Kind = ping.End
		if _, err := fmt.Sscan(s.says, &p.Exit); err != nil {
			panic(err)
		}
	}
	return p
}

func (s sent) in() fleet.Boot {
	if s.boot == "" {
		return "b1"
	}
	return s.boot
}

// briefly writes a run as people would: boot name from–to how exit "said".
func briefly(r fleet.Run) string {
	minutes := func(t time.Time) string { return fmt.Sprintf("%g", t.Sub(at(0)).Minutes()) }
	s := fmt.Sprintf("%s %q %s", r.Boot, r.Name(), minutes(r.StartedAt))
	if r.Open() {
		s += " open"
	} else {
		s += "-" + minutes(r.EndedAt) + " " + string(r.End)
	}
	if r.ExitCode != nil {
		s += fmt.Sprintf(" %d", *r.ExitCode)
	}
	if r.Said != "" {
		s += fmt.Sprintf(" %q", r.Said)
	}
	return s
}

func fold(pings ...sent) (runs, changed []fleet.Run) {
	for _, p := range pings {
		runs, changed = ping.Fold(ref, p.in(), runs, p.ping())
	}
	return runs, changed
}

func TestPingsMakeRuns(t *testing.T) {
	for name, c := range map[string]struct {
		pings []sent
		want  []string
	}{
		"a start opens a run": {
			[]sent{{minute: 1, says: "start"}},
			[]string{`b1 "" 1 open`},
		},
		"a success ends it": {
			[]sent{{minute: 1, says: "start"}, {minute: 9, says: "0"}},
			[]string{`b1 "" 1-9 ended 0`},
		},
		"an exit status ends it as it says": {
			[]sent{{minute: 1, says: "start"}, {minute: 9, says: "137", text: "Killed"}},
			[]string{`b1 "" 1-9 ended 137 "Killed"`},
		},
		"two ids are two runs": {
			[]sent{{minute: 1, says: "start", rid: rid1}, {minute: 2, says: "start", rid: rid2}, {minute: 3, says: "0", rid: rid1}},
			[]string{`b1 "` + rid1 + `" 1-3 ended 0`, `b1 "` + rid2 + `" 2 open`},
		},
		"an end without an id ends no run that has one": {
			[]sent{{minute: 1, says: "start", rid: rid1}, {minute: 3, says: "0"}},
			[]string{`b1 "` + rid1 + `" 1 open`, `b1 "" 3-3 ended 0`},
		},
		"an id used again is another run": {
			[]sent{{minute: 1, says: "start", rid: rid1}, {minute: 3, says: "0", rid: rid1}, {minute: 9, says: "start", rid: rid1}},
			[]string{`b1 "` + rid1 + `" 1-3 ended 0`, `b1 "` + rid1 + fmt.Sprintf(":%d", at(9).UnixMilli()) + `" 9 open`},
		},
		"a start that comes again is the same": {
			[]sent{{minute: 1, says: "start"}, {minute: 2.5, says: "start"}, {minute: 3, says: "start", rid: rid1}, {minute: 60, says: "start", rid: rid1}},
			[]string{`b1 "" 1 open`, `b1 "` + rid1 + `" 3 open`},
		},
		"a start after a run that never ended ends it, and nobody knows how": {
			[]sent{{minute: 1, says: "start"}, {minute: 30, says: "start"}},
			[]string{`b1 "" 1-30 ended`, `b1 "" 30 open`},
		},
		"an end that comes again is the same": {
			[]sent{{minute: 1, says: "start"}, {minute: 9, says: "0", text: "done"}, {minute: 10, says: "0", text: "done"}},
			[]string{`b1 "" 1-9 ended 0 "done"`},
		},
		"of two ends at once the bad one counts, whichever comes first": {
			[]sent{{minute: 1, says: "start"}, {minute: 9, says: "0"}, {minute: 9.1, says: "1"}, {minute: 9.2, says: "0"}},
			[]string{`b1 "" 1-9.1 ended 1`},
		},
		"an end without a start is a run of no length": {
			[]sent{{minute: 9, says: "3", rid: rid1}},
			[]string{`b1 "` + rid1 + `" 9-9 ended 3`},
		},
		"who pings at every end has one run that moves along": {
			[]sent{{minute: 9, says: "0", text: "one"}, {minute: 30, says: "0", text: "two"}, {minute: 60, says: "0"}},
			[]string{`b1 "" 60-60 ended 0`},
		},
		"but a bad end among them is one of its own": {
			[]sent{{minute: 9, says: "0"}, {minute: 30, says: "1"}, {minute: 60, says: "0"}},
			[]string{`b1 "" 9-9 ended 0`, `b1 "" 30-30 ended 1`, `b1 "" 60-60 ended 0`},
		},
		"an end long after the end is another run's": {
			[]sent{{minute: 1, says: "start"}, {minute: 9, says: "1"}, {minute: 30, says: "0"}},
			[]string{`b1 "" 1-9 ended 1`, `b1 "" 30-30 ended 0`},
		},
		"text alone makes no run": {
			[]sent{{minute: 1, says: "log", text: "hello"}},
			nil,
		},
		"text is kept with its run, also after the end": {
			[]sent{{minute: 1, says: "start", text: "a"}, {minute: 2, says: "log", text: "b\n"}, {minute: 3, says: "1", text: "c"}, {minute: 4, says: "log", text: "d"}},
			[]string{"b1 \"\" 1-3 ended 1 \"a\\nb\\nc\\nd\""},
		},
		"text that is no text does no harm": {
			[]sent{{minute: 1, says: "start", text: "\xff\x00ok"}},
			[]string{`b1 "" 1 open "` + "\uFFFD" + `\x00ok"`},
		},
		"another boot interrupts what was open, and only that": {
			[]sent{{minute: 1, says: "0", rid: rid2}, {minute: 2, says: "start"}, {minute: 9, says: "start", rid: rid1, boot: "b2"}},
			[]string{`b1 "` + rid2 + `" 1-1 ended 0`, `b1 "" 2-9 interrupted`, `b2 "` + rid1 + `" 9 open`},
		},
		"an end after a boot is none of a run before it": {
			[]sent{{minute: 2, says: "start"}, {minute: 9, says: "0", boot: "b2"}},
			[]string{`b1 "" 2-9 interrupted`, `b2 "" 9-9 ended 0`},
		},
		"a clock that was set back makes no run end before it began": {
			[]sent{{minute: 9, says: "start"}, {minute: 2, says: "0"}},
			[]string{`b1 "" 9-9 ended 0`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs, _ := fold(c.pings...)
			var got []string
			for _, r := range runs {
				got = append(got, briefly(r))
				if r.Source != signals.RunByPing || r.Policy != "" || r.Ref != ref {
					t.Errorf("a run is not told as one by a ping of no policy: %+v", r)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALostRunIsFoundAgain(t *testing.T) {
	lost, _ := fold(sent{minute: 1, says: "start"})
	lost[0].End, lost[0].EndedAt, lost[0].Slack = fleet.RunLost, at(50), 120
	for name, c := range map[string]struct {
		says string
		want string
	}{
		"by text":   {"log", `b1 "" 1 open`},
		"by an end": {"0", `b1 "" 1-60 ended 0`},
	} {
		t.Run(name, func(t *testing.T) {
			p := sent{minute: 60, says: c.says}
			runs, changed := ping.Fold(ref, "b1", lost, p.ping())
			if len(runs) != 1 || len(changed) != 1 || briefly(runs[0]) != c.want {
				t.Errorf("runs %v, want %s", runs, c.want)
			}
			if c.says == "log" && runs[0].Slack != 0 {
				t.Errorf("%d idle looks still count against it", runs[0].Slack)
			}
		})
	}
}

// What changed is all that must be written for the rest to be found again.
func TestWhatChangedIsAllThatChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := map[string]fleet.Run{} // as it would be read after a crash
		var runs []fleet.Run
		minute, latest := 0.0, 0.0
		for range rapid.IntRange(1, 30).Draw(t, "pings") {
			minute += rapid.SampledFrom([]float64{-5, 0, 0.5, 1, 3, 60}).Draw(t, "later")
			back := minute < latest // the clock was set back
			latest = max(latest, minute)
			p := sent{
				minute: minute,
				says:   rapid.SampledFrom([]string{"start", "log", "0", "1"}).Draw(t, "says"),
				rid:    rapid.SampledFrom([]string{"", rid1, rid2}).Draw(t, "rid"),
				text:   rapid.SampledFrom([]string{"", "x"}).Draw(t, "text"),
				boot:   rapid.SampledFrom([]fleet.Boot{"b1", "b1", "b1", "b2"}).Draw(t, "boot"),
			}
			before := fmt.Sprintf("%+v", runs)
			next, changed := ping.Fold(ref, p.boot, runs, p.ping())
			if fmt.Sprintf("%+v", runs) != before {
				t.Fatal("the runs it was given were changed")
			}
			for _, r := range changed {
				state[string(r.Boot)+"/"+r.ID] = r
			}
			runs = next
			for _, r := range runs {
				if diff := cmp.Diff(state[string(r.Boot)+"/"+r.ID], r); diff != "" {
					t.Fatalf("a run differs from what would be written (-written +kept):\n%s", diff)
				}
				if !r.Open() && r.EndedAt.Before(r.StartedAt) {
					t.Fatalf("a run ended before it began: %s", briefly(r))
				}
				if r.Open() && r.Boot != p.boot {
					t.Fatalf("a run of another boot is open: %s", briefly(r))
				}
			}
			if len(runs) != len(state) {
				t.Fatalf("%d runs are kept and %d would be written", len(runs), len(state))
			}
			// A repeated ping changes nothing that policies go by.
			again, _ := ping.Fold(ref, p.boot, runs, p.ping())
			if !back && p.says != "log" && len(again) != len(runs) {
				t.Fatalf("the same ping, come again, made another run: %d and %d", len(runs), len(again))
			}
		}
	})
}

func TestOnlySoMuchIsKeptInMind(t *testing.T) {
	var runs []fleet.Run
	open := sent{minute: 0, says: "start", rid: rid1}
	runs, _ = ping.Fold(ref, "b1", runs, open.ping())
	for n := range 1000 {
		p := sent{minute: float64(n + 1), says: "0", rid: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)}
		runs, _ = ping.Fold(ref, "b1", runs, p.ping())
	}
	if len(runs) > 250 || !runs[0].Open() || runs[len(runs)-1].EndedAt != at(1000) {
		t.Errorf("%d runs are kept; the open one and the newest must be among them", len(runs))
	}
	long := sent{minute: 2000, says: "0", text: strings.Repeat("训", 40_000) + "end"}
	runs, _ = ping.Fold(ref, "b1", runs, long.ping())
	if said := runs[len(runs)-1].Said; len(said) > ping.TextKept || len(said) < ping.TextKept-3 || !strings.HasSuffix(said, "训end") || !strings.HasPrefix(said, "训") {
		t.Errorf("of a long text %d bytes are kept: %.20q", len(said), said)
	}
}

func TestKeys(t *testing.T) {
	other := ref
	other.Incarnation = "2"
	key := ping.Key("secret", ref)
	if key != ping.Key("secret", ref) {
		t.Error("a key is not the same the second time")
	}
	if key == ping.Key("secret", other) || key == ping.Key("another", ref) {
		t.Error("two instances, or two secrets, have one key")
	}
	if key != "8e8508c9-6ba6-8988-8f64-423fc834f40e" {
		t.Errorf("key %s: addresses that were handed out would not work any more", key)
	}
}
