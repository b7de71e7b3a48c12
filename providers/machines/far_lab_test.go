package machines_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"curfew/fleet"
	"curfew/internal/sshx/sshdtest"
	"curfew/providers"
	"curfew/providers/machines"
)

// lab is a room of machines: each is a port of one real SSH server, with a network
// in between that fails as it is told, and a clock that stands unless it is moved.
type lab struct {
	t       *testing.T
	box     *sshdtest.Server
	proxies map[string]*sshdtest.Proxy
	account providers.Account
	now     time.Time
	reads   int

	lost string // packets to addresses that begin so are lost

	mu    sync.Mutex
	fails map[string]error // by address
}

// newLab declares machines of these names. change may change a declaration, and
// what the adapter is opened with.
func newLab(t *testing.T, change func(o *providers.Options), names ...string) *lab {
	t.Helper()
	l := &lab{
		t: t, box: sshdtest.Start(t, sshdtest.Options{}), proxies: map[string]*sshdtest.Proxy{},
		now: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC), fails: map[string]error{},
	}
	o := providers.Options{Account: "own", Now: func() time.Time { return l.now }}
	for _, name := range names {
		p := sshdtest.NewProxy(t, l.box.Access())
		l.proxies[name] = p
		o.Machines = append(o.Machines, providers.Machine{
			Name: name, Host: p.Host, Port: p.Port, User: l.box.User, Key: string(l.box.KeyPEM),
			Charge: fleet.Charge{Type: fleet.ChargeOnDemand}, GPU: fleet.GPU{Model: "RTX 4090", Count: 8},
		})
	}
	if change != nil {
		change(&o)
	}
	kind := machines.Kind()
	m, err := kind.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	machines.SetDial(m, l.dial)
	l.account = providers.Collect("own", kind, m).With(providers.Timeout(30*time.Second, 30*time.Second), providers.Stamp("machines:own"))
	t.Cleanup(func() {
		if err := l.account.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	err := l.fails[address]
	l.mu.Unlock()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if l.lost != "" && strings.HasPrefix(address, l.lost) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (l *lab) address(name string) string {
	p := l.proxies[name]
	if p == nil {
		return name
	}
	return fmt.Sprintf("%s:%d", p.Host, p.Port)
}

// fail cuts a machine or an address off from now on; nil lets it be there again.
func (l *lab) fail(name string, err error) {
	l.t.Helper()
	l.mu.Lock()
	l.fails[l.address(name)] = err
	l.mu.Unlock()
	if p := l.proxies[name]; p != nil && err != nil {
		p.Break()
	}
}

// list reads all machines, by name.
func (l *lab) list() map[string]fleet.Instance {
	l.t.Helper()
	is, err := l.account.Instances(l.t.Context(), l.account.Scopes[0])
	if err != nil || len(is) == 0 {
		l.t.Fatalf("listed %d, %v", len(is), err)
	}
	out := map[string]fleet.Instance{}
	for _, i := range is {
		out[i.Ref.ID] = i
	}
	return out
}

// read reads one machine, some time after what was before: one time by a list, the
// next by itself.
func (l *lab) read(after time.Duration, name string) fleet.Instance {
	l.t.Helper()
	l.now = l.now.Add(after)
	if l.reads++; l.reads%2 == 0 {
		return l.list()[name]
	}
	i, err := l.account.Instance(l.t.Context(), fleet.Ref{Account: "machines:own", Kind: fleet.KindInstance, ID: name})
	if err != nil {
		l.t.Fatal(err)
	}
	return i
}

// want reads one machine and compares its state, and why that is unknown.
func (l *lab) want(after time.Duration, name string, state fleet.State, why fleet.Code) fleet.Instance {
	l.t.Helper()
	i := l.read(after, name)
	if i.State != state || i.Unclear.Code != why {
		l.t.Fatalf("%s after %s: %s is %s (%s) %v; want %s %q", l.now.Format(time.TimeOnly), after, name, i.State, i.RawState, i.Unclear, state, why)
	}
	return i
}

func (l *lab) running(name string) fleet.Instance {
	l.t.Helper()
	return l.want(time.Minute, name, fleet.StateRunning, "")
}

// otherKey is a private key that nobody lets in.
func otherKey(t *testing.T) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}
