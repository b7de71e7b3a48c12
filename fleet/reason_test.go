package fleet_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
)

func drawValue(t *rapid.T, depth int) fleet.Value {
	kinds := 6
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(1, kinds).Draw(t, "kind of value") {
	case 1:
		return fleet.Text(rapid.String().Draw(t, "text"))
	case 2:
		return fleet.Number(rapid.Float64().Draw(t, "number"))
	case 3:
		sec := rapid.Int64Range(0, 4e9).Draw(t, "seconds")
		zone := time.FixedZone("", 60*rapid.IntRange(-720, 840).Draw(t, "zone"))
		return fleet.Moment(time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(zone))
	case 4:
		return fleet.Span(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "span")))
	case 5:
		return fleet.Amount(fleet.Money{Micros: rapid.Int64().Draw(t, "micros"), Currency: "CNY"})
	}
	return fleet.Nested(drawReason(t, depth-1))
}

func drawReason(t *rapid.T, depth int) fleet.Reason {
	values := fleet.Values{}
	for range rapid.IntRange(1, 4).Draw(t, "values") {
		values[rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "name")] = drawValue(t, depth)
	}
	return fleet.Because(fleet.Code(rapid.StringMatching(`[a-z]{1,5}\.[a-z-]{1,9}`).Draw(t, "code")), values)
}

func TestReasonIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawReason(t, 2)
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got fleet.Reason
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(sameValue)); diff != "" {
			t.Fatalf("%s is read back otherwise (-want +got):\n%s", data, diff)
		}
	})
}

func sameValue(a, b fleet.Value) bool {
	return cmp.Equal(a.Any(), b.Any(), cmp.Comparer(sameValue))
}

func TestReasonWithoutValuesIsReadBack(t *testing.T) {
	var got fleet.Reason
	data, err := json.Marshal(fleet.Because("guard.mode", nil))
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil || got.Code != "guard.mode" || got.Values != nil {
		t.Fatalf("%s is read back as %+v, %v", data, got, err)
	}
}

func TestNumberThatIsNoneIsKeptInWords(t *testing.T) {
	for want, n := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)} {
		if got := fleet.Number(n).Any(); got != want {
			t.Errorf("Number(%v) holds %v, want the text %q", n, got, want)
		}
	}
}

func TestValueThatHoldsNothingIsNeverWrittenOrRead(t *testing.T) {
	if data, err := json.Marshal(fleet.Values{"at": {}}); err == nil {
		t.Errorf("a value that holds nothing is written as %s", data)
	}
	var v fleet.Value
	for _, data := range []string{`{}`, `{"colour":"red"}`, `5`} {
		if err := json.Unmarshal([]byte(data), &v); err == nil {
			t.Errorf("%s is read as %v", data, v.Any())
		}
	}
}

func TestActionsAreWords(t *testing.T) {
	for a, word := range map[fleet.Action]string{
		fleet.Keep: "keep", fleet.Start: "start", fleet.Stop: "stop",
		fleet.Release: "release", fleet.Delete: "delete", fleet.Order: "order",
	} {
		data, err := json.Marshal(a)
		if err != nil || string(data) != `"`+word+`"` {
			t.Errorf("%s is written as %s, %v", word, data, err)
		}
		got := fleet.Action(-1)
		if err := json.Unmarshal(data, &got); err != nil || got != a {
			t.Errorf("%s is read as %v, %v", data, got, err)
		}
	}
}

func TestActionsFromOutsideAreNeverGuessed(t *testing.T) {
	for _, data := range []string{`"Stop"`, `"halt"`, `""`, `2`} {
		a := fleet.Release
		if err := json.Unmarshal([]byte(data), &a); err == nil || a == fleet.Stop {
			t.Errorf("%s is read as %v, %v", data, a, err)
		}
	}
	for _, a := range []fleet.Action{-1, 99} {
		if !strings.HasPrefix(a.String(), "action(") {
			t.Errorf("%d is called %s", int(a), a)
		}
	}
}

func TestZeroValuesAreHarmless(t *testing.T) {
	var (
		action   fleet.Action
		activity fleet.Activity
		state    fleet.State
		run      fleet.RunOutcome
	)
	if action != fleet.Keep || activity != fleet.Unknown || state != fleet.StateUnknown || run != fleet.OutcomeUnproven {
		t.Errorf("zero values: %v, %v, %v, %q", action, activity, state, run)
	}
	if state.Up() || state.Gone() {
		t.Error("an unknown state is taken for running or gone")
	}
	if fleet.Enforcing() || fleet.Enforcing("") || fleet.Enforcing(fleet.Enforce, "") || fleet.Enforcing(fleet.Enforce, fleet.DryRun) {
		t.Error("an unset or milder mode enforces")
	}
	if !fleet.Enforcing(fleet.Enforce, fleet.Enforce) {
		t.Error("enforce everywhere does not enforce")
	}
}

func TestOnlyReleaseAndDeleteDestroy(t *testing.T) {
	terms := fleet.Terms{WarnStop: time.Minute, WarnDestroy: time.Hour}
	for a, destroys := range map[fleet.Action]bool{
		fleet.Keep: false, fleet.Start: false, fleet.Stop: false,
		fleet.Release: true, fleet.Delete: true, fleet.Order: false,
	} {
		want := time.Minute
		if destroys {
			want = time.Hour
		}
		if a.Destroys() != destroys || terms.Warn(a) != want {
			t.Errorf("%s: destroys = %v with a warning of %s", a, a.Destroys(), terms.Warn(a))
		}
	}
}
