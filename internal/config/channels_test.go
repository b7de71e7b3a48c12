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
    - {name: wx, type: wecom, key: {env: WECOM_KEY}}
    - {name: term, type: console}
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
		{Name: "wx", Type: "wecom", MinSeverity: fleet.Info,
			Credential: map[string]Secret{"key": {from: secretEnv, name: "WECOM_KEY"}}},
		{Name: "term", Type: "console", MinSeverity: fleet.Info},
	}
	if diff := cmp.Diff(want, c.Notify.Channels, cmp.AllowUnexported(Secret{}), cmpopts.IgnoreFields(Channel{}, "Pos")); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}
