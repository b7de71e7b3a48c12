package policies

import (
	"cmp"
	"iter"

	"curfew/fleet"
)

// CompareGroups orders resources so that those of one group follow each other: by
// account, kind and source, and then by reference.
func CompareGroups(a, b *fleet.Resource) int {
	return cmp.Or(
		fleet.CompareRefs(fleet.Ref{Account: a.Ref.Account, Kind: a.Ref.Kind}, fleet.Ref{Account: b.Ref.Account, Kind: b.Ref.Kind}),
		fleet.CompareRefs(a.Source, b.Source),
		fleet.CompareRefs(a.Ref, b.Ref),
	)
}

// Groups cuts resources that are in the order of [CompareGroups] into parts of at
// least so many, none of which cuts through a group. A source that nobody told is
// no group: such things are counted apart.
func Groups(rs []*fleet.Resource, least int) iter.Seq[[]*fleet.Resource] {
	return func(yield func([]*fleet.Resource) bool) {
		for len(rs) > 0 {
			n := min(max(least, 1), len(rs))
			for n < len(rs) && sameGroup(rs[n-1], rs[n]) {
				n++
			}
			if !yield(rs[:n:n]) {
				return
			}
			rs = rs[n:]
		}
	}
}

// sameGroup reports whether what is said of the one may depend on the other.
func sameGroup(a, b *fleet.Resource) bool {
	return a.Ref.Account == b.Ref.Account && a.Ref.Kind == b.Ref.Kind && !a.Source.IsZero() && a.Source == b.Source
}
