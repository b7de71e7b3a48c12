package sim

import (
	"context"
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

const opSaveImage = "save-image"

var _ providers.ImageSaver = (*provider)(nil)

// SaveImage makes an image of an instance that runs or is stopped. It is listed at
// once, is ready after ImageTime, and costs nothing before.
func (p *provider) SaveImage(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
	e, err := p.write(ctx, opSaveImage, i.Ref, spec.Token, func(now time.Time, f *Fault) (Effect, fleet.ErrorKind, string) {
		m := p.find(i.Ref)
		if m == nil {
			return Effect{}, fleet.NotFound, "there is no such instance"
		}
		switch s := m.stateAt(now); s {
		case fleet.StateRunning, fleet.StateStopped:
		default:
			refused, why := refusal(s, "saved")
			return Effect{}, refused, why
		}
		image := p.cloud.save(m, now, spec.Name)
		if f != nil && f.Kind == ImageVanishes {
			image.gone = image.ready
		}
		if f != nil && (f.Kind == ImageVanishes || f.Kind == ImageStuck) {
			image.ready = time.Time{}
		}
		return Effect{Ref: p.cloud.ref(m), Made: image.ref()}, "", ""
	})
	if err != nil {
		return fleet.Ref{}, err
	}
	if e.Made.IsZero() {
		// Accepted and forgotten: the answer names an image that never comes.
		p.cloud.mu.Lock()
		defer p.cloud.mu.Unlock()
		return fleet.Ref{Kind: fleet.KindImage, ID: p.cloud.newImageID()}, nil
	}
	return e.Made, nil
}

func (c *Cloud) newImageID() string {
	for {
		c.saved++
		if id := fmt.Sprintf("img-%04d", c.saved); c.findResource(fleet.KindImage, id) == nil {
			return id
		}
	}
}

// save begins an image of the instance, as large as all of its disks.
func (c *Cloud) save(m *machine, now time.Time, name string) *resource {
	size := 0
	for _, r := range c.resources {
		if r.kind == fleet.KindDisk && r.there(now) && r.hop(now).to == m {
			size += r.spec.SizeGB
		}
	}
	r := &resource{
		kind: fleet.KindImage,
		spec: Resource{
			ID: c.newImageID(), Name: name, Region: m.spec.Region, SizeGB: size,
			Price: m.account.ImagePrice, Charge: fleet.ChargeOnDemand,
		},
		account: m.account, added: now, created: now, saved: m,
		ready: now.Add(or(c.timing.ImageTime, 2*time.Minute)),
		hops:  []hop{{at: now}},
	}
	c.resources = append(c.resources, r)
	return r
}
