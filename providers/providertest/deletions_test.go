package providertest_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	"curfew/fleet"
	"curfew/providers"
)

// deleting spoils the deletion of a kind.
func deleting(kind fleet.ThingKind, spoil func(remove providers.Deleter) providers.Deleter) providers.Decorator {
	return func(a providers.Account) providers.Account {
		a.Delete[kind] = spoil(a.Delete[kind])
		return a
	}
}

func deletionDefects() map[string]mistake {
	out := map[string]mistake{}
	for _, kind := range fleet.ResourceKinds() {
		one := "a " + string(kind)
		if kind == fleet.KindImage || kind == fleet.KindPublicIP {
			one = "an " + string(kind)
		}
		takes := "a deletion takes " + one + " and no other from the list"
		add := func(name, check string, spoil providers.Decorator) {
			out["delete "+string(kind)+": "+name] = mistake{check, spoil}
		}
		add("capability hidden", "the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			delete(a.Delete, kind)
			return a
		})
		add("nothing is done", takes, deleting(kind, func(providers.Deleter) providers.Deleter {
			return func(context.Context, fleet.Resource, providers.DeleteOptions) error { return nil }
		}))
		add("all are deleted", takes, func(a providers.Account) providers.Account {
			remove := a.Delete[kind]
			a.Delete[kind] = func(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
				rs, err := a.Resources[kind](ctx, a.Scopes[0])
				for _, other := range rs {
					err = errors.Join(err, remove(ctx, other, o))
				}
				return err
			}
			return a
		})
		add("listed for ever", takes, func(a providers.Account) providers.Account {
			var mu sync.Mutex
			var seen []fleet.Resource
			return listing(kind, func(rs []fleet.Resource) []fleet.Resource {
				mu.Lock()
				defer mu.Unlock()
				for _, r := range rs {
					if !slices.ContainsFunc(seen, func(old fleet.Resource) bool { return old.Ref == r.Ref }) {
						seen = append(seen, r)
					}
				}
				return slices.Clone(seen)
			})(a)
		})
		add("gone taken for transient", "a second deletion of "+one+" is nil, a conflict or not found", misread(fleet.NotFound, fleet.Transient))
		add("in use taken for accepted", "a deletion of "+one+" in use is refused", deleting(kind, func(remove providers.Deleter) providers.Deleter {
			return func(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
				if err := remove(ctx, r, o); fleet.KindOf(err) != fleet.Conflict {
					return err
				}
				return nil
			}
		}))
		add("in use taken for gone", "a deletion of "+one+" in use is refused", misread(fleet.Conflict, fleet.NotFound))
		add("context ignored", "a deletion of "+one+" whose context has ended has no effect", deleting(kind, func(remove providers.Deleter) providers.Deleter {
			return func(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
				return remove(context.WithoutCancel(ctx), r, o)
			}
		}))
		add("outcome taken for failure", "a drop after effect fails the deletion of "+one+" with its kind, sent once", misread(fleet.OutcomeUnknown, fleet.Transient))
		add("sent again", "a server error fails the deletion of "+one+" with its kind, sent once", deleting(kind, func(remove providers.Deleter) providers.Deleter {
			return func(ctx context.Context, r fleet.Resource, o providers.DeleteOptions) error {
				err := remove(ctx, r, o)
				if fleet.KindOf(err) == fleet.OutcomeUnknown {
					_ = remove(ctx, r, o)
				}
				return err
			}
		}))
		add("cut off taken for refused", "a deletion of "+one+" cut off half-way has an unknown outcome", misread(fleet.OutcomeUnknown, fleet.Conflict))
		add("read-only writes", "a read-only account deletes no "+string(kind), func(a providers.Account) providers.Account {
			// The list deletes what it shows: a write hidden in a read.
			list, remove := a.Resources[kind], a.Delete[kind]
			a.Resources[kind] = func(ctx context.Context, s fleet.Scope) ([]fleet.Resource, error) {
				rs, err := list(ctx, s)
				for _, r := range rs {
					_ = remove(ctx, r, providers.DeleteOptions{})
				}
				return rs, err
			}
			return a
		})
		add("secret in an error", "a deletion of "+one+" in use is refused", providers.Around(
			func(ctx context.Context, _ providers.Call, next func(context.Context) error) error {
				if err := next(ctx); err != nil {
					return &fleet.Error{Op: "spoilt", Kind: fleet.KindOf(err), Err: errors.Join(err, errors.New("sent "+secret))}
				}
				return nil
			}))
	}
	return out
}

type saver = func(context.Context, fleet.Instance, providers.ImageSpec) (fleet.Ref, error)

func savingDefects() map[string]mistake {
	saving := func(spoil func(save saver) saver) providers.Decorator {
		return func(a providers.Account) providers.Account {
			a.SaveImage = spoil(a.SaveImage)
			return a
		}
	}
	ready := "a saved image is listed and becomes ready"
	return map[string]mistake{
		"save: capability hidden": {"the account has exactly the capabilities its kind declares", func(a providers.Account) providers.Account {
			a.SaveImage = nil
			return a
		}},
		"save: nothing is made": {ready, saving(func(saver) saver {
			return func(context.Context, fleet.Instance, providers.ImageSpec) (fleet.Ref, error) {
				return fleet.Ref{Kind: fleet.KindImage, ID: "img-1"}, nil
			}
		})},
		"save: a job's id for the image's": {ready, saving(func(save saver) saver {
			return func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				_, err := save(ctx, i, spec)
				return fleet.Ref{Kind: fleet.KindImage, ID: "job-1"}, err
			}
		})},
		"save: kind not said": {ready, saving(func(save saver) saver {
			return func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				ref, err := save(ctx, i, spec)
				ref.Kind = ""
				return ref, err
			}
		})},
		"save: name not sent": {ready, saving(func(save saver) saver {
			return func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				return save(ctx, i, providers.ImageSpec{Token: spec.Token})
			}
		})},
		"save: never ready":  {ready, each(fleet.KindImage, func(r *fleet.Resource) { r.Ready = false })},
		"save: wrong source": {ready, each(fleet.KindImage, func(r *fleet.Resource) { r.Source = fleet.Ref{Kind: fleet.KindInstance, ID: "other"} })},
		"save: stops the instance": {ready, func(a providers.Account) providers.Account {
			save := a.SaveImage
			a.SaveImage = func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				ref, err := save(ctx, i, spec)
				return ref, errors.Join(err, a.Stop(ctx, i, providers.StopOptions{}))
			}
			return a
		}},
		"save: ready at once": {"a saved image that is still being made is not ready", each(fleet.KindImage, func(r *fleet.Resource) { r.Ready = true })},
		"save: context ignored": {"a saving whose context has ended makes no image", saving(func(save saver) saver {
			return func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				return save(context.WithoutCancel(ctx), i, spec)
			}
		})},
		"save: read-only writes": {"a read-only account saves no image", func(a providers.Account) providers.Account {
			list := a.Instances
			a.Instances = func(ctx context.Context, s fleet.Scope) ([]fleet.Instance, error) {
				is, err := list(ctx, s)
				for _, i := range is {
					_, _ = a.SaveImage(ctx, i, providers.ImageSpec{})
				}
				return is, err
			}
			return a
		}},
		"save: sent again": {"a server error fails every write with its kind, sent once", saving(func(save saver) saver {
			return func(ctx context.Context, i fleet.Instance, spec providers.ImageSpec) (fleet.Ref, error) {
				ref, err := save(ctx, i, spec)
				if fleet.KindOf(err) == fleet.OutcomeUnknown {
					_, _ = save(ctx, i, spec)
				}
				return ref, err
			}
		})},
	}
}
