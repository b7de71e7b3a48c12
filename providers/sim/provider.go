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

// ReasonAtZero says what the simulated cloud does when nothing is left, which its world
// decides ([Ways.ForceStop]).
const ReasonAtZero fleet.Code = "provider.sim-at-zero"

// Kind describes the simulated cloud. Its SettleTime holds for clouds whose
// SettleLag is below it, and its BillLag, with the started hour that is settled at its
// end, for those whose BillLag is an hour at most.
func Kind() providers.Kind {
	return providers.Kind{
		Name:       "sim",
		Title:      "simulated cloud",
		DefaultURL: "sim:",
		Capabilities: []providers.Capability{
			providers.CanStop, providers.CanStart, providers.CanRelease,
			providers.CanAccess, providers.CanWallet, providers.CanBills,
			providers.CanDisks, providers.CanSnapshots, providers.CanImages, providers.CanPublicIPs,
			providers.CanDeleteDisk, providers.CanDeleteSnapshot, providers.CanDeleteImage, providers.CanDeletePublicIP,
			providers.CanSaveImage, providers.CanStock, providers.CanOrder,
		},
		BillingProof: providers.ProofState,
		SettleTime:   20 * time.Second,
		BillLag:      2 * time.Hour,
		Floor:        time.Second,
		StockFloor:   time.Second,
		AtZero:       ReasonAtZero,
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
	_ providers.Provider = (*provider)(nil)
	_ providers.Stopper  = (*provider)(nil)
	_ providers.Starter  = (*provider)(nil)
	_ providers.Releaser = (*provider)(nil)
	_ providers.Access   = (*provider)(nil)
	_ providers.Wallet   = (*provider)(nil)
	_ providers.Bills    = (*provider)(nil)
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
	_, err := p.write(ctx, "stop", i.Ref, o.Token, p.toMachine(i.Ref, p.cloud.stop))
	return err
}

// Start powers on.
func (p *provider) Start(ctx context.Context, i fleet.Instance, o providers.StartOptions) error {
	if o.NoGPU {
		return &fleet.Error{Op: "sim: start " + i.Ref.ID, Kind: fleet.Unsupported, Err: errors.New("this platform cannot boot without cards")}
	}
	_, err := p.write(ctx, "start", i.Ref, o.Token, p.toMachine(i.Ref, p.cloud.start))
	return err
}

// Release gives it back.
func (p *provider) Release(ctx context.Context, i fleet.Instance, o providers.ReleaseOptions) error {
	_, err := p.write(ctx, "release", i.Ref, o.Token, p.toMachine(i.Ref, func(m *machine, now time.Time) (fleet.ErrorKind, string) {
		return p.cloud.release(m, now, o)
	}))
	return err
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

// Balance reads the wallet.
func (p *provider) Balance(ctx context.Context) (fleet.Wallet, error) {
	var w fleet.Wallet
	err := p.read(ctx, "balance", fleet.Ref{}, func(_ *Fault, now time.Time) error {
		w = p.cloud.wallet(p.account, now)
		return nil
	})
	return w, err
}
