package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/console"
	"curfew/providers"
	"curfew/providers/sim"
)

// lab is a simulated cloud with a daemon that can be started, killed and started
// again over the same state. It lives in a synctest bubble.
type lab struct {
	t     *testing.T
	cloud *sim.Cloud
	dir   string
	yaml  string
	out   *transcript
	logs  io.Writer

	app    *App
	cancel context.CancelFunc
	done   chan error

	kill func() bool // asked around every commit and write; true kills the daemon
	dead bool
	mu   sync.Mutex
}

// transcript collects what the console channel prints.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

const labFile = `
mode: enforce
timezone: Asia/Shanghai
state: sqlite:%s
accounts:
  - {name: lab, provider: sim, world: world.yaml, poll: 1m}
signals:
  - {type: sim, every: 30s, timeout: 10s}
notify:
  channels:
    - {name: me, type: console}
policies:
  - name: done
    type: training
    match: {name: "exp-*"}
    process: 'python .*train'
    grace: 5m
    then: %s
    data: discard
    warn: {stop: 10m, release: 30m}
`

func newLab(t *testing.T, then string, more ...string) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir(), out: &transcript{}, logs: io.Discard}
	if testing.Verbose() {
		l.logs = zerolog.ConsoleWriter{Out: os.Stderr, NoColor: true, TimeFormat: time.TimeOnly}
	}
	l.cloud = sim.New(sim.Options{Now: time.Now, Timing: sim.Timing{SettleLag: 5 * time.Second}, Accounts: []sim.Account{{Name: "lab"}}})
	l.cloud.OnWrite(func(string, fleet.Ref, sim.Phase) error { return l.mayDie(true) })
	t.Cleanup(l.end)
	l.yaml = fmt.Sprintf(labFile, filepath.Join(l.dir, "curfew.db"), then) + strings.Join(more, "")
	return l
}

// trained is an instance whose run ends after a time.
func trained(id string, ends time.Duration, exit int) sim.Spec {
	return sim.Spec{
		ID: id, Account: "lab", Name: "exp-" + id, Age: time.Hour, Price: fleet.CNY(1_980_000),
		GPU: sim.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		Box: sim.Box{Processes: []sim.Process{{Command: "python -u train.py", From: -30 * time.Minute, To: ends, Exit: exit, Run: "r-" + id, Load: 97, MemoryMB: 20000}}},
	}
}

var errKilled = errors.New("killed")

// mayDie is asked around every commit and in every write; point says that a kill
// here is of interest. A dead daemon commits and writes nothing more.
func (l *lab) mayDie(point bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errKilled
	}
	if point && l.kill != nil && l.kill() {
		l.dead = true
		l.cancel()
		return errKilled
	}
	return nil
}

func (l *lab) options() Options {
	return Options{
		Version: "test",
		Load: func() (*config.Config, error) {
			return config.Parse(filepath.Join(l.dir, "curfew.yaml"), []byte(l.yaml), l.registry())
		},
		Registry: l.registry(), Clock: sched.Wall{}, Log: zerolog.New(l.logs).With().Timestamp().Logger(), Out: l.out,
		Language:  text.English,
		LookupEnv: func(string) (string, bool) { return "", false },
		ReadFile:  os.ReadFile,
		World:     func(string) (any, error) { return l.cloud, nil },
		OnCommit:  func(_ store.Phase, journal bool) error { return l.mayDie(journal) },
	}
}

func (l *lab) registry() config.Registry {
	return config.Registry{Providers: []providers.Kind{sim.Kind()}, Channels: []notify.Kind{console.Kind()}}
}

// start starts a daemon over the lab's state. It fails only where it was killed
// while it started.
func (l *lab) start() error {
	l.t.Helper()
	l.mu.Lock()
	l.dead = false
	ctx, cancel := context.WithCancel(l.t.Context())
	l.cancel = cancel
	l.mu.Unlock()
	a, err := New(ctx, l.options())
	if err != nil {
		cancel()
		return err
	}
	l.app, l.done = a, make(chan error, 1)
	go func() { l.done <- a.Run(ctx) }()
	return nil
}

// end stops the daemon at the end of a story, however that came.
func (l *lab) end() {
	if l.app != nil {
		l.stop()
	}
}

// stop ends the daemon, waits for it and closes its state.
func (l *lab) stop() {
	l.t.Helper()
	l.cancel()
	if err := <-l.done; err != nil && !errors.Is(err, errKilled) {
		l.t.Fatalf("the daemon ended with: %v", err)
	}
	if err := l.app.Close(); err != nil {
		l.t.Fatalf("close: %v", err)
	}
	l.app = nil
}

// run lets simulated time pass; a daemon that dies meanwhile is started again
// after a while.
func (l *lab) run(d time.Duration) {
	l.t.Helper()
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		time.Sleep(min(5*time.Second, time.Until(end)))
		l.mu.Lock()
		dead := l.dead
		l.mu.Unlock()
		if dead {
			l.stop()
			time.Sleep(20 * time.Second)
			l.restart()
		}
	}
}

func (l *lab) restart() {
	l.t.Helper()
	for range 5 {
		err := l.start()
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) {
			l.t.Fatalf("restart: %v", err)
		}
	}
	l.t.Fatal("the daemon does not start again")
}

// effects counts the writes by curfew that took effect at one instance.
func (l *lab) effects(op, id string) int {
	n := 0
	for _, e := range l.cloud.Effects() {
		if e.Op == op && e.Ref.ID == id && e.By == sim.ByAPI {
			n++
		}
	}
	return n
}

func (l *lab) journal() []fleet.Intent {
	l.t.Helper()
	is, err := l.app.store.Intents(context.Background(), 1000)
	if err != nil {
		l.t.Fatal(err)
	}
	return is
}

func (l *lab) wantOutcomes(want ...string) {
	l.t.Helper()
	var got []string
	for _, i := range l.journal() {
		got = append([]string{fmt.Sprintf("%s %s %s", i.Ref.ID, i.Action, i.Outcome)}, got...)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("journal:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// inLab runs a story in a bubble with its own clock.
func inLab(t *testing.T, story func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, story)
}
