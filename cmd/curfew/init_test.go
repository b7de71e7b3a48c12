package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/notify/notifytest"
	"curfew/notify/wecom/wecomtest"
	"curfew/providers/autodl/autodltest"
)

// setupLab is a home in which init is run, a platform and a chat.
type setupLab struct {
	t     *testing.T
	home  string
	root  string // of the machine
	env   map[string]string
	cloud *autodltest.Cloud
	robot *wecomtest.Robot
	urls  []string // arguments
}

const (
	labToken = "tok-4f1c9e"
	labKey   = "key-77aa01"
)

func newSetupLab(t *testing.T) *setupLab {
	t.Helper()
	l := &setupLab{t: t, home: t.TempDir(), root: t.TempDir()}
	l.env = map[string]string{"HOME": l.home, "LANG": "C.UTF-8", "TZ": "Asia/Shanghai"}
	l.cloud = autodltest.New(autodltest.Options{Now: time.Now, Token: labToken})
	server := httptest.NewServer(l.cloud)
	robot, url := wecomtest.Start(t, labKey, time.Now)
	l.robot = robot
	l.urls = []string{"--root", l.root, "--base-url", "autodl=" + server.URL, "--base-url", "wecom=" + url}
	t.Cleanup(func() {
		server.Close()
		for _, p := range l.cloud.Problems() {
			t.Errorf("autodl double: %s", p)
		}
	})
	t.Chdir(l.home) // no configuration is beside
	return l
}

// autodlPush starts a double of AutoDL's own messages that takes some of them.
func (l *setupLab) autodlPush(messages int) *notifytest.Server {
	l.t.Helper()
	replies := make([]notifytest.Reply, messages)
	for n := range replies {
		replies[n].Body = `{"code":"Success","msg":"","data":null}`
	}
	s := notifytest.NewServer(l.t, notifytest.Expect{
		Method: http.MethodPost, Path: "/api/v1/wechat/message/send", ContentType: "application/json",
		Header: http.Header{"Authorization": {labToken}},
		Body:   func() any { return &struct{ Title, Name, Content string }{} },
	}, replies...)
	l.urls = append(l.urls, "--base-url", "autodlpush="+s.URL)
	return s
}

// answered is what one run of init came to.
type answered struct {
	code     int
	out, err string
}

// run answers the questions of init, a line each.
func (l *setupLab) run(args []string, answers ...string) answered {
	l.t.Helper()
	return l.runWith(l.t.Context(), strings.NewReader(lines(answers)), &bytes.Buffer{}, args)
}

func lines(answers []string) string {
	var b strings.Builder
	for _, a := range answers {
		b.WriteString(a + "\n")
	}
	return b.String()
}

func (l *setupLab) runWith(ctx context.Context, stdin io.Reader, stdout io.ReadWriter, args []string) answered {
	l.t.Helper()
	var stderr bytes.Buffer
	code := run(ctx, system{
		args: append(append([]string{"init"}, args...), l.urls...), stdin: stdin, stdout: stdout, stderr: &stderr,
		lookupEnv: func(name string) (string, bool) {
			v, ok := l.env[name]
			return v, ok
		},
		now: time.Now, user: func() string { return "li" }, size: func() (int, int) { return 0, 0 },
	})
	out, err := io.ReadAll(stdout)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, secret := range []string{labToken, labKey} {
		if strings.Contains(string(out)+stderr.String(), secret) {
			l.t.Errorf("a secret was printed:\n%s%s", out, stderr.String())
		}
	}
	return answered{code, string(out), stderr.String()}
}

func (l *setupLab) path(name string) string { return filepath.Join(l.home, ".curfew", name) }

func (l *setupLab) read(name string) string {
	l.t.Helper()
	data, err := os.ReadFile(l.path(name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(data)
}

func (l *setupLab) config() *config.Config {
	l.t.Helper()
	cfg, err := config.Load(l.path("curfew.yaml"), "", registry())
	if err != nil {
		l.t.Fatal(err)
	}
	return cfg
}

// files lists what is in the home, with its rights.
func (l *setupLab) files() map[string]fs.FileMode {
	l.t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(l.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.home {
			return err
		}
		info, err := d.Info()
		if err == nil {
			name, _ := filepath.Rel(l.home, path)
			all[name] = info.Mode().Perm()
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

func (l *setupLab) wantFiles(want map[string]fs.FileMode) {
	l.t.Helper()
	if diff := cmp.Diff(want, l.files()); diff != "" {
		l.t.Errorf("files in the home (-want +got):\n%s", diff)
	}
}

func (a answered) wants(t *testing.T, code int, words ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("it ended with %d, want %d:\n%s%s", a.code, code, a.out, a.err)
	}
	for _, w := range words {
		if !strings.Contains(a.out+a.err, w) {
			t.Errorf("it did not say %q:\n%s%s", w, a.out, a.err)
		}
	}
}

func TestInitWithEverythingInTheEnvironment(t *testing.T) {
	l := newSetupLab(t)
	l.env["AUTODL_TOKEN"], l.env["WECOM_KEY"] = labToken, labKey
	push := l.autodlPush(1)
	l.cloud.Add(autodltest.Machine{Name: "exp-1"})
	l.cloud.Add(autodltest.Machine{Name: "exp-2", Status: "shutdown"})

	a := l.run(nil) // nothing is said: every default
	a.wants(t, exitFine, "AUTODL_TOKEN is set", "2 instances, 100.00 CNY left", "exp-1  running  RTX 4090D ×1  1.98 CNY",
		"exp-2  stopped", "wx: accepted", "is written, in dry-run", "  curfew plan ", "  curfew run ")
	l.wantFiles(map[string]fs.FileMode{".curfew": 0o700, ".curfew/curfew.yaml": 0o600})
	if n := len(push.Bodies()); n != 1 {
		t.Errorf("%d test messages were sent, want 1", n)
	}
	cfg := l.config()
	if cfg.Mode != fleet.DryRun || cfg.Timezone.String() != "Asia/Shanghai" || cfg.State != "sqlite:"+l.path("curfew.db") {
		t.Errorf("mode %s, zone %s, state %s", cfg.Mode, cfg.Timezone, cfg.State)
	}
	if got := cfg.Accounts[0].Credential["token"].Place() + ", " + cfg.Notify.Channels[0].Credential["token"].Place(); got != "env AUTODL_TOKEN, env AUTODL_TOKEN" {
		t.Errorf("the credentials are in %s", got)
	}
}

func TestInitKeepsTypedSecretsInFilesOfTheirOwn(t *testing.T) {
	l := newSetupLab(t)
	id := l.cloud.Add(autodltest.Machine{Name: "exp-1"})
	a := l.run([]string{"--lang", "zh"}, "autodl", "tok-wrong", "again", labToken, "n", "exp-*", "python (", `python .*run\.py`,
		"wecom", "key-wrong", "1", labKey, "y")
	a.wants(t, exitFine, "无法读取账号", "这不是正则表达式", "被拒，需修改配置（代码 93000）", "autodl.token 已保存密钥", "演练模式")
	if strings.Contains(a.out+a.err, "tok-wrong") || strings.Contains(a.out+a.err, "key-wrong") {
		t.Errorf("a secret that was refused was printed:\n%s%s", a.out, a.err)
	}
	l.wantFiles(map[string]fs.FileMode{
		".curfew": 0o700, ".curfew/curfew.yaml": 0o600, ".curfew/autodl.token": 0o600, ".curfew/wx.key": 0o600,
	})
	if got := l.read("autodl.token") + l.read("wx.key"); got != labToken+"\n"+labKey+"\n" {
		t.Error("the files do not hold what was typed")
	}
	cfg := l.config()
	if got := cfg.Accounts[0].Credential["token"].Place(); got != "file "+l.path("autodl.token") {
		t.Errorf("the token is in %s", got)
	}
	if p := cfg.Policies[0]; p.MatchText != "account autodl, name exp-*" || !p.Pattern.Match("python -u run.py") || p.Pattern.Match("python train.py") {
		t.Errorf("the policy is about %s", p.MatchText)
	}
	for _, r := range l.cloud.Requests() {
		if strings.HasPrefix(r.Path, "power") || strings.HasSuffix(r.Path, "release") {
			t.Errorf("init wrote to %s: %s", id, r)
		}
	}
}

// Wherever somebody leaves, or the answers end where one is needed, nothing is
// written.
func TestLeavingInitWritesNothing(t *testing.T) {
	answers := []string{"autodl", labToken, "n", "*", "python .*train", "wecom", labKey}
	for n := range len(answers) + 1 {
		t.Run(fmt.Sprintf("after %d answers", n), func(t *testing.T) {
			l := newSetupLab(t)
			l.run(nil, append(append([]string{}, answers[:n]...), "q")...).wants(t, exitFailed, "nothing was written")
			l.wantFiles(map[string]fs.FileMode{})
		})
	}
	for _, n := range []int{0, 1, 6} {
		t.Run(fmt.Sprintf("the answers end after %d", n), func(t *testing.T) {
			l := newSetupLab(t)
			l.run(nil, answers[:n]...).wants(t, exitFailed, "this needs an answer", "nothing was written")
			l.wantFiles(map[string]fs.FileMode{})
		})
	}
}

// prompted is where init talks; it tells when a question is put.
type prompted struct {
	mu  sync.Mutex
	buf bytes.Buffer
	is  func(string)
}

// Write takes a part of the talk.
func (p *prompted) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.is(string(b))
	return p.buf.Write(b)
}

// Read gives what was said.
func (p *prompted) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Read(b)
}

func TestInterruptingInitWritesNothing(t *testing.T) {
	l := newSetupLab(t)
	l.env["AUTODL_TOKEN"], l.env["WECOM_KEY"] = labToken, labKey
	l.autodlPush(1)
	for _, at := range []int{1, 2, 5, 6, 7, 8} {
		ctx, interrupt := context.WithCancel(t.Context())
		silent, in := io.Pipe()
		questions := 0
		out := &prompted{is: func(s string) {
			if s != "> " {
				return
			}
			if questions++; questions == at {
				interrupt()
			} else {
				go func() { _, _ = io.WriteString(in, "\n") }()
			}
		}}
		l.runWith(ctx, silent, out, nil).wants(t, exitFailed, "nothing was written")
		_ = in.Close()
		if questions != at {
			t.Errorf("%d questions were put, want %d", questions, at)
		}
		l.wantFiles(map[string]fs.FileMode{})
	}
}

func TestInitASecondTime(t *testing.T) {
	l := newSetupLab(t)
	l.cloud.Add(autodltest.Machine{Name: "exp-1"})
	first := []string{"autodl", labToken, "", "", "", "wecom", labKey, ""}
	l.run(nil, first...).wants(t, exitFine)
	before, rights := l.read("curfew.yaml"), l.files()

	a := l.run(nil)
	a.wants(t, exitFine, "is there already, and stays as it is", "curfew.yaml is fine", "policy after-training", "account autodl, name *")
	l.run([]string{"--yes"}).wants(t, exitFine, "is there already")
	l.run([]string{"--box"}, "test").wants(t, exitFine, "wx: accepted")
	l.wantFiles(rights)
	if n := len(l.robot.Messages()); n != 2 {
		t.Errorf("%d messages were sent, want one of the first time and one test", n)
	}

	// Another beside it: what is there is taken by saying nothing, and another
	// token leaves the first where it is.
	l.run(nil, append([]string{"new"}, "autodl", "", "", "", "", "wecom", "", "")...).wants(t, exitFine, "what "+l.path("autodl.token")+" holds", "mv "+l.path("curfew.yaml.new"))
	l.run(nil, append([]string{"new"}, "autodl", "tok-other", "keep", "", "", "", "console")...).wants(t, exitFine, "The account cannot be read")
	want := rights
	want[".curfew/curfew.yaml.new"], want[".curfew/curfew.yaml.new-2"], want[".curfew/autodl.token-2"] = 0o600, 0o600, 0o600
	l.wantFiles(want)
	if l.read("curfew.yaml") != before || l.read("autodl.token") != labToken+"\n" || l.read("autodl.token-2") != "tok-other\n" {
		t.Error("what was there already is not as it was")
	}
}

func TestInitLeavesABadConfigurationAndSaysSo(t *testing.T) {
	l := newSetupLab(t)
	if err := os.MkdirAll(l.path(""), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path("curfew.yaml"), []byte("mode: enforced\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := l.files()
	l.run(nil).wants(t, exitUsage, "is there already", `"enforced" is not known here`, "accounts is missing")
	l.wantFiles(before)
	if l.read("curfew.yaml") != "mode: enforced\n" {
		t.Error("it was changed")
	}
}

// One of the credentials that a channel may have is enough to offer it.
func TestInitFindsAChannelInTheEnvironment(t *testing.T) {
	l := newSetupLab(t)
	l.env["AUTODL_TOKEN"], l.env["SLACK_WEBHOOK"] = labToken, "https://hooks.slack.com/services/T0/B0/x"
	l.run(nil, "", "", "", "", "", "console").wants(t, exitFine, "Slack", "SLACK_WEBHOOK")
}

func TestInitTriesAnotherChannelWhereNothingArrived(t *testing.T) {
	l := newSetupLab(t)
	l.env["AUTODL_TOKEN"] = labToken
	a := l.run(nil, "", "", "", "", "", "wecom", labKey, "n", "y", "console")
	a.wants(t, exitFine, "0 instances", "curfew cannot see them", "curfew init --box",
		"Try another channel?", "Test message from curfew")
	l.wantFiles(map[string]fs.FileMode{".curfew": 0o700, ".curfew/curfew.yaml": 0o600})
	if cfg := l.config(); len(cfg.Notify.Channels) != 1 || cfg.Notify.Channels[0].Type != "console" {
		t.Errorf("channels: %+v", cfg.Notify.Channels)
	}
	l = newSetupLab(t)
	l.env["AUTODL_TOKEN"] = labToken
	l.run(nil, "", "", "", "", "", "wecom", "key-wrong", "none").wants(t, exitFine)
	if cfg := l.config(); len(cfg.Notify.Channels) != 0 {
		t.Errorf("channels: %+v", cfg.Notify.Channels)
	}
}

func TestInitForPrograms(t *testing.T) {
	l := newSetupLab(t)
	l.env["AUTODL_TOKEN"], l.env["WECOM_KEY"] = labToken, labKey
	l.autodlPush(1)
	l.cloud.Add(autodltest.Machine{})
	file := filepath.Join(l.home, "conf", "c.yaml")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	a := l.run([]string{"--yes", "--json", "--config", file})
	a.wants(t, exitFine)
	var got written
	if err := json.Unmarshal([]byte(a.out), &got); err != nil {
		t.Fatalf("%v:\n%s", err, a.out)
	}
	want := written{
		File: file, Accounts: map[string]int{"autodl": 1}, Channel: "wx",
		Next: []string{"curfew plan --config " + file, "curfew run --config " + file},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	cfg, err := config.Load(file, "", registry())
	if err != nil {
		t.Fatal(err)
	}
	// Others can look into this folder, so the state has one of its own.
	if want := "sqlite:" + filepath.Join(l.home, "conf", "state", "curfew.db"); cfg.State != want {
		t.Errorf("state %s, want %s", cfg.State, want)
	}

	l = newSetupLab(t)
	l.run([]string{"--yes"}).wants(t, exitFailed, "this needs an answer")
	l.wantFiles(map[string]fs.FileMode{})
	delete(l.env, "HOME")
	l.run([]string{"--yes"}).wants(t, exitUsage, "curfew init --config FILE")
}

func TestPutNeverWritesOverAnotherFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := put(file, "one", nil); err != nil {
		t.Fatal(err)
	}
	if err := put(file, "two", nil); err == nil {
		t.Error("a file was written over")
	}
	refused := fmt.Errorf("no")
	if err := put(filepath.Join(dir, "b"), "three", func(string) error { return refused }); err != refused { //nolint:errorlint // this very error
		t.Errorf("err = %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	if data, _ := os.ReadFile(file); string(data) != "one" {
		t.Errorf("it holds %q", data)
	}
}
