// Package all lists the channels that are built in.
package all

import (
	"curfew/notify"
	"curfew/notify/alertmanager"
	"curfew/notify/autodlpush"
	"curfew/notify/bark"
	"curfew/notify/console"
	"curfew/notify/dingtalk"
	"curfew/notify/discord"
	"curfew/notify/email"
	"curfew/notify/feishu"
	"curfew/notify/ntfy"
	"curfew/notify/pushplus"
	"curfew/notify/serverchan"
	"curfew/notify/slack"
	"curfew/notify/slackform"
	"curfew/notify/telegram"
	"curfew/notify/webhook"
	"curfew/notify/wecom"
	"curfew/notify/wxpusher"
)

// Kinds gives every channel type, by name. Adding a channel is adding a line.
func Kinds() []notify.Kind {
	return []notify.Kind{
		alertmanager.Kind(),
		autodlpush.Kind(),
		bark.Kind(),
		console.Kind(),
		dingtalk.Kind(),
		discord.Kind(),
		email.Kind(),
		feishu.Kind(),
		slackform.Mattermost(),
		ntfy.Kind(),
		pushplus.Kind(),
		slackform.RocketChat(),
		serverchan.Kind(),
		slack.Kind(),
		telegram.Kind(),
		webhook.Kind(),
		wecom.Kind(),
		wxpusher.Kind(),
	}
}
