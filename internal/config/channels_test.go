package config

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	channels "curfew/notify/all"
)

// The channels as they are built in, each with its secret from another place.
func TestBuiltInChannelsLoad(t *testing.T) {
	reg := registry()
	reg.Channels = channels.Kinds()
	file := filepath.Join(t.TempDir(), "curfew.yaml")
	c, err := Parse(file, []byte(`
accounts: [{name: a, provider: sim}]
signals: [{type: sim}]
notify:
  channels:
    - {name: lab, type: slack, webhook: {env: SLACK_WEBHOOK}, base_url: "http://relay.lab:8080"}
    - {name: box, type: autodlpush, token: {file: secrets/autodl}}
    - {name: me, type: serverchan, key: {credential: serverchan}, min_severity: warning}
    - {name: she, type: pushplus, token: {env: PUSHPLUS_TOKEN}, language: zh}
    - {name: wx, type: wecom, key: {env: WECOM_KEY}, form: template_card}
    - {name: bot, type: slack, bot_token: {env: SLACK_BOT_TOKEN}, channel: C0123456789}
    - {name: dc, type: discord, webhook: {env: DISCORD_WEBHOOK}}
    - {name: mm, type: mattermost, webhook: {env: MATTERMOST_WEBHOOK}}
    - {name: rc, type: rocketchat, webhook: {env: ROCKETCHAT_WEBHOOK}}
    - {name: term, type: console}
    - {name: tg, type: telegram, token: {env: TELEGRAM_TOKEN}, chat: -1001234567890}
    - {name: nt, type: ntfy, topic: {env: NTFY_TOPIC}}
    - {name: phone, type: bark, key: {env: BARK_KEY}}
    - {name: push, type: wxpusher, app_token: {env: WXPUSHER_APP_TOKEN}, uid: UID_somebody}
    - {name: relay, type: email, host: localhost, port: 25, tls: none, from: curfew@example.com, to: "a@example.org, b@example.org"}
    - {name: am, type: alertmanager, url: "http://127.0.0.1:9093", user: ops, password: {env: AM_PASSWORD}}
    - {name: hook, type: webhook, url: {env: HOOK_URL}, secret: {env: HOOK_SECRET}}
`), reg)
	if err != nil {
		t.Fatal(err)
	}
	want := []Channel{
		{Name: "lab", Type: "slack", MinSeverity: fleet.Info, BaseURL: "http://relay.lab:8080",
			Credential: map[string]Secret{"webhook": {from: secretEnv, name: "SLACK_WEBHOOK"}}},
		{Name: "box", Type: "autodlpush", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"token": {from: secretFile, name: filepath.Join(filepath.Dir(file), "secrets", "autodl")}}},
		{Name: "me", Type: "serverchan", MinSeverity: fleet.Warning,
			Credential: map[string]Secret{"key": {from: secretCredential, name: "serverchan"}}},
		{Name: "she", Type: "pushplus", MinSeverity: fleet.Info, Language: "zh",
			Credential: map[string]Secret{"token": {from: secretEnv, name: "PUSHPLUS_TOKEN"}}},
		{Name: "wx", Type: "wecom", MinSeverity: fleet.Info, Settings: map[string]string{"form": "template_card"},
			Credential: map[string]Secret{"key": {from: secretEnv, name: "WECOM_KEY"}}},
		{Name: "bot", Type: "slack", MinSeverity: fleet.Info, Settings: map[string]string{"channel": "C0123456789"},
			Credential: map[string]Secret{"bot_token": {from: secretEnv, name: "SLACK_BOT_TOKEN"}}},
		{Name: "dc", Type: "discord", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"webhook": {from: secretEnv, name: "DISCORD_WEBHOOK"}}},
		{Name: "mm", Type: "mattermost", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"webhook": {from: secretEnv, name: "MATTERMOST_WEBHOOK"}}},
		{Name: "rc", Type: "rocketchat", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"webhook": {from: secretEnv, name: "ROCKETCHAT_WEBHOOK"}}},
		{Name: "term", Type: "console", MinSeverity: fleet.Info},
		{Name: "tg", Type: "telegram", MinSeverity: fleet.Info, Settings: map[string]string{"chat": "-1001234567890"},
			Credential: map[string]Secret{"token": {from: secretEnv, name: "TELEGRAM_TOKEN"}}},
		{Name: "nt", Type: "ntfy", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"topic": {from: secretEnv, name: "NTFY_TOPIC"}}},
		{Name: "phone", Type: "bark", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"key": {from: secretEnv, name: "BARK_KEY"}}},
		{Name: "push", Type: "wxpusher", MinSeverity: fleet.Info, Settings: map[string]string{"uid": "UID_somebody"},
			Credential: map[string]Secret{"app_token": {from: secretEnv, name: "WXPUSHER_APP_TOKEN"}}},
		{Name: "relay", Type: "email", MinSeverity: fleet.Info, Settings: map[string]string{
			"host": "localhost", "port": "25", "tls": "none", "from": "curfew@example.com", "to": "a@example.org, b@example.org",
		}},
		{Name: "am", Type: "alertmanager", MinSeverity: fleet.Info, Settings: map[string]string{"url": "http://127.0.0.1:9093", "user": "ops"},
			Credential: map[string]Secret{"password": {from: secretEnv, name: "AM_PASSWORD"}}},
		{Name: "hook", Type: "webhook", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"url": {from: secretEnv, name: "HOOK_URL"}, "secret": {from: secretEnv, name: "HOOK_SECRET"}}},
	}
	if diff := cmp.Diff(want, c.Notify.Channels, cmp.AllowUnexported(Secret{}), cmpopts.IgnoreFields(Channel{}, "Pos")); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}
