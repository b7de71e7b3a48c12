package ssh_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/internal/look/looktest"
	"curfew/internal/sshx/sshdtest"
	"curfew/signals"
	"curfew/signals/ssh"
)

func TestMain(m *testing.M) {
	looktest.Alone()
	goleak.VerifyTestMain(m)
}

// smi begins a stand-in for nvidia-smi: it takes exactly the question that
// drivers are asked.
const smi = `case "$*" in
"--query-gpu=index,name,utilization.gpu,memory.used,power.draw,mig.mode.current --format=csv,noheader,nounits") new=1;;
"--query-gpu=index,name,utilization.gpu,memory.used,power.draw --format=csv,noheader,nounits") new=;;
*) echo "the stand-in does not know: $*"; exit 99;;
esac
`

const oneCard = smi + `echo "0, NVIDIA GeForce RTX 4090, 0, 1, 15.42, [N/A]"`

// bench is a source, the clock it is given and the logins it is told.
type bench struct {
	t   *testing.T
	src *ssh.Source

	mu     sync.Mutex
	ahead  time.Duration // our clock minus the machine's
	access map[string]fleet.Access
	broken error
	asked  []string
	ask    signals.Ask
}

func newBench(t *testing.T, o ssh.Options) *bench {
	t.Helper()
	b := &bench{t: t, access: map[string]fleet.Access{}}
	o.Now = func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return time.Now().Add(b.ahead)
	}
	o.Access = func(_ context.Context, i fleet.Instance) (fleet.Access, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = append(b.asked, i.Ref.ID)
		if b.broken != nil {
			return fleet.Access{}, b.broken
		}
		return b.access[i.Ref.ID], nil
	}
	o.Ask = func(fleet.Instance) signals.Ask { return b.ask }
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	src, err := ssh.New(o)
	if err != nil {
		t.Fatal(err)
	}
	b.src = src
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead += d
}

func (b *bench) timesAsked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked)
}

func (b *bench) set(id string, a fleet.Access) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.access[id] = a
}

// look looks at one instance and checks what every evidence must be.
func (b *bench) look(i fleet.Instance) fleet.Evidence {
	b.t.Helper()
	seen, err := b.src.Look(b.t.Context(), []fleet.Instance{i})
	if err != nil || len(seen) != 1 || len(seen[i.Ref]) != 1 {
		b.t.Fatalf("Look gave %d answers, %v", len(seen), err)
	}
	e := seen[i.Ref][0]
	if e.Source != "ssh" || e.Boot != i.Boot || e.Activity != fleet.Unknown || e.SeenAt.IsZero() || e.FreshFor == 0 {
		b.t.Errorf("evidence of %s, boot %s, %s, seen at %s, fresh for %s", e.Source, e.Boot, e.Activity, e.SeenAt, e.FreshFor)
	}
	if e.Facts.Reached == !e.Reason.IsZero() {
		b.t.Errorf("reached %v, but the reason is %v", e.Facts.Reached, e.Reason)
	}
	return e
}

func machine(id string, cards int) fleet.Instance {
	return fleet.Instance{
		Ref:  fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: id},
		Boot: "b1", State: fleet.StateRunning, GPU: fleet.GPU{Count: cards},
	}
}

// above, in a stand-in, notes the processes that it runs under, up to the server's: what
// else looks at this machine meanwhile is not ours.
const above = `
p=$PPID
while read -r _ name _ parent _ <"/proc/$p/stat"; do
	case $name in '(sshd'*) break;; esac
	echo "$p" >>"$HOME/above"
	p=$parent
done`

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unreadable is what a look could not read, without the notebook servers of whoever
// else uses this machine.
func unreadable(f fleet.Facts) map[string]string {
	out := maps.Clone(f.Unreadable)
	maps.DeleteFunc(out, func(what, _ string) bool { return what == "jupyter" })
	return out
}

func matching(e fleet.Evidence, part string) []fleet.Process {
	var found []fleet.Process
	for _, p := range e.Facts.Processes {
		if strings.Contains(p.Command, part) {
			found = append(found, p)
		}
	}
	return found
}

func shells(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"the machine's own sh": ""}
	for _, name := range []string{"dash", "bash", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			found[name] = path
		}
	}
	return found
}

// work starts a real process whose command line is a training's, and gives what
// ends it.
func work(t *testing.T, args ...string) (pid int, end func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(path, []byte("read line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{path}, args...)...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	return cmd.Process.Pid, end
}

func TestLookAtARealServer(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run("through "+name, func(t *testing.T) {
			s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard + above, Shell: shell})
			b := newBench(t, ssh.Options{Key: s.KeyPEM, Every: 30 * time.Second, Timeout: 20 * time.Second})
			b.set("i", s.Access())
			began := time.Now()
			pid, end := work(t, "--名称", "实验 一")
			log := strings.Repeat("x", 5000) + "\nepoch 3 done\n"
			write(t, filepath.Join(s.Home, "it's a log"), log)
			write(t, filepath.Join(s.Home, "out", "DONE"), "ok")
			write(t, filepath.Join(s.Home, ".curfew", "hold"), "2h\n")
			write(t, filepath.Join(s.Home, ".curfew", "runs", "over"), "start=1700000000 pid=1\nend=1700000500 exit=3\n")
			write(t, filepath.Join(s.Home, ".curfew", "runs", "going"), fmt.Sprintf("start=%d pid=%d", began.Unix(), pid))
			write(t, filepath.Join(s.Home, ".curfew", "runs", "reused"), fmt.Sprintf("start=%d pid=%d pid_start=1", began.Unix(), pid))
			done := filepath.Join(s.Home, "out", "DONE")
			b.ask = signals.Ask{Files: []string{done, "out/none", "~/out"}, Logs: []string{"~/it's a log"}}

			e := b.look(machine("i", 1))
			f := e.Facts
			if !f.Reached || !f.ProcessesRead || len(unreadable(f)) != 0 {
				t.Fatalf("reached %v, processes read %v, unreadable %v, %v", f.Reached, f.ProcessesRead, f.Unreadable, e.Reason)
			}
			if e.FreshFor != 80*time.Second || e.SeenAt.Before(began) || e.SeenAt.After(time.Now()) {
				t.Errorf("seen at %s, fresh for %s", e.SeenAt, e.FreshFor)
			}
			if len(f.Cards) != 1 || f.Cards[0].Utilization == nil || *f.Cards[0].Utilization != 0 || f.Cards[0].Model != "NVIDIA GeForce RTX 4090" {
				t.Errorf("cards %+v", f.Cards)
			}
			found := matching(e, "train.py --名称 实验 一")
			if len(found) != 1 || found[0].PID != pid {
				t.Fatalf("found %d processes of the training", len(found))
			}
			// The kernel's start and the clock are told in whole seconds and ticks.
			if off := found[0].StartedAt.Sub(began); off < -3*time.Second || off > 3*time.Second {
				t.Errorf("the process began %s after it did", off)
			}
			own := strings.Fields(read(t, filepath.Join(s.Home, "above")))
			if len(own) == 0 {
				t.Error("nobody noted which processes the look is made of")
			}
			for _, p := range f.Processes {
				if slices.Contains(own, strconv.Itoa(p.PID)) {
					t.Errorf("the look sees a process of its own: %+v", p)
				}
			}
			if n := len(matching(e, s.Home)); n != 0 {
				t.Errorf("a name that was asked for is in %d command lines", n)
			}
			if left := time.Until(f.HoldUntil); left < 2*time.Hour-time.Minute || left > 2*time.Hour+3*time.Second {
				t.Errorf("held for %s", left)
			}
			if file := f.Files[done]; !file.Exists || file.Size != 2 || file.Err != "" || file.ModTime.Before(began.Add(-3*time.Second)) {
				t.Errorf("DONE: %+v", file)
			}
			if file := f.Files["out/none"]; file.Exists || file.Err != "" {
				t.Errorf("an absent file: %+v", file)
			}
			if file := f.Files["~/out"]; !file.Exists || file.Err != "" {
				t.Errorf("a directory: %+v", file)
			}
			if file := f.Files["~/it's a log"]; file.Size != int64(len(log)) || file.Tail != log[len(log)-4096:] || file.Err != "" {
				t.Errorf("the log: size %d, %d bytes of its end, %q", file.Size, len(file.Tail), file.Err)
			}
			checkRuns(t, f.BoxRuns, "going open, over ended 3, reused gone")

			end()
			e = b.look(machine("i", 1))
			if !e.Facts.ProcessesRead || len(matching(e, "train.py --名称 实验 一")) != 0 {
				t.Errorf("the training has ended, and is still seen")
			}
			checkRuns(t, e.Facts.BoxRuns, "going gone, over ended 3, reused gone")
			if n := b.timesAsked(); n != 1 {
				t.Errorf("how to log in was asked %d times", n)
			}
		})
	}
}

func checkRuns(t *testing.T, runs []fleet.BoxRun, want string) {
	t.Helper()
	var got []string
	for _, r := range runs {
		word := r.ID + " open"
		switch {
		case !r.EndedAt.IsZero() && r.ExitCode != nil:
			word = fmt.Sprintf("%s ended %d", r.ID, *r.ExitCode)
		case r.PIDGone:
			word = r.ID + " gone"
		}
		got = append(got, word)
	}
	slices.Sort(got)
	if strings.Join(got, ", ") != want {
		t.Errorf("runs %v, want %s", got, want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestShellWrapperOfTheDocumentationIsRead(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", s.Access())
	wrapper := `mkdir -p ~/.curfew/runs; f=~/.curfew/runs/$(date +%s).$$; echo "start=$(date +%s) pid=$$" >"$f"
(exit 7); code=$?
echo "end=$(date +%s) exit=$code" >>"$f"
`
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", wrapper)
	cmd.Env = []string{"HOME=" + s.Home, "PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	runs := b.look(machine("i", 1)).Facts.BoxRuns
	if len(runs) != 1 || runs[0].ExitCode == nil || *runs[0].ExitCode != 7 || runs[0].EndedAt.Before(runs[0].StartedAt) {
		t.Errorf("runs %+v", runs)
	}
}

func TestTimesAreByOurClock(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	b.set("i", s.Access())
	b.pass(5 * time.Hour) // the box is five hours behind us
	pid, _ := work(t)
	path := filepath.Join(s.Home, "DONE")
	write(t, path, "")
	write(t, filepath.Join(s.Home, ".curfew", "runs", "r"), fmt.Sprintf("start=%d pid=%d", time.Now().Unix(), pid))
	b.ask = signals.Ask{Files: []string{path}}
	e := b.look(machine("i", 1))
	var began time.Time
	for _, p := range e.Facts.Processes {
		if p.PID == pid {
			began = p.StartedAt
		}
	}
	for what, at := range map[string]time.Time{"the process": began, "the file": e.Facts.Files[path].ModTime, "the run": e.Facts.BoxRuns[0].StartedAt} {
		if off := at.Sub(e.SeenAt); off < -30*time.Second || off > 5*time.Second {
			t.Errorf("%s is off by %s", what, off)
		}
	}
	again := b.look(machine("i", 1))
	for _, p := range again.Facts.Processes {
		if p.PID == pid && !p.StartedAt.Equal(began) {
			t.Errorf("the same process began at %s and at %s", began, p.StartedAt)
		}
	}
}

func TestWhatAnswersIsNotALook(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	b := newBench(t, ssh.Options{Key: s.KeyPEM})
	access := s.Access()
	access.Password = "hunter2"
	b.set("i", access)
	s.StandIn("sh", `echo "Your password hunter2 has expired"; cat >/dev/null`)
	e := b.look(machine("i", 1))
	if e.Facts.Reached || e.Reason.Code != ssh.ReasonGarbled || e.Reason.Values["said"].Any() != "Your password *** has expired" {
		t.Errorf("got %v", e.Reason)
	}
	s.StandIn("sh", `echo "no shell for you, hunter2" >&2; exit 1`)
	e = b.look(machine("i", 1))
	if e.Facts.Reached || e.Reason.Code != ssh.ReasonCommand || e.Reason.Values["error"].Any() != "exit status 1: no shell for you, ***" {
		t.Errorf("got %v", e.Reason)
	}
}

// silent dials peers that accept and then say nothing, but for those that are
// refused.
func silent(t *testing.T, wg *sync.WaitGroup) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, _, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "refused:") {
			return nil, errors.New("connection refused")
		}
		ours, theirs := net.Pipe()
		wg.Go(func() {
			defer theirs.Close()
			buf := make([]byte, 1024)
			for {
				if _, err := theirs.Read(buf); err != nil {
					return
				}
			}
		})
		return ours, nil
	}
}

func TestHangingInstanceDelaysNobodyBeyondItsTime(t *testing.T) {
	for _, c := range []struct {
		name     string
		parallel int
		want     time.Duration
	}{
		{"side by side all hang at once", 5, 10 * time.Second},
		{"two at a time take three turns", 2, 30 * time.Second},
		{"one at a time still ends", 1, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var wg sync.WaitGroup
				src, err := ssh.New(ssh.Options{
					Every: time.Minute, Timeout: 10 * time.Second, Parallel: c.parallel, Now: time.Now, Dial: silent(t, &wg),
					Access: func(_ context.Context, i fleet.Instance) (fleet.Access, error) {
						return fleet.Access{Host: i.Ref.ID, User: "root", Password: "hunter2"}, nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				var is []fleet.Instance
				for n := range 5 {
					is = append(is, machine(fmt.Sprintf("hang-%d", n), 1))
				}
				is = append(is, machine("refused", 1), machine("refused", 1))
				began := time.Now()
				seen, err := src.Look(t.Context(), is)
				if err != nil || len(seen) != 6 {
					t.Fatalf("%d answers, %v", len(seen), err)
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("the look took %s, want %s", took, c.want)
				}
				for ref, es := range seen {
					want := ssh.ReasonTimeout
					if ref.ID == "refused" {
						want = ssh.ReasonRefused
					}
					if len(es) != 1 || es[0].Reason.Code != want || es[0].Facts.Reached {
						t.Errorf("%s: %v", ref, es)
						continue
					}
					if es[0].FreshFor != 130*time.Second || (es[0].Fresh(time.Now()) != (time.Since(es[0].SeenAt) <= es[0].FreshFor)) {
						t.Errorf("%s is fresh for %s", ref, es[0].FreshFor)
					}
					if strings.Contains(fmt.Sprint(es[0].Reason), "hunter2") {
						t.Errorf("%s: the password is in %v", ref, es[0].Reason)
					}
				}
				if err := src.Close(); err != nil {
					t.Error(err)
				}
				wg.Wait()
			})
		})
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	access := func(context.Context, fleet.Instance) (fleet.Access, error) { return fleet.Access{}, nil }
	for name, o := range map[string]ssh.Options{
		"no access":               {Now: time.Now},
		"no clock":                {Access: access},
		"a key that is not a key": {Now: time.Now, Access: access, Key: []byte("SECRET")},
	} {
		if _, err := ssh.New(o); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
