package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

// furnishBox puts files and folders (ending in /) into the machine's root.
func (l *setupLab) furnishBox(files map[string]string) {
	l.t.Helper()
	for name, content := range files {
		path := filepath.Join(l.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			l.t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				l.t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
}

// nvidiaSMI puts one that prints these cards before all other programs.
func nvidiaSMI(t *testing.T, cards string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$*\" = '--query-gpu=name --format=csv,noheader' ] || exit 2\ncat <<END\n" + cards + "END\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestInitInABoxAtAutoDL(t *testing.T) {
	nvidiaSMI(t, "NVIDIA GeForce RTX 4090\nNVIDIA GeForce RTX 4090\n")
	l := newSetupLab(t)
	l.env["TZ"] = "Etc/UTC" // the container's; people and bills are elsewhere
	l.furnishBox(map[string]string{
		"proc/sys/kernel/hostname": "autodl-container-f77d11adac-015069fd\n", "root/autodl-tmp/": "", "usr/bin/shutdown": "",
	})
	a := l.run([]string{"--box", "--lang", "zh"}, "1.98", "wecom", labKey, "")
	a.wants(t, exitFine, "这是 AutoDL 的机器，依据：hostname autodl-container-*, /root/autodl-tmp",
		"autodl-f77d11adac-015069fd：RTX 4090 ×2", "15 天后删除实例", "curfew exec --then stop -- python train.py")
	if strings.Contains(a.out, "没有找到 /usr/bin/shutdown") {
		t.Error("the command that is there is missed")
	}
	l.wantFiles(map[string]fs.FileMode{".curfew": 0o700, ".curfew/curfew.yaml": 0o600, ".curfew/wx.key": 0o600})
	want := `mode: dry-run
timezone: Asia/Shanghai
language: zh
state: sqlite:` + l.path("curfew.db") + `
accounts:
  - name: box
    provider: machines
    machines:
      - name: autodl-f77d11adac-015069fd
        host: local
        gpu: {model: 'RTX 4090', count: 2}
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
    - {name: wx, type: wecom, key: {file: ` + l.path("wx.key") + `}, base_url: '` + strings.TrimPrefix(l.urls[5], "wecom=") + `'}
`
	got := regexp.MustCompile(`(?m)^( *#.*)?\n`).ReplaceAllString(l.read("curfew.yaml"), "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}

	// In there, init without --box asks for the same.
	l = newSetupLab(t)
	l.env["AutoDLRegion"], l.env["AUTODL_TOKEN"] = "west-E", labToken
	l.furnishBox(map[string]string{"root/autodl-tmp/": ""})
	l.run(nil, "", "", "console").wants(t, exitFine, "inside an instance of AutoDL ($AutoDLRegion, /root/autodl-tmp)", "/usr/bin/shutdown is not there")
	if cfg := l.config(); cfg.Accounts[0].Provider != "machines" || cfg.Accounts[0].Machines[0].Price.Known() {
		t.Errorf("account %+v", cfg.Accounts[0])
	}
}

func TestInitInABoxWithOneMark(t *testing.T) {
	nvidiaSMI(t, "")
	files := map[string]string{"root/autodl-tmp/": "", "etc/hostname": "lab-4"}
	l := newSetupLab(t)
	l.furnishBox(files)
	a := l.run([]string{"--box"}, "y", "", "console")
	a.wants(t, exitFine, "Only /root/autodl-tmp says that this is a machine of AutoDL. Is it?", "no card")
	if got := l.config().Accounts[0].Machines[0].OnStop; got.EndsBilling != fleet.Yes || got.KeepsData != fleet.KeepsAll {
		t.Errorf("a stop there %+v", got)
	}

	// Saying nothing is saying no, and nothing is known then.
	l = newSetupLab(t)
	l.furnishBox(files)
	a = l.run([]string{"--box"}, "", "", "", "", "", "", "console")
	a.wants(t, exitFine, "curfew exec --then stop does not accept the console", "curfew does not know this platform", "A stop may destroy data here")
	m := l.config().Accounts[0].Machines[0]
	if m.Name != "lab-4" || m.Stop != "shutdown -h now" || m.OnStop != (fleet.OnStop{}) || m.Price.Known() {
		t.Errorf("machine %+v; what nobody said is not known", m)
	}
}

func TestInitInABoxThatIsAsked(t *testing.T) {
	nvidiaSMI(t, "NVIDIA A100\n")
	l := newSetupLab(t)
	l.run([]string{"--box"}, "sudo poweroff", "yes", "all", "7", "0.45 USD", "console").wants(t, exitFine, "1 × A100")
	m := l.config().Accounts[0].Machines[0]
	if m.Stop != "sudo poweroff" || m.OnStop.EndsBilling != fleet.Yes || m.OnStop.KeepsData != fleet.KeepsAll ||
		m.OnStop.ReleasesAfter != 7*day || m.Price.PerHour.String() != "0.45 USD" || m.Price.Billing != fleet.BillingUnknown {
		t.Errorf("machine %+v", m)
	}

	l = newSetupLab(t)
	l.run([]string{"--box"}, "none", "", "console").wants(t, exitFine)
	if m := l.config().Accounts[0].Machines[0]; m.Stop != "" {
		t.Errorf("machine %+v; no command was wanted", m)
	}
}

// Where nothing powers off and keeps, no command is taken that was not asked for.
func TestInitInABoxThatCanOnlyBeGivenBack(t *testing.T) {
	nvidiaSMI(t, "NVIDIA A100\n")
	files := map[string]string{"public/script/matncli": "", "proc/1/environ": "MATCLOUD_CANCELTOKEN=cancel-9\x00"}
	l := newSetupLab(t)
	l.furnishBox(files)
	a := l.run([]string{"--box", "--yes"})
	a.wants(t, exitFine, "矩池云", "deletes everything but the net disk /mnt")
	if m := l.config().Accounts[0].Machines[0]; m.Stop != "" {
		t.Errorf("machine %+v", m)
	}
	l = newSetupLab(t)
	l.furnishBox(files)
	a = l.run([]string{"--box"}, "take", "", "", "console")
	a.wants(t, exitFine, "A stop may destroy data here")
	m := l.config().Accounts[0].Machines[0]
	if !strings.Contains(m.Stop, "matncli node cancel") || m.OnStop.KeepsData != fleet.KeepsNone {
		t.Errorf("machine %+v", m)
	}
	if strings.Contains(a.out+a.err+l.read("curfew.yaml"), "cancel-9") {
		t.Error("the machine's own token was printed or written")
	}
}
