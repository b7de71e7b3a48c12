package config

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/notify"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals"
)

// registry is what the files in testdata may name.
func registry() Registry {
	return Registry{
		Providers: []providers.Kind{
			{Name: "autodl", Credentials: []string{"token"}, Floor: 20 * time.Second, AutoRelease: 15 * 24 * time.Hour,
				Capabilities: []providers.Capability{providers.CanStop, providers.CanStart, providers.CanRelease, providers.CanWallet}},
			{Name: "aliyun", Credentials: []string{"access_key_id", "access_key_secret"},
				Capabilities: []providers.Capability{providers.CanStop, providers.CanRelease, providers.CanDisks, providers.CanDeleteDisk, providers.CanSnapshots, providers.CanDeleteSnapshot}},
			{Name: "podsonly", Credentials: []string{"token"}, Capabilities: []providers.Capability{providers.CanRelease}},
			{Name: "sim", Capabilities: []providers.Capability{providers.CanStop, providers.CanRelease, providers.CanWallet, providers.CanDeleteDisk, providers.CanDeleteSnapshot, providers.CanDeleteImage, providers.CanDeletePublicIP,
				providers.CanDisks, providers.CanSnapshots, providers.CanImages, providers.CanPublicIPs, providers.CanSaveImage}},
			{Name: "machines", Capabilities: []providers.Capability{providers.CanStop}},
		},
		Channels: []notify.Kind{
			{Name: "wecom", Credentials: []string{"key"}},
			{Name: "pager", Credentials: []string{"webhook", "bot_token"}, Settings: []string{"channel"}},
			{Name: "console"},
		},
	}
}

func load(t *testing.T, path string) *Config {
	t.Helper()
	c, err := Load(path, "", registry())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGoodFilesLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/ok/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range append(files, "testdata/design.yaml", "../../deploy/curfew.example.yaml") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			c := load(t, f)
			for _, p := range c.Policies {
				if p.Match == nil || p.MatchText == "" || p.Policy == nil || p.Policy.Name() != p.Name || (p.Rule == nil) != (p.Type != "training") {
					t.Errorf("policy %s is not whole: %+v", p.Name, p)
				}
			}
		})
	}
}

// A bad file says in its first lines which problems it must give, all of them
// and in this order.
func TestBadFilesSayWhatIsWrong(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				w, ok := strings.CutPrefix(line, "# want: ")
				if !ok {
					break
				}
				want = append(want, strings.TrimRight(w, "\n"))
			}
			c, err := Parse(filepath.Base(f), data, registry())
			problems, ok := errors.AsType[*Problems](err)
			if !ok || c != nil {
				t.Fatalf("config %v, error %v; want problems", c, err)
			}
			if diff := cmp.Diff(want, strings.Split(problems.Error(), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if strings.Contains(problems.Error(), "s3cr3t") {
				t.Error("a problem repeats a secret")
			}
		})
	}
}

func TestTheDesignsFile(t *testing.T) {
	c := load(t, "testdata/design.yaml")
	if c.Mode != fleet.Enforce || c.Timezone.String() != "Asia/Shanghai" || c.Language != "zh" || c.History != 90*24*time.Hour {
		t.Errorf("head of the file: %+v", c)
	}
	wantCaps := Caps{Start: Cap{5, 0}, Stop: Cap{30, 50}, Release: Cap{10, 30}, Delete: Cap{100, 0}, Order: Cap{1, 0}}
	if c.Caps != wantCaps {
		t.Errorf("caps = %+v", c.Caps)
	}
	if c.Ping.Listen != "0.0.0.0:8421" || c.PublicURL != "https://curfew.lab.example" || c.Listen != "127.0.0.1:8420" {
		t.Errorf("pings: %+v, %s", c.Ping, c.PublicURL)
	}
	a := c.Accounts[0]
	want := Account{
		Pos: Pos{9, 5}, Name: "autodl-lab", Provider: "autodl", BaseURL: "https://api.autodl.com",
		Credential: map[string]Secret{"token": {from: secretEnv, name: "AUTODL_TOKEN"}},
		Poll:       time.Minute, PerMinute: 20, PerDay: 10000,
		Prices: map[string]fleet.Money{"RTX 4090": fleet.CNY(1_980_000)}, Mode: fleet.Enforce,
	}
	if diff := cmp.Diff(want, a, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
	s := Signal{Pos: Pos{17, 5}, Type: "ssh", Key: Secret{from: secretFile, name: "/etc/curfew/id_ed25519"},
		Every: 30 * time.Second, Timeout: 10 * time.Second, Limits: signals.Limits{BusyAbove: 5, SessionIdleMax: 30 * time.Minute}}
	if diff := cmp.Diff([]Signal{s}, c.Signals, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
	p := c.Policies[0]
	terms := fleet.Terms{Mode: fleet.Enforce, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute}
	training := policies.Training{
		Common: policies.Common{Name: "stop-after-training", Terms: terms},
		Grace:  5 * time.Minute, Then: fleet.Stop, Failed: policies.End{Then: fleet.Stop, After: 5 * time.Minute},
	}
	if diff := cmp.Diff(policies.Policy(training), p.Policy, cmpopts.IgnoreFields(policies.Common{}, "Match")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&signals.RunRule{Policy: "stop-after-training", Looks: 2, Apart: time.Minute, PendingMax: 120}, p.Rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	if !p.Pattern.Match("/usr/bin/python -u train.py") || p.Pattern.Match("jupyter-lab") || p.Pattern.Policy != p.Name {
		t.Errorf("pattern %+v", p.Pattern)
	}
	if p.Ask != nil || p.Window != nil || p.MatchText != "account autodl-lab, name exp-*" {
		t.Errorf("policy %+v", p)
	}
	routes := []notify.Route{{Categories: []fleet.Category{"act", "money"}, To: []string{"wx"}}, {To: []string{"wx"}}}
	if diff := cmp.Diff(routes, c.Notify.Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestEverythingThatCanBeSaid(t *testing.T) {
	c := load(t, "testdata/ok/everything.yaml")
	if c.State != "sqlite:testdata/ok/state/curfew.db" || c.Accounts[1].World != "testdata/ok/worlds/one.yaml" ||
		c.Accounts[0].Credential["token"].Place() != "file testdata/ok/secrets/token" {
		t.Errorf("paths do not start from the file's folder: %s, %s, %s", c.State, c.Accounts[1].World, c.Accounts[0].Credential["token"].Place())
	}
	if c.Accounts[0].Mode != fleet.DryRun || c.Accounts[1].Mode != fleet.Enforce || c.Accounts[0].AtMost != fleet.Stop {
		t.Errorf("modes %s, %s", c.Accounts[0].Mode, c.Accounts[1].Mode)
	}
	if c.Accounts[0].BaseURL != "https://proxy.lab.example/autodl" || c.Accounts[0].Poll != 90*time.Minute || len(c.Accounts[1].Regions) != 0 {
		t.Errorf("accounts %+v", c.Accounts)
	}
	wantCaps := Caps{Start: Cap{5, 0}, Stop: Cap{0, 50}, Release: Cap{10, 0}, Delete: Cap{100, 0}, Order: Cap{2, 0}, Money: Cap{5, 10}}
	if c.Caps != wantCaps {
		t.Errorf("caps = %+v", c.Caps)
	}
	p := c.Policies[0]
	terms := fleet.Terms{Mode: fleet.DryRun, WarnDestroy: 12 * time.Hour, Approval: true, Refund: true, Discard: true}
	if p.Terms != terms {
		t.Errorf("terms = %+v", p.Terms)
	}
	tr, ok := p.Policy.(policies.Training)
	if !ok {
		t.Fatalf("policy is a %T", p.Policy)
	}
	if tr.Success.Log.Match == nil || !tr.Success.Log.Match("finished in 3 h") || tr.Success.Log.Match("not finished") {
		t.Error("success.log.line")
	}
	if !tr.Success.Exit || tr.Success.File != "/root/out/DONE" || tr.Success.Log.File != "/root/out/train.log" || !tr.ReleaseUnproven ||
		tr.Then != fleet.Release || tr.Failed != (policies.End{Then: fleet.Keep, After: time.Hour}) || tr.Grace != 30*time.Second {
		t.Errorf("training = %+v", tr)
	}
	logs := []string{"/root/out/train.log", "/root/out/stderr.log"}
	if diff := cmp.Diff(&signals.RunRule{Policy: p.Name, Looks: 3, Apart: 2 * time.Minute, Logs: logs}, p.Rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	i := fleet.Instance{
		AccountName: "lab", Provider: "autodl", Name: "exp-7", Owner: "wang", Region: "west", State: fleet.StateRunning,
		GPU: fleet.GPU{Model: "RTX 4090", Count: 2}, Labels: map[string]string{"tier": "scratch-1"},
	}
	if diff := cmp.Diff(signals.Ask{Files: []string{"/root/out/DONE"}, Logs: logs}, p.Ask(i)); diff != "" {
		t.Errorf("ask (-want +got):\n%s", diff)
	}
	i.Owner = "li"
	if diff := cmp.Diff(signals.Ask{}, p.Ask(i)); diff != "" {
		t.Errorf("asks of an instance it is not about:\n%s", diff)
	}
	if due, _ := p.Window.At(time.Date(2026, 3, 29, 4, 0, 0, 0, c.Timezone)); due.IsZero() || p.Window.Length != 4*time.Hour {
		t.Errorf("window %+v", p.Window)
	}
	all := c.Policies[1]
	if all.Terms.WarnStop != 20*time.Minute || all.Terms.WarnDestroy != 20*time.Minute || all.Terms.Mode != fleet.Enforce || all.Pattern != nil {
		t.Errorf("policy %+v", all)
	}
	ch := []Channel{
		{Name: "wx", Type: "wecom", Language: "zh", MinSeverity: fleet.Warning, BaseURL: "http://127.0.0.1:9",
			Proxy: notify.Proxy{URL: &url.URL{Scheme: "socks5", Host: "127.0.0.1:1080"}}, Quota: notify.Quota{PerMinute: 2, PerDay: 40, PerMonth: 1000},
			Credential: map[string]Secret{"key": {from: secretCredential, name: "wecom-key"}}},
		{Name: "term", Type: "console", MinSeverity: fleet.Info},
		{Name: "team", Type: "pager", MinSeverity: fleet.Info, Settings: map[string]string{"channel": "42"},
			Credential: map[string]Secret{"bot_token": {from: secretEnv, name: "SLACK"}}},
		{Name: "far", Type: "pager", MinSeverity: fleet.Info, Credential: map[string]Secret{"webhook": {from: secretEnv, name: "FAR"}},
			ProxySecret: Secret{from: secretFile, name: "testdata/ok/secrets/proxy"}},
	}
	if diff := cmp.Diff(ch, c.Notify.Channels, cmp.AllowUnexported(Secret{}), cmpopts.IgnoreFields(Channel{}, "Pos", "Templates")); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	for n, want := range []string{"testdata/ok/templates", "/etc/curfew/term", "testdata/ok/templates"} {
		if got := c.Notify.Channels[n].Templates; got != want {
			t.Errorf("templates of %s are in %q, want %q", c.Notify.Channels[n].Name, got, want)
		}
	}
}

func TestWhatIsNotSaid(t *testing.T) {
	c := load(t, "testdata/ok/smallest.yaml")
	if c.Mode != fleet.DryRun || c.Accounts[0].Mode != fleet.DryRun {
		t.Error("the default mode writes")
	}
	if c.Timezone != time.UTC || c.Language != "" || c.State != "sqlite:/var/lib/curfew/curfew.db" || c.Accounts[0].Poll != time.Minute {
		t.Errorf("defaults: %+v", c)
	}
	reg := registry()
	reg.Zone = time.FixedZone("here", 3600)
	reg.Providers[0].Floor = 5 * time.Minute
	c, err := Parse("c.yaml", []byte("accounts: [{name: a, provider: autodl, token: {env: T}}]\nnotify: {channels: [{name: x, type: console}, {name: y, type: console}]}\n"), reg)
	if err != nil {
		t.Fatal(err)
	}
	if c.Timezone != reg.Zone || c.Accounts[0].Poll != 5*time.Minute {
		t.Errorf("zone %s, poll %s", c.Timezone, c.Accounts[0].Poll)
	}
	if diff := cmp.Diff([]notify.Route{{To: []string{"x", "y"}}}, c.Notify.Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestExplainSaysWhoSetAValue(t *testing.T) {
	head := "accounts: [{name: a, provider: autodl, token: {env: T}}]\nsignals: [{type: ssh}]\n"
	policy := "policies:\n- {name: p, type: training, match: all, then: stop%s}\n"
	for _, c := range []struct {
		name, top, keys, key, value string
		from                        From
	}{
		{"nobody set the mode", "", "", "mode", "dry-run", FromDefault},
		{"the file set the mode", "mode: enforce\n", "", "mode", "enforce", FromFile},
		{"the policy is milder than the file", "mode: enforce\n", ", mode: dry-run", "mode", "dry-run", FromPolicy},
		{"the file is milder than the policy", "mode: dry-run\n", ", mode: enforce", "mode", "dry-run", FromFile},
		{"the default is milder than the policy", "", ", mode: enforce", "mode", "dry-run", FromDefault},
		{"grace has a default", "", "", "grace", "5m", FromDefault},
		{"the policy set grace", "", ", grace: 90m", "grace", "1h30m", FromPolicy},
		{"grace off is not grace unset", "", ", grace: off", "grace", "off", FromPolicy},
		{"a failure waits for grace", "", ", grace: 7m", "on_failure.after", "7m", FromDefault},
		{"one warn is for both", "", ", warn: 2d", "warn.release", "2d", FromPolicy},
		{"a stop without warning leaves the release warned", "", ", warn: off", "warn.release", "24h", FromDefault},
		{"a stop without warning", "", ", warn: off", "warn.stop", "off", FromPolicy},
		{"the window has a default", "", `, schedule: "0 2 * * *"`, "window", "1h", FromDefault},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("c.yaml", []byte(c.top+head+strings.Replace(policy, "%s", c.keys, 1)), registry())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range cfg.Policies[0].Explain {
				if e.Key == c.key {
					if e.Value != c.value || e.From != c.from || (e.From == FromDefault) != (e.Pos == Pos{}) {
						t.Errorf("%+v, want %s from %s", e, c.value, c.from)
					}
					return
				}
			}
			t.Errorf("%s is not explained", c.key)
		})
	}
}

func TestLoadLooksInThreePlaces(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	_, err := Load("", home, registry())
	if !errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat("/etc/curfew/curfew.yaml"); e == nil {
			t.Skip("this machine has a configuration")
		}
		t.Fatalf("error %v", err)
	}
	for _, place := range []string{"curfew.yaml", filepath.Join(home, ".curfew", "curfew.yaml"), "/etc/curfew/curfew.yaml", "curfew.example.yaml"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("error %q does not name %s", err, place)
		}
	}
	data := []byte("accounts: [{name: a, provider: sim}]\n")
	if err := os.Mkdir(filepath.Join(home, ".curfew"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".curfew", "curfew.yaml"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", home, registry()); err != nil || c.File != filepath.Join(home, ".curfew", "curfew.yaml") {
		t.Errorf("the one at home: %v", err)
	}
	if err := os.WriteFile("curfew.yaml", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", home, registry()); err != nil || c.File != "curfew.yaml" {
		t.Errorf("the one right here goes first: %v", err)
	}
	if _, err := Load("elsewhere.yaml", home, registry()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
}

func TestProblemsReadAsDocumented(t *testing.T) {
	p := Problem{File: "curfew.yaml", Pos: Pos{41, 14}, Path: "policies[2].grace", What: `"20" has no unit`, Right: "write 20m or 20h"}
	if got, want := p.String(), `curfew.yaml:41:14: policies[2].grace: "20" has no unit; write 20m or 20h`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	form := regexp.MustCompile(`^c\.yaml:\d+:\d+: .+; .+$`)
	_, err := Parse("c.yaml", []byte("accounts: 5\nmode: x\nzz: 1\n"), registry())
	if err == nil {
		t.Fatal("no problem found")
	}
	for line := range strings.Lines(err.Error()) {
		if !form.MatchString(strings.TrimRight(line, "\n")) {
			t.Errorf("problem %q is not of the form", line)
		}
	}
}
