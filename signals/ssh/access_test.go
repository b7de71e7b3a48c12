package ssh_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/sshx/sshdtest"
	"curfew/signals/ssh"
)

func TestAccessIsAskedForSparingly(t *testing.T) {
	t.Run("a refused login is tried again after a minute, with a fresh answer", func(t *testing.T) {
		s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
		stranger := sshdtest.Start(t, sshdtest.Options{})
		p := sshdtest.NewProxy(t, s.Access())
		b := newBench(t, ssh.Options{Key: stranger.KeyPEM})
		b.set("i", p.Access(s.Access()))
		for range 3 {
			e := b.look(machine("i", 1))
			if e.Facts.Reached || e.Reason.Code != ssh.ReasonAuth {
				t.Fatalf("got %v", e.Reason)
			}
		}
		if n, m := b.timesAsked(), p.Taken(); n != 1 || m != 1 {
			t.Fatalf("three looks within a minute: asked %d times, tried %d times", n, m)
		}
		b.pass(61 * time.Second)
		b.set("i", stranger.Access())
		i := machine("i", 1)
		i.Boot = "b1"
		if e := b.look(i); e.Reason.Code != ssh.ReasonPinChanged {
			t.Errorf("the fresh answer was not used: %v", e.Reason)
		}
		if n := b.timesAsked(); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
	t.Run("a password that was changed while the machine runs is learned in the same look", func(t *testing.T) {
		s := sshdtest.Start(t, sshdtest.Options{NvidiaSMI: oneCard})
		p := sshdtest.NewProxy(t, s.Access())
		b := newBench(t, ssh.Options{Key: s.KeyPEM})
		b.set("i", p.Access(s.Access()))
		b.look(machine("i", 1))
		b.pass(61 * time.Second)
		write(t, filepath.Join(filepath.Dir(s.Home), "authorized_keys"), "")
		p.Break()
		if e := b.look(machine("i", 1)); e.Reason.Code != ssh.ReasonAuth {
			t.Fatalf("got %v", e.Reason)
		}
		if n, m := b.timesAsked(), p.Taken(); n != 2 || m != 3 {
			t.Errorf("asked %d times, want twice; tried %d times, want twice after the first", n, m)
		}
	})
	t.Run("a platform that does not tell is left alone for a minute", func(t *testing.T) {
		b := newBench(t, ssh.Options{})
		b.broken = &fleet.Error{Op: "autodl: access i", Kind: fleet.RateLimited}
		for range 3 {
			e := b.look(machine("i", 1))
			if e.Facts.Reached || e.Reason.Code != ssh.ReasonAccess || e.Reason.Values["error"].Any() != "autodl: access i: rate-limited" {
				t.Fatalf("got %v", e.Reason)
			}
		}
		if n := b.timesAsked(); n != 1 {
			t.Errorf("asked %d times within a minute", n)
		}
		b.pass(time.Minute)
		b.look(machine("i", 1))
		if n := b.timesAsked(); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
	t.Run("an answer without a host is no answer", func(t *testing.T) {
		b := newBench(t, ssh.Options{})
		if e := b.look(machine("i", 1)); e.Reason.Code != ssh.ReasonAccess {
			t.Errorf("got %v", e.Reason)
		}
	})
	t.Run("an address that has not answered for long is asked for again", func(t *testing.T) {
		b := newBench(t, ssh.Options{})
		b.set("i", refused(t))
		for range 3 {
			if e := b.look(machine("i", 1)); e.Reason.Code != ssh.ReasonRefused {
				t.Fatalf("got %v", e.Reason)
			}
		}
		b.pass(10 * time.Minute)
		b.look(machine("i", 1))
		b.look(machine("i", 1))
		if n := b.timesAsked(); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func refused(t *testing.T) fleet.Access {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fleet.Access{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "root", Password: "hunter2"}
}
