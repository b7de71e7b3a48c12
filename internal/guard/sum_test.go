package guard

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
)

func TestSum(t *testing.T) {
	early, late := noon.Add(time.Hour), noon.Add(2*time.Hour)
	rule := func(check string, a Answer, until time.Time) Ruling {
		return Ruling{Check: check, Answer: a, Until: until}
	}
	for _, c := range []struct {
		name string
		in   []Ruling
		want Ruling
	}{
		{"one that allows", []Ruling{rule("a", Allow, time.Time{})}, rule("a", Allow, time.Time{})},
		{"the strictest is kept", []Ruling{rule("a", Allow, time.Time{}), rule("b", Wait, early), rule("c", Refuse, time.Time{}), rule("d", Wait, late)}, rule("c", Refuse, time.Time{})},
		{"of two that are as strict the first", []Ruling{rule("a", Refuse, time.Time{}), rule("b", Refuse, time.Time{})}, rule("a", Refuse, time.Time{})},
		{"until the latest of those that wait", []Ruling{rule("a", Wait, early), rule("b", Wait, late), rule("c", Wait, time.Time{})}, rule("a", Wait, late)},
		{"a time counts also where the first waits for no time", []Ruling{rule("a", Wait, time.Time{}), rule("b", Wait, early)}, rule("a", Wait, early)},
		{"times of those that allow do not count", []Ruling{rule("a", Wait, early), rule("b", Allow, late)}, rule("a", Wait, early)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Sum(c.in)); d != "" {
				t.Errorf("sum (-want +got):\n%s", d)
			}
		})
	}
	t.Run("nothing asked refuses", func(t *testing.T) {
		if got := Sum(nil); got.Answer != Refuse || got.Reason.Code != ReasonNoChecks {
			t.Errorf("got %s (%s)", got.Answer, got.Reason.Code)
		}
		if got := Sum(Ask(nil, allowed())); got.Answer != Refuse {
			t.Errorf("an empty chain says %s", got.Answer)
		}
	})
}

func TestWithoutLeavesOutWhatIsNamed(t *testing.T) {
	got := Without([]Ruling{{Check: "a"}, {Check: "mode"}, {Check: "b"}}, "mode", "nothing")
	if d := cmp.Diff([]Ruling{{Check: "a"}, {Check: "b"}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	dry := allowed()
	dry.AccountMode = fleet.DryRun
	if got := Sum(Without(Ask(Chain(), dry), "mode")); got.Answer != Allow {
		t.Errorf("a dry run without its last check says %s (%s)", got.Answer, got.Check)
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		cap       Cap
		base      int
		want      int
		unbounded bool
	}{
		{"none set is no bound", Cap{}, 10, 0, true},
		{"by the hour", Cap{PerHour: 3}, 1000, 3, false},
		{"a share, rounded up", Cap{Percent: 30}, 11, 4, false},
		{"a share that is whole", Cap{Percent: 30}, 10, 3, false},
		{"a share is at least one", Cap{Percent: 1}, 3, 1, false},
		{"a share of nothing is one", Cap{Percent: 50}, 0, 1, false},
		{"the smaller: by the hour", Cap{PerHour: 2, Percent: 50}, 10, 2, false},
		{"the smaller: a share", Cap{PerHour: 9, Percent: 50}, 10, 5, false},
		{"all", Cap{Percent: 100}, 7, 7, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.cap.Limit(c.base)
			if got != c.want || ok == c.unbounded {
				t.Errorf("%d, %v; want %d, %v", got, ok, c.want, !c.unbounded)
			}
		})
	}
	t.Run("never above the whole, never below one", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			base, percent := rapid.IntRange(0, 100_000).Draw(t, "base"), rapid.IntRange(1, 100).Draw(t, "percent")
			n, ok := Cap{Percent: percent}.Limit(base)
			if !ok || n < 1 || n > max(1, base) || (n-1)*100 >= max(1, base*percent) {
				t.Errorf("%d%% of %d gives %d", percent, base, n)
			}
		})
	})
}

func TestAnswersAreKeptAsWords(t *testing.T) {
	for _, a := range []Answer{Refuse, Wait, Allow} {
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		back := Allow
		if err := json.Unmarshal(b, &back); err != nil || back != a {
			t.Errorf("%s came back as %s (%v)", b, back, err)
		}
	}
	a := Allow
	if err := json.Unmarshal([]byte(`"perhaps"`), &a); err != nil || a != Refuse {
		t.Errorf("an unknown word is %s (%v), want refuse", a, err)
	}
}
