// Package all lists the channels that are built in.
package all

import (
	"curfew/notify"
	"curfew/notify/autodlpush"
	"curfew/notify/console"
	"curfew/notify/pushplus"
	"curfew/notify/serverchan"
	"curfew/notify/slack"
	"curfew/notify/wecom"
)

// Kinds gives every channel type, by name. Adding a channel is adding a line.
func Kinds() []notify.Kind {
	return []notify.Kind{
		autodlpush.Kind(),
		console.Kind(),
		pushplus.Kind(),
		serverchan.Kind(),
		slack.Kind(),
		wecom.Kind(),
	}
}
