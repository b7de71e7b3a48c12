package sim

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

const opOrder = "order"

var (
	_ providers.Stock   = (*provider)(nil)
	_ providers.Orderer = (*provider)(nil)
)

// placed is an order that took effect, by its token.
type placed struct {
	terms string
	ref   fleet.Ref
}

// Offers shows the account's part of the market, sold out or not.
func (p *provider) Offers(ctx context.Context, q fleet.OfferQuery) ([]fleet.Offer, error) {
	var out []fleet.Offer
	err := p.read(ctx, "offers", fleet.Ref{}, func(f *Fault, now time.Time) error {
		if until := p.cloud.haste(p.account, now); now.Before(until) {
			return &fleet.Error{Op: "sim: offers", Kind: fleet.Banned, RetryAfter: until.Sub(now), Err: errors.New("stock was asked for too often")}
		}
		regions, err := q.RegionsOf(p.sellsIn())
		if err != nil {
			return &fleet.Error{Op: "sim: offers", Kind: fleet.Invalid, Err: err}
		}
		for _, g := range p.cloud.market {
			if g.account == p.account && slices.Contains(regions, g.Region) {
				out = append(out, p.cloud.offered(g, now, p.prices))
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

// sellsIn gives the account's regions; those of what is sold to it where it has none.
func (p *provider) sellsIn() []string {
	if len(p.regions) > 0 {
		return p.regions
	}
	var out []string
	for _, g := range p.cloud.market {
		if g.account == p.account && !slices.Contains(out, g.Region) {
			out = append(out, g.Region)
		}
	}
	return out
}

// haste is until when an account is banned for its haste, as of now.
func (c *Cloud) haste(a *account, now time.Time) time.Time {
	if now.Before(a.bannedUntil) {
		return a.bannedUntil
	}
	if floor := max(c.timing.StockFloor, 0); !a.asked.IsZero() && now.Sub(a.asked) < floor {
		a.bannedUntil = now.Add(or(c.timing.StockBan, time.Hour))
	}
	a.asked = now
	return a.bannedUntil
}

// Order makes an instance. A token stands for one order for ever; where the cloud
// ignores tokens, the name is looked for among what can be read, as an adapter would.
func (p *provider) Order(ctx context.Context, spec fleet.OrderSpec) (fleet.Ref, error) {
	if err := spec.Check(); err != nil {
		return fleet.Ref{}, &fleet.Error{Op: "sim: order " + spec.Name, Kind: fleet.Invalid, Err: err}
	}
	spec.Labels = maps.Clone(spec.Labels)
	e, err := p.write(ctx, opOrder, fleet.Ref{}, spec.Token, func(now time.Time, f *Fault) (Effect, fleet.ErrorKind, string) {
		ref, refused, why := p.place(spec, now, f)
		return Effect{Ref: ref, Made: ref}, refused, why
	})
	if err != nil {
		return fleet.Ref{}, err
	}
	if e.Made.IsZero() {
		// Accepted and forgotten: the answer names an instance that never comes.
		return fleet.Ref{Kind: fleet.KindInstance, ID: "sim-none-" + spec.Name}, nil
	}
	return e.Made, nil
}

// place makes the instance, or gives the one that the same order made.
func (p *provider) place(spec fleet.OrderSpec, now time.Time, f *Fault) (fleet.Ref, fleet.ErrorKind, string) {
	c, terms := p.cloud, fmt.Sprintf("%q", []any{spec.Offer.SKU, spec.Name, spec.Image, spec.DiskGB, spec.SSHKey, spec.Command, spec.Labels})
	if before, ok := p.account.placed[spec.Token]; ok && !c.ways.IgnoresTokens {
		if before.terms != terms {
			return fleet.Ref{}, fleet.Invalid, "the token belongs to another order"
		}
		return before.ref, "", ""
	}
	if m := p.named(spec.Name, now); m != nil && c.ways.IgnoresTokens {
		return c.ref(m), "", ""
	}
	g := c.good(spec.Offer.SKU)
	switch {
	case g == nil || g.account != p.account:
		return fleet.Ref{}, fleet.Invalid, "nothing is sold by that name"
	case p.account.Quota > 0 && c.held(p.account, now) >= p.account.Quota:
		return fleet.Ref{}, fleet.Invalid, fmt.Sprintf("the account may hold %d instances and no more", p.account.Quota)
	case c.ways.ForceStop && c.left(p.account, now).Micros <= 0:
		return fleet.Ref{}, fleet.Invalid, "the account has no money left"
	case g.Lies || c.leftOf(g, now) == 0:
		return fleet.Ref{}, fleet.OutOfStock, "no card of this kind is free"
	}
	m, err := c.add(p.bought(g, spec, now, f), now)
	if err != nil {
		return fleet.Ref{}, fleet.Invalid, err.Error()
	}
	m.ordered = true
	m.moments = []moment{{now, fleet.StateCreating}, {now.Add(c.bootTime(m)), fleet.StateRunning}}
	g.orders = append(g.orders, now)
	p.account.placed[spec.Token] = placed{terms: terms, ref: c.ref(m)}
	return c.ref(m), "", ""
}

// bought is the instance that an order makes.
func (p *provider) bought(g *good, spec fleet.OrderSpec, now time.Time, f *Fault) Spec {
	price := g.priceAt(now)
	if f != nil && f.Kind == PriceRise {
		price.Micros *= 2
	}
	return Spec{
		ID: p.cloud.newID(), Account: p.account.Name, Name: spec.Name, Region: g.Region, Labels: spec.Labels, GPU: g.GPU,
		Image: spec.Image, State: fleet.StateCreating, Price: price, Billing: g.Billing, HidesPrice: g.HidesPrice,
		Charge: g.Charge, BootTime: g.BootTime,
	}
}

// named is the instance of that name which can be read now.
func (p *provider) named(name string, now time.Time) *machine {
	for _, m := range p.cloud.machines {
		if m.account != p.account {
			continue
		}
		if i, ok := p.cloud.shown(m, now, nil); ok && i.Name == name && i.State != fleet.StateReleased {
			return m
		}
	}
	return nil
}

// held is how many instances of the account there are.
func (c *Cloud) held(a *account, now time.Time) int {
	n := 0
	for _, m := range c.machines {
		if m.account == a && m.stateAt(now) != fleet.StateReleased {
			n++
		}
	}
	return n
}

func (c *Cloud) newID() string {
	for n := len(c.machines) + 1; ; n++ {
		if id := fmt.Sprintf("sim-%04d", n); c.find(id) == nil {
			return id
		}
	}
}
