// Package machines makes instances of machines that the configuration declares:
// those of platforms that have no interface to list or stop them, and of people's
// own. What a platform would tell (price, billing, what a stop keeps) the
// declaration tells; what it does not tell is unknown.
//
// In this version a declared machine is the one that curfew itself runs in. Its
// power cycle is read from /proc, and it is stopped by a command that is declared
// with it.
package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// ReasonNoStop says why a machine cannot be stopped.
const ReasonNoStop fleet.Code = "provider.machines-no-stop"

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
		Capabilities: []providers.Capability{providers.CanStop},
		BillingProof: providers.ProofNone,
		SettleTime:   settleTime,
		Open: func(o providers.Options) (providers.Provider, error) {
			if len(o.Machines) == 0 {
				return nil, errors.New("no machine is declared; write machines: [{name: NAME, host: local}]")
			}
			return &Machines{declared: slices.Clone(o.Machines), proc: proc}, nil
		},
	}
}

// Machines are the machines of one entry of the configuration.
type Machines struct {
	declared []providers.Machine
	proc     string
}

var (
	_ providers.Provider = (*Machines)(nil)
	_ providers.Stopper  = (*Machines)(nil)
)

// Scopes is one scope: the declaration is always whole.
func (m *Machines) Scopes() []fleet.Scope { return []fleet.Scope{{}} }

// Identity is empty: nobody but the configuration knows them.
func (m *Machines) Identity(context.Context) (string, error) { return "", nil }

// Instances gives every declared machine, or fails where one cannot be read.
func (m *Machines) Instances(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
	if s.Region != "" {
		return nil, &fleet.Error{Op: "machines: list " + s.Region, Kind: fleet.Invalid, Err: errors.New("declared machines have no region")}
	}
	is := make([]fleet.Instance, 0, len(m.declared))
	for _, d := range m.declared {
		i, err := m.read(ctx, d)
		if err != nil {
			return nil, err
		}
		is = append(is, i)
	}
	return is, nil
}

// Instance reads one declared machine.
func (m *Machines) Instance(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
	d, err := m.find("read", ref)
	if err != nil {
		return fleet.Instance{}, err
	}
	return m.read(ctx, d)
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

func (m *Machines) read(ctx context.Context, d providers.Machine) (fleet.Instance, error) {
	op := "machines: read " + d.Name
	if err := ctx.Err(); err != nil {
		return fleet.Instance{}, &fleet.Error{Op: op, Kind: fleet.Transient, Err: err}
	}
	if !d.Here {
		return fleet.Instance{}, &fleet.Error{Op: op, Kind: fleet.Unsupported, Err: errors.New("it is not the machine curfew runs in")}
	}
	c, err := readCycle(m.proc)
	if err != nil {
		return fleet.Instance{}, &fleet.Error{Op: op, Kind: fleet.Other, Err: fmt.Errorf("when it was started cannot be told: %w", err)}
	}
	i := fleet.Instance{
		Ref:  fleet.Ref{Kind: fleet.KindInstance, ID: d.Name},
		Boot: c.boot, Name: d.Name, Labels: maps.Clone(d.Labels),
		State: fleet.StateRunning, // we are in it
		Here:  true, Charge: d.Charge, Price: d.Price, OnStop: d.OnStop, StartedAt: c.startedAt,
		ReleasesAt: d.ReleasesAt,
	}
	if d.Stop == "" {
		i.Cannot = []fleet.Inability{{Action: fleet.Stop, Why: fleet.Because(ReasonNoStop, nil)}}
	}
	return i, nil
}
