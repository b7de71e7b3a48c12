package providers

import (
	"context"
	"maps"
	"slices"

	"curfew/fleet"
)

// Owned says of everything that comes out whose it is; of what is billed beside
// instances it is asked as [fleet.Resource.Subject] has it.
func Owned(of func(fleet.Instance) string) Decorator {
	return func(a Account) Account {
		list, read := a.Instances, a.Instance
		a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
			is, err := list(ctx, s)
			is = slices.Clone(is)
			for n := range is {
				is[n].Owner = of(is[n])
			}
			return is, err
		}
		a.Instance = func(ctx context.Context, ref fleet.Ref) (fleet.Instance, error) {
			i, err := read(ctx, ref)
			if err == nil {
				i.Owner = of(i)
			}
			return i, err
		}
		a.Resources = maps.Clone(a.Resources)
		for kind, list := range a.Resources {
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				rs, err := list(ctx, s)
				rs = slices.Clone(rs)
				for n := range rs {
					rs[n].Owner = of(rs[n].Subject())
				}
				return rs, err
			}
		}
		return a
	}
}
