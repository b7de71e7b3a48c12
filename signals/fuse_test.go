package signals_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/signals"
)

func seen(source string, a fleet.Activity, age time.Duration) fleet.Evidence {
	e := fleet.Evidence{
		Source: source, SeenAt: start.Add(-age), Boot: "b1", Activity: a, FreshFor: time.Minute,
		Reason: fleet.Because("look", nil),
	}
	e.Facts.Reached = true
	return e
}

func TestFuse(t *testing.T) {
	ofBoot := func(e fleet.Evidence, boot fleet.Boot) fleet.Evidence { e.Boot = boot; return e }
	because := func(e fleet.Evidence, code fleet.Code) fleet.Evidence {
		e.Reason = fleet.Because(code, nil)
		return e
	}
	idle, busy, unknown := fleet.Idle, fleet.Busy, fleet.Unknown
	ssh := []string{"ssh"}
	for _, c := range []struct {
		name     string
		looks    []fleet.Evidence
		runs     []fleet.Run
		required []string
		boot     fleet.Boot
		cards    int
		want     fleet.Activity
		why      fleet.Code
		seenAt   time.Time
	}{
		{name: "a fresh idle look of the required source is idle", looks: []fleet.Evidence{seen("ssh", idle, time.Second)},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start.Add(-time.Second)},
		{name: "idle rests on the oldest look", looks: []fleet.Evidence{seen("ssh", idle, time.Second), seen("probe", idle, time.Minute)},
			required: []string{"ssh", "probe"}, want: idle, why: signals.ReasonAllIdle, seenAt: start.Add(-time.Minute)},
		{name: "nothing required is never idle", looks: []fleet.Evidence{seen("ssh", idle, 0)}, want: unknown, why: signals.ReasonNoSource},
		{name: "a source that has not looked is missing", looks: []fleet.Evidence{seen("probe", idle, 0)},
			required: ssh, want: unknown, why: signals.ReasonNeverLooked},
		{name: "one of two required is not enough", looks: []fleet.Evidence{seen("ssh", idle, 0)},
			required: []string{"ssh", "probe"}, want: unknown, why: signals.ReasonNeverLooked},
		{name: "an old look is stale", looks: []fleet.Evidence{seen("ssh", idle, 61*time.Second)}, required: ssh, want: unknown, why: signals.ReasonStale},
		{name: "a look from the future is stale", looks: []fleet.Evidence{seen("ssh", idle, -time.Second)}, required: ssh, want: unknown, why: signals.ReasonStale},
		{name: "a look of another boot does not count", looks: []fleet.Evidence{ofBoot(seen("ssh", idle, 0), "b0")},
			required: ssh, want: unknown, why: signals.ReasonOtherBoot},
		{name: "a busy look of another boot does not either", looks: []fleet.Evidence{ofBoot(seen("ssh", busy, 0), "b0"), seen("ssh", idle, time.Second)},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start.Add(-time.Second)},
		{name: "a look without a boot does not count", looks: []fleet.Evidence{ofBoot(seen("ssh", idle, 0), "")},
			required: ssh, want: unknown, why: signals.ReasonOtherBoot},
		{name: "an unknown boot is never idle", looks: []fleet.Evidence{ofBoot(seen("ssh", idle, 0), "")},
			required: ssh, boot: "none", want: unknown, why: signals.ReasonBootUnknown},
		{name: "an unknown look of a required source is unknown", looks: []fleet.Evidence{seen("ssh", unknown, 0)},
			required: ssh, want: unknown, why: signals.ReasonSourceUnknown},
		{name: "an unknown look of another source does not matter", looks: []fleet.Evidence{seen("ssh", idle, 0), seen("probe", unknown, 0)},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start},
		{name: "a contradiction seen by another source does", looks: []fleet.Evidence{seen("ssh", idle, 0), because(seen("probe", unknown, 0), signals.ReasonContradiction)},
			required: ssh, want: unknown, why: signals.ReasonSourceUnknown},
		{name: "any fresh busy look wins", looks: []fleet.Evidence{seen("ssh", idle, 0), seen("probe", busy, time.Second)},
			required: ssh, want: busy, why: "look", seenAt: start.Add(-time.Second)},
		{name: "a stale busy look does not", looks: []fleet.Evidence{seen("ssh", idle, 0), seen("probe", busy, time.Hour)},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start},
		{name: "the newest look of a source counts", looks: []fleet.Evidence{seen("ssh", busy, 30*time.Second), seen("ssh", idle, 0)},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start},
		{name: "of two looks at once the busy one counts", looks: []fleet.Evidence{seen("ssh", idle, 0), seen("ssh", busy, 0)},
			required: ssh, want: busy, why: "look", seenAt: start},
		{name: "an open run is busy", looks: []fleet.Evidence{seen("ssh", idle, 0)}, runs: []fleet.Run{{Boot: "b1", Seen: start}},
			required: ssh, want: busy, why: signals.ReasonRunOpen, seenAt: start},
		{name: "an open run of another boot is not", looks: []fleet.Evidence{seen("ssh", idle, 0)}, runs: []fleet.Run{{Boot: "b0"}, {}},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start},
		{name: "a closed run is not", looks: []fleet.Evidence{seen("ssh", idle, 0)}, runs: []fleet.Run{{Boot: "b1", End: fleet.RunLost}},
			required: ssh, want: idle, why: signals.ReasonAllIdle, seenAt: start},
		{name: "fewer cards than are paid for are unknown", looks: []fleet.Evidence{seen("ssh", idle, 0)}, cards: 1,
			required: ssh, want: unknown, why: signals.ReasonSourceUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := fleet.Instance{Boot: "b1", GPU: fleet.GPU{Count: c.cards}}
			if c.boot == "none" {
				i.Boot = ""
			}
			got := signals.Fuse(start, i, c.looks, c.runs, c.required)
			if got.Activity != c.want || got.Reason.Code != c.why || got.Boot != i.Boot || !got.SeenAt.Equal(c.seenAt) {
				t.Errorf("got %s because %s, seen at %s; want %s because %s, seen at %s",
					got.Activity, got.Reason.Code, got.SeenAt, c.want, c.why, c.seenAt)
			}
			for _, name := range c.required {
				found := 0
				for _, s := range got.Sources {
					if s.Source == name && s.Required {
						found++
					}
				}
				if found != 1 {
					t.Errorf("required source %s is named %d times", name, found)
				}
			}
		})
	}
}

func TestFusedIdleHasAFreshIdleLookOfEveryRequiredSource(t *testing.T) {
	idle := 0
	rapid.Check(t, func(t *rapid.T) {
		var looks []fleet.Evidence
		for range rapid.IntRange(1, 5).Draw(t, "looks") {
			e := seen(rapid.SampledFrom([]string{"ssh", "probe"}).Draw(t, "source"),
				rapid.SampledFrom([]fleet.Activity{fleet.Idle, fleet.Idle, fleet.Idle, fleet.Idle, fleet.Unknown, fleet.Busy}).Draw(t, "activity"),
				rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, -1, time.Minute + 1}).Draw(t, "age"))
			e.Boot = rapid.SampledFrom([]fleet.Boot{"b1", "b1", "b1", "b1", "b0", ""}).Draw(t, "boot")
			looks = append(looks, e)
		}
		required := rapid.SampledFrom([][]string{nil, {"ssh"}, {"ssh"}, {"ssh", "probe"}}).Draw(t, "required")
		i := fleet.Instance{Boot: rapid.SampledFrom([]fleet.Boot{"b1", "b1", "b1", ""}).Draw(t, "instance boot")}
		got := signals.Fuse(start, i, looks, nil, required)
		again := signals.Fuse(start, i, rapid.Permutation(looks).Draw(t, "looks again"), nil, required)
		if got.Activity != again.Activity || !got.SeenAt.Equal(again.SeenAt) {
			t.Fatalf("another order, another judgement: %+v, %+v", got, again)
		}
		if got.Activity != fleet.Idle {
			return
		}
		idle++
		if len(required) == 0 {
			t.Fatal("idle although nothing is required")
		}
		for _, name := range required {
			ok := false
			for _, e := range looks {
				ok = ok || e.Source == name && e.Boot == "b1" && i.Boot == "b1" && e.Activity == fleet.Idle &&
					e.Fresh(start) && !got.SeenAt.After(e.SeenAt)
			}
			if !ok {
				t.Fatalf("idle without a fresh idle look by %s", name)
			}
		}
	})
	if idle == 0 {
		t.Fatal("no draw was idle; nothing was proven")
	}
}
