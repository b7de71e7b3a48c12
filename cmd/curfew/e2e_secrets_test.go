package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gossip is a platform that answers every message with all that it was sent: where it
// was posted to, under which headers, and the body.
type gossip struct {
	mu    sync.Mutex
	heard bytes.Buffer
}

func (g *gossip) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	said := fmt.Sprintf("%s %s %v %s", r.Method, r.URL, r.Header, body)
	g.mu.Lock()
	fmt.Fprintln(&g.heard, said)
	g.mu.Unlock()
	answer := map[string]any{}
	for _, key := range []string{"errmsg", "msg", "message", "error", "description", "detail", "Msg"} {
		answer[key] = said
	}
	for _, key := range []string{"errcode", "code", "error_code", "Code"} {
		answer[key] = 40000
	}
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(answer)
}

// told reports whether the platform was sent a secret.
func (g *gossip) told(secret string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(formsOf(secret), func(form string) bool { return bytes.Contains(g.heard.Bytes(), []byte(form)) })
}

// formsOf are the forms that a secret takes in an address.
func formsOf(secret string) []string {
	return []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
}

// leaky is a configuration with channels of every kind that has credentials. In it
// $NAME is a secret of its own, and @ the gossip's address.
var leaky = map[string]string{
	"alertmanager": `url: "@", user: curfew, password: {env: $PASSWORD}`,
	"autodlpush":   `base_url: "@", token: {env: $TOKEN}`,
	"bark":         `base_url: "@", key: {env: $KEY}`,
	"dingtalk":     `base_url: "@", token: {env: $TOKEN}, secret: {env: $SEC_SECRET}`,
	"discord":      `base_url: "@", webhook: {env: $DISCORD_HOOK}`,
	"email":        `host: 127.0.0.1, port: 1, tls: none, user: a@example.com, from: a@example.com, to: b@example.com, password: {env: $PASSWORD}`,
	"feishu":       `base_url: "@", token: {env: $TOKEN}, secret: {env: $SECRET}`,
	"mattermost":   `webhook: {env: $HOOKS_HOOK}`,
	"ntfy":         `base_url: "@", topic: {env: $TOPIC}, token: {env: $TK_TOKEN}`,
	"pushplus":     `base_url: "@", token: {env: $TOKEN}`,
	"rocketchat":   `webhook: {env: $ROCKET_HOOK}`,
	"serverchan":   `base_url: "@", key: {env: $SCT_KEY}`,
	"slack":        `base_url: "@", channel: C12345678, bot_token: {env: $XOXB_TOKEN}`,
	"telegram":     `base_url: "@", chat: "42", token: {env: $BOT_TOKEN}`,
	"webhook":      `url: {env: $ANY_HOOK}, secret: {env: $SECRET}`,
	"wecom":        `base_url: "@", key: {env: $KEY}`,
	"wxpusher":     `base_url: "@", uid: UID_12345, app_token: {env: $AT_TOKEN}`,
}

// secretFor makes a secret in the form that a platform gives it, and what of it must not
// be seen.
func secretFor(name, server string) (value, secret string) {
	random := strings.ToLower(rand.Text() + rand.Text())
	switch {
	case strings.HasSuffix(name, "DISCORD_HOOK"):
		return "https://discord.com/api/webhooks/1234567890/" + random, random
	case strings.HasSuffix(name, "HOOKS_HOOK"):
		return server + "/hooks/" + random[:26], random[:26]
	case strings.HasSuffix(name, "ROCKET_HOOK"):
		return server + "/hooks/" + random[:24] + "/" + random[:48], random[:24]
	case strings.HasSuffix(name, "ANY_HOOK"):
		return server + "/take?key=" + random, random
	}
	for mark, prefix := range map[string]string{"SEC_": "SEC", "TK_": "tk_", "SCT_": "SCT", "XOXB_": "xoxb-1-", "BOT_": "123456789:", "AT_": "AT_"} {
		if strings.Contains(name, "_"+mark) {
			random = prefix + random
			break
		}
	}
	if strings.Contains(name, "_TK_") {
		random = random[:32]
	}
	return random, random
}

// TestNoSecretOfAnyChannelIsEverShown runs the program with a channel of every kind, all
// of them at a platform that answers with what it was sent, and goes through all that it
// printed and kept.
func TestNoSecretOfAnyChannelIsEverShown(t *testing.T) {
	t.Parallel()
	for _, k := range registry().Channels {
		if len(k.Credentials) > 0 && leaky[k.Name] == "" {
			t.Errorf("channels of the kind %s have credentials; say above with which", k.Name)
		}
	}
	bin, dir := buildProgram(t), t.TempDir()
	g := &gossip{}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	secrets, env, names := map[string]string{}, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "USER=wang", "LANG=C.UTF-8", "NO_PROXY=*", "GORACE=atexit_sleep_ms=0"}, []string(nil)
	channels := ""
	for kind, line := range leaky {
		names = append(names, kind)
		line = strings.ReplaceAll(line, "@\"", server.URL+"\"")
		for {
			before, after, ok := strings.Cut(line, "$")
			if !ok {
				break
			}
			word, rest, _ := strings.Cut(after, "}")
			name := strings.ToUpper(kind) + "_" + word
			value, secret := secretFor(name, server.URL)
			secrets[name], env = secret, append(env, name+"="+value)
			line = before + name + "}" + rest
		}
		channels += fmt.Sprintf("    - {name: %s, type: %s, %s}\n", kind, kind, line)
	}
	slices.Sort(names)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := "mode: enforce\nstate: sqlite:curfew.db\naccounts: [{name: lab, provider: sim, world: world.yaml}]\nsignals: [{type: sim, every: 1s}]\n" +
		"policies:\n  - {name: done, type: training, match: all, process: 'python .*train', warn: 1h, then: stop}\nnotify:\n  channels:\n" + channels
	write("curfew.yaml", config)
	write("world.yaml", `accounts: [{name: lab, identity: u-lab}]
instances:
  - {id: a, name: exp-a, gpu: {model: RTX 4090}, price: 1.98 CNY, box: {processes: [{command: python -u train.py, from: -30m, to: -20m, run: r, load: 97}]}}
`)
	shown := map[string][]byte{}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		shown["curfew "+strings.Join(args, " ")] = out
		if code := cmd.ProcessState.ExitCode(); code < 0 || code > exitPending {
			t.Errorf("curfew %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("check")
	for _, name := range names {
		run("notify", "test", name)
		run("notify", "test", name, "--json")
	}
	var said safeBuffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	daemon := exec.CommandContext(ctx, bin, "run")
	daemon.Dir, daemon.Env, daemon.Stdout, daemon.Stderr = dir, env, &said, &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, so func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !so(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain for %s\n%s", what, said.String())
			}
		}
	}
	until("every channel to refuse", func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(said.String(), `"`+name+`"`) })
	})
	write("curfew.yaml", strings.Replace(config, "mode: enforce", "mode: enforced", 1))
	if err := daemon.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until("the reload to fail", func() bool { return strings.Contains(said.String(), "enforced") })
	write("curfew.yaml", config)
	run("reload")
	for _, args := range [][]string{{"plan"}, {"explain", "exp-a"}, {"journal", "--json"}, {"doctor"}} {
		run(args...)
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()
	shown["the daemon's output"] = []byte(said.String())
	state, err := filepath.Glob(filepath.Join(dir, "curfew.db*"))
	if err != nil || len(state) == 0 {
		t.Fatalf("there is no state: %v", err)
	}
	for _, file := range state {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown[filepath.Base(file)] = content
	}
	used := 0
	for name, secret := range secrets {
		if g.told(secret) {
			used++
		}
		for place, content := range shown {
			for _, form := range formsOf(secret) {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("%s shows %s:\n%s", place, name, content[:min(len(content), 2000)])
					break
				}
			}
		}
	}
	// Those that only sign, and the password of a server that is not there, are not sent.
	if used < len(secrets)-5 {
		t.Errorf("only %d of %d secrets were ever used", used, len(secrets))
	}
}

// safeBuffer is written and read from several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to it.
func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String gives all of it.
func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
