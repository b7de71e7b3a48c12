package machines_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/machines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// proc is a stand-in for /proc of a container whose host started long before it.
type proc struct {
	t   *testing.T
	dir string
}

const kernel = "5f0c5b36-3d2f-4f1b-9f58-0a9e0a2f4c11"

var kernelStart = time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)

func newProc(t *testing.T) *proc {
	t.Helper()
	p := &proc{t: t, dir: t.TempDir()}
	p.kernel(kernel, kernelStart)
	p.first("bash", 100*3600*24+37)
	return p
}

func (p *proc) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *proc) kernel(id string, start time.Time) {
	p.t.Helper()
	p.write("sys/kernel/random/boot_id", id+"\n")
	p.write("stat", fmt.Sprintf("cpu  1 2 3\nintr 0\nctxt 99\nbtime %d\nprocesses 7\n", start.Unix()))
}

// first writes process 1, which started so many ticks after the kernel.
func (p *proc) first(name string, ticks int) {
	p.t.Helper()
	p.write("1/stat", fmt.Sprintf("1 (%s) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %d 0 0\n", name, ticks))
}

func (p *proc) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *proc) open(ms ...providers.Machine) providers.Account {
	p.t.Helper()
	kind := machines.KindAt(p.dir)
	m, err := kind.Open(providers.Options{Account: "own", Machines: ms})
	if err != nil {
		p.t.Fatal(err)
	}
	return providers.Collect("own", kind, m).With(providers.Timeout(time.Minute, 5*time.Second), providers.Stamp("machines:own"))
}

// one reads the only machine, by the list and by itself.
func one(t *testing.T, a providers.Account) fleet.Instance {
	t.Helper()
	is, err := a.Instances(t.Context(), a.Scopes[0])
	if err != nil || len(is) != 1 {
		t.Fatalf("listed %d, %v", len(is), err)
	}
	i, err := a.Instance(t.Context(), is[0].Ref)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(is[0], i); diff != "" {
		t.Errorf("list (-) and single read (+) differ:\n%s", diff)
	}
	return i
}

func TestADeclarationBecomesAnInstance(t *testing.T) {
	p := newProc(t)
	price := fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceConfig}
	stop := fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, ReleasesAfter: 15 * 24 * time.Hour}
	a := p.open(providers.Machine{
		Name: "box-1", Here: true, Stop: "poweroff", Price: price, OnStop: stop,
		Charge: fleet.Charge{Type: fleet.ChargeOnDemand}, Labels: map[string]string{"team": "nlp"},
		ReleasesAt: kernelStart.AddDate(1, 0, 0),
	})
	want := fleet.Instance{
		Ref:  fleet.Ref{Account: "machines:own", Kind: fleet.KindInstance, ID: "box-1"},
		Boot: "p5f0c5b363d2f4f1b9f580a9e0a2f4c11-8640037", AccountName: "own", Provider: "machines", Name: "box-1",
		Labels: map[string]string{"team": "nlp"}, State: fleet.StateRunning, RawState: "here", Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
		Price: price, OnStop: stop, Here: true, StartedAt: kernelStart.Add(24 * time.Hour),
		ReleasesAt: kernelStart.AddDate(1, 0, 0),
		Cannot:     []fleet.Inability{{Action: fleet.Start, Why: fleet.Because(machines.ReasonNoStart, nil)}},
	}
	if diff := cmp.Diff(want, one(t, a)); diff != "" {
		t.Errorf("instance (-want +got):\n%s", diff)
	}
	t.Run("what is not declared is not known", func(t *testing.T) {
		i := one(t, p.open(providers.Machine{Name: "bare", Here: true}))
		if i.OnStop != (fleet.OnStop{}) || i.Price.Known() || i.Unable(fleet.Stop).Code != machines.ReasonNoStop || !i.Unable(fleet.Release).IsZero() {
			t.Errorf("got %+v", i)
		}
	})
	t.Run("another is not found", func(t *testing.T) {
		for _, r := range []fleet.Ref{
			{Kind: fleet.KindInstance, ID: "box-2"}, {Kind: fleet.KindDisk, ID: "box-1"}, {Kind: fleet.KindInstance, ID: "box-1", Incarnation: "2"},
		} {
			if _, err := a.Instance(t.Context(), r); !errors.Is(err, fleet.NotFound) {
				t.Errorf("%s: %v", r, err)
			}
		}
	})
	t.Run("nobody logs in to it", func(t *testing.T) {
		if _, err := a.Access(t.Context(), one(t, a)); !errors.Is(err, fleet.Unsupported) {
			t.Errorf("got %v", err)
		}
	})
}

func TestWhatCannotBeLoggedInToIsRefused(t *testing.T) {
	now := time.Now
	good := providers.Machine{Name: "far", Host: "lab-1", Port: 22, User: "root", Password: "x"}
	for name, o := range map[string]providers.Options{
		"nothing declared":         {Now: now},
		"no address":               {Now: now, Machines: []providers.Machine{{Name: "far", Password: "x"}}},
		"neither key nor password": {Now: now, Machines: []providers.Machine{{Name: "far", Host: "lab-1"}}},
		"a key that is none":       {Now: now, Machines: []providers.Machine{{Name: "far", Host: "lab-1", Key: "hunter2"}}},
		"no clock":                 {Machines: []providers.Machine{good}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := machines.Kind().Open(o)
			if err == nil || p != nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
	if _, err := machines.Kind().Open(providers.Options{Now: now, Machines: []providers.Machine{good}}); err != nil {
		t.Error(err)
	}
}

func TestTheBootIsThatOfProcessOne(t *testing.T) {
	p := newProc(t)
	a := p.open(providers.Machine{Name: "box", Here: true})
	before := one(t, a)
	for _, c := range []struct {
		name   string
		change func(p *proc)
		same   bool
	}{
		{"nothing happened", func(*proc) {}, true},
		{"somebody set the clock", func(p *proc) { p.kernel(kernel, kernelStart.Add(3*time.Hour)) }, true},
		{"the clock is not told", func(p *proc) { p.remove("stat") }, true},
		{"its first program renamed itself", func(p *proc) { p.first("a) b (c", 100*3600*24+37) }, true},
		{"the container was started anew on the same host", func(p *proc) { p.first("bash", 100*3600*24+38) }, false},
		{"the machine was started anew, and its first program after the same time", func(p *proc) {
			p.kernel("00000000-3d2f-4f1b-9f58-0a9e0a2f4c11", kernelStart.Add(time.Hour))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProc(t)
			c.change(p)
			a := p.open(providers.Machine{Name: "box", Here: true})
			if got := one(t, a).Boot; got.Same(before.Boot) != c.same {
				t.Errorf("the boot was %s and is %s", before.Boot, got)
			}
		})
	}
	t.Run("without the kernel's id it is the time of the start", func(t *testing.T) {
		p.remove("sys/kernel/random/boot_id")
		if i := one(t, a); i.Boot != fleet.BootAt(kernelStart.Add(24*time.Hour)) {
			t.Errorf("got %s", i.Boot)
		}
	})
	for name, change := range map[string]func(p *proc){
		"without process 1":         func(p *proc) { p.remove("1/stat") },
		"with an unclear process 1": func(p *proc) { p.write("1/stat", "1 (bash) S 0 1\n") },
		"with neither kernel's id nor start": func(p *proc) {
			p.remove("sys/kernel/random/boot_id")
			p.write("stat", "cpu 1\nbtime x\n")
		},
	} {
		t.Run(name+" nothing is told", func(t *testing.T) {
			p := newProc(t)
			change(p)
			a := p.open(providers.Machine{Name: "box", Here: true})
			if is, err := a.Instances(t.Context(), a.Scopes[0]); err == nil || is != nil || !strings.HasPrefix(err.Error(), "machines: read box: other: when it was started cannot be told: ") {
				t.Errorf("listed %d, %v", len(is), err)
			}
		})
	}
}

func TestThisMachineItselfIsRead(t *testing.T) {
	if _, err := os.Stat("/proc/1/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	p := &proc{t: t, dir: "/proc"}
	a := p.open(providers.Machine{Name: "box", Here: true})
	first := one(t, a)
	if first.StartedAt.IsZero() || first.StartedAt.After(time.Now().Add(2*time.Second)) || !strings.HasPrefix(string(first.Boot), "p") {
		t.Errorf("started at %s, boot %s", first.StartedAt, first.Boot)
	}
	for range 50 {
		if diff := cmp.Diff(first, one(t, a)); diff != "" {
			t.Fatalf("a later read differs:\n%s", diff)
		}
	}
}

func TestAStopRunsTheDeclaredCommand(t *testing.T) {
	p := newProc(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	stop := func(t *testing.T, ctx context.Context, command string) error {
		t.Helper()
		a := p.open(providers.Machine{Name: "box", Here: true, Stop: command})
		return a.Stop(ctx, one(t, a), providers.StopOptions{Token: "t"})
	}
	t.Run("by a shell, as it stands", func(t *testing.T) {
		if err := stop(t, t.Context(), "printf '%s' \"$(echo a b)\" >'"+file("out 1")+"' && exit 0"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file("out 1")); err != nil || string(got) != "a b" {
			t.Errorf("it wrote %q, %v", got, err)
		}
	})
	t.Run("one that fails says how", func(t *testing.T) {
		err := stop(t, t.Context(), "echo first; echo 'must be\troot' >&2; exit 3")
		if want := "machines: stop box: other: the command ended with exit status 3: must beroot"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("what it leaves running does not hold it up", func(t *testing.T) {
		began := time.Now()
		if err := stop(t, t.Context(), "tail -f /dev/null --pid=$PPID & echo $! >"+file("pid")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("it took %s", took)
		}
		end(t, file("pid"))
	})
	t.Run("one that hangs is killed with all it started", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := stop(t, ctx, "echo $$ >"+file("group")+"; tail -f /dev/null; true")
		if !errors.Is(err, fleet.OutcomeUnknown) {
			t.Fatalf("got %v", err)
		}
		pid := number(t, file("group"))
		for until := time.Now().Add(5 * time.Second); alive(pid); {
			if time.Now().After(until) {
				t.Fatal("it lives on")
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	t.Run("one under way when curfew ends goes on", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for {
				if _, err := os.Stat(file("begun")); err == nil {
					cancel()
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		err := stop(t, ctx, "touch "+file("begun")+"; until [ -e "+file("go")+" ]; do sleep 0.05; done; touch "+file("down"))
		if !errors.Is(err, fleet.OutcomeUnknown) || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		if err := os.WriteFile(file("go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(file("down")); err == nil {
				break
			}
			if time.Now().After(until) {
				t.Fatal("it did not go on")
			}
		}
	})
	t.Run("none that is not declared", func(t *testing.T) {
		if err := stop(t, t.Context(), ""); !errors.Is(err, fleet.Unsupported) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("not in another power cycle than the one that was judged", func(t *testing.T) {
		a := p.open(providers.Machine{Name: "box", Here: true, Stop: "touch " + file("wrong")})
		i := one(t, a)
		p.first("bash", 5)
		if err := a.Stop(t.Context(), i, providers.StopOptions{}); !errors.Is(err, fleet.Conflict) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(file("wrong")); err == nil {
			t.Error("the command was run")
		}
	})
}

func number(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func end(t *testing.T, path string) {
	t.Helper()
	p, err := os.FindProcess(number(t, path))
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// alive reports whether a process is there and not merely waits to be fetched.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
