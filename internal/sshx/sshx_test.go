package sshx_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"curfew/fleet"
	"curfew/internal/sshx"
	"curfew/internal/sshx/sshdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ref(id string) fleet.Ref { return fleet.Ref{Account: "a", Kind: fleet.KindInstance, ID: id} }

// patience is long enough to mean "for ever" to a test that should not wait.
const patience = time.Minute

func dial(t *testing.T, d *sshx.Dialer, boot fleet.Boot, a fleet.Access) (*sshx.Conn, error) {
	t.Helper()
	c, err := d.Dial(t.Context(), sshx.Target{Ref: ref("i"), Boot: boot, Access: a})
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func dialer() *sshx.Dialer { return &sshx.Dialer{Pins: sshx.NewMemoryPins(), Timeout: patience} }

func TestKeyLoginAtARealServer(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Options{})
	key, err := sshx.ParseKey(s.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	d := dialer()
	d.Key = key
	c, err := dial(t, d, "b1", s.Access())
	if err != nil {
		t.Fatal(err)
	}

	t.Run("a command's output comes back", func(t *testing.T) {
		out, err := c.Run(t.Context(), "echo hello; echo noise >&2", 100)
		if err != nil || string(out) != "hello\n" {
			t.Fatalf("got %q, %v", out, err)
		}
	})
	t.Run("a command reads what it is fed", func(t *testing.T) {
		out, err := c.Feed(t.Context(), "cat", []byte("one\ntwo"), 100)
		if err != nil || string(out) != "one\ntwo" {
			t.Fatalf("got %q, %v", out, err)
		}
	})
	t.Run("a command that fails is told with its status and output", func(t *testing.T) {
		out, err := c.Run(t.Context(), "echo part; echo no such bucket >&2; exit 3", 100)
		exit, ok := errors.AsType[*sshx.Exit](err)
		if !errors.Is(err, sshx.ErrCommand) || !ok || exit.Status != 3 || exit.Stderr != "no such bucket" {
			t.Fatalf("got %v", err)
		}
		if string(out) != "part\n" {
			t.Fatalf("output %q", out)
		}
	})
	t.Run("a command that is killed is no lost connection", func(t *testing.T) {
		_, err := c.Run(t.Context(), "kill -9 $$", 100)
		if !errors.Is(err, sshx.ErrCommand) || !c.Alive() {
			t.Fatalf("got %v, alive %v", err, c.Alive())
		}
	})
	t.Run("output beyond the limit is cut and the command ended", func(t *testing.T) {
		out, err := c.Run(t.Context(), "yes 0123456789", 1000)
		if !errors.Is(err, sshx.ErrTooMuch) || len(out) != 1000 {
			t.Fatalf("got %d bytes, %v", len(out), err)
		}
		if out, err := c.Run(t.Context(), "echo still here", 100); err != nil || string(out) != "still here\n" {
			t.Fatalf("afterwards %q, %v", out, err)
		}
	})
	t.Run("a command on a tether lives as long as the connection", func(t *testing.T) {
		out, err := c.Tether(t.Context(), "read -r l; echo $l; echo noise >&2; exit 3", []byte("one\n"), 12)
		exit, ok := errors.AsType[*sshx.Exit](err)
		if !ok || exit.Status != 3 || len(out) > 12 || !strings.Contains(string(out), "one\n") || !strings.Contains(string(out), "noise\n") {
			t.Fatalf("got %q, %v", out, err)
		}
		if out, err := c.Tether(t.Context(), "echo done", []byte(strings.Repeat("never read\n", 1000)), 100); err != nil || string(out) != "done\n" {
			t.Fatalf("a command that reads nothing: %q, %v", out, err)
		}
		ended := filepath.Join(t.TempDir(), "ended")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		other, err := dial(t, d, "b1", s.Access())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Tether(ctx, "cat >/dev/null; echo >"+ended, nil, 100); !errors.Is(err, sshx.ErrTimedOut) {
			t.Fatalf("a command that waits for its end: %v", err)
		}
		for began := time.Now(); ; runtime.Gosched() {
			if _, err := os.Stat(ended); err == nil {
				break
			}
			if time.Since(began) > 20*time.Second {
				t.Fatal("its input did not end with the connection")
			}
		}
	})
	t.Run("a context that ends cuts a hanging command off", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		out, err := c.Run(ctx, "echo begun; while kill -0 $PPID; do sleep 0.1; done", 100)
		if !errors.Is(err, sshx.ErrTimedOut) || string(out) != "begun\n" {
			t.Fatalf("got %q, %v", out, err)
		}
		if _, err := c.Run(t.Context(), "true", 100); !errors.Is(err, sshx.ErrLost) || c.Alive() {
			t.Fatalf("afterwards %v, alive %v", err, c.Alive())
		}
	})
}

func TestPasswordLogin(t *testing.T) {
	for _, method := range []string{"password", "keyboard-interactive", "stubborn"} {
		t.Run("a password is taken by "+method, func(t *testing.T) {
			s := newFakeServer(t, method)
			c, err := dial(t, dialer(), "b1", s.access("correct horse"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context(), "true", 10); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("a wrong password is refused by "+method+", told once and not repeated", func(t *testing.T) {
			s := newFakeServer(t, method)
			d := dialer()
			d.Key = newSigner(t)
			_, err := dial(t, d, "b1", s.access("battery staple"))
			if !errors.Is(err, sshx.ErrAuth) {
				t.Fatalf("got %v", err)
			}
			if sent := s.sent(); len(sent) != 1 {
				t.Errorf("the password was sent %d times", len(sent))
			}
			if strings.Contains(err.Error(), "staple") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
	t.Run("a login with nothing to show is refused", func(t *testing.T) {
		s := newFakeServer(t, "password")
		if _, err := dial(t, dialer(), "b1", s.access("")); !errors.Is(err, sshx.ErrAuth) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a password that a command repeats is taken out of its error", func(t *testing.T) {
		s := newFakeServer(t, "password")
		s.run = func(ch ssh.Channel, _ string) {
			_, _ = io.WriteString(ch.Stderr(), "login correct horse failed\a\nmore\n")
			exit(ch, 1)
		}
		c, err := dial(t, dialer(), "b1", s.access("correct horse"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Run(t.Context(), "x", 10)
		if want := "command failed: exit status 1: login *** failed"; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Fatalf("got %v, want it to end in %q", err, want)
		}
	})
}

func TestHostKeyIsPinnedForOneBoot(t *testing.T) {
	s := newFakeServer(t, "password")
	d := dialer()
	if _, err := dial(t, d, "b1", s.access("correct horse")); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, d, "b1", s.access("correct horse")); err != nil {
		t.Fatalf("the same key again: %v", err)
	}
	other := newFakeServer(t, "password")
	_, err := dial(t, d, "b1", other.access("correct horse"))
	change, ok := errors.AsType[*sshx.PinChange](err)
	if !errors.Is(err, sshx.ErrPinChanged) || !ok {
		t.Fatalf("another key in the same boot: %v", err)
	}
	if change.Was != ssh.FingerprintSHA256(s.key.PublicKey()) || change.Is != ssh.FingerprintSHA256(other.key.PublicKey()) {
		t.Errorf("fingerprints %+v", change)
	}
	if sent := other.sent(); len(sent) != 0 {
		t.Errorf("a password was sent to a stranger")
	}
	if _, err := dial(t, d, "b2", other.access("correct horse")); err != nil {
		t.Fatalf("another key in a new boot: %v", err)
	}
	if _, err := dial(t, d, "b2", s.access("correct horse")); !errors.Is(err, sshx.ErrPinChanged) {
		t.Fatalf("the old boot's key in the new boot: %v", err)
	}
	if c, err := d.Dial(t.Context(), sshx.Target{Ref: ref("other"), Boot: "b1", Access: other.access("correct horse")}); err != nil {
		t.Fatalf("another instance: %v", err)
	} else {
		c.Close()
	}
}

func TestPinsKeepAFewBootsOfEachInstance(t *testing.T) {
	p := sshx.NewMemoryPins()
	for _, boot := range []fleet.Boot{"b1", "b2", "b3", "b4", "b5"} {
		if kept, err := p.Pin(ref("i"), boot, "key of "+string(boot)); err != nil || kept != "key of "+string(boot) {
			t.Fatalf("%s: %q, %v", boot, kept, err)
		}
	}
	for boot, want := range map[fleet.Boot]string{"b5": "key of b5", "b2": "key of b2", "b1": "another"} {
		if kept, _ := p.Pin(ref("i"), boot, "another"); kept != want {
			t.Errorf("%s: %q, want %q", boot, kept, want)
		}
		p = sshx.NewMemoryPins()
		for _, boot := range []fleet.Boot{"b1", "b2", "b3", "b4", "b5"} {
			_, _ = p.Pin(ref("i"), boot, "key of "+string(boot))
		}
	}
}

// brokenPins is a store that cannot answer.
type brokenPins struct{}

func (brokenPins) Pin(fleet.Ref, fleet.Boot, string) (string, error) {
	return "", errors.New("disk full")
}

func TestDialFailures(t *testing.T) {
	t.Run("a port nobody listens on is unreachable", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().(*net.TCPAddr)
		_ = l.Close()
		_, err = dial(t, dialer(), "b1", fleet.Access{Host: "127.0.0.1", Port: addr.Port, User: "root"})
		if !errors.Is(err, sshx.ErrUnreachable) || errors.Is(err, sshx.ErrTimedOut) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a dial that takes too long is unreachable and timed out", func(t *testing.T) {
		d := dialer()
		d.Timeout = 50 * time.Millisecond
		d.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
			if address != "10.0.0.7:22" {
				t.Errorf("dialled %s", address)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		_, err := dial(t, d, "b1", fleet.Access{Host: "10.0.0.7", User: "root"})
		if !errors.Is(err, sshx.ErrUnreachable) || !errors.Is(err, sshx.ErrTimedOut) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a peer that accepts and says nothing is cut off", func(t *testing.T) {
		l := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
		d := dialer()
		d.Timeout = 100 * time.Millisecond
		_, err := dial(t, d, "b1", l)
		if !errors.Is(err, sshx.ErrTimedOut) || errors.Is(err, sshx.ErrUnreachable) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a peer that speaks something else is no SSH server", func(t *testing.T) {
		l := listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })
		if _, err := dial(t, dialer(), "b1", l); !errors.Is(err, sshx.ErrNotSSH) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a pin that cannot be kept stops the login before the password", func(t *testing.T) {
		s := newFakeServer(t, "password")
		d := &sshx.Dialer{Pins: brokenPins{}, Timeout: patience}
		_, err := dial(t, d, "b1", s.access("correct horse"))
		if err == nil || errors.Is(err, sshx.ErrPinChanged) || errors.Is(err, sshx.ErrAuth) || !strings.Contains(err.Error(), "disk full") {
			t.Fatalf("got %v", err)
		}
		if len(s.sent()) != 0 {
			t.Error("the password was sent")
		}
	})
	t.Run("a context that has ended already makes no connection", func(t *testing.T) {
		s := newFakeServer(t, "password")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := dialer().Dial(ctx, sshx.Target{Ref: ref("i"), Access: s.access("correct horse")})
		if !errors.Is(err, sshx.ErrTimedOut) {
			t.Fatalf("got %v", err)
		}
	})
}

// listen answers every connection with talk and then closes it.
func listen(t *testing.T, talk func(net.Conn)) fleet.Access {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			talk(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return fleet.Access{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "root", Password: "x"}
}

func TestConnectionThatDiesIsNoticed(t *testing.T) {
	s := newFakeServer(t, "password")
	running := make(chan struct{})
	s.run = func(ch ssh.Channel, _ string) {
		_, _ = io.WriteString(ch, "begun")
		close(running)
	}
	p := sshdtest.NewProxy(t, s.access(""))

	t.Run("by a command that was running", func(t *testing.T) {
		c, err := dial(t, dialer(), "b1", p.Access(s.access("correct horse")))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-running
			p.Break()
		}()
		if _, err := c.Run(t.Context(), "x", 100); !errors.Is(err, sshx.ErrLost) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("by the sign of life that does not come", func(t *testing.T) {
		d := dialer()
		d.KeepAlive = 20 * time.Millisecond
		c, err := dial(t, d, "b1", p.Access(s.access("correct horse")))
		if err != nil {
			t.Fatal(err)
		}
		p.Silence()
		// The command hangs with the peer; only the sign of life can end it.
		if _, err := c.Run(t.Context(), "x", 100); !errors.Is(err, sshx.ErrLost) {
			t.Fatalf("got %v", err)
		}
		if c.Alive() {
			t.Error("the connection is still thought alive")
		}
	})
}

func TestKeysThatCannotBeReadAreNotQuoted(t *testing.T) {
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(newRaw(t), "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]struct{ pem, want string }{
		"a key with a passphrase": {string(pemOf(locked)), "passphrase"},
		"something else":          {"SECRET-SECRET", "cannot be read"},
	} {
		_, err := sshx.ParseKey([]byte(in.pem))
		if err == nil || !strings.Contains(err.Error(), in.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsReadWell(t *testing.T) {
	err := &sshx.Error{Op: "ssh root@h:22", Kind: sshx.ErrAuth}
	if got := err.Error(); got != "ssh root@h:22: login refused" {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(err.Unwrap(), []error{sshx.ErrAuth}) {
		t.Errorf("unwraps to %v", err.Unwrap())
	}
}
