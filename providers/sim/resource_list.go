package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

var (
	_ providers.DiskLister      = (*provider)(nil)
	_ providers.SnapshotLister  = (*provider)(nil)
	_ providers.ImageLister     = (*provider)(nil)
	_ providers.PublicIPLister  = (*provider)(nil)
	_ providers.DiskDeleter     = (*provider)(nil)
	_ providers.SnapshotDeleter = (*provider)(nil)
	_ providers.ImageDeleter    = (*provider)(nil)
	_ providers.PublicIPDeleter = (*provider)(nil)
)

// Disks lists one scope's disks.
func (p *provider) Disks(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
	return p.resources(ctx, fleet.KindDisk, s)
}

// Snapshots lists one scope's snapshots.
func (p *provider) Snapshots(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
	return p.resources(ctx, fleet.KindSnapshot, s)
}

// Images lists one scope's images.
func (p *provider) Images(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
	return p.resources(ctx, fleet.KindImage, s)
}

// PublicIPs lists one scope's public addresses.
func (p *provider) PublicIPs(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
	return p.resources(ctx, fleet.KindPublicIP, s)
}

// DeleteDisk deletes a disk.
func (p *provider) DeleteDisk(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
	return p.deleteResource(ctx, fleet.KindDisk, r, o)
}

// DeleteSnapshot deletes a snapshot.
func (p *provider) DeleteSnapshot(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
	return p.deleteResource(ctx, fleet.KindSnapshot, r, o)
}

// DeleteImage deletes an image.
func (p *provider) DeleteImage(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
	return p.deleteResource(ctx, fleet.KindImage, r, o)
}

// DeletePublicIP gives an address back.
func (p *provider) DeletePublicIP(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
	return p.deleteResource(ctx, fleet.KindPublicIP, r, o)
}

func (p *provider) resources(ctx context.Context, kind fleet.ThingKind, s fleet.Scope) ([]fleet.Resource, error) {
	var out []fleet.Resource
	err := p.read(ctx, string(kind)+"s", fleet.Ref{}, func(f *Fault, now time.Time) error {
		for _, r := range p.cloud.resources {
			if r.kind != kind || r.account != p.account || s.Region != "" && r.spec.Region != s.Region {
				continue
			}
			if got, ok := p.cloud.shownResource(r, now); ok {
				out = append(out, got)
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

func (p *provider) deleteResource(ctx context.Context, kind fleet.ThingKind, thing fleet.Resource, o providers.DeleteOptions) error {
	_, err := p.write(ctx, "delete-"+string(kind), thing.Ref, o.Token, func(now time.Time, _ *Fault) (Effect, fleet.ErrorKind, string) {
		r := p.cloud.findResource(kind, thing.Ref.ID)
		if r == nil || r.account != p.account {
			return Effect{}, fleet.NotFound, "there is no such " + string(kind)
		}
		refused, why := p.cloud.deleteResource(r, now)
		return Effect{Ref: r.ref()}, refused, why
	})
	return err
}

// shownResource is a resource as lists give it, and whether they give it at all.
func (c *Cloud) shownResource(r *resource, now time.Time) (fleet.Resource, bool) {
	view := now.Add(-max(c.timing.SettleLag, 0))
	if view.Before(r.added) {
		if r.saved != nil {
			return fleet.Resource{}, false
		}
		view = r.added.Add(-1) // as it was added, whatever was written in that very moment
	}
	if !r.there(view) {
		return fleet.Resource{}, false
	}
	s, h := r.spec, r.hop(view)
	out := fleet.Resource{
		Ref: r.ref(), Name: s.Name, Labels: maps.Clone(s.Labels), Owner: s.Owner, Region: s.Region,
		Charge: fleet.Charge{Type: s.Charge}, Price: r.price(h), SizeGB: s.SizeGB,
		Protected: s.Protected, Shared: s.Shared.tri(fleet.No),
		Source: c.source(r), UsedBy: c.usedBy(r, view), WithInstance: r.withInstance(), System: s.System,
		CreatedAt: r.created, Unread: slices.Clone(s.Unread),
	}
	if out.Name == "" {
		out.Name = s.Address
	}
	if s.Charge == fleet.ChargePeriod {
		out.Charge.End = r.added.Add(s.EndsIn)
	}
	switch {
	case !r.deleting.IsZero() && !r.deleting.After(view):
		out.RawState = "deleting"
	case !r.readyBy(view):
		out.RawState = "creating"
	case h.to != nil:
		out.Ready, out.RawState = true, "in-use"
	default:
		out.Ready, out.RawState = true, "available"
	}
	if h.to != nil {
		out.AttachedTo = c.ref(h.to)
	} else if h.told && !c.ways.HidesDetached {
		out.DetachedAt = h.at
	}
	for _, field := range s.Unread {
		leaveOut(&out, field)
	}
	return out, true
}

// price is what it costs where it belongs now, as the platform tells it.
func (r *resource) price(h hop) fleet.Price {
	if r.spec.HidesPrice {
		return fleet.Price{}
	}
	p := fleet.Price{PerHour: r.spec.Price, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	if h.to != nil {
		p.PerHour = r.attachedPrice()
	}
	if r.spec.Charge == fleet.ChargePeriod {
		p.Billing = fleet.BillingPrepaid
	}
	if p.PerHour.Currency == "" {
		p.PerHour.Currency = r.account.Cash.Currency
	}
	return p
}

func leaveOut(r *fleet.Resource, field string) {
	switch field {
	case "name":
		r.Name = ""
	case "labels":
		r.Labels = nil
	case "owner":
		r.Owner = ""
	case "attached_to":
		r.AttachedTo, r.DetachedAt = fleet.Ref{}, time.Time{}
	case "source":
		r.Source = fleet.Ref{}
	case "used_by":
		r.UsedBy = nil
	case "shared":
		r.Shared = fleet.Unsure
	case "with_instance":
		r.WithInstance = fleet.Unsure
	}
}
