package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/providers/sim"
)

// wire is a network in memory, with a clock that stands while nobody uses it.
type wire struct {
	mu    sync.Mutex
	doors map[string]*wireDoor // by address
	taken string               // an address that somebody else has
}

// wireDoor is a listener on the wire.
type wireDoor struct {
	wire    *wire
	address string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (w *wire) listen(_ context.Context, address string) (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doors[address] != nil || address == w.taken {
		return nil, errors.New("address already in use")
	}
	if w.doors == nil {
		w.doors = map[string]*wireDoor{}
	}
	d := &wireDoor{wire: w, address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	w.doors[address] = d
	return d, nil
}

// Accept waits for somebody who dials.
func (d *wireDoor) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close gives the address back.
func (d *wireDoor) Close() error {
	d.once.Do(func() {
		d.wire.mu.Lock()
		defer d.wire.mu.Unlock()
		delete(d.wire.doors, d.address)
		close(d.closed)
	})
	return nil
}

// Addr is the address on the wire.
func (d *wireDoor) Addr() net.Addr { return &net.UnixAddr{Net: "wire", Name: d.address} }

func (w *wire) dial(ctx context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	d := w.doors[address]
	w.mu.Unlock()
	if d == nil {
		return nil, errors.New("connection refused")
	}
	ours, theirs := net.Pipe()
	select {
	case d.conns <- theirs:
		return ours, nil
	case <-d.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pingsAt is where the stories' daemons take pings.
const pingsAt = "0.0.0.0:8421"

// newPingLab is a lab whose daemon takes pings. Policies know no process.
func newPingLab(t *testing.T, then string, more ...string) *lab {
	t.Helper()
	l := newLab(t, then, append(more, "ping: {listen: \""+pingsAt+"\"}\n")...)
	l.yaml = strings.Replace(l.yaml, "    process: 'python .*train'\n", "", 1)
	return l
}

// quiet is an instance in which nothing is ever seen to work.
func quiet(id string) sim.Spec {
	s := trained(id, 0, 0)
	s.Box.Processes = nil
	return s
}

// ping sends one ping as an instance does, and gives the status of the answer; 0
// where there was none.
func (l *lab) ping(id, what, text string) int {
	l.t.Helper()
	key, err := l.app.PingKey(l.t.Context(), "exp-"+id)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.get(pingsAt, "/ping/"+key.Key+what, text)
}

func (l *lab) get(address, path, text string) int {
	l.t.Helper()
	web := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: l.wire.dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(text))
	if err != nil {
		l.t.Fatal(err)
	}
	resp, err := web.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		l.t.Fatal(err)
	}
	return resp.StatusCode
}

func (l *lab) wantPinged(id, what, text string) {
	l.t.Helper()
	if got := l.ping(id, what, text); got != http.StatusOK {
		l.t.Fatalf("ping %q of %s was answered %d", what, id, got)
	}
}

// wantActivity asks what an instance is taken to do.
func (l *lab) wantActivity(id string, want fleet.Activity) {
	l.t.Helper()
	e, err := l.app.Explain(l.t.Context(), "exp-"+id)
	if err != nil {
		l.t.Fatal(err)
	}
	if e.Activity.Activity != want {
		l.t.Errorf("%s is %s (%s), want %s; runs %+v", id, e.Activity.Activity, e.Activity.Reason.Code, want, e.Runs)
	}
}

func TestARunToldByPings(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop", `
  - {name: unused, type: idle, match: all, for: 30m, then: stop}
`)
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantActivity("a", fleet.Idle)
		l.wantPinged("a", "/start", "")
		l.wantActivity("a", fleet.Busy)
		l.run(50 * time.Minute)
		l.wantActivity("a", fleet.Busy)
		l.wantOutcomes()
		l.wantPinged("a", "", "")
		l.run(4 * time.Minute)
		l.wantOutcomes()
		l.run(3 * time.Minute)
		l.wantTold("Will stop exp-a", 1)
		l.run(12 * time.Minute)
		l.wantOutcomes("a stop done")
		e, err := l.app.Explain(t.Context(), "exp-a")
		if err != nil || len(e.Runs) != 1 || e.Runs[0].ExitCode == nil || *e.Runs[0].ExitCode != 0 {
			t.Errorf("runs %+v, %v", e.Runs, err)
		}
	})
}

func TestAFailPingGoesOnlyAsFarAsOnFailureAndTellsItsLastWords(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "release\n    on_failure: {then: keep}")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantPinged("a", "/start", "")
		l.run(10 * time.Minute)
		l.wantPinged("a", "/log", "epoch 1\n")
		l.run(10 * time.Minute)
		l.wantPinged("a", "/fail", "CUDA out of memory")
		l.run(5 * time.Hour)
		l.wantOutcomes()
		l.wantTold("CUDA out of memory", 1)
		l.wantTold("epoch 1", 1)
	})
}

func TestAnExitStatusIsAnEnd(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "release")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantPinged("a", "/137", "") // nobody told of its start
		l.run(5 * time.Hour)
		l.wantOutcomes("a stop done")
	})
}

func TestSilenceIsNeverIdle(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		// Nobody looks inside: all that is known is what is told.
		l.yaml = strings.Replace(l.yaml, "signals:\n  - {type: sim, every: 30s, timeout: 10s}\n", "", 1)
		for _, id := range []string{"silent", "starts", "logs", "ends"} {
			l.cloud.MustAdd(quiet(id))
		}
		l.restart()
		l.run(2 * time.Minute)
		l.wantPinged("starts", "/start", "")
		l.wantPinged("logs", "/log", "hello")
		l.wantPinged("ends", "/start", "")
		l.run(20 * time.Minute)
		l.wantPinged("ends", "/0", "")
		l.run(24 * time.Hour)
		l.wantActivity("silent", fleet.Unknown)
		l.wantActivity("starts", fleet.Busy)
		l.wantActivity("logs", fleet.Unknown)
		l.wantOutcomes("ends stop done") // its own word, and nobody is to look
		l.wantTold("nothing was seen inside", 0)
	})
}

func TestAPingThatNeverCameIsLostWhereLooksShowRest(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop\n    pending_max: 60", `
  - {name: unused, type: idle, match: all, for: 30m, then: stop}
`)
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.wantPinged("a", "/start", "")
		l.run(29 * time.Minute)
		l.wantActivity("a", fleet.Busy)
		l.run(3 * time.Minute)
		l.wantActivity("a", fleet.Idle) // and the time of rest begins there
		l.run(20 * time.Minute)
		l.wantOutcomes()
		l.run(25 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestTwoIdsAreTwoRuns(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		const one, two = "?rid=11111111-1111-4111-8111-111111111111", "?rid=22222222-2222-4222-8222-222222222222"
		l.wantPinged("a", "/start"+one, "")
		l.wantPinged("a", "/start"+two, "")
		l.run(5 * time.Minute)
		l.wantPinged("a", one, "")
		l.run(30 * time.Minute)
		l.wantActivity("a", fleet.Busy)
		l.wantOutcomes()
		l.wantPinged("a", two, "")
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestAnAcknowledgedPingSurvivesACrashAndAnotherIsNotAcknowledged(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		l.full(true)
		if got := l.ping("a", "/start", ""); got != http.StatusServiceUnavailable {
			t.Errorf("with a full disk a ping was answered %d", got)
		}
		l.wantActivity("a", fleet.Idle)
		l.full(false)
		l.wantPinged("a", "/start", "")
		// It dies at once, without another commit.
		l.mu.Lock()
		l.dead = true
		l.cancel()
		l.mu.Unlock()
		l.run(time.Minute)
		l.wantActivity("a", fleet.Busy)
		key, err := l.app.PingKey(t.Context(), "exp-a")
		if err != nil {
			t.Fatal(err)
		}
		l.stop()
		l.restart()
		l.run(time.Minute)
		if again, err := l.app.PingKey(t.Context(), "exp-a"); err != nil || again != key {
			t.Errorf("after a restart the key is %+v, %v; it was %+v", again, err, key)
		}
		l.wantPinged("a", "", "")
		l.run(20 * time.Minute)
		l.wantOutcomes("a stop done")
	})
}

func TestPingsOfWhatDoesNotRunMakeNoRun(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		if err := l.cloud.UserStops("a"); err != nil {
			t.Fatal(err)
		}
		l.run(5 * time.Minute)
		l.wantPinged("a", "/log", "")
		l.wantPinged("a", "", "")
		if got := l.ping("a", "/start", ""); got != http.StatusServiceUnavailable {
			t.Errorf("a start in what is stopped was answered %d", got)
		}
		e, err := l.app.Explain(t.Context(), "exp-a")
		if err != nil || len(e.Runs) != 0 {
			t.Errorf("runs %+v, %v", e.Runs, err)
		}
		if got := l.get(pingsAt, "/ping/11111111-1111-4111-8111-111111111111", ""); got != http.StatusNotFound {
			t.Errorf("a key of nobody was answered %d", got)
		}
		if got := l.get(pingsAt, "/v1/plan", ""); got != http.StatusNotFound {
			t.Errorf("what is not a ping was answered %d", got)
		}
	})
}

// What starts by itself with the instance pings before a list shows it: the
// platform is asked, so that the run is not taken for one of the boot before.
func TestAPingRightAfterAStartIsOfTheNewBoot(t *testing.T) {
	for name, down := range map[string]time.Duration{
		"seen stopped in between":     10 * time.Minute,
		"not seen stopped in between": 15 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				l := newPingLab(t, "stop")
				l.cloud.MustAdd(quiet("a"))
				l.restart()
				l.run(2*time.Minute + 5*time.Second)
				if err := l.cloud.UserStops("a"); err != nil {
					t.Fatal(err)
				}
				l.run(down)
				if err := l.cloud.UserStarts("a"); err != nil {
					t.Fatal(err)
				}
				l.run(10 * time.Second)
				for tries := 1; l.ping("a", "/start", "") != http.StatusOK; tries++ {
					if tries > 30 {
						t.Fatal("the ping is never taken")
					}
					time.Sleep(2 * time.Second) // as clients do that try again
				}
				l.run(10 * time.Minute)
				l.wantActivity("a", fleet.Busy)
			})
		})
	}
}

func TestTheDoorForPingsMovesWithTheConfiguration(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		l.cloud.MustAdd(quiet("a"))
		l.restart()
		l.run(2 * time.Minute)
		const elsewhere = "127.0.0.1:9999"
		before := l.yaml
		l.yaml = strings.Replace(before, pingsAt, elsewhere, 1)
		l.wire.taken = elsewhere
		if err := l.app.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "ping.listen 127.0.0.1:9999") {
			t.Errorf("a door that does not open: %v", err)
		}
		l.wantPinged("a", "/log", "")
		l.wire.taken = ""
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(time.Second)
		if got := l.ping("a", "/log", ""); got != 0 {
			t.Errorf("the old door is open: %d", got)
		}
		if got := l.get(elsewhere, "/ping/x", ""); got != http.StatusNotFound {
			t.Errorf("the new door is shut: %d", got)
		}
		l.yaml = strings.Replace(before, "ping: {listen: \""+pingsAt+"\"}\n", "", 1)
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.run(time.Second)
		if got := l.get(elsewhere, "/ping/x", ""); got != 0 {
			t.Errorf("the door is open and nobody asked for it: %d", got)
		}
		l.yaml = before
		if err := l.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.wantPinged("a", "/log", "")
		l.stop()
		if len(l.wire.doors) != 0 {
			t.Errorf("left open: %v", l.wire.doors)
		}
	})
}

func TestADoorForPingsThatDoesNotOpenEndsTheDaemon(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newPingLab(t, "stop")
		l.wire.taken = pingsAt
		a, err := New(t.Context(), l.options())
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if err := a.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "ping.listen "+pingsAt) {
			t.Errorf("it ran, and ended with %v", err)
		}
	})
}
