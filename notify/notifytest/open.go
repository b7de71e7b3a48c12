package notifytest

import (
	"strings"
	"testing"

	"curfew/notify"
)

// Refusal is one way to set a channel up wrong, and what the error must say. It is an
// alias, so that a table can leave the names of its fields out.
type Refusal = struct {
	Change func(*notify.Options)
	Want   string
}

// Refuses opens a channel once per refusal, with good options that were changed. Each
// must be refused in words that say which channel it is and hold no secret; the good
// ones must not be refused.
func Refuses(t *testing.T, kind notify.Kind, good func() notify.Options, secrets []string, refusals map[string]Refusal) {
	t.Helper()
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			o := good()
			c.Change(&o)
			_, err := kind.Open(o)
			if err == nil || !strings.Contains(err.Error(), c.Want) || !strings.HasPrefix(err.Error(), "channel "+o.Name+": "+kind.Name+": ") {
				t.Errorf("error %v, want %q of channel %s", err, c.Want, o.Name)
			}
			NoSecret(t, err, secrets...)
		})
	}
	Opens(t, kind, good())
}

// Opens wants a channel to be opened by each of these options.
func Opens(t *testing.T, kind notify.Kind, right ...notify.Options) {
	t.Helper()
	for n, o := range right {
		if c, err := kind.Open(o); err != nil || c == nil {
			t.Errorf("refuses what is right (%d): %v", n, err)
		}
	}
}
