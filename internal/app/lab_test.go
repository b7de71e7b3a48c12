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

// long leaves a test out of a short run: it simulates many hours, or many deaths.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long; left out with -short")
	}
}

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

	kill     func() bool // asked around every commit and write; true kills the daemon
	dead     bool
	diskFull bool // the disk is full
	mu       sync.Mutex

	exporter Exporter
	examiner Examiner
	kinds    []notify.Kind // of channels, beside the console

	clock *jumping
	wire  *wire  // where pings come in
	user  string // who the platform says we are, where that is not its own word
}

// jumping is a clock that can be set.
type jumping struct {
	sched.Wall
	mu     sync.Mutex
	offset time.Duration
}

// Now gives the time as it was set.
func (j *jumping) Now() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Wall.Now().Add(j.offset)
}

func (j *jumping) jump(d time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.offset += d
}

var errDiskFull = errors.New("database or disk is full")

// full lets every commit fail from now on, or no more.
func (l *lab) full(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diskFull = on
}

// untilStopped lets time pass until the platform shows the instance stopped and
// the release is announced.
func (l *lab) untilStopped(id string) {
	l.t.Helper()
	for range 60 {
		l.run(time.Minute)
		if l.cloud.State(id) == fleet.StateStopped {
			l.run(time.Minute)
			return
		}
	}
	l.t.Fatalf("%s was never stopped\n%s", id, l.out)
}

// wantTold asks how many notices say something.
func (l *lab) wantTold(what string, times int) {
	l.t.Helper()
	if n := strings.Count(l.out.String(), what); n != times {
		l.t.Errorf("%q was told %d times, want %d:\n%s", what, n, times, l.out)
	}
}

// transcript collects what the console channel prints.
type transcript struct {
	mu     sync.Mutex
	b      bytes.Buffer
	broken bool
}

// fail lets every write fail from now on, or no more.
func (t *transcript) fail(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken = on
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return 0, errors.New("nobody listens")
	}
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
	l := &lab{t: t, dir: t.TempDir(), out: &transcript{}, logs: io.Discard, wire: &wire{}}
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
	if l.diskFull {
		return errDiskFull
	}
	if point && l.kill != nil && l.kill() {
		l.dead = true
		l.cancel()
		return errKilled
	}
	return nil
}

func (l *lab) options() Options {
	var clock sched.Clock = sched.Wall{}
	if l.clock != nil {
		clock = l.clock
	}
	return Options{
		Version: "test",
		Load: func() (*config.Config, error) {
			return config.Parse(filepath.Join(l.dir, "curfew.yaml"), []byte(l.yaml), l.registry())
		},
		Registry: l.registry(), Clock: clock, Log: zerolog.New(l.logs).With().Timestamp().Logger(), Out: l.out,
		Language: text.English, Listen: l.wire.listen,
		LookupEnv: func(string) (string, bool) { return "", false },
		ReadFile:  func(string) ([]byte, error) { return []byte("a-token"), nil },
		World:     func(string) (any, error) { return l.cloud, nil },
		Exporter:  l.exporter, Examiner: l.examiner,
		OnCommit: func(_ store.Phase, journal bool) error { return l.mayDie(journal) },
	}
}

func (l *lab) registry() config.Registry {
	// A platform with a token and no word on who its user is.
	tokened := sim.Kind()
	tokened.Name, tokened.Credentials = "tokened", []string{"token"}
	tokened.Open = func(o providers.Options) (providers.Provider, error) {
		o.Account, o.World = "lab", l.cloud
		p, err := sim.Kind().Open(o)
		if err != nil {
			return nil, err
		}
		return nameless{p.(simulated)}, nil
	}
	told := sim.Kind()
	told.Open = func(o providers.Options) (providers.Provider, error) {
		p, err := sim.Kind().Open(o)
		if err != nil || l.user == "" {
			return p, err
		}
		return named{p.(simulated), l.user}, nil
	}
	return config.Registry{Providers: []providers.Kind{told, tokened}, Channels: append([]notify.Kind{console.Kind()}, l.kinds...)}
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
		line := fmt.Sprintf("%s %s %s", i.Ref.ID, i.Action, i.Outcome)
		if i.Open() {
			line += fmt.Sprintf("(%s until %s: %s)", i.State, i.NextAt.Format(time.TimeOnly), i.HeldBack.Code)
		}
		got = append([]string{line}, got...)
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

// simulated is all that a simulated provider can do.
type simulated interface {
	providers.Provider
	providers.Stopper
	providers.Starter
	providers.Releaser
	providers.Access
	providers.DiskLister
	providers.Wallet
}

// named is a platform that says that its user is another.
type named struct {
	simulated
	user string
}

// Identity tells the other user.
func (n named) Identity(context.Context) (string, error) { return n.user, nil }

// nameless is a platform that does not tell who its user is.
type nameless struct{ simulated }

// Identity tells nothing.
func (nameless) Identity(context.Context) (string, error) { return "", nil }
