package providertest_test

import (
	"context"
	"fmt"

	"curfew/fleet"
	"curfew/providers"
)

// listing spoils what the list of a kind gives.
func listing(kind fleet.ThingKind, spoil func([]fleet.Resource) []fleet.Resource) providers.Decorator {
	return func(a providers.Account) providers.Account {
		list := a.Resources[kind]
		a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
			rs, err := list(ctx, s)
			return spoil(rs), err
		}
		return a
	}
}

// each spoils every one that the list of a kind gives.
func each(kind fleet.ThingKind, spoil func(*fleet.Resource)) providers.Decorator {
	return listing(kind, func(rs []fleet.Resource) []fleet.Resource {
		for n := range rs {
			spoil(&rs[n])
		}
		return rs
	})
}

// emptied takes a list that fails for an empty one.
func emptied(kind fleet.ThingKind) providers.Decorator {
	return func(a providers.Account) providers.Account {
		list := a.Resources[kind]
		a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
			rs, err := list(ctx, s)
			if fleet.KindOf(err) == fleet.Transient {
				return nil, nil
			}
			return rs, err
		}
		return a
	}
}

func resourceDefects() map[string]mistake {
	out := map[string]mistake{}
	for _, kind := range fleet.ResourceKinds() {
		many, one := string(kind)+"s", "a "+string(kind)
		if kind == fleet.KindImage || kind == fleet.KindPublicIP {
			one = "an " + string(kind)
		}
		own := fmt.Sprintf("each scope lists its own %s and no others", many)
		add := func(name, check string, spoil providers.Decorator) { out[many+": "+name] = mistake{check, spoil} }
		add("capability hidden", "the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			delete(a.Resources, kind)
			return a
		})
		add("one from nowhere", "an account without "+many+" lists none, without an error", listing(kind, func(rs []fleet.Resource) []fleet.Resource {
			return append(rs, fleet.Resource{Ref: fleet.Ref{Kind: kind, ID: "public"}})
		}))
		add("scope ignored", own, func(a providers.Account) providers.Account {
			list := a.Resources[kind]
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				return list(ctx, fleet.Scope{Account: s.Account})
			}
			return a
		})
		add("kind not said", own, each(kind, func(r *fleet.Resource) { r.Ref.Kind = "" }))
		add("account made up", own, each(kind, func(r *fleet.Resource) { r.Ref.Account = "lab" }))
		add("secret in a label", own, each(kind, func(r *fleet.Resource) { r.Labels = map[string]string{"token": secret} }))
		add("other kinds mixed in", "a list of "+many+" holds none of the other kinds", func(a providers.Account) providers.Account {
			list, disks, ips := a.Resources[kind], a.Resources[fleet.KindDisk], a.Resources[fleet.KindPublicIP]
			if kind == fleet.KindDisk {
				disks = ips
			}
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				rs, err := list(ctx, s)
				if err != nil {
					return nil, err
				}
				more, err := disks(ctx, s)
				return append(rs, more...), err
			}
			return a
		})
		add("only the first page", "a list of "+many+" longer than a page is whole", listing(kind, func(rs []fleet.Resource) []fleet.Resource {
			return rs[:min(len(rs), pageSize)]
		}))
		add("failed page ends the list", "a list of "+many+" whose second page fails is an error and no part", emptied(kind))
		add("total not looked at", "a list of "+many+" shorter than the platform's own total is an error", emptied(kind))
		add("failed list is empty", "a server error fails every read with its kind", emptied(kind))
		add("never ready", one+" that is free is told so, with its price's source", each(kind, func(r *fleet.Resource) { r.Ready = false }))
		add("price of no source", one+" that is free is told so, with its price's source", each(kind, func(r *fleet.Resource) { r.Price.Source = fleet.PriceUnknown }))
		add("use not told", one+" in use is told so", each(kind, func(r *fleet.Resource) { r.AttachedTo, r.UsedBy = fleet.Ref{}, nil }))
		add("use made up", one+" that is free is told so, with its price's source", each(kind, func(r *fleet.Resource) {
			r.UsedBy = []fleet.Ref{{Kind: fleet.KindInstance, ID: "sim-0001"}}
		}))
		reads := 0
		add("creation moves", "two reads of "+many+" say the same", each(kind, func(r *fleet.Resource) {
			reads++
			r.CreatedAt = r.CreatedAt.AddDate(0, 0, reads)
		}))
		add("list cannot be cut off", "a read cut off half-way comes back with an error", func(a providers.Account) providers.Account {
			list := a.Resources[kind]
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				rs, err := list(ctx, s)
				if ctx.Err() != nil {
					return nil, nil
				}
				return rs, err
			}
			return a
		})
	}
	return out
}
