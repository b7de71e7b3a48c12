package setup_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/setup"
	"curfew/internal/text"
	channels "curfew/notify/all"
	platforms "curfew/providers/all"
)

func load(t interface {
	Helper()
	Fatalf(string, ...any)
}, file string,
) *config.Config {
	t.Helper()
	cfg, err := config.Parse("/home/li/.curfew/curfew.yaml", []byte(file), config.Registry{Providers: platforms.Kinds(), Channels: channels.Kinds()})
	if err != nil {
		t.Fatalf("it does not load:\n%v\n%s", err, file)
	}
	return cfg
}

func renderer(t *testing.T, lang text.Language) *text.Renderer {
	t.Helper()
	r, err := text.New(lang, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func accountPlan() setup.Plan {
	return setup.Plan{
		Zone: "Asia/Shanghai", State: "/home/li/.curfew/curfew.db",
		Accounts: []setup.Account{
			{Name: "autodl", Provider: "autodl", Credential: []setup.Secret{{Key: "token", Env: "AUTODL_TOKEN"}}, Unpriced: "RTX 4090D"},
			{Name: "autodl-2", Provider: "autodl", Credential: []setup.Secret{{Key: "token", File: "/home/li/.curfew/autodl-2.token"}}},
		},
		Names: "exp-*", Process: `python .*train`,
		Channel: &setup.Channel{Name: "wx", Type: "wecom", Credential: []setup.Secret{{Key: "key", File: "/home/li/.curfew/wx.key"}}},
	}
}

func boxPlan() setup.Plan {
	return setup.Plan{
		Zone: "Asia/Shanghai", State: "/root/.curfew/curfew.db", Names: "*", Process: setup.DefaultProcess,
		Box: &setup.Box{
			Name: "autodl-f77d11adac-015069fd", Platform: "AutoDL", Stop: "/usr/bin/shutdown", Price: "1.98 CNY", Billing: fleet.BillingPerSecond,
			EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, AutoRelease: "15d", Model: "RTX 4090", Cards: 1,
			Note: fleet.Because(setup.NoteAutoDL, nil),
		},
		Channel: &setup.Channel{Name: "wx", Type: "autodlpush", Credential: []setup.Secret{{Key: "token", File: "/root/.curfew/wx.token"}}},
	}
}

// bare takes comments and empty lines away.
func bare(file string) string {
	return regexp.MustCompile(`(?m)^( *#.*)?\n`).ReplaceAllString(file, "")
}

func TestABoxIsConfiguredInThisShape(t *testing.T) {
	const want = `mode: dry-run
timezone: Asia/Shanghai
language: zh
state: sqlite:/root/.curfew/curfew.db
accounts:
  - name: box
    provider: machines
    machines:
      - name: autodl-f77d11adac-015069fd
        host: local
        gpu: {model: 'RTX 4090', count: 1}
        stop: /usr/bin/shutdown
        price: 1.98 CNY
        billing: second
        on_stop: {ends_billing: yes, keeps_data: all}
        auto_release: 15d
signals:
  - {type: local}
policies:
  - name: after-training
    type: training
    match: {account: box}
    process: 'python .*train'
    then: stop
notify:
  channels:
    - {name: wx, type: autodlpush, token: {file: /root/.curfew/wx.token}}
`
	file := boxPlan().YAML(renderer(t, text.Chinese))
	if diff := cmp.Diff(want, bare(file)); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	load(t, file)
}

func TestAccountsAreConfiguredInThisShape(t *testing.T) {
	const want = `mode: dry-run
timezone: Asia/Shanghai
language: en
state: sqlite:/home/li/.curfew/curfew.db
accounts:
  - name: autodl
    provider: autodl
    token: {env: AUTODL_TOKEN}
  - name: autodl-2
    provider: autodl
    token: {file: /home/li/.curfew/autodl-2.token}
signals:
  - {type: ssh}
protect:
  names: ['keep-*']
policies:
  - name: after-training
    type: training
    match: {account: [autodl, autodl-2], name: 'exp-*'}
    process: 'python .*train'
    then: stop
notify:
  channels:
    - {name: wx, type: wecom, key: {file: /home/li/.curfew/wx.key}}
`
	file := accountPlan().YAML(renderer(t, text.English))
	if diff := cmp.Diff(want, bare(file)); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	cfg := load(t, file)
	if cfg.Mode != fleet.DryRun {
		t.Errorf("mode is %s; a new configuration does nothing", cfg.Mode)
	}
}

// What stands in comments works once the # is taken away.
func TestWhatIsCommentedOutLoads(t *testing.T) {
	noChannel, noStop := accountPlan(), boxPlan()
	noChannel.Channel = nil
	noStop.Box.Stop, noStop.Box.Price, noStop.Box.AutoRelease = "", "", ""
	for name, plan := range map[string]setup.Plan{
		"accounts": accountPlan(), "accounts without a channel": noChannel, "a box": boxPlan(), "a box of which nothing is known": noStop,
	} {
		for _, lang := range []text.Language{text.English, text.Chinese} {
			t.Run(name+" in "+string(lang), func(t *testing.T) {
				file := plan.YAML(renderer(t, lang))
				before := load(t, file)
				live := regexp.MustCompile(`(?m)^( *)# (- name: idle|  (type|match|for|then): |notify:|  channels:|    - \{|stop: |price: |auto_release: |prices: )`).
					ReplaceAllString(file, "$1$2")
				if live == file {
					t.Fatal("nothing was commented out")
				}
				cfg := load(t, live)
				idle := func(p config.Policy) bool { return p.Type == "idle" }
				if slices.ContainsFunc(before.Policies, idle) || !slices.ContainsFunc(cfg.Policies, idle) {
					t.Error("the policy idle is not the one that was commented out")
				}
				if len(cfg.Notify.Channels) != 1 {
					t.Errorf("%d channels, want 1", len(cfg.Notify.Channels))
				}
			})
		}
	}
}

func TestCommentsAreInTheReadersLanguage(t *testing.T) {
	zh, en := boxPlan().YAML(renderer(t, text.Chinese)), boxPlan().YAML(renderer(t, text.English))
	if !strings.Contains(zh, "# dry-run 只说会做什么") || strings.Contains(zh, "cli.init") {
		t.Errorf("the Chinese comments:\n%s", zh)
	}
	if !strings.Contains(en, "# dry-run only says what it would do") || strings.Contains(en, "cli.init") {
		t.Errorf("the English comments:\n%s", en)
	}
}

// Whatever people answer, it is words in the file, and these words.
func TestAnswersStandInTheFileAsTheyWereGiven(t *testing.T) {
	r := renderer(t, text.English)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[ -~中文é]{1,20}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" && s == strings.TrimSpace(s) })
		p := boxPlan()
		p.Box.Stop = words.Draw(t, "stop")
		p.State = "/" + words.Filter(func(s string) bool { return !strings.ContainsAny(s, "?#") }).Draw(t, "state")
		p.Channel.Credential[0].File = "/" + words.Draw(t, "file")
		var got struct {
			State    string
			Accounts []struct{ Machines []struct{ Stop string } }
			Notify   struct {
				Channels []struct{ Token struct{ File string } }
			}
		}
		if err := yaml.Unmarshal([]byte(p.YAML(r)), &got); err != nil {
			t.Fatalf("not YAML: %v\n%s", err, p.YAML(r))
		}
		for _, w := range [][2]string{
			{"sqlite:" + p.State, got.State}, {p.Box.Stop, got.Accounts[0].Machines[0].Stop},
			{p.Channel.Credential[0].File, got.Notify.Channels[0].Token.File},
		} {
			if w[0] != w[1] {
				t.Errorf("%q was written and %q is read\n%s", w[0], w[1], p.YAML(r))
			}
		}
		load(t, p.YAML(r))
	})
}
