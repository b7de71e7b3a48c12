package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/sshx/sshdtest"
	"curfew/notify/wecom/wecomtest"
	"curfew/providers/autodl/autodltest"
)

// How long the platform's double takes, and how long curfew waits in these
// tests; all else is as in the design's configuration.
const (
	stopTakes = 2 * time.Second
	warnTime  = 3 * time.Second
	// patience is for slow machines: what is waited for takes seconds.
	patience = 2 * time.Minute
)

// buildProgram builds the program as it is shipped, with the race detector where
// the test has it. Each given word is what the linker writes into a variable.
func buildProgram(t *testing.T, linked ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "curfew")
	args := []string{"build", "-buildvcs=false", "-o", bin}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	for _, word := range linked {
		args = append(args, "-ldflags=-X "+word)
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// e2e is one cloud, one box, one chat group and the program between them.
type e2e struct {
	t        *testing.T
	dir, bin string
	cloud    *autodltest.Cloud
	robot    *wecomtest.Robot
	box      *sshdtest.Server
	work     string // what the command line of a training run in this test matches
	token    string
	key      string
	env      []string // beyond what every command is given; the last of a name counts
	// secrets are those that the program was given, passwords those that it was
	// told.
	secrets, passwords []string

	onRequest func(autodltest.Request) // set before the daemon starts
	daemon    *exec.Cmd
	ended     chan struct{} // closed when the daemon has ended

	mu    sync.Mutex
	calls []*call
	said  bytes.Buffer // what the daemon printed
	told  bytes.Buffer // what commands printed
	last  int          // where the last answer in it begins
}

// newE2E starts the doubles and a box. boot gives the login of each boot; nil:
// always that of the box.
func newE2E(t *testing.T, bin string, boot func(l *e2e, n int) autodltest.SSH) *e2e {
	t.Helper()
	work := strings.ToLower(rand.Text()[:8])
	l := &e2e{
		t: t, dir: filepath.Join(filepath.Dir(bin), work), bin: bin, box: sshdtest.Start(t, sshdtest.Options{}),
		work: work, token: "tok-" + rand.Text(), key: "key-" + rand.Text(),
	}
	l.must(os.Mkdir(l.dir, 0o700))
	l.secrets = []string{l.token, l.key, strings.Split(string(l.box.KeyPEM), "\n")[1]}
	furnish(l.box)
	if boot == nil {
		boot = func(l *e2e, n int) autodltest.SSH {
			return autodltest.SSH{Host: l.box.Host, Port: l.box.Port, Password: l.password(n)}
		}
	}
	l.cloud = autodltest.New(autodltest.Options{
		Token: l.token, Now: time.Now, Stop: stopTakes, Start: time.Second, Release: time.Second,
		Boot: func(_ string, n int) autodltest.SSH { return boot(l, n) },
		OnRequest: func(r autodltest.Request) {
			if l.onRequest != nil {
				l.onRequest(r)
			}
		},
	})
	server := httptest.NewServer(http.HandlerFunc(l.record))
	t.Cleanup(server.Close)
	var group string
	l.robot, group = wecomtest.Start(t, l.key, time.Now)
	l.configure(server.URL, group)
	t.Cleanup(func() {
		l.kill()
		if t.Failed() {
			l.dump()
		}
	})
	return l
}

// boxes numbers the cases of this process.
var boxes atomic.Int64

// ownAddress gives a loopback address that no other case and no other process
// uses, with a port from which no connection is made: a port that is merely free
// now may be taken when the daemon wants it.
func (l *e2e) ownAddress() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:8421", 1+pid>>8&0x7f, pid&0xff, 1+boxes.Add(1))
}

// configure writes the design's configuration with the addresses, times and user
// of a test.
func (l *e2e) configure(cloud, group string) {
	l.t.Helper()
	design, err := os.ReadFile("../../internal/config/testdata/design.yaml")
	l.must(err)
	l.must(os.WriteFile(l.path("id_ed25519"), l.box.KeyPEM, 0o600))
	l.must(os.WriteFile(l.path("curfew.yaml"), design, 0o600))
	l.change("sqlite:/var/lib/curfew/curfew.db", "sqlite:"+l.path("curfew.db"))
	l.change("0.0.0.0:8421", l.ownAddress())
	l.change("127.0.0.1:8420", l.ownAddress())
	l.change("https://api.autodl.com", cloud)
	l.change("poll: 1m", "poll: 20s")
	l.change("RTX 4090: 1.98 CNY", "RTX 4090D: 1.98 CNY")
	l.change("/etc/curfew/id_ed25519", l.path("id_ed25519"))
	l.change("every: 30s, timeout: 10s", "user: "+l.box.User+", every: 1s, timeout: 5s")
	l.change("    process: 'python .*train'\n    grace: 5m\n    confirm: {looks: 2, apart: 60s}\n    then: stop",
		"    process: 'python .*train.*"+l.work+"'\n    grace: 2s\n    confirm: {looks: 2, apart: 1s}\n    warn: "+warnTime.String()+"\n    then: stop")
	l.change("key: {env: WECOM_KEY}", "key: {env: WECOM_KEY}, base_url: "+group)
}

// change replaces a part of the configuration, which must be there once.
func (l *e2e) change(what, to string) {
	l.t.Helper()
	text, err := os.ReadFile(l.path("curfew.yaml"))
	l.must(err)
	if n := strings.Count(string(text), what); n != 1 {
		l.t.Fatalf("the configuration holds %q %d times, want once:\n%s", what, n, text)
	}
	l.must(os.WriteFile(l.path("curfew.yaml"), []byte(strings.Replace(string(text), what, to, 1)), 0o600))
}

// add puts an instance into the cloud, with the box's login.
func (l *e2e) add(m autodltest.Machine) string {
	id := l.cloud.Add(m)
	l.passwords = append(l.passwords, l.cloud.Login(id).Password)
	return id
}

func (l *e2e) command(args ...string) *exec.Cmd {
	cmd := exec.Command(l.bin, append([]string{"--config", l.path("curfew.yaml")}, args...)...)
	cmd.Dir = l.dir
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + l.dir, "USER=wang", "LANG=C.UTF-8", "NO_PROXY=*",
		"AUTODL_TOKEN=" + l.token, "WECOM_KEY=" + l.key,
		"GORACE=atexit_sleep_ms=0", // each command would end a second later
	}
	cmd.Env = append(cmd.Env, l.env...)
	return cmd
}

// curfew runs one command, which must succeed, and gives what it printed.
func (l *e2e) curfew(args ...string) []byte {
	l.t.Helper()
	cmd := l.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	l.mu.Lock()
	l.last = l.told.Len()
	fmt.Fprintf(&l.told, "$ curfew %s\n%s%s", strings.Join(args, " "), &stdout, &stderr)
	l.mu.Unlock()
	if err != nil {
		l.t.Fatalf("curfew %s: %v", strings.Join(args, " "), err)
	}
	return stdout.Bytes()
}

// Write keeps what the daemon prints.
func (l *e2e) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.Write(p)
}

// run starts the daemon and waits until it knows the instances. Before it
// answers, commands would look for themselves.
func (l *e2e) run() {
	l.t.Helper()
	cmd, ended := l.command("run"), make(chan struct{})
	cmd.Stdout, cmd.Stderr = l, l
	l.must(cmd.Start())
	l.daemon, l.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state is read from the process
	}()
	client := ctl.NewClient(ctl.SocketPath("sqlite:" + l.path("curfew.db")))
	l.until("the daemon to answer", func() bool {
		s, err := client.Status(l.t.Context())
		return err == nil && s.Instances > 0
	})
}

// kill ends the daemon without giving it a moment.
func (l *e2e) kill() {
	if l.daemon == nil {
		return
	}
	_ = l.daemon.Process.Kill()
	<-l.ended
}

// stop ends the daemon as a service manager does, and looks at what it left
// behind: no secret, neither in words nor in the state.
func (l *e2e) stop() {
	l.t.Helper()
	l.must(l.daemon.Process.Signal(syscall.SIGTERM))
	l.until("the daemon to end", func() bool {
		select {
		case <-l.ended:
			return true
		default:
			return false
		}
	})
	if code := l.daemon.ProcessState.ExitCode(); code != 0 {
		l.t.Errorf("the daemon ended with %d, want 0", code)
	}
	for _, p := range l.cloud.Problems() {
		l.t.Errorf("autodl double: %s", p)
	}
	places := map[string][]byte{"the journal": l.curfew("journal", "--json")}
	state, err := filepath.Glob(l.path("curfew.db*"))
	l.must(err)
	for _, file := range state {
		content, err := os.ReadFile(file)
		l.must(err)
		places[filepath.Base(file)] = content
	}
	l.mu.Lock()
	places["the daemon's output"], places["the commands' output"] = bytes.Clone(l.said.Bytes()), bytes.Clone(l.told.Bytes())
	l.mu.Unlock()
	for _, password := range l.passwords {
		if !slices.ContainsFunc(l.requests("snapshot"), func(c call) bool { return bytes.Contains(c.answer, []byte(password)) }) {
			l.t.Errorf("the program was never told the password %s", password)
		}
	}
	for place, content := range places {
		for _, secret := range append(l.secrets, l.passwords...) {
			if bytes.Contains(content, []byte(secret)) {
				l.t.Errorf("%s holds the secret %s", place, secret)
			}
		}
	}
	if !bytes.Contains(places["curfew.db"], []byte("autodl-lab")) || !bytes.Contains(places["the journal"], []byte("exp-")) {
		l.t.Error("there is nothing to look for secrets in")
	}
}

// until waits for something that the daemon brings about.
func (l *e2e) until(what string, so func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// untilTold waits for a message of which the title holds the words.
func (l *e2e) untilTold(words string) wecomtest.Message {
	l.t.Helper()
	var found wecomtest.Message
	l.until("a message "+words, func() bool {
		for _, m := range l.robot.Messages() {
			if strings.Contains(title(m), words) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func title(m wecomtest.Message) string {
	first, _, _ := strings.Cut(m.Content, "\n")
	return first
}

// explain gives what explain says of an instance.
func (l *e2e) explain(name string) ctl.Explanation {
	l.t.Helper()
	var e ctl.Explanation
	l.must(json.Unmarshal(l.curfew("explain", name, "--json"), &e))
	return e
}

// untilExplained waits until explain says what is wanted of an instance.
func (l *e2e) untilExplained(name, what string, so func(ctl.Explanation) bool) {
	l.t.Helper()
	l.until(name+": it "+what, func() bool { return so(l.explain(name)) })
}

// untilBusy waits until the run going on in an instance is seen, and is no longer
// one that ends in the second in which it began.
func (l *e2e) untilBusy(name string) {
	l.t.Helper()
	l.untilExplained(name, "is busy", func(e ctl.Explanation) bool {
		return e.Activity.Activity == fleet.Busy && e.Activity.Boot == e.Instance.Boot &&
			slices.ContainsFunc(e.Runs, func(r fleet.Run) bool { return r.Open() && e.Now.Sub(r.StartedAt) > 2*time.Second })
	})
}

// journal gives all acts, the oldest first.
func (l *e2e) journal() []fleet.Intent {
	l.t.Helper()
	var a ctl.JournalAnswer
	l.must(json.Unmarshal(l.curfew("journal", "--json"), &a))
	slices.Reverse(a.Intents)
	return a.Intents
}

// password is that of the nth boot.
func (l *e2e) password(n int) string { return fmt.Sprintf("root-%s-%d", l.work, n) }

func (l *e2e) path(name string) string { return filepath.Join(l.dir, name) }

func (l *e2e) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *e2e) dump() {
	for _, c := range l.requests("") {
		l.t.Logf("%s %s %s", c.at.Format("15:04:05.000"), c.path, c.uuid)
	}
	for _, m := range l.robot.Messages() {
		l.t.Logf("%s %s", m.At.Format("15:04:05.000"), m.Content)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t.Logf("the daemon printed:\n%s", l.said.Bytes())
	l.t.Logf("the last command printed:\n%s", l.told.Bytes()[l.last:])
}

// long leaves a test out of a short run: it waits for a real daemon, in real time.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long; left out with -short")
	}
}
