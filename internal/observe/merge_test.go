package observe

import (
	"fmt"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
)

var noon = time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)

func ref(id string) fleet.Ref {
	return fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: id}
}

// shown is what a platform shows at one poll.
type shown struct {
	state fleet.State
	boot  fleet.Boot
	gone  bool // it had been gone for certain before this
}

// polls folds what was shown minute after minute and gives the boots in order.
func polls(seen []shown) (boots []fleet.Boot, last store.Thing) {
	var known *store.Thing
	for n, s := range seen {
		at := noon.Add(time.Duration(n) * time.Minute)
		if s.gone {
			known.GoneAt, known.Instance.State = at, fleet.StateReleased
		}
		t := merge(known, fleet.Instance{Ref: ref("a"), State: s.state, Boot: s.boot}, at)
		boots, known = append(boots, t.Instance.Boot), &t
	}
	return boots, *known
}

func TestBoots(t *testing.T) {
	const (
		up, starting, creating  = fleet.StateRunning, fleet.StateStarting, fleet.StateCreating
		off, stopping, failed   = fleet.StateStopped, fleet.StateStopping, fleet.StateFailed
		releasing, over, absent = fleet.StateReleasing, fleet.StateReleased, fleet.StateUnknown
	)
	plain := func(states ...fleet.State) (out []shown) {
		for _, s := range states {
			out = append(out, shown{state: s})
		}
		return out
	}
	for _, c := range []struct {
		name string
		seen []shown
		want string
	}{
		{"one power cycle is one boot", plain(creating, starting, up, up, up), "n1 n1 n1 n1 n1"},
		{"what was down and comes up has a new one, from its first step up", plain(up, stopping, off, starting, up), "n1 n1 n1 n2 n2"},
		{"a restart between two polls of which only the end is seen", plain(up, off, up), "n1 n1 n2"},
		{"stopping that is up again is taken for another cycle", plain(up, stopping, up), "n1 n1 n2"},
		{"so is failed", plain(up, failed, up), "n1 n1 n2"},
		{"so is releasing", plain(up, releasing, up), "n1 n1 n2"},
		{"so is released", plain(up, over, up), "n1 n1 n2"},
		{"first seen stopped", plain(off, off, up), "n1 n1 n2"},
		{"down in many ways is one boot", plain(up, stopping, failed, off, off), "n1 n1 n1 n1 n1"},
		{"a state nobody knows begins nothing", plain(up, absent, up), "n1 n1 n1"},
		{"what was down before a state nobody knows has a new boot after it", plain(up, off, absent, absent, up), "n1 n1 n1 n1 n2"},
		{"a state nobody knows at first names no boot", plain(absent, absent, up), "  n1"},
		{"each time up from below counts once", plain(up, off, up, off, starting, up, off), "n1 n1 n2 n2 n3 n3 n3"},

		{"a platform that tells", []shown{{state: up, boot: "t1"}, {state: off, boot: "t1"}, {state: up, boot: "t2"}}, "t1 t1 t2"},
		{"one that tells only while it is up", []shown{{state: up, boot: "t1"}, {state: off}, {state: absent}, {state: off}, {state: up, boot: "t2"}}, "t1 t1 t1 t1 t2"},
		{"a stale answer of a platform that tells is the boot it says", []shown{{state: up, boot: "t1"}, {state: off, boot: "t1"}, {state: up, boot: "t1"}, {state: off, boot: "t1"}}, "t1 t1 t1 t1"},
		{"one that does not tell while it starts", []shown{{state: up, boot: "t1"}, {state: off, boot: "t1"}, {state: starting}, {state: up, boot: "t2"}}, "t1 t1 n2 t2"},
		{"one that does not tell any more, with nothing seen down", []shown{{state: up, boot: "t1"}, {state: starting}, {state: up}, {state: up, boot: "t2"}, {state: up}}, "t1 n2 n2 t2 n3"},
		{"one that tells after it did not", []shown{{state: up}, {state: up, boot: "t1"}, {state: off}}, "n1 t1 t1"},

		{"what was gone comes back as another", []shown{{state: up}, {state: up, gone: true}}, "n1 n2"},
		{"what was gone comes back stopped, and not in the boot that ended", []shown{{state: off}, {state: off, gone: true}, {state: off}}, "n1 n2 n2"},
		{"what was gone comes back in a state nobody knows", []shown{{state: off}, {state: absent, gone: true}, {state: off}}, "n1  n2"},
		{"what was gone and comes back up is up in one boot", []shown{{state: off}, {state: off, gone: true}, {state: up}, {state: up}}, "n1 n2 n3 n3"},
		{"a platform that tells says itself whether it is the same", []shown{{state: off, boot: "t1"}, {state: off, boot: "t1", gone: true}}, "t1 t1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			boots, _ := polls(c.seen)
			got := ""
			for n, b := range boots {
				if n > 0 {
					got += " "
				}
				got += string(b)
			}
			if got != c.want {
				t.Errorf("boots %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatThePlatformLeavesOutIsRememberedWithinABoot(t *testing.T) {
	price := fleet.Price{PerHour: fleet.CNY(1), Source: fleet.PriceProvider}
	before := store.Thing{
		Instance: fleet.Instance{Ref: ref("a"), Boot: "n1", State: fleet.StateRunning, StartedAt: noon.Add(-time.Hour), Price: price},
		Boots:    1, FirstSeen: noon.Add(-2 * time.Hour),
	}
	stopped := merge(&before, fleet.Instance{Ref: ref("a"), State: fleet.StateStopped}, noon)
	i := stopped.Instance
	if !i.StartedAt.Equal(noon.Add(-time.Hour)) || !i.StoppedAt.Equal(noon) || i.Price != price || !stopped.FirstSeen.Equal(noon.Add(-2*time.Hour)) {
		t.Errorf("stopped: %+v", stopped)
	}
	unknown := merge(&stopped, fleet.Instance{Ref: ref("a")}, noon.Add(time.Minute))
	again := merge(&unknown, fleet.Instance{Ref: ref("a"), State: fleet.StateStopped}, noon.Add(2*time.Minute))
	if !again.Instance.StoppedAt.Equal(noon) {
		t.Errorf("after a state nobody knows it stopped at %s", again.Instance.StoppedAt)
	}
	up := merge(&again, fleet.Instance{Ref: ref("a"), State: fleet.StateRunning}, noon.Add(time.Hour))
	if i := up.Instance; i.Boot != "n2" || !i.StartedAt.Equal(noon.Add(time.Hour)) || !i.StoppedAt.IsZero() || i.Price.Known() {
		t.Errorf("in a new boot: %+v", i)
	}
	told := merge(&up, fleet.Instance{Ref: ref("a"), State: fleet.StateRunning, StartedAt: noon.Add(59 * time.Minute)}, noon.Add(2*time.Hour))
	if !told.Instance.StartedAt.Equal(noon.Add(59 * time.Minute)) {
		t.Errorf("what the platform tells is not taken: %s", told.Instance.StartedAt)
	}
	first := merge(nil, fleet.Instance{Ref: ref("b"), State: fleet.StateStopped}, noon)
	second := merge(&first, fleet.Instance{Ref: ref("b"), State: fleet.StateStopped}, noon.Add(time.Minute))
	if !first.Instance.StoppedAt.IsZero() || !second.Instance.StoppedAt.IsZero() {
		t.Errorf("first seen stopped, it is said to have stopped at %s, %s", first.Instance.StoppedAt, second.Instance.StoppedAt)
	}
}

func TestAThingThatComesBackTakesNothingFromTheOneThatWas(t *testing.T) {
	gone := store.Thing{
		Instance: fleet.Instance{
			Ref: ref("a"), Boot: "n4", State: fleet.StateReleased, StartedAt: noon.Add(-time.Hour), StoppedAt: noon.Add(-time.Minute),
			Price: fleet.Price{PerHour: fleet.CNY(1), Source: fleet.PriceProvider},
		},
		Boots: 4, FirstSeen: noon.Add(-time.Hour), MissingSince: noon, NotFoundAt: noon, GoneAt: noon,
	}
	got := merge(&gone, fleet.Instance{Ref: ref("a"), State: fleet.StateStopped}, noon.Add(time.Hour))
	want := store.Thing{
		Instance: fleet.Instance{Ref: ref("a"), Boot: "n5", State: fleet.StateStopped},
		Boots:    5, Down: true, SeenAt: noon.Add(time.Hour), FirstSeen: noon.Add(time.Hour),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestBackoff(t *testing.T) {
	fault := func(kind fleet.ErrorKind, after time.Duration) error {
		return fmt.Errorf("poll: %w", &fleet.Error{Op: "list", Kind: kind, RetryAfter: after})
	}
	for _, c := range []struct {
		name     string
		usual    time.Duration
		failures int
		err      error
		want     time.Duration
	}{
		{"the first failure waits as usual", time.Minute, 1, fault(fleet.Transient, 0), time.Minute},
		{"the second twice as long", time.Minute, 2, fault(fleet.Transient, 0), 2 * time.Minute},
		{"the fourth eight times", time.Minute, 4, fault(fleet.Transient, 0), 8 * time.Minute},
		{"no longer than a quarter of an hour", time.Minute, 5, fault(fleet.Transient, 0), 15 * time.Minute},
		{"nor after a thousand", time.Minute, 1000, fault(fleet.Transient, 0), 15 * time.Minute},
		{"never shorter than usual", time.Hour, 3, fault(fleet.Transient, 0), time.Hour},
		{"what the platform asked for", time.Minute, 1, fault(fleet.RateLimited, 40*time.Minute), 40 * time.Minute},
		{"what the platform asked for is a lower bound", time.Minute, 4, fault(fleet.RateLimited, time.Second), 8 * time.Minute},
		{"a ban is an hour", time.Minute, 1, fault(fleet.Banned, 0), time.Hour},
		{"a ban that says longer is longer", time.Minute, 1, fault(fleet.Banned, 2*time.Hour), 2 * time.Hour},
		{"another error", time.Minute, 2, fmt.Errorf("disk full"), 2 * time.Minute},
		{"none at all", time.Minute, 0, nil, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Backoff(c.usual, c.failures, c.err); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
