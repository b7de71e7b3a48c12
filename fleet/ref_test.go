package fleet_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

// drawPart draws what platforms use in ids, and the characters that could make
// two references look the same.
func drawPart(t *rapid.T, least int, name string) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab09-_:.@/%+ 机25F4")), least, 8, -1).Draw(t, name)
}

func drawRef(t *rapid.T) fleet.Ref {
	return fleet.Ref{
		Account:     drawPart(t, 1, "account"),
		Kind:        fleet.ThingKind(drawPart(t, 1, "kind")),
		ID:          drawPart(t, 1, "id"),
		Incarnation: drawPart(t, 0, "incarnation"),
	}
}

func TestRefIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRef(t)
		got, err := fleet.ParseRef(r.String())
		if err != nil || got != r {
			t.Fatalf("ParseRef(%q) = %+v, %v; want %+v", r, got, err, r)
		}
	})
}

func TestRefReads(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want fleet.Ref
	}{
		"an instance":         {"autodl:42/instance/pro-1", fleet.Ref{Account: "autodl:42", Kind: fleet.KindInstance, ID: "pro-1"}},
		"one of several":      {"lab/instance/7@1717", fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: "7", Incarnation: "1717"}},
		"an id with a slash":  {"lab/image/lab/torch:2", fleet.Ref{Account: "lab", Kind: fleet.KindImage, ID: "lab/torch:2"}},
		"an account by mail":  {"me@lab.example/ip/1.2.3.4", fleet.Ref{Account: "me@lab.example", Kind: fleet.KindPublicIP, ID: "1.2.3.4"}},
		"an id with an at":    {"lab/image/torch%40sha256:0a", fleet.Ref{Account: "lab", Kind: fleet.KindImage, ID: "torch@sha256:0a"}},
		"an account of parts": {"org%2Flab/disk/d-1", fleet.Ref{Account: "org/lab", Kind: fleet.KindDisk, ID: "d-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fleet.ParseRef(c.text)
			if err != nil || got != c.want {
				t.Fatalf("ParseRef(%q) = %+v, %v; want %+v", c.text, got, err, c.want)
			}
			if got.String() != c.text {
				t.Errorf("%+v is written %q, want %q", got, got, c.text)
			}
		})
	}
}

func TestRefRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"a bare id":              "pro-1",
		"no kind":                "lab/pro-1",
		"an empty account":       "/instance/pro-1",
		"an empty kind":          "lab//pro-1",
		"an empty id":            "lab/instance/",
		"only an incarnation":    "lab/instance/@2",
		"an empty incarnation":   "lab/instance/pro-1@",
		"two incarnations":       "lab/instance/pro-1@2@3",
		"slashes and no letters": "//",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := fleet.ParseRef(text); err == nil {
				t.Fatalf("ParseRef(%q) = %+v, want an error", text, got)
			}
		})
	}
}

func TestCompareRefsIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawRef(t), drawRef(t), drawRef(t)
		if rapid.Bool().Draw(t, "same account") {
			b.Account, c.Account = a.Account, a.Account
		}
		if rapid.Bool().Draw(t, "same id") {
			b.Kind, b.ID = a.Kind, a.ID
		}
		ab, ba := fleet.CompareRefs(a, b), fleet.CompareRefs(b, a)
		if ab != -ba {
			t.Fatalf("%v and %v: %d one way and %d the other", a, b, ab, ba)
		}
		if (ab == 0) != (a == b) {
			t.Fatalf("%+v and %+v compare as %d", a, b, ab)
		}
		if ab <= 0 && fleet.CompareRefs(b, c) <= 0 && fleet.CompareRefs(a, c) > 0 {
			t.Fatalf("%v, %v and %v are in order two by two, but the last is before the first", a, b, c)
		}
	})
}

func TestCompareRefsGoesByAccountKindIDIncarnation(t *testing.T) {
	want := []fleet.Ref{
		{Account: "a", Kind: "disk", ID: "9"},
		{Account: "a", Kind: "instance", ID: "1"},
		{Account: "a", Kind: "instance", ID: "1", Incarnation: "b"},
		{Account: "a", Kind: "instance", ID: "2", Incarnation: "a"},
		{Account: "b", Kind: "disk", ID: "1"},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, fleet.CompareRefs)
	if !slices.Equal(got, want) {
		t.Fatalf("sorted: %v, want %v", got, want)
	}
}

func TestBoot(t *testing.T) {
	at := time.Date(2026, 11, 3, 2, 5, 9, 0, time.FixedZone("", 8*3600))
	known := fleet.BootAt(at)
	for name, c := range map[string]struct {
		a, b fleet.Boot
		same bool
	}{
		"one boot told in two zones": {known, fleet.BootAt(at.UTC()), true},
		"a later start":              {known, fleet.BootAt(at.Add(time.Second)), false},
		"one count":                  {fleet.BootNumber(3), fleet.BootNumber(3), true},
		"another count":              {fleet.BootNumber(3), fleet.BootNumber(4), false},
		"unknown equals nothing, not even itself": {"", fleet.BootAt(time.Time{}), false},
		"unknown is not a known one":              {"", known, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.a.Same(c.b) != c.same || c.b.Same(c.a) != c.same {
				t.Fatalf("%q and %q: same = %v, want %v", c.a, c.b, c.a.Same(c.b), c.same)
			}
		})
	}
}
