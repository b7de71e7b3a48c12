// Package all lists the channels that are built in.
package all

import (
	"curfew/notify"
	"curfew/notify/console"
	"curfew/notify/wecom"
)

// Kinds gives every channel type, by name. Adding a channel is adding a line.
func Kinds() []notify.Kind {
	return []notify.Kind{
		console.Kind(),
		wecom.Kind(),
	}
}
