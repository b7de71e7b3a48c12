package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// Kind describes the simulated cloud. Its SettleTime holds for clouds whose
// SettleLag is below it.
func Kind() providers.Kind {
	return providers.Kind{
		Name:       "sim",
		Title:      "simulated cloud",
		DefaultURL: "sim:",
		Capabilities: []providers.Capability{
			providers.CanStop, providers.CanStart, providers.CanRelease,
			providers.CanAccess, providers.CanDisks, providers.CanWallet,
		},
		BillingProof: providers.ProofState,
		SettleTime:   20 * time.Second,
		Floor:        time.Second,
		Open:         open,
	}
}

func open(o providers.Options) (providers.Provider, error) {
	c, ok := o.World.(*Cloud)
	if !ok || c == nil {
		return nil, fmt.Errorf("sim: account %s: the simulated cloud is not there; give a world file", o.Account)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.accounts[o.Account]
	if a == nil {
		var known []string
		for name := range c.accounts {
			known = append(known, name)
		}
		slices.Sort(known)
		return nil, fmt.Errorf("sim: the simulated cloud has no account %s; it has %s", o.Account, strings.Join(known, ", "))
	}
	p := &provider{cloud: c, account: a, regions: a.Regions, prices: o.Prices}
	if len(o.Regions) > 0 && !slices.Equal(o.Regions, []string{"all"}) {
		p.regions = o.Regions
		for _, r := range o.Regions {
			if !slices.Contains(a.Regions, r) {
				return nil, fmt.Errorf("sim: account %s has no region %s; it has %s", o.Account, r, strings.Join(a.Regions, ", "))
			}
		}
	}
	return p, nil
}

// provider is one account's view of the cloud.
type provider struct {
	cloud   *Cloud
	account *account
	regions []string
	prices  map[string]fleet.Money
}

var (
	_ providers.Provider   = (*provider)(nil)
	_ providers.Stopper    = (*provider)(nil)
	_ providers.Starter    = (*provider)(nil)
	_ providers.Releaser   = (*provider)(nil)
	_ providers.Access     = (*provider)(nil)
	_ providers.DiskLister = (*provider)(nil)
	_ providers.Wallet     = (*provider)(nil)
)

// Scopes gives one scope for each region.
func (p *provider) Scopes() []fleet.Scope {
	if len(p.regions) == 0 {
		return []fleet.Scope{{Account: p.account.Name}}
	}
	var ss []fleet.Scope
	for _, r := range p.regions {
		ss = append(ss, fleet.Scope{Account: p.account.Name, Region: r})
	}
	return ss
}

// Identity gives the account's identity.
func (p *provider) Identity(ctx context.Context) (string, error) {
	var id string
	err := p.read(ctx, "identity", fleet.Ref{}, func(*Fault, time.Time) error {
		id = p.account.Identity
		return nil
	})
	return id, err
}

// Instances lists one scope.
func (p *provider) Instances(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
	var out []fleet.Instance
	err := p.read(ctx, "instances", fleet.Ref{}, func(f *Fault, now time.Time) error {
		for _, m := range p.cloud.machines {
			if m.account != p.account || s.Region != "" && m.spec.Region != s.Region {
				continue
			}
			if i, ok := p.cloud.shown(m, now, p.prices); ok {
				out = append(out, i)
			}
		}
		out = shorten(f, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Instance reads one.
func (p *provider) Instance(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
	var out fleet.Instance
	err := p.read(ctx, "instance", ref, func(_ *Fault, now time.Time) error {
		if m := p.find(ref); m != nil {
			if i, ok := p.cloud.shown(m, now, p.prices); ok {
				out = i
				return nil
			}
		}
		return &fleet.Error{Op: "sim: read " + ref.ID, Kind: fleet.NotFound}
	})
	return out, err
}

// Stop ends the power cycle.
func (p *provider) Stop(ctx context.Context, i fleet.Instance, o providers.StopOptions) error {
	return p.write(ctx, "stop", i.Ref, o.Token, p.cloud.stop)
}

// Start powers on.
func (p *provider) Start(ctx context.Context, i fleet.Instance, o providers.StartOptions) error {
	if o.NoGPU {
		return &fleet.Error{Op: "sim: start " + i.Ref.ID, Kind: fleet.Unsupported, Err: errors.New("this platform cannot boot without cards")}
	}
	return p.write(ctx, "start", i.Ref, o.Token, p.cloud.start)
}

// Release gives it back.
func (p *provider) Release(ctx context.Context, i fleet.Instance, o providers.ReleaseOptions) error {
	return p.write(ctx, "release", i.Ref, o.Token, func(m *machine, now time.Time) (fleet.ErrorKind, string) {
		return p.cloud.release(m, now, o.WithDisks)
	})
}

// Access gives a placeholder on the loopback: nothing listens there.
func (p *provider) Access(ctx context.Context, i fleet.Instance) (fleet.Access, error) {
	var out fleet.Access
	err := p.read(ctx, "access", i.Ref, func(_ *Fault, now time.Time) error {
		m := p.find(i.Ref)
		if m == nil || m.stateAt(now) != fleet.StateRunning {
			return &fleet.Error{Op: "sim: access " + i.Ref.ID, Kind: fleet.NotFound, Err: errors.New("it is not running")}
		}
		out = fleet.Access{Host: "127.0.0.1", Port: 22, User: "root"}
		return nil
	})
	return out, err
}

// Disks lists one scope's disks.
func (p *provider) Disks(ctx context.Context, s fleet.Scope) ([]fleet.Disk, error) {
	var out []fleet.Disk
	err := p.read(ctx, "disks", fleet.Ref{}, func(f *Fault, _ time.Time) error {
		for _, d := range p.cloud.disks {
			if d.account != p.account || s.Region != "" && d.spec.Region != s.Region || !d.deletedAt.IsZero() {
				continue
			}
			got := fleet.Disk{
				Ref:  fleet.Ref{Kind: fleet.KindDisk, ID: d.spec.ID},
				Name: d.spec.Name, Region: d.spec.Region, SizeGB: d.spec.SizeGB, CreatedAt: d.added,
				Price: fleet.Price{PerHour: d.spec.Price, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
			}
			if m := p.cloud.find(d.spec.AttachedTo); m != nil {
				got.AttachedTo = p.cloud.ref(m)
			}
			out = append(out, got)
		}
		out = shorten(f, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Balance reads the wallet.
func (p *provider) Balance(ctx context.Context) (fleet.Wallet, error) {
	var w fleet.Wallet
	err := p.read(ctx, "balance", fleet.Ref{}, func(_ *Fault, now time.Time) error {
		w = p.cloud.wallet(p.account, now)
		return nil
	})
	return w, err
}

func shorten[T any](f *Fault, list []T) []T {
	switch {
	case f == nil || len(list) == 0:
	case f.Kind == EmptyList:
		return nil
	case f.Kind == ShortList:
		return list[:len(list)-1]
	}
	return list
}

func (p *provider) find(ref fleet.Ref) *machine {
	m := p.cloud.find(ref.ID)
	if m == nil || m.account != p.account || m.removed || p.cloud.ways.Incarnations && m.incarnation != ref.Incarnation {
		return nil
	}
	return m
}

func what(op string, ref fleet.Ref) string { return strings.TrimSpace("sim: " + op + " " + ref.ID) }

func (p *provider) read(ctx context.Context, op string, ref fleet.Ref, answer func(*Fault, time.Time) error) error {
	call, f, err := p.begin(ctx, op, ref)
	if err == nil && f != nil {
		err, _ = f.answer(ctx, what(op, ref), false)
	}
	if err == nil {
		p.cloud.mu.Lock()
		err = answer(f, p.cloud.tick())
		p.cloud.mu.Unlock()
	}
	p.cloud.end(call, err)
	return err
}

func (p *provider) write(ctx context.Context, op string, ref fleet.Ref, token string, apply func(*machine, time.Time) (fleet.ErrorKind, string)) error {
	call, f, err := p.begin(ctx, op, ref)
	if err == nil {
		err = p.send(ctx, f, op, ref, token, apply)
	}
	p.cloud.end(call, err)
	return err
}

func (p *provider) send(ctx context.Context, f *Fault, op string, ref fleet.Ref, token string, apply func(*machine, time.Time) (fleet.ErrorKind, string)) error {
	c := p.cloud
	if err := c.hook(op, ref, BeforeSend); err != nil {
		return err
	}
	if f != nil {
		err, effect := f.answer(ctx, what(op, ref), true)
		if !effect {
			return err
		}
		if refused := p.effect(op, ref, token, apply); refused != nil {
			return err
		}
		if hooked := c.hook(op, ref, AfterEffect); hooked != nil {
			return hooked
		}
		return err
	}
	// The daemon may have given up while the request was under way.
	if ctx.Err() != nil {
		return &fleet.Error{Op: what(op, ref), Kind: fleet.OutcomeUnknown, Err: ctx.Err()}
	}
	if err := p.effect(op, ref, token, apply); err != nil {
		return err
	}
	return c.hook(op, ref, AfterEffect)
}

func (p *provider) effect(op string, ref fleet.Ref, token string, apply func(*machine, time.Time) (fleet.ErrorKind, string)) error {
	c := p.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	m := p.find(ref)
	if m == nil {
		return &fleet.Error{Op: what(op, ref), Kind: fleet.NotFound}
	}
	if kind, why := apply(m, now); kind != "" {
		return &fleet.Error{Op: what(op, ref), Kind: kind, Err: errors.New(why)}
	}
	c.effects = append(c.effects, Effect{At: now, Account: p.account.Name, Op: op, Ref: c.ref(m), By: ByAPI, Token: token})
	return nil
}

func (c *Cloud) hook(op string, ref fleet.Ref, phase Phase) error {
	c.mu.Lock()
	hook := c.onWrite
	c.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(op, ref, phase)
}

// begin records the call and finds the fault it meets.
func (p *provider) begin(ctx context.Context, op string, ref fleet.Ref) (call int, f *Fault, err error) {
	c := p.cloud
	c.mu.Lock()
	c.calls = append(c.calls, Call{At: c.tick(), Account: p.account.Name, Op: op, ID: ref.ID})
	call = len(c.calls) - 1
	if err = ctx.Err(); err != nil {
		err = &fleet.Error{Op: what(op, ref), Kind: fleet.Transient, Err: err}
	} else {
		f = c.fault(p.account.Name, op, ref)
	}
	c.mu.Unlock()
	if f != nil && f.Reached != nil {
		f.Reached()
	}
	return call, f, err
}

func (c *Cloud) end(call int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call].Err = err
}
