package signals_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals"
)

// insider is a source that looks inside, asker one that does not.
type insider struct{ signals.Source }

type asker struct {
	signals.Source
	required bool
}

func (a asker) Required() bool { return a.required }

func TestWhoseWordIsRequired(t *testing.T) {
	for name, c := range map[string]struct {
		source signals.Source
		want   bool
	}{
		"who sees inside":                        {insider{}, true},
		"who does not":                           {asker{}, false},
		"who does not, and is said to be needed": {asker{required: true}, true},
	} {
		if got := signals.Required(c.source); got != c.want {
			t.Errorf("%s: required %v, want %v", name, got, c.want)
		}
	}
}

// told is what a source that does not look inside was told.
func told(source string, a fleet.Activity, age time.Duration) fleet.Evidence {
	e := seen(source, a, age)
	e.Facts, e.Outside = fleet.Facts{}, true
	return e
}

func TestWhatIsToldFromOutsideIsNotJudged(t *testing.T) {
	for _, a := range []fleet.Activity{fleet.Unknown, fleet.Busy, fleet.Idle} {
		want := told("probe:q", a, 0)
		if diff := cmp.Diff(want, signals.Judge(want, signals.Limits{}, trainPattern()), cmp.AllowUnexported(fleet.Value{})); diff != "" {
			t.Errorf("%s was judged again:\n%s", a, diff)
		}
	}
	e := atRest()
	e.Outside, e.Activity = true, fleet.Busy
	if got := signals.Judge(e, signals.Limits{}, nil); got.Activity != fleet.Busy || got.Facts.Reached || got.Facts.Processes != nil {
		t.Errorf("facts from outside count: %+v", got)
	}
}

func TestFusingWhatIsToldFromOutside(t *testing.T) {
	const busy, idle, unknown = fleet.Busy, fleet.Idle, fleet.Unknown
	ssh, queue, both := []string{"ssh"}, []string{"probe:q"}, []string{"ssh", "probe:q"}
	for name, c := range map[string]struct {
		inside   []fleet.Evidence
		outside  fleet.Activity
		required []string
		want     fleet.Activity
	}{
		"busy keeps what is idle inside":                        {[]fleet.Evidence{seen("ssh", idle, 0)}, busy, ssh, busy},
		"idle changes nothing of what is busy inside":           {[]fleet.Evidence{seen("ssh", busy, 0)}, idle, both, busy},
		"idle is not enough where it is not known inside":       {[]fleet.Evidence{seen("ssh", unknown, 0)}, idle, both, unknown},
		"idle is not enough where nobody has looked inside":     {nil, idle, both, unknown},
		"idle is not enough where it is not required":           {nil, idle, nil, unknown},
		"idle is enough where it is and nobody sees inside":     {nil, idle, queue, idle},
		"not with cards that nobody has seen, which it is not":  {nil, busy, queue, busy},
		"unknown is unknown where it is required":               {nil, unknown, queue, unknown},
		"unknown is unknown where it is required beside a look": {[]fleet.Evidence{seen("ssh", idle, 0)}, unknown, both, unknown},
		"unknown does not matter where it is not required":      {[]fleet.Evidence{seen("ssh", idle, 0)}, unknown, ssh, idle},
		"both idle": {[]fleet.Evidence{seen("ssh", idle, 0)}, idle, both, idle},
	} {
		t.Run(name, func(t *testing.T) {
			i := fleet.Instance{Boot: "b1"}
			if c.inside == nil {
				i.GPU.Count = 8 // which nobody has seen
			}
			got := signals.Fuse(start, i, append(slices.Clone(c.inside), told("probe:q", c.outside, 0)), nil, c.required)
			if got.Activity != c.want {
				t.Errorf("got %s because %s, want %s", got.Activity, got.Reason.Code, c.want)
			}
		})
	}
}

// TestOneUnknownNeverMakesIdle: whatever else is known, an answer that fails in
// place of one that said idle, or comes in addition, never makes an instance idle
// that was not; that of a required source never leaves one idle.
func TestOneUnknownNeverMakesIdle(t *testing.T) {
	idle := 0
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"ssh", "local", "probe:a", "probe:b"}
		looks := map[string]fleet.Evidence{}
		for _, name := range names {
			age := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, time.Minute + 1}).Draw(t, "age")
			switch a := rapid.SampledFrom([]fleet.Activity{fleet.Idle, fleet.Idle, fleet.Idle, fleet.Unknown, fleet.Busy, 7}).Draw(t, name); {
			case a == 7: // it has not looked
			case name == "ssh" || name == "local":
				looks[name] = seen(name, a, age)
			default:
				looks[name] = told(name, a, age)
			}
		}
		required := rapid.SampledFrom([][]string{nil, {"ssh"}, {"probe:a"}, {"ssh", "probe:a"}, {"local", "probe:a", "probe:b"}}).Draw(t, "required")
		fuse := func() fleet.Activity {
			var all []fleet.Evidence
			for _, e := range looks {
				all = append(all, e)
			}
			return signals.Fuse(start, fleet.Instance{Boot: "b1"}, all, nil, required).Activity
		}
		before := fuse()
		if before == fleet.Idle {
			idle++
		}
		name := rapid.SampledFrom(names).Draw(t, "fails")
		was := looks[name]
		if was.Activity == fleet.Busy {
			return // that it is busy no more is known of others alone
		}
		looks[name] = told(name, fleet.Unknown, 0)
		after := fuse()
		switch {
		case after == fleet.Idle && before != fleet.Idle:
			t.Fatalf("%s fails, and it is idle; before it was %s", name, before)
		case after == fleet.Idle && slices.Contains(required, name):
			t.Fatalf("%s is required and fails, and it is idle", name)
		}
	})
	if idle == 0 {
		t.Fatal("no draw was idle; nothing was proven")
	}
}

// TestWhatIsToldFromOutsideBeginsAndEndsNoRun: of runs it says only that there was
// work after their end, or that another boot has begun.
func TestWhatIsToldFromOutsideBeginsAndEndsNoRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, looks := drawRules(t), drawLooks(t)
		runs := fold(rules, looks...)
		last := looks[len(looks)-1]
		got := runs
		busy := false
		for n := range rapid.IntRange(1, 10).Draw(t, "answers") {
			e := told("probe:q", rapid.SampledFrom([]fleet.Activity{fleet.Idle, fleet.Unknown, fleet.Busy}).Draw(t, "says"), 0)
			e.SeenAt, e.Boot = last.SeenAt.Add(time.Duration(n+1)*time.Hour), last.Boot
			busy = busy || e.Activity == fleet.Busy
			got = signals.Follow(ref, got, signals.Judge(e, signals.Limits{}, trainPattern()), rules)
		}
		for n := range runs {
			if r := &got[n]; busy && runs[n].End == fleet.RunEnded && r.Boot == last.Boot {
				if r.BusyAt.IsZero() {
					t.Fatalf("work after the end of %s is not noted", r.ID)
				}
				r.BusyAt = runs[n].BusyAt
			}
		}
		if !reflect.DeepEqual(runs, got) {
			t.Fatalf("answers made of\n%+v\nthis:\n%+v", runs, got)
		}
	})
}
