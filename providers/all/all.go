// Package all lists the platforms that are built in.
package all

import (
	"curfew/providers"
	"curfew/providers/autodl"
	"curfew/providers/machines"
	"curfew/providers/sim"
)

// Kinds gives every platform, by name. Adding one is adding a line.
func Kinds() []providers.Kind {
	return []providers.Kind{
		autodl.Kind(),
		machines.Kind(),
		sim.Kind(),
	}
}
