// Package machines makes instances of machines that the configuration declares:
// those of platforms that have no interface to list or stop them, and of people's
// own. What a platform would tell (price, billing, what a stop keeps) the
// declaration tells; what it does not tell is unknown.
//
// One of them may be the machine that curfew itself runs in: its power cycle is
// read from /proc. All others are reached over SSH, and show what they do by what
// answers:
//
//	a login, and /proc of process 1 ─► running, in the Boot that process 1 tells
//	nothing at the port, for a       ─► stopped, in the Boot it was last seen in
//	minute at least, while another
//	host of the same route answers
//	anything else                    ─► unknown, with the reason
//
// A declared machine is always listed, whatever can be read of it.
//
// Each machine has one connection, kept from read to read, over which one small
// command is run. Its host key is pinned for as long as the adapter lives: an
// address that platforms hand to one box after the other, and that a stranger now
// has, is unknown and is sent nothing. This adapter keeps what it needs for that in
// memory, and asks machines side by side, which others leave to their platform.
package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"curfew/fleet"
	"curfew/internal/sshx"
	"curfew/providers"
)

// Why an act cannot be done to a machine.
const (
	ReasonNoStop  fleet.Code = "provider.machines-no-stop"
	ReasonNoStart fleet.Code = "provider.machines-no-start"
)

// settleTime is how long a power-off may take after its command has ended well:
// a plain shutdown waits a minute.
const settleTime = 90 * time.Second

// Kind describes declared machines.
func Kind() providers.Kind { return KindAt("/proc") }

// KindAt is [Kind] with another root than /proc, for tests: a test cannot end its
// own power cycle.
func KindAt(proc string) providers.Kind {
	return providers.Kind{
		Name:         "machines",
		Title:        "machines",
		Capabilities: []providers.Capability{providers.CanStop, providers.CanStart, providers.CanAccess},
		BillingProof: providers.ProofNone,
		SettleTime:   settleTime,
		Open: func(o providers.Options) (providers.Provider, error) {
			m, err := open(o, proc)
			if err != nil {
				return nil, err
			}
			return m, nil
		},
	}
}

// Machines are the machines of one entry of the configuration.
type Machines struct {
	declared []providers.Machine
	proc     string
	far      map[string]*far // those that are elsewhere, by name
	check    string          // an address that answers whenever the route works; empty: none
	now      func() time.Time
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	pins     sshx.Pins
	logins   chan struct{} // places for logins going on
	witness  witness
	closed   atomic.Bool
}

var (
	_ providers.Provider = (*Machines)(nil)
	_ providers.Stopper  = (*Machines)(nil)
	_ providers.Starter  = (*Machines)(nil)
	_ providers.Access   = (*Machines)(nil)
)

func open(o providers.Options, proc string) (*Machines, error) {
	if len(o.Machines) == 0 {
		return nil, errors.New("no machine is declared; write machines: [{name: NAME, host: ADDRESS, key: {file: PATH}}]")
	}
	m := &Machines{
		declared: slices.Clone(o.Machines), proc: proc, far: map[string]*far{}, check: o.RouteCheck, now: o.Now,
		dial: new(net.Dialer).DialContext, pins: sshx.NewMemoryPins(), logins: make(chan struct{}, loginsAtOnce),
		witness: witness{asking: make(chan struct{}, 1)},
	}
	for _, d := range m.declared {
		if d.Here {
			continue
		}
		if d.Host == "" || d.Key == "" && d.Password == "" || o.Now == nil {
			return nil, fmt.Errorf("machine %s: an address, a key or a password, and a clock are needed to log in", d.Name)
		}
		if d.Key != "" {
			if _, err := sshx.ParseKey([]byte(d.Key)); err != nil {
				return nil, fmt.Errorf("machine %s: %w", d.Name, err)
			}
		}
		m.far[d.Name] = newFar(d)
	}
	return m, nil
}

// Close ends every connection. One that is in use ends with its use.
func (m *Machines) Close() error {
	m.closed.Store(true)
	for _, f := range m.far {
		select {
		case f.turn <- struct{}{}:
			m.giveBack(f)
		default: // whoever has it gives it back
		}
	}
	return nil
}

// Scopes is one scope: the declaration is always whole.
func (m *Machines) Scopes() []fleet.Scope { return []fleet.Scope{{}} }

// Identity is empty: nobody but the configuration knows them.
func (m *Machines) Identity(context.Context) (string, error) { return "", nil }

// Instance reads one declared machine.
func (m *Machines) Instance(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
	d, err := m.find("read", ref)
	if err != nil {
		return fleet.Instance{}, err
	}
	return m.read(ctx, ctx, d)
}

// Access gives what the configuration declares.
func (m *Machines) Access(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
	d, err := m.find("access", i.Ref)
	if err == nil {
		err = ended("access "+d.Name, ctx)
	}
	switch {
	case err != nil:
		return fleet.Access{}, err
	case d.Here:
		return fleet.Access{}, &fleet.Error{Op: "machines: access " + d.Name, Kind: fleet.Unsupported, Err: errors.New("it is the machine curfew runs in")}
	}
	return access(d), nil
}

func access(d providers.Machine) fleet.Access {
	return fleet.Access{Host: d.Host, Port: d.Port, User: d.User, Key: d.Key, Password: d.Password, Declared: true}
}

func (m *Machines) find(verb string, ref fleet.Ref) (providers.Machine, error) {
	n := slices.IndexFunc(m.declared, func(d providers.Machine) bool { return d.Name == ref.ID })
	if n < 0 || ref.Kind != fleet.KindInstance || ref.Incarnation != "" {
		return providers.Machine{}, &fleet.Error{
			Op: "machines: " + verb + " " + ref.ID, Kind: fleet.NotFound, Err: errors.New("it is not declared in the configuration"),
		}
	}
	return m.declared[n], nil
}

// ended gives an error where the context has ended.
func ended(what string, ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &fleet.Error{Op: "machines: " + what, Kind: fleet.Transient, Err: err}
	}
	return nil
}

// read reads one machine. within bounds what a machine elsewhere may take, and is
// no failure of the read when it ends; ctx is the caller's.
func (m *Machines) read(ctx, within context.Context, d providers.Machine) (fleet.Instance, error) {
	if err := ended("read "+d.Name, ctx); err != nil {
		return fleet.Instance{}, err
	}
	if d.Here {
		c, err := readCycle(m.proc)
		if err != nil {
			return fleet.Instance{}, &fleet.Error{Op: "machines: read " + d.Name, Kind: fleet.Other, Err: fmt.Errorf("when it was started cannot be told: %w", err)}
		}
		return instance(d, finding{state: fleet.StateRunning, word: "here", cycle: c}), nil // we are in it
	}
	found := m.look(within, m.far[d.Name])
	if err := ended("read "+d.Name, ctx); err != nil {
		return fleet.Instance{}, err
	}
	return instance(d, found), nil
}

func instance(d providers.Machine, f finding) fleet.Instance {
	i := fleet.Instance{
		Ref:  ref(d),
		Boot: f.cycle.boot, Name: d.Name, Labels: maps.Clone(d.Labels), State: f.state, RawState: f.word, Unclear: f.why,
		Here: d.Here, Charge: d.Charge, GPU: d.GPU, Price: d.Price, OnStop: d.OnStop,
		StartedAt: f.cycle.startedAt, StoppedAt: f.stoppedAt, ReleasesAt: d.ReleasesAt,
	}
	if d.Stop == "" {
		i.Cannot = append(i.Cannot, fleet.Inability{Action: fleet.Stop, Why: fleet.Because(ReasonNoStop, nil)})
	}
	if d.Start == "" {
		i.Cannot = append(i.Cannot, fleet.Inability{Action: fleet.Start, Why: fleet.Because(ReasonNoStart, nil)})
	}
	return i
}

func ref(d providers.Machine) fleet.Ref { return fleet.Ref{Kind: fleet.KindInstance, ID: d.Name} }
