package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/sshx/sshdtest"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/console"
	"curfew/providers"
	"curfew/providers/machines"
)

// room is a machine behind a real SSH server, a gateway beside it, and a daemon
// that lives in steps: each is some time later, and does then what there is to do.
type room struct {
	t    *testing.T
	box  *sshdtest.Server
	gate net.Listener
	work string // what the command line of a run holds
	out  *transcript
	app  *App

	mu  sync.Mutex
	now time.Time
}

// Now gives the time of the step.
func (r *room) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Sleep is over at once: nothing in a step waits.
func (r *room) Sleep(ctx context.Context, d time.Duration) error { return ctx.Err() }

// powerOff ends the server with all its sessions, the one that runs it as well. It
// notes that it was run.
const powerOff = `echo >>~/offs; p=$PPID; while q=$(awk '/^PPid/ {print $2}' /proc/$p/status) && grep -q '^sshd' /proc/$q/comm; do p=$q; done
kill -9 $p $(grep -l "^PPid:[[:space:]]*$p\$" /proc/[0-9]*/status 2>/dev/null | cut -d/ -f3)`

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{
		t: t, box: sshdtest.Start(t, sshdtest.Options{}), work: strings.ToLower(rand.Text()[:8]), out: &transcript{},
		now: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC),
	}
	r.box.StandIn("who", "exit 0")
	r.box.StandIn("stat", `case "$*" in *"tty %X"*) exit 0;; esac; PATH=${PATH#*:}; exec stat "$@"`) // terminals of the test's own machine
	r.openGate("127.0.0.1:0")
	dir := t.TempDir()
	file := fmt.Sprintf(`
mode: enforce
state: sqlite:%s
accounts:
  - name: own
    provider: machines
    route_check: %s
    machines:
      - name: box
        host: %s
        port: %d
        user: %s
        key: {file: id_ed25519}
        stop: %q
        price: 1.98 CNY
        on_stop: {ends_billing: yes, keeps_data: all}
signals: [{type: ssh, every: 30s, timeout: 20s}]
notify: {channels: [{name: me, type: console}]}
policies:
  - {name: done, type: training, match: all, process: 'train %s', grace: 1m, warn: 3m, then: stop}
`, filepath.Join(dir, "curfew.db"), r.gate.Addr(), r.box.Host, r.box.Port, r.box.User, powerOff, r.work)
	registry := config.Registry{Providers: []providers.Kind{machines.Kind()}, Channels: []notify.Kind{console.Kind()}}
	a, err := New(t.Context(), Options{
		Version: "test", Registry: registry, Clock: r, Log: zerolog.Nop(), Out: r.out, Language: text.English,
		Load: func() (*config.Config, error) {
			return config.Parse(filepath.Join(dir, "curfew.yaml"), []byte(file), registry)
		},
		LookupEnv: func(string) (string, bool) { return "", false },
		ReadFile:  func(string) ([]byte, error) { return r.box.KeyPEM, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.app = a
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *room) openGate(address string) {
	r.t.Helper()
	var err error
	if r.gate, err = net.Listen("tcp", address); err != nil {
		r.t.Fatal(err)
	}
	gate := r.gate
	r.t.Cleanup(func() { _ = gate.Close() })
}

// train starts a run in the machine and gives what ends it.
func (r *room) train() (end func()) {
	r.t.Helper()
	run := exec.CommandContext(r.t.Context(), "/bin/sh", "-c", "while read -r x; do :; done", "train", r.work)
	in, err := run.StdinPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return func() {
		_ = in.Close()
		_ = run.Wait()
	}
}

// step lets time pass, and the daemon do what it does then.
func (r *room) step(d time.Duration) {
	r.t.Helper()
	r.mu.Lock()
	r.now = r.now.Add(d)
	r.mu.Unlock()
	ctx := r.t.Context()
	flush := func() error {
		_, err := r.app.runtime().sender.Flush(ctx)
		return err
	}
	pass := func() error {
		_, err := r.app.Pass(ctx)
		return err
	}
	carryOut := func() error {
		var acts sync.WaitGroup
		defer acts.Wait()
		_, err := r.app.carryOut(ctx, &acts)
		return err
	}
	beat := func() error { return r.app.beat(ctx) }
	once := func() error { return r.app.Once(ctx) }
	for _, do := range []func() error{beat, once, pass, flush, carryOut, flush} {
		if err := do(); err != nil {
			r.t.Fatal(err)
		}
	}
}

// until steps until something is so, at most so often.
func (r *room) until(what string, d time.Duration, most int, so func() bool) {
	r.t.Helper()
	for range most {
		if so() {
			return
		}
		r.step(d)
	}
	if !so() {
		e, err := r.app.Explain(r.t.Context(), "box")
		r.t.Fatalf("in vain for %s\n%s\n%+v %v", what, r.out, e, err)
	}
}

func (r *room) intent() fleet.Intent {
	r.t.Helper()
	is, err := r.app.store.Intents(r.t.Context(), 10)
	if err != nil || len(is) > 1 {
		r.t.Fatalf("%d intents, %v", len(is), err)
	}
	if len(is) == 0 {
		return fleet.Intent{}
	}
	return is[0]
}

func (r *room) instance() fleet.Instance {
	r.t.Helper()
	things := r.app.inv.Things().Instances
	if len(things) != 1 {
		r.t.Fatalf("there are %d machines", len(things))
	}
	return things[0]
}

// stopped lets a run begin and end, and the stop be sent.
func (r *room) stopped() fleet.Intent {
	r.t.Helper()
	end := r.train()
	r.step(0)
	r.until("the run to be seen", 30*time.Second, 3, func() bool {
		_, runs := r.app.evidence(r.instance().Ref)
		return len(runs) == 1
	})
	end()
	r.until("the announcement", 30*time.Second, 20, func() bool { return r.intent().ID != 0 })
	r.until("the stop", 30*time.Second, 25, func() bool { return r.intent().State == fleet.IntentWritten })
	return r.intent()
}

func (r *room) offs() int {
	said, err := os.ReadFile(filepath.Join(r.box.Home, "offs"))
	if err != nil {
		return 0
	}
	return len(said)
}

func TestAMachineElsewhereIsStoppedAndSeenToBeOff(t *testing.T) {
	r := newRoom(t)
	i := r.stopped()
	if r.offs() != 1 || i.Attempts[0].Kind != string(fleet.OutcomeUnknown) {
		t.Errorf("the command was run %d times, the attempt is %+v", r.offs(), i.Attempts)
	}
	written := r.Now()
	r.until("it to be off", 10*time.Second, 20, func() bool { return !r.intent().Open() })
	i = r.intent()
	if took := r.Now().Sub(written); i.Outcome != fleet.OutcomeDone || took < time.Minute {
		t.Errorf("after %s it is %s\n%s", took, i.Outcome, r.out)
	}
	if m := r.instance(); m.State != fleet.StateStopped || !m.Boot.Same(i.Boot) {
		t.Errorf("it is %s in boot %s, want stopped in %s", m.State, m.Boot, i.Boot)
	}
	for _, told := range []string{"Will stop box", "Done: stop box", "look at the bill"} {
		if !strings.Contains(r.out.String(), told) {
			t.Errorf("nobody was told %q:\n%s", told, r.out)
		}
	}
	r.step(time.Hour)
	if r.offs() != 1 {
		t.Errorf("the command was run %d times", r.offs())
	}
}

func TestAMachineElsewhereIsNotOffWhileNothingElseAnswers(t *testing.T) {
	r := newRoom(t)
	_ = r.stopped()
	address := r.gate.Addr().String()
	_ = r.gate.Close()
	for range 20 {
		r.step(time.Minute)
		if i := r.intent(); !i.Open() || r.instance().State != fleet.StateUnknown {
			t.Fatalf("it is %s, and the stop %s %s\n%s", r.instance().State, i.State, i.Outcome, r.out)
		}
	}
	if why := "nor anything else on its route"; !strings.Contains(r.out.String(), why) {
		t.Errorf("nobody was told %q:\n%s", why, r.out)
	}
	r.openGate(address)
	r.until("it to be off", time.Minute, 20, func() bool { return !r.intent().Open() })
	if i := r.intent(); i.Outcome != fleet.OutcomeDone || r.offs() != 1 {
		t.Errorf("it is %s after %d commands\n%s", i.Outcome, r.offs(), r.out)
	}
}
