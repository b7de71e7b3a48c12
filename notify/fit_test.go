package notify_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/notify"
)

type letter struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// size is how many bytes a Poster writes.
func size(t interface{ Fatal(args ...any) }, v any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func TestFitCutsNoMoreThanItMust(t *testing.T) {
	build := func(text string) letter { return letter{"x", text} }
	frame := size(t, build(""))
	for name, c := range map[string]struct {
		text string
		room int
		want string // its beginning; whole where it has no end of its own
	}{
		"what fits stays whole":              {strings.Repeat("a", 50), 50, strings.Repeat("a", 50)},
		"a line end takes two bytes":         {strings.Repeat("\n", 25), 50, strings.Repeat("\n", 25)},
		"what does not fit is cut":           {strings.Repeat("训", 40), 60, "训训训训训训训训训训"},
		"where nothing fits nothing is left": {"abc", -5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := notify.Fit(c.text, frame+c.room, build)
			if !strings.HasPrefix(got.Text, c.want) || got.Kind != "x" || (c.want == "") != (got.Text == "") {
				t.Errorf("%q, want it to begin with %q", got.Text, c.want)
			}
		})
	}
}

func TestFitKeepsTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("a训🙂<&\n\"\x01\u2028")), 0, 400, -1).Draw(t, "text")
		limit := rapid.IntRange(30, 800).Draw(t, "limit")
		got := notify.Fit(text, limit, func(text string) letter { return letter{"x", text} })
		if n := size(t, got); n > limit {
			t.Fatalf("%d bytes, want at most %d", n, limit)
		}
		if !utf8.ValidString(got.Text) {
			t.Fatalf("%q is not UTF-8", got.Text)
		}
		if size(t, letter{"x", text}) <= limit && got.Text != text {
			t.Fatalf("%q was cut to %q, which it need not be", text, got.Text)
		}
	})
}
