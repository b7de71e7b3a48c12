package notify_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/notify"
)

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		max  int
		want string
	}{
		"what fits is left alone":             {"训练完成", 12, "训练完成"},
		"a rune is never split":               {strings.Repeat("训", 20), 30, "训训训训训…(+45 bytes)"},
		"the note has room for fewer digits":  {strings.Repeat("a", 104), 103, strings.Repeat("a", 88) + "…(+16 bytes)"},
		"no room for the note cuts the text":  {"训练完成了", 8, "训练"},
		"nothing fits in nothing":             {"训练", 0, ""},
		"a negative limit is nothing":         {"训练", -5, ""},
		"a broken rune becomes a replacement": {"a\xffb", 9, "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.Cut(c.in, c.max); got != c.want {
				t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
			}
		})
	}
}

func TestCutNeverExceedsAndIsAlwaysUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		limit := rapid.IntRange(-1, 80).Draw(t, "limit")
		got := notify.Cut(s, limit)
		if len(got) > max(limit, 0) {
			t.Fatalf("%d bytes, limit %d: %q", len(got), limit, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		if utf8.ValidString(s) && len(s) <= limit && got != s {
			t.Fatalf("cut without need: %q to %q", s, got)
		}
		if again := notify.Cut(got, limit); again != got {
			t.Fatalf("cutting twice changes %q to %q", got, again)
		}
	})
}

func TestCutRunes(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		max  int
		want string
	}{
		"what fits is left alone":               {"训练完成", 4, "训练完成"},
		"the last character says there is more": {"训练完成了", 4, "训练完…"},
		"one character is the note":             {"训练", 1, "…"},
		"nothing fits in nothing":               {"训练", 0, ""},
		"a negative limit is nothing":           {"训练", -5, ""},
		"a broken rune becomes a replacement":   {"a\xffb", 9, "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.CutRunes(c.in, c.max); got != c.want {
				t.Errorf("CutRunes(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
			}
		})
	}
}

func TestParagraphs(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"lines are set apart":              {"a\n> b\n> c", "a\n\n> b\n\n> c"},
		"empty lines do not add up":        {"\na\n\n \n\nb\n", "a\n\nb"},
		"an indent does not become a code": {"a\n    b", "a\n\nb"},
		"nothing stays nothing":            {" \n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := notify.Paragraphs(c.in); got != c.want {
				t.Errorf("Paragraphs(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestEscapeLeavesCodeLikeWordsReadable(t *testing.T) {
	for _, s := range []string{"gpu < 5%", "exp_7-a", "a * b", "x <= y", "https://example.org/a_b"} {
		if got := notify.Escape(s); got != s {
			t.Errorf("Escape(%q) = %q", s, got)
		}
	}
}
