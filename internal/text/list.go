package text

import (
	"maps"
	"slices"

	"curfew/fleet"
)

// Text is what one code says in each language: a text/template over the values
// of its reason.
type Text struct {
	Code             fleet.Code
	English, Chinese string
}

// All gives the texts of every code, in the order of the codes.
func All() []Text {
	all := entries{}
	for _, area := range areas() {
		maps.Copy(all, area)
	}
	var out []Text
	for _, code := range slices.Sorted(maps.Keys(all)) {
		out = append(out, Text{code, all[code].en, all[code].zh})
	}
	return out
}
