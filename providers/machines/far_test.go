package machines_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/sshx/sshdtest"
	"curfew/providers"
	"curfew/providers/machines"
)

// hostOf makes the box show another process 1 than there is.
func hostOf(box *sshdtest.Server, ticks int, boot string) {
	box.StandIn("cat", fmt.Sprintf(`case $1 in
/proc/1/stat) echo '1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %d 0 0';;
/proc/sys/kernel/random/boot_id) echo %s;;
*) exec /bin/cat "$@";;
esac`, ticks, boot))
}

func TestAMachineElsewhereRunsWhereItTakesALogin(t *testing.T) {
	l := newLab(t, func(o *providers.Options) {
		o.Machines[0].Labels = map[string]string{"team": "nlp"}
		o.Machines[0].Stop = "poweroff"
	}, "a", "b")
	hostOf(l.box, 100*3600, kernel)
	i := l.running("a")
	if i.StartedAt.IsZero() {
		t.Error("it does not tell when it was started")
	}
	i.StartedAt = time.Time{}
	want := fleet.Instance{
		Ref:  fleet.Ref{Account: "machines:own", Kind: fleet.KindInstance, ID: "a"},
		Boot: "p5f0c5b363d2f4f1b9f580a9e0a2f4c11-360000", AccountName: "own", Provider: "machines", Name: "a",
		Labels: map[string]string{"team": "nlp"}, State: fleet.StateRunning, RawState: "answers",
		Charge: fleet.Charge{Type: fleet.ChargeOnDemand}, GPU: fleet.GPU{Model: "RTX 4090", Count: 8},
		Cannot: []fleet.Inability{{Action: fleet.Start, Why: fleet.Because(machines.ReasonNoStart, nil)}},
	}
	if diff := cmp.Diff(want, i); diff != "" {
		t.Errorf("instance (-want +got):\n%s", diff)
	}
	t.Run("one connection serves all reads", func(t *testing.T) {
		before := l.running("a")
		for range 10 {
			if diff := cmp.Diff(before, l.running("a")); diff != "" {
				t.Fatalf("a later read differs:\n%s", diff)
			}
		}
		for name, p := range l.proxies {
			if p.Taken() != 1 {
				t.Errorf("%d connections were made to %s, want 1", p.Taken(), name)
			}
		}
	})
	t.Run("a connection that broke is made anew", func(t *testing.T) {
		l.proxies["a"].Break()
		l.running("a")
		if n := l.proxies["a"].Taken(); n != 2 {
			t.Errorf("%d connections were made, want 2", n)
		}
	})
	t.Run("what it greets with does not matter", func(t *testing.T) {
		l.box.StandIn("sh", "echo Welcome to box 7; exec /bin/sh \"$@\"")
		l.running("a")
	})
	t.Run("another process 1 is another boot", func(t *testing.T) {
		hostOf(l.box, 100*3600+1, kernel)
		if j := l.running("a"); j.Boot.Same(i.Boot) {
			t.Errorf("the boot is still %s", j.Boot)
		}
	})
	t.Run("access is what is declared, before any default", func(t *testing.T) {
		a, err := l.account.Access(t.Context(), i)
		want := fleet.Access{Host: "127.0.0.1", Port: l.proxies["a"].Port, User: l.box.User, Key: string(l.box.KeyPEM), Declared: true}
		if err != nil || a != want {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

// refused and its like are how a port is missing.
var (
	refused   error = syscall.ECONNREFUSED
	noHost    error = syscall.EHOSTUNREACH
	late      error = os.ErrDeadlineExceeded
	noNetwork error = syscall.ENETUNREACH
	noName    error = &net.DNSError{Err: "no such host", Name: "lab", IsNotFound: true}
	slowName  error = &net.DNSError{Err: "i/o timeout", Name: "lab", IsTimeout: true}
)

func TestAMachineIsOffWhenItsPortIsGoneAndStaysGone(t *testing.T) {
	t.Run("while another machine answers", func(t *testing.T) {
		for name, err := range map[string]error{"refused": refused, "no route to the host": noHost, "timed out": late} {
			t.Run(name, func(t *testing.T) {
				l := newLab(t, nil, "a", "b")
				before := l.running("a")
				l.fail("a", err)
				since := l.now.Add(time.Minute)
				for _, after := range []time.Duration{time.Minute, 0, 30 * time.Second, 29 * time.Second} {
					if i := l.want(after, "a", fleet.StateUnknown, machines.ReasonGoneOnce); !i.Boot.Same(before.Boot) {
						t.Errorf("unknown in boot %s, want %s", i.Boot, before.Boot)
					}
				}
				i := l.want(time.Second, "a", fleet.StateStopped, "")
				if !i.Boot.Same(before.Boot) || !i.StoppedAt.Equal(since) || !i.StartedAt.Equal(before.StartedAt) {
					t.Errorf("boot %s, started %s, stopped %s; want those of %+v and %s", i.Boot, i.StartedAt, i.StoppedAt, before, since)
				}
				l.want(24*time.Hour, "a", fleet.StateStopped, "")
				l.want(0, "b", fleet.StateRunning, "")
				l.fail("a", nil)
				l.running("a")
			})
		}
	})
	t.Run("one that was never seen to run tells no time", func(t *testing.T) {
		l := newLab(t, nil, "a", "b")
		l.fail("a", refused)
		l.want(0, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		if i := l.want(time.Minute, "a", fleet.StateStopped, ""); !i.StoppedAt.IsZero() || i.Boot != "" {
			t.Errorf("got boot %q, stopped %s", i.Boot, i.StoppedAt)
		}
	})
	t.Run("while the declared address answers", func(t *testing.T) {
		gate, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		l := newLab(t, func(o *providers.Options) { o.RouteCheck = gate.Addr().String() }, "a")
		l.running("a")
		l.fail("a", late)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.want(time.Minute, "a", fleet.StateStopped, "")
	})
	t.Run("while a machine answers that takes no login", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) { o.Machines[1].Key = otherKey(t) }, "a", "b")
		l.running("a")
		l.want(0, "b", fleet.StateUnknown, machines.ReasonNoLogin)
		l.fail("a", refused)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.want(time.Minute, "a", fleet.StateStopped, "")
	})
}

func TestAMachineIsNotOffWhenNobodyCanTell(t *testing.T) {
	const hour = time.Hour
	t.Run("where nothing else answers either", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) { o.RouteCheck = "192.0.2.1:22" }, "a", "b")
		before := l.running("a")
		l.fail("192.0.2.1:22", late)
		l.fail("a", late)
		l.fail("b", late)
		for range 4 {
			if i := l.want(hour, "a", fleet.StateUnknown, machines.ReasonAlone); !i.Boot.Same(before.Boot) {
				t.Errorf("it is in boot %s", i.Boot)
			}
		}
	})
	t.Run("where there is nothing else to ask", func(t *testing.T) {
		l := newLab(t, nil, "a")
		l.running("a")
		l.fail("a", refused)
		for range 4 {
			l.want(hour, "a", fleet.StateUnknown, machines.ReasonNoCheck)
		}
	})
	t.Run("where the only other is another user of the same port", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) {
			twin := o.Machines[0]
			twin.Name, twin.User = "twin", "somebody"
			o.Machines = append(o.Machines, twin)
		}, "a")
		l.running("a")
		l.fail("a", refused)
		for range 4 {
			l.want(hour, "a", fleet.StateUnknown, machines.ReasonNoCheck)
		}
	})
	for name, err := range map[string]error{
		"where our own network is not there": noNetwork, "where its name is not known": noName, "where nobody tells its name": slowName,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, nil, "a", "b")
			l.running("a")
			l.fail("a", err)
			for range 4 {
				l.want(hour, "a", fleet.StateUnknown, machines.ReasonNoWay)
			}
		})
	}
	t.Run("where the witness was silent in between, the minute begins anew", func(t *testing.T) {
		l := newLab(t, nil, "a", "b")
		l.running("a")
		l.running("b")
		l.fail("a", refused)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.fail("b", late)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonAlone)
		l.fail("b", nil)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.want(59*time.Second, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.want(time.Second, "a", fleet.StateStopped, "")
	})
	t.Run("where it answered in between, the minute begins anew", func(t *testing.T) {
		l := newLab(t, nil, "a", "b")
		l.running("a")
		l.fail("a", refused)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.fail("a", nil)
		l.running("a")
		l.fail("a", refused)
		l.want(time.Minute, "a", fleet.StateUnknown, machines.ReasonGoneOnce)
		l.want(time.Minute, "a", fleet.StateStopped, "")
	})
}

func TestWhatAnswersWithoutALoginIsUnknown(t *testing.T) {
	t.Run("a login that is refused", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) { o.Machines[0].Key = otherKey(t) }, "a", "b")
		for range 3 {
			l.want(time.Hour, "a", fleet.StateUnknown, machines.ReasonNoLogin)
		}
	})
	t.Run("a stranger at its address, who is sent nothing", func(t *testing.T) {
		l := newLab(t, func(o *providers.Options) { o.Machines[0].Stop = "touch ~/stranger" }, "a", "b")
		mine := l.running("a")
		stranger := sshdtest.Start(t, sshdtest.Options{})
		l.proxies["a"].SetTarget(stranger.Access())
		l.proxies["a"].Break()
		for range 3 {
			if i := l.want(time.Hour, "a", fleet.StateUnknown, machines.ReasonStranger); !i.Boot.Same(mine.Boot) {
				t.Errorf("it is in boot %s", i.Boot)
			}
		}
		if err := l.account.Stop(t.Context(), mine, providers.StopOptions{}); !errors.Is(err, fleet.Conflict) {
			t.Errorf("stop: %v", err)
		}
		l.proxies["a"].SetTarget(l.box.Access())
		if i := l.running("a"); !i.Boot.Same(mine.Boot) {
			t.Errorf("back home it is in boot %s", i.Boot)
		}
	})
	t.Run("something that speaks no SSH", func(t *testing.T) {
		web, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer web.Close()
		go func() {
			for {
				c, err := web.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
				c.Close()
			}
		}()
		l := newLab(t, nil, "a", "b")
		addr, _ := web.Addr().(*net.TCPAddr)
		l.proxies["a"].SetTarget(fleet.Access{Host: "127.0.0.1", Port: addr.Port})
		for range 3 {
			l.want(time.Hour, "a", fleet.StateUnknown, machines.ReasonNoSSH)
		}
	})
	t.Run("a login that tells no power cycle", func(t *testing.T) {
		l := newLab(t, nil, "a", "b")
		for name, cat := range map[string]string{"nothing": "exit 1", "rubbish": "echo 1 bash", "too much": "while :; do echo 0123456789012345678901234567890123456789; done"} {
			l.box.StandIn("cat", cat)
			if i := l.want(time.Hour, "a", fleet.StateUnknown, machines.ReasonGarbled); i.Boot != "" {
				t.Errorf("%s: boot %s", name, i.Boot)
			}
		}
	})
}

func TestADarkMachineHoldsNothingUp(t *testing.T) {
	const dark = 300
	l := newLab(t, func(o *providers.Options) {
		for n := range dark {
			o.Machines = append(o.Machines, providers.Machine{Name: fmt.Sprintf("dark-%d", n), Host: fmt.Sprintf("dark-%d", n), Port: 22, User: "root", Password: "x"})
		}
	}, "a")
	account := l.account
	l.lost = "dark-"
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	began := time.Now()
	is, err := account.Instances(ctx, account.Scopes[0])
	if err != nil || len(is) != dark+1 {
		t.Fatalf("listed %d, %v", len(is), err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	for _, i := range is {
		if want := map[bool]fleet.State{true: fleet.StateRunning}[i.Ref.ID == "a"]; i.State != want {
			t.Fatalf("%s is %s", i.Ref.ID, i.State)
		}
		if i.State == fleet.StateUnknown && i.Unclear.IsZero() {
			t.Fatalf("%s: nobody says why", i.Ref.ID)
		}
	}
}

func TestCloseEndsEveryConnection(t *testing.T) {
	l := newLab(t, nil, "a", "b")
	l.list()
	open := func() int { return l.proxies["a"].Open() + l.proxies["b"].Open() }
	if open() != 2 {
		t.Fatalf("%d connections are open", open())
	}
	for _, use := range []func(){func() {}, func() { l.list() }} {
		if err := l.account.Close(); err != nil {
			t.Fatal(err)
		}
		use()
		for until := time.Now().Add(10 * time.Second); open() > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%d connections are open", open())
			}
		}
	}
}
