package prometheus_test

import (
	"testing"
	"time"

	"curfew/fleet"
)

// labelledSource asks the double one query for all.
func labelledSource(t *testing.T, d *double, now func() time.Time) func(is ...fleet.Instance) map[string]fleet.Evidence {
	t.Helper()
	o := d.serve()
	o.Query, o.Label, o.Now = query(t, "max by (host) (util)"), "host", now
	s := source(t, o)
	return func(is ...fleet.Instance) map[string]fleet.Evidence {
		t.Helper()
		before := len(d.queries)
		seen := look(t, s, is...)
		if asked := d.queries[before:]; len(asked) != 1 || asked[0] != "max by (host) (util)" {
			t.Errorf("asked %q", asked)
		}
		return seen
	}
}

func TestOneQueryForAll(t *testing.T) {
	d := &double{t: t, answer: vector(
		`{"host":"gpu-a"} 90`, `{"host":"b"} 0`, `{"host":"gpu-several","gpu":"0"} 0`, `{"host":"gpu-several","gpu":"1"} 0`,
		`{"host":"gpu-both"} 0`, `{"host":"both"} 0`, `{"host":"gpu-nan"} NaN`, `{"host":"somebody-else"} 90`, `{} 0`, `{"host":""} 0`,
		`{"host":"gpu-unread"} 0`, `{"host":"gpu-A"} 0`, `{"host":"same"} 7`,
	)}
	unread, same, nameless := instance("unread"), instance("same"), instance("nameless")
	unread.Unread, same.Name, nameless.Name = []string{"name"}, "same", ""
	seen := labelledSource(t, d, nil)(instance("a"), instance("b"), instance("several"), instance("both"), instance("nan"), instance("none"), unread, same, nameless)
	const none = "of 13 values none has host equal to "
	for id, want := range map[string]struct {
		activity fleet.Activity
		told     string
	}{
		"a":        {fleet.Busy, "prometheus dcgm gives 90, busy above 5"},
		"b":        {fleet.Idle, "prometheus dcgm gives 0, idle up to 5"},
		"same":     {fleet.Busy, "prometheus dcgm gives 7, busy above 5"},
		"several":  {fleet.Unknown, "the query gives 2 values for it where one is needed; max by (…) makes one of them"},
		"both":     {fleet.Unknown, "the query gives 2 values for it where one is needed; max by (…) makes one of them"},
		"nan":      {fleet.Unknown, "the value is NaN, which is no number"},
		"none":     {fleet.Unknown, none + "gpu-none or its id"},
		"unread":   {fleet.Unknown, none + "gpu-unread or its id"},
		"nameless": {fleet.Unknown, none + "nameless or its id"},
	} {
		if e := seen[id]; e.Activity != want.activity || told(t, e.Reason) != want.told {
			t.Errorf("%s: got %s: %s\nwant %s: %s", id, e.Activity, told(t, e.Reason), want.activity, want.told)
		}
	}
}

func TestAnAnswerThatCannotBeUsedIsUnknownForAll(t *testing.T) {
	for what, answer := range map[string]string{
		"a scalar":   result("scalar", `[NOW,"0"]`),
		"nothing":    result("vector", "[]"),
		"an error":   `{"status":"error","error":"no"}`,
		"no answer":  `{}`,
		"one of two": result("vector", "["+labelled(`{"host":"gpu-c"} 0`)+"]"),
	} {
		d := &double{t: t, answer: answers(200, js, answer)}
		for id, e := range labelledSource(t, d, nil)(instance("a"), instance("b")) {
			if e.Activity != fleet.Unknown {
				t.Errorf("%s: %s is %s: %s", what, id, e.Activity, told(t, e.Reason))
			}
		}
	}
}

func TestTwoOfOneName(t *testing.T) {
	now := time.Now().Add(-2 * time.Minute) // the double knows the real time only
	d := &double{t: t, answer: vector(`{"host":"twin"} 0`, `{"host":"d"} 0`)}
	ask := labelledSource(t, d, func() time.Time { return now })
	a, b, e := instance("a"), instance("b"), instance("e")
	a.Name, b.Name, e.Name = "twin", "twin", "d"

	unknown := func(seen map[string]fleet.Evidence, id, other string) {
		t.Helper()
		want := "instance " + other + " is called twin as well: whose value that is cannot be told"
		if got := seen[id]; got.Activity != fleet.Unknown || told(t, got.Reason) != want {
			t.Errorf("%s: %s: %s", id, got.Activity, told(t, got.Reason))
		}
	}
	seen := ask(a, b, e)
	unknown(seen, "a", "b")
	unknown(seen, "b", "a")
	if seen["e"].Activity != fleet.Idle {
		t.Errorf("another one is %s: %s", seen["e"].Activity, told(t, seen["e"].Reason))
	}
	// An act is preceded by a look at its instance alone.
	unknown(ask(a), "a", "b")
	// One whose id is another's name.
	e.Ref.ID, e.Name = "twin", "e"
	now = now.Add(time.Minute)
	unknown(ask(a, b, e), "twin", "a")

	now = now.Add(2*time.Minute + 11*time.Second)
	if got := ask(a)["a"]; got.Activity != fleet.Idle {
		t.Errorf("long after the others were seen it is %s: %s", got.Activity, told(t, got.Reason))
	}
}

func TestANameThatWasGivenAnew(t *testing.T) {
	now := time.Now()
	d := &double{t: t, answer: vector(`{"host":"exp"} 0`)}
	ask := labelledSource(t, d, func() time.Time { return now })
	a, b := instance("a"), instance("b")
	a.Name, b.Name = "exp", "exp"
	if got := ask(a)["a"]; got.Activity != fleet.Idle {
		t.Errorf("alone: %s: %s", got.Activity, told(t, got.Reason))
	}
	a.Name = "old"
	seen := ask(a, b)
	if seen["a"].Activity != fleet.Unknown || seen["b"].Activity != fleet.Idle {
		t.Errorf("a, renamed: %s; b: %s", told(t, seen["a"].Reason), told(t, seen["b"].Reason))
	}
}
