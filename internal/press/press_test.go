package press

import (
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyPress(t *rapid.T) Press {
	return Press{
		Intent: rapid.Int64Range(1, math.MaxInt64).Draw(t, "intent"),
		Turn:   rapid.IntRange(0, 1<<20).Draw(t, "turn"),
		What:   rapid.SampledFrom(All()).Draw(t, "what"),
		// From 1970 to the year 9999.
		Expires: time.Unix(rapid.Int64Range(1, 253402300799).Draw(t, "expires"), 0).UTC(),
	}
}

func TestAValueSaysWhatWasWrittenAndFitsEveryButton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, key, place := anyPress(t), rapid.StringN(1, 40, -1).Draw(t, "key"), rapid.String().Draw(t, "place")
		v := Value(key, place, p)
		if v == "" || len(v) > MaxLen || strings.ContainsAny(v, "+/= ") {
			t.Fatalf("value %q of %d bytes", v, len(v))
		}
		if got, err := Read(key, place, v, p.Expires.Add(-time.Nanosecond)); err != nil || got != p {
			t.Fatalf("read %+v, %v; want %+v", got, err, p)
		}
		if got, err := Read(key, place, v, p.Expires); !errors.Is(err, ErrExpired) || got != p {
			t.Fatalf("at its end: %+v, %v", got, err)
		}
	})
}

func TestNoOtherKeyPlaceOrLetterIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPress(t)
		v := Value("key", "button|lab", p)
		refuse := func(key, place, value string) {
			if got, err := Read(key, place, value, time.Unix(0, 0)); !errors.Is(err, ErrWrong) || got != (Press{}) {
				t.Fatalf("takes %q: %+v, %v", value, got, err)
			}
		}
		refuse("key2", "button|lab", v)
		refuse("", "button|lab", v)
		refuse("key", "link|lab", v)
		refuse("key", "button|lab2", v)
		raw, err := base64.RawURLEncoding.DecodeString(v)
		if err != nil {
			t.Fatal(err)
		}
		bit := rapid.IntRange(0, len(raw)*8-1).Draw(t, "bit")
		raw[bit/8] ^= 1 << (bit % 8)
		refuse("key", "button|lab", base64.RawURLEncoding.EncodeToString(raw))
		refuse("key", "button|lab", v[:rapid.IntRange(0, len(v)-1).Draw(t, "cut")])
		refuse("key", "button|lab", v+rapid.StringN(1, 8, -1).Draw(t, "more"))
	})
}

func TestNothingReadsWhatIsNoValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if got, err := Read("key", "place", rapid.String().Draw(t, "value"), time.Unix(0, 0)); !errors.Is(err, ErrWrong) {
			t.Fatalf("reads %+v", got)
		}
	})
}

func TestWhatCannotBeWrittenHasNoValue(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	for name, p := range map[string]Press{
		"no act":            {What: Now, Expires: at},
		"nothing wanted":    {Intent: 1, Expires: at},
		"an unknown wish":   {Intent: 1, What: "shutdown", Expires: at},
		"no end":            {Intent: 1, What: Now},
		"no announcement":   {Intent: 1, Turn: -1, What: Now, Expires: at},
		"a negative intent": {Intent: -1, What: Now, Expires: at},
	} {
		if v := Value("key", "place", p); v != "" {
			t.Errorf("%s: %q", name, v)
		}
	}
}

// A change of the form must raise its version: messages in chats hold older values.
func TestTheFormOfValuesStays(t *testing.T) {
	p := Press{Intent: 12, Turn: 1, What: HoldMorning, Expires: time.Unix(1_800_000_000, 0).UTC()}
	const want = "EQwBgKSn2ga7z-mzpnBnH7nwbRjKteVI" // reckoned by another program
	if v := Value("key", "button|lab", p); v != want {
		t.Errorf("value %q, want %q", v, want)
	}
}
